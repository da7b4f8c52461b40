"""A technician tries beep and lamp: through the daemon where it runs, else directly."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click

from tablectl.cli import output
from tablectl.cli.arguments import json_option, reaches_daemon
from tablectl.cli.configuration import config_option, config_path, configuration
from tablectl.cli.output import Refused, escape
from tablectl.cli.read import word
from tablectl.cli.target import Target
from tablectl.local import Client, NotReachable

PATTERNS = ("pip", "close", "accept", "reject", "hold")
BETWEEN = 0.8
"""Seconds between two patterns, so that they can be told apart."""

Played = Callable[[str], dict[str, str]]
"""Plays a pattern; for each beeper by name why it was not played, or ``""``."""


@click.command("signal")
@click.argument("pattern", type=click.Choice(PATTERNS), required=False)
@click.option("--all", "every", is_flag=True, help="All of them, one after the other.")
@config_option
@json_option
@reaches_daemon
def signal(target: Target, pattern: str | None, every: bool, config_file: str | None, as_json: bool) -> int:
    """Try beep and lamp: pip, close, accept, reject or hold. Whether it was heard, you hear.

    A running daemon plays it, but not while betting is open. Without one, the devices of the configuration
    are opened here, and nobody else's table.

    Example:  tablectl signal close
    """
    if every == (pattern is not None):
        raise click.UsageError("name one pattern, or --all", click.get_current_context())
    wanted = PATTERNS if pattern is None else (pattern,)
    told = _through(target, config_file, wanted, as_json)
    if told is None:
        from tablectl.cli.beep import directly

        with configuration():
            told = directly(config_path(config_file), lambda play: _each(play, wanted, as_json))
    if as_json:
        output.say_json({"signals": told})
    failed = any(why for one in told for why in one["beepers"].values())
    return output.REFUSED if failed else 0


def _through(
    target: Target, config_file: str | None, wanted: tuple[str, ...], as_json: bool
) -> list[dict[str, Any]] | None:
    """Have the daemon play them; None if there is none that answers."""
    named = target.socket or target.table
    try:
        path = _socket_of(config_file) if config_file is not None and not named else target.path()
        client = Client(path)
        client.get("/v1/state")
    except NotReachable:
        if named:
            raise
        return None

    def play(pattern: str) -> dict[str, str]:
        status, answer = client.post("/v1/signal", {"pattern": pattern})
        beepers = answer.get("beepers")
        if status != 200 or not isinstance(beepers, dict):
            raise Refused(f"refused: {word(answer.get('error', f'HTTP {status}'))}")
        return {str(name): str(why) for name, why in beepers.items()}

    return _each(play, wanted, as_json)


def _socket_of(config_file: str) -> str:
    with configuration():
        from tablectl.config import load_config

        return str(load_config(config_path(config_file)).socket_path)


def _each(play: Played, wanted: tuple[str, ...], as_json: bool) -> list[dict[str, Any]]:
    told = []
    for number, pattern in enumerate(wanted):
        if number:
            time.sleep(BETWEEN)
        beepers = play(pattern)
        told.append({"pattern": pattern, "beepers": beepers})
        for name, why in () if as_json else beepers.items():
            silent = " (null: there is nothing to hear)" if name == "null" else ""
            output.say(
                f"{pattern:<7} {escape(name)}: {f'FAILED: {escape(why)}' if why else f'played{silent}'}"
            )
    return told


COMMANDS: tuple[click.Command, ...] = (signal,)
