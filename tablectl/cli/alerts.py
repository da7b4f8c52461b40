"""The alerts nobody has acknowledged: what is wrong, and the line that says it was seen."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import click

from tablectl.cli import output
from tablectl.cli.arguments import json_option, reaches_daemon
from tablectl.cli.output import Refused, escape
from tablectl.cli.read import mapping, sequence, word
from tablectl.cli.target import Target
from tablectl.local import Client

MOST = 100
"""Alerts shown; the controller has fewer kinds."""


@click.command("alerts")
@json_option
@reaches_daemon
def alerts(target: Target, as_json: bool) -> int:
    """List the alerts that nobody has acknowledged, each with the line that does.

    Example:  tablectl alerts --table T07
    """
    code, state = Client(target.path()).get("/v1/state")
    if code != 200:
        raise Refused(f"refused: {word(state.get('error', f'HTTP {code}'))}")
    if target.table and state.get("table") != target.table:
        raise Refused(f"{escape(target.path())} is table {word(state.get('table'))}, not {target.table}")
    found = [mapping(alert) for alert in sequence(state.get("alerts"))[:MOST]]
    if as_json:
        output.say_json({"table": state.get("table"), "alerts": found})
        return 0
    for alert in found:
        for line in _lines(alert, target):
            output.say(line)
    if not found:
        output.say("no alert is open")
    return 0


def _lines(alert: Mapping[str, Any], target: Target) -> list[str]:
    code = word(alert.get("alert"), 60)
    since = f"  since {word(alert['since'], 40)}" if alert.get("since") else ""
    if alert.get("present") is True:
        typed = "it goes by itself when this is over"
        return [f"alert {code}, now", f"  {word(alert.get('message'), 1000)}", f"  {typed}"]
    typed = shlex.join(["tablectl", "ack", code, *target.options()])
    return [f"alert {code}{since}", f"  {word(alert.get('message'), 1000)}", f"  when it was seen: {typed}"]


COMMANDS: tuple[click.Command, ...] = (alerts,)
