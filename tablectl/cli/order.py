"""What is typed to change a table: the order itself, and the options that every such command has."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from tablectl.cli.arguments import NAME, ROUND, Text, json_option, reaches_daemon
from tablectl.cli.target import Target

TABLE_COMMANDS = "/v1/commands"


@dataclass(frozen=True, slots=True)
class Order:
    """A command as typed. ``words``: the command line that gives it again, without what was seen.

    ``resource``: where it is sent; one that is not the table's carries no arguments and nothing seen.
    """

    command: str
    args: Mapping[str, str] = field(default_factory=dict)
    words: Sequence[str] = ()
    changes_round: bool = False
    resource: str = TABLE_COMMANDS


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
        given = Given(target, rest.pop("as_json"), rest.pop("seen_round"), rest.pop("seen_state"))
        return function(given, **rest)

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    return reaches_daemon(json_option(seen_options(command)))


def pit_boss_options(function: Callable[..., int | None], *, seen: bool = True) -> Callable[..., Any]:
    """A command of the pit boss, who is named, gives a reason, and is asked for the PIN.

    ``seen``: with ``--round`` and ``--state``.
    """

    def command(target: Target, /, **rest: Any) -> int | None:
        given = Given(
            target,
            rest.pop("as_json"),
            rest.pop("seen_round", None),
            rest.pop("seen_state", None),
            rest.pop("person"),
            rest.pop("reason"),
            rest.pop("pin_stdin"),
        )
        return function(given, **rest)

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    reason = click.option("--reason", type=Text(200), required=True, help="Why; it is written down.")
    person = click.option(
        "--as",
        "person",
        type=NAME,
        required=True,
        envvar="TABLECTL_PIT_BOSS",
        help="The pit boss (or from TABLECTL_PIT_BOSS).",
    )
    pin = click.option(
        "--pin-stdin", is_flag=True, help="Read the PIN from standard input; else it is asked."
    )
    with_people = person(reason(pin(command)))
    return reaches_daemon(json_option(seen_options(with_people) if seen else with_people))


def repeat(given: Given, order: Order, seen: Sequence[str]) -> str:
    """The command line that does it, with what was seen."""
    words = ["tablectl", *given.target.options(), *order.words, *seen]
    if given.person is not None:
        words += ["--as", given.person, "--reason", given.reason or ""]
    words += ["--pin-stdin"] if given.pin_stdin else []
    return shlex.join(words + (["--json"] if given.as_json else []))
