"""What every emulated reader of codes shares: a dealer draws a card and holds it before the scanner.

No hands, no buttons, no cutting card: the shoe is a box, the scanner says what it reads and listens.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import Any

from tablectl.cards import Card
from tablectl_drivers.emulated.faults import Faults
from tablectl_drivers.emulated.port import Ask, Port
from tablectl_drivers.emulated.wired import WiredShoe, make_port

HEARD_CAP = 4096
"""Bytes of the reader's words remembered."""


class EmulatedScanner(WiredShoe):
    """A box of cards beside a scanner; see :class:`tablectl.emulation.EmulatedShoe`."""

    gap = 0.06
    """Seconds after which a scanner reads a card again that is held before it."""

    def __init__(self, port: Port, faults: Faults) -> None:
        super().__init__(port, faults)
        self._answers: SimpleQueue[bool] = SimpleQueue()
        self._heard = bytearray()
        port.listen(self._hear)

    @property
    def heard(self) -> bytes:
        """The last bytes the reader sent: acknowledgements, beeps."""
        return bytes(self._heard)

    def _hear(self, data: bytes) -> None:
        self._heard += data
        del self._heard[:-HEARD_CAP]
        self._told(data)

    def _told(self, data: bytes) -> None:
        """What the reader sent; in a thread of the port."""

    def _ask(self, tries: list[bytes], seconds: float, *, on_silence: bool) -> None:
        """Say the first of ``tries``, and the next each time it is refused; see :class:`Ask`."""
        told = tuple(tuple(self._faults.on_the_wire(frame, 1, self.gap)) for frame in tries)
        self._port.say([Ask(told, self._answers, seconds, on_silence)])

    @abstractmethod
    def _read(self, card: Card) -> None:
        """Say what is read off ``card``."""

    def _say_card(self, card: Card, burn: bool, unreadable: bool) -> None:
        if not unreadable:
            self._read(card)

    def _say_started(self) -> None:
        pass

    def _say_standby(self) -> None:
        pass

    def _say_cutting_card(self) -> None:
        pass


def maker(
    scanner: Callable[[Port, Faults, Mapping[str, Any]], EmulatedScanner],
) -> Callable[..., EmulatedScanner]:
    """``make`` of :class:`tablectl.emulation.Emulator` for a scanner set up by the driver's own settings."""

    def make(
        *,
        link: str | None = None,
        listen: int | str | None = None,
        speed: float = 1.0,
        faults: Sequence[str] = (),
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
    ) -> EmulatedScanner:
        plan = Faults(faults, seed)
        port = make_port(link, listen, speed)
        try:
            return scanner(port, plan, settings or {})
        except ValueError:
            port.close()
            raise

    return make
