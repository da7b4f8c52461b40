"""Bytes without end for every decoder: good messages, damaged ones, rubbish and pauses, held to what it owes.

Hypothesis draws a sequence of pieces and shrinks what fails; each piece is made large by a seed, so that
megabytes go through in minutes. Held to, at every piece: nothing raises, the items are lawful, what is
held back stays bounded. At every end: each byte is in an item, or is filler that the protocol allows.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from tablectl_drivers import angel_eye_wire

from tablectl.cards import DECK
from tablectl.scanner import DeviceEvent, DeviceKind, Item
from tests.drivers import contract
from tests.drivers.contract import SUBJECTS, Subject

KINDS = ("good", "damaged", "rubbish", "byte", "pause", "reset")
LONG = 1_000_000
"""Bytes from which on it can be seen whether a decoder grows."""

PIECE = 600
"""Bytes of a piece, about."""

Piece = tuple[str, int, bytes]
"""Kind, seed, and bytes that hypothesis itself chose."""

pieces = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 2**32), st.binary(max_size=40)), min_size=1, max_size=60
)


@dataclass
class Figures:
    """What one decoder was given, and what it cost."""

    name: str
    fed: int = 0
    items: Counter[str] = field(default_factory=Counter)
    nanoseconds: int = 0
    slowest: float = 0.0
    """Ns of processor per byte of the slowest piece of at least 100 bytes."""
    memory: int = 0
    """Most bytes the decoder itself took, beyond a fresh one."""
    grown: int = 0
    """Bytes by which a decoder that runs on and on grew in the second half of its bytes."""

    @property
    def rate(self) -> float:
        """MB a second."""
        return self.fed * 1e3 / self.nanoseconds if self.nanoseconds else 0.0

    def line(self) -> str:
        kinds = "".join(f"{self.items[kind]:>10,}" for kind in ("Scan", "DeviceEvent", "Reject"))
        cost = f"{self.nanoseconds / 1e9:>9.1f}{self.rate:>8.2f}{self.slowest / 1000:>10.2f}"
        return f"{self.name:<14}{self.fed:>13,}{kinds}{cost}{self.memory:>9,}{self.grown:>8,}"


HEAD = (
    f"{'driver':<14}{'bytes':>13}{'scans':>10}{'events':>10}{'rejects':>10}"
    f"{'seconds':>9}{'MB/s':>8}{'us/B max':>10}{'memory':>9}{'grown':>8}"
)


# --- what a piece is ------------------------------------------------------------------------------------


def made(subject: Subject, encode: Callable[[Any], bytes], piece: Piece) -> bytes:
    """The bytes of a piece."""
    kind, number, drawn = piece
    rng = random.Random(number)
    match kind:
        case "good":
            data = b"".join(encode(rng.choice([*DECK, None])) for _ in range(rng.randrange(1, 12)))
        case "damaged":
            data = b"".join(contract.damaged(subject, number + i) for i in range(8))
        case "rubbish":
            data = drawn + rng.randbytes(rng.randrange(PIECE))
        case "byte":
            message = encode(DECK[number % 52])
            data = drawn + bytes((rng.choice([*message, 0, 255]),)) * rng.randrange(PIECE)
        case _:
            return b""
    return data[: len(data) - len(data) % subject.noise_unit]


class Session:
    """One decoder from its making to its end."""

    keeps = True
    """Whether items are kept for the account at the end."""

    def __init__(self, subject: Subject, figures: Figures) -> None:
        self.subject = subject
        self.figures = figures
        self.decoder = subject.decoder()
        self.encode = subject.encoder()
        self.fresh = deep_size(self.decoder)
        self.stream = bytearray()
        self.items: list[Item] = []
        self.now = 1_000_000_000

    def take(self, piece: Piece) -> None:
        """Hand a piece over, in parts, and look at everything."""
        kind, number, _ = piece
        rng = random.Random(number ^ 0x5EED)
        if kind == "pause":
            self.now += rng.choice((1, 50, 300, 900, 3_000, 100_000)) * 1_000_000
            self._keep(contract.drain(self.decoder, self.now) if rng.random() < 0.5 else [])
            return
        if kind == "reset":
            self._keep(contract.drain(self.decoder, self.now))
            self._account()
            self.decoder.reset()
            return
        try:
            data = made(self.subject, self.encode, piece)
        except ValueError:  # every tag of such a card is out: other decks
            self.encode = self.subject.encoder()
            data = made(self.subject, self.encode, piece)
        if self.keeps:
            self.stream += data
        begun = time.thread_time_ns()
        for part in _parts(data, rng):
            decoded = self.decoder.feed(part, self.now)
            if self.keeps:
                self.items += decoded.items
            contract.check_decoded(decoded)
            assert contract.pending(self.decoder) <= self.subject.memory
            self.now += rng.choice((0, 0, 1_000_000, 20_000_000))
        spent = time.thread_time_ns() - begun
        figures = self.figures
        figures.fed += len(data)
        figures.nanoseconds += spent
        if len(data) >= 100:
            figures.slowest = max(figures.slowest, spent / len(data))

    def end(self) -> None:
        """Let time pass; nothing may be held back then, and nothing be unaccounted for."""
        self._keep(contract.drain(self.decoder, self.now))
        assert contract.pending(self.decoder) == 0
        self._account()
        self.figures.memory = max(self.figures.memory, deep_size(self.decoder) - self.fresh)

    def _keep(self, items: Sequence[Item]) -> None:
        self.items += items

    def _account(self) -> None:
        self.figures.items.update(_kind(item) for item in self.items)
        if (allowed := FILLER.get(self.subject.name)) is not None:
            check_accounts(bytes(self.stream), self.items, allowed)
        self.stream.clear()
        self.items.clear()


def _kind(item: Item) -> str:
    return type(item).__name__


def _parts(data: bytes, rng: random.Random) -> list[bytes]:
    if rng.random() < 0.5:
        return [data]
    parts, size = [], rng.choice((1, 3, 40, 200))
    while data:
        at = rng.randrange(1, size + 1)
        parts.append(data[:at])
        data = data[at:]
    return parts


# --- each byte is in an item or is filler ------------------------------------------------------------------


Skips = Callable[[bytes, int], Iterator[int]]
"""How far a stream may be passed over in silence, from a place on: all places, that one first."""


def check_accounts(stream: bytes, items: Sequence[Item], skips: Skips) -> None:
    """Every item's bytes stand in the stream, in order; what lies between them may be passed over.

    A reject may look like the beginning of a copy that was passed over, so all ways to lay the items over the
    stream are followed; one must lead to its end.
    """
    ends = {0}
    for item in items:
        raw = item.raw
        if not raw or (isinstance(item, DeviceEvent) and item.kind in (DeviceKind.GAP, DeviceKind.DOUBT)):
            continue  # a gap is told of the frame behind it, which is an item of its own
        after = {at + len(raw) for end in ends for at in skips(stream, end) if stream.startswith(raw, at)}
        if not after:
            end = min(ends)
            raise AssertionError(f"{item!r} is not what was fed; passed over: {stream[end : end + 80]!r}")
        ends = after
    if not any(len(stream) in skips(stream, end) for end in ends):
        raise AssertionError(f"passed over in silence: {stream[min(ends) :][:80]!r}")


def _copies(stream: bytes, at: int) -> Iterator[int]:
    """An Angel Eye's copies of events told before: whole frames."""
    yield at
    while stream[at : at + 1] == b"\x05":
        end = stream.find(b"\x03", at, at + angel_eye_wire.FRAME_CAP)
        body, bcc = stream[at + 1 : end + 1], stream[end + 1 : end + 3]
        if end < 0 or angel_eye_wire.block_check(body, "strict") != bcc:
            return
        at = end + 3
        yield at


