"""What is typed to change a table: the order itself, and the options that every such command has."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import click
from click.core import ParameterSource

from tablectl.cli.arguments import (
    NAME,
    ROUND,
    ReasonOption,
    ReasonType,
    json_option,
    reaches_daemon,
)
from tablectl.cli.target import Target

TABLE_COMMANDS = "/v1/commands"


@dataclass(frozen=True, slots=True)
class Order:
    """A command as typed. ``words``: the command line that gives it again, without what was seen.

    ``looks_back``: the round it names, that need not be the one in play. ``resource``: where it is sent;
    one that is not the table's carries no arguments and nothing seen.
    """

    command: str
    args: Mapping[str, str] = field(default_factory=dict)
    words: Sequence[str] = ()
    changes_round: bool = False
    looks_back: str | None = None
    resource: str = TABLE_COMMANDS
    fields: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Given:
    """The options every command of the table has."""

    target: Target
    as_json: bool
    round: str | None = None
    state: int | None = None
    person: str | None = None
    reason: str | None = None
    pin_stdin: bool = False

    @property
    def saw(self) -> bool:
        """Whether it says what its sender saw."""
        return self.round is not None or self.state is not None


def must_have_seen(given: Given, order: Order) -> bool:
    """Whether the order goes only with what its sender saw: it changes a round, or is the pit boss's."""
    return order.resource == TABLE_COMMANDS and (order.changes_round or given.person is not None)


def seen_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--round`` and ``--state``."""
    round_option = click.option("--round", "seen_round", type=ROUND, help="Only if this round is in play.")
    state_option = click.option(
        "--state",
        "seen_state",
        type=click.IntRange(0, 10**15),
        help="Only if nothing changed since: the state version that `tablectl status` shows.",
    )
    return round_option(state_option(function))


def dealer_options(function: Callable[..., int | None]) -> Callable[..., Any]:
    """A command of the dealer: its first argument is :class:`Given`."""

    def command(target: Target, /, **rest: Any) -> int | None:
        return function(_given(target, rest), **rest)

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    return reaches_daemon(json_option(seen_options(command)))


def pit_boss_options(function: Callable[..., int | None], *, seen: bool = True) -> Callable[..., Any]:
    """A command of the pit boss, who is named, gives a reason, and is asked for the PIN.

    ``seen``: with ``--round`` and ``--state``.
    """

    def command(target: Target, /, **rest: Any) -> int | None:
        return function(_given(target, rest), **rest)

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    with_people = _people(command, required=True)
    return reaches_daemon(json_option(seen_options(with_people) if seen else with_people))


def undo_options(function: Callable[..., int | None]) -> Callable[..., Any]:
    """A command of the dealer that the pit boss takes back with ``--undo``: ``undo`` is an argument of it.

    Only then it has a pit boss and a reason.
    """

    def command(target: Target, /, **rest: Any) -> int | None:
        context = click.get_current_context()
        given = _given(target, rest)
        if rest["undo"]:
            _need_people(context, given)
            return function(given, **rest)
        # A name from the environment is there for all commands and means nothing here.
        typed = context.get_parameter_source("person") is ParameterSource.COMMANDLINE
        if typed or given.reason is not None or given.pin_stdin:
            raise click.UsageError("--as, --reason and --pin-stdin go with --undo", context)
        return function(replace(given, person=None), **rest)

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    undo = click.option("--undo", is_flag=True, help="Take it back: the pit boss's, with --as and --reason.")
    return reaches_daemon(json_option(seen_options(undo(_people(command, required=False)))))


def named_options(function: Callable[..., int | None]) -> Callable[..., Any]:
    """A command of the dealer that a pit boss may give too, by name and PIN (``--as``)."""

    def command(target: Target, /, **rest: Any) -> int | None:
        given = _given(target, rest)
        if given.pin_stdin and given.person is None:
            raise click.UsageError("--pin-stdin goes with --as", click.get_current_context())
        return function(given, **rest)

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    person = click.option("--as", "person", type=NAME, help="A pit boss does it; the PIN is asked for.")
    pin = click.option("--pin-stdin", is_flag=True, help="With --as: read the PIN from standard input.")
    return reaches_daemon(json_option(seen_options(person(pin(command)))))


def _need_people(context: click.Context, given: Given) -> None:
    """Click's own words for what is missing, were it always needed."""
    for param in context.command.params:
        if param.name in ("person", "reason") and getattr(given, param.name) is None:
            raise click.MissingParameter("--undo is the pit boss's", context, param)


def _people(function: Callable[..., Any], *, required: bool) -> Callable[..., Any]:
    """``--as``, ``--reason`` and ``--pin-stdin``."""
    reason = click.option("--reason", cls=ReasonOption, type=ReasonType(200), required=required)
    person = click.option(
        "--as",
        "person",
        type=NAME,
        required=required,
        envvar="TABLECTL_PIT_BOSS",
        help="The pit boss (or from TABLECTL_PIT_BOSS).",
    )
    pin = click.option(
        "--pin-stdin", is_flag=True, help="Read the PIN from standard input; else it is asked."
    )
    return person(reason(pin(function)))


def _given(target: Target, rest: dict[str, Any]) -> Given:
    """What every command has, taken out of what click found; the command's own arguments are left."""
    return Given(
        target,
        rest.pop("as_json"),
        rest.pop("seen_round", None),
        rest.pop("seen_state", None),
        rest.pop("person", None),
        rest.pop("reason", None),
        rest.pop("pin_stdin", False),
    )


def repeat(given: Given, order: Order, seen: Sequence[str]) -> str:
    """The command line that does it, with what was seen."""
    words = ["tablectl", *given.target.options(), *order.words, *seen]
    if given.person is not None:
        words += ["--as", given.person, "--reason", given.reason or ""]
    words += ["--pin-stdin"] if given.pin_stdin else []
    return shlex.join(words + (["--json"] if given.as_json else []))
