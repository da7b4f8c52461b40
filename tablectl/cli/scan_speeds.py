"""Bytes, but no frame: which driver, parity or line speed would make frames of what the scanner sends.

Other line speeds are tried here, where the port is opened here, or by the daemon of a closed table
(``/v1/raw/speeds``); both give the same records, and the same is concluded from them.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from tablectl.cli import output
from tablectl.cli.output import Refused
from tablectl.cli.read import mapping, word
from tablectl.cli.technician import Heard
from tablectl.local import NotReachable

if TYPE_CHECKING:
    from tablectl.config import Config
    from tablectl.reader.tap import Entry
    from tablectl.technician.verdict import Tally

SPEED_SECONDS = 6.0
"""How long each line speed is tried here; a card every two seconds is enough."""


def other(tally: Tally, heard: Heard, source: Mapping[str, Any], timed_out: bool) -> list[str]:
    """Another driver, parity or line speed that makes frames; in words.

    ``timed_out``: the time that was given for listening is over, so somebody waits for a trial of speeds.
    """
    from tablectl.technician.fitting import fits
    from tablectl.technician.verdict import is_text

    driver, device = str(source.get("driver")), str(source.get("device"))
    settings = mapping(source.get("settings"))
    found = [fit.words for fit in fits(tally.pieces, driver, settings)]
    text = is_text(b"".join(data for _, data in tally.pieces))
    if found or tally.frames or text or device.startswith(("tcp://", "usb:")):
        return found
    if not timed_out:
        return ["Other line speeds are tried with --seconds N: `tablectl scan --seconds 20`."]
    if heard.trial is None:
        assert heard.config is not None
        return _concluded(_here(heard.config), driver, settings)
    try:
        return _concluded(heard.trial(), driver, settings)
    except Refused as why:
        return [
            f"Other line speeds were not tried: {str(why).removeprefix('refused: ')}",
            "Close the table, or stop the daemon "
            f"(systemctl stop tablectl@{source.get('table')}), and run this again.",
        ]
    except NotReachable as why:
        return [f"The trial of other line speeds broke off: {why}"]


def _here(config: Config) -> Generator[Entry, None, None]:
    """Each speed on the port itself, under the lock that is held already."""
    from tablectl.scanner_setup import load_scanner
    from tablectl.technician import direct, line_speeds

    driver, own = load_scanner(config)
    for speed in line_speeds.others(driver, own):
        yield {"kind": "trying", "speed": speed, "seconds": SPEED_SECONDS}
        good = False
        try:
            with closing(direct.records(config, driver, {**own, "baud": speed})) as entries:
                for entry in entries:
                    yield entry
                    good = _good(entry)
                    if good or entry.get("at", 0) >= SPEED_SECONDS * 1e9:
                        break
        except direct.NotOurs as fault:
            raise Refused(f"refused: {output.escape(fault)}") from None
        yield {"kind": "tried", "speed": speed}
        if good:
            return


def _concluded(records: Generator[Entry, None, None], driver: str, settings: Mapping[str, Any]) -> list[str]:
    """What the records of a trial say. Who has heard enough closes them, and that ends the trial."""
    from tablectl.technician.verdict import Tally

    speed, tally, good = 0, Tally(), False
    tried, any_bytes = [], False
    found: list[str] = []
    try:
        with closing(records):
            for entry in records:
                match entry:
                    case {"kind": "trying", "speed": int(speed)}:
                        seconds = word(entry.get("seconds"), 8)
                        output.complain(f"trying {speed} baud for {seconds} s: draw cards now")
                        tally, good = Tally(), False
                    case {"kind": "tried"}:
                        fault = f"; {word(entry['fault'])}" if entry.get("fault") else ""
                        output.complain(f"{speed} baud: {tally.counters}{fault}")
                        tried.append(str(speed))
                        any_bytes |= tally.byte_count > 0
                        if good:  # the trial ends by itself
                            found = [f"{speed} baud fits: write baud = {speed} into [scanner]."]
                        elif found := _at(speed, tally, driver, settings):
                            return found
                    case {"kind": "over"}:
                        if entry.get("text"):
                            found.append(f"the trial has ended: {word(entry['text'])}")
                    case _:
                        tally.add(entry)
                        good |= _good(entry)
    except KeyboardInterrupt:
        return ["interrupted while other line speeds were tried"]
    if found or not tried:
        return found
    if not any_bytes:
        return ["nothing came while other line speeds were tried: run this again, and draw cards meanwhile"]
    return [f"no frame at {', '.join(tried)} baud either"]


def _at(speed: int, tally: Tally, driver: str, settings: Mapping[str, Any]) -> list[str]:
    """Nothing was understood at this speed; but is it the right one?"""
    from tablectl.technician.fitting import fits
    from tablectl.technician.verdict import is_text

    if others := fits(tally.pieces, driver, {**settings, "baud": speed}):
        return [f"at {speed} baud {others[0].words}"]
    if tally.frames and is_text(b"".join(data for _, data in tally.pieces)):
        return [
            f"{speed} baud fits: the bytes are plain text there; "
            "but the card table does not know these codes, or it is another driver's."
        ]
    return []


def _good(entry: Mapping[str, Any]) -> bool:
    """Whether a record is a message that the driver understood."""
    return entry.get("kind") == "item" and mapping(entry.get("item")).get("kind") not in ("reject", "notice")
