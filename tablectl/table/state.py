"""The state of a table: a phase, what is on the layout, the shoe, and perhaps a hold over it all.

Everything here is the fold of journal rows (:mod:`tablectl.table.evolve`); nothing else changes
it.  Deadlines are data: instants of CLOCK_BOOTTIME in ns, looked at by whoever owns a clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tablectl.cards import Card, Outcome, Position, Side
from tablectl.clock import SECOND
from tablectl.house import HouseRules
from tablectl.rules import next_position
from tablectl.shoe import Shoe


class Phase(StrEnum):
    """Where a table stands. Values are the words people read."""

    CLOSED = "closed"
    NO_SHOE = "no shoe"
    BURNING = "burning"
    IDLE = "idle"
    BETTING = "betting"
    NO_MORE_BETS = "no more bets"
    DEALING = "dealing"
    COMPLETE = "complete"
    SHUFFLE_DUE = "shuffle due"


IN_ROUND = frozenset({Phase.BETTING, Phase.NO_MORE_BETS, Phase.DEALING, Phase.COMPLETE})
"""Phases in which a round number is given and not yet settled."""


@dataclass(frozen=True, slots=True)
class Hold:
    """One reason why the table is on hold. ``code`` is a key of :data:`tablectl.table.holds.HOLDS`."""

    code: str
    message: str
    saw: tuple[tuple[str, str], ...] = ()
    """What the controller saw: ``label`` and ``bytes`` of a scan, where they tell no hidden face."""
    row: int = 0
    """The journal row since which it lies there."""


@dataclass(frozen=True, slots=True)
class Rescan:
    """Cards on the table are being scanned again: ``what`` is ``hand`` or a position."""

    what: str
    cards: tuple[Card, ...] = ()
    tags: tuple[str, ...] = ()
    """Their own numbers, where they have some."""

    @property
    def full(self) -> bool:
        """Whether no more of them can be meant: what comes now left the shoe."""
        return len(self.cards) >= (MOST_ON_TABLE if self.what == HAND else 1)


HAND = "hand"
MOST_ON_TABLE = 12
"""More cards of one round than ever lie on a table."""


@dataclass(frozen=True, slots=True)
class Loose:
    """A card that was drawn under a hold: counted out of the shoe, not yet given a place."""

    card: Card | None
    label: str
    code: str
    begins: bool = False
    """It came behind the shoe's stand-by: whatever the shoe calls it, it counts from the first card on."""


KEPT, RESERVED, BURNED, LENT, USED = "kept", "reserved", "burned", "lent", "used"
"""Where a card lies that may turn out to be one of a hand: kept with a hold; reserved for the next hand;
burned; laid in a later round, for which it was reserved; used, of a void round or amended out of its own."""


@dataclass(frozen=True, slots=True)
class Aside:
    """A card of which the table knows that it was drawn with round ``round``, and that it is in no hand of
    it.

    ``at``: for a burned one its index in the shoe's burned cards, for a lent one the round in which it lies.
    ``out``: how many cards were out when it was put there.
    """

    card: Card | None
    round: int
    place: str
    at: int = 0
    out: int = 0


@dataclass(frozen=True, slots=True)
class ToldByHand:
    """A card that people told, of round ``round``, because no message had come: it may come late."""

    round: int
    position: str
    card: Card


