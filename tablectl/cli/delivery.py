"""The delivery to the game server: how it stands, and the ways on where it is halted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from tablectl.cli import output
from tablectl.cli.arguments import json_option, reaches_daemon
from tablectl.cli.order import Given, Order, pit_boss_options
from tablectl.cli.output import Refused
from tablectl.cli.read import link_line, word
from tablectl.cli.send import carry_out
from tablectl.cli.target import Target
from tablectl.delivery import ways
from tablectl.local import Client


@click.group("delivery")
def delivery() -> None:
    """Delivery to the game server: status, retry, park, start-at.

    Example:  tablectl delivery status
    """


@delivery.command("status")
@json_option
@reaches_daemon
def status(target: Target, as_json: bool) -> int:
    """Show what the game server has, and why it gets no more.

    Example:  tablectl delivery status
    """
    code, found = Client(target.path()).get("/v1/delivery")
    if code != 200:
        raise Refused(f"refused: {word(found.get('error', f'HTTP {code}'))}")
    if as_json:
        output.say_json(found)
        return 0
    if "url" in found and found["url"] is None:
        output.say(link_line(found))
        return 0
    output.say(f"game server {word(found.get('url'))}")
    output.say(link_line(found))
    for line in (*_counted(found), *_in_the_way(found)):
        output.say(line)
    return 0


def _counted(found: Mapping[str, object]) -> Iterator[str]:
    newest, acked, owed, taken = (word(found.get(key), 20) for key in ("newest", "acked", "owed", "taken"))
    if "taken" not in found:
        yield f"events {newest}, acknowledged {acked}, owed {owed}"
        return
    yield f"events {newest}; known to be in the stream {acked}, still to be stored there {owed}"
    yield f"the game server says that it has taken {taken}"


def _in_the_way(found: Mapping[str, object]) -> Iterator[str]:
    trouble = found.get("trouble") or found.get("last_error")
    if trouble:
        yield f"{'HALTED' if found.get('halted') is True else 'trouble'}: {word(trouble, 500)}"
    if type(found.get("tries_in")) is int:
        yield f"tried again: in {word(found['tries_in'], 10)} s; at once: {ways.RETRY}"
    if found.get("way_out"):
        yield f"way out: {word(found['way_out'], 1000)}"
    if found.get("never_sent"):
        yield f"start-at: {word(found['never_sent'])}"


def retry(given: Given) -> int:
    """Ask the game server again, now, also after it was halted. Nothing is skipped.

    Example:  tablectl delivery retry --as bo --reason "system: the server was mended"
    """
    order = Order("delivery retry", words=["delivery", "retry"], resource="/v1/delivery/retry")
    return carry_out(given, order)


def park(given: Given, event: int) -> int:
    """Set aside the event that the game server refuses: it is told that the event was parked, and goes on.

    SEQ is the number that `tablectl delivery status` shows. A round whose result was parked is unsettled
    until it is voided or amended.

    Example:  tablectl delivery park 4711 --as bo --reason "system: the server cannot take it"
    """
    words = ["delivery", "park", str(event)]
    order = Order("delivery park", words=words, resource="/v1/delivery/park", fields={"event": event})
    return carry_out(given, order)


def start_at(given: Given, event: int) -> int:
    """Go on at N, the oldest event kept, with a game server that asks for older ones; it is told so.

    What it then never gets `tablectl delivery status` says before. What is kept is always sent.

    Example:  tablectl delivery start-at 90001 --as bo --reason "system: the server lost its data"
    """
    words = ["delivery", "start-at", str(event)]
    resource = "/v1/delivery/start-at"
    return carry_out(
        given, Order("delivery start-at", words=words, resource=resource, fields={"event": event})
    )


_NUMBER = click.IntRange(1, 10**12 - 1)

delivery.command("retry")(pit_boss_options(retry, seen=False))
delivery.command("park")(
    click.argument("event", metavar="SEQ", type=_NUMBER)(pit_boss_options(park, seen=False))
)
delivery.command("start-at")(
    click.argument("event", metavar="N", type=_NUMBER)(pit_boss_options(start_at, seen=False))
)

COMMANDS: tuple[click.Command, ...] = (delivery,)
