"""What a command would change, shown before it may: the round as it is now, and the line to type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablectl.cli import output
from tablectl.cli.order import Given, Order, repeat
from tablectl.cli.output import REFUSED, Refused, escape
from tablectl.cli.read import State


def preview(client: Any, given: Given, order: Order) -> int:
    """Print what would happen and how to make it happen; the exit code of something not done."""
    status, raw = client.get("/v1/state")
    if status != 200:
        raise Refused(f"refused: {escape(raw.get('error', f'HTTP {status}'))}")
    state = State(raw)
    seen = _seen(raw)
    line = repeat_line(given, order, seen)
    if given.as_json:
        output.say_json({"done": False, "would": order.command, "state": raw, "repeat": line})
    else:
        output.say("Nothing was done yet. The table now:")
        for text in (*state.round_lines(), *state.hold_lines()):
            output.say(f"  {text}")
        output.say(_would(order, state))
        if order.command != "release" or order.args.get("action") in state.ways:
            output.say("If that is what you want:")
            output.say(f"  {line}")
    output.complain(f"not done: {order.command} needs --round or --state, what its sender saw")
    return REFUSED


def repeat_line(given: Given, order: Order, seen: list[str]) -> str:
    """The command line with what was seen in it."""

    return escape(repeat(given, order, seen))


def _seen(raw: Mapping[str, Any]) -> list[str]:
    """Round and version as options: only what has their shape, for this will be pasted into a shell."""
    from tablectl.cli.arguments import ROUND

    seen = []
    where, version = raw.get("where"), raw.get("version")
    if isinstance(where, str) and ROUND.matches(where):
        seen += ["--round", where]
    if isinstance(version, int) and not isinstance(version, bool) and version >= 0:
        seen += ["--state", str(version)]
    if not seen:
        raise Refused("refused: the daemon does not say which round it plays")
    return seen


def _would(order: Order, state: State) -> str:
    match order.command:
        case "confirm":
            said = order.args.get("outcome")
            return f"This would announce {said or 'what the cards say'} as the result of round {state.where}."
        case "void":
            return f"This would void round {order.args.get('round') or state.where}; its cards stay used."
        case "shoe end":
            return "This would take the shoe out of play; a round in play becomes void."
        case "release":
            action = order.args.get("action", "")
            way = state.ways.get(action)
            if way is None:
                return f"{escape(action)} is no way out now; it would be refused."
            return f"This would do: {way}."
        case command:
            return f"This would do: {command}."
