"""An exception nobody foresaw, at one of two tables: the other goes on, nothing is half done or lost."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
import structlog

from tablectl.clock import iso
from tablectl.delivery.answers import Answer, classify
from tablectl.delivery.form import words_of
from tablectl.events import BettingClosed, BettingOpened, Event, RoundResulted, TableOpened
from tablectl.gameserver import intake
from tablectl.gameserver.betting import Windows
from tablectl.gameserver.book import Book, Ending
from tablectl.gameserver.lawful import check_result
from tablectl.gameserver.ledger import Ledger, Movement
from tablectl.gameserver.messages import Message
from tablectl.gameserver.players import Player
from tablectl.gameserver.results import settle
from tablectl.gameserver.server import GameServer
from tablectl.gameserver.store import Store
from tablectl.gameserver.surprise import MOST, Surprises, is_everybodys
from tablectl.gameserver.wagers import Bet
from tablectl.logs import setup_logging
from tests.delivery.nats_rig import Rig
from tests.gameserver.posting import EPOCH, SECRET, Request, body
from tests.gameserver.wagering import LIVE, result, shoe_started

SHOES = {"T07": 7, "T08": 8}
"""Each table's only shoe. T07's events are the ones that surprise."""
RESULTED = "tablectl.round.resulted.v1"

Patch = pytest.MonkeyPatch


@pytest.fixture
def patch() -> Iterator[Patch]:
    """Of what surprises; undone when the server is mended."""
    with Patch.context() as made:
        yield made


def surprises(*_: object) -> None:
    raise KeyError("x")


# --- what surprises, and where --------------------------------------------------------------------------


def lawful(patch: Patch) -> None:
    real = check_result

    def checked(told: RoundResulted) -> None:
        real(told)
        if told.shoe == SHOES["T07"]:
            raise ZeroDivisionError

    patch.setattr("tablectl.gameserver.results.check_result", checked)


def standing(patch: Patch) -> None:
    real = settle

    def settled(message: Message, *args: Any, **options: Any) -> Any:
        if message.table == "T07" and message.type == RESULTED:
            raise AttributeError("'NoneType' object has no attribute 'state'")
        return real(message, *args, **options)

    patch.setattr("tablectl.gameserver.intake.settle", settled)


def settlement(patch: Patch) -> None:
    """At the second wager: the first has its money by then."""
    real = Book.add_ending

    def added(self: Book, ending: Ending) -> None:
        real(self, ending)
        found = self._store.sql("SELECT table_id, part FROM wagers WHERE number = ?", ending.wager)
        if found == [("T07", "tie")]:
            raise AssertionError("wager 2 is not open any more")

    patch.setattr(Book, "add_ending", added)


def books(patch: Patch) -> None:
    """The database's own word on what it is given: no trouble of the disk."""
    real = Ledger.move

    def moved(self: Ledger, movement: Movement, currency: str, seen: int) -> int:
        number = real(self, movement, currency, seen)
        if movement.source == "stakes/T07":
            self._store.sql("UPDATE movements SET amount = 0 WHERE number = ?", number)
        return number

    patch.setattr(Ledger, "move", moved)


STAGES: dict[str, Callable[[Patch], None]] = {
    one.__name__: one for one in (lawful, standing, settlement, books)
}


# --- the floor ------------------------------------------------------------------------------------------


def begins(table: str) -> list[Event]:
    limits = LIVE.as_dict()["limits"]
    opened = TableOpened(
        rules=LIVE.name, currency=limits["currency"], limits=limits["bets"],
        max_winnings=limits["max_winnings"],
    )  # fmt: skip
    return [opened, shoe_started(SHOES[table], LIVE)]


def betting(table: str, round: int) -> Event:
    closes_at = iso(time.time_ns() + 60 * 10**9)
    return BettingOpened(shoe=SHOES[table], round=round, seconds=60, closes_at=closes_at)


def ends(table: str, round: int) -> list[Event]:
    closed = BettingClosed(shoe=SHOES[table], round=round, reason="timer", closed_at=iso(time.time_ns()))
    return [closed, result("banker", round, SHOES[table])]


