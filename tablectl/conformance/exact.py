"""What no server may take: other content under a known sequence, another history, what fits no sequence.

A fault may come alone or in the midst of good events. In a batch nothing from it on may be taken; what
stands before it may.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from tablectl.clock import iso
from tablectl.conformance.checks import together
from tablectl.conformance.kit import Check, Failed, Kit, adding_to
from tablectl.conformance.rounds import instant, next_round
from tablectl.events import Event, EventParked, HistorySkipped, RoundVoided, event_id

EXACT_CHECKS: list[Check] = []
check = adding_to(EXACT_CHECKS)

BACK = 20, 60, 150, 300
"""How far back a replay goes: some servers remember only the newest. The farthest one is a result."""


# --- what is known ----------------------------------------------------------------------------------------


def _others(kit: Kit, known: bytes) -> Iterator[tuple[bytes, str]]:
    """Events under the sequence of one that was taken, which differ in one thing each."""
    event = json.loads(known)
    for fields, what in (
        ({"type": "tablectl.table.closed.v1"}, "of another type"),
        ({"time": "2020-01-01T00:00:00.000000Z"}, "with another time"),
        ({"data": {**event["data"], "alert": "another"}}, "with other data"),
        ({"data": {**event["data"], "mood": "good"}}, "with one more field in its data"),
    ):
        yield json.dumps(event | fields, separators=(",", ":")).encode(), what
    sequence = int(event["sequence"])
    instead: tuple[tuple[Event, str, str], ...] = (
        (EventParked(parked_type=event["type"], reason="x", approved_by="the kit"), "-p", "event.parked"),
        (HistorySkipped(from_=sequence, to=sequence), "-s", "history.skipped"),
    )
    for made, suffix, what in instead:
        yield kit.event(sequence, made, suffix=suffix), f"now {what}, its id with {suffix}"


@check("other-bytes", "a known sequence with other bytes is refused with 422")
def _other_bytes(kit: Kit) -> None:
    known = kit.events(1)
    kit.takes(known, "one event")
    for other, what in _others(kit, known[0]):
        kit.refuses(kit.post([other]), f"an event again, {what}", {422})
    other = kit.event(kit.next - 1, RoundVoided(shoe=1, round=1, reason="x", cards={}, approved_by="x"))
    kit.refuses(kit.post([other]), "the same sequence with other content", {422})


@check("other-bytes-inside", "other bytes under a known sequence are refused inside a batch too")
def _other_bytes_inside(kit: Kit) -> None:
    known = kit.events(3)
    kit.takes(known, "three events")
    for place, where in enumerate(("first", "second", "last")):
        for other, what in _others(kit, known[place]):
            batch = [*known[:place], other, *known[place + 1 :]]
            sent = f"the three again, the {where} one {what}"
            kit.refuses(kit.post(batch), sent, {422})
            kit.refuses(kit.post([*batch, *kit.events(2)]), f"{sent}, and two new ones", {422})


def _same(known: bytes) -> Iterator[tuple[bytes, str]]:
    """The same JSON value in other bytes."""
    event = json.loads(known)
    turned = dict(reversed(event.items()))
    for value, separators, what in (
        (event, (", ", ": "), "with blanks in it"),
        (turned, (",", ":"), "its fields in another order"),
        (event | {"data": dict(reversed(event["data"].items()))}, (",", ":"), "its data in another order"),
    ):
        yield json.dumps(value, separators=separators).encode(), what
    yield known.replace(b'"1.0"', b'"\\u0031.0"'), "a digit of it written as \\u0031"


@check("same-json", "a known sequence with the same JSON in other bytes is refused with 422")
def _same_json(kit: Kit) -> None:
    known = kit.events(2)
    kit.takes(known, "two events")
    for other, what in _same(known[1]):
        kit.refuses(kit.post([other]), f"an event again, {what}", {422})
        kit.refuses(kit.post([known[0], other]), f"two again in a batch, the second one {what}", {422})


@check("at-once-other", "of four events under one sequence at the same time one is taken")
def _at_once_other(kit: Kit) -> None:
    four = [kit.changed(kit.next, time=iso(instant(n))) for n in range(4)]
    sent = "four events that differ, under one sequence, at once"
    got = together(kit, [[body] for body in four])
    good = [one for one in got if one.status == 200 and one.next == kit.next + 1]
    odd = [one for one in got if one not in good and not (one.status in (422, 429) or one.status >= 500)]
    if odd or len(good) != 1:
        raise Failed(sent, f'one 200 {{"next": {kit.next + 1}}}, else 422', "; ".join(map(str, odd or got)))
    kit.next += 1
    again = [kit.post([body]).status for body in four]
    if again != [200 if one in good else 422 for one in got]:
        raise Failed(f"{sent}, and each again", "200 to the one taken, else 422", str(again))


@check("far-back", "an event that was taken long ago is known as well, and its bytes still compared")
def _far_back(kit: Kit) -> None:
    known = [kit.event(kit.next, next_round(kit).result())]
    kit.takes(known, "a result")
    for _ in range(3):
        bodies = kit.events(100)
        kit.takes(bodies, "a batch of 100")
        known += bodies
    for back in BACK:
        sent = f"the event {back} before the newest"
        place = len(known) - 1 - back
        one, behind = known[place], known[place + 1]
        kit.takes([one], f"{sent}, again", wanted=kit.next)
        kit.takes([one, behind], f"{sent} and the one behind it, again", wanted=kit.next)
        for other, what in _others(kit, one):
            kit.refuses(kit.post([other]), f"{sent}, {what}", {422})
            kit.refuses(kit.post([other, behind]), f"{sent}, {what}, and the one behind it", {422})
    kit.takes(known[:100], "a batch of the 100 from the farthest on, again", wanted=kit.next)


# --- what is out of order -----------------------------------------------------------------------------------


@check("order", "a batch out of order, with a gap or with an event twice is not taken beyond that place")
def _order(kit: Kit) -> None:
    def batch(*offsets: int) -> list[bytes]:
        return [kit.event(kit.next + offset) for offset in offsets]

    kit.takes(kit.events(1), "one event")
    kit.stops(batch(1, 0), "a batch in reverse order", good=1, told=(0, 1))
    kit.stops(batch(0, 2, 1), "a batch with two events in each other's place", good=1, told=(1,))
    kit.stops(batch(0, 2), "a batch with a gap in it", good=1, told=(1,))
    (one,) = batch(0)
    kit.stops([one, one], "a batch with the same event twice", good=1, told=(1,))
    other = kit.changed(kit.next, type="tablectl.table.closed.v1")
    kit.stops([*batch(0), other], "a batch with one sequence twice, with other content", good=1)


# --- what belongs to somebody else --------------------------------------------------------------------------


@check("other-epoch", "another history of the table is refused with 403 until a person accepts it")
def _other_epoch(kit: Kit) -> None:
    kit.takes(kit.events(1), "one event")
    other = kit.other_epoch
    for sequence, sent in ((1, "the first event"), (kit.next, "the event wanted next")):
        for again in ("", ", again"):
            got = kit.post([kit.event(sequence, epoch=other)], epoch=other)
            kit.refuses(got, f"{sent} of another epoch{again}", {403})
    both = [kit.event(kit.next), kit.event(kit.next + 1, epoch=other)]
    kit.stops(both, "a batch with two epochs in it", good=1, told=(1,), statuses=(400, 403, 422))


@check("other-probe", "a probe whose webhook-id names another history, or another table, is refused")
def _other_probe(kit: Kit) -> None:
    kit.takes(kit.events(1), "one event")
    other = kit.other_epoch
    got = kit.post([], single=False, epoch=other)
    kit.refuses(got, f"a probe of another epoch (webhook-id {kit.table}-{other}-probe)", {403})
    got = kit.post([], single=False, named=f"OTHER-{kit.epoch}-probe")
    kit.refuses(got, "a probe of the table OTHER", {400, 403, 404, 422})


@check("other-table", "an event of another table is not taken at this table's address")
def _other_table(kit: Kit) -> None:
    refusals = {400, 403, 404, 422}
    kit.refuses(kit.post([kit.event(kit.next, table="OTHER")]), "an event of the table OTHER", refusals)
    both = [kit.event(kit.next), kit.event(kit.next + 1, table="OTHER")]
    sent = "a batch with an event of the table OTHER behind a good one"
    kit.stops(both, sent, good=1, told=(1,), statuses=sorted(refusals))


# --- what contradicts itself --------------------------------------------------------------------------------


def _refused_anywhere(kit: Kit, what: str, statuses: tuple[int, ...], **fields: object) -> None:
    """Alone, and behind a good event. ``fields`` that are functions take the event's sequence."""

    def made(sequence: int) -> bytes:
        values = {name: value(sequence) if callable(value) else value for name, value in fields.items()}
        return kit.changed(sequence, **values)

    kit.refuses(kit.post([made(kit.next)]), f"an event {what}", set(statuses))
    both = [kit.event(kit.next), made(kit.next + 1)]
    kit.stops(both, f"a batch with an event {what} behind a good one", good=1, told=(1,), statuses=statuses)


