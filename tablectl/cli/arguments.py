"""What may be typed: texts, rounds, tables, and the PIN, which is never an argument."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from tablectl.cli.output import Refused
from tablectl.cli.target import Target

F = TypeVar("F", bound=Callable[..., Any])

MOST_ARGUMENT = 1000
"""Characters of one argument."""

MOST_PIN = 64


class Text(click.ParamType[str]):
    """Some printable characters, not only spaces."""

    name = "text"

    def __init__(self, most: int = 200) -> None:
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if len(text) > self.most:
            self.fail(f"{len(text)} characters are too many; {self.most} are allowed", param, ctx)
        if not text.isprintable() or not text.strip():
            self.fail("printable characters are needed", param, ctx)
        return text.strip()


class Pattern(click.ParamType[str]):
    """A text of a known shape."""

    def __init__(self, name: str, pattern: str, wants: str) -> None:
        self.name = name
        self._pattern = re.compile(pattern, re.ASCII)
        self._wants = wants

    def matches(self, text: str) -> bool:
        """Whether ``text`` has that shape, all of it."""
        return self._pattern.fullmatch(text) is not None

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not self.matches(str(value)):
            self.fail(self._wants, param, ctx)
        return str(value)


class ReasonType(Text):
    """``CODE`` or ``CODE: words``; what is wrong is told with the list of codes.

    The codes are read only when a reason is, or its help: ``status`` does without them.
    """

    name = "code[: words]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from tablectl.table.reasons import problem

        text = super().convert(value, param, ctx)
        if wrong := problem(text):
            self.fail(wrong, param, ctx)
        return text

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        from tablectl.table.reasons import REASONS

        return f"Write CODE or 'CODE: words', CODE one of {', '.join(REASONS)}."


class ReasonOption(click.Option):
    """``--reason``, whose help lists the codes."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from tablectl.table.reasons import REASONS

        self.help = f"Why; it is written down. One of {', '.join(REASONS)}; then, if you like, words."
        return super().get_help_record(ctx)


TABLE = Pattern("id", r"[A-Za-z0-9_-]{1,16}", "a table's id is 1 to 16 of A-Z a-z 0-9 _ -")
ROUND = Pattern("shoe/round", r"[1-9][0-9]{0,8}/[1-9][0-9]{0,8}", "a round is written SHOE/ROUND: 12/34")
NAME = Pattern(
    "name",
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}",
    "a name is 1 to 32 of A-Z a-z 0-9 . _ -, a letter or digit first",
)


def table_options(function: F) -> F:
    """``--table`` and ``--socket``."""
    table = click.option("--table", type=TABLE, help="The table, where a machine has several.")
    socket = click.option(
        "--socket", type=Text(255), help="The daemon's socket, by path (or from TABLECTL_SOCKET)."
    )
    return table(socket(function))


json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object, for a program.")


def reaches_daemon(function: Callable[..., int | None]) -> Callable[..., Any]:
    """Give a command ``--table`` and ``--socket``, and a :class:`Target` as its first argument."""

    @table_options
    @click.pass_context
    @functools.wraps(function)
    def command(
        context: click.Context, /, *args: Any, table: str | None, socket: str | None, **options: Any
    ) -> int | None:
        before = context.find_object(Target) or Target()
        return function(before.merged(table, socket), *args, **options)

    return command


def read_pin(from_stdin: bool, prompt: str = "PIN: ") -> str:
    """The PIN: the first line of standard input, or typed at the terminal without echo.

    Raises :class:`Refused` when there is neither.
    """
    if from_stdin:
        line = sys.stdin.readline(MOST_PIN + 2) if sys.stdin is not None else ""
        return _usable(line.removesuffix("\n").removesuffix("\r"))
    import getpass
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            return _usable(getpass.getpass(prompt))
    except (getpass.GetPassWarning, EOFError, OSError):
        raise Refused("there is no terminal to ask for the PIN; give it with --pin-stdin") from None


def _usable(pin: str) -> str:
    if not 0 < len(pin) <= MOST_PIN or not pin.isprintable():
        raise Refused(f"a PIN has 1 to {MOST_PIN} printable characters")
    return pin
