"""What a table tells besides results: every type of event, at any hour, and as much at once as there may be.

A server that does not know what to do with one of them stops the table, though most of them settle no bets.
"""

from __future__ import annotations

from typing import Any

from tablectl.conformance.kit import Check, Kit, adding_to
from tablectl.conformance.rounds import (
    BANKER,
    OTHER_SUIT,
    PLAYER,
    RULES,
    TIE,
    WHO,
    next_round,
    shoe_started,
    tell,
    tell_at_once,
)
from tablectl.delivery.stock import BATCH_BYTES
from tablectl.events import (
    AlertAcknowledged,
    AlertRaised,
    BettingClosing,
    CardBurned,
    CutCardDrawn,
    CutCardWithdrawn,
    DealerChanged,
    Event,
    HandCorrected,
    HandTurned,
    InspectionRecorded,
    LastHandAnnounced,
    ScannerLost,
    ScannerRestored,
    ShoeEnded,
    TableClosed,
    TableHeld,
    TableOpened,
    TableReleased,
)

STORY_CHECKS: list[Check] = []
check = adding_to(STORY_CHECKS)

HOUR = 3600.0


def two_shoes(kit: Kit) -> list[Event]:
    """A table opens and plays a shoe with all that may happen in it; then it goes on with an adopted one."""
    opened = TableOpened(rules=RULES.name, currency="EUR", limits={}, max_winnings={})
    set_of_cards = InspectionRecorded(
        method="by-hand", attested_by=(WHO, "Bo"), missing=("8S",), foreign=("joker",), replaced=("8S",)
    )
    kit.shoe, kit.round = kit.shoe + 1, 0
    shoe = kit.shoe
    told: list[Event] = [
        opened, DealerChanged(dealer=WHO, pickup="left"), set_of_cards, shoe_started(shoe),
        CardBurned(shoe=shoe, reason="after the shuffle", left=1, shoe_left=415),
        CardBurned(shoe=shoe, reason="after the shuffle", left=0, shoe_left=414),
    ]  # fmt: skip

    one = next_round(kit)
    told += [
        one.opened(), BettingClosing(shoe=shoe, round=one.number, seconds=5), one.closed("timer"),
        *one.dealt(), one.result(), CutCardDrawn(shoe=shoe, by="scanner", out=6),
        CutCardWithdrawn(shoe=shoe, approved_by=WHO), one.amended(one.result(), PLAYER),
    ]  # fmt: skip

    one = next_round(kit)
    here: dict[str, Any] = {"shoe": shoe, "round": one.number}
    dealt = dict(zip(("P1", "B1", "P2", "B2"), BANKER.split(), strict=True))
    told += [
        one.opened(), ScannerLost(reason="unplugged", **here),
        TableHeld(codes=("scanner-lost",), message="Der Scanner ist weg: prüfen", **here),
        one.closed("suspended"), AlertRaised(alert="scanner", message="“the cable” — 牌靴", **here),
        ScannerRestored(**here), AlertAcknowledged(alert="scanner", acknowledged_by=WHO, **here),
        TableReleased(action="resume", reason="x", approved_by=WHO, **here), *one.face_down(),
        HandCorrected(
            before=dict.fromkeys(dealt, "?"), after=dict.fromkeys(dealt, "?"), reason="x", approved_by=WHO,
            **here,
        ),
        HandTurned(player=("AS", "2H"), banker=("4S", "5S"), next="none", **here),
        HandCorrected(
            before=dealt, after=dealt | {"B2": "5D"}, reason="x", approved_by=WHO, next="none", **here
        ),
        one.result(OTHER_SUIT), CutCardDrawn(shoe=shoe, by="dealer", out=10),
        LastHandAnnounced(shoe=shoe, round=one.number + 1),
    ]  # fmt: skip

    one = next_round(kit)
    told += [
        one.opened(), one.closed(), *one.dealt(), one.result(), one.voided(dealt), DealerChanged(),
        ShoeEnded(shoe=shoe, reason="last hand dealt", rounds=3, dealt=12, burned=("5S", "?"), left=402),
        TableClosed(),
    ]  # fmt: skip
    kit.shoe, kit.round = shoe + 2, 34  # a number that was taken back is not used again
    adopted = shoe_started(kit.shoe, rounds_before=kit.round)
    return [*told, opened, DealerChanged(dealer="Bo", pickup="right"), adopted, next_round(kit).result(TIE)]


@check("every-type", "every type of event is taken, in a table's order, also where fields are absent")
def _every_type(kit: Kit) -> None:
    for event in two_shoes(kit):
        tell(kit, (event, f"{event.TYPE}, event {kit.next} of its history"))


@check("times", "an event is taken whatever its time says")
def _times(kit: Kit) -> None:
    for at, what in (
        ("2020-02-29T23:59:59.999999Z", "years ago: the table catches up"),
        ("2099-01-01T00:00:00.000000Z", "in the future: the table's clock was wrong"),
        ("2020-03-01T00:00:00.000000Z", "before the event in front of it: the clock was set"),
    ):
        kit.takes([kit.changed(kit.next, time=at)], f"an event with a time {what}")


@check("late-opening", "a betting.opened that comes after its closes_at is taken: the table catches up")
def _late_opening(kit: Kit) -> None:
    one, two = next_round(kit), next_round(kit)
    tell(
        kit,
        (one.opened(closes_in=-HOUR), "betting.opened, its closes_at an hour ago"),
        (one.closed("timer", ago=HOUR), "betting.closed, an hour ago"),
        (one.result(), "the result of that round"),
    )
    late = [two.opened(closes_in=-HOUR), two.closed("timer", ago=HOUR), *two.dealt(), two.result()]
    tell_at_once(kit, [*late], "a round of an hour ago in one batch")


@check("large-batch", f"a batch of 100 events with {BATCH_BYTES >> 10} KiB in all is taken")
def _large_batch(kit: Kit) -> None:
    bare = len(kit.event(kit.next, AlertRaised(alert="conformance", message="")))
    said = AlertRaised(alert="conformance", message="x" * (BATCH_BYTES // 100 - 1 - bare))
    tell_at_once(kit, [said] * 100, f"a batch of 100 events, {BATCH_BYTES >> 10} KiB")
