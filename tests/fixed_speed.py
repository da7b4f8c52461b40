"""A shoe to which the line speed matters, although a pseudo-terminal carries any."""

from __future__ import annotations

import os
import termios
import threading
import tty
from collections.abc import Callable

from tablectl_drivers import bee_tek

from tablectl.cards import DECK

SPEEDS = {termios.B9600: 9600, termios.B4800: 4800, termios.B19200: 19200}


class Shoe:
    """A Bee-Tek on a pseudo-terminal that draws for ever; rubbish at another line speed than its own."""

    def __init__(self, speed: int | None = None, say: Callable[[], bytes] | None = None) -> None:
        self.master, self._slave = os.openpty()
        tty.setraw(self._slave)
        self.device = os.ttyname(self._slave)
        self._speed = speed
        self._cards = iter(DECK * 100)
        self._encoder = bee_tek.Encoder()
        self._say = say or (lambda: self._encoder.card(next(self._cards)))
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._draw)
        self._thread.start()

    def _draw(self) -> None:
        while not self._done.wait(0.02):
            said = self._say()
            right = self._speed is None or self.line == self._speed
            if said:
                os.write(self.master, said if right else bytes(byte ^ 0xA5 for byte in said[::3]))

    @property
    def line(self) -> int | None:
        """The speed (baud) to which who reads has set the line."""
        return SPEEDS.get(termios.tcgetattr(self.master)[4])

    def close(self) -> None:
        self._done.set()
        self._thread.join()
        os.close(self.master)
        os.close(self._slave)
