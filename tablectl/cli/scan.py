"""``tablectl scan``: what the scanner says, live, and what is wrong with it if nothing comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from tablectl.cli import output
from tablectl.cli.arguments import json_option
from tablectl.cli.output import REFUSED
from tablectl.cli.read import mapping, word
from tablectl.cli.scan_speeds import other
from tablectl.cli.target import Target
from tablectl.cli.technician import Asking, listening, taps

if TYPE_CHECKING:
    from tablectl.technician.verdict import Tally


@click.command("scan")
@click.option("--raw", is_flag=True, help="Show the bytes of each read too.")
@click.option("--seconds", type=click.FloatRange(0.1, 86_400), help="End after so long; else with Ctrl-C.")
@json_option
@taps
def scan(
    target: Target,
    raw: bool,
    seconds: float | None,
    as_json: bool,
    config_file: str | None,
    asking: Asking,
) -> int:
    """Show what the scanner says, count bytes, frames and cards, and say at the end what is wrong.

    With the daemon running it is read through the daemon; while a shoe is in play a pit boss asks for that.
    Without, the port is opened here. After --seconds with bytes but no frame, other line speeds are tried
    while you draw cards: here, or by the daemon if its table is closed, half a minute at most. Opening the
    table ends that. Exit code 1: something is wrong.

    \b
    Example:  tablectl scan --seconds 20
              tablectl scan --raw --as bo --reason "device: dead shoe"
    """
    from tablectl.technician.verdict import Tally, verdict

    tally, screen = Tally(), _Screen(raw=raw, as_json=as_json)
    source: Mapping[str, Any] = {}
    timed_out = False
    with listening(target, config_file, asking) as heard:
        try:
            with closing(heard.entries) as entries:
                for entry in entries:
                    if entry.get("kind") == "header":
                        source = entry
                    tally.add(entry)
                    screen.show(entry, tally)
                    timed_out = seconds is not None and tally.seconds >= seconds
                    if timed_out or output.reader_gone():
                        break
        except KeyboardInterrupt:
            pass
        device, driver = str(source.get("device", "?")), str(source.get("driver", "?"))
        found = verdict(tally, device, driver)
        more = []
        if found.code == "no-frames" or (found.code == "no-cards" and tally.rejects):
            more = other(tally, heard, source, timed_out and found.code == "no-frames")
    texts = [*found.texts, *more]
    if as_json:
        counts = {
            "bytes": tally.byte_count,
            "frames": tally.frames,
            "cards": tally.cards,
            "rejects": tally.rejects,
        }
        output.say_json({"kind": "verdict", "verdict": found.code, "texts": texts, **counts})
    else:
        output.say(f"{tally.counters}, {tally.seconds:.0f} s")
        for text in texts:
            output.say(output.escape(text))
    return 0 if found.code == "ok" else REFUSED


class _Screen:
    """The live view: each record a line, the counters when they have changed; bytes only with ``raw``."""

    def __init__(self, *, raw: bool, as_json: bool) -> None:
        self._raw = raw
        self._json = as_json
        self._counters = ""

    def show(self, entry: Mapping[str, Any], tally: Tally) -> None:
        """One more record, already counted in ``tally``."""
        if entry.get("kind") == "bytes" and not self._raw:
            return
        if self._json:
            output.say_json(entry)
        elif entry.get("kind") != "state":
            _line(entry)
        else:
            away = f"; away: {word(entry.get('text'))}" if entry.get("text") else ""
            counters = f"{tally.counters}{away}"
            if counters != self._counters:
                output.say(f"{_when(entry)}  {counters}")
            self._counters = counters


def _when(entry: Mapping[str, Any]) -> str:
    at = entry.get("at")
    return f"{at / 1e9:10.3f}" if isinstance(at, int) and abs(at) < 10**18 else " " * 10


def _line(entry: Mapping[str, Any]) -> None:
    kind, when = entry.get("kind"), _when(entry)
    match kind:
        case "header":
            output.say(f"driver {word(entry.get('driver'))}, {word(entry.get('device'))}")
        case "bytes":
            output.say(f"{when}  bytes     {word(entry.get('hex'), 20_000)}")
        case "item":
            output.say(f"{when}  {_item(mapping(entry.get('item')), entry.get('discarded') is True)}")
        case "lost" | "restored":
            where = f" at {word(entry.get('where'))}" if entry.get("where") else ""
            output.say(f"{when}  {kind}: {word(entry.get('text'))}{where}")
        case "dropped":
            output.say(f"{when}  {word(entry.get('count'))} records were dropped here: this end is too slow")
        case "end":
            output.complain(f"the tap has ended: {word(entry.get('text'))}")


def _item(item: Mapping[str, Any], discarded: bool) -> str:
    """One decoded item as a line; ``discarded``: it waited in the line and counts for nothing."""
    parts = [word(item.get("kind"), 20).ljust(8)]
    if item.get("kind") == "card" or item.get("card"):
        parts.append(word(item.get("card") or "?", 8))
    parts += [word(item[key], 200) for key in ("label", "outcome", "number", "text") if key in item]
    parts.append(f"[{word(item.get('raw'), 800)}]")
    return "  ".join(parts) + ("  (waited in the line: discarded)" if discarded else "")


COMMANDS: tuple[click.Command, ...] = (scan,)
