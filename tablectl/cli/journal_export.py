"""Events in a file for an audit: JSON lines as they were published, or CSV; never over another file."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tablectl.cli.export import _cell
from tablectl.cli.output import Refused, escape

COLUMNS = ("sequence", "time", "type", "shoe", "round", "data", "row", "hash")


def write_events(path: str, pages: Iterable[Iterable[Mapping[str, Any]]]) -> int:
    """Write the events of ``pages``; how many. Raises :class:`Refused`.

    The file is its owner's alone. One that could not be finished is removed.
    """
    as_csv = path.lower().endswith(".csv")
    count = 0
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8", newline="") as file:
            try:
                file.write(_csv([COLUMNS]) if as_csv else "")
                for rows in pages:
                    texts = [row for row in rows if isinstance(row.get("event"), str)]
                    count += len(texts)
                    if as_csv:
                        file.write(_csv([_line(row) for row in texts]))
                    else:
                        file.write("".join(f"{row['event']}\n" for row in texts))
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                # Half an audit is worse than none.
                with contextlib.suppress(OSError):
                    Path(path).unlink()
                raise
    except FileExistsError:
        raise Refused(f"refused: {escape(path)} is there already; choose another name") from None
    except (OSError, ValueError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else str(fault)
        raise Refused(f"refused: {escape(path)} cannot be written: {escape(why)}") from None
    return count


def _line(row: Mapping[str, Any]) -> list[Any]:
    event = json.loads(row["event"])
    data = json.dumps(event.get("data"), separators=(",", ":"))
    where = [row.get("sequence"), event.get("time"), event.get("type"), row.get("shoe"), row.get("round")]
    return [*map(_cell, where), _safe(data), _cell(row.get("row")), _cell(row.get("hash"))]


def _safe(text: str) -> str:
    """Whole, and no formula."""
    text = escape(text)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def _csv(lines: Iterable[Iterable[Any]]) -> str:
    made = io.StringIO()
    csv.writer(made).writerows(lines)
    return made.getvalue()
