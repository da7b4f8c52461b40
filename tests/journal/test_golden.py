"""A journal kept from each release goes on replaying: the same rows, the same states, the same chain."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tablectl import events as ev
from tablectl.events import private_body, public_body
from tablectl.gameserver.messages import read
from tablectl.gameserver.results import settle
from tablectl.journal.rows import Row, decode_row
from tablectl.table import evolve
from tablectl.table.checkpoint import before
from tests.data_tools.golden import EVERY, facts, fold, last_hash, row_of

FOLDER = Path(__file__).parent.parent / "data" / "golden"
GOLDEN = sorted(FOLDER.glob("*.jsonl"))


@dataclass(frozen=True)
class Kept:
    """One golden file. ``about``: the journal's table, epoch, last hash and the version that wrote it."""

    about: dict[str, Any]
    rows: list[Row]
    facts: list[dict[str, Any]]


def load(path: Path) -> Kept:
    first, *lines, last = map(json.loads, path.read_text().splitlines())
    return Kept(first["journal"], [row_of(line) for line in lines], last["facts"])


@pytest.fixture(params=GOLDEN, ids=lambda path: path.stem)
def kept(request: pytest.FixtureRequest) -> Kept:
    return load(request.param)


def test_there_is_one_and_it_is_of_the_version_it_is_named_after() -> None:
    assert "0.1.0" in [path.stem for path in GOLDEN]
    for path in GOLDEN:
        assert load(path).about["tablectl"] == path.stem
        assert path.stat().st_size < 150_000


def test_its_rows_lead_to_the_same_states(kept: Kept) -> None:
    states = list(fold(kept.rows))
    marked = [*states[EVERY - 1 : -1 : EVERY], states[-1]]
    assert [json.loads(json.dumps(facts(state))) for state in marked] == kept.facts
    end = kept.facts[-1]
    assert (end["phase"], end["where"], end["rounds"]) == ("dealing", "2/2", 2)
    assert (end["shoe_out"], end["row"]) == (12, len(kept.rows))


def test_a_replay_that_begins_with_the_second_shoe_ends_alike(kept: Kept) -> None:
    events = [decode_row(row)[0] for row in kept.rows]
    start = max(i for i, event in enumerate(events) if isinstance(event, ev.ShoeStarted))
    begun = events[start]
    assert isinstance(begun, ev.ShoeStarted)
    state = before(begun)
    assert state is not None and state.row == start
    for event in events[start:]:
        state = evolve(state, event)
    assert state == list(fold(kept.rows))[-1]


def test_its_hashes_are_still_made_the_same_way(kept: Kept) -> None:
    table, epoch = kept.about["table"], kept.about["epoch"]
    assert last_hash(kept.rows, table, epoch) == kept.about["hash"]
    changed = [*kept.rows[:-1], Row(kept.rows[-1].row, None, None, kept.rows[-1].private)]
    assert last_hash(changed, table, epoch) != kept.about["hash"]


def test_nothing_in_its_rows_is_lost_by_reading_them(kept: Kept) -> None:
    """What was written is in the event that is read: no field fell out of the types."""
    for row in kept.rows:
        event, at = decode_row(row)
        written = json.loads(row.private)
        assert json.loads(private_body(event, at))["data"].items() >= written["data"].items()
        if row.public is not None:
            envelope = json.loads(row.public)
            made = public_body(
                event,
                table=kept.about["table"],
                epoch=kept.about["epoch"],
                sequence=row.sequence or 0,
                at=at,
                test=True,
            )
            again = json.loads(made)
            assert again["data"].items() >= envelope["data"].items()
            assert again | {"data": 0} == envelope | {"data": 0}


def test_the_game_server_still_settles_it(kept: Kept) -> None:
    standing = Counter[str]()
    for row in kept.rows:
        if row.public is not None:
            (message,) = read(row.public, batch=False)
            if (record := settle(message, None)) is not None:
                standing[record.state] += 1
    assert standing == {"resulted": 6, "voided": 1}


def test_it_holds_what_it_is_kept_for(kept: Kept) -> None:
    """A burn, a hold and its release, a void, a cutting card, a restart; raw bytes beside the scans."""
    seen = Counter(type(decode_row(row)[0]) for row in kept.rows)
    for kind in (
        *(ev.CardBurned, ev.CutCardDrawn, ev.LastHandAnnounced, ev.ShoeEnded, ev.DealerChanged),
        *(ev.TableHeld, ev.TableReleased, ev.ScanKept, ev.RoundVoided, ev.RoundResulted, ev.CommandRecorded),
    ):
        assert seen[kind], kind.TYPE
    assert seen[ev.CardBurned] >= 13 and seen[ev.ControllerStarted] == 2
    scans = [row for row in kept.rows if isinstance(decode_row(row)[0], ev.CardDealt)]
    assert scans and sum(bool(row.raw) for row in scans) >= len(scans) - 1


def test_no_pin_stands_in_it(kept: Kept) -> None:
    """A PIN that was typed is in no row."""
    for row in kept.rows:
        assert b'"pin"' not in row.private and b'"1234"' not in row.private
