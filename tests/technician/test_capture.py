"""The form of recordings: what is written is read back, and what is no recording is refused by its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.scanner import Decoded, Item, Reject
from tablectl.technician.capture import (
    MOST_LINE,
    CaptureFault,
    Header,
    Piece,
    Recording,
    capture_text,
    decoded,
    header_text,
    parse_capture,
)

GOOD = """tablectl capture 1
driver: bee-tek
device: tcp://192.0.2.10:4001
settings: {"baud": 9600}
# who did it is written in a note
started: 2026-11-30T08:15:00Z
note: table 7, first shoe
note: the cable was changed

0.000000 5B 47
# here the cable was touched

0.049812 0d 0A
"""

plain = st.text(
    st.characters(exclude_categories=("C", "Z"), include_characters=" "), min_size=1, max_size=40
).filter(lambda text: bool(text.strip()))
values = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=20)
pieces = st.lists(
    st.builds(Piece, st.integers(0, 10**9).map(lambda us: us * 1000), st.binary(min_size=1, max_size=80)),
    max_size=20,
).map(lambda found: tuple(sorted(found, key=lambda piece: piece.at)))
headers = st.builds(
    Header,
    plain,
    plain,
    st.dictionaries(st.text(max_size=10), values | st.dictionaries(st.text(max_size=5), values)),
    st.just("2026-11-30T08:15:00Z"),
    st.lists(plain, max_size=3).map(tuple),
)


@given(st.builds(Recording, headers, pieces))
def test_what_is_written_is_read_back(recording: Recording) -> None:
    assert parse_capture(capture_text(recording)) == recording


@given(st.text(max_size=400) | st.text(max_size=60).map(lambda text: GOOD + text))
def test_any_text_is_read_or_refused_with_its_line(text: str) -> None:
    try:
        parse_capture(text)
    except CaptureFault as fault:
        assert str(fault).startswith("line ")
        assert str(fault).isprintable()


def test_a_recording_is_read() -> None:
    recording = parse_capture(GOOD)
    assert recording.header == Header(
        "bee-tek",
        "tcp://192.0.2.10:4001",
        {"baud": 9600},
        "2026-11-30T08:15:00Z",
        ("table 7, first shoe", "the cable was changed"),
    )
    assert recording.pieces == (Piece(0, b"[G"), Piece(49_812_000, b"\r\n"))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("capture 1", "capture 2", "line 1: "),
        ("driver: bee-tek\n", "", "line 7: the header has no driver"),
        ("driver: bee-tek", "driver: ", "line 2: driver: some printable"),
        ("driver: bee-tek", "driver:bee-tek", "line 2: driver, device"),
        ("driver: bee-tek", "shoe: bee-tek", "line 2: driver, device"),
        ("note: the", "driver: the", "line 8: driver stands here twice"),
        ("note: the", "note: \x1b[2J", "line 8: note: some printable"),
        ('{"baud": 9600}', '{"baud": 9600', "line 4: settings: a JSON object"),
        ('{"baud": 9600}', "[9600]", "line 4: settings: a JSON object"),
        ('{"baud": 9600}', "[" * 30_000, "line 4: settings: a JSON object"),
        ("08:15:00Z", "08:15", "line 6: started"),
        ("changed\n\n0", "changed\n0", "line 9: driver, device"),
        ("0.000000 5B", "0.0 5B", "line 10: seconds and bytes"),
        ("0.000000 5B", "-0.000000 5B", "line 10: seconds"),
        ("0.000000 5B 47", "0.000000", "line 10: seconds"),
        ("5B 47", "5B 4", "line 10: seconds"),
        ("5B 47", "5B  47", "line 10: seconds"),
        ("5B 47", "5B GG", "line 10: seconds"),
        ("5B 47", "5B 47 ", "line 10: seconds"),
        ("0.000000", "٠.٠٠٠٠٠٠", "line 10: seconds"),
        ("0.000000", "0.050000", "line 13: its time is before"),
        ("0.049812 0d", f"0.049812 {'00 ' * MOST_LINE}0d", "line 13: longer than"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(old: str, new: str, says: str) -> None:
    assert old in GOOD
    with pytest.raises(CaptureFault, match=f"^{says}"):
        parse_capture(GOOD.replace(old, new, 1))


def test_a_header_that_no_line_can_hold_is_refused_before_it_is_written() -> None:
    for note in ("", " ", "two\nlines", "x" * MOST_LINE):
        with pytest.raises(CaptureFault, match="note"):
            header_text(Header("bee-tek", "/dev/x", {}, "2026-11-30T08:15:00Z", (note,)))


class Idle:
    """A decoder whose items end 300 ns after their last byte."""

    def __init__(self) -> None:
        self._held = b""
        self._due: int | None = None

    def feed(self, data: bytes, now: int) -> Decoded:
        self._held += data
        self._due = now + 300
        return Decoded(())

    def tick(self, now: int) -> Decoded:
        held, self._held, self._due = self._held, b"", None
        return Decoded((Reject(held, "pause"),))

    def next_deadline(self) -> int | None:
        return self._due

    def reset(self) -> None:
        self.__init__()  # type: ignore[misc]


def test_time_between_the_bytes_is_played_too() -> None:
    found = list(decoded([Piece(0, b"a"), Piece(200, b"b"), Piece(900, b"c")], Idle(), start=10**6))
    items: list[tuple[int, Item]] = [(500, Reject(b"ab", "pause")), (1200, Reject(b"c", "pause"))]
    assert found == items


@pytest.mark.parametrize("kept", range(1, len("0.100000 05 31 44")))
def test_a_last_line_that_was_torn_is_left_out_and_told(kept: int) -> None:
    last = "0.100000 05 31 44"[:kept]
    recording = parse_capture(GOOD + last)
    whole = parse_capture(GOOD)
    if recording.torn:
        assert (recording.pieces, recording.torn) == (whole.pieces, last)
    else:
        assert recording.pieces[:-1] == whole.pieces, "so far it is a line"
        assert last in ("0.100000 05", "0.100000 05 31")


def test_a_torn_line_that_is_not_the_last_one_is_refused() -> None:
    with pytest.raises(CaptureFault, match=r"line 14: seconds and bytes in hex"):
        parse_capture(GOOD + "0.1000\n0.200000 05\n")
