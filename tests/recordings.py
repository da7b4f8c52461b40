"""Recordings of real and emulated devices, each with its golden file: one line for every decoded item.

A recording is dropped into ``tests/data/recordings/``; ``pytest --regold`` writes its golden file, which a
person then reads before it is committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tablectl.plugins import load_driver
from tablectl.technician.capture import Piece, Recording, decoded, item_line, parse_capture

FOLDER = Path(__file__).parent / "data" / "recordings"
REGOLDED: list[str] = []
"""What ``--regold`` changed, for the end of the run."""


def captures(folder: Path = FOLDER) -> list[Path]:
    """Every recording."""
    return sorted(folder.glob("*.capture"))


def read(path: Path) -> Recording:
    return parse_capture(path.read_text(encoding="utf-8"))


def single_bytes(pieces: Sequence[Piece]) -> list[Piece]:
    """The same bytes at the same times, one by one."""
    return [Piece(piece.at, bytes((byte,))) for piece in pieces for byte in piece.data]


def golden_lines(recording: Recording, pieces: Sequence[Piece] | None = None) -> list[str]:
    """What the recording's driver makes of it (of ``pieces``, if given, instead of its own)."""
    driver = load_driver(recording.header.driver)
    driver.check(recording.header.settings)
    decoder = driver.decoder(recording.header.settings)
    played = recording.pieces if pieces is None else pieces
    return [item_line(at, item) for at, item in decoded(played, decoder)]


def regold(folder: Path = FOLDER) -> list[str]:
    """Write every golden file anew and remove those of no recording; what was changed, a line each."""
    changed = []
    kept = {path.with_suffix(".golden") for path in captures(folder)}
    for stray in sorted(set(folder.glob("*.golden")) - kept):
        stray.unlink()
        changed.append(f"removed {stray.name}")
    for path in captures(folder):
        golden = path.with_suffix(".golden")
        text = "".join(f"{line}\n" for line in golden_lines(read(path)))
        if not golden.exists() or golden.read_text(encoding="utf-8") != text:
            golden.write_text(text, encoding="utf-8")
            changed.append(f"wrote {golden.name}")
    return changed
