"""What people, shoe and clock do to a watched table, as steps.

A step is three small numbers: what is done, and two choices in it that are read against the state the
table is in. So any list of steps means something, any part of it can be left out, and the whole is one
line of text. Steps lean to what a dealer or a pit boss would do next, else hardly any play would get past
its first hold.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from tablectl.cards import DECK, Card, Outcome
from tablectl.scanner import (
    Arrived,
    DeviceEvent,
    DeviceKind,
    Discarded,
    ErrorKind,
    Item,
    Label,
    Reject,
    Scan,
    ScannerLost,
    ScannerRestored,
)
from tablectl.table import Command, Expect, JournalFilled, Kind, Phase, Started, Tick, Trouble, offered
from tablectl.table.holds import RELEASES
from tablectl.table.inputs import COMMANDS, LOOKING_BACK, Input
from tests.table.model import Watched
from tests.table.oracle_rule import due, lay
from tests.table.playing import REASON

Step = tuple[int, int, int]
"""What is done (an index into :data:`OPS`), and two choices in it."""


def do_next(play: Watched, a: int = 0, b: int = 1) -> None:
    """What people at a table do next."""
    state = play.state
    if state.held:
        do_way(play, a, b)
        return
    if not state.scanner_up:
        play.restore()
    elif state.dealer is None and state.phase in (Phase.NO_SHOE, Phase.IDLE, Phase.SHUFFLE_DUE):
        play.command(Kind.SIGN_IN, name="Dora", pickup="left")
    elif b % 6 or not _next_wrong(play, b):
        _NEXT[state.phase](play)


def _next_wrong(play: Watched, b: int) -> bool:
    """What people do by mistake instead, if there is something."""
    state = play.state
    if state.phase is Phase.COMPLETE and state.the_round.turned:
        play.command(Kind.CONFIRM, outcome=list(Outcome)[b // 6 % 3].value)
    elif state.phase is Phase.BURNING and not state.the_rules.burn.scanned:
        play.command(Kind.BURN_DONE, count=str(state.burns_due + 1))
    elif state.phase is Phase.BURNING and state.burn_first_card:
        play.unread_card = play.draw()
        play.scan(None)
        if play.state.unread:
            play.command(Kind.HOLD)
    elif state.before_shoe is not None and not play.oracle.out:
        play.command(Kind.SHOE_UNDO)
    else:
        return False
    return True


def _next_shoe(play: Watched) -> None:
    state = play.state
    if state.counting is not None:
        play.command(Kind.INSPECT, method="scan-cancel")
    elif not state.inspected and (state.count_due or not state.shoe_since_open):
        play.command(Kind.INSPECT, method="by-hand")
    else:
        play.command(Kind.SHOE_NEW)


def _next_burn(play: Watched) -> None:
    if play.state.the_rules.burn.scanned:
        play.scan_true(Label.BURN if play.around.traits.names_positions else Label.NONE)
    else:
        play.command(Kind.BURN_DONE, count=str(play.state.burns_due))


def _next_card(play: Watched) -> None:
    r = play.state.the_round
    due = r.due
    if r.to_be_turned:
        play.command(Kind.TURN)
    elif due is not None:
        play.scan_true(Label(due.value) if play.around.traits.names_positions else Label.NONE)


def _next_result(play: Watched) -> None:
    if not play.state.the_round.turned:
        play.command(Kind.TURN)
    else:
        play.command(Kind.CONFIRM)


_NEXT: dict[Phase, Callable[[Watched], object]] = {
    Phase.CLOSED: lambda play: play.command(Kind.OPEN),
    Phase.NO_SHOE: _next_shoe,
    Phase.BURNING: _next_burn,
    Phase.IDLE: lambda play: play.command(Kind.BETS_OPEN),
    Phase.BETTING: lambda play: play.wait(20),
    Phase.NO_MORE_BETS: _next_card,
    Phase.DEALING: _next_card,
    Phase.COMPLETE: _next_result,
    Phase.SHUFFLE_DUE: _next_shoe,
}


def do_round(play: Watched, a: int, b: int) -> None:
    """On to the end of the round, or to within a few inputs of it, unless something holds the table."""
    for i in range(4 + a % 12):
        if play.state.held:
            return
        do_next(play, a, b if i else 1)


def do_shoe(play: Watched, a: int, b: int) -> None:
    """Near the end of a one-deck shoe."""
    for _ in range(12 * (1 + a % 6)):
        shoe = play.state.shoe
        if play.state.held or (shoe is not None and shoe.left < 8):
            return
        do_next(play)


def do_way(play: Watched, a: int, b: int) -> None:
    """One of the ways out that are offered, with something fitting behind it."""
    ways = [way for way in offered(play.state) if way not in ("shoe end", "void") or b < 40]
    if not ways:
        do_next(play) if not play.state.held else do_hard_way(play, a)
        return
    way = ways[a % len(ways)]
    if way in RELEASES:
        play.command(Kind.RELEASE, action=way)
        return
    kind, args = play.typed(way)
    play.command(kind, **args)


def do_hard_way(play: Watched, a: int) -> None:
    way = offered(play.state)[a % len(offered(play.state))]
    kind, args = play.typed(way)
    play.command(kind, **args)


def do_truth(play: Watched, a: int, b: int) -> None:
    """People look at the cards and set right what is wrong with the hand; first the table is held."""
    state = play.state
    if state.shoe is None:
        do_next(play)
        return
    if not state.held:
        play.command(Kind.HOLD, because=("called", "card-missed", "card-twice", "two-cards")[a % 4])
        return
    wrong = play.oracle.wrong()
    r = state.round
    if wrong is not None:
        play.command(Kind.CORRECT, position=wrong[0], card=wrong[1])
    elif play.missed and r is not None:
        spots = [*(position.value for position in r.cards), *([r.due.value] if r.due else [])]
        if spots:
            play.true = play.missed[0]
            done = play.command(Kind.INSERT, position=spots[a % len(spots)], card=play.missed[0])
            if not done.refused:
                play.missed.pop(0)
    elif state.rescan is not None and r is not None:
        again = [*r.dealt, *(kept.card or Card.parse("8S") for kept in state.loose)]
        for card in again[: len(again) - (b % 8 == 0)]:
            play.scan(str(card))
        if play.command(Kind.RELEASE, action="rescanned").refused:
            play.command(Kind.RELEASE, action="fewer")
    else:
        do_way(play, a, b)


def do_card(play: Watched, a: int, b: int) -> None:
    play.scan_true()


def do_misread(play: Watched, a: int, b: int) -> None:
    """The scanner reads another face: any, or the one that is out most often."""
    shoe = play.state.shoe
    face = DECK[b % 52]
    if a % 2 and shoe is not None:
        face = DECK[max(range(52), key=lambda n: shoe.counts[n])]
    play.true = play.draw()
    play.scan(str(face))


def do_twice(play: Watched, a: int, b: int) -> None:
    """One card read twice, or the same face again."""
    shoe = play.state.shoe
    last = shoe.drawn[-1] if shoe and shoe.drawn else None
    play.scan(str(last) if last else "8S")


def do_bounce(play: Watched, a: int, b: int) -> None:
    """The scanner takes two reads for one; sometimes they were two equal cards, and sometimes nobody asks."""
    shoe = play.state.shoe
    last = shoe.drawn[-1] if shoe and shoe.drawn else DECK[b % 52]
    if b % 3:
        play.device(DeviceKind.BOUNCE, card=last, unsure=b % 3 == 2)
    if a % 3:
        if b % 5 == 0:
            do_card(play, a, b)
        if play.state.bounced is not None:
            play.true = str(play.state.bounced)
        play.command(Kind.SAME_AGAIN)


def do_missed(play: Watched, a: int, b: int) -> None:
    """A card is drawn past the scanner, then perhaps the next one with it."""
    play.missed.append(play.draw())
    if a % 2:
        play.scan_true()


def do_late(play: Watched, a: int, b: int) -> None:
    """A card that is looked at later than it came; betting may have been closed between."""
    if play.state.phase is Phase.BETTING and a % 2:
        play.pass_time(19.5 + b % 20 / 10)
    play.scan_true(ago=(b % 40) / 10)


def do_labelled(play: Watched, a: int, b: int) -> None:
    r = play.state.round
    due = r.due if r else None
    labels = list(Label)
    label = labels[b % len(labels)] if a % 3 == 0 or due is None else Label(due.value)
    play.scan_true(label)


def do_unread(play: Watched, a: int, b: int) -> None:
    play.unread_card = play.draw()
    play.scan(None)


def do_device(play: Watched, a: int, b: int) -> None:
    kinds = (DeviceKind.CUT_CARD, DeviceKind.VERDICT, DeviceKind.ERROR, *DeviceKind)
    kind = kinds[a % len(kinds)]
    r = play.state.round
    outcome = list(Outcome)[b % 3]
    if r is not None and b % 2 and r.due is None:
        player, banker = sum(c.points for c in r.player) % 10, sum(c.points for c in r.banker) % 10
        outcome = Outcome.TIE if player == banker else Outcome.PLAYER if player > banker else Outcome.BANKER
    pairs = [
        bool(h) and len(h) > 1 and h[0].rank == h[1].rank for h in ((r.player, r.banker) if r else ((), ()))
    ]
    play.device(
        kind,
        outcome=outcome if kind is DeviceKind.VERDICT else None,
        player_pair=pairs[0],
        banker_pair=pairs[1],
        number=b % 11,
        text="said the shoe",
        error=list(ErrorKind)[b % len(ErrorKind)],
    )


def do_edge(play: Watched, a: int, b: int) -> None:
    at = play.now()
    items: tuple[Item, ...] = (
        Scan(DECK[b % 52], Label.NONE, b""),
        DeviceEvent(DeviceKind.CUT_CARD, b""),
        Reject(b"?", "noise"),
    )
    full: Iterator[Input] = iter(
        (
            ScannerLost("unplugged", at),
            Started(at, "1"),
            JournalFilled(at, full=True),
            JournalFilled(at, full=False),
            Trouble(at, "clock", "The clock was set."),
            Arrived(Reject(b"?", "noise", lost=b % 2 == 1), at),
            Discarded(items[b % 3], at),
            ScannerRestored("shoe-1", at, "here"),
            ScannerRestored(f"shoe-{b % 3}", at, "there"),
            JournalFilled(at, full=False),
        )
    )
    play.give(list(full)[a % 10])


def do_wait(play: Watched, a: int, b: int) -> None:
    if a % 4 == 3:
        # Nobody told the table for a while.
        play.pass_time((0.3, 17, 25)[b % 3])
        play.give(Tick(play.now()))
        return
    play.wait((0.05, 0.9, 4.3, 15.5, 20, 31, 3600)[b % 7])


def do_people(play: Watched, a: int, b: int) -> None:
    names = ("Dora", "Emil")
    match a % 6:
        case 0 | 1:
            play.command(Kind.SIGN_IN, name=names[b % 2], pickup="left" if b % 7 else "right")
        case 2:
            play.command(Kind.SIGN_OUT)
        case 3:
            alerts = play.alerts
            play.command(Kind.ACK, alert=alerts[b % len(alerts)] if alerts else "none")
        case 4:
            play.command(Kind.CLOSE)
        case _:
            why = None if b % 2 else "owed something"
            play.around = dataclasses.replace(play.around, link_why=why)


def do_boss(play: Watched, a: int, b: int) -> None:
    """What a pit boss may do outside of holds, with fitting arguments."""
    state = play.state
    settled = play.oracle.settled
    where = ["/".join(map(str, key)) for key in settled]
    chosen = where[b % len(where)] if where else "1/1"
    cases: tuple[tuple[Kind, dict[str, str]], ...] = (
        (Kind.BURN, {"count": str(1 + b % 3)}),
        (Kind.BURN_ERROR, {}),
        (Kind.HAND_FREE, {}),
        (Kind.HAND_FREE, {}),
        (Kind.VOID, {} if b % 2 else {"round": chosen}),
        (Kind.AMEND, {"round": chosen, **_amendment(settled, chosen, b)}),
        (Kind.AMEND, {"round": chosen, **_amendment(settled, chosen, b)}),
        (Kind.SHOE_END, {}),
        (Kind.SHOE_NEW, {}),
        (Kind.SHOE_UNDO, {}),
        (Kind.CUT_CARD, {}),
        (Kind.CUT_UNDO, {}),
        (Kind.DEVICE_SWAP, {}),
        (
            Kind.SHOE_ADOPT,
            {
                "number": str(state.shoes + 1 + b % 2),
                "out": str(10 + b % 40),
                "rounds": str(b % 4),
                "last_hand": "yes" if b % 5 == 0 else "",
            },
        ),
        (Kind.INSPECT, {"method": ("by-hand", "scan", "scan-done", "scan-cancel")[b % 4]}),
        (Kind.INSPECT, {"method": "by-hand", "missing": "8S", "replaced": "8S" if b % 2 else ""}),
        (Kind.RESCAN, {"what": ("hand", "last", "P1", "B1")[b % 4]}),
        (Kind.HOLD, {"because": ("called", "card-missed", "card-twice", "two-cards")[b % 4]}),
        (Kind.BETS_CLOSE, {}),
        (Kind.CONFIRM, {"outcome": list(Outcome)[b % 3].value}),
    )
    kind, args = cases[a % len(cases)]
    if kind is Kind.SHOE_END and b % 3:
        return
    play.command(kind, **args)


def _amendment(settled: dict[tuple[int, int], Any], chosen: str, b: int) -> dict[str, str]:
    """Other cards at a place or two of a settled round, lawful or not."""
    shoe, number = map(int, chosen.split("/"))
    old = settled.get((shoe, number))
    places = list(old.cards) if old else []
    if not places:
        return {"P1": str(DECK[b % 52])}
    place = places[b % len(places)]
    face = old.cards[place]  # type: ignore[union-attr]
    if b % 3:
        return {place: face[0] + ("C" if face[1] != "C" else "D")}
    return {place: str(DECK[b % 52])} if b % 2 else {places[-1]: "none"}


def do_aside(play: Watched, a: int, b: int) -> None:
    """A card that lies aside is told again: it is of the hand in play, or of a settled round."""
    state, books = play.state, play.oracle
    aside = [*books.over, *books.reserved, *books.used[-4:], *books.kept]
    if state.shoe is None or not aside:
        do_next(play)
        return
    paper = aside[a % len(aside)]
    face = paper.told or str(DECK[b % 52])
    said: dict[str, str] = [{}, {}, {"same": "yes"}, {"same": "no"}][b % 4]
    if state.round is not None and a % 3:
        if not state.held:
            play.command(Kind.HOLD, because="card-missed")
            return
        due = state.round.due
        place = due.value if due else "P1"
        if due is None and a % 2:
            play.command(Kind.CORRECT, position="B1", card=str(DECK[b % 52]))
        elif due is not None and b % 3 == 0:
            play.command(Kind.ENTER, position=place, card=face, **said)
        else:
            play.command(Kind.INSERT, position=place, card=face, **said)
        return
    near = [key for key in books.settled if key[0] == books.shoe and key[1] in (paper.round, paper.round - 1)]
    if near:
        where = near[b % len(near)]
        play.command(
            Kind.AMEND, round=f"{where[0]}/{where[1]}", **_with(books.settled[where].cards, face, b), **said
        )


def _with(old: dict[str, str], face: str, b: int) -> dict[str, str]:
    """Other cards for a settled hand, in which ``face`` lies too and another card was read wrong."""
    faces = list(old.values())
    for i in range(200):
        at, other = (b + i) % max(1, min(4, len(faces))), str(DECK[(b * 7 + i * 5) % 52])
        new = [*faces[:at], other, *faces[at + 1 :], face]
        laid, excess = lay(new)
        if not excess and due(new) is None:
            return {place: card for place, card in laid.items() if old.get(place) != card}
    return {"P1": face}


def do_any(play: Watched, a: int, b: int) -> None:
    """Any command by anybody, with whatever is typed behind it, having seen this or that."""
    kinds = sorted(COMMANDS)
    kind = kinds[a % len(kinds)]
    r, state = play.state.round, play.state
    spots = (
        [*(position.value for position in r.cards), "P1", "B3", "K1", "K2", "X"] if r else ["P1", "K1", "K2"]
    )
    texts = (
        "",
        "2",
        "6",
        "99",
        "player",
        "tie",
        "hand",
        "last",
        "burn",
        "accept",
        "Emil",
        "1/1",
        "left",
        state.where,
    )
    text = texts[b % len(texts)]
    args = dict.fromkeys(
        ("name", "pickup", "count", "outcome", "what", "action", "alert", "method", "number"), text
    )
    args |= {
        "position": spots[b % len(spots)],
        "to": spots[a * 7 % len(spots)],
        "card": str(DECK[a * b % 52]),
    }
    args |= {"out": text, "rounds": text}
    if kind in LOOKING_BACK:
        args = {"round": text} if b % 2 else {}
    play.pass_time(0.1)
    fresh, older = Expect(version=state.version), Expect(version=max(0, state.version - 1))
    sees = (fresh, fresh, fresh, Expect(round=state.where), older, Expect(round="9/9"), Expect())
    play.give(
        Command(
            kind,
            play.now(),
            args=args,
            person="Pia" if b % 5 else None,
            supervisor=b % 9 > 0 and b % 5 > 0,
            reason=REASON if b % 7 else ("other", "", "nonsense")[a % 3],
            expect=sees[(a + b) % 7],
            past=play.past(args.get("round", "")),
        )
    )


OPS: tuple[Callable[[Watched, int, int], None], ...] = (
    *(do_next,) * 8,
    *(do_round,) * 4,
    *(do_way,) * 10,
    *(do_truth,) * 5,
    *(do_card,) * 4,
    *(do_misread,) * 2,
    *(do_twice,) * 3,
    do_bounce,
    do_missed,
    *(do_late,) * 2,
    *(do_labelled,) * 2,
    *(do_unread,) * 3,
    *(do_device,) * 4,
    *(do_edge,) * 4,
    *(do_wait,) * 3,
    *(do_people,) * 2,
    *(do_boss,) * 6,
    *(do_any,) * 4,
    do_shoe,
    *(do_aside,) * 6,
)
"""What a step's first number means; the order is part of the one-line form."""


def begin(play: Watched, begun: int) -> None:
    """On to the first shoe (1), through its burn cards (2), through a round (3)."""
    for _ in range((0, 5, 12, 19)[begun]):
        if not play.state.held:
            do_next(play)