def _blanks_and_trail(stream: bytes, at: int) -> Iterator[int]:
    """A Bee-Tek's blanks, and the card's characters once more: at most eight bytes."""
    for to in range(at, len(stream) + 1):
        if len(stream[at:to].strip(b" \t\r\n\0")) > 8:
            return
        yield to


def _line_ends(stream: bytes, at: int) -> Iterator[int]:
    """Empty lines."""
    yield at
    while stream[at : at + 1] in (b"\r", b"\n"):
        at += 1
        yield at


FILLER: dict[str, Skips] = {"angel-eye": _copies, "bee-tek": _blanks_and_trail, "barcode": _line_ends}
"""What a decoder may pass over, where its items hold the bytes as they came."""


# --- memory ---------------------------------------------------------------------------------------------


def deep_size(thing: object) -> int:
    """Bytes of an object and of what belongs to it alone: its fields, what its containers hold.

    A number counts wherever it stands: whether two instants of one value are one object is chance.
    """
    seen: set[int] = set()

    def size(one: object) -> int:
        if isinstance(one, int):
            return sys.getsizeof(one)
        if id(one) in seen or isinstance(one, type) or callable(one):
            return 0
        seen.add(id(one))
        total = sys.getsizeof(one)
        if isinstance(one, dict):
            return total + sum(size(key) + size(value) for key, value in one.items())
        if isinstance(one, list | tuple | set | frozenset):
            return total + sum(map(size, one))
        names = [*getattr(one, "__dict__", {}), *getattr(type(one), "__slots__", ())]
        return total + sum(size(getattr(one, name)) for name in names if hasattr(one, name))

    return size(thing)


def growth(name: str, least: int, start: int = 0) -> int:
    """Bytes that one decoder which is never made anew holds more after so many bytes than half-way there."""
    rng = random.Random(start)
    session = Session(SUBJECTS[name], Figures(name))
    session.keeps = False
    held = []
    for half in (1, 2):
        while session.figures.fed < least * half // 2:
            kind = rng.choice(("good", "damaged", "rubbish", "byte", "pause"))
            session.take((kind, rng.randrange(2**32), b""))
        session.items.clear()
        held.append(deep_size(session.decoder))
    return held[1] - held[0]


# --- so many bytes ----------------------------------------------------------------------------------------


def fuzz(name: str, least: int, start: int = 0) -> Figures:
    """At least so many bytes through the decoder ``name``. Raises what fails, shrunk by hypothesis."""
    subject, figures = SUBJECTS[name], Figures(name)
    while figures.fed < least:

        @seed(start)
        @settings(
            max_examples=max(1, min(200, (least - figures.fed) // 8000 + 1)),
            deadline=None,
            database=None,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
        )
        @given(pieces)
        def run(drawn: list[Piece]) -> None:
            session = Session(subject, figures)
            for piece in drawn:
                session.take(piece)
            session.end()

        run()
        start += 1
    if least >= LONG:
        # A reader of tags remembers each tag once: a short run still sees new ones, for which a table grows.
        figures.grown = growth(name, least if name == "rfid" else least // 10, start)
    assert figures.grown <= 4096 + subject.memory, f"{name} grows: {figures.grown} bytes"
    return figures