@dataclass(frozen=True)  # no slots: see tablectl.frozen
class Round:
    """The round in play. ``turned``: whether faces may be shown (always, when dealt face up)."""

    number: int
    free: bool = False
    player: tuple[Card, ...] = ()
    banker: tuple[Card, ...] = ()
    turned: bool = True
    deadline: int | None = None
    deadline_wall: int = 0
    """The announced end of betting by the wall clock (ns), for after a restart."""
    pips_left: int = 0
    pip_every: int = SECOND
    closed_boot: int | None = None
    in_step: bool = False
    """The shoe began this hand itself and nothing disturbed it since: its labels may be compared."""
    gap_before: bool = False
    """There was such a gap before the shoe said stand-by in this round: its labels say nothing of that."""
    gap: bool = False
    """Messages of the shoe are missing since its last card, or may be: one of them may have been a card."""
    gap_told: bool = False
    """The shoe's numbers tell of the gap; else there is only that a process, or a device, is new."""
    remind_deadline: int | None = None

    @property
    def to_be_turned(self) -> bool:
        """Four cards lie face down: they are turned before anything else."""
        return not self.turned and len(self.player) + len(self.banker) >= 4

    @property
    def due(self) -> Position | None:
        """Where the next card goes, or None when the hand is complete."""
        return next_position([c.points for c in self.player], [c.points for c in self.banker])

    @property
    def dealt(self) -> tuple[Card, ...]:
        """The cards of the hand in the order they were drawn."""
        return tuple(self.cards.values())

    @property
    def cards(self) -> dict[Position, Card]:
        """What lies where, in deal order of the positions."""
        laid: dict[Position, Card] = {}
        for i in range(3):
            for side, hand in ((Side.PLAYER, self.player), (Side.BANKER, self.banker)):
                if i < len(hand):
                    laid[Position(f"{side.value[0].upper()}{i + 1}")] = hand[i]
        return laid


