"""Whatever may become of a round: in every order that is lawful at a table, and what a halt makes of it.

A server that refuses one of these halts a real table, most of them in the middle of a mistake that a pit boss
is just setting right.
"""

from __future__ import annotations

from dataclasses import replace

from tablectl.conformance.kit import Check, Kit, adding_to
from tablectl.conformance.rounds import (
    BANKER,
    OTHER_SUIT,
    PLAYER,
    TIE,
    Round,
    body_of,
    next_round,
    shoe_started,
    tell,
    tell_at_once,
)
from tablectl.events import (
    BettingOpened,
    CardDealt,
    DealerChanged,
    HistorySkipped,
    RoundAmended,
    RoundResulted,
    RoundVoided,
    ShoeEnded,
)
from tablectl.house import Payouts

SETTLING_CHECKS: list[Check] = []
check = adding_to(SETTLING_CHECKS)

LAID = {"P1": "AS", "B1": "4S"}


# --- a result, and what comes of it -----------------------------------------------------------------------


@check("results", "a result, its amendment and its void are taken")
def _results(kit: Kit) -> None:
    one = next_round(kit)
    first = one.result()
    for event, sent in (
        (first, "a result"),
        (one.amended(first, OTHER_SUIT), "its amendment"),
        (one.voided(LAID), "its void"),
    ):
        body = body_of(kit, event)
        kit.takes([body], sent)
        kit.takes([body], f"{sent}, again", wanted=kit.next)


@check("endings", "a result is taken whatever it is, and however the house lets bets end")
def _endings(kit: Kit) -> None:
    for cards, what in ((PLAYER, "Player wins"), (TIE, "a tie with both pairs, main bets returned")):
        tell(kit, (next_round(kit).result(cards), f"a result: {what}"))
    stands = next_round(kit).result(TIE, payouts=Payouts(on_tie="stands"))
    tell(kit, (stands, "a result: a tie, main bets stand"))
    few = next_round(kit).result(payouts=Payouts(side_bets=()))
    tell(kit, (few, "a result of a house without side bets"))
    one = next_round(kit)
    free = one.result(free=True)
    tell(kit, (free, "a result of a free hand: bets {}"), (one.amended(free, PLAYER), "its amendment"))


@check("void-first", "a round is void before it has a result")
def _void_first(kit: Kit) -> None:
    one = next_round(kit)
    tell(
        kit,
        (one.opened(), "betting.opened"),
        (one.closed("void"), "betting.closed, void"),
        (one.voided(), "the void of a round whose betting was open"),
    )
    one = next_round(kit)
    tell_at_once(kit, [one.opened(), one.closed(), *one.dealt()[:2]], "a round up to its second card")
    tell(kit, (one.voided(LAID), "the void of a round in mid-hand"))
    one = next_round(kit)
    tell_at_once(kit, [one.opened(), one.closed(), *one.face_down()], "a round whose cards lie face down")
    unseen = dict.fromkeys(("P1", "B1", "P2", "B2"), "?")
    tell(kit, (one.voided(unseen), 'the void of a round whose cards were never turned, told as "?"'))


@check("amended-twice", "a result is amended again and again, to another winner too")
def _amended_twice(kit: Kit) -> None:
    one = next_round(kit)
    first = one.result()
    second = one.result(OTHER_SUIT, revision=2)
    third = one.result(PLAYER, revision=3)
    tell(
        kit,
        (first, "a result"),
        (one.amended(first, OTHER_SUIT), "its amendment, revision 2"),
        (one.amended(second, PLAYER), "another one, revision 3, to another winner"),
        (one.amended(third, TIE), "another one, revision 4, to a tie"),
        (one.voided(LAID), "the void of the round"),
    )


@check("earlier", "an earlier round is amended and void while a later one, or another shoe, is in play")
def _earlier(kit: Kit) -> None:
    first, second, now = next_round(kit), next_round(kit), next_round(kit)
    for one in (first, second):
        tell_at_once(kit, [one.opened(), one.closed(), *one.dealt(), one.result()], "a whole round")
    tell(
        kit,
        (now.opened(), "betting.opened of a later round"),
        (first.amended(first.result(), PLAYER), "an amendment of an earlier round while betting is open"),
        (now.closed(), "betting.closed"),
        (now.dealt()[0], "the later round's first card"),
        (second.voided(LAID), "the void of an earlier round in mid-hand"),
        (now.result(), "the later round's result"),
        (first.voided(LAID), "the void of an earlier round that was amended"),
    )
    kit.shoe, kit.round = kit.shoe + 1, 0
    ended = ShoeEnded(shoe=now.shoe, reason="cut card", rounds=now.number, dealt=12, burned=("5S",), left=403)
    tell(
        kit,
        (ended, "shoe.ended"),
        (now.amended(now.result(), PLAYER), "an amendment of a round of the shoe that has ended"),
        (shoe_started(kit.shoe), "shoe.started"),
        (next_round(kit).opened(), "betting.opened in the next shoe"),
        (now.voided(LAID), "the void of a round of the shoe before"),
        (Round(kit.shoe, kit.round).closed(), "betting.closed in the next shoe"),
    )


