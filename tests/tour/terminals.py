"""The terminals of somebody who follows a tour: a shell, and a shoe in another one.

The console has its own (:mod:`tests.console.terminal`).  Everything is a real program on a pseudo-terminal.
"""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from tests.ends_with import interruptible

PIN = "2468"
_PROMPT = re.compile(r"<<(\d+)>>\Z")


class Shell:
    """A bash with a terminal of its own. A question for a PIN is answered."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.master, slave = pty.openpty()
        settings = termios.tcgetattr(slave)
        settings[1] &= ~termios.OPOST
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, settings)
        self._process = subprocess.Popen(
            ["setsid", "--ctty", "bash", "--norc", "--noprofile", "--noediting", "-i"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=environment | {"PS1": "<<$?>>", "PS2": "", "COLUMNS": "110"},
            preexec_fn=interruptible,
        )
        os.close(slave)
        self._until_prompt(10.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End what it left running in the background, and the shell."""
        try:
            self.run('for job in $(jobs -p); do kill "$job"; done; wait')
        finally:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            os.close(self.master)

    def run(self, line: str, timeout: float = 180.0) -> tuple[int, str]:
        """Type a line: its exit code, and what was printed."""
        os.write(self.master, f"{line}\n".encode())
        return self._until_prompt(timeout)

    def until_said(self, line: str, enough: Callable[[str], bool], timeout: float = 40.0) -> str:
        """Type a line, and Ctrl-C once it has said enough."""
        os.write(self.master, f"{line}\n".encode())
        text, end = "", time.monotonic() + timeout
        while not enough(text):
            if time.monotonic() > end:
                os.write(self.master, b"\x03")
                raise AssertionError(f"waited in vain:\n{text}")
            text += self._read()
        os.write(self.master, b"\x03")
        return text + self._until_prompt(timeout)[1]

    def _read(self) -> str:
        if not select.select([self.master], [], [], 0.2)[0]:
            return ""
        said = os.read(self.master, 65536).decode("utf-8", "replace")
        return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", said.replace("\r", "\n"))

    def _until_prompt(self, timeout: float) -> tuple[int, str]:
        text, end = "", time.monotonic() + timeout
        while True:
            assert time.monotonic() < end, f"waited in vain for the prompt:\n{text}"
            text += self._read()
            if found := _PROMPT.search(text):
                return int(found[1]), text[: found.start()]
            if re.search(r"(PIN[^\n]*|The same again): \Z", text):
                os.write(self.master, f"{PIN}\n".encode())
                text += "\n"


class ShoeTerminal:
    """`tablectl emulate` in a terminal: what is typed there is what a dealer's hand does."""

    def __init__(self, words: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.said: list[str] = []
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=environment, text=True
        )
        self.hears()

    def hears(self) -> str:
        """The next line it prints."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline().rstrip("\n")
        self.said.append(line)
        return line

    def type(self, line: str) -> None:
        """One thing that a hand does; returns when it is on the wire."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        if line.split(maxsplit=1)[0] in ("draw", "burn", "load"):
            self.hears()

    def close(self) -> None:
        """Ctrl-C."""
        self._process.send_signal(signal.SIGINT)
        self._process.communicate(timeout=10)