@dataclass(frozen=True)  # no slots: see tablectl.frozen
class State:
    """A table at one moment. ``row``, ``sequence``: the last journal row and public event folded in.

    ``version``: the last row that changed phase, holds or cards; commands carry the one their
    sender saw. ``last_scan`` tells what kind of card was seen last between rounds (``burn`` or
    ``result``), for naming the hold of a card that nobody expected.
    """

    phase: Phase = Phase.CLOSED
    rules: HouseRules | None = None
    shoe: Shoe | None = None
    round: Round | None = None
    holds: tuple[Hold, ...] = ()
    loose: tuple[Loose, ...] = ()
    aside: tuple[Aside, ...] = ()
    """Cards of this shoe that may yet be found to be of the round they were drawn with: table/aside.py."""
    by_hand: tuple[ToldByHand, ...] = ()
    """Cards of this round and the one before that people told."""
    rescan: Rescan | None = None
    bounced: Card | None = None
    """The card that the scanner says it read twice, until another is taken: see ``same-again``."""
    counting: Shoe | None = None
    """The set as far as it has passed the scanner in an inspection: a shoe without a number."""
    tags: tuple[str, ...] = ()
    """Own numbers, where they have some, of the cards drawn from this shoe, or passed in this inspection."""
    dealer: str | None = None
    pickup: str | None = None
    last_dealer: str | None = None
    pickups: tuple[tuple[str, str], ...] = ()
    """Each dealer who signed in since the table opened, with his pick-up direction."""
    burns_due: int = 0
    burn_reason: str = ""
    burn_first_card: bool = False
    burns_behind: tuple[tuple[int, str], ...] = ()
    """What was ordered while cards were due: how many of ``burns_due`` come after those, and why."""
    burn_run: tuple[tuple[int, str], ...] = ()
    """The burn cards that were due and came last, no other card between them: how many cards were out with
    each, and why it was burned. Without one whose value is burned besides: see table/repeats.py."""
    unread: int = 0
    unread_label: str = ""
    """Where the shoe says the card belongs that could not be read."""
    unread_deadline: int | None = None
    last_scan: str = ""
    shoes: int = 0
    last_shoe: int = 0
    """The shoe that ended last. One whose start was withdrawn is none."""
    inspected: bool = False
    """The cards were counted since the table opened or a shoe was last started."""
    shoe_since_open: bool = False
    unheard: bool = False
    """Nothing has come from this scanner to this process yet: what it said before is not known."""
    scanner_up: bool = False
    scanner_why: str = "not connected yet"
    device: str = ""
    """Identity of the scanner that was here last; empty: none yet, or another one was announced."""
    step_lost: bool = False
    """The shoe's labels are not believed until it says stand-by and begins a hand itself."""
    standby: bool = False
    auto_open: int | None = None
    last_outcome: Outcome | None = None
    """The last result, if the shoe dealt that hand in step and may be asked to agree."""
    last_pairs: tuple[bool, bool] = (False, False)
    """Player pair and Banker pair of that result."""
    count_due: bool = False
    """A shoe was taken out of play because its cards cannot be right: count them before the next."""
    alerts: tuple[tuple[str, str], ...] = ()
    swapped: bool = False
    """Another device was put in place of a dead one: its first start signal is expected."""
    settled: tuple[str, str] = ("", "")
    """The round that was settled last, and how: for whoever comes a moment too late."""
    settled_row: int = 0
    """The journal row that made it so."""
    revisions: tuple[tuple[int, int, int], ...] = ()
    """Shoe, round and revision (0: void) of each round that was amended or voided after its result."""
    unsettled: tuple[tuple[int, int], ...] = ()
    """Shoe and round of each whose settling event the game server refused: until it is voided or amended."""
    before_shoe: tuple[str, bool, bool] | None = None
    """Phase, ``inspected`` and ``shoe_since_open`` before ``shoe new``, until a card is drawn."""
    row: int = 0
    sequence: int = 0
    version: int = 0

    @property
    def newest_shoe(self) -> int:
        """The number of the shoe in play, or of the one that ended last; 0: there was none yet."""
        return self.last_shoe if self.shoe is None else self.shoe.number

    @property
    def the_shoe(self) -> Shoe:
        """The shoe in play, where there must be one."""
        assert self.shoe is not None, "there is no shoe in play"
        return self.shoe

    @property
    def the_round(self) -> Round:
        """The round in play, where there must be one."""
        assert self.round is not None, "there is no round in play"
        return self.round

    @property
    def the_rules(self) -> HouseRules:
        """The rules it is played by, where the table was opened."""
        assert self.rules is not None, "the table was never opened"
        return self.rules

    @property
    def held(self) -> bool:
        """Whether a hold lies over the phase."""
        return bool(self.holds)

    @property
    def reserved(self) -> tuple[Card, ...]:
        """Cards in excess of an earlier hand that are the first ones of the next."""
        return tuple(one.card for one in self.aside if one.place == RESERVED and one.card is not None)

    @property
    def labels_compared(self) -> bool:
        """Whether a shoe that names positions is believed to know where the next card of the hand goes.

        Out of step it is from its stand-by on, for then it begins a hand: what it does not call P1 is a later
        card, behind one of which nobody was told.
        """
        r = self.round
        if r is None or r.due is not Position.P1:
            return r is not None and r.in_step
        return self.standby or not self.step_lost

    @property
    def nothing_due(self) -> bool:
        """Whether no card is wanted from the shoe now."""
        if self.round is not None:
            return self.phase is Phase.COMPLETE
        return self.phase is not Phase.BURNING

    @property
    def where(self) -> str:
        """``SHOE/ROUND`` of the round in play, ``SHOE/-`` between rounds, ``-`` without a shoe."""
        if self.shoe is None:
            return "-"
        return f"{self.shoe.number}/{self.round.number if self.round else '-'}"


def told_by_hand(state: State, label: str, card: Card | None) -> ToldByHand | None:
    """The card told by hand whose own message this may be, come late: by its face, or by its place."""
    number = state.round.number if state.round else 0
    for told in state.by_hand:
        if told.card == card or (told.round == number and told.position == label):
            return told
    return None


def next_deadline(state: State) -> int | None:
    """When the table next wants to be told the time (CLOCK_BOOTTIME, ns), or None."""
    wanted = [state.auto_open, state.unread_deadline]
    if state.round is not None:
        r = state.round
        wanted.append(r.remind_deadline)
        if state.phase is Phase.BETTING and r.deadline is not None:
            wanted.append(r.deadline - r.pips_left * r.pip_every if r.pips_left else r.deadline)
    return min((w for w in wanted if w is not None), default=None)