@check("one-batch", "betting, cards, result, amendment and void of a round are taken in one batch")
def _one_batch(kit: Kit) -> None:
    one = next_round(kit)
    first = one.result()
    amended, void = one.amended(first, PLAYER), one.voided(LAID)
    sent = "a round from betting.opened to its result, its amendment and its void, in one batch"
    bodies = tell_at_once(kit, [one.opened(), one.closed(), *one.dealt(), first, amended, void], sent)
    kit.takes(bodies, f"{sent}, again", wanted=kit.next)


# --- parked -----------------------------------------------------------------------------------------------


@check("parked", "event.parked is taken under the sequence of the event it stands for")
def _parked(kit: Kit) -> None:
    one = next_round(kit)
    body = body_of(kit, one.parked(RoundResulted))
    kit.takes([body], "event.parked (id with -p)")
    kit.takes([body], "event.parked again", wanted=kit.next)
    tell(kit, (one.voided(), "the void of the round whose result was parked"))


@check("parked-batch", "event.parked is taken at the ends and in the midst of a batch")
def _parked_batch(kit: Kit) -> None:
    one, two, three = next_round(kit), next_round(kit), next_round(kit)
    events = [
        one.parked(RoundResulted), two.opened(), two.closed(), two.parked(RoundResulted), three.opened(),
        three.closed(), three.parked(RoundResulted),
    ]  # fmt: skip
    sent = "a batch that begins and ends with event.parked and has one in the midst"
    bodies = tell_at_once(kit, events, sent)
    kit.takes(bodies, f"{sent}, again", wanted=kit.next)


@check("parked-amended", "a round of which a result or an amendment was parked is amended")
def _parked_amended(kit: Kit) -> None:
    one = next_round(kit)
    tell(
        kit,
        (one.parked(RoundResulted), "event.parked in place of a result"),
        (one.amended(one.result(), PLAYER), "the amendment of the round: its before never came"),
        (one.amended(one.result(PLAYER, revision=2), TIE), "another one, of what the first one said"),
    )
    one = next_round(kit)
    tell(
        kit,
        (one.result(), "a result"),
        (one.parked(RoundAmended), "event.parked in place of its amendment, revision 2"),
        (one.parked(RoundAmended), "event.parked in place of the next one, revision 3"),
        (one.amended(one.result(PLAYER, revision=3), TIE), "an amendment, revision 4: its before never came"),
        (one.voided(LAID), "the void of the round"),
    )


@check("parked-void", "a round whose void was parked is void by a second one")
def _parked_void(kit: Kit) -> None:
    one = next_round(kit)
    tell(
        kit,
        (one.result(), "a result"),
        (one.parked(RoundVoided), "event.parked in place of its void"),
        (one.voided(LAID), "the void of the round, told once more"),
    )
    one = next_round(kit)
    tell(
        kit,
        (one.opened(), "betting.opened"),
        (one.closed("void"), "betting.closed, void"),
        (one.parked(RoundVoided), "event.parked in place of the void of a round without a result"),
        (one.voided(), "the void of the round, told once more"),
    )


@check("parked-other", "what is parked and settles nothing leaves its round as it is")
def _parked_other(kit: Kit) -> None:
    one = next_round(kit)
    first = one.result()
    tell(
        kit,
        (one.parked(BettingOpened), "event.parked in place of a betting.opened"),
        (one.closed(), "betting.closed of that round"),
        (one.parked(CardDealt), "event.parked in place of a card.dealt"),
        (first, "the result of that round"),
        (replace(one.parked(DealerChanged), shoe=None, round=None), "event.parked, of no round"),
        (one.amended(first, PLAYER), "the amendment of that round"),
    )


# --- skipped ----------------------------------------------------------------------------------------------


def _skip(kit: Kit, count: int) -> None:
    first, last = kit.next, kit.next + count - 1
    body = kit.event(first, HistorySkipped(from_=first, to=last), suffix="-s")
    kit.takes([body], f"history.skipped from {first} to {last}", wanted=last + 1)
    kit.takes([body], "history.skipped again", wanted=last + 1)


@check("skipped", "behind history.skipped the event after its last one is wanted")
def _skipped(kit: Kit) -> None:
    _skip(kit, 10)
    kit.takes(kit.events(1), "the event behind it")
    _skip(kit, 1)
    kit.takes(kit.events(2), "a batch behind it")


@check("skipped-rounds", "behind history.skipped a round whose beginning or result never came is settled")
def _skipped_rounds(kit: Kit) -> None:
    held, older = next_round(kit), next_round(kit)
    tell(kit, (held.result(), "a result"), (older.result(), "another one"))
    _skip(kit, 5)
    never, void, again, now = (next_round(kit) for _ in range(4))
    tell(
        kit,
        (now.dealt()[-1], "the last card of a round whose beginning was skipped"),
        (now.result(BANKER), "its result"),
        (never.amended(never.result(), PLAYER), "the amendment of a round whose result was skipped"),
        (void.voided(LAID), "the void of a round whose result was skipped"),
        (
            again.amended(again.result(PLAYER, revision=3), TIE),
            "an amendment, revision 4, of a round of which all was skipped",
        ),
        (again.voided(LAID), "the void of that round"),
        (held.amended(held.result(), PLAYER), "the amendment of a round that came before the skip"),
        (
            older.amended(older.result(TIE, revision=3), PLAYER),
            "an amendment, revision 4, of a round whose revision 3 was skipped",
        ),
    )
