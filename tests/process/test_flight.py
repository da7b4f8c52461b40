"""The flight recorder: bounded, whole, readable, beside the journal, and nobody else's."""

from __future__ import annotations

import contextlib
import json
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.clock import SECOND, Instant
from tablectl.process.flight import KEPT, MESSAGES, MOST_TEXT, FlightRecorder
from tablectl.scanner import Arrived, Label, Scan
from tablectl.table import Command, Kind

AT = Instant(5 * SECOND, 1_790_000_000 * SECOND)


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_is_written_is_what_happened_in_order(tmp_path: Path) -> None:
    flight = FlightRecorder()
    flight.note(1, "heard", b"\x05\x31")
    scan = Arrived(Scan(Card.parse("8S"), Label.P1, b"\x05\x31"), AT)
    flight.decided(2, scan, [ev.ScanPassed(why="rejected: x")])
    flight.decided(3, Command(Kind.VOID, AT, "id-1", {"target": "1/2"}, "bo", True, 1000, "x: y"), [])
    flight.note(4, "link", "good")
    path = flight.write(tmp_path, "T07", "somebody asked", AT)
    header, *lines = read(path)
    assert (header["table"], header["why"], header["boot"]) == ("T07", "somebody asked", AT.boot)
    assert [(line["boot"], line["what"]) for line in lines] == [
        (1, "heard"), (2, "decided"), (3, "decided"), (4, "link"),
    ]  # fmt: skip
    assert lines[0]["hex"] == "05 31"
    assert "8S P1" in str(lines[1]["input"]) and "rejected: x" in str(lines[1]["events"])
    assert "void target=1/2 by bo, uid 1000" in str(lines[2]["input"])
    assert path.stat().st_mode & 0o777 == 0o600, "burn faces are nobody else's"


def test_only_the_last_messages_are_kept_and_long_ones_are_cut(tmp_path: Path) -> None:
    flight = FlightRecorder()
    for number in range(3 * MESSAGES):
        flight.note(number, "text", "x" * 10_000 if number % 2 else number)
    _, *lines = read(flight.write(tmp_path, "T07", "x", AT))
    assert [line["boot"] for line in lines] == list(range(2 * MESSAGES, 3 * MESSAGES))
    assert max(len(str(line["text"])) for line in lines) < MOST_TEXT + 50


def test_recordings_make_room_for_newer_ones_of_the_same_table_only(tmp_path: Path) -> None:
    flight = FlightRecorder()
    other = flight.write(tmp_path, "T070", "x", AT)
    paths = [
        flight.write(tmp_path, "T07", f"{n}", Instant(AT.boot, AT.wall + n * SECOND)) for n in range(KEPT + 3)
    ]
    assert sorted(tmp_path.glob("T07-*")) == paths[3:]
    assert other.exists()
    flight.write(tmp_path, "T07", "the same second", Instant(AT.boot, AT.wall + 12 * SECOND))
    assert len(list(tmp_path.glob("T07-*"))) == KEPT


def test_asking_never_pushes_out_a_fault_and_the_other_way_round(tmp_path: Path) -> None:
    flight = FlightRecorder()
    fault = flight.write(tmp_path, "T07", "the core thread ended", AT)
    asked = flight.write(tmp_path, "T07", "somebody asked", AT, asked=True)
    other = flight.write(tmp_path, "T07-flight-asked", "another table", AT)
    for n in range(1, KEPT + 3):
        flight.write(tmp_path, "T07", f"{n}", Instant(AT.boot, AT.wall + n * SECOND), asked=True)
    assert fault.exists() and other.exists() and not asked.exists()
    for n in range(1, KEPT + 3):
        flight.write(tmp_path, "T07", f"{n}", Instant(AT.boot, AT.wall + n * SECOND))
    assert not fault.exists() and other.exists()
    assert len(list(tmp_path.glob("T07-flight-asked-2*"))) == KEPT


def test_a_disk_that_takes_nothing_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        FlightRecorder().write(tmp_path / "nowhere", "T07", "x", AT)


def test_it_is_written_while_others_note(tmp_path: Path) -> None:
    flight, stop = FlightRecorder(), threading.Event()

    def noting() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            flight.note(number, "text", number)

    threads = [threading.Thread(target=noting) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for n in range(20):
            header, *lines = read(flight.write(tmp_path, "T07", "x", Instant(n, n * SECOND)))
            assert header["flight"] == 1 and len(lines) <= MESSAGES
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@settings(deadline=None, max_examples=30)
@given(
    walls=st.lists(
        st.integers(1_600_000_000, 1_900_000_000) | st.integers(0, 3), min_size=KEPT + 1, max_size=3 * KEPT
    )
)
def test_whatever_the_clock_says_the_newest_recordings_stay(walls: list[int]) -> None:
    flight, made = FlightRecorder(), list[Path]()
    with tempfile.TemporaryDirectory() as folder:
        for wall in walls:
            with contextlib.suppress(FileExistsError):  # a second has room for so many
                made.append(flight.write(Path(folder), "T07", "x", Instant(0, wall * SECOND)))
                assert made[-1].exists(), "what was just written removed itself"
    assert made


def test_after_the_clock_was_put_back_the_last_recordings_are_kept_not_the_first(tmp_path: Path) -> None:
    flight = FlightRecorder()
    for second in range(KEPT):
        flight.write(tmp_path, "T07", "before", Instant(AT.boot, AT.wall + second * SECOND))
    for second in range(KEPT):
        flight.write(tmp_path, "T07", "since", Instant(AT.boot, second * SECOND))
    assert {read(path)[0]["why"] for path in tmp_path.glob("T07-*")} == {"since"}
