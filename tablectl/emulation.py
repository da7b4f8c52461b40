"""What an emulated shoe is, as the demo, the scripted dealer and `tablectl emulate` see it.

An emulated shoe stands for the physical one: it holds real cards in an order, a hand draws from
it, and it speaks its protocol on a pseudo-terminal or a TCP port exactly as the device would.
Emulators come by the entry-point group ``tablectl.emulators``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tablectl.cards import Card, Outcome


@dataclass(frozen=True, slots=True)
class Drawn:
    """What came out of the shoe: a card, or the cutting card (``card`` None)."""

    card: Card | None

    @property
    def cutting_card(self) -> bool:
        """Whether it was the cutting card."""
        return self.card is None


class EmulatedShoe(Protocol):
    """A shoe in somebody's hands. All methods may be called from any one thread."""

    def load(self, cards: Sequence[Card], cutting_cards: Sequence[int] = ()) -> None:
        """Put ``cards`` in, first card first out. ``cutting_cards``: each the number of cards before it."""

    def draw(self, burn: bool = False) -> Drawn | None:
        """Draw the next card or cutting card and speak of it on the wire; None: the shoe is empty.

        ``burn``: the shoe's user does it as a burn (a shoe with a burn mode labels it so).
        """

    def press_result(self, outcome: Outcome | None = None) -> None:
        """Press the result button: the shoe names the outcome of its own hand, or the one given.

        Does nothing on a shoe without that button.
        """

    def standby(self) -> None:
        """The round is over: the shoe makes ready for the next one (`P` of an Angel Eye)."""

    def force_end(self) -> None:
        """End the hand by force: the button for a void round. Nothing on a shoe without buttons."""

    def lock(self, locked: bool) -> None:
        """Turn the key: a locked shoe calls each card drawn one outside a game. Nothing without a key."""

    def restart(self) -> None:
        """Power-cycle: the start signal, and the shoe's own hand forgotten."""

    def hang_up(self) -> None:
        """Pull the cable: the port goes away."""

    def plug_in(self) -> None:
        """Put the cable back: the port is there again, at the same link."""

    def flush(self) -> None:
        """Wait until everything said so far is on the wire."""

    def close(self) -> None:
        """Stop speaking and remove the port."""

    @property
    def device(self) -> str:
        """What a configuration names to reach it: a path, or ``tcp://host:port``."""

    @property
    def left(self) -> int:
        """Cards still in the shoe."""


@dataclass(frozen=True, slots=True)
class Emulator:
    """The entry-point object: makes an emulated shoe of one protocol.

    ``make(link=, listen=, speed=, faults=, seed=, settings=)``: ``link`` is the path of a symbolic link to
    the pseudo-terminal (a new one in a temporary folder if None), ``listen`` a TCP port instead;
    ``speed`` divides every pause of the protocol; ``faults`` are ``NAME`` or ``NAME:N`` (every
    N-th time, on average, by ``seed``); ``settings`` are the ``[scanner]`` keys of the driver that is to
    read it, with the paths in them resolved (none: the protocol's usual ones, where that is enough).
    """

    name: str
    about: str
    make: Callable[..., EmulatedShoe]
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The ``[scanner]`` keys a configuration needs to read it, as they would be written there."""
    paced: tuple[str, ...] = ()
    """Those of the settings that are times: whoever plays faster divides them by the speed."""

    def settings_at(self, speed: float) -> dict[str, Any]:
        """The settings for a shoe which is dealt ``speed`` times as fast as by a person."""
        if speed == 1:
            return dict(self.settings)
        return {key: value / speed if key in self.paced else value for key, value in self.settings.items()}
