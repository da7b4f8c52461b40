"""What a beeper is, and what it can do besides being heard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable


class Beeper(Protocol):
    """A thing that makes itself heard or seen; found by the entry-point group ``tablectl.beepers``.

    Both methods are called by one thread only. The entry point is ``make(settings) -> Beeper``, which
    raises :class:`ValueError` naming a setting it cannot use and touches no device. Where it can, a beeper
    is :class:`Checked`, :class:`Hushed` and :class:`OfScanner` besides.
    """

    def play(self, pattern: str) -> None:
        """Play one of :data:`tablectl.scanner.PATTERNS`. May block; any exception: it could not be heard."""

    def close(self) -> None:
        """Let go of the device."""


@runtime_checkable
class Checked(Protocol):
    """A beeper that can tell without a sound whether it is there."""

    def check(self) -> None:
        """Open the device and leave it silent and dark, also what a killed process left on.

        Raises :class:`OSError` saying why not. Called by the thread that plays: at the start, and now and
        then while it is in trouble.
        """


@runtime_checkable
class Hushed(Protocol):
    """A beeper that can be cut short."""

    def ready(self) -> None:
        """A pattern is about to be played: a :meth:`hush` from before concerns it not. Never blocks."""

    def hush(self) -> None:
        """End, soon, the pattern that :meth:`ready` told of, begun or not. From any thread; never blocks."""


@runtime_checkable
class OfScanner(Protocol):
    """A beeper that is the scanner's own."""

    def attach(self, beep: Callable[[str], bytes], say: Callable[[bytes], bool]) -> None:
        """Before anything is played: the bytes of a pattern, and how they reach the device.

        ``say`` as :meth:`tablectl.reader.Reader.say`. Raises :class:`ValueError`, naming a key, if the
        scanner has no beep.
        """
