"""``tablectl replay``: a recording through decoder and table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tablectl.cli import output
from tablectl.cli.arguments import Text, json_option
from tablectl.cli.configuration import config_option, configuration
from tablectl.cli.output import REFUSED, Refused, complain, escape
from tablectl.printable import number_of

if TYPE_CHECKING:
    from tablectl.technician.capture import Recording
    from tablectl.technician.rehearsal import Step


@click.command("replay")
@click.argument("file", type=Text(255))
@config_option
@json_option
def replay(file: str, config_file: str | None, as_json: bool) -> int:
    """Play a recording through decoder and table: each item, and what a table makes of it.

    Driver and settings are the recording's own; house rules, and scanner settings to try, those of --config.
    The table is set up as if betting had just closed, or, where the recording begins with a burn card, as if
    the shoe were new. Nothing is opened and no table is touched. Exit code 1: something was rejected or held.

    Example:  tablectl replay shoe-7.capture
    """
    recording = _read(file)
    with configuration():
        from tablectl.config import load_config
        from tablectl.item_words import item_json
        from tablectl.plugins import load_driver
        from tablectl.profiles import load_rules
        from tablectl.scanner import DeviceEvent, DeviceKind, Reject, Scan
        from tablectl.scanner_setup import load_scanner
        from tablectl.technician.capture import decoded, item_line
        from tablectl.technician.rehearsal import Rehearsal, burns_at_begin

        header = recording.header
        rules = load_rules("live-casino")
        if config_file is not None:
            config = load_config(Path(config_file))
            rules = config.house_rules()
            driver, settings = load_scanner(config)
        else:
            driver, settings = load_driver(header.driver), dict(header.settings)
    try:
        driver.check(settings)
    except ValueError as fault:
        raise Refused(f"refused: {escape(file)}: settings: {escape(fault)}") from None
    items = list(decoded(recording.pieces, driver.decoder(settings)))
    burns = burns_at_begin([item for _, item in items])
    table = Rehearsal(rules, driver.traits(settings), burns=burns)
    if not as_json:
        output.say(f"driver {driver.name}, {escape(header.device)}, {escape(header.started)}")
        for note in header.notes:
            output.say(f"note: {escape(note)}")
        begin = f"a new shoe, {number_of(burns, 'card')} to burn" if burns else "betting just closed"
        output.say(f"the table begins with {begin}")
    rejects = holds = 0
    for at, item in items:
        step = table.play(at, item)
        rejects += isinstance(item, Reject)
        holds += len(step.holds)
        if as_json:
            output.say_json({"at": at, "item": item_json(item), "table": _json(step)})
            continue
        output.say(escape(item_line(at, item)))
        for text in _lines(step):
            output.say(f"            {escape(text)}")
    frames = sum(
        not isinstance(item, Reject)
        and not (isinstance(item, DeviceEvent) and item.kind is DeviceKind.NOTICE)
        for _, item in items
    )
    cards = sum(isinstance(item, Scan) and item.card is not None for _, item in items)
    size = sum(len(piece.data) for piece in recording.pieces)
    counts = {"bytes": size, "frames": frames, "cards": cards, "rejects": rejects, "holds": holds}
    if as_json:
        output.say_json(counts)
    else:
        output.say(", ".join(number_of(count, what.removesuffix("s")) for what, count in counts.items()))
    return REFUSED if rejects or holds else 0


def _read(file: str) -> Recording:
    """The recording. Raises :class:`Refused`, naming the line."""
    from tablectl.plain_file import read_file
    from tablectl.technician.capture import MOST_BYTES, CaptureFault, parse_capture

    try:
        data = read_file(Path(file), MOST_BYTES)
    except OSError as fault:
        raise Refused(f"refused: {escape(file)} cannot be read: {escape(fault.strerror)}") from None
    try:
        recording = parse_capture(data.decode("utf-8"))
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise Refused(f"refused: {escape(file)}: line {line}: this is no text (UTF-8)") from None
    except CaptureFault as fault:
        raise Refused(f"refused: {escape(file)}: {escape(fault)}") from None
    if recording.torn:
        complain(f"{escape(file)}: the last line is torn and left out: {escape(recording.torn[:80])}")
    return recording


def _lines(step: Step) -> list[str]:
    lines = [f"HOLD {text}" for text in step.holds]
    lines += [text for text in step.said if text not in step.holds]
    return lines or ([", ".join(step.events)] if step.events else [])


def _json(step: Step) -> dict[str, Any]:
    return {
        "phase": step.phase,
        "where": step.where,
        "events": list(step.events),
        "holds": list(step.holds),
        "said": list(step.said),
    }


COMMANDS: tuple[click.Command, ...] = (replay,)
