"""What can reach a table, what surrounds it, and what comes of a decision.

Inputs are scans and shoe reports (:mod:`tablectl.scanner`), commands of people, time, and the
start of the process.  Each has a :class:`Kind`, the column of the transition table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from tablectl.clock import Instant
from tablectl.events import Event, RoundResulted
from tablectl.house import HouseRules
from tablectl.scanner import (
    Arrived,
    DeviceEvent,
    DeviceKind,
    Discarded,
    Item,
    Reject,
    Scan,
    ScannerLost,
    ScannerRestored,
    Traits,
)
from tablectl.table.state import State


class Kind(StrEnum):
    """Every kind of input; commands are named as they are typed."""

    CARD = "card"
    UNREAD = "unread card"
    CUT_SEEN = "cutting card seen"
    VERDICT = "shoe's verdict"
    FORCED_END = "shoe's forced end"
    STANDBY = "shoe's stand-by"
    SHOE_STARTED = "shoe's start signal"
    SHOE_ERROR = "shoe's error"
    SHOE_NOTE = "shoe's note"
    REJECTED = "rejected bytes"
    DISCARDED = "discarded scan"
    LOST = "scanner lost"
    RESTORED = "scanner restored"
    TIME = "time"
    STARTED = "controller started"
    TROUBLE = "trouble"
    JOURNAL_FULL = "journal full"
    JOURNAL_BACK = "journal back"

    OPEN = "open"
    CLOSE = "close"
    SIGN_IN = "sign-in"
    SIGN_OUT = "sign-out"
    INSPECT = "shoe inspect"
    SHOE_NEW = "shoe new"
    BETS_OPEN = "bets open"
    BETS_CLOSE = "bets close"
    CUT_CARD = "cut-card"
    TURN = "turn"
    CONFIRM = "confirm"
    HOLD = "hold"
    ACK = "ack"
    BURN_DONE = "burn done"
    RESCAN = "rescan"
    SAME_AGAIN = "same-again"
    RELEASE = "release"
    CORRECT = "correct"
    INSERT = "insert"
    MOVE = "move"
    ENTER = "enter"
    VOID = "void"
    BURN = "burn"
    BURN_ERROR = "burn-error"
    HAND_FREE = "hand free"
    SHOE_END = "shoe end"
    AMEND = "amend"
    SHOE_ADOPT = "shoe adopt"
    CUT_UNDO = "cut-card undo"
    SHOE_UNDO = "shoe new undo"
    DEVICE_SWAP = "device swap"


COMMANDS = frozenset(k for k in Kind if list(Kind).index(k) >= list(Kind).index(Kind.OPEN))
"""The kinds that people type."""

SUPERVISED = frozenset(
    {
        Kind.RELEASE,
        Kind.CORRECT,
        Kind.INSERT,
        Kind.MOVE,
        Kind.ENTER,
        Kind.VOID,
        Kind.AMEND,
        Kind.BURN,
        Kind.BURN_ERROR,
        Kind.HAND_FREE,
        Kind.SHOE_END,
        Kind.SHOE_ADOPT,
        Kind.CUT_UNDO,
        Kind.SHOE_UNDO,
        Kind.DEVICE_SWAP,
        Kind.INSPECT,
    }
)
"""Commands that only an authenticated pit boss gives, with a reason (:mod:`tablectl.table.reasons`)."""

ROUND_CHANGING = SUPERVISED | {Kind.BETS_CLOSE, Kind.TURN, Kind.CONFIRM, Kind.RESCAN, Kind.SAME_AGAIN}
"""Commands that must carry what their sender saw."""


LOOKING_BACK = frozenset({Kind.VOID, Kind.AMEND})
"""Commands that may name a round settled before (``args["round"]``)."""


@dataclass(frozen=True, slots=True)
class Expect:
    """What the sender of a command saw: a round (``SHOE/ROUND``), a state version, or both."""

    round: str | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """A settled round as the journal has it, for the commands that look back.

    ``result``: its last result, amendments included; None when it was void before it had one. ``revision``:
    of that result; ``voided``: nothing more can become of it. ``rules``: those its shoe was dealt under.
    ``table``: for a shoe that has ended, as it stood then, with what became of its rounds since; None: not
    known.
    """

    shoe: int
    round: int
    result: RoundResulted | None
    revision: int
    voided: bool
    rules: HouseRules
    table: State | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A command as it reached the controller, its sender already authenticated.

    ``past``: the round that :data:`LOOKING_BACK` commands name, if it was settled before.
    """

    kind: Kind
    at: Instant
    id: str = ""
    args: dict[str, str] = field(default_factory=dict)
    person: str | None = None
    supervisor: bool = False
    uid: int | None = None
    reason: str | None = None
    expect: Expect = Expect()
    past: Past | None = None


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has come this far."""

    at: Instant


@dataclass(frozen=True, slots=True)
class Started:
    """A process began on this journal. ``mended``: what was, in words; ``lost``: rows are gone by it."""

    at: Instant
    version: str
    mended: str = ""
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something outside the game that people must know; raised once until somebody acknowledges it.

    ``news``: ``anew`` puts another text in place of one nobody has acknowledged, ``over`` does so only where
    there is one: what it ordered is not to be done any more.
    """

    at: Instant
    code: str
    message: str
    news: Literal["first", "anew", "over"] = "first"