@check("id", "an event whose id does not fit its sequence, epoch and table is refused")
def _id(kit: Kit) -> None:
    kit.takes(kit.events(1), "one event")
    other, refusals = kit.other_epoch, (400, 403, 422)
    for fields, what in (
        ({"id": lambda n: event_id(kit.table, kit.epoch, n - 1)}, "with the id of the one before it"),
        ({"id": lambda n: event_id(kit.table, kit.epoch, n + 1)}, "with the id of the one behind it"),
        ({"id": lambda n: event_id(kit.table, other, n)}, "with an id of another epoch"),
        ({"id": lambda n: event_id("OTHER", kit.epoch, n)}, "with an id of another table"),
        ({"epoch": other}, "with another epoch than its id"),
        ({"source": "/tables/OTHER"}, "with another source than its id"),
        ({"id": "x"}, "whose id is x"),
        ({"id": None}, "without an id"),
    ):
        _refused_anywhere(kit, what, refusals, **fields)


@check("form", "an event whose envelope is of another form is refused")
def _form(kit: Kit) -> None:
    for fields, what in (
        ({"sequence": lambda n: n}, "whose sequence is a JSON number"),
        ({"sequence": lambda n: f"{n:011d}"}, "whose sequence has 11 digits"),
        ({"sequence": lambda n: f"{n:013d}"}, "whose sequence has 13 digits"),
        ({"sequence": lambda n: f"{n:+012d}"}, "whose sequence has a sign"),
        ({"sequence": None}, "without a sequence"),
        ({"epoch": None}, "without an epoch"),
        ({"type": None}, "without a type"),
        ({"data": None}, "without data"),
        ({"data": "x"}, "whose data is a text"),
        ({"specversion": "0.3"}, "of specversion 0.3"),
    ):
        _refused_anywhere(kit, what, (400, 422), **fields)
    for digits, what in (
        ("0" * 12, "with the sequence 0"),
        (f"{kit.next:013d}", "with 13 digits in its id too"),
    ):
        body = kit.changed(kit.next, sequence=digits, id=f"{kit.table}-{kit.epoch}-{digits}")
        kit.refuses(kit.post([body]), f"an event {what}", {400, 422})


