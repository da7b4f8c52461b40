"""Every recording decodes to its golden file: whole, byte by byte, and by the daemon's reader on a pty."""

from __future__ import annotations

import os
import threading
import time
import tty
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tablectl.clock import Instant
from tablectl.plugins import DRIVERS, load_driver
from tablectl.reader import Reader, intake
from tablectl.scanner import Arrival, Arrived, Discarded
from tablectl.technician.capture import Piece, item_line
from tests.recordings import FOLDER, captures, golden_lines, read, regold, single_bytes

each = pytest.mark.parametrize("path", captures(), ids=lambda path: path.stem)


def golden(path: Path) -> list[str]:
    assert path.with_suffix(".golden").exists(), f"{path.name} has no golden file: pytest --regold writes it"
    return path.with_suffix(".golden").read_text(encoding="utf-8").splitlines()


def test_every_golden_file_has_its_recording() -> None:
    assert {path.stem for path in FOLDER.glob("*.golden")} == {path.stem for path in captures()}
    assert {path.suffix for path in FOLDER.iterdir()} <= {".capture", ".golden"}


def test_every_driver_that_is_shipped_has_a_recording() -> None:
    shipped = {
        point.name for point in entry_points(group=DRIVERS) if point.value.startswith("tablectl_drivers.")
    }
    assert shipped - {read(path).header.driver for path in captures()} == set()


@each
def test_a_recording_gives_its_golden_items(path: Path) -> None:
    assert golden_lines(read(path)) == golden(path)


@each
def test_a_recording_byte_by_byte_gives_its_golden_items(path: Path) -> None:
    recording = read(path)
    assert golden_lines(recording, single_bytes(recording.pieces)) == golden(path)


class Hand:
    """A clock that stands still until it is moved on."""

    def __init__(self) -> None:
        self.boot = 10**12

    def __call__(self) -> Instant:
        return Instant(self.boot, self.boot)


def until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.0005)


def without_time(line: str) -> str:
    return line.partition("  ")[2]


@each
def test_a_recording_through_the_reader_gives_its_golden_items(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "NOT_LOOKED", 10**18)  # the clock leaps while the thread waits: no stall
    recording = read(path)
    driver = load_driver(recording.header.driver)
    if not driver.speeds:
        return  # it hangs on no serial line
    right = [without_time(line) for line in golden(path)]
    arrivals: list[Arrival] = []
    clock, heard = Hand(), threading.Semaphore(0)
    got = bytearray()

    def tap(data: bytes, at: Instant) -> None:
        got.extend(data)
        heard.release()

    master, slave = os.openpty()
    tty.setraw(slave)
    reader = Reader(
        driver, os.ttyname(slave), recording.header.settings, arrivals.append, settle=0, clock=clock, tap=tap
    )
    try:
        reader.start()
        until(lambda: reader.presence.connected, "the reader has opened it")
        sent, start = 0, clock.boot
        for piece in recording.pieces:
            clock.boot = start + piece.at
            os.write(master, piece.data)
            sent += len(piece.data)
            while len(got) < sent:
                assert heard.acquire(timeout=10), "the bytes never arrived"
            until(lambda want=sent: reader.counters.bytes == want, "the bytes are decoded")  # type: ignore[misc]
        clock.boot += 10**12
        # What time alone brings, the reader finds within half a second; most recordings end at rest.
        until(lambda: len(items(arrivals)) >= len(right), "every item")
        assert items(arrivals) == right
    finally:
        assert reader.stop()
        os.close(master)
        os.close(slave)


def items(arrivals: list[Arrival]) -> list[str]:
    found = [arrival for arrival in list(arrivals) if isinstance(arrival, Arrived | Discarded)]
    assert all(isinstance(arrival, Arrived) for arrival in found)
    return [without_time(item_line(0, arrival.item)) for arrival in found]


# --- that it can fail -----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "one.capture").write_text((FOLDER / "bee-tek.capture").read_text())
    return tmp_path


def test_regold_writes_what_is_missing_or_differs_and_removes_what_is_astray(folder: Path) -> None:
    assert regold(folder) == ["wrote one.golden"]
    assert regold(folder) == []
    (folder / "one.golden").write_text("0.000000  card  KS\n")
    (folder / "gone.golden").write_text("")
    assert regold(folder) == ["removed gone.golden", "wrote one.golden"]
    assert regold(folder) == []


def test_another_byte_gives_another_golden(folder: Path) -> None:
    recording = read(folder / "one.capture")
    changed = [Piece(piece.at, piece.data.replace(b"KD", b"QD")) for piece in recording.pieces]
    right = golden_lines(recording)
    assert [line for line in golden_lines(recording, changed) if line not in right] == [
        line.replace("KD", "QD").replace("4B 44", "51 44") for line in right if "KD" in line
    ]
