"""``tablectl capture``: a recording of what the scanner sends, for the maker, or for a test."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from tablectl.cli import output
from tablectl.cli.arguments import Text
from tablectl.cli.output import REFUSED, escape
from tablectl.cli.target import Target
from tablectl.cli.technician import Asking, listening, taps
from tablectl.printable import number_of


@click.command("capture")
@click.argument("file", type=Text(255))
@click.option("--seconds", type=click.FloatRange(0.1, 86_400), help="End after so long; else with Ctrl-C.")
@click.option("--note", "notes", multiple=True, type=Text(500), help="Words for its header; may repeat.")
@taps
def capture(
    target: Target,
    file: str,
    seconds: float | None,
    notes: tuple[str, ...],
    config_file: str | None,
    asking: Asking,
) -> int:
    """Record what the scanner sends, with times and a header, into a new FILE; it never replaces one.

    It is read as `tablectl scan` does. What has come is in the file at once, whatever happens later.
    The file shows the cards drawn: only you can read it.

    \b
    Example:  tablectl capture shoe-7.capture --seconds 600 --note "table 7, new cable"
              tablectl capture shoe-7.capture --as bo --reason "device: for the maker"
    """
    from tablectl.cli.new_file import open_new, there_already
    from tablectl.cli.recorder import Recorder

    if Path(file).exists():  # told before anything is opened; the opening itself decides
        raise there_already(file)
    with listening(target, config_file, asking) as heard, closing(heard.entries) as entries:
        header = next(entries, {})
        with open_new(file) as out:
            recorder = Recorder(out, header, notes)
            output.complain(f"recording into {escape(file)}; Ctrl-C ends it")
            code = 0
            try:
                for entry in entries:
                    if not recorder.add(entry):
                        code = REFUSED
                        break
                    if seconds is not None and recorder.seconds >= seconds:
                        break
            except KeyboardInterrupt:
                pass
    what = f"{number_of(recorder.size, 'byte')} in {number_of(recorder.pieces, 'read')}"
    output.say(f"{escape(file)}: {what}, {recorder.seconds:.0f} s")
    return code


COMMANDS: tuple[click.Command, ...] = (capture,)
