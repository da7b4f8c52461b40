"""Past rounds as a file for a dispute: JSON as it was told, or CSV with a line for each card."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tablectl.cli.new_file import cell, csv_text, whole
from tablectl.cli.read import mapping, sequence
from tablectl.printable import number_of

COLUMNS = ("shoe", "round", "time", "place", "card", "source", "hold", "bytes")


def write_export(path: str, answer: Mapping[str, Any], rounds: Sequence[Mapping[str, Any]]) -> str:
    """Write ``rounds`` (``answer`` as it came, for JSON) to a new file; what was written, in words.

    Raises :class:`~tablectl.cli.output.Refused`.
    """
    if path.lower().endswith(".csv"):
        lines = [line for past in rounds for line in _cards(past)]
        text = csv_text([COLUMNS, *([cell(value) for value in line] for line in lines)])
        told = f"{number_of(len(lines), 'card')} of {number_of(len(rounds), 'round')}"
    else:
        text, told = json.dumps(answer, indent=1) + "\n", number_of(len(rounds), "round")
    with whole(path) as file:
        file.write(text)
    return told


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
