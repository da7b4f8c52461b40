"""A plain bookkeeper beside the table: what was drawn, what people said of it, what must follow.

It has its own drawing rule (:mod:`tests.table.oracle_rule`) and its own books and knows nothing of the
table's code: only inputs, and the events that came of them. *What* a card is it takes from the input,
*where* it went from the event, and it objects (AssertionError) when that place is not lawful, when a card
is counted twice or not at all, when a result is not the one of the cards on the table, or when an event is
missing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tablectl.events import Event, public_data
from tests.table.oracle_rule import BANKER, FACE, ORDER, PLAYER, bets, due, lay, points, total


@dataclass(eq=False)
class Paper:
    """One card in the books: what it is said to be (None: not read), and what it is (None: no real card)."""

    told: str | None
    true: str | None = None
    early: bool = False
    """It was drawn before the close of its round."""
    round: int = 0
    """The round it was drawn with, once it lies aside."""
    reason: str = ""
    """Why it was burned."""
    out: int = 0
    """How many cards were out with it, once it was burned."""


@dataclass
class Given:
    """One input as the bookkeeper sees it. ``at``: its arrival (boot ns)."""

    kind: str
    at: int
    face: str | None = None
    label: str = ""
    true: str | None = None
    args: dict[str, str] = field(default_factory=dict)
    accepted: bool = False

    @property
    def scan(self) -> bool:
        return self.kind in ("card", "unread card") or (self.kind == "same-again" and self.accepted)

    @property
    def action(self) -> str:
        return self.args.get("action", "") if self.kind == "release" else self.kind


@dataclass
class Settled:
    """A round whose result is out."""

    cards: dict[str, str]
    payouts: dict[str, Any]
    revision: int = 1
    voided: bool = False
    free: bool = False
    papers: list[Paper] = field(default_factory=list)
    """Its cards, while its shoe is in play."""


class Oracle:
    def __init__(self) -> None:
        self.shoe: int | None = None
        self.last_shoe = 0
        self.size = self.decks = 0
        self.rules: dict[str, Any] = {}
        self.hand: list[Paper] = []
        self.kept: list[Paper] = []
        self.reserved: list[Paper] = []
        self.burned: list[Paper] = []
        self.used: list[Paper] = []
        """Of void rounds, or amended out of their hand; and those of an adopted shoe."""
        self.over: list[Paper] = []
        """Of the burned ones, those drawn in excess."""
        self.run: list[Paper] = []
        """Of the burned ones, those that were due and came last, nothing between; without a first card's."""
        self.in_round = self.free = False
        self.rounds = 0
        self.turned = True
        self.unread = 0
        self.unread_out = 0
        """How many cards were out when a round was void with one that was not read."""
        self.left_unread = 0
        """Of them, what a correction left without a place: the hand is complete without it."""
        self.burns_due, self.first_burn = 0, False
        self.reasons: list[str] = []
        """Why the burn cards due are burned, card by card."""
        self.pickups: dict[str, str] = {}
        self.last_hand: int | None = None
        self.by_first = False
        self.decks_counted = 0
        self.cut_told = False
        self.betting: Any = None
        self.closed: int | None = None
        self.holds: list[str] = []
        self.rescan: tuple[str, list[str]] | None = None
        self.counting: list[str] | None = None
        self.settled: dict[tuple[int, int], Settled] = {}
        self.given = Given("", 0)
        self.places = 0
        self.rows = 0
        self.sequence = 0

    # --- what the books say -----------------------------------------------------------------------

    @property
    def all(self) -> list[Paper]:
        settled = [paper for one in self.settled.values() for paper in one.papers]
        return [*self.used, *self.burned, *self.hand, *self.kept, *self.reserved, *settled]

    @property
    def out(self) -> int:
        return len(self.all)

    @property
    def counts(self) -> Counter[str]:
        return Counter(paper.told for paper in self.all if paper.told is not None)

    @property
    def faces(self) -> list[str]:
        return [str(paper.told) for paper in self.hand]

    @property
    def hidden(self) -> bool:
        return not self.turned and len(self.hand) >= 4

    def wrong(self) -> tuple[str, str] | None:
        """A place whose card was read wrong, and what really lies there."""
        laid = list(lay(self.faces)[0])
        for place, paper in zip(laid, self.hand, strict=False):
            if paper.true is not None and paper.true != paper.told:
                return place, paper.true
        return None

    # --- one input --------------------------------------------------------------------------------

    def step(self, given: Given, events: Sequence[Event]) -> None:
        """Book what came of an input."""
        self.given, self.places = given, 0
        for event in events:
            self.rows += 1
            allowed = self._showable()
            getattr(self, "_on_" + event.TYPE.replace(".", "_"), lambda _: None)(event)
            if event.PUBLIC:
                self.sequence += 1
                self._keeps_secrets(event, allowed | self._showable())
        if given.scan:
            assert self.places == 1, f"a scan went to {self.places} places"
        assert not self.kept or self.holds, "a kept card and no hold"
        assert self.in_round or not self.hand
        if self.last_hand is not None and self.shoe is not None and not self.in_round:
            assert self.rounds < self.last_hand, "the last hand is over and the shoe is not"

    def _showable(self) -> set[str]:
        return set(self.faces) if self.turned else set()

    def _keeps_secrets(self, event: Event, allowed: set[str]) -> None:
        """No face of a burned, kept or face-down card leaves the table."""
        data = public_data(event)
        if event.TYPE in ("shoe.ended", "inspection.recorded", "round.amended"):
            return
        if event.TYPE in ("round.voided", "round.resulted"):
            assert event.shoe is not None and event.round is not None
            allowed = allowed | set(self.settled[event.shoe, event.round].cards.values())
        if event.TYPE == "table.held" and self.in_round and self.rules["dealing"]["deal"] == "face-up":
            allowed = allowed | {str(self.given.face)}
        told = set(FACE.findall(json.dumps({k: v for k, v in data.items() if k != "reason"})))
        assert told <= allowed, f"{event.TYPE} tells {told - allowed}"

    def _take_scan(self, face: str | None) -> Paper:
        assert self.given.scan, "a card of which no scan told"
        self.places += 1
        assert face == self.given.face, f"{face} is not the {self.given.face} that was scanned"
        early = self.betting is not None or (self.closed is not None and self.given.at < self.closed)
        return Paper(face, self.given.true, self.in_round and early)

    # --- the shoe ---------------------------------------------------------------------------------

    def _on_dealer_changed(self, e: Any) -> None:
        if e.dealer:
            assert self.pickups.setdefault(e.dealer, e.pickup) == e.pickup, "another pick-up direction"

    def _on_table_closed(self, _: Any) -> None:
        self.pickups = {}

    def _on_shoe_started(self, e: Any) -> None:
        assert self.shoe is None and not self.in_round and not self.holds, "a shoe over another, or on hold"
        adopted = e.adopted or {}
        assert e.shoe == self.last_shoe + 1 or (adopted and e.shoe > self.last_shoe)
        assert not self.all
        self.shoe = self.last_shoe = e.shoe
        self.rules, self.decks, self.size = e.rules, e.decks, e.decks * 52
        self.used = [Paper(None) for _ in range(adopted.get("out", 0))]
        self.rounds = adopted.get("rounds", 0)
        self.last_hand = self.rounds + 1 if adopted.get("last_hand") else None
        self.cut_told = False
        self.burns_due, self.first_burn, self.unread = 0, False, 0
        self.reasons = []

    def _on_shoe_ended(self, e: Any) -> None:
        assert e.shoe == self.shoe and not self.in_round, "a shoe ended in the middle of a round"
        unknown = "unread" if self.rules["burn"]["scanned"] else "unseen"
        assert e.burned == tuple(paper.told or unknown for paper in self.burned)
        assert e.dealt + len(e.burned) == self.out, f"{e.dealt} + {len(e.burned)} are not {self.out}"
        assert e.rounds == self.rounds and e.left == max(0, self.size - self.out)
        over = {face: n - self.decks for face, n in self.counts.items() if n > self.decks}
        assert Counter(e.extra) == over
        if e.withdrawn:
            assert not self.all and not self.rounds
        self.shoe, self.last_hand = None, None
        self.hand, self.kept, self.reserved, self.burned, self.used, self.over = [], [], [], [], [], []
        self.run, self.unread_out = [], 0
        for settled in self.settled.values():
            settled.papers = []
        self.burns_due, self.unread, self.rescan = 0, 0, None

    def _on_burns_ordered(self, e: Any) -> None:
        assert not self.in_round
        self.burns_due += e.count
        assert self.burns_due + self.out <= self.size, "more burn cards are due than are left"
        self.first_burn = self.first_burn or e.first_card
        self.reasons += [e.reason] * e.count

    def _on_card_burned(self, e: Any) -> None:
        left = max(0, self.burns_due - 1)
        if e.kept:
            paper = self.kept.pop(0)
            assert paper.told == e.card
        elif self.given.kind == "burn done":
            self.places += 1
            paper = Paper(None)
            assert e.card is None and self.places <= int(self.given.args["count"])
            if self.places == 1:
                self.by_first = self.first_burn
                if self.by_first:
                    ordered = int(self.given.args["count"]) - (self.burns_due - 1)
                    self.reasons[:1] = self.reasons[:1] * max(1, ordered)
            if self.by_first:
                left = int(self.given.args["count"]) - self.places
        elif self.given.scan:
            paper = self._take_scan(e.card)
        else:
            assert self.given.action == "burn" and self.unread and e.card is None
            paper = Paper(None)
        if self.first_burn and e.card is not None:
            left += points(e.card) or 10
            self.reasons[1:1] = self.reasons[:1] * (points(e.card) or 10)
        if self.burns_due:
            assert e.reason == self.reasons[0], f"{e.reason}, ordered was {self.reasons[0]}"
        self.reasons = self.reasons[1:]
        if e.kept and not self.burns_due:
            paper.round = self.rounds
            self.over.append(paper)
        self.burned.append(paper)
        paper.reason, paper.out = e.reason, self.out - len(self.kept)
        if not self.burns_due or self.first_burn:
            self.run = []
        else:
            self.run = [*(self.run if self.run and self.run[-1].out == paper.out - 1 else ()), paper]
        assert e.left == left and e.shoe_left == max(0, self.size - self.out)
        self.burns_due, self.first_burn = left, False
        if not left:
            self.reasons = []
        self.unread = self.unread if e.kept else 0

    def _on_cut_card_drawn(self, e: Any) -> None:
        assert e.out == self.out and not self.cut_told
        self.cut_told = True
        if not self.in_round:
            self.last_hand = self.rounds + 1
        else:
            self.last_hand = self.rounds + (self.rules["shoe"]["hands_after_cut"] if self.hand else 0)

    def _on_cut_card_withdrawn(self, _: Any) -> None:
        self.last_hand, self.cut_told = None, False

    def _on_last_hand_announced(self, e: Any) -> None:
        assert e.round == self.last_hand

    # --- betting ----------------------------------------------------------------------------------

    def _begin(self, e: Any) -> None:
        assert not self.in_round, "a round over another"
        assert not self.holds, "a round began under a hold"
        assert e.shoe == self.shoe and e.round == self.rounds + 1, "a round number left out or given twice"
        assert self.last_hand is None or e.round <= self.last_hand
        self.rounds, self.in_round, self.hand, self.unread = e.round, True, [], 0
        self.turned = self.rules["dealing"]["deal"] == "face-up"

    def _on_betting_opened(self, e: Any) -> None:
        self._begin(e)
        self.free, self.betting, self.closed = False, e, None

    def _on_betting_closing(self, _: Any) -> None:
        assert self.betting is not None

    def _on_betting_closed(self, e: Any) -> None:
        assert self.betting is not None, "closed twice"
        assert e.closed_boot <= self.betting.deadline_boot, "the window was lengthened"
        assert e.closed_at <= self.betting.closes_at, "the announced window was lengthened"
        assert not self.hand
        self.betting, self.closed = None, e.closed_boot

    def _on_hand_freed(self, e: Any) -> None:
        self._begin(e)
        self.free, self.closed = True, e.boot

    def _on_controller_started(self, _: Any) -> None:
        self.closed = None

    # --- cards ------------------------------------------------------------------------------------

    def _on_card_dealt(self, e: Any) -> None:
        assert self.in_round and self.betting is None, "a card of a hand while betting is open"
        assert not self.hidden, "a card behind four that were not turned"
        assert e.position == due(self.faces), f"{e.position} is not due, {due(self.faces)} is"
        face = e.face or e.card
        if e.reserved:
            paper = self.reserved.pop(0)
        elif e.kept:
            assert self.given.accepted and self.given.action in ("accept", "as-p1")
            paper = self.kept.pop(0)
            assert not paper.early or self.rules["dealing"]["early_card"] == "either", "it is to be burned"
        elif e.source == "manual":
            assert self.given.kind == "enter" and self.given.accepted
            assert self.given.args["position"] == e.position and self.given.args["card"] == face
            self.places += 1
            assert self.places == 1
            (paper,) = self._found([face], self.rounds, (e.uses,) if e.uses else ()) or [
                Paper(face, self.given.true)
            ]
            assert e.uses is None or self.given.args.get("same") != "no"
        else:
            assert not self.holds, "a card was dealt by itself under a hold"
            assert self.closed is None or self.given.at >= self.closed, "it was drawn before the close"
            paper = self._take_scan(face)
        assert paper.told == face, f"{face} was dealt, it is {paper.told}"
        self.hand.append(paper)
        self.unread = 0
        if not self.turned:
            assert (e.card, e.points, e.total, e.next) == (None,) * 4
            return
        place = due(self.faces)
        side = {None: "none", "P": "player", "B": "banker"}[place and place[0]]
        laid = lay(self.faces)[0]
        own = [card for at, card in laid.items() if at[0] == e.position[0]]
        assert (e.card, e.points, e.total, e.next) == (face, points(face), total(own), side)

    def _on_scan_kept(self, e: Any) -> None:
        if not self.given.scan:
            assert e.card is None and (self.unread or self.left_unread), "a card of which no scan told"
            self.left_unread = 0
            self.kept.append(Paper(None))
            return
        self.kept.append(self._take_scan(e.card))

    def _on_scan_unread(self, _: Any) -> None:
        self._take_scan(None)
        self.unread += 1

    def _on_scan_passed(self, e: Any) -> None:
        if not self.given.scan:
            return
        self.places += 1
        if self.shoe is None or (self.rescan is not None and self.given.face is None):
            return
        again = lay(self.faces)[0].get(self.given.label)
        assert again is not None and again == self.given.face, f"a drawn card was passed over: {e.why}"

    def _on_card_dropped(self, e: Any) -> None:
        assert self.given.accepted and self.given.action == "drop"
        if e.burned is not None:
            self._unburn(self.run[e.burned], self.run[e.burned - 1 : e.burned], e.left)
            return
        if e.taken is None:
            self.kept.pop()
            return
        assert not self.kept
        (last,) = [*self.over[-1:], *self.reserved[-1:]][-1:] if not self.reserved else self.reserved[-1:]
        self._take(last)

    def _on_unread_named(self, e: Any) -> None:
        assert self.given.accepted and self.given.action == "drop" and self.out - 1 == self.unread_out
        [paper for paper in self.used if paper.told is None][-1].told = e.card

    def _unburn(self, paper: Paper, before: list[Paper], left: int) -> None:
        """A due burn card was no other card than the one before it, or one never read of a void round."""
        if self.out - 1 != self.unread_out:
            assert paper.told is not None and all(other.told == paper.told for other in before)
        for later in self.run[self.run.index(paper) :]:
            later.out -= 1
        for pile in (self.burned, self.run):
            pile[:] = [other for other in pile if other is not paper]
        if not self.in_round:
            self.burns_due += 1
            self.reasons = [paper.reason, *self.reasons]
        assert left == (0 if self.in_round else self.burns_due)

    def _on_cards_reserved(self, _: Any) -> None:
        assert self.given.accepted and self.given.action == "next"
        for paper in self.kept:
            paper.round = self.rounds
        self.reserved, self.kept = [*self.reserved, *self.kept], []

    def _on_kept_named(self, e: Any) -> None:
        assert self.given.kind == "correct" and self.given.accepted
        assert (self.given.args["position"], self.given.args["card"]) == (f"K{e.place}", e.card)
        self.kept[e.place - 1].told = e.card

    def _on_kept_moved(self, e: Any) -> None:
        assert self.given.kind == "move" and self.given.accepted
        assert (self.given.args["position"], self.given.args["to"]) == (f"K{e.place}", f"K{e.to}")
        self.kept.insert(e.to - 1, self.kept.pop(e.place - 1))

    def _on_rescan_began(self, e: Any) -> None:
        self.rescan = (e.what, [])

    def _on_card_rescanned(self, e: Any) -> None:
        self._take_scan(e.card)
        assert self.rescan is not None
        self.rescan[1].append(e.card)

    def _on_hand_turned(self, e: Any) -> None:
        assert len(self.hand) == 4 and not self.turned
        self.turned = True
        assert (e.player, e.banker) == self._sides(self.faces)

    @staticmethod
    def _sides(faces: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        laid = lay(faces)[0]
        return (
            tuple(laid[place] for place in PLAYER if place in laid),
            tuple(laid[place] for place in BANKER if place in laid),
        )

    # --- corrections ------------------------------------------------------------------------------

    def _on_hand_corrected(self, e: Any) -> None:
        assert self.in_round and self.betting is None and self.given.accepted
        before = lay(self.faces)[0]
        reserved = len(self.reserved)
        hand, kept = self._as_said(e)
        if self.reserved and e.uses.count("reserved") > reserved - len(self.reserved):
            # What was reserved behind the hand as it was is kept again.
            assert due([str(paper.told) for paper in hand]) is not None or lay([str(p.told) for p in hand])[1]
            back, self.reserved = self.reserved, []
            kept = [*back, *kept]
        assert (
            not self.reserved
            or not self.turned
            or (due(list(lay([str(p.told) for p in hand])[0].values())) is None)
        )
        most = len(hand) if self.turned else 4
        faces = [str(paper.told) for paper in hand]
        laid, excess = lay(faces[:most])
        more = len(laid)
        self.hand, self.kept = hand[:more], [*hand[more:], *kept]
        assert excess == faces[more:most]
        assert (e.player, e.banker) == self._sides(self.faces)
        assert e.kept == tuple(paper.told or "?" for paper in self.kept), (e.kept, self.kept)

        def shown(cards: dict[str, str]) -> dict[str, str]:
            return cards if self.turned else dict.fromkeys(cards, "?")

        assert (e.before, e.after) == (shown(before), shown(laid))
        # What was there before may be told again, as before.
        again = self.given.action in ("rescanned", "fewer")
        if again and self.rescan is not None and self.rescan[0] == "hand":
            self.unread = 0
        if due(self.faces) is None:
            self.unread, self.left_unread = 0, self.unread

    def _as_said(self, e: Any) -> tuple[list[Paper], list[Paper]]:
        """The hand and the kept cards as the command just given has them, not yet dealt anew."""
        hand, kept = list(self.hand), list(self.kept)
        args = self.given.args
        at, card = args.get("position", ""), args.get("card")
        places = list(lay(self.faces)[0])
        match self.given.action:
            case "correct":
                old = hand[places.index(at)]
                hand[places.index(at)] = Paper(card, old.true)
            case "insert":
                assert card is not None
                new = Paper(card, self.given.true)
                alike = [paper for paper in kept if paper.told == card]
                if self.given.args.get("same") == "no":
                    pass
                elif alike:
                    new = alike[0]
                    kept = [paper for paper in kept if paper is not new]
                else:
                    (new,) = self._found([card], self.rounds, e.uses[:1]) or [new]
                hand.insert(places.index(at) if at in places else len(hand), new)
            case "move":
                moved = kept.pop(int(at[1:]) - 1) if at[0] == "K" else hand.pop(places.index(at))
                hand.insert(places.index(args["to"]), moved)
            case "drop":
                assert not kept and hand
                hand.pop()
            case "rescanned" | "fewer":
                assert self.rescan is not None
                what, faces = self.rescan
                if what == "hand":
                    less = len(faces) < len(hand) + len(kept) + bool(self.unread)
                    assert less == (self.given.action == "fewer"), "a card was dropped in silence"
                    more = len(faces) - len(hand) - len(kept)
                    more_of = Counter(faces) - Counter(str(paper.told) for paper in [*hand, *kept])
                    come = list[str]()
                    for face in reversed(faces):
                        come[:0] = [face] * (come.count(face) < more_of[face])
                    seen = [paper for paper in self.reserved if more_of[str(paper.told)]]
                    places = [place for place in e.uses if place != "reserved"] + ["reserved"] * len(seen)
                    self._found(
                        come,
                        self.rounds,
                        places[: max(0, more)],
                        every=False,
                        last_first=True,
                    )
                    hand, kept = [Paper(face, face) for face in faces], []
                else:
                    hand[places.index(what)] = Paper(faces[0], faces[0])
            case other:
                raise AssertionError(f"{other} corrects no hand")
        return hand, kept

    # --- results ----------------------------------------------------------------------------------

    def _on_round_resulted(self, e: Any) -> None:
        assert self.in_round and self.betting is None and not self.holds and self.turned
        assert (e.shoe, e.round) == (self.shoe, self.rounds) and e.revision == 1
        assert not self.kept
        settled = Settled(lay(self.faces)[0], self.rules["payouts"], free=self.free)
        self._check_result(public_data(e), settled)
        assert (e.shoe, e.round) not in self.settled
        self.settled[e.shoe, e.round] = settled
        settled.papers = self.hand
        self.hand, self.in_round = [], False

    def _check_result(self, told: dict[str, Any], settled: Settled) -> None:
        faces = list(settled.cards.values())
        laid, excess = lay(faces)
        assert laid == settled.cards and not excess and due(faces) is None, f"no finished hand: {faces}"
        sides = self._sides(faces)
        totals = tuple(map(total, sides))
        for name, cards in zip(("player", "banker"), sides, strict=True):
            assert told[name] == {
                "cards": list(cards),
                "points": [points(face) for face in cards],
                "total": total(cards),
                "natural": len(cards) == 2 and total(cards) >= 8,
                "pair": cards[0][0] == cards[1][0],
            }
        winner = "tie" if totals[0] == totals[1] else "player" if totals[0] > totals[1] else "banker"
        assert told["outcome"] == winner
        assert told["bets"] == ({} if settled.free else bets(winner, sides, totals[1], settled.payouts))

    def _on_round_voided(self, e: Any) -> None:
        if not e.earlier:
            assert self.in_round and (e.shoe, e.round) == (self.shoe, self.rounds) and self.betting is None
            laid = lay(self.faces)[0]
            assert e.cards == (laid if self.turned else dict.fromkeys(laid, "?"))
            self.settled[e.shoe, e.round] = Settled(laid if self.turned else {}, {}, voided=True)
            self._remember_unread()
            self._put_away([*self.hand, *self.kept])
            self.hand, self.kept, self.in_round, self.unread, self.rescan = [], [], False, 0, None
            return
        old = self.settled[e.shoe, e.round]
        assert not old.voided and e.cards == old.cards
        old.voided = True
        self._put_away(old.papers, e.round)
        old.papers = []
        if e.uses_kept:
            self._remember_unread()
            self._put_away(self.kept)
            self.kept = []

    def _remember_unread(self) -> None:
        if any(paper.told is None for paper in self.kept):
            self.unread_out = self.out

    def _put_away(self, papers: list[Paper], number: int | None = None) -> None:
        """These are used; each may be found to be of the round it was drawn with."""
        for paper in papers:
            paper.round = paper.round or number or self.rounds
        self.used += papers

    def _take(self, paper: Paper) -> None:
        """Out of wherever it lies aside."""
        for pile in (self.kept, self.reserved, self.burned, self.over, self.used):
            pile[:] = [other for other in pile if other is not paper]

    def _found(
        self,
        faces: Sequence[str],
        number: int,
        uses: Sequence[str],
        *,
        every: bool = True,
        last_first: bool = False,
    ) -> list[Paper]:
        """Cards that lay aside and are of round ``number``, as an event says; they are taken from there.

        ``faces`` begins with the likeliest, or ends with it (``last_first``).

        ``every``: and none of that round lies aside with such a face besides, unless people said another one.
        """
        said, found = self.given.args.get("same"), []
        left = list(faces)[::-1] if last_first else list(faces)
        for place in uses:
            pile = {"kept": self.kept, "reserved": self.reserved, "burned": self.over, "used": self.used}[
                place
            ]
            near = [paper for paper in pile if paper.round in (number, number + 1) or pile is self.kept]
            alike = sorted(
                (paper for paper in near if paper.told in left),
                key=lambda one: left.index(str(one.told)),
            )
            assert alike or said == "yes", f"no card of these lies there: {faces} {place} {pile}"
            assert said != "no"
            paper = alike[0] if alike else near[0]
            if paper.told in left:
                left.remove(str(paper.told))
            self._take(paper)
            paper.told = paper.told if alike else left.pop(0 if last_first else -1)
            found.append(paper)
        if every and said is None:
            aside = [*self.reserved, *self.over, *self.used]
            twice = [paper for paper in aside if paper.round == number and paper.told in left]
            assert not twice, f"{twice} is counted twice"
        return found

    def _on_round_amended(self, e: Any) -> None:
        old = self.settled[e.shoe, e.round]
        assert not old.voided and self.given.kind == "amend" and self.given.accepted
        assert e.revision == old.revision + 1
        changed = {k: v for k, v in self.given.args.items() if k != "round"}
        new = {k: changed.get(k, old.cards.get(k)) for k in ORDER}
        cards = {k: v for k, v in new.items() if v not in (None, "none")}
        after = Settled(cards, old.payouts, e.revision, free=old.free)
        self._check_result(e.before, old)
        self._check_result(e.after, after)
        if e.shoe == self.shoe:
            after.papers = self._amended(e, old, after)
        self.settled[e.shoe, e.round] = after

    def _amended(self, e: Any, old: Settled, after: Settled) -> list[Paper]:
        """The cards of a settled hand that was another one: each stays, becomes another, comes or goes."""
        was, now = Counter(old.cards.values()), Counter(after.cards.values())
        more = len(after.cards) - len(old.cards)
        papers = list(old.papers)
        if more < 0:
            # What lies no longer where it lay; but where all that lie there lay there, it is the others.
            faces = [face for place, face in old.cards.items() if place not in after.cards]
            for face in (was - now).elements() if not now - was else faces:
                paper = next(paper for paper in papers if paper.told == face)
                papers.remove(paper)
                paper.round = int(e.round)
                self.used.append(paper)
        fresh = [face for place, face in after.cards.items() if place not in old.cards and (now - was)[face]]
        sure = fresh if len(fresh) == more else list((now - was).elements()) if not was - now else []
        places = [face for place, face in after.cards.items() if place not in old.cards]
        papers += self._found(sure or [*(now - was).elements(), *places], e.round, e.uses, every=bool(sure))
        papers += [Paper(None) for _ in range(len(after.cards) - len(papers))]
        left = list(now.elements())
        others = []
        for paper in papers:
            if paper.told in left:
                left.remove(paper.told)
            else:
                others.append(paper)
        for paper, face in zip(others, left, strict=True):
            paper.told = face
        return papers

    # --- holds ------------------------------------------------------------------------------------

    def _on_table_held(self, e: Any) -> None:
        assert e.code not in self.holds, "one hold twice"
        self.holds.append(e.code)
        assert list(e.codes) == self.holds
        if e.code == "integrity" and "empty" not in e.message:
            over = any(n > self.decks for n in self.counts.values())
            assert over or self.out > self.size, "an integrity hold of cards that can be right"

    def _on_table_released(self, e: Any) -> None:
        assert set(e.codes) <= set(self.holds), f"{e.codes} are not all in force: {self.holds}"
        assert e.codes or self.given.action in ("burn", "accept", "next", "drop", "as-p1"), (
            "a release of nothing"
        )
        self.holds = [code for code in self.holds if code not in e.codes]
        if "rescan" in e.codes:
            self.rescan = None

    # --- counting ---------------------------------------------------------------------------------

    def _on_count_began(self, e: Any) -> None:
        assert self.counting is None and self.shoe is None
        self.counting, self.decks_counted = [], e.decks

    def _on_card_counted(self, e: Any) -> None:
        self._take_scan(e.card)
        assert self.counting is not None
        self.counting += [e.card] if e.card else []

    def _on_count_ended(self, _: Any) -> None:
        self.counting = None

    def _on_inspection_recorded(self, e: Any) -> None:
        if e.method == "scan":
            assert self.counting is not None and e.counted == len(self.counting)
            seen, whole = (
                Counter(self.counting),
                Counter({r + s: self.decks_counted for r in "A23456789TJQK" for s in "SHDC"}),
            )
            assert Counter(e.missing) == whole - seen and Counter(e.extra) == seen - whole
        self.counting = None
