"""A game server asks for events that are kept no more: a pit boss skips them, and it is told so."""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
from pathlib import Path

import pytest

from tablectl.config import load_config
from tablectl.events import DeliverySkipped
from tablectl.journal import JournalReader
from tablectl.journal.rows import Outgoing
from tablectl.runtime import Runtime
from tests.delivery.picky import Picky
from tests.delivery.test_parking import CARDS, order, point, stands
from tests.e2e.harness import BARE, TABLE, Rig, until

KEPT_FROM = 12


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As retention leaves it: the oldest public events are not there any more."""
    real = JournalReader.bodies

    def bodies(reader: JournalReader, first: int, limit: int = 100) -> list[Outgoing]:
        return real(reader, max(first, KEPT_FROM), limit)

    monkeypatch.setattr(JournalReader, "bodies", bodies)
    monkeypatch.setattr(JournalReader, "first_sequence", lambda _: KEPT_FROM)


def kept_cursor(path: Path) -> int:
    """The newest acknowledgement on the disk, which may be a moment behind what the table tells."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        ((value,),) = db.execute("SELECT value FROM meta WHERE key = 'acked'")
        return int(value)


def test_a_server_that_lost_what_is_kept_no_more_goes_on_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Rig("bee-tek", overrides=BARE) as rig:
        with Picky(tmp_path / "first.db", rig.secret, lambda event: False) as server:
            point(rig, server)
            rig.start_daemon()
            rig.wait(lambda s: s["scanner"]["up"] and s["link"]["good"], "scanner and link")
            rig.open_table(CARDS)
            rig.play_round(4)
            rig.play_round(4)
            rig.settle()
            sent = server.held(TABLE)
            first_kept = json.loads(sent[KEPT_FROM - 1])["data"]
            oldest = f"round {first_kept['shoe']}/{first_kept['round']}"
            until(lambda: kept_cursor(rig.journal_path) == len(sent), "what was acknowledged is on the disk")
            rig.daemon.end(signal.SIGKILL)
        forget(monkeypatch)
        with Picky(tmp_path / "lost.db", rig.secret, lambda event: False) as server:
            point(rig, server)
            for start in (1, 2):
                runtime = Runtime(load_config(rig.config))
                runtime.start()
                try:
                    if start == 2:
                        until(lambda: rig.client.get("/v1/delivery")[1]["good"], "nothing is asked again")
                        continue
                    state = rig.wait(lambda s: s["alerts"], "the alert")
                    assert "wants event 1; the oldest kept here is 12" in state["alerts"][0]["message"]
                    status = rig.client.get("/v1/delivery")[1]
                    assert (status["halted"], status["wanted"], status["kept_from"]) == (True, 1, KEPT_FROM)
                    assert status["acked"] == len(sent), "what was acknowledged stays so"
                    never = f"the game server never gets 11 events (1 to 11): everything before {oldest}"
                    assert status["never_sent"] == never, "said before it is done"
                    for wrong in (KEPT_FROM - 1, 1, KEPT_FROM + 1, len(sent) + 1, 10**9):
                        code, answer = order(rig, "start-at", event=wrong)
                        assert code == 409
                        assert (
                            f"it starts at 12, the oldest event kept, and not at {wrong}" in answer["answer"]
                        )
                        assert never in answer["answer"]
                    assert order(rig, "start-at", event=KEPT_FROM, pin="0000")[0] == 403
                    code, answer = order(rig, "start-at", event=KEPT_FROM)
                    assert (code, answer["answer"]) == (200, f"it goes on at 12; {never}")
                    assert order(rig, "start-at", event=KEPT_FROM)[0] == 409, "once"
                    until(lambda: server.store.held(TABLE) and rig.client.state()["link"]["good"], "good")
                    rig.settle()
                    held = server.held(TABLE)
                    skipped = json.loads(held[0])
                    assert skipped["id"].endswith("-000000000001-s")
                    assert skipped["type"] == "tablectl.history.skipped.v1"
                    assert skipped["data"] == {"from": 1, "to": KEPT_FROM - 1}
                    assert held[1 : 2 + len(sent) - KEPT_FROM] == sent[KEPT_FROM - 1 :]
                    # A round whose result was skipped may still be set right.
                    assert server.round(TABLE, 1, 1) is None
                    rig.do("amend", supervised=True, round="1/1", B1="8S")
                    rig.settle()
                    assert stands(server, 1).state == "amended"
                    first = held[0]
                finally:
                    assert runtime.stop()
        with Picky(tmp_path / "again.db", rig.secret, lambda event: False) as server:
            point(rig, server)
            runtime = Runtime(load_config(rig.config))
            runtime.start()
            try:
                until(lambda: server.held(TABLE), "it asks from the beginning, and gets the same bytes")
                assert server.held(TABLE)[0] == first
                rig.settle()
            finally:
                assert runtime.stop()
            assert len([e for e in rig.journal_events() if isinstance(e, DeliverySkipped)]) == 1
