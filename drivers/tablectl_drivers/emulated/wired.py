"""What every emulated shoe shares: cards in a box, a wire, faults on the way, and one lock round it all."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence

from tablectl.cards import Card, Outcome
from tablectl.emulation import Drawn
from tablectl_drivers.emulated.faults import Faults
from tablectl_drivers.emulated.port import Port, PtyPort
from tablectl_drivers.emulated.shoe import Stock
from tablectl_drivers.emulated.tcp_port import TcpPort


def make_port(link: str | None, listen: int | str | None, speed: float) -> Port:
    """A pseudo-terminal, or with ``listen`` a TCP port. Raises :class:`ValueError` if both are wanted."""
    if listen is None:
        return PtyPort(link, speed)
    if link is not None:
        raise ValueError("an emulated shoe has a link or a TCP port, not both")
    return TcpPort(listen, speed)


class WiredShoe(ABC):
    """An emulated shoe but for what it says; see :class:`tablectl.emulation.EmulatedShoe`.

    A subclass says what happens, in ``copies`` copies ``gap`` seconds apart.
    """

    copies = 1
    gap = 0.0

    def __init__(self, port: Port, faults: Faults) -> None:
        self._port = port
        self._faults = faults
        self._stock = Stock()
        self._drawn_in_hand = 0
        self._lock = threading.RLock()

    @abstractmethod
    def _say_started(self) -> None: ...

    @abstractmethod
    def _say_card(self, card: Card, burn: bool, unreadable: bool) -> None: ...

    @abstractmethod
    def _say_cutting_card(self) -> None: ...

    @abstractmethod
    def _say_standby(self) -> None: ...

    def _send(self, frame: bytes) -> None:
        self._port.say(self._faults.on_the_wire(frame, self.copies, self.gap))

    def load(self, cards: Sequence[Card], cutting_cards: Sequence[int] = ()) -> None:
        """Put ``cards`` in, replacing what is there."""
        with self._lock:
            self._stock = Stock(cards, cutting_cards)
            self._drawn_in_hand = 0
            self._say_started()

    def draw(self, burn: bool = False) -> Drawn | None:
        """Draw the next card or cutting card."""
        with self._lock:
            stock = self._stock
            between_hands = not burn and self._drawn_in_hand == 0
            if between_hands and stock.cutting_card_next and self._faults.strikes("cut-mid-hand"):
                stock.put_off(self._faults.number(1, 3))
            if stock.empty:
                return None
            card = stock.draw()
            if card is None:
                self._say_cutting_card()
            else:
                self._say_card(card, burn, self._faults.strikes("unreadable"))
                if not burn:
                    self._drawn_in_hand += 1
            return Drawn(card)

    def standby(self) -> None:
        """The round is over."""
        with self._lock:
            self._drawn_in_hand = 0
            self._say_standby()

    def restart(self) -> None:
        """Power-cycle."""
        with self._lock:
            self._drawn_in_hand = 0
            self._say_started()

    def press_result(self, outcome: Outcome | None = None) -> None:  # noqa: B027  not every shoe has it
        """No such button."""

    def force_end(self) -> None:  # noqa: B027  not every shoe has it
        """No such button."""

    def lock(self, locked: bool) -> None:  # noqa: B027  not every shoe has it
        """No such key."""

    def hang_up(self) -> None:
        """Pull the cable, after what is said already is out."""
        self._port.flush()
        self._port.hang_up()

    def plug_in(self) -> None:
        """Put the cable back."""
        self._port.plug_in()

    def flush(self) -> None:
        """Wait until everything said is on the wire."""
        self._port.flush()

    def close(self) -> None:
        """Fall silent and remove the port."""
        self._port.close()

    @property
    def device(self) -> str:
        """What a configuration names to reach the shoe."""
        return self._port.device

    @property
    def left(self) -> int:
        """Cards still inside."""
        with self._lock:
            return self._stock.left
