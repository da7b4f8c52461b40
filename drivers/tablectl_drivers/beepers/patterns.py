"""What each pattern sounds or looks like, as a site writes it down: one notation for every beeper. Pure.

A beeper's settings may hold a table ``patterns`` with some of pip, close, accept, reject and hold; one left
out is the beeper's own, ``[]`` is silent. What stands there depends on what the device can do:

    tones          [[880, 500]]  or  [[330, 150], [0, 60], [330, 150]]     [Hz, ms], 0 Hz a pause
    on and off     [150, 100, 150]                                         ms on, ms off, ms on
    lamp and buzzer  { light = "red", buzzer = "call", count = 2, ms = 600 }
    rings          3
    bytes          "16 07 0D"                                              in hex

No pattern takes longer than three seconds. Every fault names the key and shows what is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from tablectl.scanner import PATTERNS

LONGEST_MS = 3000
"""How long a pattern may take, all in all."""

MOST_STEPS = 32
MOST_RINGS = 9
MOST_BYTES = 64
LOWEST_HZ, HIGHEST_HZ = 20, 15_000

Tones = tuple[tuple[int, int], ...]
"""Steps of (Hz, ms); 0 Hz is a pause."""

T = TypeVar("T")

_HEX = re.compile(r"(?:[0-9A-Fa-f]{2}(?: [0-9A-Fa-f]{2})*)?", re.ASCII)


def read(
    settings: Mapping[str, Any], usual: Mapping[str, T], parse: Callable[[object], T], silent: T
) -> dict[str, T]:
    """Every pattern, the site's or the ``usual`` one. ``parse`` raises :class:`ValueError`: what it wants.

    Raises :class:`ValueError` naming the key (``patterns.pip``).
    """
    given = settings.get("patterns", {})
    if not isinstance(given, Mapping):
        raise ValueError("patterns: this is a table of its own: [beeper.patterns], with pip = … in it")
    made = dict(usual)
    for name, value in given.items():
        if name not in PATTERNS:
            raise ValueError(f"patterns.{name}: there is no such pattern; there are {', '.join(PATTERNS)}")
        try:
            made[name] = silent if value == [] else parse(value)
        except ValueError as fault:
            raise ValueError(f"patterns.{name}: {fault}") from None
    return made


def tones(value: object) -> Tones:
    """``[[Hz, ms], …]``. Raises :class:`ValueError`."""
    wants = f"{value!r} is no list of tones; write [[880, 500]], each [Hz, ms], or [] for silence"
    steps = []
    for step in _steps(value, wants):
        if not isinstance(step, Sequence) or isinstance(step, str) or len(step) != 2:
            raise ValueError(wants)
        pitch, length = (whole(number, wants) for number in step)
        if pitch and not LOWEST_HZ <= pitch <= HIGHEST_HZ:
            raise ValueError(f"{pitch} Hz cannot be heard; {LOWEST_HZ} to {HIGHEST_HZ}, or 0 for a pause")
        steps.append((pitch, length))
    _short_enough([length for _, length in steps])
    return tuple(steps)


def on_off(value: object) -> tuple[int, ...]:
    """``[ms on, ms off, ms on, …]``. Raises :class:`ValueError`."""
    wants = f"{value!r} is no list of times; write [150, 100, 150], ms on, off, on, or [] for silence"
    times = tuple(whole(one, wants) for one in _steps(value, wants))
    _short_enough(times)
    return times


def rings(value: object) -> int:
    """How many rings. Raises :class:`ValueError`."""
    wants = f"{value!r} is no number of rings; write 0 to {MOST_RINGS}"
    if not 0 <= (count := whole(value, wants)) <= MOST_RINGS:
        raise ValueError(wants)
    return count


def hex_bytes(value: object) -> bytes:
    """``"16 07 0D"``. Raises :class:`ValueError`."""
    if not isinstance(value, str) or not _HEX.fullmatch(value) or len(value) > 3 * MOST_BYTES:
        raise ValueError(
            f'{value!r} is no text of bytes; write them in hex, "16 07 0D", {MOST_BYTES} at most, '
            "or [] for silence"
        )
    return bytes.fromhex(value)


def whole(value: object, wants: str) -> int:
    """A whole number of 0 or more. Raises :class:`ValueError` with ``wants``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(wants)
    return value


def _steps(value: object, wants: str) -> Sequence[Any]:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise ValueError(wants)
    if len(value) > MOST_STEPS:
        raise ValueError(f"{len(value)} steps are too many; {MOST_STEPS} are allowed")
    return value


def _short_enough(times: Sequence[int]) -> None:
    if 0 in times:
        raise ValueError("a step of 0 ms is none; leave it out")
    if sum(times) > LONGEST_MS:
        raise ValueError(f"it takes {sum(times)} ms; {LONGEST_MS} at most: a long signal comes in the way")


USUAL_TONES: Mapping[str, Tones] = {
    "pip": ((1000, 80),),
    "close": ((880, 500),),
    "accept": ((1760, 60),),
    "reject": ((330, 150), (0, 60), (330, 150)),
    "hold": ((660, 150), (0, 60), (440, 150), (0, 60), (660, 150), (0, 60), (440, 150)),
}
"""The tones of every beeper that can play some."""
