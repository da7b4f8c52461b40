"""What goes wrong between a shoe and its reader, by name and seed.  Pure.

A fault is written ``NAME`` or ``NAME:N``: it strikes every N-th time on average (without N every tenth
time). The same seed strikes at the same places, so a failure found at night is there again in the morning.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

FAULTS: dict[str, str] = {
    "split": "frames arrive in random pieces with small pauses",
    "duplicate": "more copies of a frame than the protocol sends",
    "garble": "one copy damaged, or noise on the line before it",
    "drop": "one copy lost; where a frame is sent once, the card is lost",
    "stall": "the line pauses",
    "unreadable": "the shoe cannot read the card",
    "hang-up": "the cable comes out in mid-frame, and goes in again",
    "cut-mid-hand": "the cutting card comes out in mid-hand",
    "lose": "every copy of a frame lost",
    "echo": "a frame comes once more after a long pause",
    "freeze": "the line stands still for seconds, in mid-frame",
    "noise": "a burst of rubbish before a frame, as of a wrong baud rate",
}
"""The names, and what they do."""

DEFAULT_EVERY = 10
UNPLUGGED_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Say:
    """Put these bytes on the wire."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Wait:
    """Be silent for so many seconds (at speed 1, unless ``real``)."""

    seconds: float
    real: bool = False


@dataclass(frozen=True, slots=True)
class Unplug:
    """Pull the cable."""


@dataclass(frozen=True, slots=True)
class Plug:
    """Put the cable back."""


Step = Say | Wait | Unplug | Plug


class Faults:
    """Decides where faults strike. Raises :class:`ValueError` for an unknown name or a bad number."""

    def __init__(self, faults: Sequence[str] = (), seed: int = 0) -> None:
        self._every = dict(map(_parse, faults))
        self._random = random.Random(seed)  # noqa: S311  repeatable on purpose

    def strikes(self, name: str) -> bool:
        """Whether the fault ``name`` happens this time."""
        every = self._every.get(name)
        return every is not None and self._random.random() * every < 1

    def number(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``, of the same seed."""
        return self._random.randint(low, high)

    def on_the_wire(self, frame: bytes, copies: int, gap: float) -> list[Step]:
        """The steps that send ``frame`` ``copies`` times, ``gap`` seconds apart, with what goes wrong."""
        if not self._every:
            return _spaced([[Say(frame)] for _ in range(copies)], gap)
        if self.strikes("lose"):
            return []
        sent = [frame] * copies
        if self.strikes("duplicate"):
            sent += [frame] * self.number(1, 3)
        if self.strikes("drop"):
            sent.pop()
        spoilt = self.number(0, len(sent) - 1) if sent and self.strikes("garble") else None
        told: list[list[Step]] = []
        for i, copy in enumerate(sent):
            steps: list[Step] = [Say(copy)]
            if i == spoilt:
                steps = [self._spoil(copy, alone=copies == 1)]
            told.append(steps)
        if sent and self.strikes("split"):
            told = [self._split(steps) for steps in told]
        hung_up = bool(sent) and self.strikes("hang-up")
        if hung_up:
            told[self.number(0, len(sent) - 1)] = self._hang_up(frame)
        steps = _spaced(told, gap)
        if self.strikes("stall"):
            steps.insert(self.number(0, min(1, len(steps))), Wait(self.number(200, 800) / 1000))
        if sent and self.strikes("freeze"):
            steps = self._freeze(steps)
        # A reader that opened the line anew has forgotten what came before: no echo comes over that.
        if sent and not hung_up and self.strikes("echo"):
            steps += [Wait(self.number(1500, 5000) / 1000), Say(frame)]
        if self.strikes("noise"):
            steps.insert(0, Say(self._random.randbytes(self.number(20, 300))))
        return steps

    def _spoil(self, frame: bytes, alone: bool) -> Say:
        if alone:
            # A protocol without checksum cannot tell 4S from 5S: the damage done must be one that shows.
            at = self.number(0, len(frame) - 1)
            return Say(frame[:at] + bytes([frame[at] | 0x80]) + frame[at + 1 :])
        if self.number(0, 1):
            return Say(self._random.randbytes(self.number(1, 12)) + frame)
        at = self.number(0, len(frame) - 1)
        return Say(frame[:at] + bytes([frame[at] ^ 1 << self.number(0, 7)]) + frame[at + 1 :])

    def _split(self, steps: list[Step]) -> list[Step]:
        split: list[Step] = []
        for step in steps:
            if not isinstance(step, Say):
                split.append(step)
                continue
            rest = step.data
            while rest:
                size = self.number(1, len(rest))
                split += [Say(rest[:size]), Wait(self.number(1, 8) / 1000)]
                rest = rest[size:]
        return split

    def _freeze(self, steps: list[Step]) -> list[Step]:
        at = next(i for i, step in enumerate(steps) if isinstance(step, Say))
        said = steps[at]
        assert isinstance(said, Say)
        cut = self.number(0, len(said.data))
        pause = Wait(self.number(1000, 6000) / 1000)
        return [*steps[:at], Say(said.data[:cut]), pause, Say(said.data[cut:]), *steps[at + 1 :]]

    def _hang_up(self, frame: bytes) -> list[Step]:
        # Real seconds: the reader's patience does not scale with the emulator's speed.
        cut = self.number(1, len(frame) - 1)
        return [Say(frame[:cut]), Unplug(), Wait(UNPLUGGED_SECONDS, real=True), Plug()]


def _spaced(copies: Sequence[Sequence[Step]], gap: float) -> list[Step]:
    steps: list[Step] = []
    for i, copy in enumerate(copies):
        if i:
            steps.append(Wait(gap))
        steps += copy
    return steps


def _parse(text: str) -> tuple[str, float]:
    name, colon, number = text.partition(":")
    if name not in FAULTS:
        raise ValueError(f"fault {name!r} is none of {', '.join(FAULTS)}")
    try:
        every = float(number) if colon else float(DEFAULT_EVERY)
    except ValueError:
        every = 0.0
    if not 1 <= every < float("inf"):
        raise ValueError(
            f"fault {text!r}: write {name} or {name}:N, N at least 1 (every N-th time on average)"
        )
    return name, every
