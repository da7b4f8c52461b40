"""A real terminal for a real process: bytes in by a pseudo-terminal, and a screen out of the bytes that come.

Only so much of a terminal as a full-screen program needs: the cursor is put somewhere, text is written there.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata
from typing import Self

_SEQUENCE = re.compile(
    r"\x1b(?:\[([?>=<]*)([0-9;:]*)([ -/]*)([@-~])|[()][A-Za-z0-9]|[=>78cDEHMNOZ]"
    r"|P[^\x1b]*\x1b\\|\][^\x07\x1b]*(?:\x07|\x1b\\))"
)
COLOUR = re.compile(rb"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


def _own_terminal() -> None:
    """It is the terminal of this session: its size, its end and its keys reach the process as signals."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class RealTerminal:
    """``tablectl`` with these words on a terminal of ``width`` × ``height``."""

    program = ("-m", "tablectl.cli")
    """What Python is to run."""

    def __init__(self, *words: str, width: int = 80, height: int = 24, **environment: str) -> None:
        self.width, self.height = width, height
        self.bytes = b""
        self._rows = [[" "] * width for _ in range(height)]
        self._at = 0, 0
        self._rest = ""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        # Unbuffered, Python loses the rest of a write that a signal cuts short; what a person starts is not.
        other = ("LC_", "LANG", "TABLECTL_", "NO_COLOR", "PYTHONUNBUFFERED")
        known = {name: value for name, value in os.environ.items() if not name.startswith(other)}
        self.process = subprocess.Popen(
            [sys.executable, *self.program, *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=known | {"TERM": "linux", "LANG": "C.UTF-8"} | environment,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def resize(self, width: int, height: int) -> None:
        """Another size; what still has room stays where it is, as in a window."""
        old = self._rows
        self._rows = [
            [old[y][x] if y < len(old) and x < len(old[y]) else " " for x in range(width)]
            for y in range(height)
        ]
        self.width, self.height = width, height
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def wipe(self) -> None:
        """Another program has cleared the screen."""
        self._rows = [[" "] * self.width for _ in range(self.height)]

    def hang_up(self) -> None:
        """The line is gone; may be called twice."""
        if self.master >= 0:
            os.close(self.master)
            self.master = -1

    @property
    def screen(self) -> str:
        """What a person sees."""
        return "\n".join("".join(row) for row in self._rows)

    def settings(self) -> list[object]:
        """How the terminal is set: echo, whole lines, keys that are signals."""
        return list(termios.tcgetattr(self.master))

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.master, keys.encode())

    def sees(self, words: str, timeout: float = 40.0) -> None:
        """Wait until these words are on the screen."""
        end = time.monotonic() + timeout
        while words not in self.screen:
            assert time.monotonic() < end, f"waited in vain for {words!r}\n{self.screen}"
            self._read(0.05)

    def stopped(self, timeout: float = 40.0) -> None:
        """Wait until a signal has stopped it."""
        end = time.monotonic() + timeout
        while os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOHANG) is None:
            assert time.monotonic() < end, f"it goes on\n{self.screen}"
            self._read(0.05)

    def ended(self, timeout: float = 40.0) -> int:
        """Wait for its end: the exit code."""
        end = time.monotonic() + timeout
        while self.process.poll() is None and time.monotonic() < end:
            self._read(0.05)
        assert self.process.returncode is not None, self.screen
        self._read(0.0)
        return self.process.returncode

    def _read(self, wait: float) -> None:
        if self.master < 0:
            time.sleep(wait)
            return
        if select.select([self.master], [], [], wait)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            self.bytes += data
            self._write(self._rest + data.decode("utf-8", "ignore"))

    def _write(self, text: str) -> None:
        i = 0
        while i < len(text):
            if text[i] == "\x1b":
                found = _SEQUENCE.match(text, i)
                if found is None:
                    if len(text) - i < 100:  # the rest of it comes with the next bytes
                        break
                    raise AssertionError(f"no known sequence: {text[i : i + 30]!r}")
                self._obey(found)
                i = found.end()
                continue
            self._put(text[i])
            i += 1
        self._rest = text[i:]

    def _obey(self, found: re.Match[str]) -> None:
        private, numbers, _, letter = (found[n] or "" for n in (1, 2, 3, 4))
        row, column = self._at
        if letter == "H" and not private:
            parts = [int(part) if part else 1 for part in numbers.split(";")] if numbers else [1, 1]
            self._at = parts[0] - 1, (parts[1] if len(parts) > 1 else 1) - 1
        elif letter == "J" and not private:
            self._rows = [[" "] * self.width for _ in range(self.height)]
        elif letter in "ABCD" and letter and not private:
            step = int(numbers or 1)
            rows, columns = {"A": (-step, 0), "B": (step, 0), "C": (0, step), "D": (0, -step)}[letter]
            self._at = row + rows, column + columns

    def _put(self, char: str) -> None:
        row, column = self._at
        if char == "\r":
            self._at = row, 0
        elif char == "\n":
            self._at = row + 1, 0
        elif char.isprintable() and unicodedata.combining(char) == 0:
            if 0 <= row < self.height and 0 <= column < self.width:
                self._rows[row][column] = char
            self._at = row, column + 1
