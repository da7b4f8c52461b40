"""A refused event is parked by a pit boss: under its own sequence, once, over crashes, never in silence."""

from __future__ import annotations

import json
import re
import signal
import threading
import uuid
from pathlib import Path
from typing import Any

from tablectl.events import CommandRecorded, DeliveryParked
from tablectl.gameserver.store import RoundRecord
from tests.delivery.picky import Picky
from tests.e2e.harness import BARE, PIT_BOSS, TABLE, Rig, until

CARDS = "2C 9D 3H KS 9S 2H KD 3C 2S KD AS 6H 4C 2C 9D 3H KS"
"""Rounds of 4, 4, 5 and 4 cards."""


def result_of(number: int) -> Any:
    def refuses(event: dict[str, Any]) -> bool:
        return bool(event["type"] == "tablectl.round.resulted.v1" and event["data"]["round"] == number)

    return refuses


def order(rig: Rig, what: str, **more: Any) -> tuple[int, dict[str, Any]]:
    body = {"id": uuid.uuid4().hex, "person": PIT_BOSS.name, "pin": PIT_BOSS.pin, "reason": "system: test"}
    return rig.client.post(f"/v1/delivery/{what}", body | more)


def halted(rig: Rig) -> int:
    """The event at which the delivery is halted."""
    rig.wait(lambda s: any(a["alert"] == "delivery-halted" for a in s["alerts"]), "the halt")
    refused = rig.client.get("/v1/delivery")[1]["refused"]
    assert isinstance(refused, int)
    return refused


def stands(server: Picky, number: int) -> RoundRecord:
    found = server.round(TABLE, 1, number)
    assert found is not None
    return found


def point(rig: Rig, server: Picky) -> None:
    """From the next start on the daemon delivers there."""
    text = re.sub(r'url = "[^"]*"', f'url = "{server.url}"', rig.config.read_text())
    rig.config.write_text(text)


def play_until_halted(rig: Rig) -> int:
    """Two rounds, the second of which is refused; orders that must wait for that are refused before."""
    rig.start_daemon()
    rig.wait(lambda s: s["scanner"]["up"] and s["link"]["good"], "scanner and link")
    rig.open_table(CARDS)
    rig.play_round(4)
    rig.settle()
    status, answer = order(rig, "park", event=1)
    assert (status, "refuses no event now" in answer["answer"]) == (409, True)
    status, answer = order(rig, "start-at", event=2)
    assert (status, "kept no more" in answer["answer"]) == (409, True)
    rig.bets()
    rig.deal(4)
    rig.finish()
    return halted(rig)


def test_a_refused_result_is_parked_and_its_round_unsettled_until_amended(tmp_path: Path) -> None:
    link_free = BARE | {"betting": {"link_required": False}}
    with Rig("bee-tek", overrides=link_free) as rig:
        with Picky(tmp_path / "server.db", rig.secret, result_of(2)) as server:
            point(rig, server)
            refused = play_until_halted(rig)
            rig.play_round(5)  # play goes on behind it

            # Nothing else may be parked, and only by a pit boss.
            assert order(rig, "park", event=refused, pin="0000")[0] == 403
            for wrong in (refused - 1, refused + 1, 10**9):
                status, answer = order(rig, "park", event=wrong)
                assert status == 409
                assert f"that is event {refused}" in answer["answer"]
            for bad in (0, "1", True, None, -5):
                assert order(rig, "park", event=bad)[0] == 400
            assert rig.client.state()["unsettled"] == []
            original = [e for e in rig.public() if int(e["sequence"]) == refused]

            # Two consoles at once: one of them parks it.
            answers: list[tuple[int, dict[str, Any]]] = []
            consoles = [
                threading.Thread(target=lambda: answers.append(order(rig, "park", event=refused)))
                for _ in range(2)
            ]
            for console in consoles:
                console.start()
            for console in consoles:
                console.join()
            assert sorted(status for status, _ in answers) == [200, 409]
            done, late = sorted(answers, key=lambda one: one[0])
            assert "round 1/2 is unsettled until it is voided or amended" in done[1]["answer"]
            assert "parked already" in late[1]["answer"]

            rig.settle()
            record = stands(server, 2)
            assert record.state == "parked"
            assert record.event.endswith(f"{refused:012d}-p")
            assert record.result["parked_type"] == "tablectl.round.resulted.v1"
            assert (record.result["reason"], record.result["approved_by"]) == ("system: test", PIT_BOSS.name)
            state = rig.client.state()
            assert state["unsettled"] == ["1/2"]
            (alert,) = [a for a in state["alerts"] if a["alert"] == "round-unsettled"]
            assert "1/2" in alert["message"]
            past = rig.client.get("/v1/rounds/1/2")[1]
            assert past["unsettled"] is True
            assert "was parked" in past["notes"][-1]["text"]
            assert rig.client.get("/v1/rounds/1/2/explain")[1]["unsettled"] is True
            assert rig.client.get("/v1/rounds/1/1")[1]["unsettled"] is False
            assert [e for e in rig.public() if int(e["sequence"]) == refused] == original
            assert order(rig, "park", event=refused)[0] == 409, "once"
            assert rig.client.get("/v1/delivery")[1]["parked"] == [refused]

            # Settled by hand: an amendment is taken although the result before it never was.
            rig.do("amend", supervised=True, round="1/2", B1="3H")
            rig.settle()
            record = stands(server, 2)
            assert (record.state, record.revision) == ("amended", 2)
            assert rig.client.state()["unsettled"] == []
            assert rig.client.get("/v1/rounds/1/2")[1]["unsettled"] is False
            rig.daemon.end(signal.SIGKILL)
            sent = server.held(TABLE)
        # A server that lost everything gets the same bytes again, in batches across the parked event.
        with Picky(tmp_path / "new.db", rig.secret, lambda event: False) as new:
            point(rig, new)
            rig.start_daemon()
            until(lambda: len(new.held(TABLE)) >= len(sent), "everything came again")
            held = new.held(TABLE)
            assert held[: len(sent)] == sent
            assert json.loads(held[refused - 1])["id"].endswith("-p")
            # Held before it is answered, and noted as accepted only then.
            until(
                lambda: any(body.startswith(b"[") and b'-p"' in body for body in new.accepted), "in a batch"
            )
            assert stands(new, 2).state == "amended"


