"""What a scanner driver is.  Pure: types and small state, no port is opened here.

A driver is a *link* (how bytes come) and a *decoder* (what the bytes mean).  The decoder is
sans-I/O: bytes and a time go in, items come out.  Every item is one of

* :class:`Scan`         a card left the shoe (``card=None``: it could not be read),
* :class:`DeviceEvent`  anything else the device says: cutting card, result button, error, lock,
* :class:`Reject`       bytes which mean nothing, with the reason.

Nothing is dropped in silence: each byte fed ends in an item or is filler the protocol allows.
Drivers, emulators and beepers are found by entry-point group (``tablectl.drivers``,
``tablectl.emulators``, ``tablectl.beepers``); this package never imports them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, runtime_checkable

from tablectl.cards import Card, Outcome
from tablectl.clock import Instant

PATTERNS: tuple[str, ...] = ("pip", "close", "accept", "reject", "hold")
"""What beepers play. ``pip``: the last seconds of betting; ``close``: no more bets; ``accept``, ``reject``:
a scan; ``hold``."""


class Label(StrEnum):
    """Where the shoe itself says a card belongs; ``NONE`` if it only streams cards."""

    NONE = ""
    P1 = "P1"
    B1 = "B1"
    P2 = "P2"
    B2 = "B2"
    P3 = "P3"
    B3 = "B3"
    BURN = "burn"
    BURN_COUNT = "burn-count"
    """The card whose value sets how many are burned."""
    OUTSIDE = "outside"
    """Drawn outside a game: the shoe was locked, in error or in setting mode."""
    OVERDRAW = "overdraw"
    """The shoe reports a card in excess."""


class DeviceKind(StrEnum):
    """What a shoe reports besides cards."""

    STARTED = "started"
    """Start of communication: power-up, reset or a new shoe. Never a new shoe by itself."""
    STANDBY = "standby"
    VERDICT = "verdict"
    """The dealer's result button, with the shoe's own opinion."""
    FORCED_END = "forced-end"
    CUT_CARD = "cut-card"
    ERROR = "error"
    ERROR_CLEARED = "error-cleared"
    LOCKED = "locked"
    UNLOCKED = "unlocked"
    SETTING = "setting"
    BURN_COUNT = "burn-count"
    """The shoe tells how many cards it expects to be burned (``number``)."""
    GAP = "gap"
    """A jump in the sequence numbers: frames may be lost."""
    DOUBT = "doubt"
    """No jump, but the numbers cannot rule out either that frames were lost just before this one."""
    BOUNCE = "bounce"
    """The same card again, too soon to be another one: taken as one card (``card`` says which)."""
    NOTICE = "notice"
    """Something to write down: a discarded stub, a bounce, a warning."""


class ErrorKind(StrEnum):
    """What an error of a shoe means to the table, whatever its number is with that maker."""

    UNREAD = "unread"
    OVERDRAW = "overdraw"
    BUTTON = "button"
    """A wrong button was pressed: nothing happened to a card."""
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Scan:
    """One physical card drawn. ``card`` is None when the shoe could not read it."""

    card: Card | None
    label: Label
    raw: bytes
    tag: str = ""
    """The card's own number, if it has one (RFID): the same tag is the same physical card, so never two."""


@dataclass(frozen=True, slots=True)
class DeviceEvent:
    """Something the device says that is not a card. ``text`` is for people."""

    kind: DeviceKind
    raw: bytes
    text: str = ""
    outcome: Outcome | None = None
    player_pair: bool = False
    banker_pair: bool = False
    number: int | None = None
    """The maker's error code, or the number of burn cards, by kind."""
    error: ErrorKind = ErrorKind.FAULT
    """For ``ERROR``: what it means."""
    card: Card | None = None
    """For ``BOUNCE``: the card that came again."""
    tag: str = ""
    """For ``BOUNCE``: its own number, as of :class:`Scan`."""
    unsure: bool = False
    """For ``BOUNCE``: it may as well be another card of the same face, so a person must look."""


@dataclass(frozen=True, slots=True)
class Reject:
    """Bytes that are no lawful frame. ``reason`` names the fault in words; nothing changes by them.

    ``framed``: the frame was whole and only what it says is unknown, a code of no card: that points at the
    card table and not at the line. ``code``: that code, for a technician; nothing is decided by it.
    ``lost``: a message did not become whole, it may have been a card, and nobody sends it again: the dealer
    is asked to look.
    """

    raw: bytes
    reason: str
    framed: bool = False
    code: bytes = b""
    lost: bool = False


Item = Scan | DeviceEvent | Reject


class Decoded(NamedTuple):
    """What came of some bytes: items in order, and bytes to send back to the device."""

    items: tuple[Item, ...]
    replies: bytes = b""


class Decoder(Protocol):
    """Bytes in, items out; pure. ``now`` is CLOCK_BOOTTIME in ns and never goes back.

    The same bytes give the same items however they are split (time-outs of the protocol apart),
    memory is bounded, and no input raises.
    """

    def feed(self, data: bytes, now: int) -> Decoded:
        """Take the bytes that arrived at ``now``."""

    def tick(self, now: int) -> Decoded:
        """Let time pass: call at or after :meth:`next_deadline`."""

    def next_deadline(self) -> int | None:
        """When :meth:`tick` is wanted, or None."""

    def reset(self) -> None:
        """Forget everything half-read: the link was opened anew."""


