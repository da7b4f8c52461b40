"""Events in a file for an audit: JSON lines as they were published, or CSV; never over another file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tablectl.cli.new_file import cell, csv_text, whole
from tablectl.cli.output import Refused
from tablectl.printable import number_of

COLUMNS = ("sequence", "time", "type", "shoe", "round", "data", "row", "hash")


def write_events(path: str, pages: Iterable[Iterable[Mapping[str, Any]]], named: str = "") -> str:
    """Write the events of ``pages``; what was written. ``named``: what they are of, if it must be there.

    Raises :class:`~tablectl.cli.output.Refused`.
    """
    as_csv = path.lower().endswith(".csv")
    count = 0
    with whole(path) as file:
        file.write(csv_text([COLUMNS]) if as_csv else "")
        for rows in pages:
            texts = [row for row in rows if isinstance(row.get("event"), str)]
            count += len(texts)
            if as_csv:
                file.write(csv_text([_line(row) for row in texts]))
            else:
                file.write("".join(f"{row['event']}\n" for row in texts))
        if named and not count:
            raise Refused(f"refused: no event of {named} is in this journal, within what was asked for")
    return f"{number_of(count, 'event')}, {'as CSV' if as_csv else 'one JSON event a line'}"


def _line(row: Mapping[str, Any]) -> list[Any]:
    event = json.loads(row["event"])
    data = json.dumps(event.get("data"), separators=(",", ":"))
    where = [row.get("sequence"), event.get("time"), event.get("type"), row.get("shoe"), row.get("round")]
    return [*map(cell, where), cell(data, None), cell(row.get("row")), cell(row.get("hash"))]
