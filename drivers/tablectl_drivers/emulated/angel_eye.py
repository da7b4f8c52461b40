"""An emulated Angel Eye: names positions, judges its own hand, sends every frame three times.

What the shoe does after an error is not public. Here the dealer keys in what the shoe could not read, so
its own hand goes on; the error is cleared with the next thing the dealer does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tablectl.cards import Card, Outcome
from tablectl.emulation import Emulator
from tablectl.scanner import Label
from tablectl_drivers.angel_eye_encoder import COPIES, COPY_GAP, Encoder
from tablectl_drivers.emulated.faults import Faults
from tablectl_drivers.emulated.port import Port
from tablectl_drivers.emulated.shoe import OwnHand
from tablectl_drivers.emulated.wired import WiredShoe, make_port

UNREADABLE, OVERDRAW, WRONG_BUTTON = 1, 2, 3
MODE_LOCKED, MODE_SETTING = 0, 2

_MOST_BURNED = 10
_BURN_FRAMES = ("burn", "game", "outside")


class EmulatedAngelEye(WiredShoe):
    """The shoe; see :class:`tablectl.emulation.EmulatedShoe`.

    ``burn_frames``: how it labels burn cards (``burn``, ``game`` or ``outside``), as the driver's setting.
    ``after_nine``: the sequence number behind 9, 0 or 1.
    """

    copies = COPIES
    gap = COPY_GAP / 1e9

    def __init__(
        self,
        port: Port,
        faults: Faults,
        bcc: str = "strict",
        burn_frames: str = "burn",
        after_nine: int = 0,
    ) -> None:
        if burn_frames not in _BURN_FRAMES:
            raise ValueError(f"burn_frames: {burn_frames!r} is none of {', '.join(_BURN_FRAMES)}")
        super().__init__(port, faults)
        self._encoder = Encoder(bcc, wrap_to=after_nine)
        self._burn_frames = burn_frames
        self._hand = OwnHand()
        self._burned: int | None = None  # None: the card that sets the count has not come yet
        self._error: int | None = None
        self._locked = False

    def load(self, cards: Sequence[Card], cutting_cards: Sequence[int] = ()) -> None:
        """Put ``cards`` in; the next burn begins with the card that sets the count."""
        with self._lock:
            self._burned = None
            super().load(cards, cutting_cards)

    def press_result(self, outcome: Outcome | None = None) -> None:
        """The result button: the shoe's own verdict, or the outcome given whatever the cards say.

        Without an outcome before the hand is complete it is the wrong button: error 3.
        """
        with self._lock:
            self._clear_error()
            if outcome is None and self._hand.due() is not None:
                self._raise_error(WRONG_BUTTON)
                return
            self._send(
                self._encoder.result(
                    outcome or self._hand.outcome(),
                    self._hand.pair(Label.P1, Label.P2),
                    self._hand.pair(Label.B1, Label.B2),
                )
            )

    def force_end(self) -> None:
        """End the hand by force."""
        with self._lock:
            self._clear_error()
            self._send(self._encoder.forced_end())

    def lock(self, locked: bool) -> None:
        """Turn the key."""
        with self._lock:
            self._clear_error()
            self._locked = locked
            self._send(self._encoder.lock(locked))

    def _say_started(self) -> None:
        self._error = None
        self._hand = OwnHand()
        self._send(self._encoder.start())

    def _say_standby(self) -> None:
        self._clear_error()
        self._hand = OwnHand()
        self._send(self._encoder.standby())

    def _say_cutting_card(self) -> None:
        self._clear_error()
        self._send(self._encoder.cutting_card())

    def _say_card(self, card: Card, burn: bool, unreadable: bool) -> None:
        self._clear_error()
        seen = None if unreadable else card
        if self._locked:
            self._send(self._encoder.outside_card(MODE_LOCKED, 0, seen))
        elif burn and self._burn_frames == "outside":
            self._send(self._encoder.outside_card(MODE_SETTING, 0, seen))
        elif burn and self._burn_frames == "burn":
            self._burn(card, seen)
        elif self._hand.due() is None:
            self._raise_error(OVERDRAW)
            self._send(self._encoder.overdraw(seen))
            return
        else:
            self._send(self._encoder.card(self._hand.take(card), seen))
        if unreadable:
            self._raise_error(UNREADABLE)

    def _burn(self, card: Card, seen: Card | None) -> None:
        if self._burned is None:
            self._burned = 0
            self._send(self._encoder.burn_count_card(seen))
            if seen is not None:
                self._send(self._encoder.burn_count(card.points or _MOST_BURNED))
        else:
            # The protocol has ten places; a house that burns more begins them anew.
            self._burned = self._burned % _MOST_BURNED + 1
            self._send(self._encoder.burn_card(self._burned, seen))

    def _raise_error(self, code: int) -> None:
        self._error = code
        self._send(self._encoder.error(code))

    def _clear_error(self) -> None:
        if self._error is not None:
            self._send(self._encoder.error_cleared(self._error))
            self._error = None


def make(
    *,
    link: str | None = None,
    listen: int | str | None = None,
    speed: float = 1.0,
    faults: Sequence[str] = (),
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    bcc: str = "strict",
    burn_frames: str = "burn",
) -> EmulatedAngelEye:
    """An emulated shoe, with its port open. Raises :class:`ValueError` naming what cannot be used.

    ``bcc`` and ``burn_frames`` of the driver's ``settings`` go before the arguments; of ``after_nine`` what
    they leave open is 0.
    """
    bcc = (settings or {}).get("bcc", bcc)
    burn_frames = (settings or {}).get("burn_frames", burn_frames)
    after_nine = int((settings or {}).get("after_nine") == "1")
    plan = Faults(faults, seed)
    port = make_port(link, listen, speed)
    try:
        return EmulatedAngelEye(port, plan, bcc, burn_frames, after_nine)
    except ValueError:
        port.close()
        raise


EMULATOR = Emulator("angel-eye", "Angel Eye II-EX: names positions, has a result button", make)
