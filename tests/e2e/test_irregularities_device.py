"""Scanner, shoe, controller or disk fail in the middle of a hand: from the bytes to the game server.

House rules, section 5: `device-lost`, `shoe-restarted`, `shoe-error`, `restart`, `journal`, `called`. Each
test is one row, or one way out of it.
"""

from __future__ import annotations

import contextlib
import resource
import signal
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from tablectl_drivers.bee_tek import Encoder
from tablectl_drivers.emulated.angel_eye import EmulatedAngelEye

from tablectl.cards import Card
from tests.e2e.harness import PIT_BOSS, until
from tests.e2e.irregularities import LONG, Shift, wired
from tests.e2e.programs import DAEMON, Forked, run_code

BEE_TEK = Encoder("Manual Burn Cards")
HAND = "2C 9D 3H KS"


def _says(key: str, wanted: object, state: dict[str, Any]) -> bool:
    return bool(state[key] == wanted)


def _waits(table: Shift, rows: int) -> bool:
    """Whether so many rows wait for the disk."""
    return bool(table.client.state()["journal"]["depth"] >= rows)


BANKER_WINS = "resulted: 2C 3H / 9D KS banker by"
REPAIR = "rescan hand, correct, insert, move, enter, device swap, void, shoe end"


def holds(rig: Shift) -> list[str]:
    return [hold["code"] for hold in rig.client.state()["holds"]]


# --- device-lost -------------------------------------------------------------------------------------


def unplugged(table: Shift, cards: str = HAND) -> None:
    """Two cards lie there and the cable comes out."""
    table.begin(cards)
    table.bets()
    table.deal(2)
    table.shoe.hang_up()
    message = "The scanner was lost; a card may have been drawn unseen."
    state = table.on_hold("device-lost", message, "correct, insert, move, enter, device swap, void, shoe end")
    assert not state["scanner"]["up"]
    table.refused("release", "is no way out now", action="cards-confirmed")
    table.refused("rescan", message, supervised=False, what="hand")


def back(table: Shift) -> None:
    table.shoe.plug_in()
    table.wait(lambda s: s["scanner"]["up"], "it is back")
    assert holds(table) == ["device-lost"], "coming back releases nothing"


def test_device_lost_and_back_the_cards_are_confirmed(bee: Shift) -> None:
    unplugged(bee)
    back(bee)
    bee.on_hold("device-lost", "unseen", f"cards-confirmed, {REPAIR}")
    bee.release("cards-confirmed")
    bee.deal(2)
    assert bee.stands() == f"{BANKER_WINS} automatic"
    assert bee.story() == (
        "betting.opened betting.closed card.dealt*2 scanner.lost table.held scanner.restored table.released"
        " card.dealt*2 round.resulted"
    )
    bee.do("ack", alert="scanner-lost")
    bee.close_book()


def test_device_lost_with_a_card_drawn_meanwhile(bee: Shift) -> None:
    unplugged(bee, "2C 9D KS")
    bee.shoe.slip("3H")
    back(bee)
    bee.refused("insert", "no card lies at 'B2'", position="B2", card="3H")
    bee.pit("insert", position="P2", card="3H")
    bee.release("cards-confirmed")
    bee.deal(1)
    assert bee.stands() == f"{BANKER_WINS} automatic"
    assert bee.only("hand.corrected")["after"] == {"P1": "2C", "B1": "9D", "P2": "3H"}
    bee.do("ack", alert="scanner-lost")
    bee.close_book()


def test_device_dead_the_hand_is_finished_by_enter(bee: Shift) -> None:
    unplugged(bee)
    bee.refused("enter", "P2 is due, not 'B2'", position="B2", card="KS")
    bee.shoe.slip("3H")
    bee.pit("enter", position="P2", card="3H")
    bee.refused("release", "is no way out now", action="cards-confirmed")
    bee.shoe.slip("KS")
    bee.pit("enter", position="B2", card="KS")
    assert bee.every("round.resulted") == []
    bee.release("cards-confirmed")
    assert bee.stands() == f"{BANKER_WINS} automatic"
    assert [data["source"] for data in bee.every("card.dealt")] == ["scanner", "scanner", "manual", "manual"]
    bee.refused("bets open", "the scanner is not there", supervised=False)
    entered = [e for e in bee.journal_events() if getattr(e, "source", "") == "manual"]
    assert {getattr(e, "approved_by", "") for e in entered} == {PIT_BOSS.name}
    bee.close_book()
    bee.shoe.plug_in()
    bee.wait(lambda s: s["scanner"]["up"], "it is back")
    bee.do("ack", alert="scanner-lost")


