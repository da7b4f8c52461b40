"""The gate for pit bosses: who is let in, who waits for whom, and what of it is written down."""

from __future__ import annotations

import asyncio
import threading
from typing import cast

import pytest

from tablectl.clock import SECOND, Instant
from tablectl.core import Core, Record
from tablectl.events import CommandRecorded, Event, PinAttempted
from tablectl.gate import Gate, NotLetIn
from tablectl.pins import DELAYS, LOCK_OUT, PitBosses


class Bosses:
    """Pit bosses whose PINs are looked at in no time, or when the test lets them be."""

    names = ("anna", "bo")

    def __init__(self) -> None:
        self.looked_at: list[str] = []
        self.slow: dict[str, threading.Event] = {}

    def verify(self, name: str, pin: str) -> bool:
        self.looked_at.append(name)
        if name in self.slow:
            assert self.slow[name].wait(10)
        return name in self.names and pin == "1234"


class Bench:
    def __init__(self, *history: tuple[PinAttempted, Instant]) -> None:
        self.bosses = Bosses()
        self.now = 1_000 * SECOND
        self.written: list[Event] = []
        self.room = True
        self.alarms: list[str] = []
        self.gate = Gate(
            cast(PitBosses, self.bosses), cast(Core, self), lambda: Instant(self.now, self.now), self.alarm,
            history,
        )  # fmt: skip

    def alarm(self, code: str, text: str) -> None:
        assert code == "pin-lockout"
        self.alarms.append(text)

    def offer(self, given: Record) -> bool:
        """What the gate uses of the core."""
        if self.room:
            self.written.append(given.event)
        return self.room

    async def tries(self, name: str, pin: str | None = "0000", uid: int = 1) -> str:
        """``in``, or why not."""
        asked = CommandRecorded(
            id="a", command="void", args={"round": "1/2"}, person=name, supervisor=True, uid=uid,
            accepted=False, answer="", reason="x",
        )  # fmt: skip
        try:
            await self.gate.let_in(asked, pin)
        except NotLetIn as refusal:
            return str(refusal)
        return "in"


async def test_the_right_pin_lets_in_and_is_a_row() -> None:
    bench = Bench()
    assert await bench.tries("anna", "1234") == "in"
    assert bench.written == [PinAttempted(person="anna", good=True, uid=1)]


async def test_whoever_guesses_names_holds_up_no_pit_boss() -> None:
    bench = Bench()
    bench.bosses.slow = {f"nobody{i}": threading.Event() for i in range(50)}
    crowd = [asyncio.create_task(bench.tries(name)) for name in bench.bosses.slow]
    await asyncio.sleep(0)
    assert await asyncio.wait_for(bench.tries("anna", "1234"), 5) == "in"
    for held in bench.bosses.slow.values():
        held.set()
    said = await asyncio.gather(*crowd)
    assert said.count("wrong name or PIN") == 3, "all unknown names are slowed down as one"
    assert len(bench.bosses.looked_at) == 4
    assert len(bench.written) == 1 + 3 * 2 + 1, "each try is two rows, those of one wait together one"


async def test_a_slow_check_of_one_pit_boss_holds_up_no_other() -> None:
    bench = Bench()
    bench.bosses.slow["anna"] = threading.Event()
    first = asyncio.create_task(bench.tries("anna", "1234"))
    await asyncio.sleep(0)
    assert await asyncio.wait_for(bench.tries("bo", "1234"), 5) == "in"
    bench.bosses.slow["anna"].set()
    assert await first == "in"


async def test_nobody_locks_a_pit_boss_out_from_another_account() -> None:
    bench = Bench()
    for _ in range(10):
        await bench.tries("anna", "0000", uid=66)
    assert (await bench.tries("anna", "1234", uid=66)).startswith("too many wrong PINs")
    assert await bench.tries("anna", "1234", uid=1) == "in"
    assert (await bench.tries("anna", "1234", uid=66)).startswith("too many wrong PINs"), "nor frees oneself"


async def test_of_the_tries_during_one_wait_the_first_is_written_down() -> None:
    bench = Bench()
    waits = []
    for _ in range(3):
        for _ in range(5):
            waits.append(await bench.tries("anna"))
        bench.now += 400 * SECOND
    refused = [e for e in bench.written if isinstance(e, CommandRecorded)]
    assert [e.answer for e in refused] == [
        *["void refused: wrong name or PIN"] * 3,
        "void refused: too many wrong PINs; wait 1 s",
        "void refused: wrong name or PIN",
        "void refused: too many wrong PINs; wait 2 s",
        "void refused: wrong name or PIN",
        "void refused: too many wrong PINs; wait 4 s",
    ]
    assert {(e.id, e.person, e.accepted, e.supervisor, e.reason) for e in refused} == {
        ("", "anna", False, False, "x")
    }
    assert refused[0].args == {"round": "1/2"}


@pytest.mark.parametrize(("name", "pin"), [("", "1234"), ("anna", None)])
async def test_without_name_and_pin_nothing_is_tried_but_it_is_written_down(
    name: str, pin: str | None
) -> None:
    bench = Bench()
    assert "give a name and PIN" in await bench.tries(name, pin)
    assert bench.bosses.looked_at == []
    assert [type(e) for e in bench.written] == [CommandRecorded]