@check("webhook-id", "what a request holds is told by its body, whatever its webhook-id says")
def _webhook_id(kit: Kit) -> None:
    kit.takes(kit.events(2), "two events")
    ids = [event_id(kit.table, kit.epoch, kit.next + offset) for offset in range(-2, 4)]
    for count, named, what in (
        (1, ids[1], "one event, signed under the id of the one before it"),
        (1, ids[3], "one event, signed under the id of the one behind it"),
        (3, f"{ids[0]}_{ids[1]}", "a batch of three, signed under the ids of the two before it"),
        (3, f"{ids[2]}_{ids[3]}", "a batch of three, signed under the ids of its first two"),
        (3, ids[2], "a batch of three, signed under the id of its first event"),
        (2, f"{kit.table}-{kit.epoch}-probe", "a batch of two, signed under the name of a probe"),
    ):
        got = kit.post(kit.events(count), single=count == 1, named=named)
        wanted = kit.next + (count if got.status == 200 else 0)
        if got.status not in (200, 400, 401, 403, 422) or (got.status == 200 and got.next != wanted):
            raise Failed(what, f'400, or taken: 200 {{"next": {kit.next + count}}}', str(got))
        kit.must(kit.probe(), f"{what}, then a probe", {200}, wanted)
        kit.next = wanted