async def in_pool(server: GameServer, call: Callable[..., Any], *args: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(server._turns.looks, call, *args)


async def bet(server: GameServer, table: str, round: int) -> None:
    """The table's only player places on Banker, who wins, and on Tie."""

    def placed() -> None:
        bank, name = server.intake.bank, f"at-{table}"
        if not bank.players.balance(player := Player(name, "USD")):
            bank.players.add(name, "USD", 1_000_00)
        bets = [Bet("banker", 100_00), Bet("tie", 10_00)]
        answer = bank.place(player, table, f"request-{round}", f"{SHOES[table]}/{round}", bets)
        assert [one["accepted"] for one in answer["bets"]] == [True, True], answer

    await in_pool(server, placed)


async def balances(server: GameServer) -> tuple[int, ...]:
    """Of both players; the books are right."""

    def asked() -> tuple[int, ...]:
        assert server.intake.bank.ledger.audit() == []
        return tuple(server.intake.bank.players.balance(Player(f"at-{one}", "USD")) for one in SHOES)

    found: tuple[int, ...] = await in_pool(server, asked)
    return found


def after(rounds: int, *, open: bool = False) -> int:
    """The balance after so many rounds, and with two bets on the table."""
    return 1_000_00 + rounds * (95_00 - 10_00) - (110_00 if open else 0)


@pytest.fixture(autouse=True)
def _logging() -> Iterator[None]:
    before = list(logging.getLogger().handlers)
    setup_logging("json", "warning")
    yield
    logging.getLogger().handlers[:] = before
    logging.captureWarnings(False)
    structlog.reset_defaults()


def logged(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    return [line for line in lines if "traceback" in line]


# --- over HTTP ------------------------------------------------------------------------------------------


class Controllers:
    """Both tables' controllers over HTTP."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.bodies: dict[str, list[bytes]] = {table: [] for table in SHOES}
        self.wanted = dict.fromkeys(SHOES, 1)

    @contextlib.asynccontextmanager
    async def server(self) -> AsyncIterator[GameServer]:
        server = GameServer(self._path, [SECRET])
        server.store.sql("PRAGMA synchronous=OFF")
        await server.start()
        try:
            async with aiohttp.ClientSession() as self._session:
                self._url = server.events_url
                yield server
        finally:
            await server.stop()

    def tell(self, table: str, *events: Event) -> None:
        mine = self.bodies[table]
        mine += [body(len(mine) + 1 + n, event, table=table) for n, event in enumerate(events)]

    async def send(self, table: str, *, first: int = 0) -> tuple[int, dict[str, Any], str | None]:
        """Everything from ``first`` on, or what is wanted: status, answer and Retry-After."""
        bodies = self.bodies[table][(first or self.wanted[table]) - 1 :]
        ids = [json.loads(one)["id"] for one in bodies]
        named = ids[0] if len(ids) == 1 else f"{ids[0]}_{ids[-1]}"
        request = Request(bodies, at=int(time.time()), named=named)
        url = self._url.replace("{table}", table)
        async with self._session.post(url, data=request.content, headers=request.headers) as response:
            answer = await response.json()
            self.wanted[table] = answer.get("next", self.wanted[table])
            return response.status, answer, response.headers.get("Retry-After")


@pytest.mark.parametrize("stage", STAGES)
async def test_over_http_one_tables_surprise_is_its_own(
    tmp_path: Path, patch: Patch, capsys: pytest.CaptureFixture[str], stage: str
) -> None:
    both = Controllers(tmp_path / "server.db")
    async with both.server() as server:
        for table in SHOES:
            both.tell(table, *begins(table), betting(table, 1))
            assert (await both.send(table))[:2] == (200, {"next": 4} | placed(table))
            await bet(server, table, 1)
            both.tell(table, *ends(table, 1))
        STAGES[stage](patch)
        assert (await both.send("T07"))[:2] == (200, {"next": 5}), "up to there it is taken"
        for _ in range(3):
            status, answer, again = await both.send("T07")
            assert (status, again) == (500, "5")
            assert answer.keys() == {"error"} and "a fault in the game server at event 5" in answer["error"]
        assert (await both.send("T07", first=4))[:2] == (200, {"next": 5}), "what is held is known"
        assert (await both.send("T08"))[:2] == (200, {"next": 6})
        assert await balances(server) == (after(0, open=True), after(1))
        both.tell("T08", betting("T08", 2))
        assert (await both.send("T08"))[0] == 200
        assert server.store.round("T07", EPOCH, 7, 1) is None
        (told,) = logged(capsys)
        assert (told["table"], told["at"]) == ("T07", "event 5") and "Traceback" in told["traceback"]
    patch.undo()
    async with both.server() as server:
        for _ in range(2):
            assert (await both.send("T07", first=4))[:2] == (200, {"next": 6})
            assert await balances(server) == (after(1), after(1))
        assert [one.body for one in server.store.events("T07")] == both.bodies["T07"]
        assert logged(capsys) == []


def placed(table: str) -> dict[str, Any]:
    return {"placed": {"shoe": SHOES[table], "round": 1, "players": 0, "placed": 0}}


async def test_before_the_first_event_nothing_is_kept_and_nothing_pinned(
    tmp_path: Path, patch: Patch
) -> None:
    both = Controllers(tmp_path / "server.db")
    patch.setattr(Store, "add", surprises)
    async with both.server() as server:
        both.tell("T07", *begins("T07"))
        assert (await both.send("T07"))[0] == 500
        assert server.store.tables() == []
        patch.undo()
        assert (await both.send("T07"))[:2] == (200, {"next": 3})


async def test_betting_is_over_where_an_event_is_missed(tmp_path: Path, patch: Patch) -> None:
    """It may have been the close; and a window that the same request opened is none either."""
    both = Controllers(tmp_path / "server.db")
    really = settle

    def settled(message: Message, *args: Any, **options: Any) -> Any:
        return really(message, *args, **options) if "closed" not in message.type else surprises()

    patch.setattr("tablectl.gameserver.intake.settle", settled)
    async with both.server() as server:
        for table, at_once in (("T07", False), ("T08", True)):
            both.tell(table, *begins(table), betting(table, 1))
            if not at_once:
                assert (await both.send(table))[0] == 200
                assert (await in_pool(server, server.intake.betting, table))["open"] is True
            both.tell(table, ends(table, 1)[0])
            assert (await both.send(table))[0] == (200 if at_once else 500)
            said = await in_pool(server, server.intake.betting, table)
            assert (said["open"], said["why"]) == (False, "a fault here")
            now = server.intake.bank.now(table)
            assert now.reason is not None and now.reason.code == "unlinked"


async def test_what_a_player_asks_is_told_a_fault_in_json(tmp_path: Path, patch: Patch) -> None:
    both = Controllers(tmp_path / "server.db")
    patch.setattr("tablectl.gameserver.model.limits", surprises)
    async with both.server() as server, both._session.get(f"{server.url}/v1/tables/T07/limits") as answer:
        assert (answer.status, answer.headers["Retry-After"]) == (500, "5")
        assert "a fault in the game server" in (await answer.json())["error"]


# --- over NATS ------------------------------------------------------------------------------------------


@pytest_asyncio.fixture
async def rig(tmp_path: Path, monkeypatch: Patch) -> AsyncIterator[Rig]:
    for module in ("sender", "nats_taken"):
        monkeypatch.setattr(f"tablectl.delivery.{module}.LOOK", 0.02)
    made = Rig(tmp_path)
    try:
        yield made
    finally:
        await made.close()


async def test_over_nats_one_tables_surprise_is_its_own(
    rig: Rig, patch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = await rig.server()
    senders = {table: rig.sender(path=rig.folder / f"{table}.db", table=table) for table in SHOES}

    def tell(table: str, event: Event) -> None:
        senders[table].play(made=lambda _: event)

    for table in SHOES:
        for event in begins(table):
            tell(table, event)
    for done, stage in enumerate(STAGES):
        round = 10 * (done + 1)
        for table, sender in senders.items():
            tell(table, betting(table, round))
            await sender.all_taken(server)
            await bet(server, table, round)
        STAGES[stage](patch)
        for table in SHOES:
            for event in ends(table, round):
                tell(table, event)
        tell("T07", betting("T07", round + 1))  # a gap, which is not taken for the missing one
        await senders["T08"].all_taken(server)
        await senders["T07"].until(lambda: "a fault in the game server at event" in senders["T07"].why)
        await senders["T08"].good()
        assert await balances(server) == (after(done, open=True), after(done + 1))
        (told,) = logged(capsys)
        assert told["table"] == "T07" and "Traceback" in told["traceback"]
        patch.undo()
        await rig.stop(server)
        server = await rig.server()
        for sender in senders.values():
            await sender.all_taken(server)
            await sender.good()
        assert await balances(server) == (after(done + 1), after(done + 1))
        assert logged(capsys) == []
    for table, sender in senders.items():
        assert [one.body for one in server.store.events(table)] == sender.bodies
        assert sender.alarms == []


# --- what is one table's and what is everybody's --------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "everybodys"),
    [
        (sqlite3.OperationalError("database or disk is full"), True),
        (sqlite3.DatabaseError("database disk image is malformed"), True),
        (OSError(5, "Input/output error"), True),
        (MemoryError(), True),
        (sqlite3.IntegrityError("a movement is never changed"), False),
        (sqlite3.ProgrammingError("type 'set' is not supported"), False),
        (sqlite3.DataError("string or blob too big"), False),
        (OverflowError("Python int too large to convert to SQLite INTEGER"), False),
        (AssertionError(), False),
        (RecursionError(), False),
    ],
)
def test_the_disks_trouble_is_everybodys(tmp_path: Path, error: Exception, everybodys: bool) -> None:
    """It takes along what came before it in the same commit, and is tried again; anything else does not."""
    assert is_everybodys(error) is everybodys
    store = Store(tmp_path / "server.db")
    one = intake.Intake(store, [SECRET])
    add = store.add

    def adds(table: str, taken: Any) -> None:
        add(table, taken)
        if table == "T07":
            raise error

    store.add = adds  # type: ignore[method-assign]
    with contextlib.suppress(type(error)) if everybodys else contextlib.nullcontext(), store.transaction():
        assert one.take_message("T08", body(1, table="T08")).status == 200
        assert one.take_message("T07", body(1)).status == 500
    assert [held.table for held in store.tables()] == ([] if everybodys else ["T08"])
    store.close()


def test_what_is_done_behind_a_commit_is_done_for_the_other_tables_too(tmp_path: Path, patch: Patch) -> None:
    took = Windows.took

    def tooks(self: Windows, message: Message, *args: Any) -> None:
        took(self, message, *args) if message.table != "T07" else surprises()

    patch.setattr(Windows, "took", tooks)
    store = Store(tmp_path / "server.db")
    one = intake.Intake(store, [SECRET])
    with pytest.raises(KeyError), store.transaction():
        for table in SHOES:
            assert one.take_message(table, body(1, betting(table, 1), table=table)).status == 200
    assert [one.betting(table)["open"] for table in SHOES] == [False, True]
    assert [held.next for held in store.tables()] == [2, 2]
    store.close()


def test_the_words_fit_what_a_controller_tells_and_the_log_has_it_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = Surprises()
    words = told.words("T07", "event 999999999999", KeyError("x"))
    assert words_of({"error": words}) == words
    assert classify(Answer(500, words=words)).text == f'the game server answers 500: "{words}"'
    for at in ("event 1", "event 2", "event 1"):
        told.words("T07", at, KeyError("y"))
    assert [line["at"] for line in logged(capsys)] == ["event 999999999999", "event 1", "event 2"]
    for number in range(2 * MOST):
        told.words("T07", f"event {number}", KeyError())
    assert len(told._logged) <= MOST
