"""Whoever works a table in these tests: by the console's keys alone, or by the command line.

The one at the console does what a person does: looks for the words on the screen, and presses the key that
stands beside them.
"""

from __future__ import annotations

import asyncio
import io
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest
from textual.events import Key
from textual.pilot import Pilot

from tablectl.cli import main
from tablectl.console.app import Console
from tablectl.local import Client
from tests.e2e.harness import PIT_BOSS, Rig

NAMES = {"-": "minus", "+": "plus", "*": "asterisk", "/": "slash", ".": "full_stop", " ": "space"}


class Seat(Console):
    """A console that counts the keys it has taken."""

    taken = 0

    def __init__(self, path: str, **options: Any) -> None:
        super().__init__(path, **options)
        self.client = Client(Path(path))

    def press(self, key: str, at: float) -> None:
        super().press(key, at)
        self.taken += 1


class Works(Protocol):
    """What can be done at a table. Each returns once the daemon has answered."""

    async def dealer(self, *words: str) -> None:
        """A command of the dealer's, as it is typed."""

    async def pit_boss(self, *words: str) -> None:
        """A command of the pit boss's, as it is typed."""


class ByCommands:
    """By ``tablectl …``, in this process."""

    def __init__(self, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
        self._rig = rig
        self._patch = monkeypatch

    async def dealer(self, *words: str) -> None:
        state = ["--state", str(self._rig.client.state()["version"])] if words[0] != "ack" else []
        await self._run(*words, *state)

    async def pit_boss(self, *words: str) -> None:
        version = self._rig.client.state()["version"]
        who = ["--as", PIT_BOSS.name, "--reason", "routine", "--pin-stdin"]
        await self._run(*words, "--state", str(version), *who)

    async def _run(self, *words: str) -> None:
        self._patch.setattr(sys, "stdin", io.StringIO(f"{PIT_BOSS.pin}\n"))
        code = await asyncio.to_thread(main, ["--socket", str(self._rig.socket_path), *words])
        assert code == 0, words


class ByKeys:
    """By the console. ``pressed``: every key, in order. ``slowly``: the pilot's own way, 0.1 s a key."""

    def __init__(self, app: Seat, pilot: Pilot[None], *, slowly: bool = False) -> None:
        self.slowly = slowly
        self.app = app
        self.pressed: list[str] = []
        self._pilot = pilot

    @property
    def screen(self) -> str:
        """What stands on the screen."""
        return self.app.text()

    async def sees(self, what: str | Callable[[str], bool], timeout: float = 30.0) -> None:
        """Wait until these words are on the screen."""
        end = time.monotonic() + timeout
        while not (what in self.screen if isinstance(what, str) else what(self.screen)):
            assert time.monotonic() < end, f"waited in vain for {what!r}\n{self.screen}"
            await asyncio.sleep(0.002)

    async def press(self, *keys: str) -> None:
        """Press keys."""
        self.pressed += keys
        if self.slowly:
            await self._pilot.press(*(NAMES.get(key, key) for key in keys))
            return
        for key in keys:
            self.app.post_message(Key(NAMES.get(key, key), key if len(key) == 1 else None))
        while self.app.taken < len(self.pressed):
            await asyncio.sleep(0.001)

    async def choose(self, label: str) -> None:
        """Press the key that stands beside these words, on this page or a later one."""
        end = time.monotonic() + 5
        while time.monotonic() < end:  # the answer to a command may come a moment before the new state
            if found := re.search(rf"(?:^| )(Enter|[0-9+*/-])  {label}", self.screen, re.MULTILINE):
                key = found[1].lower()
                await self.press(key)
                return
            if " 9  more" in self.screen:
                await self.press("9")
            await asyncio.sleep(0.002)
        raise AssertionError(f"no {label!r} on\n{self.screen}")

    async def answered(self) -> None:
        """Wait for the answer to what was sent, and for what came of it on the screen, as a person does."""
        end = time.monotonic() + 15
        while self.app.model.sending:
            assert time.monotonic() < end, self.screen
            await asyncio.sleep(0.002)
        message = self.app.model.message
        assert message is not None and message.kind == "good", self.screen
        version = (await asyncio.to_thread(self.app.client.state))["version"]
        while self.app.model.seen is None or self.app.model.seen.version < version:
            assert time.monotonic() < end, self.screen
            await asyncio.sleep(0.002)

    async def dealer(self, *words: str) -> None:
        match words:
            case ("open",):
                await self.choose("open the table")
            case ("close",):
                await self.choose("close the table")
                await self.press("1")
            case ("sign-in", name, "--pickup", pickup):
                await self.choose("(dealer signs in|change of dealer)")
                if f"  {name}\n" in re.sub(" +\n", "\n", self.screen):
                    await self.choose(name)
                else:
                    if "another name" in self.screen:
                        await self.choose("another name")
                    await self.press(*name, "enter")
                await self.choose(f"from the {pickup}")
            case ("sign-out",):
                await self.choose("dealer leaves")
                await self.press("1")
            case ("shoe", "new"):
                await self.choose("new shoe")
                await self.press("1")
            case ("bets", "open"):
                await self.choose("OPEN BETTING")
            case ("bets", "close"):
                await self.choose("close betting early")
                await self.press("1")
            case ("cut-card",):
                await self.choose("cutting card")
                await self.press("1")
            case ("hold",):
                await self.press("0", "1")
            case ("confirm", outcome):
                await self.choose({"player": "PLAYER WINS", "banker": "BANKER WINS", "tie": "TIE"}[outcome])
            case ("ack", alert):
                await self.press("/")
                await self.choose(alert)
            case _:
                raise AssertionError(words)
        await self.answered()

    async def pit_boss(self, *words: str) -> None:
        match words:
            case ("shoe", "inspect", "--by-hand"):
                await self.press("*")
                await self.choose("shoe inspect")
                await self.choose("counted by hand")
                await self.choose("complete")
            case ("correct", place, card):
                await self.choose("correct:")
                await self.choose(place)
                await self.press({"T": "0", "J": "/", "Q": "*", "K": "-", "A": "1"}.get(card[0], card[0]))
                await self.press(str("SHDC".index(card[1]) + 1))
            case ("release", action):
                await self.choose(f"{action}:")
            case ("shoe", "end"):
                await self.press("*")
                await self.choose("shoe end")
            case _:
                raise AssertionError(words)
        await self.choose("routine:")
        await self.choose("nothing more")
        if "another name" in self.screen:
            await self.choose(PIT_BOSS.name)
        else:
            await self.press(*PIT_BOSS.name, "enter")
        assert "PIN of pit" in self.screen
        await self.press(*PIT_BOSS.pin, "enter")
        await self.answered()