def test_device_dead_the_same_cards_go_on_in_another(angel: Shift) -> None:
    unplugged(angel)
    angel.pit("device swap")
    dead = angel.shoe
    angel.change_shoe((), seed=2)
    angel.shoe.load([Card.parse(card) for card in ["3H", "KS", "9S", "2H", "KD", "3C"]])
    angel.shoe.drawn, angel.shoe.loaded = dead.drawn, dead.loaded
    angel.shoe.flush()
    angel.on_hold("device-lost", "unseen", f"cards-confirmed, {REPAIR}")
    angel.release("cards-confirmed")
    angel.deal(2)
    angel.refused("bets open", "result is not out", supervised=False)
    angel.do("confirm")
    assert angel.stands() == f"{BANKER_WINS} dealer"
    angel.shoe.standby()
    angel.bets()
    angel.deal(4)
    angel.finish()
    assert angel.stands() == "resulted: 9S KD / 2H 3C player by shoe", "in step with the new device"
    assert angel.every("shoe.ended") == []
    angel.do("ack", alert="scanner-lost")
    angel.close_book()


def test_device_dead_shoe_end(bee: Shift) -> None:
    unplugged(bee)
    bee.pit("shoe end")
    assert bee.stands() == "voided: P1=2C B1=9D"
    assert holds(bee) == []
    bee.close_book()
    bee.shoe.plug_in()
    bee.wait(lambda s: s["scanner"]["up"], "it is back")
    bee.do("ack", alert="scanner-lost")


# --- shoe-restarted, shoe-error ----------------------------------------------------------------------


def test_shoe_restarted_in_mid_hand(angel: Shift) -> None:
    angel.begin("2S KD AS 6H 4C")
    angel.bets()
    angel.deal(4)  # so many frames that this start is no late copy of the last one
    angel.shoe.restart()
    message = "The shoe was restarted in the middle of a round."
    angel.on_hold("shoe-restarted", message, f"cards-confirmed, {REPAIR}")
    angel.refused("release", "is no way out now", action="keep")
    angel.refused("confirm", message, supervised=False)
    angel.release("cards-confirmed")
    angel.deal(1)
    angel.do("confirm")
    assert angel.stands() == "resulted: 2S AS 4C / KD 6H player by dealer"
    assert angel.story() == (
        "betting.opened betting.closed card.dealt*4 table.held table.released card.dealt round.resulted"
    )
    angel.close_book()


def test_shoe_restarted_between_rounds_is_an_alert(angel: Shift) -> None:
    angel.begin(f"{HAND} 9S 2H KD 3C")
    angel.play_round(4)
    angel.shoe.restart()
    angel.wait(lambda s: any(a["alert"] == "shoe-restarted" for a in s["alerts"]), "the alert")
    angel.shoe.standby()
    angel.play_round(4)
    assert angel.stands() == "resulted: 9S KD / 2H 3C player by shoe", "in step again"
    assert angel.every("shoe.ended") == [], "the shoe in play goes on"
    angel.do("ack", alert="shoe-restarted")
    angel.close_book()


def test_shoe_error_in_its_own_words(angel: Shift) -> None:
    angel.begin(HAND)
    angel.bets()
    angel.deal(2)
    shoe = wired(angel)
    assert isinstance(shoe, EmulatedAngelEye)
    shoe._raise_error(7)
    state = angel.on_hold("shoe-error", "error 7: draw time-out", f"cards-confirmed, {REPAIR}")
    assert state["holds"][0]["saw"]["bytes"].startswith("05"), "the report's own bytes"
    angel.refused("release", "is no way out now", action="resume")
    angel.release("cards-confirmed")
    angel.deal(2)
    angel.do("confirm")
    assert angel.stands() == f"{BANKER_WINS} dealer"
    angel.close_book()


def test_shoe_error_with_a_card_jammed_is_void(bee: Shift) -> None:
    bee.begin(HAND)
    bee.bets()
    bee.deal(2)
    wired(bee)._send(BEE_TEK.alarm("E7 Card Jam"))
    bee.on_hold("shoe-error", "E7 Card Jam", f"cards-confirmed, {REPAIR}")
    bee.pit("void")
    assert bee.stands() == "voided: P1=2C B1=9D"
    assert bee.story() == "betting.opened betting.closed card.dealt*2 table.held round.voided table.released"
    bee.close_book()


