"""The full-screen dealer console."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import click

from tablectl.cli.arguments import reaches_daemon
from tablectl.cli.output import Refused
from tablectl.cli.target import Target


def knows_blocks(environment: Mapping[str, str]) -> bool:
    """Whether the terminal is said to take more than ASCII.

    Python itself sets ``LC_CTYPE`` to a UTF-8 locale where it finds none or ``C``; that says nothing of the
    terminal.
    """
    said = environment.get("LC_ALL") or environment.get("LANG") or ""
    ctype = environment.get("LC_CTYPE", "")
    if not environment.get("LC_ALL") and ctype and ctype not in ("C.UTF-8", "C.utf8", "UTF-8"):
        said = ctype
    return "utf" in said.lower()


@click.command("console")
@click.option(
    "--ascii/--no-ascii",
    "ascii_only",
    default=None,
    help="ASCII only, or not; else as the locale says (LC_ALL, LC_CTYPE, LANG).",
)
@click.option(
    "--language",
    type=click.Choice(("en", "de")),
    help="English or German; else as the locale says (LC_ALL, LC_MESSAGES, LANG), else English.",
)
@reaches_daemon
def console(target: Target, ascii_only: bool | None, language: str | None) -> int:
    """Work the table on a full screen, by a keyboard or a number pad alone (docs/console.md).

    Without colours where NO_COLOR is set. Ctrl-C leaves it; the table goes on.

    Example:  tablectl console --table T07
    """
    try:
        from tablectl.console.app import run
        from tablectl.console.language import by_locale
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] not in ("textual", "rich"):
            raise
        raise Refused("the console needs the package textual: pip install 'tablectl[console]'") from None
    path = target.path()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused("the console needs a terminal; elsewhere `tablectl status` and `tablectl watch` tell")
    blocks = knows_blocks(os.environ) if ascii_only is None else not ascii_only
    colours = "NO_COLOR" not in os.environ
    language = language or by_locale(os.environ)
    return run(path, target.table, blocks=blocks, colours=colours, language=language)


COMMANDS: tuple[click.Command, ...] = (console,)
