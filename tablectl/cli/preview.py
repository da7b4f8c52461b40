"""What a command would change, shown before it may: the round as it is now, and the line to type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablectl.cli import output
from tablectl.cli.order import Given, Order, repeat
from tablectl.cli.output import REFUSED, Refused, escape
from tablectl.cli.read import State, mapping, sequence, word
from tablectl.printable import number_of


def preview(client: Any, given: Given, order: Order) -> int:
    """Print what would happen and how to make it happen; the exit code of something not done."""
    status, raw = client.get("/v1/state")
    if status != 200:
        raise Refused(f"refused: {escape(raw.get('error', f'HTTP {status}'))}")
    state = State(raw)
    seen = _seen(raw, order)
    line = repeat_line(given, order, seen)
    refused = refusal(order, state) or _no_round(client, order, raw)
    if given.as_json:
        output.say_json(
            {"done": False, "would": order.command, "refused": refused, "state": raw, "repeat": line}
        )
    else:
        output.say("Nothing was done yet. The table now:")
        for text in (*state.round_lines(), *state.progress_lines(), *state.hold_lines()):
            output.say(f"  {text}")
        if refused is not None:
            output.say(f"{order.command} would be refused now: {refused}")
        else:
            output.say(_would(order, state))
            output.say("If that is what you want:")
            output.say(f"  {line}")
    output.complain(f"not done: {order.command} needs --round or --state, what its sender saw")
    return REFUSED


def repeat_line(given: Given, order: Order, seen: list[str]) -> str:
    """The command line with what was seen in it."""

    return escape(repeat(given, order, seen))


def _seen(raw: Mapping[str, Any], order: Order) -> list[str]:
    """Round and version as options: only what has their shape, for this will be pasted into a shell.

    Not the round where the order names another: to see both side by side is to take one for the other.
    """
    from tablectl.cli.arguments import ROUND

    seen = []
    where, version = raw.get("where"), raw.get("version")
    if order.looks_back is None and isinstance(where, str) and ROUND.matches(where):
        seen += ["--round", where]
    if isinstance(version, int) and not isinstance(version, bool) and version >= 0:
        seen += ["--state", str(version)]
    if not seen:
        raise Refused("refused: the daemon does not say which round it plays")
    return seen


def refusal(order: Order, state: State) -> str | None:
    """Why the table would refuse it as it is now, in the table's words; None if it lets it be tried."""
    from tablectl.table.inputs import Kind
    from tablectl.table.state import Phase
    from tablectl.table.transitions import default_refusal, move_as_offered

    raw = state.raw
    holds = [word(mapping(hold).get("message")) for hold in sequence(raw.get("holds"))[:30]]
    try:
        phase, kind = Phase(str(raw.get("phase"))), Kind(order.command)
    except ValueError:
        return None  # a daemon of another release: it will say itself
    if move_as_offered(phase, kind, bool(holds), state.ways) is None:
        return default_refusal(phase, kind, holds, state.ways.values())
    if kind is Kind.RELEASE and order.args.get("action") not in state.ways:
        return f"{escape(order.args.get('action', ''))} is no way out"
    if kind is Kind.SAME_AGAIN and not raw.get("read_twice"):
        return "no card was read twice since the last card"
    if kind is Kind.VOID and order.looks_back is None and not raw.get("round"):
        return "no round is in play; one that was settled before: void SHOE/ROUND"
    return None


def _no_round(client: Any, order: Order, raw: Mapping[str, Any]) -> str | None:
    """Why the round that it names is none; None if there is one, or nobody knows."""
    if order.looks_back is None or order.looks_back == raw.get("where"):
        return None
    status, answer = client.get(f"/v1/rounds/{order.looks_back}")
    return word(answer.get("error"), 200) if status == 404 else None


def _would(order: Order, state: State) -> str:
    args = order.args
    if order.command == "release":
        return f"This would do: {state.ways[args['action']]}."
    if order.command == "confirm":
        said = args.get("outcome") or "what the cards say"
        return f"This would announce {said} as the result of round {state.where}."
    if order.command == "void":
        if order.looks_back is not None:
            return (
                f"Round {order.looks_back} is not in play. This would void it all the same: "
                "bets settled by it are taken back."
            )
        return f"This would void round {args.get('round') or state.where}; its cards stay used."
    if order.command == "amend":
        laid = [(place, card) for place, card in args.items() if place not in ("round", "same")]
        cards = ", ".join(f"{card} at {place}" for place, card in laid)
        return f"This would amend round {order.looks_back}: {cards}; its result becomes what those cards say."
    if order.command == "shoe inspect":
        found = "; ".join(f"{name} {text}" for name, text in args.items() if name != "method")
        return _INSPECT[args["method"]] + (f" Found: {found}." if found else "")
    last = " The coming hand is its last." if args.get("last_hand") else ""
    told = dict(args) | {name: number_of(args[name], noun) for name, noun in _COUNTS.items() if name in args}
    return _WOULD.get(order.command, f"This would do: {order.command}.").format(**told) + last


_WOULD = {
    "rescan": "This would take the next scans for {what} again.",
    "same-again": "This would count a second card of the face that was read twice.",
    "correct": "This would make {position} the {card}, and deal all cards anew by the rule.",
    "insert": "This would put the {card} at {position}, and deal the cards behind it anew by the rule.",
    "move": "This would move {position} to {to}, and deal all cards anew by the rule.",
    "enter": "This would enter the {card} at {position} by hand.",
    "burn": "This would order {count} burned.",
    "burn-error": "This would order the burn after a game error.",
    "hand free": "This would begin a hand without wagers.",
    "shoe end": "This would take the shoe out of play; a round in play becomes void.",
    "shoe adopt": (
        "This would take over shoe {number} in mid-shoe: {out} out, {rounds}; its cards are only counted."
    ),
    "shoe new undo": "This would take the new shoe back.",
    "cut-card undo": "This would take the cutting card back.",
    "device swap": "This would go on with another scanner and the same cards.",
}
"""What an order does, with its arguments in place, which the keyboard has checked."""

_COUNTS = {"count": "card", "out": "card", "rounds": "round"}

_INSPECT = {
    "by-hand": "This would record the count of the cards, attested by dealer and pit boss.",
    "scan": "This would begin the count: every card scanned then is counted, not dealt.",
    "scan-done": "This would end the count and record it, attested by dealer and pit boss.",
    "scan-cancel": "This would break the count off; nothing is recorded.",
}
