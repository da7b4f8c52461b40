"""Two words on what goes out in place of one event: the first one stands, whoever reads it and whenever."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.answered import Answer
from tablectl.api import commands as api_commands
from tablectl.api import delivery as api_delivery
from tablectl.api.delivery import DeliveryRoutes
from tablectl.clock import Instant
from tablectl.core import Core, Record
from tablectl.delivery.instead import all_instead, decided, instead_of, park, skip
from tablectl.delivery.stock import Stock
from tablectl.events import DeliveryParked, DeliverySkipped, private_body
from tablectl.journal import Journal, JournalReader, Row
from tablectl.service import Published
from tablectl.table import State
from tests.journals import fill

TABLE = Published(State())


class Words:
    """Words of a pit boss in a journal of some events, each at an instant of its own."""

    def __init__(self, path: Path) -> None:
        fill(path, 1)
        self.journal = Journal.open(path, "T07")
        self.reader = JournalReader.open(path)

    def says(self, sequence: int, *, skips: bool) -> DeliveryParked | DeliverySkipped:
        row, epoch = self.journal.last()[0] + 1, self.journal.epoch
        at = Instant(row, row)
        (stored,) = self.reader.bodies(sequence, 1)
        event = (
            skip("T07", epoch, at, sequence, 9, "x: y", "Ann", test=False)
            if skips
            else park(stored, epoch, at, "x: y", "Ann")
        )
        self.journal.append([Row(row, None, None, private_body(event, at))])
        return event

    def close(self) -> None:
        self.reader.close()
        self.journal.close()


@pytest.fixture
def words(tmp_path: Path) -> Any:
    made = Words(tmp_path / "T07.db")
    yield made
    made.close()


@settings(max_examples=25, deadline=None)
@given(
    said=st.lists(st.tuples(st.integers(1, 3), st.booleans()), max_size=6),
    seen=st.integers(0, 6),
    read=st.integers(0, 6),
)
def test_the_first_word_stands_from_memory_and_from_the_file(
    said: list[tuple[int, bool]], seen: int, read: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """``seen``: words before the daemon listened; ``read``: before its delivery had read the journal."""

    async def heard() -> None:
        words = Words(tmp_path_factory.mktemp("words") / "T07.db")
        stock, wins = Stock(), dict[int, bytes]()
        try:
            for n, (sequence, skips) in enumerate(said):
                if n == max(seen, read):
                    await stock.read(words.reader)
                event = words.says(sequence, skips=skips)
                one = instead_of(event, "T07", words.journal.epoch)
                assert one is not None
                before = wins.get(sequence)
                if before is None or (skips and b"event.parked" in before):
                    wins[sequence] = event.body.encode()
                if n >= seen:
                    decided(stock.instead, one)
            if len(said) <= max(seen, read):
                await stock.read(words.reader)
            for found in (stock.instead, all_instead(words.reader)):
                assert {n: one.outgoing.body for n, one in found.items()} == wins
        finally:
            words.close()

    asyncio.run(heard())


@pytest.mark.parametrize(("since", "says"), [(None, "unsettled until"), (0, "settled by"), (2, "settled by")])
async def test_a_park_says_whether_its_round_is_settled_since(
    words: Words, since: int | None, says: str
) -> None:
    """A round that was amended (or voided: 0) since its result was refused waits for nobody."""
    stored = next(one for one in words.reader.bodies(1, 500) if b'"tablectl.round.resulted.v1"' in one.body)
    data = json.loads(stored.body)["data"]
    revisions = () if since is None else ((data["shoe"], data["round"], since),)
    delivery = SimpleNamespace(
        trouble=SimpleNamespace(refused=stored.sequence), parked=lambda _: False, begins=False
    )
    routes = DeliveryRoutes(
        cast(Any, None), lambda: cast(Any, delivery), words.reader, lambda: Instant(5, 5),
        Published(State(revisions=revisions)), test=False,
    )  # fmt: skip
    answer, _ = await routes._parking(cast(Any, delivery), stored.sequence, "system: x", "Ann")
    assert f"; round {data['shoe']}/{data['round']} is {says}" in answer


async def test_a_delivery_that_begins_anew_is_waited_for(
    words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reload replaces it: for a moment it has not met again what the server refuses."""
    monkeypatch.setattr(api_delivery, "LOOK", 0.001)
    old = SimpleNamespace(trouble=None, begins=True, parked=lambda _: False)
    new = SimpleNamespace(trouble=SimpleNamespace(refused=2), begins=False, parked=lambda _: False)
    senders = iter([old, old, new])
    routes = DeliveryRoutes(
        cast(Any, None), lambda: cast(Any, next(senders)), words.reader, lambda: Instant(5, 5), TABLE,
        test=False,
    )  # fmt: skip
    answer, (event,) = await routes._parking(cast(Any, old), 2, "system: x", "Ann")
    assert "event 2 (" in answer and isinstance(event, DeliveryParked)


async def test_an_order_waits_for_the_commit_of_the_one_before(
    words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A journal so slow that the answer comes first: what the next order looks at is not there yet."""
    for module in (api_commands, api_delivery):
        monkeypatch.setattr(module, "ANSWER_WAIT", 0.05)
    waiting: list[tuple[Record, Any]] = []
    parked: set[int] = set()
    delivery = SimpleNamespace(trouble=SimpleNamespace(refused=2), parked=parked.__contains__)

    class Slow(api_commands.Commands):
        def __init__(self) -> None:
            self._core = cast(Core, self)
            self._journal, self._clock = lambda: None, lambda: Instant(5, 5)
            self._given = set()

        def offer(self, given: Record, reply: Any) -> bool:
            waiting.append((given, reply))
            return len(waiting) != 3

        async def let_in(self, asked: Any, pin: str | None) -> None:
            """Everybody."""

    at = Instant(5, 5)
    routes = DeliveryRoutes(Slow(), lambda: cast(Any, delivery), words.reader, lambda: at, TABLE, test=False)
    app = web.Application()
    app.add_routes(routes.routes())
    async with TestClient(TestServer(app)) as client:

        async def orders(id_: str) -> tuple[int, str]:
            body = {"id": id_, "person": "Ann", "pin": "1234", "reason": "system", "event": 2}
            async with client.post("/v1/delivery/park", json=body) as got:
                said = await got.json()
                return got.status, said.get("error") or said["answer"]

        assert (await orders("a" * 8))[0] == 503
        status, text = await orders("b" * 8)
        assert (status, len(waiting)) == (503, 1), "nobody decides on what may change with that commit"
        assert "the order before this one" in text

        def commits(number: int) -> None:
            given, reply = waiting[number]
            event = cast(Any, given.event)
            reply(Answer(event.accepted, event.answer, "", 1))
            parked.update(one.event for one in given.with_it if isinstance(one, DeliveryParked))

        commits(0)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(orders("c" * 8), 2)
        assert "parked already" in cast(Any, waiting[1][0].event).answer
        commits(1)
        assert (await orders("d" * 8))[0] == 503, "no room: nothing will be committed, and the turn ends"
        assert (await orders("e" * 8))[0] == 503
        assert len(waiting) == 4
