"""Delivery as it should go: order, duplicates, signatures, forms."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from tablectl.conformance.kit import Check, Failed, Got, Kit, Skipped, adding_to
from tablectl.delivery.form import BATCH_TYPE

CHECKS: list[Check] = []
check = adding_to(CHECKS)


# --- order and duplicates ---------------------------------------------------------------------------------


@check("probe", "a signed empty batch is answered with the sequence wanted")
def _probe(kit: Kit) -> None:
    got = kit.probe()
    if got.status != 200 or type(got.next) is not int or got.next < 1:
        raise Failed("an empty batch []", '200 {"next": N}, N from 1', str(got))


@check("unpinned", "a probe pins no history: of a table that is not known yet every one is answered")
def _unpinned(kit: Kit) -> None:
    if kit.next != 1:
        raise Skipped("needs a table of which the server holds nothing: leave out --table")
    other = kit.post([], single=False, epoch=kit.other_epoch)
    kit.must(other, "the first probe, then one of another epoch", {200}, 1)
    named = kit.post([], single=False, named="check-1")
    kit.must(named, "a probe whose webhook-id names no history", {200}, 1)


@check("single", "one event is taken")
def _single(kit: Kit) -> None:
    kit.takes(kit.events(1), "one event")


@check("batch", "a batch is taken")
def _batch(kit: Kit) -> None:
    kit.takes(kit.events(1), "one event, as a batch", single=False)
    kit.takes(kit.events(3), "a batch of three")


@check("full-batch", "a batch of 100 is taken")
def _full(kit: Kit) -> None:
    kit.takes(kit.events(100), "a batch of 100")


@check("replay", "what was taken before is acknowledged again")
def _replay(kit: Kit) -> None:
    first = kit.events(2)
    kit.takes(first, "two events")
    kit.takes(first[1:], "the last event again, signed anew", wanted=kit.next)
    kit.takes(first, "both again, in one batch", wanted=kit.next)
    kit.takes(first[:1], "the first one alone again", wanted=kit.next)


@check("overlap", "of a batch that begins with known events the new ones are taken")
def _overlap(kit: Kit) -> None:
    known = kit.events(2)
    kit.takes(known, "two events")
    kit.takes([*known, *kit.events(2)], "the same two and two new ones", wanted=kit.next + 2)


def together(kit: Kit, batches: Sequence[Sequence[bytes]]) -> list[Got]:
    """The answers to these, each sent over a connection of its own, all at the same time."""
    hands = [kit.another() for _ in batches]
    with ThreadPoolExecutor(len(hands)) as pool:
        got = list(pool.map(lambda hand, bodies: hand.post(bodies), hands, batches))
    for hand in hands:
        hand.hang_up()
    return got


@check("at-once", "the same batch twice at the same time is taken once")
def _at_once(kit: Kit) -> None:
    got = together(kit, [kit.events(20)] * 4)
    # One that is told to come again later is not wrong; one must have been taken.
    good = [one for one in got if one.status == 200 and one.next == kit.next + 20]
    odd = [one for one in got if one not in good and not (one.status == 429 or one.status >= 500)]
    if odd or not good:
        expected = f'200 {{"next": {kit.next + 20}}}, or 429 or 503'
        raise Failed("a batch of 20, four times at once", expected, "; ".join(map(str, odd or got)))
    kit.must(kit.probe(), "a batch of 20, four times at once, then a probe", {200}, kit.next + 20)


@check("gap", "behind a gap nothing is taken, and the sequence wanted is named")
def _gap(kit: Kit) -> None:
    for bodies, sent in (
        ([kit.event(kit.next + 1)], "an event that comes one too early"),
        ([kit.event(kit.next + 5 + i) for i in range(3)], "a batch that comes five too early"),
    ):
        kit.must(kit.post(bodies), sent, {200, 409}, kit.next)
        kit.must(kit.probe(), f"{sent}, then a probe", {200}, kit.next)


# --- who sends ------------------------------------------------------------------------------------------


Spoil = Callable[[dict[str, str]], dict[str, str]]


def _without(name: str) -> Spoil:
    return lambda headers: {other: value for other, value in headers.items() if other != name}


def _with_more(name: str) -> Spoil:
    """The last digit is another one."""
    return lambda headers: headers | {name: headers[name][:-1] + str((int(headers[name][-1]) + 1) % 10)}


@check("bad-signature", "another secret is refused with 401")
def _bad_signature(kit: Kit) -> None:
    wrong = [hashlib.sha256(key).digest() for key in kit.keys]
    kit.refuses(kit.post(kit.events(1), keys=wrong), "an event signed with another secret", {401})
    kit.must(kit.post([], single=False, keys=wrong), "a probe signed with another secret", {401}, None)


@check("no-signature", "without one of the three headers it is refused")
def _no_signature(kit: Kit) -> None:
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        got = kit.post(kit.events(1), spoil=_without(name))
        kit.refuses(got, f"an event without the header {name}", {400, 401})


@check("changed", "what was changed on its way is refused")
def _changed(kit: Kit) -> None:
    (body,) = kit.events(1)
    kit.refuses(kit.post([body], content=body + b" "), "an event with a blank behind its signed bytes", {401})
    for name in ("webhook-id", "webhook-timestamp"):
        got = kit.post([body], spoil=_with_more(name))
        kit.refuses(got, f"an event whose {name} was changed", {400, 401})


@check("clock", "a timestamp more than five minutes away is refused with 401, a nearer one is not")
def _clock(kit: Kit) -> None:
    for later, what in ((-600, "ten minutes old"), (600, "ten minutes ahead")):
        kit.refuses(kit.post(kit.events(1), later=later), f"an event signed {what}", {401})
    for later, what in ((-240, "four minutes old"), (240, "four minutes ahead")):
        kit.takes(kit.events(1), f"an event signed {what}", later=later)


@check("rotation", "of several signatures one that fits is enough")
def _rotation(kit: Kit) -> None:
    other = hashlib.sha256(b"another").digest()
    kit.takes(kit.events(1), "an event with two signatures, the second one right", keys=(other, *kit.keys))
    kit.takes(kit.events(1), "an event with two signatures, the first one right", keys=(*kit.keys, other))
    junk = "v9,AAAA v1a," + base64.b64encode(other).decode()
    kit.takes(
        kit.events(1),
        "an event with signatures of unknown versions before the right one",
        spoil=lambda h: h | {"webhook-signature": f"{junk} {h['webhook-signature']}"},
    )


# --- what is sent ------------------------------------------------------------------------------------------


@check("unknown", "unknown types and fields are taken and ignored")
def _unknown(kit: Kit) -> None:
    (body,) = kit.events(1)
    event = json.loads(body)
    event["type"] = "tablectl.dealer.sneezed.v1"
    kit.takes([json.dumps(event).encode()], "an event of an unknown type")
    event = json.loads(kit.event(kit.next))
    event["mood"] = event["data"]["mood"] = "good"
    kit.takes([json.dumps(event).encode()], "an event with unknown fields, also in its data")


@check("bad-form", "what is no event is refused, and not with an answer that asks to try again")
def _bad_form(kit: Kit) -> None:
    for content, sent in ((b"", "nothing"), (b"{", "broken JSON"), (b"{}", "an object that is no event")):
        got = kit.post([content], single=True)
        kit.refuses(got, f"{sent}, signed", {400, 422})


@check("content-type", "an unknown content type is refused")
def _content_type(kit: Kit) -> None:
    got = kit.post(kit.events(1), spoil=lambda h: h | {"Content-Type": "text/plain"})
    kit.refuses(got, "an event as text/plain", {400, 415})


@check("oversized", "a request of 16 MiB does no harm")
def _oversized(kit: Kit) -> None:
    sent = "16 MiB of blanks"
    got = kit.exchange("POST", kit.url, b" " * (16 << 20), {"Content-Type": BATCH_TYPE})
    if got.status not in (0, 400, 401, 413) or got.text.startswith("no answer within"):
        raise Failed(sent, "413, or the connection closed", str(got))
    kit.hang_up()
    kit.must(kit.probe(), f"{sent}, then a probe", {200}, kit.next)