async def test_wrong_pins_of_before_the_start_still_count() -> None:
    wrong = PinAttempted(person="anna", good=False, uid=1)
    at = Instant(999 * SECOND, 0)
    bench = Bench(*[(wrong, at)] * 6)
    assert await bench.tries("anna", "1234") == "too many wrong PINs; wait 7 s"
    forgiven = Bench(*[(wrong, at)] * 6, (PinAttempted(person="anna", good=True, uid=1), at))
    assert await forgiven.tries("anna", "1234") == "in"
    # Of the machine's run before this one, whose clock had come further: never longer than the delay itself.
    assert (
        await Bench(*[(wrong, Instant(10**18, 0))] * 6).tries("anna", "1234")
        == "too many wrong PINs; wait 8 s"
    )


async def test_guesses_count_although_the_table_is_too_busy_to_write_them_down() -> None:
    bench = Bench()
    bench.room = False
    said = [await bench.tries("anna", f"{i:04d}") for i in range(5)]
    assert "busy" in said[0]
    assert said[3].startswith("too many wrong PINs")
    assert await bench.tries("bo", "1234") != "in", "what cannot be written down is not let in"


# --- the pit is told of a lock-out ------------------------------------------------------------------------


def test_the_pit_is_told_from_a_wait_of_four_seconds_on() -> None:
    assert DELAYS[LOCK_OUT - 1] == 4 * SECOND
    assert all(delay < 4 * SECOND for delay in DELAYS[: LOCK_OUT - 1])


async def wrong(bench: Bench, times: int, name: str = "anna", uid: int = 1) -> None:
    """So many wrong PINs, each when its wait is over."""
    for _ in range(times):
        assert await bench.tries(name, uid=uid) == "wrong name or PIN"
        bench.now += 300 * SECOND


@pytest.mark.parametrize("count", range(1, 14))
async def test_each_wrong_pin_from_the_fifth_on_tells_the_pit_how_many_and_how_long(count: int) -> None:
    bench = Bench()
    await wrong(bench, count)
    expected = [
        f"{n} wrong PINs in a row for pit boss anna, from uid 1 of this machine; "
        f"the next try is allowed in {min(2 ** (n - 3), 300) if n < 12 else 300} s."
        for n in range(LOCK_OUT, count + 1)
    ]
    assert bench.alarms == expected


async def test_the_right_pin_ends_the_row_and_the_next_lock_out_is_a_new_one() -> None:
    bench = Bench()
    await wrong(bench, LOCK_OUT - 1)
    assert await bench.tries("anna", "1234") == "in"
    await wrong(bench, LOCK_OUT - 1)
    assert bench.alarms == []
    await wrong(bench, 1)
    assert len(bench.alarms) == 1


async def test_tries_refused_during_a_wait_are_no_wrong_pins() -> None:
    bench = Bench()
    await wrong(bench, LOCK_OUT - 1)
    assert await bench.tries("anna") == "wrong name or PIN"
    for _ in range(20):
        assert await bench.tries("anna") == "too many wrong PINs; wait 4 s"
    assert len(bench.alarms) == 1


async def test_of_unknown_names_the_pit_is_told_as_one_and_no_name_is_repeated() -> None:
    bench = Bench()
    for n in range(LOCK_OUT):
        await wrong(bench, 1, f"mallory{n}", uid=66)
    assert bench.alarms == [
        "5 wrong PINs in a row for unknown names, from uid 66 of this machine; "
        "the next try is allowed in 4 s."
    ]


async def test_names_that_wait_are_counted_by_user() -> None:
    bench = Bench()
    for name, uid in (("anna", 1), ("anna", 2), ("bo", 1), ("nobody", 1)):
        for _ in range(LOCK_OUT - 1):
            await bench.tries(name, uid=uid)
            bench.now += 3 * SECOND
    assert bench.gate.locked_out == 0
    for name, uid in (("anna", 1), ("anna", 2), ("bo", 1), ("nobody", 1)):
        await bench.tries(name, uid=uid)
    assert bench.gate.locked_out == 4
    bench.now += 4 * SECOND - 1
    assert bench.gate.locked_out == 4
    bench.now += 1
    assert bench.gate.locked_out == 0


async def test_the_pit_is_told_although_the_try_could_not_be_written_down() -> None:
    bench = Bench()
    await wrong(bench, LOCK_OUT - 1)
    bench.room = False
    assert "busy" in await bench.tries("anna")
    assert len(bench.alarms) == 1


@pytest.mark.parametrize(
    ("count", "ago", "told"),
    [(LOCK_OUT - 1, 0, 0), (LOCK_OUT, 0, 1), (LOCK_OUT, 3, 1), (LOCK_OUT, 4, 0), (9, 63, 1), (9, 64, 0)],
)
def test_after_a_start_the_pit_is_told_only_of_a_wait_that_still_runs(
    count: int, ago: int, told: int
) -> None:
    bad = PinAttempted(person="anna", good=False, uid=1)
    bench = Bench(*[(bad, Instant((1_000 - ago) * SECOND, 0))] * count)
    assert len(bench.alarms) == bench.gate.locked_out == told
    if told:
        wait = DELAYS[count - 1] // SECOND - ago
        assert bench.alarms[0].endswith(f"the next try is allowed in {wait} s.")
