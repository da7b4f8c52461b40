"""Past rounds, derivations and shoes in lines for people; what is missing or odd is ``?``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tablectl.cli.read import count_of, hand_lines, mapping, sequence, word

MOST = 60
"""Lines of one kind in one round; more are counted, not shown."""

UNSETTLED = "UNSETTLED: the game server refused how it ended, and it was parked: void or amend it"


def round_lines(past: Mapping[str, Any]) -> Iterator[str]:
    """One round: how it ended, its cards, and what was done about it, in the order of kinds."""
    yield f"round {word(past.get('shoe'), 20)}/{word(past.get('round'), 20)}  {_ended(past)}"
    if past.get("flag"):
        yield f"  ATTENTION: {word(past['flag'])}"
    if past.get("unsettled") is True:
        yield f"  {UNSETTLED}"
    yield f"  betting {word(past.get('opened'), 40)} to {word(past.get('closed'), 40)}"
    yield from _hand(past, _last(past))
    for card in _some(past, "cards"):
        yield (
            f"    {word(card.get('time'), 40)}  {word(card.get('position'), 8)} {word(card.get('card'), 8)}"
            f"  {word(card.get('source'), 20)}  {word(card.get('raw', ''))}".rstrip()
        ) + _by(card)
    for number, card in enumerate(_some(past, "kept"), start=1):
        laid = f", later {word(card['position'], 8)}" if card.get("position") else ""
        face = word(card.get("card"), 8) if "raw" in card else "(not told before the shoe has ended)"
        yield (
            f"    {word(card.get('time'), 40)}  K{number} {face}  kept: {word(card.get('code'), 40)}"
            f"  {word(card.get('raw', ''))}".rstrip()
        ) + laid
    yield from _troubles(past)
    for change in _some(past, "amendments"):
        yield (
            f"  AMENDED {word(change.get('time'), 40)}: {_short(change.get('before'))} -> "
            f"{_short(change.get('after'))}; {word(change.get('reason'))}{_by(change)}"
        )
    for command in _some(past, "commands"):
        yield _command(command)


def _ended(past: Mapping[str, Any]) -> str:
    result, void = mapping(past.get("result")), mapping(past.get("void"))
    amended, last = bool(sequence(past.get("amendments"))), _last(past)
    if void:
        before = f", {_short(last)} before" if void.get("earlier") else ""
        return f"VOID: {word(void.get('reason'))}, approved by {word(void.get('approved_by'), 60)}{before}"
    if not last:
        return "no result"
    ended = word(last.get("outcome"), 20)
    for side in ("player", "banker"):
        hand = mapping(last.get(side))
        marks = [mark for mark in ("natural", "pair") if hand.get(mark)]
        ended += f", {side} {word(hand.get('total'), 8)}{' (' + ', '.join(marks) + ')' if marks else ''}"
    if result.get("confirmed_by") not in (None, "automatic"):
        ended += f", confirmed by {word(result['confirmed_by'], 60)}"
    return ended + (f", AMENDED (revision {word(last.get('revision'), 8)})" if amended else "")


def _last(past: Mapping[str, Any]) -> Mapping[str, Any]:
    """The result as it is now, amendments included."""
    amendments = sequence(past.get("amendments"))
    return mapping(mapping(amendments[-1]).get("after") if amendments else past.get("result"))


def _hand(past: Mapping[str, Any], result: Mapping[str, Any]) -> Iterator[str]:
    laid = mapping(past.get("hand")) or {
        str(card.get("position")): card.get("card") for card in _some(past, "cards")
    }
    if laid:
        totals = {side.capitalize(): mapping(result.get(side)).get("total") for side in ("player", "banker")}
        for line in hand_lines(laid, totals):
            yield f"  {line}"


def _troubles(past: Mapping[str, Any]) -> Iterator[str]:
    for key, what in (("holds", "held"), ("releases", "released")):
        for note in _some(past, key):
            texts = [_text(note[name]) for name in ("codes", "action", "message", "reason") if note.get(name)]
            saw = mapping(note.get("saw"))
            if saw:
                texts.append("saw " + ", ".join(f"{word(k, 20)} {word(v)}" for k, v in saw.items()))
            yield f"  {what}: {'; '.join(texts)}{_by(note)}"
    for change in _some(past, "corrections"):
        yield (
            f"  corrected ({word(change.get('how'), 20)}) {word(change.get('time'), 40)}: "
            f"{_laid(change.get('before'))} -> {_laid(change.get('after'))}; "
            f"{word(change.get('reason'))}{_by(change)}"
        )
    for note in _some(past, "notes"):
        yield f"  {word(note.get('time'), 40)}  {word(note.get('text'))}{_by(note)}"


def _command(command: Mapping[str, Any]) -> str:
    args = " ".join(f"{word(k, 20)}={word(v, 60)}" for k, v in mapping(command.get("args")).items())
    seen = [
        f"{name} {word(command[key], 20)}"
        for key, name in (("saw_round", "round"), ("saw_version", "state"))
        if command.get(key) is not None
    ]
    parts = [
        f"  command {word(command.get('time'), 40)}  {word(command.get('command'), 40)} {args}".rstrip(),
        f"by {word(command.get('person') or 'dealer', 60)} (uid {word(command.get('uid'), 12)})",
        *([f"saw {', '.join(seen)}"] if seen else []),
        *([word(command["reason"])] if command.get("reason") else []),
        word(command.get("answer")),
    ]
    return "; ".join(parts)


def explain_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """A derivation: each row and each step of the rule, then whether it agrees."""
    yield f"round {word(answer.get('shoe'), 20)}/{word(answer.get('round'), 20)}"
    for step in [mapping(step) for step in sequence(answer.get("steps"))[:500]]:
        if "row" in step:
            where = (
                f"row {word(step['row'], 20)}  {word(step.get('time'), 40)}  {word(step.get('event'), 30)}"
            )
            yield f"  {where}: {word(step.get('text'))}"
        else:
            yield f"    {word(step.get('text'))}"
    if answer.get("unsettled") is True:
        yield f"  {UNSETTLED}"
    findings = sequence(answer.get("findings"))[:100]
    for finding in findings:
        yield f"  FINDING: {word(finding)}"
    yield "agrees" if answer.get("agrees") is True else f"DIFFERS: {len(findings)} findings"


def shoe_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """The report on a shoe."""
    ended, faces = mapping(report.get("ended")), mapping(report.get("faces"))
    count = {key: word(report.get(key), 20) for key in ("decks", "out", "left", "dealt", "burned", "kept")}
    number = word(report.get("shoe"), 20)
    yield f"shoe {number}, {count['decks']} decks, rules {word(report.get('rules'), 60)}" + (
        f", {word(report['note'])}" if report.get("note") else ""
    )
    if ended:
        yield f"ended: {word(ended.get('reason'))}{_by(ended)}"
    else:
        yield "in play: how many only, no faces"
    if ended.get("integrity"):
        yield "ATTENTION: it was closed on an integrity fault"
    if ended.get("withdrawn"):
        yield "its start was withdrawn before a card was drawn"
    adopted = mapping(report.get("adopted"))
    if adopted:
        yield f"taken over in mid-shoe: {count_of(adopted.get('out'), 'card')} out"
    yield (
        f"cards: {count['out']} out, {count['left']} left; {count['dealt']} dealt, {count['burned']} burned, "
        f"{count['kept']} kept, {word(report.get('unknown'), 20)} of them unknown"
    )
    results = ", ".join(f"{word(k, 20)} {word(n, 12)}" for k, n in mapping(report.get("results")).items())
    yield f"rounds: {word(report.get('rounds'), 12)} ({results or 'no result'})" + "".join(
        f", {key} {word(report.get(key), 12)}" for key in ("void", "amended", "holds")
    )
    for key in ("missing", "extra"):
        if ended.get(key):
            yield f"{key}: {_text(ended[key])}"
    if faces:
        yield f"dealt by rank: {_counts(faces.get('dealt_by_rank'))}"
        yield f"burned: {_text(faces.get('burned')) or 'none'}"
        yield f"kept: {_text(faces.get('kept')) or 'none'}"
        left = faces.get("left")
        yield f"left: {'not known by name' if left is None else _counts(left)}"


def _counts(value: Any) -> str:
    return ", ".join(f"{word(k, 8)} {word(n, 8)}" for k, n in mapping(value).items()) or "none"


def _some(past: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [mapping(one) for one in sequence(past.get(key))[:MOST]]


def _by(note: Mapping[str, Any]) -> str:
    return f", approved by {word(note['approved_by'], 60)}" if note.get("approved_by") else ""


def _laid(hand: Any) -> str:
    return " ".join(f"{word(place, 8)} {word(card, 8)}" for place, card in mapping(hand).items()) or "nothing"


def _short(result: Any) -> str:
    told = mapping(result)
    totals = [word(mapping(told.get(side)).get("total"), 8) for side in ("player", "banker")]
    cards = " ".join(
        _text(mapping(told.get(side)).get("cards")).replace(", ", " ") for side in ("player", "banker")
    )
    return f"{word(told.get('outcome'), 20)} {totals[0]} to {totals[1]} ({cards})"


def _text(value: Any) -> str:
    return ", ".join(word(part, 60) for part in value[:500]) if isinstance(value, list) else word(value)