@runtime_checkable
class ToldLate(Protocol):
    """What a decoder has besides, if it decides by the time between messages: a device without numbers."""

    def late(self, since: int, now: int) -> None:
        """What is fed next, at ``now``, may have arrived at any moment from ``since`` on: nobody looked."""


class LinkFault(Exception):
    """The link could not be opened, or is lost. The text is for people and says the way out."""


class LinkRefused(LinkFault):
    """The device is there and may not be opened: rights, another reader, or another device than the pinned.

    Just after a plug it often passes by itself (udev and ModemManager are not done), so people are told
    only when it lasts.
    """


class Link(Protocol):
    """An open byte stream to a device. Owned by one thread; only that thread calls it."""

    identity: str
    """Which device was opened: the same after replugging and renumbering, another for another device."""
    where: str
    """Where it hangs now (``/dev/ttyUSB1``), for people."""

    def fileno(self) -> int:
        """A descriptor to wait on."""

    def read(self) -> bytes:
        """What is there, without waiting; ``b""`` if nothing is. Raises :class:`LinkFault` when lost."""

    def write(self, data: bytes) -> None:
        """Send all of ``data``. Raises :class:`LinkFault`."""

    def close(self) -> None:
        """Never raises; may be called twice."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What a driver's device can do, as the table must know it."""

    names_positions: bool = False
    has_result_button: bool = False
    reports_cutting_card: bool = False
    burn_frames: str = "burn"
    """How a shoe that names positions labels burn cards: ``burn``, ``game`` or ``outside``."""
    emulated: bool = False


def _any_device(device: str) -> None:
    pass


def _no_beep(settings: Mapping[str, Any], pattern: str) -> bytes:
    return b""


@dataclass(frozen=True, slots=True)
class Driver:
    """The entry-point object of a driver.

    ``decoder(settings)`` makes a fresh decoder and ``open(device, settings)`` a fresh link.
    ``settings`` is the ``[scanner]`` table of the configuration without the keys the controller
    itself uses (``driver``, ``device``); ``check(settings)`` raises :class:`ValueError`
    naming a key it does not know or a value it cannot use.
    """

    name: str
    about: str
    decoder: Callable[[Mapping[str, Any]], Decoder]
    open: Callable[[str, Mapping[str, Any]], Link]
    traits: Callable[[Mapping[str, Any]], Traits]
    check: Callable[[Mapping[str, Any]], None]
    check_device: Callable[[str], None] = _any_device
    """``check_device(device)`` raises :class:`ValueError` for a name that no device of this driver can have.
    Whether it is there is not asked."""
    paths: tuple[str, ...] = ()
    """Settings that name files; the configuration makes relative ones begin at its own folder."""
    speeds: tuple[int, ...] = ()
    """Line speeds (baud) such devices are found at, the usual one first; none: it hangs on no serial line."""
    dialects: tuple[Mapping[str, str], ...] = ()
    """Settings with which such devices were found speaking; tried on bytes that make no frame otherwise."""
    usb_ids: tuple[str, ...] = ()
    """``vvvv:pppp`` or ``vvvv:*``, lower-case hex: USB devices this driver may fit."""
    beep: Callable[[Mapping[str, Any], str], bytes] = _no_beep
    """``beep(settings, pattern)``: the bytes that make the device itself sound one of
    :data:`PATTERNS`; ``b""`` where it cannot."""


# --- what a reader thread hands to the table ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Arrived:
    """An item and when its last byte arrived."""

    item: Item
    at: Instant


@dataclass(frozen=True, slots=True)
class Discarded:
    """An item that waited in the line before the link was ready: written down, never played."""

    item: Item
    at: Instant


@dataclass(frozen=True, slots=True)
class ScannerLost:
    """The device is gone, or could not be opened at start. ``reason`` is for the dealer."""

    reason: str
    at: Instant


@dataclass(frozen=True, slots=True)
class ScannerRestored:
    """The device is there (again) and its line is settled. ``identity``, ``where``: as of :class:`Link`.

    A device that hangs nowhere is not remembered.
    """

    identity: str
    at: Instant
    where: str = ""


Arrival = Arrived | Discarded | ScannerLost | ScannerRestored


# --- reconnecting: one small pure state object -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Backoff:
    """When to try a lost device again. Delays in ns double from ``first`` to ``cap``."""

    first: int = 200_000_000
    cap: int = 5_000_000_000
    failures: int = 0
    retry_at: int | None = field(default=None)

    def failed(self, now: int) -> Backoff:
        """The state after one more failure at ``now``."""
        delay = min(self.cap, self.first << min(self.failures, 16))
        return Backoff(self.first, self.cap, self.failures + 1, now + delay)

    def succeeded(self) -> Backoff:
        """The state after a good connection."""
        return Backoff(self.first, self.cap)