# --- restart -----------------------------------------------------------------------------------------


def crashed(table: Shift, cards: str, drawn_meanwhile: int = 0) -> None:
    """Two cards lie there, the controller dies and comes back."""
    table.begin(cards)
    table.bets()
    table.deal(2)
    table.daemon.end(signal.SIGKILL)
    for _ in range(drawn_meanwhile):
        table.shoe.draw()
    table.shoe.flush()
    table.start_daemon()
    table.wait(lambda s: s["scanner"]["up"] and s["link"]["good"], "all is there again")
    message = "The controller was restarted in the middle of a round."
    state = table.on_hold("restart", message, f"cards-confirmed, {REPAIR}")
    assert (state["phase"], table.cards()) == ("dealing", {"P1": "2C", "B1": "9D"})
    assert state["shoe"]["out"] == 2, "what waited on the line is never played"
    table.refused("confirm", message, supervised=False)
    table.refused("release", "is no way out now", action="rescanned")


def test_restart_the_cards_are_confirmed(bee: Shift) -> None:
    crashed(bee, HAND)
    bee.release("cards-confirmed")
    bee.deal(2)
    assert bee.stands() == f"{BANKER_WINS} automatic"
    assert bee.story() == (
        "betting.opened betting.closed card.dealt*2 table.held scanner.restored table.released card.dealt*2"
        " round.resulted"
    )
    bee.close_book()


def test_restart_the_hand_is_scanned_again(bee: Shift) -> None:
    """The third card was drawn while nobody listened."""
    crashed(bee, "2C 9D 3H 2C 9D 3H KS", drawn_meanwhile=1)
    assert any(a["alert"] == "scan-discarded" for a in bee.client.state()["alerts"])
    bee.do("rescan", what="hand")
    bee.on_hold(
        "restart, rescan",
        "All cards of this round, in the order they were drawn.",
        "keep, cards-confirmed, device swap, void, shoe end",
    )
    bee.refused("rescan", "being scanned again", supervised=False, what="hand")
    for scanned in (1, 2, 3):
        bee.shoe.scan_again()
        wanted = {"what": "hand", "scanned": scanned}
        bee.wait(partial(_says, "rescan", wanted), "it is scanned")
    bee.release("rescanned")
    assert (holds(bee), bee.cards()) == ([], {"P1": "2C", "B1": "9D", "P2": "3H"})
    bee.counted()
    bee.deal(1)
    assert bee.stands() == f"{BANKER_WINS} automatic"
    corrected = bee.only("hand.corrected")
    assert (corrected["before"], corrected["after"]) == (
        {"P1": "2C", "B1": "9D"},
        {"P1": "2C", "B1": "9D", "P2": "3H"},
    )
    bee.do("ack", alert="scan-discarded")
    bee.close_book()


def test_restart_a_card_drawn_meanwhile_is_inserted(angel: Shift) -> None:
    crashed(angel, HAND, drawn_meanwhile=1)
    angel.pit("insert", position="P2", card="3H")
    angel.release("cards-confirmed")
    angel.deal(1)
    # The first message the new process hears: whether one before it was lost, nobody can tell.
    angel.wait(lambda s: s["holds"], "it is asked")
    assert [hold["code"] for hold in angel.client.state()["holds"]] == ["card-missed"]
    angel.release("accept")
    angel.do("confirm")
    assert angel.stands() == f"{BANKER_WINS} dealer"
    angel.close_book()


def test_restart_void(bee: Shift) -> None:
    crashed(bee, HAND)
    bee.pit("void")
    assert bee.stands() == "voided: P1=2C B1=9D"
    bee.close_book()


# --- journal -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def disk_full(rig: Shift) -> Iterator[None]:
    """Every write of the daemon to a file fails meanwhile."""
    pid, whole = rig.daemon.pid, resource.RLIM_INFINITY
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, whole))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (whole, whole))


SHORT_QUEUE = DAEMON.replace(
    "import sys\n", "import sys\nimport tablectl.core\ntablectl.core.QUEUE_ROWS = 16\n"
)
"""A daemon that holds the table when twelve rows wait for the disk, not thousands."""


