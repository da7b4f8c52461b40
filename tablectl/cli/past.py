"""Looking back: past rounds, card by card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from tablectl.cli import output
from tablectl.cli.arguments import ROUND, json_option, reaches_daemon
from tablectl.cli.output import Refused
from tablectl.cli.read import hand_lines, mapping, sequence, word
from tablectl.cli.target import Target
from tablectl.local import Client

MOST_ROUNDS = 500


class _Which(click.ParamType[str]):
    """A number of rounds, or one round."""

    name = "n|shoe/round"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        number = text.isascii() and text.isdigit() and len(text) <= 6 and 1 <= int(text) <= MOST_ROUNDS
        if not number and not ROUND.matches(text):
            self.fail(f"a number from 1 to {MOST_ROUNDS}, or SHOE/ROUND such as 12/34, is needed", param, ctx)
        return text


@click.command("recall")
@click.argument("which", metavar="[N | SHOE/ROUND]", type=_Which(), default="10")
@json_option
@reaches_daemon
def recall(target: Target, which: str, as_json: bool) -> int:
    """Show the last N rounds (10), or one round, card by card.

    Example:  tablectl recall 12/34
    """
    one = "/" in which
    resource = f"/v1/rounds/{which}" if one else f"/v1/rounds?last={which}"
    code, answer = Client(target.path()).get(resource)
    if code != 200:
        raise Refused(f"refused: {word(answer.get('error', f'HTTP {code}'))}")
    if as_json:
        output.say_json(answer)
        return 0
    rounds = [answer] if one else [mapping(r) for r in sequence(answer.get("rounds"))]
    for past in rounds:
        for line in _lines(past):
            output.say(line)
    if not rounds:
        output.say("no round was played yet")
    return 0


def _lines(past: Mapping[str, Any]) -> list[str]:
    result, void = mapping(past.get("result")), mapping(past.get("void"))
    name = f"{word(past.get('shoe'), 20)}/{word(past.get('round'), 20)}"
    if void:
        ended = f"VOID: {word(void.get('reason'))}, approved by {word(void.get('approved_by'), 60)}"
    elif result:
        ended = word(result.get("outcome"), 20)
        for side in ("player", "banker"):
            hand = mapping(result.get(side))
            marks = [mark for mark in ("natural", "pair") if hand.get(mark)]
            ended += f", {side} {word(hand.get('total'), 8)}{' (' + ', '.join(marks) + ')' if marks else ''}"
        if result.get("confirmed_by") not in (None, "automatic"):
            ended += f", confirmed by {word(result['confirmed_by'], 60)}"
    else:
        ended = "no result"
    lines = [f"round {name}  {ended}"]
    lines.append(f"  betting {word(past.get('opened'), 40)} to {word(past.get('closed'), 40)}")
    cards = [mapping(card) for card in sequence(past.get("cards"))[:60]]
    laid = {str(card.get("position")): card.get("card") for card in cards}
    if laid:
        totals = {side.capitalize(): mapping(result.get(side)).get("total") for side in ("player", "banker")}
        lines += [f"  {line}" for line in hand_lines(laid, totals)]
    for card in cards:
        lines.append(
            f"    {word(card.get('time'), 40)}  {word(card.get('position'), 8)} {word(card.get('card'), 8)}"
            f"  {word(card.get('source'), 20)}  {word(card.get('raw', ''), 80)}".rstrip()
        )
    for key, what in (("holds", "held"), ("releases", "released")):
        for note in map(mapping, sequence(past.get(key))[:30]):
            texts = [_text(note[name]) for name in ("codes", "action", "message", "reason") if note.get(name)]
            by = f", approved by {word(note['approved_by'], 60)}" if note.get("approved_by") else ""
            lines.append(f"  {what}: {'; '.join(texts)}{by}")
    return lines


def _text(value: Any) -> str:
    return ", ".join(word(part, 60) for part in value) if isinstance(value, list) else word(value)


COMMANDS: tuple[click.Command, ...] = (recall,)
