"""A whole table over NATS into the reference game server; the real fleet is ``python -m tests.fleet``."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from tablectl.cli.check.nats import nats_finding
from tablectl.cli.check.server import server_findings
from tablectl.config import load_config
from tablectl.demo.files import new_secret
from tablectl.gameserver.server import GameServer
from tests.fleet.__main__ import parser, run
from tests.fleet.count import compared
from tests.fleet.table import FleetTable
from tests.nats_server import NatsServer


async def test_a_table_delivers_over_nats_and_check_knows_it(tmp_path: Path) -> None:
    secret = new_secret()
    nats = NatsServer(tmp_path).start()
    server = GameServer(tmp_path / "gameserver.db", [secret], accept_test=True, nats=nats.url)
    try:
        await server.start()
        (tmp_path / "T001").mkdir()
        table = await asyncio.to_thread(FleetTable, tmp_path / "T001", "T001", nats.url, secret, 0.5, 7)
        await asyncio.to_thread(table.play, 2, time.monotonic())
        async with asyncio.timeout(10):
            while (held := server.store.held("T001")) is None or held.next <= table.runtime.state.sequence:
                await asyncio.sleep(0.02)
        config = load_config(table.runtime.config.path)
        found = await asyncio.to_thread(nats_finding, config, "ffffff")
        assert found.grade == "FAIL"
        assert "pinned to history" in found.text
        await asyncio.to_thread(table.close)
        away = config.journal_path.rename(tmp_path / "away")
        (found,) = await asyncio.to_thread(list, server_findings(config))
        assert found.grade == "ok", "who has no journal yet speaks for no history"
        assert server.store.refused_epochs("T001") == ["ffffff"]
        away.rename(config.journal_path)
        found = await asyncio.to_thread(nats_finding, config, held.epoch)
        assert (found.grade, found.text) == (
            "ok",
            f"{nats.url}: the stream and the game server behind it answer",
        )
        await server.stop()
        counted = compared(tmp_path, ["T001"])
        assert (counted.lost, counted.differing, counted.out_of_order) == (0, 0, 0)
        assert counted.sent >= 14
        found = await asyncio.to_thread(nats_finding, config, held.epoch)
        assert found.text == f"{nats.url}: no game server answers on tables.T001.link"
        nats.kill()
        found = await asyncio.to_thread(nats_finding, config, held.epoch)
        assert "cannot be reached" in found.text
    finally:
        nats.kill()


@pytest.mark.soak
def test_a_fleet_loses_nothing(tmp_path: Path) -> None:
    tables, processes, rounds = (12, 3, 5) if "TABLECTL_SOAK" in os.environ else (1, 1, 1)
    counts = f"--tables {tables} --processes {processes} --rounds {rounds}"
    given = parser().parse_args(f"{counts} --round 0.8 --sync always".split())
    figures = run(given, tmp_path)
    assert figures["rounds"] == tables * rounds
    assert figures["errors"] == []
    assert (figures["lost"], figures["differing"], figures["out_of_order"]) == (0, 0, 0)
