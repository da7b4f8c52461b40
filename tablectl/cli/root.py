"""The command line ``tablectl``: what is typed, checked before anything else, and the exit code.

Exit codes: 0 done, 1 refused (the reason on standard error, nothing changed), 2 usage, 3 the daemon is
not reachable, 78 (``run``) the configuration cannot be used.  Command modules import click and little
else; what is heavy is imported inside the command that needs it, so that ``status`` starts at once.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import click

from tablectl.cli import (
    alerts,
    capture,
    console,
    dealer,
    delivery,
    devices,
    emulate,
    game,
    gameserver,
    journal,
    output,
    past,
    pit_boss,
    play,
    replay,
    scan,
    service,
    signal,
    view,
)
from tablectl.cli.arguments import MOST_ARGUMENT, table_options
from tablectl.cli.target import Target
from tablectl.local import NotReachable


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@table_options
@click.version_option(package_name="tablectl", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context, table: str | None, socket: str | None) -> None:
    """Controller of a live-dealer baccarat table.

    Exit codes: 0 done, 1 refused, 2 usage, 3 daemon not reachable.

    \b
    Example:  tablectl status
              tablectl --table T07 bets open
    """
    context.obj = Target(table, socket)


for _module in (
    service,
    gameserver,
    game,
    view,
    alerts,
    past,
    dealer,
    pit_boss,
    play,
    delivery,
    journal,
    devices,
    emulate,
    scan,
    capture,
    replay,
    signal,
    console,
):
    for _command in _module.COMMANDS:
        cli.add_command(_command)


def _refuse_odd_arguments(arguments: Sequence[str]) -> None:
    """Nothing pasted by accident goes further: no escape sequences, control characters, or pages of text."""
    for argument in arguments:
        if len(argument) > MOST_ARGUMENT:
            start = output.escape(argument[:20])
            raise click.UsageError(f"an argument has {len(argument)} characters: {start}…")
        if not argument.isprintable():
            raise click.UsageError(f"an argument has a control character in it: {output.escape(argument)}")


def _usage(error: click.UsageError) -> None:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        output.complain(error.format_message())
        return
    if error.ctx is not None:
        output.complain(error.ctx.get_usage())
        output.complain(f"Try '{error.ctx.command_path} --help' for help.")
    # Click lists what may be chosen on lines with tabs; a tab would be shown by its number.
    output.complain(f"Error: {' '.join(error.format_message().split())}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    output.prepare()
    try:
        _refuse_odd_arguments(given)
        result = cli.main(args=given, prog_name="tablectl", standalone_mode=False)
        code = result if isinstance(result, int) else 0
    except click.UsageError as error:
        _usage(error)
        code = error.exit_code
    except click.ClickException as error:
        output.complain(error.format_message())
        code = error.exit_code
    except NotReachable as error:
        output.complain(output.escape(error))
        code = output.NOT_REACHABLE
    except (click.Abort, KeyboardInterrupt):
        output.complain("interrupted")
        code = 130
    except SystemExit:
        # What click makes of a reader of its help that went away: exit, and a stand-in for the stream.
        if isinstance(sys.stdout, io.TextIOBase):
            raise
        output.silence()
        code = 0
    return output.finish(code)
