"""The server is killed before every statement it sends to its database: no money is lost or doubled.

What was not answered is sent again, as a table and a player's page do: then all is as if it had never died.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tablectl.events import BettingClosed, BettingOpened, Event, RoundAmended, RoundVoided
from tablectl.gameserver.messages import read
from tablectl.gameserver.players import Player
from tablectl.house import HouseRules
from tests.gameserver.posting import NOW, body
from tests.gameserver.wagering import TIES_STAND, Wagering, data_of, result

SOAK = "TABLECTL_SOAK" in os.environ
STEP = 1 if SOAK else 25
"""Of the statements between the first and the last two, one in so many is tried."""
ANN = Player("ann", "USD")

AT = "2026-11-30T12:00:00Z"
FAR = "2099-01-01T00:00:00Z"


def opening(round: int) -> BettingOpened:
    return BettingOpened(shoe=1, round=round, seconds=600, closes_at=FAR)


def amended(was: str, becomes: str) -> RoundAmended:
    before, after = result(was, 1, rules=TIES_STAND), result(becomes, 1, rules=TIES_STAND, revision=2)
    return RoundAmended(
        shoe=1,
        round=1,
        before=data_of(before),
        after=data_of(after),
        reason="x",
        approved_by="Ann",
        revision=2,
    )


STORY: tuple[Event | tuple[str, str, dict[str, int]], ...] = (
    opening(1),
    ("place", "1/1", {"player": 10_01, "banker": 20_00, "tie": 5_00}),
    ("take back", "1/1", {"tie": 0}),
    BettingClosed(shoe=1, round=1, reason="timer", closed_at=AT),
    result("tie", 1, rules=TIES_STAND),
    opening(2),
    ("place", "1/2", {"tie": 7_00}),
    BettingClosed(shoe=1, round=2, reason="timer", closed_at=AT),
    result("banker", 2, rules=TIES_STAND),
    amended("tie", "banker"),
    RoundVoided(shoe=1, round=2, reason="x", cards={}, approved_by="Ann"),
)
"""What happens: events of the table, and requests of a player."""
IN_THE_END = 1_000_00 - 10_01 + 19_00


def tell(table: Wagering, step: int) -> None:
    """One step, whether it was done before or not."""
    what = STORY[step]
    if isinstance(what, Event):
        sequence = 3 + sum(isinstance(one, Event) for one in STORY[:step])
        assert table.send([body(sequence, what)]) == 200
        return
    kind, round, bets = what
    if kind == "place":
        assert table.place(ANN, at=round, request=f"request-{step}", **bets) == [""] * len(bets)
    else:
        answer = table.bank.take_back(ANN, "T07", f"request-{step}", round, list(bets))
        assert [one["reason"] for one in answer["bets"]] == [None] * len(bets)


def begin(path: Path, rules: HouseRules = TIES_STAND) -> Wagering:
    table = Wagering(path, rules)
    table.opened()
    table.player()
    return table


def reopened(path: Path, step: int) -> Wagering:
    """The server after a restart; its windows are closed, and the one a step needs is opened again."""
    table = Wagering(path, TIES_STAND)
    open_again(table, step)
    return table


def open_again(table: Wagering, step: int) -> None:
    """A restart closes betting; what is tried here is a death while it was open."""
    if isinstance(STORY[step], Event):
        return
    at = max(done for done in range(step) if isinstance(STORY[done], BettingOpened))
    opened = STORY[at]
    assert isinstance(opened, Event)
    (message,) = read(body(9, opened), batch=False)
    table.intake._windows.took(message, 5_000.0, NOW)


def in_a_child(work: Callable[[], None]) -> int:
    """The signal that ended it, or 0; it fails with an exit code."""
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert not os.WIFEXITED(status) or os.WEXITSTATUS(status) == 0, "the child has failed"
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("step", range(len(STORY)) if SOAK else (1, 4, 9))
def test_killed_before_every_statement(tmp_path: Path, step: int) -> None:
    path = tmp_path / "server.db"

    def before() -> None:
        table = begin(path)
        for done in range(step):
            tell(table, done)
        table.store.sql("PRAGMA wal_checkpoint(TRUNCATE)")

    assert in_a_child(before) == 0  # its connection never comes near this process
    as_it_was = path.read_bytes()
    counted = tmp_path.parent / f"{tmp_path.name}-statements"

    def worked(at: int) -> int:
        """The step, killed before statement ``at``; how many there were is written down."""
        for file in tmp_path.iterdir():
            file.unlink()
        path.write_bytes(as_it_was)

        def work() -> None:
            table, seen = reopened(path, step), 0

            def counts(_: str) -> None:
                nonlocal seen
                if seen == at:
                    os.kill(os.getpid(), signal.SIGKILL)
                seen += 1

            table.store._db.set_trace_callback(counts)
            tell(table, step)
            counted.write_text(str(seen))

        return in_a_child(work)

    assert worked(-1) == 0
    total = int(counted.read_text())
    assert total > 2
    for statement in sorted({*range(0, total, STEP), total - 2, total - 1}):
        assert worked(statement) == signal.SIGKILL

        def afterwards() -> None:
            table = reopened(path, step)
            assert table.sound()
            for again in range(step, len(STORY)):
                if not isinstance(STORY[again], Event):
                    open_again(table, again)
                tell(table, again)
            assert table.balance(ANN) == IN_THE_END and table.sound()
            assert table.bank.ledger.balance("house", "USD") == 1_000_00 - IN_THE_END

        assert in_a_child(afterwards) == 0, f"killed before statement {statement} of step {step}"
    assert worked(-1) == 0 and in_a_child(afterwards) == 0, "done, and told again"
