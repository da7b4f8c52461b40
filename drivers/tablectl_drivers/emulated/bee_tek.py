"""An emulated Bee-Tek shoe: says each card once, and nothing else; no hands, no buttons, no cutting card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tablectl.cards import Card
from tablectl.emulation import Emulator
from tablectl_drivers.bee_tek import Encoder
from tablectl_drivers.emulated.faults import Faults
from tablectl_drivers.emulated.port import Port
from tablectl_drivers.emulated.wired import WiredShoe, make_port


class EmulatedBeeTek(WiredShoe):
    """The shoe; see :class:`tablectl.emulation.EmulatedShoe`. ``mode`` as the encoder's."""

    def __init__(self, port: Port, faults: Faults, mode: str = "Manual Burn Cards") -> None:
        super().__init__(port, faults)
        self._encoder = Encoder(mode)

    def _say_started(self) -> None:
        pass

    def _say_standby(self) -> None:
        pass

    def _say_cutting_card(self) -> None:
        pass

    def _say_card(self, card: Card, burn: bool, unreadable: bool) -> None:
        if unreadable:
            self._send(self._encoder.card(None))
            self._send(self._encoder.alarm("E3 Card Not Read"))
        else:
            self._send(self._encoder.card(card))


def make(
    *,
    link: str | None = None,
    listen: int | str | None = None,
    speed: float = 1.0,
    faults: Sequence[str] = (),
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    mode: str = "Manual Burn Cards",
) -> EmulatedBeeTek:
    """An emulated shoe, with its port open. Raises :class:`ValueError` naming what cannot be used.

    None of the driver's ``settings`` changes what this shoe says.
    """
    plan = Faults(faults, seed)
    port = make_port(link, listen, speed)
    try:
        return EmulatedBeeTek(port, plan, mode)
    except ValueError:
        port.close()
        raise


EMULATOR = Emulator("bee-tek", "Bee-Tek: streams cards only", make)
