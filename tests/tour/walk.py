"""Somebody follows a tour at a table of real processes.

``python -m tests.tour.walk dealer`` shows all that is seen. What is printed is compared loosely: lines in
their order, any number, bytes, hash or path for another, and ``...`` for what is left out.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tests.console.terminal import RealTerminal
from tests.e2e.harness import free_port
from tests.e2e.programs import REPOSITORY
from tests.tour.page import TOURS, AtShoe, Paste, Pressed, Step, Typed, steps
from tests.tour.terminals import Shell, ShoeTerminal

SHOE_IN_PLAY = "README.md#a-shoe-in-play"
"""A tour with this link begins there."""
KEYS = {"Enter": "\r", "Esc": "\x1b", "Space": " "}
LOOKS = ("tablectl status", "tablectl recall", "curl ")
"""What only looks is looked at again until it is there, for so long (s)."""
PATIENCE = 20.0
STARTED = 1.0
"""Seconds that a person gives what was started in the background, before anything is shown to it."""
SETTLED = 0.5
"""Seconds after which a key may have another meaning: a person looks first."""


_PROGRAM = """#!{}
import runpy, sys
sys.path.append({!r})
from tests.ends_with import killed_with_the_keeper_of
killed_with_the_keeper_of({!r})
runpy.run_module("tablectl.cli", run_name="__main__", alter_sys=True)
"""
"""What is typed as `tablectl`: a daemon outlives its terminal, and must not outlive the walk."""


def _nobody(_: str) -> None:
    """Nobody listens."""


class Walk:
    """A person with three terminals. ``tell`` is told everything that happens."""

    def __init__(self, folder: Path, tell: Callable[[str], None] = _nobody) -> None:
        self._folder = folder
        self._tell = tell
        self._ports = {"8480": str(free_port()), "9480": str(free_port()), "8490": str(free_port())}
        programs = folder / "bin"
        programs.mkdir()
        alive = folder / "alive"
        os.mkfifo(alive)
        self._alive = os.open(alive, os.O_RDWR)
        (programs / "tablectl").write_text(_PROGRAM.format(sys.executable, str(REPOSITORY), str(alive)))
        (programs / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        for program in programs.iterdir():
            program.chmod(0o755)
        kept = {name: text for name, text in os.environ.items() if not name.startswith("TABLECTL")}
        self._environment = kept | {"PATH": f"{programs}:{os.environ['PATH']}", "LANG": "C.UTF-8"}
        self._ends = ExitStack()
        self.shell = self._ends.enter_context(Shell(folder, self._environment))
        self._shoe: ShoeTerminal | None = None
        self._console: RealTerminal | None = None

    def __enter__(self) -> Walk:
        return self

    def __exit__(self, *_: object) -> None:
        if self._console is not None:
            self._console.__exit__()
        try:
            self._ends.close()
        finally:
            if self._shoe is not None:
                self._shoe.close()
            os.close(self._alive)

    def follow(self, step: Step) -> None:
        """Do what a step says and see what it says."""
        match step:
            case Paste(text):
                (self._folder / "pasted").write_text(self._here(text))
                self._printed(f"paste\n{text}", [], ". ./pasted")
            case Typed(line, prints):
                self._type(line, prints)
            case AtShoe(lines):
                self._at_shoe(lines)
            case Pressed():
                self._press(step)

    def _here(self, text: str) -> str:
        """With the folder and the ports of this walk."""
        text = text.replace("/tmp/desk", str(self._folder))
        for port, free in self._ports.items():
            text = re.sub(rf"\b{port}\b", free, text)
        return text.replace(
            "tablectl gameserver --secret", f"tablectl gameserver --port {self._ports['8480']} --secret"
        )

    def _type(self, line: str, prints: list[str]) -> None:
        here = self._here(line)
        if here.startswith("tablectl emulate angel-eye --link"):
            self._shoe = ShoeTerminal(here.split(), self._folder, self._environment)
            self._tell(f"shoe: {self._shoe.said}")
        elif here == "tablectl console":
            socket = str(self._folder / "T01.sock")
            self._console = RealTerminal(
                "console", TABLECTL_SOCKET=socket, PYTHONPATH=os.environ.get("PYTHONPATH", "")
            )
            self._sees(tuple(line.strip() for line in prints))
        else:
            self._printed(
                line,
                prints,
                re.sub(
                    r"--state \d+",
                    "--state $(tablectl status --json | python -c "
                    "'import json, sys; print(json.load(sys.stdin)[\"version\"])')",
                    here,
                ),
            )

    def _printed(self, line: str, prints: list[str], typed: str) -> None:
        if prints[-1:] == ["^C"]:
            text = self.shell.until_said(typed, lambda said: missing(prints[:-1], said) is None)
            self._tell(f"$ {line}\n{text}")
            return
        end = time.monotonic() + PATIENCE * line.startswith(LOOKS)
        while (differ := missing(prints, text := self.shell.run(typed)[1])) and time.monotonic() < end:
            time.sleep(0.2)
        time.sleep(STARTED * line.endswith("&"))
        self._tell(f"$ {line}\n{text}")
        assert differ is None, f"$ {line}\nprints no {differ!r} there, but\n{text}"

    def _at_shoe(self, lines: tuple[str, ...]) -> None:
        assert self._shoe is not None
        for line in lines:
            self._shoe.type(line)
            self._tell(f"shoe: {line}: {self._shoe.said[-1]}")
            time.sleep(SETTLED)

    def _press(self, step: Pressed) -> None:
        assert self._console is not None, "no console is open"
        self._at_shoe(step.shoe)
        time.sleep(SETTLED * bool(step.keys))
        self._type_keys(step.keys)
        if len(step.keys) == 1:
            try:
                self._console.sees(step.seen[0], 5.0)
            except (
                AssertionError
            ):  # its meaning had just changed, so it was not taken: a person presses again
                self._type_keys(step.keys)
        self._sees(step.seen, " ".join(step.keys or step.shoe))

    def _type_keys(self, keys: tuple[str, ...]) -> None:
        assert self._console is not None
        for key in keys:
            self._console.type(KEYS.get(key, key))
            time.sleep(0.1)

    def _sees(self, words: tuple[str, ...], after: str = "") -> None:
        assert self._console is not None
        if not words:
            self._console.sees("")
        for word in words:
            self._console.sees(word, 30.0)
        self._console._read(0.2)
        self._tell(f"=== {after}\n{self._console.screen}")


def missing(wanted: list[str], printed: str) -> str | None:
    """The first line that should have come and did not, in their order. ``...`` ends a line that goes on."""
    came = iter([_loose(line) for line in printed.splitlines()])
    for line in wanted:
        begin, more, _ = (part.strip() for part in _loose(line).partition("..."))
        if begin and not any(got.startswith(begin) if more else got == begin for got in came):
            return line
    return None


def _loose(line: str) -> str:
    """A line without what is another one each time."""
    line = re.sub(r"\b[0-9a-f]{6,}\b|\[?\b[0-9A-F]{2}( [0-9A-F]{2})+\b|/\S*/", "#", line)
    return " ".join(re.sub(r"\d+([.,]\d+)?", "#", line).split())


def journey(name: str) -> list[Step]:
    """The table is set up, and the tour walked. The dealer's tour begins at a closed table."""
    desk, _, shoe = (TOURS / "README.md").read_text().partition("\n## A shoe in play\n")
    tour = (TOURS / f"{name}.md").read_text()
    return steps(desk) + (steps(shoe) if SHOE_IN_PLAY in tour else []) + steps(tour)


def walk(name: str, tell: Callable[[str], None] | None = None) -> None:
    """The desk, then this tour. With ``tell`` what differs is told, and the walk goes on."""
    with tempfile.TemporaryDirectory(prefix="tour-") as folder, Walk(Path(folder), tell or _nobody) as one:
        for step in journey(name):
            try:
                one.follow(step)
            except AssertionError as fault:
                if tell is None:
                    raise
                tell(f"!!! {step}\n{fault}")


if __name__ == "__main__":
    walk(sys.argv[1], lambda text: print(text, flush=True))
