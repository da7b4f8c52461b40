"""Past rounds as a file for a dispute: JSON as it was told, or CSV with a line for each card."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tablectl.cli.output import Refused, escape
from tablectl.cli.read import mapping, sequence

COLUMNS = ("shoe", "round", "time", "place", "card", "source", "hold", "bytes")


def write_export(path: str, answer: Mapping[str, Any], rounds: Sequence[Mapping[str, Any]]) -> str:
    """Write ``rounds`` (``answer`` as it came, for JSON) to a new file; what was written, in words.

    The file is its owner's alone and replaces none. Raises :class:`Refused`.
    """
    if path.lower().endswith(".csv"):
        lines = [line for past in rounds for line in _cards(past)]
        _write(path, _csv(lines))
        return f"{len(lines)} cards of {len(rounds)} rounds"
    _write(path, json.dumps(answer, indent=1) + "\n")
    return f"{len(rounds)} rounds"


def _write(path: str, text: str) -> None:
    name = escape(path)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8", newline="") as file:
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                # Half a dispute is worse than none.
                with contextlib.suppress(OSError):
                    Path(path).unlink()
                raise
    except FileExistsError:
        raise Refused(f"refused: {name} is there already; choose another name, or remove it") from None
    except (OSError, ValueError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else str(fault)
        raise Refused(f"refused: {name} cannot be written: {why}") from None


def _cards(past: Mapping[str, Any]) -> list[list[Any]]:
    """The cards of a round in the order they came: those dealt, and those kept with a hold."""
    where = [past.get("shoe"), past.get("round")]
    lines = []
    for card in map(mapping, sequence(past.get("cards"))):
        how = [card.get("position"), card.get("card", "?"), card.get("source"), ""]
        lines.append([*where, card.get("time"), *how, card.get("raw", "")])
    for number, card in enumerate(map(mapping, sequence(past.get("kept"))), start=1):
        how = [f"K{number}", card.get("card", "?"), "scanner", card.get("code")]
        lines.append([*where, card.get("time"), *how, card.get("raw", "")])
    return sorted(lines, key=lambda line: str(line[2]))


def _csv(lines: Sequence[Sequence[Any]]) -> str:
    made = io.StringIO()
    writer = csv.writer(made)
    writer.writerow(COLUMNS)
    writer.writerows([[_cell(value) for value in line] for line in lines])
    return made.getvalue()


def _cell(value: Any) -> str:
    """A text that no spreadsheet takes for a formula."""
    text = "" if value is None else escape(str(value)[:300])
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
