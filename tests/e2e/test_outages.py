"""What breaks in a shift: the game server goes, the scanner's cable comes out, the daemon restarts."""

from __future__ import annotations

import http.server
import json
import signal
import threading
import time

import pytest

from tests.e2e.harness import BARE, PIT_BOSS, SOAK, Rig, running

EIGHT_ROUNDS = (
    "2C 9D 3H KS 9S 2H KD 3C 6S TH KD JC 7D 2S KD AS 6H 4C KS KH QD TH JC JS 2C 9D 3H KS 9S 2H KD 3C"
)
"""4, 4, 5, 5, 6, 4 and 4 cards a round."""


def of(rig: Rig, name: str) -> list[dict[str, object]]:
    """The data of every public event of a type."""
    return [event["data"] for event in rig.public() if event["type"] == f"tablectl.{name}.v1"]


class Fussy(http.server.BaseHTTPRequestHandler):
    """A game server that claims to be ahead of the journal until it is mended; then it takes all."""

    mended = False

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        events = body if isinstance(body, list) else [body]
        held = max((int(event["sequence"]) for event in events), default=0)
        answer = json.dumps({"next": held + 1 if type(self).mended else 10**6}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


# --- the game server -----------------------------------------------------------------------------------


def test_a_game_server_killed_in_mid_shoe_stops_betting_and_nothing_else() -> None:
    with running("bee-tek", overrides=BARE) as rig:
        rig.open_table(EIGHT_ROUNDS)
        rig.play_round(4)
        rig.bets()
        rig.deal(2)
        rig.settle()
        rig.server.end(signal.SIGKILL)
        rig.deal(2)
        rig.finish()  # the hand in play is finished by its cards alone
        assert rig.client.state()["last_result"]["round"] == 2

        state = rig.wait(lambda s: not s["link"]["good"], "the link is known to be bad")
        begun = time.monotonic()
        status, answer = rig.command("bets open")
        assert status == 409
        assert time.monotonic() - begun < 4
        assert "link is not good" in answer["answer"]
        assert state["link"]["why"]
        assert rig.client.state()["phase"] == "idle"
        assert len(of(rig, "betting.opened")) == 2

        rig.start_server()
        rig.wait(lambda s: s["link"]["good"], "the link is good again", 30)
        rig.settle()
        rig.play_round(5)
        rig.settle()
        assert sorted(rig.held()) == ["1/1", "1/2", "1/3"]
        assert rig.missed_cards() == 0
        rig.check_everything()


def test_a_halted_delivery_goes_on_when_the_pit_boss_says_so() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Fussy)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        with Rig("bee-tek", overrides=BARE, url=f"http://127.0.0.1:{server.server_port}/") as rig:
            rig.start_daemon()
            rig.wait(lambda s: any(a["alert"] == "delivery-halted" for a in s["alerts"]), "the alert")
            Fussy.mended = True
            code, status = rig.client.get("/v1/delivery")
            assert code == 200
            assert status["halted"] and "ahead of this journal" in status["trouble"]
            time.sleep(0.5)
            assert rig.client.state()["acked"] == 0, "nobody asks again by himself"
            body = {
                "id": "r",
                "person": PIT_BOSS.name,
                "pin": PIT_BOSS.pin,
                "reason": "system: the server was mended",
            }
            assert rig.client.post("/v1/delivery/retry", body | {"pin": "0000"})[0] == 403
            code, answer = rig.client.post("/v1/delivery/retry", body)
            assert (code, answer["accepted"]) == (200, True)
            rig.settle()
            status = rig.client.get("/v1/delivery")[1]
            assert status["good"] and not status["halted"] and status["owed"] == 0
    finally:
        Fussy.mended = False
        server.shutdown()
        thread.join()
        server.server_close()


def test_what_came_during_an_outage_goes_out_in_order_and_once() -> None:
    with running("bee-tek", overrides=BARE | {"betting": {"link_required": False}}) as rig:
        rig.open_table(EIGHT_ROUNDS)
        rig.play_round(4)
        rig.settle()
        rig.server.end(signal.SIGKILL)
        rig.play_round(4)
        rig.play_round(5)
        assert rig.daemon.end()[0] == 0  # stopped and started meanwhile
        rig.start_daemon()
        rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")
        rig.play_round(5)
        rig.start_server()
        rig.settle()
        assert len(rig.held()) == 4
        rig.check_everything()
        assert rig.missed_cards() == 0


# --- the scanner ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["angel-eye", "bee-tek"])
def test_a_hand_outlives_the_loss_of_its_scanner(protocol: str) -> None:
    with running(protocol, overrides=BARE) as rig:
        rig.open_table(EIGHT_ROUNDS)
        rig.bets()
        rig.deal(2)
        rig.shoe.hang_up()
        state = rig.wait(lambda s: s["holds"], "the hand is frozen")
        assert [hold["code"] for hold in state["holds"]] == ["device-lost"]
        assert state["phase"] == "dealing"
        assert not state["scanner"]["up"]
        assert "cards-confirmed" not in {way["action"] for way in state["ways"]}, "not while it is away"

        rig.shoe.plug_in()
        rig.wait(lambda s: s["scanner"]["up"], "the scanner is back")
        assert rig.client.state()["holds"], "coming back releases nothing"
        rig.do("release", supervised=True, action="cards-confirmed")
        rig.deal(2)
        assert rig.client.state()["round"] is None or not rig.client.state()["holds"]
        rig.finish()
        rig.settle()
        result = rig.held()["1/1"]["result"]
        assert (result["outcome"], result["player"]["cards"], result["banker"]["cards"]) == (
            "banker",
            ["2C", "3H"],
            ["9D", "KS"],
        )
        assert len(of(rig, "scanner.lost")) == 1
        assert len(of(rig, "scanner.restored")) == 2  # at the start, and now
        assert of(rig, "table.released")[0]["approved_by"] == PIT_BOSS.name
        rig.check_everything()


