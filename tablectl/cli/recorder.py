"""Writes what comes out of the technician's tap into a new recording, each line at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from tablectl.cli import output
from tablectl.cli.output import Refused, escape
from tablectl.cli.read import mapping, word
from tablectl.technician.capture import MOST_BYTES, CaptureFault, Header, Piece, header_text, piece_line

MOST_TIME = 10**17
"""ns; three years."""


class Recorder:
    """Writes records into an open file. Raises :class:`Refused` when that does not go on."""

    def __init__(self, out: TextIO, header: Mapping[str, Any], notes: tuple[str, ...]) -> None:
        self.size = self.pieces = 0
        self.seconds = 0.0
        self._out = out
        self._written = 0
        self._last = 0
        try:
            text = header_text(
                Header(
                    str(header.get("driver", "")),
                    str(header.get("device", "")),
                    mapping(header.get("settings")),
                    str(header.get("started", "")),
                    notes,
                )
            )
        except CaptureFault as fault:
            raise Refused(f"refused: what answers gives no header for a recording: {escape(fault)}") from None
        self._write(text)

    def add(self, entry: Mapping[str, Any]) -> bool:
        """Write what belongs into a recording; False: it ends here, and why is told."""
        at = entry.get("at")
        if isinstance(at, int) and at < MOST_TIME:
            self.seconds = max(self.seconds, at / 1e9)
        match entry:
            case {"kind": "bytes", "hex": str(text), "at": int(moment)}:
                self._heard(text, moment)
            case {"kind": "lost" | "restored" as kind, "text": str(text)}:
                self._write(f"# {self.seconds:.3f} {kind}: {word(text)}\n")
            case {"kind": "dropped", "count": count}:
                self._write(f"# {word(count)} records are missing here: the recorder was too slow\n")
                output.complain("some records were dropped: this machine is too slow, or the disk is")
            case {"kind": "end", "text": text}:
                output.complain(f"the recording ends here: {word(text)}")
                return False
        if self._written > MOST_BYTES - 64 * 1024:
            output.complain(f"the recording ends here: it has {MOST_BYTES >> 20} MiB, the most one may have")
            return False
        return True

    def _heard(self, text: str, at: int) -> None:
        """Bytes of a tap; what has no lawful form is left out."""
        try:
            data = bytes.fromhex(text)
        except ValueError:
            return
        if not data or not 0 <= at < MOST_TIME:
            return
        self._last = max(self._last, at)
        self._write(piece_line(Piece(self._last, data)))
        self.size += len(data)
        self.pieces += 1

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except OSError as fault:
            raise Refused(f"the recording breaks off: {fault.strerror}; what came before is kept") from None
        self._written += len(text)
