"""All have placed: three players at the real game server, the real daemon, and what the dealer is shown."""

from __future__ import annotations

import json
import time
import urllib.request
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tablectl.cli.read import State
from tablectl.gameserver.ledger import Ledger
from tablectl.gameserver.players import Players
from tablectl.gameserver.store import Store
from tests.e2e.harness import BARE, TABLE, Rig

NAMES = ("ann", "bob", "eva")


class Played(Rig):
    """A table with players."""

    def __init__(self) -> None:
        super().__init__("bee-tek", overrides=BARE | {"betting": {"seconds": 20}})
        store = Store(self.server_db)
        players = Players(store, Ledger(store))
        self.tokens = {name: players.add(name, "USD", 1_000_00) for name in NAMES}
        store.close()

    def ask(self, path: str, player: str, data: Any = None) -> Any:
        request = urllib.request.Request(
            f"{self.server_url}/v1/tables/{TABLE}/{path}",
            headers={"Authorization": f"Bearer {self.tokens[player]}"},
            data=None if data is None else json.dumps(data).encode(),
        )
        with urllib.request.urlopen(request, timeout=5) as response:
            return json.load(response)

    def place(self, player: str, round: str) -> None:
        bets = [{"area": "player", "stake": 10_00}]
        answer = self.ask("wagers", player, {"id": uuid.uuid4().hex, "round": round, "bets": bets})
        assert answer["bets"][0]["accepted"], answer

    def told(self, since: dict[str, Any], placed: int) -> tuple[dict[str, Any], float]:
        """Follow the state as a console does: the first one with so many placed, and after how long (s)."""
        begun, state = time.monotonic(), since
        while state["placed"] is None or state["placed"]["placed"] != placed:
            state = self.client.state(newer=state["row"])
            assert time.monotonic() - begun < 10, state["placed"]
        return state, time.monotonic() - begun


@pytest.fixture
def rig() -> Iterator[Played]:
    with Played() as rig:
        rig.start()
        rig.open_table("2C 9D 3H KS")
        yield rig


def test_the_dealer_sees_who_has_placed_and_closes_early(rig: Played) -> None:
    assert rig.client.state()["placed"] is None
    for name in NAMES:
        rig.ask("play", name)
    rig.do("bets open")
    state, _ = rig.told(rig.client.state(), 0)
    where = {"shoe": 1, "round": 1}
    assert state["placed"] == {**where, "players": 3, "placed": 0, "all": False}
    assert "0 of 3 players have placed" in State(state).lines()
    rig.place("ann", "1/1")
    rig.place("bob", "1/1")
    rig.ask("wagers/done", "eva", {"id": uuid.uuid4().hex, "round": "1/1"})
    state, seconds = rig.told(state, 3)
    assert state["placed"] == {**where, "players": 3, "placed": 3, "all": True}
    assert seconds < 4.5, "a second, more on a busy machine; five at a server that says nothing of it"
    assert "all 3 players have placed: `tablectl bets close` ends betting early" in State(state).lines()
    assert state["phase"] == "betting", "nothing is closed by itself"
    assert state["link"]["good"]
    rig.do("bets close")
    assert rig.client.state()["placed"] is None
    rig.settle()
    assert "placed" not in json.dumps(rig.public()), "it is no part of the table"
