"""How the delivery stands is told in the same form at every moment of its life."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest
import structlog

from tablectl.clock import SECOND
from tablectl.config import load_config, make_config
from tablectl.delivering import NOT_BEGUN, SIGN, SIGN_ONCE, UNSIGNED, Delivering
from tablectl.delivery.outbox import Outbox
from tablectl.delivery.standing import not_begun, standing
from tests.e2e.harness import BARE, Rig


def nothing(*_: Any) -> None:
    """Nobody listens."""


def test_the_keys_are_the_same_before_and_after_it_begins() -> None:
    box = Outbox.begin(1_000 * SECOND, head=7, acked=3)
    running = standing("https://x/", box.link(1_000 * SECOND), box, None, [5, 2])
    assert running.keys() == not_begun(None, "why", 7, 3).keys()
    assert (running["owed"], running["parked"], running["halted"]) == (4, [2, 5], False)


def test_a_sender_that_has_not_read_the_journal_says_so() -> None:
    with Rig("bee-tek", overrides=BARE) as rig:
        rig.config.write_text(rig.config.read_text().replace("/events", "/events?key=hidden"))
        config = load_config(rig.config)
        one = Delivering(
            config, "4f2a91", on_link=nothing, on_acked=nothing, on_alarm=nothing, log=structlog.get_logger()
        )
        one.sender = one.prepared(config)
        found = one.status(7, 3)
        assert "hidden" in str(config.server_url)
        assert (found["why"], found["owed"], found["trouble"]) == (NOT_BEGUN, 4, None)
        assert found["url"] == str(one.sender and one.sender.address)
        assert "hidden" not in str(found)


@pytest.mark.parametrize(
    ("folder", "systemd", "way_out"),
    [("secrets", True, SIGN), ("secrets", False, SIGN), (None, False, SIGN), (None, True, SIGN_ONCE)],
)
def test_how_a_missing_secret_comes_is_told_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str | None, systemd: bool, way_out: str
) -> None:
    """systemd hands credentials over once: there nothing is taken up by itself."""
    (tmp_path / "secrets").mkdir()
    if systemd:
        monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "secrets"))
    raw = {
        "table": {"id": "T07"},
        "scanner": {"driver": "bee-tek", "device": "/dev/null"},
        "server": {"url": "https://games.example/{table}"},
        "secrets": {} if folder is None else {"folder": folder},
    }
    config = make_config(raw, tmp_path / "T07.toml")
    one = Delivering(
        config, "4f2a91", on_link=nothing, on_acked=nothing, on_alarm=nothing, log=structlog.get_logger()
    )
    found = one.status(7, 3)
    assert (found["trouble"], found["way_out"]) == (UNSIGNED, way_out)


class Slow:
    """A sender that takes its time to close."""

    closed = 0

    def __init__(self) -> None:
        self.runs, self.closing, self.may_close = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def run(self) -> None:
        self.runs.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.closing.set()
            await self.may_close.wait()
            Slow.closed += 1


async def test_a_second_change_does_not_break_off_how_the_first_sender_closes(tmp_path: Path) -> None:
    raw = {
        "table": {"id": "T07"},
        "scanner": {"driver": "bee-tek", "device": "/dev/null"},
        "server": {"url": "nats://games.example", "kind": "nats"},
    }
    config = make_config(raw, tmp_path / "T07.toml")
    one = Delivering(
        config, "4f2a91", on_link=nothing, on_acked=nothing, on_alarm=nothing, log=structlog.get_logger()
    )
    senders: list[Any] = [Slow(), Slow(), Slow()]
    one.sender = senders[0]
    running = asyncio.create_task(one._run())
    try:
        async with asyncio.timeout(5):
            await senders[0].runs.wait()
            one.take(config, senders[1])
            await senders[0].closing.wait()
            one.take(config, senders[2])
            for _ in range(5):
                await asyncio.sleep(0)
            assert not senders[2].runs.is_set()
            senders[0].may_close.set()
            await senders[2].runs.wait()
            assert (Slow.closed, senders[1].runs.is_set()) == (1, False)
    finally:
        for sender in senders:
            sender.may_close.set()
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
    assert Slow.closed == 2