def test_journal_full_holds_and_resumes_by_itself() -> None:
    with Shift("bee-tek", overrides=LONG) as table:
        assert SHORT_QUEUE != DAEMON
        code = SHORT_QUEUE, str(table.config)
        table.daemon = Forked(run_code, lambda: code, table.folder / "daemon.log")
        table.start()
        table.begin("2S 3D AH TC 5C 4D")
        table.bets()
        table.deal(1)
        with disk_full(table):
            for _ in range(3):
                table.shoe.draw()
            for _ in range(9):
                wired(table)._send(BEE_TEK.warning(1))
            until(partial(_waits, table, 13), "the hold waits for the disk too")
            table.shoe.draw()
            until(partial(_waits, table, 14), "kept, and written down later")
            assert table.cards() == {"P1": "2S"}, "nobody is shown what may be lost"
        ways = "accept, burn, rescan hand, correct, insert, move, void, shoe end"
        table.on_hold("called", "Cards were drawn meanwhile.", ways)
        assert table.cards() == {"P1": "2S", "B1": "3D", "P2": "AH", "B2": "TC"}
        table.refused("release", "is no way out now", action="resume")
        table.release("accept")
        table.deal(1)
        assert table.stands() == "resulted: 2S AH 5C / 3D TC 4D player by automatic"
        assert table.story() == (
            "betting.opened betting.closed card.dealt*4 table.held*2 table.released card.dealt table.released"
            " card.dealt round.resulted"
        )
        held, released = table.every("table.held"), table.every("table.released")
        assert held[0]["codes"] == ["journal"]
        assert (released[0]["action"], released[0]["approved_by"]) == ("resume", "controller")
        table.close_book()


# --- called ------------------------------------------------------------------------------------------


def test_called_and_resumed(bee: Shift) -> None:
    bee.begin(HAND)
    bee.bets()
    bee.deal(2)
    bee.refused("hold", "a table is put on hold for", supervised=False, text="x", because="overdraw")
    bee.do("hold", text="a player objects")
    bee.on_hold(
        "called",
        "The table was put on hold. a player objects",
        "resume, rescan hand, correct, insert, move, enter, void, shoe end",
    )
    bee.refused("hold", "on hold by call already", supervised=False, text="again")
    bee.refused("release", "is no way out now", action="keep")
    bee.release("resume")
    bee.deal(2)
    assert bee.stands() == f"{BANKER_WINS} automatic"
    assert bee.story() == (
        "betting.opened betting.closed card.dealt*2 table.held table.released card.dealt*2 round.resulted"
    )
    bee.close_book()


def test_called_while_betting_is_open_closes_on_time_and_is_void(bee: Shift) -> None:
    bee.begin(HAND)
    bee.do("bets open")
    bee.do("hold", text="wrong table limit shown")
    bee.on_hold("called", "wrong table limit", "resume, void, shoe end")
    bee.do("bets close")
    bee.pit("void")
    assert bee.stands() == "voided:"
    assert bee.story() == "betting.opened table.held betting.closed round.voided table.released"
    bee.close_book()


def test_called_card_scanned_again_was_another(bee: Shift) -> None:
    bee.begin("2C 9D 4C")
    bee.bets()
    bee.shoe.misread("4C")
    bee.deal(1)
    bee.refused("rescan", "no card lies at 'P3'", supervised=False, what="P3")
    bee.do("rescan", what="P1")
    bee.on_hold("rescan", "The card at P1.", "keep, void, shoe end")
    bee.refused("release", "the card was not scanned again: scan first", action="rescanned")
    bee.shoe.scan_again()
    bee.wait(lambda s: s["rescan"]["scanned"] == 1, "it is scanned")
    bee.release("rescanned")
    assert bee.cards() == {"P1": "4C", "B1": "9D"}
    assert bee.only("hand.corrected")["before"] == {"P1": "2C", "B1": "9D"}
    bee.close_book()


@pytest.mark.parametrize("reason", ["", "nonsense", "other"])
def test_called_and_released_only_with_a_reason_of_the_list(bee: Shift, reason: str) -> None:
    bee.begin(HAND)
    bee.do("hold", text="?")
    before = bee.client.state()
    body = {
        "id": f"reason {reason}",
        "command": "release",
        "args": {"action": "resume"},
        "expect": {"version": before["version"]},
        "person": PIT_BOSS.name,
        "pin": PIT_BOSS.pin,
        "reason": reason,
    }
    status, answer = bee.client.post("/v1/commands", body)
    assert status == 409 and "reason" in answer["answer"], answer
    assert holds(bee) == ["called"]
    bee.release("resume")
    bee.close_book()
