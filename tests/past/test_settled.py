"""What became of a settled round: results, amendments and voids, read back from journal rows."""

from __future__ import annotations

from typing import Any

import pytest

from tablectl import events as ev
from tablectl.journal.rows import JournalFault, Row
from tablectl.past.settled import parse_round, past_of
from tests.past_rows import rows_of
from tests.table.playing import NATURAL, Play, house

HERE: Any = {"shoe": 1, "round": 1}


def round_and_shoe(play: Play, *more: ev.Event) -> tuple[list[Row], Row]:
    events = [*play.events, *more]
    rows = rows_of(events)
    own = [row for row, event in zip(rows, events, strict=True) if (event.shoe, event.round) == (1, 1)]
    return own, next(r for r, e in zip(rows, events, strict=True) if isinstance(e, ev.ShoeStarted))


@pytest.fixture
def play() -> Play:
    made = Play(house())
    made.round(NATURAL)
    return made


def amended(before: dict[str, Any], **changes: Any) -> ev.RoundAmended:
    after = before | {"revision": 2} | changes
    return ev.RoundAmended(
        before=before, after=after, reason="announcement", approved_by="Pia", revision=2, **HERE
    )


def test_a_result_is_what_was_published_with_the_rules_of_its_shoe(play: Play) -> None:
    past = past_of(*round_and_shoe(play))
    assert past is not None and past.result is not None
    assert ev.public_data(past.result) == ev.public_data(play.result())
    assert (past.shoe, past.round, past.revision, past.voided) == (1, 1, 1, False)
    assert past.rules == play.state.the_rules


def test_an_amendment_takes_the_place_of_the_result(play: Play) -> None:
    before = ev.public_data(play.result())
    for where in (before, {k: v for k, v in before.items() if k not in ("shoe", "round")}):
        past = past_of(*round_and_shoe(play, amended(where, outcome="banker")))
        assert past is not None and past.result is not None
        assert (past.result.outcome.value, past.revision, past.result.revision) == ("banker", 2, 2)
        assert (past.result.shoe, past.result.round) == (1, 1)
        assert past.result.player == play.result().player


def test_a_void_of_later_leaves_the_result_and_is_told(play: Play) -> None:
    void = ev.RoundVoided(reason="dispute", cards={}, approved_by="Pia", earlier=True, **HERE)
    past = past_of(*round_and_shoe(play, amended(ev.public_data(play.result())), void))
    assert past is not None and past.result is not None
    assert (past.revision, past.voided) == (2, True)


def test_a_void_in_play_has_no_result_and_a_round_in_play_is_no_past(play: Play) -> None:
    rows, shoe = round_and_shoe(play)
    begun = [row for row in rows if b'"round.resulted"' not in row.private]
    assert past_of(begun, shoe) is None
    void = rows_of([ev.RoundVoided(reason="dispute", cards={}, approved_by="Pia", **HERE)])
    past = past_of([*begun, *void], shoe)
    assert past is not None
    assert (past.result, past.revision, past.voided) == (None, 0, True)
    assert past_of(rows, None) is None, "without the rules of its shoe nothing can be settled anew"


def test_an_amendment_that_is_no_result_is_a_fault(play: Play) -> None:
    with pytest.raises(JournalFault, match="no result is in it"):
        past_of(*round_and_shoe(play, amended(ev.public_data(play.result()), outcome="draw")))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("12/34", (12, 34)), ("1/1", (1, 1)), ("", None), ("12", None), ("12/", None), ("0/1", None),
        ("1/0", None), ("1/2\n", None), (" 1/2", None), ("1/2/3", None), ("-1/2", None), ("٣/1", None),
        ("1" * 10 + "/1", None),
    ],
)  # fmt: skip
def test_a_round_is_named_in_one_way(text: str, where: tuple[int, int] | None) -> None:
    assert parse_round(text) == where