@pytest.mark.parametrize("protocol", ["angel-eye", "bee-tek"])
def test_scans_sent_while_the_daemon_was_stopped_are_never_played(protocol: str) -> None:
    with running(protocol, overrides=BARE) as rig:
        rig.open_table(EIGHT_ROUNDS)
        rig.bets()  # a round in which P1 is due
        assert rig.daemon.end()[0] == 0
        for _ in range(3):
            rig.shoe.draw()
        rig.shoe.flush()
        rig.start_daemon()
        state = rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")
        assert state["round"]["cards"] == {}
        assert state["kept"] == []
        assert state["shoe"]["out"] == 0
        rig.do("void", supervised=True)
        rig.settle()
        assert rig.held()["1/1"]["state"] == "voided"
        assert rig.missed_cards() == 3


def test_scans_that_waited_in_the_line_are_journalled_as_discarded() -> None:
    with running("bee-tek", overrides=BARE) as rig:
        rig.open_table(EIGHT_ROUNDS)
        rig.bets()
        assert rig.daemon.end()[0] == 0
        for _ in range(3):
            rig.shoe.draw()
        rig.shoe.flush()
        rig.start_daemon()
        state = rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")
        assert "scan-discarded" in {alert["alert"] for alert in state["alerts"]}
        passed = [e for e in rig.journal_events() if e.TYPE == "scan.passed"]
        assert [
            getattr(e, "card", None) for e in passed if "before the scanner" in getattr(e, "why", "")
        ] == [
            "2C",
            "9D",
            "3H",
        ]


# --- the daemon ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_restart_in_mid_betting_closes_it_and_holds_the_round(number: signal.Signals) -> None:
    with running("bee-tek", overrides=BARE | {"betting": {"seconds": 60.0}}) as rig:
        rig.open_table(EIGHT_ROUNDS)
        rig.do("bets open")
        rig.settle()
        rig.daemon.end(number)
        rig.start_daemon()
        state = rig.wait(lambda s: s["scanner"]["up"] and s["holds"], "the round is on hold")
        assert state["phase"] == "no more bets"
        assert [hold["code"] for hold in state["holds"]] == ["restart"]
        (closed,) = of(rig, "betting.closed")
        assert closed["reason"] == "restart"
        rig.do("release", supervised=True, action="cards-confirmed")
        rig.deal(4)
        rig.finish()
        rig.settle()
        assert rig.held()["1/1"]["result"]["outcome"] == "banker"
        rig.check_everything()


def test_a_restart_between_rounds_holds_nothing_and_repeats_no_number() -> None:
    with running("bee-tek", overrides=BARE) as rig:
        rig.open_table(EIGHT_ROUNDS)
        for cards in (4, 4):
            rig.play_round(cards)
            rig.daemon.end(signal.SIGKILL)
            rig.start_daemon()
            state = rig.wait(lambda s: s["scanner"]["up"] and s["link"]["good"], "all is there again")
            assert not state["holds"]
        rig.play_round(5)
        rig.settle()
        assert sorted(rig.held()) == ["1/1", "1/2", "1/3"]
        assert rig.missed_cards() == 0
        rig.check_everything()


@pytest.mark.soak
def test_a_process_stopped_in_mid_betting_closes_at_once_when_it_resumes() -> None:
    seconds = 10.0 if SOAK else 1.5
    with running("bee-tek", overrides=BARE | {"betting": {"seconds": 0.4}}) as rig:
        rig.open_table(EIGHT_ROUNDS)
        rig.do("bets open")
        rig.daemon.send(signal.SIGSTOP)
        time.sleep(seconds)
        rig.daemon.send(signal.SIGCONT)
        rig.phase("no more bets")
        (closed,) = of(rig, "betting.closed")
        assert closed["reason"] == "suspended"


@pytest.mark.parametrize("shoe", ["angel-eye", "bee-tek"])
def test_a_card_drawn_while_the_process_stood_still_is_an_early_card(shoe: str) -> None:
    """Nobody knows whether it came before the close: it is counted once, held, and never P1 by itself."""
    with running(shoe, overrides=BARE | {"betting": {"seconds": 0.4}}) as rig:
        rig.open_table(EIGHT_ROUNDS)
        rig.do("bets open")
        rig.daemon.send(signal.SIGSTOP)
        rig.shoe.draw()
        rig.shoe.flush()
        time.sleep(1.6)
        rig.daemon.send(signal.SIGCONT)
        state = rig.wait(lambda s: s["holds"] and s["phase"] == "no more bets", "an early card")
        assert [hold["code"] for hold in state["holds"]] == ["card-early"]
        assert (len(state["kept"]), state["shoe"]["out"]) == (1, 1), "its late copies are copies"
        rig.do("release", supervised=True, action="as-p1")
        assert rig.client.state()["round"]["cards"] == {"P1": "2C"}