def test_killed_between_the_park_and_its_delivery_the_same_bytes_go_out(tmp_path: Path) -> None:
    with Rig("bee-tek", overrides=BARE) as rig:
        takes = threading.Event()
        first: list[bytes] = []

        def refuses(event: dict[str, Any]) -> bool:
            parked = event["id"].endswith("-p")
            if parked:
                first.append(json.dumps(event).encode())
            return result_of(2)(event) or (parked and not takes.is_set())

        with Picky(tmp_path / "server.db", rig.secret, refuses) as server:
            point(rig, server)
            refused = play_until_halted(rig)
            rig.daemon.end(signal.SIGKILL)
            rig.start_daemon()
            rig.wait(lambda s: rig.client.get("/v1/delivery")[1].get("refused"), "halted again")
            id_ = uuid.uuid4().hex
            status, answer = order(rig, "park", event=refused, id=id_)
            assert status == 200
            rig.wait(
                lambda s: first and rig.client.get("/v1/delivery")[1].get("refused") == refused,
                "the server refuses even that",
            )
            status, again = order(rig, "park", event=refused)
            assert status == 409
            assert "refuses that too" in again["answer"]
            rig.daemon.end(signal.SIGKILL)
            rig.start_daemon()
            assert order(rig, "park", event=refused, id=id_) == (200, answer), "the same command, over a kill"
            state = rig.wait(lambda s: s["alerts"], "alerts are raised again")
            assert state["unsettled"] == ["1/2"]
            takes.set()
            assert order(rig, "retry")[0] == 200
            rig.settle()
            assert stands(server, 2).state == "parked"
            assert len(set(first)) == 1
            rig.do("void", supervised=True, round="1/2")
            rig.settle()
            assert stands(server, 2).state == "voided"
            assert rig.client.state()["unsettled"] == []
            parked = [e for e in rig.journal_events() if isinstance(e, DeliveryParked)]
            assert len(parked) == 1
            commands = [
                e.accepted
                for e in rig.journal_events()
                if isinstance(e, CommandRecorded) and e.command == "delivery park"
            ]
            assert sorted(commands) == [False, False, True]


def test_a_refused_void_is_parked_and_told_once_more(tmp_path: Path) -> None:
    voids: list[str] = []

    def refuses(event: dict[str, Any]) -> bool:
        if event["type"] != "tablectl.round.voided.v1" or voids:
            return False
        voids.append(event["id"])
        return True

    with Rig("bee-tek", overrides=BARE) as rig, Picky(tmp_path / "s.db", rig.secret, refuses) as server:
        point(rig, server)
        rig.start_daemon()
        rig.wait(lambda s: s["scanner"]["up"] and s["link"]["good"], "scanner and link")
        rig.open_table(CARDS)
        rig.play_round(4)
        rig.do("void", supervised=True, round="1/1")
        refused = halted(rig)
        assert order(rig, "park", event=refused)[0] == 200
        rig.settle()
        assert stands(server, 1).state == "parked"
        rig.do("void", supervised=True, round="1/1")
        rig.settle()
        assert stands(server, 1).state == "voided"
        assert rig.client.state()["unsettled"] == []
        status, answer = rig.command(
            "void", supervised=True, expect={"version": rig.client.state()["version"]}, round="1/1"
        )
        assert (status, "is void already" in answer["answer"]) == (409, True)


def alert_of(rig: Rig, code: str) -> str:
    return next((a["message"] for a in rig.client.state()["alerts"] if a["alert"] == code), "")


def test_an_alert_tells_of_the_present_halt_and_orders_nothing_that_is_over(tmp_path: Path) -> None:
    refused: set[int] = set()
    link_free = BARE | {"betting": {"link_required": False}}
    with (
        Rig("bee-tek", overrides=link_free) as rig,
        Picky(tmp_path / "server.db", rig.secret, lambda event: int(event["sequence"]) in refused) as server,
    ):
        point(rig, server)
        rig.start_daemon()
        rig.wait(lambda s: s["scanner"]["up"] and s["link"]["good"], "scanner and link")
        texts = []
        for _ in range(2):
            number = rig.client.state()["sequence"] + 1
            refused.add(number)
            rig.do("open" if rig.client.state()["phase"] == "closed" else "close")
            until(lambda n=number: f"event {n}" in alert_of(rig, "delivery-halted"), "the halt")  # type: ignore[misc]
            texts.append(alert_of(rig, "delivery-halted"))
            assert f"delivery park {number} " in texts[-1]
            refused.clear()
            assert order(rig, "retry")[0] == 200
            until(lambda: alert_of(rig, "delivery-halted").startswith("Over: "), "it is over")
            assert "delivery park" not in str(rig.client.state()["say"]), "said no more"
        assert texts[0] != texts[1]
