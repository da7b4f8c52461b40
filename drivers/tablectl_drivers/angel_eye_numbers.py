"""Whether a message of an Angel Eye shoe follows the one before it: its number is one ASCII digit.

No source says for certain what follows 9. Until it is known, 9 and then 1 may be a shoe that never says 0,
or a message 0 that was lost. That is told as a doubt: where labels show whether a card is missing it costs
nothing.
"""

from __future__ import annotations

from tablectl.scanner import DeviceKind

AFTER_NINE = ("either", "0", "1")
"""Values of the setting: what the number behind 9 is; ``either`` learns it."""

SURE = 2
"""So many times no card can be missing between 9 and 1 before it is believed that no number 0 exists."""


class Numbers:
    """The numbers of one shoe, as far as they are known. ``after_nine`` is one of :data:`AFTER_NINE`."""

    def __init__(self, after_nine: str = "either") -> None:
        self._given = after_nine != "either"
        self._after_nine: int | None = int(after_nine) if self._given else None
        self._seen = 0
        self._last: int | None = None
        self._place: int | None = None

    def reconnected(self) -> None:
        """The numbers go on behind a reconnect: what was said meanwhile is told as a gap."""
        self._place = None

    def started(self, number: int) -> None:
        """A start signal has ``number``: the shoe counts afresh."""
        self._last, self._place = number, None

    def told(self, number: int, place: int | None) -> tuple[DeviceKind, str] | None:
        """A new message has ``number``: what that says of messages that did not come, if anything.

        ``place``: of a card dealt to a hand, how many cards lie before it.
        """
        found = self._judge(number, place)
        if number == 0 and not self._given:
            self._after_nine = 0
        self._last, self._place = number, place
        return found

    def _judge(self, number: int, place: int | None) -> tuple[DeviceKind, str] | None:
        last = self._last
        if last is None:
            return None  # nothing is known, and whoever started to listen knows that
        if number == last + 1:
            return None
        if last == 9 and (number == self._after_nine or (number == 0 and not self._given)):
            return None
        if last == 9 and number == 1 and self._after_nine is None:
            return self._perhaps_no_zero(place)
        return DeviceKind.GAP, f"sequence number {number} after {last}: events may be lost"

    def _perhaps_no_zero(self, place: int | None) -> tuple[DeviceKind, str] | None:
        if place is None or self._place is None or place != self._place + 1:
            return (
                DeviceKind.DOUBT,
                "sequence number 1 after 9: this shoe has no number 0, or one event is lost",
            )
        # By the shoe's own count no card lies between the two.
        self._seen += 1
        if self._seen >= SURE:
            self._after_nine = 1
        return None