@dataclass(frozen=True, slots=True)
class JournalFilled:
    """The journal's queue is nearly full (``full``), or has room again."""

    at: Instant
    full: bool


Input = (
    Arrived | Discarded | ScannerLost | ScannerRestored | Command | Tick | Started | Trouble | JournalFilled
)

_DEVICE_KINDS = {
    DeviceKind.CUT_CARD: Kind.CUT_SEEN,
    DeviceKind.VERDICT: Kind.VERDICT,
    DeviceKind.FORCED_END: Kind.FORCED_END,
    DeviceKind.STANDBY: Kind.STANDBY,
    DeviceKind.STARTED: Kind.SHOE_STARTED,
    DeviceKind.ERROR: Kind.SHOE_ERROR,
}


def kind_of(given: Input) -> Kind:
    """The column of an input in the transition table."""
    match given:
        case Arrived(item=item):
            return _kind_of_item(item)
        case Discarded():
            return Kind.DISCARDED
        case ScannerLost():
            return Kind.LOST
        case ScannerRestored():
            return Kind.RESTORED
        case Command(kind=kind):
            return kind
        case Tick():
            return Kind.TIME
        case Started():
            return Kind.STARTED
        case Trouble():
            return Kind.TROUBLE
        case JournalFilled(full=full):
            return Kind.JOURNAL_FULL if full else Kind.JOURNAL_BACK


def _kind_of_item(item: Item) -> Kind:
    match item:
        case Scan(card=card):
            return Kind.UNREAD if card is None else Kind.CARD
        case DeviceEvent(kind=kind):
            return _DEVICE_KINDS.get(kind, Kind.SHOE_NOTE)
        case Reject():
            return Kind.REJECTED


@dataclass(frozen=True, slots=True)
class Around:
    """What surrounds the table and is no part of its replayed state.

    ``rules``: the configured profile, for the next opening or shoe. ``link_why``: why the game
    server's link is not good, None when it is. ``journal_why``: the same for the journal.
    """

    rules: HouseRules
    traits: Traits = Traits()
    link_why: str | None = None
    journal_why: str | None = None


# --- what comes of a decision ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Signal:
    """A beep pattern to fire and forget: pip, close, accept, reject or hold."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Say:
    """Words for the dealer: what to call, or what to do next."""

    text: str


Effect = Signal | Say


@dataclass(frozen=True, slots=True)
class Decision:
    """Events to journal, effects to fire, the answer to a command, and the state they lead to.

    ``state`` is the fold of ``events`` over the state decided on. ``refused`` is the reason of a
    refused command; its only event is the private record of it. ``asks``: the argument whose lack is why.
    """

    events: tuple[Event, ...]
    effects: tuple[Effect, ...]
    state: State
    answer: str = ""
    refused: bool = False
    asks: str = ""
