"""Giving the daemon a command: what was seen goes with it, and nothing is done twice.

Each command has a random id. Where no answer came the same id is asked once more: the daemon then gives
the stored answer, and does not act again.
"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from tablectl.cli import output
from tablectl.cli.arguments import NAME, ROUND, Text, json_option, reaches_daemon, read_pin
from tablectl.cli.output import Refused, escape
from tablectl.cli.target import Target
from tablectl.local import Client, Interrupted, NotReachable


@dataclass(frozen=True, slots=True)
class Order:
    """A command as typed. ``words``: the command line that gives it again, without what was seen."""

    command: str
    args: Mapping[str, str] = field(default_factory=dict)
    words: Sequence[str] = ()
    changes_round: bool = False


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


def pit_boss_options(function: Callable[..., int | None]) -> Callable[..., Any]:
    """A command of the pit boss, who is named, gives a reason, and is asked for the PIN."""

    def command(target: Target, /, **rest: Any) -> int | None:
        given = Given(
            target,
            rest.pop("as_json"),
            rest.pop("seen_round"),
            rest.pop("seen_state"),
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
    return reaches_daemon(json_option(seen_options(person(reason(pin(command))))))


def carry_out(given: Given, order: Order) -> int:
    """Send the order, print the answer; the exit code. Without what was seen, where needed: only preview."""
    client = Client(given.target.path())
    if given.target.socket and given.target.table:
        _check_table(client, given.target.table)
    if order.changes_round and given.round is None and given.state is None:
        from tablectl.cli.preview import preview

        return preview(client, given, order)
    pin = read_pin(given.pin_stdin, f"PIN of {given.person}: ") if given.person is not None else None
    status, answer = _post(client, _body(given, order, pin))
    return _told(client, given, order, status, answer)


def repeat(given: Given, order: Order, seen: Sequence[str]) -> str:
    """The command line that does it, with what was seen."""
    words = ["tablectl", *given.target.options(), *order.words, *seen]
    if given.person is not None:
        words += ["--as", given.person, "--reason", given.reason or ""]
    words += ["--pin-stdin"] if given.pin_stdin else []
    return shlex.join(words + (["--json"] if given.as_json else []))


def _check_table(client: Any, table: str) -> None:
    status, state = client.get("/v1/state")
    if status != 200 or state.get("table") != table:
        there = escape(state.get("table", "another program"))
        raise Refused(f"{escape(client.path)} is {there}, not {table}; leave out --table or --socket")


def _body(given: Given, order: Order, pin: str | None) -> dict[str, Any]:
    expect: dict[str, int] = {}
    if given.round is not None:
        shoe, number = given.round.split("/")
        expect = {"shoe": int(shoe), "round": int(number)}
    if given.state is not None:
        expect["version"] = given.state
    return {
        "id": secrets.token_hex(16),
        "command": order.command,
        "args": dict(order.args),
        "expect": expect,
        "person": given.person,
        "pin": pin,
        "reason": given.reason,
    }


def _post(client: Any, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    def send() -> tuple[int, dict[str, Any]]:
        status, answer = client.post("/v1/commands", body)
        decided = status in (200, 409) and answer.get("id") == body["id"]
        if status == 503 and "error" in answer:
            raise Interrupted(f"{escape(client.path)}: {escape(answer['error'])}")
        if not decided and not (status in (400, 403) and "error" in answer):
            raise Interrupted(f"{escape(client.path)}: what answers there is not tablectl (HTTP {status})")
        return status, answer

    try:
        return send()
    except Interrupted:
        pass
    try:
        return send()
    except NotReachable as fault:
        raise NotReachable(
            f"{fault}; whether {body['command']!r} was carried out is not known: "
            "look at `tablectl status` before it is given again"
        ) from None


def _told(client: Any, given: Given, order: Order, status: int, answer: Mapping[str, Any]) -> int:
    accepted = status == 200 and answer.get("accepted") is True
    if given.as_json:
        output.say_json(answer)
    if accepted:
        if not given.as_json:
            output.say(escape(answer.get("answer") or "done"))
        return 0
    reason = escape(answer.get("answer") or answer.get("error") or "refused")
    after = answer.get("retry_after")
    if isinstance(after, int | float) and after > 0:
        reason += f"; try again in {after:.0f} s"
    raise Refused(reason if "refused: " in reason[:30] else f"refused: {reason}")
