"""A table of honest people, a scanner that reads wrong, and a book of the cards themselves.

Every card here is a thing: drawn once, with the face that it has and the one that the table was told. Dealer
and pit boss see the things; they draw, burn and reserve by what they see or by mistake, and sooner or later
they say what is true, by any command that can say it. Nothing of the table's own book-keeping is believed:
after every input the shoe has as many cards out as things were drawn and told of, with the faces that were
told.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tablectl import events as ev
from tablectl.cards import DECK
from tablectl.house import HouseRules
from tablectl.table import Kind, Phase, offered
from tests.table.oracle_rule import due, points
from tests.table.playing import Play, house

HOUSES: tuple[Callable[[], HouseRules], ...] = (
    lambda: house(dealing={"confirm": "dealer"}),
    house,
    lambda: house(dealing={"overdraw": "next", "confirm": "dealer"}),
    lambda: house(dealing={"overdraw": "next"}),
    lambda: house(dealing={"overdraw": "void", "confirm": "dealer"}),
    lambda: house(betting={"opens": "automatic", "pause": 1.0}),
    lambda: house(burn={"by": "first-card"}),
)
ON_TABLE = (Phase.NO_MORE_BETS, Phase.DEALING, Phase.COMPLETE)


@dataclass(eq=False)
class Thing:
    """One card. ``told``: the face the table has for it, None: unread; ``counted``: it was told at all.

    ``repeat``: no card, but one read twice.
    """

    true: str
    told: str | None
    counted: bool = True
    repeat: bool = False


class Honest(Play):
    """One table, played for some rounds by ``seed``."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        super().__init__(HOUSES[seed % len(HOUSES)]())
        self.stock = [str(card) for card in DECK] * 8
        self.chance.shuffle(self.stock)
        self.drawn: list[Thing] = []
        self.saying: list[tuple[Thing, str | None]] = []
        """What becomes known with the command that is being given."""
        self.hand: list[Thing] = []
        self.next: list[Thing] = []
        """Reserved for the coming hand."""
        self.wrong: list[tuple[str, list[Thing]]] = []
        """Rounds that were settled with other cards than lay there."""
        self.laid: dict[str, list[Thing]] = {}
        self.burned_from = self.burned_upto = 0
        """Which things were burned last, as they were due, one behind the other."""

    # --- the book ---------------------------------------------------------------------------------------

    def check(self) -> None:
        if not self.last.refused:
            for thing, face in self.saying:
                thing.told, thing.counted = face, True
            self.saying = []
        super().check()
        shoe = self.state.shoe
        if shoe is None:
            return
        told = [thing for thing in self.drawn if thing.counted]
        assert shoe.out == len(told), f"{shoe.out} cards are counted, {len(told)} were drawn"
        counts = {str(DECK[n]): count for n, count in enumerate(shoe.counts) if count}
        assert counts == Counter(thing.told for thing in told if thing.told), "a face is counted wrong"

    def say(self, kind: Kind, *known: Thing, **args: str) -> bool:
        """A command that says of ``known`` what they are; whether it was accepted."""
        self.saying = [(thing, thing.true) for thing in known]
        done = not self.command(kind, **args).refused
        self.saying = []
        return done

    def tell(self, kind: Kind, new: list[Thing], known: list[Thing], **args: str) -> bool:
        """A command by which ``new`` come to the hand: they lay elsewhere, or were never scanned.

        People say which where they are asked, and of an unscanned one always.
        """
        unscanned = [thing for thing in new if not thing.counted]
        if unscanned and len(unscanned) < len(new):
            return False  # one word cannot tell both
        if unscanned:
            return self.say(kind, *known, **args, same="no")
        if new and self.chance.random() < 0.5 and all(thing.told == thing.true for thing in new):
            return self.say(kind, *known, **args)
        return self.say(kind, *known, **args) if not new else self.say(kind, *known, **args, same="yes")

    # --- the dealer -------------------------------------------------------------------------------------

    def often(self, share: float) -> bool:
        return self.chance.random() < share

    def draw(self, face: str | None = "") -> Thing:
        """The next card passes the scanner, which reads it as ``face``, or right."""
        true = self.stock.pop()
        thing = Thing(true, true if face == "" else face)
        self.drawn.append(thing)
        self.scan(thing.told)
        return thing

    def misread(self) -> str:
        """A face that ends the hand, if there is one; the hand that lies there does not end so."""
        here = [str(thing.told) for thing in self.hand]
        faces = [str(self.chance.choice(DECK)) for _ in range(12)]
        return next((face for face in faces if due([*here, face]) is None), faces[0])

    def read_again(self) -> Thing:
        """The last card passes the scanner once more."""
        last = self.drawn[-1]
        self.drawn.append(Thing(str(last.told), last.told, repeat=True))
        self.scan(last.told)
        return self.drawn[-1]

    def burns(self) -> None:
        """Burn as many cards as are due, one of them perhaps read twice: that is seen at once, or when all
        were drawn."""
        if self.state.phase is not Phase.BURNING or self.state.held:
            return
        begin, before, due = len(self.drawn), len(self.state.the_shoe.burned), self.state.burns_due
        drawn, repeat = 0, None
        if self.burned_upto != begin:
            self.burned_from = begin
        while drawn < due and not self.state.held:
            by_value = self.state.burn_first_card
            face = self.draw().true
            due, drawn = 1 + (points(face) or 10) if by_value else due, drawn + 1
            if self.state.holds and self.state.holds[-1].code == "card-twice":
                # A card told by hand before had that face; this is another one.
                self.let_out("burn")
                self.let_out("keep")
            if repeat is None and self.often(0.05):
                repeat = self.read_again()
                if self.often(0.5) or self.state.held:
                    self.unburn(repeat)
        if repeat is not None and repeat in self.drawn:
            self.unburn(repeat)
        self.burned_upto = len(self.drawn)
        if self.state.shoe is not None and not self.state.held:
            burned = [thing.told for thing in self.drawn[begin:]]
            assert list(self.state.the_shoe.burned[before:]) == burned, "other cards were burned"
            assert len(burned) == due, f"{due} were due, {len(burned)} were burned"

    def unburn(self, repeat: Thing) -> None:
        """A burn card was read twice: the repeat is taken back, and a card kept since is burned."""
        faces = [thing.told for thing in self.drawn[max(0, self.burned_from - 1) :]]
        by_hand = [told.card for told in self.state.by_hand]
        equal = sum(a == b for a, b in pairwise(faces)) > 1
        late = bool(self.state.loose) and self.state.loose[-1].card in by_hand
        if repeat is not self.drawn[-1] and (equal or late):
            # Two were equal besides, or the card kept may be a late message: nobody can say which it was.
            self.command(Kind.SHOE_END)
            return
        if not self.state.held:
            self.command(Kind.HOLD)
        self.drawn.remove(repeat)
        self.command(Kind.RELEASE, action="drop")
        assert not self.last.refused, f"a repeat cannot be taken back: {self.last.answer}"
        if self.state.loose:
            self.let_out("burn")

    def between(self) -> None:
        """What happens between rounds."""
        if self.state.phase is not Phase.IDLE or self.state.held:
            return
        match self.chance.randrange(6):
            case 0:
                self.command(Kind.BURN_ERROR)
            case 1:
                self.command(Kind.SIGN_OUT)
                self.command(Kind.SIGN_IN, name=self.chance.choice(("Dora", "Emil")), pickup="left")
            case _:
                pass
        self.burns()

    def one_round(self) -> None:
        self.between()
        self.look_back(0.3)
        if self.state.phase is Phase.IDLE and not self.state.held:
            self.command(Kind.BETS_OPEN)
        if self.state.phase is not Phase.BETTING:
            return
        self.hand = []
        early = self.draw() if self.often(0.2) and not self.next else None
        self.look_back(0.2)
        self.wait(20)
        if early is not None:
            way = self.chance.choice(("burn", "accept"))
            if self.chance.random() < 0.2 and not self.command(Kind.VOID).refused:
                self.look_back(0.5)
                return
            self.let_out(way)
            self.hand = [early] if way == "accept" else []
        if self.state.phase in ON_TABLE and self.next:
            laid = len(self.dealt())
            self.hand, self.next = self.next[:laid], self.next[laid:]
        self.look_back(0.3)
        for _ in range(20):
            if self.state.phase not in ON_TABLE and not self.state.loose and not self.unfinished():
                break
            if not self.play():
                break
        self.finish_round()

    def unfinished(self) -> bool:
        return bool(self.hand) and due([thing.true for thing in self.hand]) is not None

    def play(self) -> bool:
        """One thing that happens at the table; False: nothing more does."""
        state = self.state
        if state.held:
            self.out_of_hold()
            return True
        wanted = due([thing.true for thing in self.hand]) is not None
        if wanted and (state.phase in ON_TABLE or state.last_scan == "result"):
            if state.phase in (Phase.NO_MORE_BETS, Phase.DEALING) and self.often(0.03):
                self.unreadable()
                return False
            where = state.where if state.phase in ON_TABLE else state.settled[0]
            self.laid[where] = self.hand
            if len(self.hand) < 4 or not self.often(0.15):
                misread = 1 <= len(self.hand) < 4 and self.often(0.35)
                self.hand.append(self.draw(self.misread() if misread else ""))
            else:
                self.hand.append(Thing(self.stock.pop(), None, counted=False))
                self.drawn.append(self.hand[-1])
                if state.phase is Phase.COMPLETE or state.phase is Phase.DEALING:
                    self.set_right()
            return True
        if state.phase is Phase.DEALING:
            self.set_right()
            return not wanted
        if self.often(0.25):
            self.excess()
            return True
        return False

    def unreadable(self) -> None:
        """The card that is due is not read, and the round void; then it passes the scanner once more."""
        thing = Thing(self.stock.pop(), None, counted=False)
        self.drawn.append(thing)
        for _ in range(self.chance.choice((1, 2))):
            self.scan(None)
        self.saying = [(thing, None)]
        self.command(Kind.VOID)
        self.saying, self.hand = [], []
        kind = self.chance.choice((None, None, Kind.BURN_ERROR, Kind.BETS_OPEN, Kind.HAND_FREE))
        if self.state.phase is not Phase.IDLE or self.often(0.2):
            return
        if kind is not None:
            self.command(kind)
        if kind is None and self.often(0.3):
            self.again_is(thing, None)
        self.again_is(thing, thing.true)
        if self.state.phase in (Phase.BETTING, Phase.NO_MORE_BETS):
            self.command(Kind.VOID)
        self.burns()

    def again_is(self, thing: Thing, face: str | None) -> None:
        """The unread one is read again, as ``face``: it is counted once more, and people say which it is."""
        repeat = Thing(thing.true, face, repeat=True)
        self.drawn.append(repeat)
        self.scan(face)
        if not self.state.held:
            self.command(Kind.HOLD)
        self.drawn.remove(repeat)
        self.saying = [(thing, face)]
        self.command(Kind.RELEASE, action="drop")
        assert not self.last.refused, f"a card is counted twice: {self.last.answer}"
        self.saying = []

    def excess(self) -> None:
        """A card too many, sometimes unread, or the last one read twice."""
        last = self.drawn[-1]
        if self.often(0.4) and last.told and self.hand and last is self.hand[-1]:
            self.read_again()
        else:
            self.draw(None if self.often(0.2) else "")

    # --- the pit boss -------------------------------------------------------------------------------------

    def let_out(self, way: str) -> bool:
        """A release; what was kept has its place then."""
        kept = [thing for thing in self.drawn if thing.counted][-len(self.state.loose) :]
        reserves = way == "next" and bool(self.state.loose)
        done = not self.command(Kind.RELEASE, action=way).refused
        if done and reserves:
            self.next += kept
        return done

    def out_of_hold(self) -> None:
        ways = [way for way in offered(self.state) if way in ("burn", "next", "void", "keep", "resume")]
        if self.drawn and self.drawn[-1].repeat and self.drop():
            return
        if self.state.phase in ON_TABLE and self.often(0.4):
            self.set_right()
            return
        if self.state.phase not in ON_TABLE and self.often(0.3) and self.look_back(1.0):
            return
        for way in ways:
            if way == "void":
                where = self.state.where if self.state.round else self.state.settled[0]
                if not self.command(Kind.VOID, round=where).refused:
                    self.hand = []
                    return
            elif self.let_out(way):
                return
        self.command(Kind.VOID)
        self.hand = []
        if self.state.held:
            self.command(Kind.SHOE_END)

    def drop(self) -> bool:
        """The repeat is taken back, wherever it lies meanwhile."""
        if self.state.loose and self.often(0.5):
            self.let_out(self.chance.choice(("burn", "next")))
            if not self.state.loose and not self.state.held:
                self.command(Kind.HOLD, because="card-twice")
        if "drop" not in offered(self.state):
            return False
        repeat = self.drawn.pop()
        before = self.state.round.dealt if self.state.round else ()
        self.command(Kind.RELEASE, action="drop")
        assert not self.last.refused, self.last.answer
        assert before == (self.state.round.dealt if self.state.round else ()), "the hand lost the card itself"
        self.next = [thing for thing in self.next if thing is not repeat]
        return True

    def set_right(self) -> None:
        """Say which cards lie on the table, by one way or another, and let the table go on."""
        if not self.state.held:
            self.command(Kind.HOLD, because=self.chance.choice(("called", "card-missed", "card-twice")))
        if self.often(0.4) and self.scan_again():
            pass
        else:
            for _ in range(12):
                if not self.one_right():
                    break
        for _ in range(4):
            if self.state.held and not self.drawn[-1].repeat:
                ways = [
                    way for way in ("burn", "next", "keep", "resume", "void") if way in offered(self.state)
                ]
                if not ways or ways[0] == "void":
                    self.command(Kind.VOID)
                    self.hand = []
                    return
                self.let_out(ways[0])

    def scan_again(self) -> bool:
        """All cards of the hand pass the scanner again."""
        told = [thing for thing in self.drawn if thing.counted]
        loose = told[len(told) - len(self.state.loose) :]
        if [thing for thing in loose if thing not in self.hand] or self.drawn[-1].repeat:
            return False
        if self.command(Kind.RESCAN, what="hand").refused:
            return False
        for thing in self.hand:
            self.scan(thing.true)
        more = max(0, len(self.hand) - len(self.dealt()) - len(self.state.loose))
        new = [
            thing for thing in self.hand if not thing.counted
        ]  # wherever it lies: the reader passed it over
        new += [thing for thing in self.hand[::-1] if thing.counted][: max(0, more - len(new))]
        done = self.tell(Kind.RELEASE, new, self.hand, action="rescanned")
        if done:
            self.next = [thing for thing in self.next if thing not in self.hand]
        else:
            self.command(Kind.RELEASE, action="keep")
        return done

    def dealt(self) -> list[str]:
        return [str(card) for card in self.state.round.dealt] if self.state.round else []

    def one_right(self) -> bool:
        """One command of those that are left to say; False: there is none, or it was refused."""
        state, dealt = self.state, self.dealt()
        if state.round is None:
            return False
        places = [position.value for position in state.round.cards]
        for at, face in enumerate(dealt[: len(self.hand)]):
            if not self.hand[at].counted or self.hand[at].told != face:
                # It lies somewhere else, or was never scanned: here lies one drawn behind it.
                args = {"position": places[at], "card": self.hand[at].true}
                return self.tell(Kind.INSERT, [self.hand[at]], [self.hand[at]], **args)
            if face != self.hand[at].true:
                done = self.say(Kind.CORRECT, self.hand[at], position=places[at], card=self.hand[at].true)
                if not self.state.reserved:
                    self.next = []  # what was reserved of this round is kept with the hold again
                return done
        if state.round.due is None or len(dealt) >= len(self.hand):
            return False
        thing = self.hand[len(dealt)]
        place = state.round.due.value
        if state.loose and thing.counted and state.loose[0].card is not None:
            if str(state.loose[0].card) == thing.true:
                return not self.command(Kind.RELEASE, action="accept").refused
            if str(state.loose[0].card) == thing.told:
                return self.say(Kind.CORRECT, thing, position="K1", card=thing.true)
        kind = Kind.ENTER if not state.loose and self.often(0.5) else Kind.INSERT
        done = self.tell(kind, [thing], [thing], position=place, card=thing.true)
        if done:
            self.next = [other for other in self.next if other is not thing]
        return done

    def finish_round(self) -> None:
        state = self.state
        if state.phase is Phase.COMPLETE and not state.held:
            if self.differs(self.dealt()) and self.often(0.5):
                self.set_right()
            if self.state.phase is Phase.COMPLETE and not self.state.held:
                self.command(Kind.CONFIRM)
        results = [event for event in self.events if isinstance(event, ev.RoundResulted)]
        if results and self.state.phase not in ON_TABLE and self.hand:
            where = f"{results[-1].shoe}/{results[-1].round}"
            finished = self.laid.get(where) is self.hand and not self.unfinished()
            if finished and self.differs(self.last_cards(where)):
                self.wrong.append((where, self.hand))
        for _ in range(6):
            if self.state.held:
                self.out_of_hold()
        self.burns()
        self.look_back(0.3)

    def differs(self, faces: list[str]) -> bool:
        return faces != [thing.true for thing in self.hand]

    def last_cards(self, where: str) -> list[str]:
        past = self.past(where)
        if past is None or past.result is None:
            return []
        return in_order(past.result.player.cards, past.result.banker.cards)

    def look_back(self, share: float) -> bool:
        """A round that was settled is set right; one that cannot be stays as it is. Whether it was."""
        if not self.wrong or not self.often(share):
            return False
        where, hand = self.wrong.pop(0)
        old, args = self.last_cards(where), dict[str, str]()
        was, now = places_of(old), places_of([thing.true for thing in hand])
        for place in {*was, *now}:
            if was.get(place) != now.get(place):
                args[place] = now.get(place, "none")
        if not args or len(now) != len(hand):
            return False
        new = hand[len(old) :]
        lent = [thing for thing in new if thing in self.hand and self.hand is not hand]
        if lent:
            done = self.say(Kind.AMEND, *hand, round=where, **args)
        else:
            done = self.tell(Kind.AMEND, new, hand, round=where, **args)
        assert not (done and lent), "a card lies in two rounds"
        if done:
            self.next = [thing for thing in self.next if thing not in hand]
        elif lent and self.often(0.5) and not self.command(Kind.VOID).refused:
            self.hand = []
            self.wrong.insert(0, (where, hand))
        return done


def in_order(player: Any, banker: Any) -> list[str]:
    """Cards of two hands in the order they were drawn."""
    laid = [card for pair in zip(player[:2], banker[:2], strict=False) for card in pair]
    return [*laid, *player[2:], *banker[2:]]


def places_of(faces: list[str]) -> dict[str, str]:
    """Where the rule lays them, in order."""
    laid: dict[str, str] = {}
    for i, face in enumerate(faces):
        place = due(faces[:i])
        if place is None:
            break
        laid[place] = face
    return laid


def play(seed: int, rounds: int = 12) -> Honest:
    """A table played for some rounds. AssertionError: the table's book is not the cards'."""
    table = Honest(seed)
    table.opened()
    table.do(Kind.SHOE_NEW)
    table.burns()
    for _ in range(rounds):
        if table.state.shoe is None:
            break
        table.one_round()
    return table
