"""Giving the daemon a command: what was seen goes with it, and nothing is done twice.

Each command has a random id. Where no answer came the same id is asked once more: the daemon then gives
the stored answer, and does not act again.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from tablectl.cli import output
from tablectl.cli.arguments import read_pin
from tablectl.cli.order import TABLE_COMMANDS, Given, Order, must_have_seen
from tablectl.cli.output import Refused, escape
from tablectl.cli.preview import preview
from tablectl.local import Client, Interrupted, NotReachable


def carry_out(given: Given, order: Order) -> int:
    """Send the order, print the answer; the exit code. Without what was seen, where needed: only preview."""
    client = Client(given.target.path())
    if given.target.socket and given.target.table:
        _check_table(client, given.target.table)
    if must_have_seen(given, order) and not given.saw:
        return preview(client, given, order)
    pin = read_pin(given.pin_stdin, f"PIN of {given.person}: ") if given.person is not None else None
    status, answer = _post(client, order, _body(given, order, pin))
    return _told(client, given, order, status, answer)


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
    who = {"id": secrets.token_hex(16), "person": given.person, "pin": pin, "reason": given.reason}
    if order.resource != TABLE_COMMANDS:
        return {**who, **order.fields}
    return who | {"command": order.command, "args": dict(order.args), "expect": expect}


def _post(client: Any, order: Order, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    def send() -> tuple[int, dict[str, Any]]:
        status, answer = client.post(order.resource, body)
        if status == 503 and isinstance(answer.get("kept"), bool):
            return status, answer
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
            f"{fault}; whether {order.command!r} was carried out is not known: "
            "look at `tablectl status` before it is given again"
        ) from None


def _told(client: Any, given: Given, order: Order, status: int, answer: Mapping[str, Any]) -> int:
    accepted = status == 200 and answer.get("accepted") is True
    if given.as_json:
        output.say_json(answer)
    if answer.get("kept") is True:
        # Neither done nor refused: the daemon says that it waits, and that it is not to be given again.
        raise NotReachable(escape(answer.get("error")))
    if accepted:
        if not given.as_json:
            output.say(escape(answer.get("answer") or "done"))
        return 0
    reason = escape(answer.get("answer") or answer.get("error") or "refused")
    after = answer.get("retry_after")
    if isinstance(after, int | float) and after > 0:
        reason += f"; try again in {after:.0f} s"
    raise Refused(reason if "refused: " in reason[:30] else f"refused: {reason}")
