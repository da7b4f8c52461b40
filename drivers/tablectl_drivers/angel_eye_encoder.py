"""The device side of the Angel Eye protocol: what an emulated shoe puts on the wire.

Each method returns one frame with the next sequence number; the caller sends it three times,
about 50 ms apart, as the shoe does.
"""

from __future__ import annotations

from tablectl.cards import Card, Outcome
from tablectl.scanner import Label
from tablectl_drivers import angel_eye_wire as wire

COPIES = 3
"""How often the shoe sends each frame."""

COPY_GAP = 50_000_000
"""About how far apart the copies are, in ns."""

_RESULT_BITS = {Outcome.PLAYER: 0x90, Outcome.TIE: 0xA0, Outcome.BANKER: 0xC0}


class Encoder:
    """Makes frames. ``bcc`` as in the driver's settings; ``wrap_to``: what follows SEQ 9, 0 or 1.

    Methods raise :class:`ValueError` for what the protocol cannot say.
    """

    def __init__(self, bcc: str = "strict", *, seq: int = 1, wrap_to: int = 0) -> None:
        if bcc not in wire.BCC_MODES:
            raise ValueError(f"bcc: {bcc!r} is not one of {', '.join(wire.BCC_MODES)}")
        self._bcc = bcc
        self._seq = seq
        self._wrap_to = wrap_to

    def _frame(self, payload: bytes) -> bytes:
        frame = wire.encode_frame(self._seq, payload, self._bcc)
        self._seq = self._seq + 1 if self._seq < 9 else self._wrap_to
        return frame

    def _drawn(self, code: bytes, t: int, card: Card | None) -> bytes:
        return self._frame(code + bytes((t, wire.card_byte(card))))

    def card(self, label: Label, card: Card | None) -> bytes:
        """``D``: a card to a hand. ``label`` P1 to B3; ``card`` None if it could not be read."""
        return self._drawn(b"D", _hand(label), card)

    def burn_card(self, index: int, card: Card | None) -> bytes:
        """``D``: the ``index``-th burn card, 1 to 10."""
        if not 1 <= index <= 10:
            raise ValueError(f"burn index {index} is not 1 to 10")
        return self._drawn(b"D", wire.BURN_T | index, card)

    def burn_count_card(self, card: Card | None) -> bytes:
        """``D``: the card whose value sets how many are burned."""
        return self._drawn(b"D", wire.BURN_COUNT_CARD_T, card)

    def burn_count(self, number: int) -> bytes:
        """``D`` without a card: ``number`` cards, 1 to 10, are to be burned."""
        if not 1 <= number <= 10:
            raise ValueError(f"burn count {number} is not 1 to 10")
        return self._frame(b"D" + bytes((wire.BURN_COUNT_T | number,)))

    def outside_card(self, mode: int, index: int, card: Card | None) -> bytes:
        """``d``: a card outside a game. ``mode`` 0 locked, 1 error, 2 setting; ``index`` 0 to 15."""
        if mode not in (0, 1, 2) or not 0 <= index <= 15:
            raise ValueError(f"mode {mode}, index {index}: mode is 0 to 2, index 0 to 15")
        return self._drawn(b"d", 0x80 | mode << 4 | index, card)

    def overdraw(self, card: Card | None) -> bytes:
        """``R`` for a card in excess: place 4 of the Player, so it never equals a lawful ``D``."""
        return self._drawn(b"R", wire.HAND_CODES[Label.P3] + 1, card)

    def retransmission(self, label: Label, card: Card | None) -> bytes:
        """``R`` as the other reading of the protocol has it: the last ``D`` once more."""
        return self._drawn(b"R", _hand(label), card)

    def result(self, outcome: Outcome, player_pair: bool = False, banker_pair: bool = False) -> bytes:
        """``G``: the dealer pressed the result button."""
        return self._frame(b"G" + bytes((_RESULT_BITS[outcome] | player_pair | banker_pair << 1,)))

    def forced_end(self) -> bytes:
        """``G``: the round was ended by force."""
        return self._frame(b"G\xf0")

    def cutting_card(self) -> bytes:
        """``C``: the cutting card came out."""
        return self._frame(b"C")

    def standby(self) -> bytes:
        """``P``: between rounds."""
        return self._frame(b"P")

    def start(self) -> bytes:
        """``S``: power-up or reset. The shoe counts from 1 again."""
        self._seq = 1
        return self._frame(b"S")

    def error(self, code: int, in_error_mode: bool = True) -> bytes:
        """``E``: error ``code``, 0 to 63, was raised."""
        return self._error(b"E", code, in_error_mode)

    def error_cleared(self, code: int, in_error_mode: bool = False) -> bytes:
        """``e``: error ``code`` was cleared."""
        return self._error(b"e", code, in_error_mode)

    def _error(self, letter: bytes, code: int, in_error_mode: bool) -> bytes:
        if not 0 <= code <= 0x3F:
            raise ValueError(f"error code {code} is not 0 to 63")
        return self._frame(letter + bytes((0x80 | in_error_mode << 6 | code,)))

    def lock(self, locked: bool) -> bytes:
        """``L``: the key lock was turned."""
        return self._frame(b"L" + bytes((0x80 | locked,)))

    def setting(self, text: str) -> bytes:
        """``M``: a setting changed; six ASCII characters."""
        if len(text) != 6 or not text.isascii() or not text.isprintable():
            raise ValueError(f"{text!r} is not six printable ASCII characters")
        return self._frame(b"M" + text.encode("ascii"))


def _hand(label: Label) -> int:
    try:
        return wire.HAND_CODES[label]
    except KeyError:
        raise ValueError(f"{label.name} is no place of a hand") from None
