"""The delivery to the game server: how it stands, and trying again what halted it."""

from __future__ import annotations

import click

from tablectl.cli import output
from tablectl.cli.arguments import json_option, reaches_daemon
from tablectl.cli.order import Given, Order, pit_boss_options
from tablectl.cli.output import Refused
from tablectl.cli.read import link_line, word
from tablectl.cli.send import carry_out
from tablectl.cli.target import Target
from tablectl.local import Client


@click.group("delivery")
def delivery() -> None:
    """Delivery to the game server: status, retry.

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
    output.say(f"game server {word(found.get('url'))}")
    output.say(link_line(found))
    newest, acked, owed = (word(found.get(key), 20) for key in ("newest", "acked", "owed"))
    output.say(f"events {newest}, acknowledged {acked}, owed {owed}")
    if found.get("halted") is True:
        output.say(f"HALTED: {word(found.get('trouble'))}")
        output.say("way out: mend it there, then: tablectl delivery retry --as NAME --reason system")
    elif found.get("trouble") or found.get("last_error"):
        output.say(f"trouble: {word(found.get('trouble') or found.get('last_error'))}")
    return 0


def retry(given: Given) -> int:
    """Ask the game server again, now, also after it was halted. Nothing is skipped.

    Example:  tablectl delivery retry --as bo --reason "system: the server was mended"
    """
    order = Order("delivery retry", words=["delivery", "retry"], resource="/v1/delivery/retry")
    return carry_out(given, order)


delivery.command("retry")(pit_boss_options(retry, seen=False))

COMMANDS: tuple[click.Command, ...] = (delivery,)
