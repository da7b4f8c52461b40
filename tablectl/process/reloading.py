"""SIGHUP: the configuration is read again, and what may change while the table runs is taken over.

All or nothing: the whole new file is checked first, as at a start, and only then does anything change, in one
step of the service loop; if that does not come to it in time nothing changes, now or later. What cannot be
changed under a running table (its id, scanner, journal, socket) stays as it is until a restart, and is named.
House rules are read with the next shoe: a hand, and a shoe, end under the rules they began with, because
those ride in the shoe's own ``shoe.started``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from tablectl.beeping import make_named
from tablectl.config import Config
from tablectl.core import Core
from tablectl.delivering import Delivering
from tablectl.gate import Gate
from tablectl.journal.kind import other_kind
from tablectl.profiles import ConfigError
from tablectl.scanner import Driver
from tablectl.scanner_setup import load_scanner, refuse_emulated
from tablectl.scanner_watch import ScannerWatch
from tablectl.service import Service
from tablectl.signals import Signals

PUSH, PIT = "credential push-hmac", "credential pit-bosses"
RULES = "table.rules"

TAKEN = frozenset({"health", "server", "beeper", "secrets"})
"""Sections that a reload takes over whole, besides ``table.rules`` and ``log.level``; no other one."""

PATIENCE = 5.0
"""How long (s) the service loop may take to come to it."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Keys that differ from what runs. ``taken``: those a reload takes over; ``later``: after a restart."""

    taken: tuple[str, ...] = ()
    later: tuple[str, ...] = ()

    def __str__(self) -> str:
        taken = [f"{key} (from the next shoe on)" if key == RULES else key for key in self.taken]
        parts = [f"taken over: {', '.join(taken)}" if taken else "nothing new to take over"]
        if self.later:
            parts.append(f"only with a restart: {', '.join(self.later)}")
        return "; ".join(parts)


def effective(running: Config, new: Config) -> Config:
    """``new``, but with what ``running`` has wherever only a restart can change it."""
    kept: dict[str, Any] = {
        section: getattr(running, section) for section in Config.model_fields if section not in TAKEN
    }
    kept["table"] = running.table.model_copy(update={"rules": new.table.rules})
    kept["log"] = running.log.model_copy(update={"level": new.log.level})
    old, server = running.server, new.server
    if (old.url is None, old.kind) != (server.url is None, server.kind):
        # With a server betting may need its link, and the sender is of one kind: settled at the start.
        kept["server"] = old
    now = new.model_copy(update=kept)
    now._journal = running.journal_path  # what its path led to when it was opened
    return now


def differences(old: Config, new: Config) -> Iterator[str]:
    """The keys in which two configurations differ, as the file has them; secrets by name only."""
    for section in Config.model_fields:
        yield from _differ(section, getattr(old, section).model_dump(), getattr(new, section).model_dump())
    if old.table.rules == new.table.rules and old.house_rules() != new.house_rules():
        yield RULES  # another profile under the same name
    if old.push_secrets != new.push_secrets:
        yield PUSH
    if old.pit_bosses != new.pit_bosses:
        yield PIT


def _differ(section: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted(old.keys() | new.keys()):
        one, other = old.get(key), new.get(key)
        if one == other:
            continue
        if key == "settings" and isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from _differ(section, one, other)  # they stand in the section itself
        else:
            yield f"{section}.{key}"


@dataclass(slots=True)
class Reloading:
    """The parts of a running table that take new settings. ``running``: what it plays by now.

    ``settings``: the scanner's; ``say``: as of :func:`tablectl.beeping.attach`. One thread calls it.
    """

    running: Config
    core: Core
    driver: Driver
    settings: dict[str, Any]
    say: Callable[[bytes], bool]
    signals: Signals
    scanner: ScannerWatch
    delivering: Delivering
    gate: Gate
    service: Service

    def take(self, new: Config) -> Changes:
        """Check everything in ``new``, then take over what may change now.

        Raises ``ConfigError`` or ``PluginError``, and then nothing has changed.
        """
        running = self.running
        self._would_start(new)
        now = effective(running, new)
        found = Changes(tuple(differences(running, now)), tuple(differences(now, new)))
        button = self.driver.traits(self.settings).has_result_button
        rules = now.house_rules().resolved(result_button=button)
        beepers = None
        if now.beeper != running.beeper:
            beepers = make_named(now, self.driver, self.settings, self.say)
        sender = None
        if running.push_secrets and not now.push_secrets and now.server.kind == "http":
            raise ConfigError(f"{new.path}: the credential push-hmac {new.unsigned}: nothing could be signed")
        if now.server != running.server or now.push_secrets != running.push_secrets:
            sender = self.delivering.prepared(now)

        def takes() -> None:
            self.scanner.judge_by(now.health)
            # Here, because the loop replaces ``core.around`` as well, when the link changes.
            self.core.around = replace(self.core.around, rules=rules)
            if PIT in found.taken:
                self.gate.admit(now.pit_bosses)
            self.delivering.take(now, sender)

        if not self._in_the_loop(takes):
            raise ConfigError(
                f"{new.path}: the service loop was busy for {PATIENCE:g} s, so nothing was taken over: "
                "reload again"
            )
        self.running = now
        if beepers is not None:
            self.signals.become(beepers)  # here: it may wait a second for an old one's end
        return found

    def _in_the_loop(self, takes: Callable[[], None]) -> bool:
        """Do it in the service loop; False if that did not come to it in time, and then it never does."""
        begins, done = threading.Lock(), Future[None]()

        def step() -> None:
            if not begins.acquire(blocking=False):
                return  # too late: it was said that nothing changes
            try:
                takes()
                done.set_result(None)
            except BaseException as fault:  # noqa: BLE001 it is raised where it is waited for
                done.set_exception(fault)

        self.service.loop.call_soon_threadsafe(step)
        try:
            done.result(PATIENCE)
        except TimeoutError:
            if begins.acquire(blocking=False):
                return False
            done.result()  # it began at the last moment
        return True

    def _would_start(self, new: Config) -> None:
        """A file with which the next start would fail is refused now, while somebody looks."""
        driver, settings = load_scanner(new)
        refuse_emulated(new, driver.traits(settings))
        make_named(new, driver, settings, self.say)
        running = self.running
        same = running.journal_path == new.journal_path and self.service.published.state.sequence
        if same and running.table.test != new.table.test:
            raise ConfigError(f"{new.path}: table.test: {other_kind(new.journal_path, new.table.test)}")
        ours, its = running.table.id, new.table.id
        if ours != its:
            raise ConfigError(
                f"{new.path}: table.id: this is table {ours}, and the file is for {its}; a table keeps "
                "its id, another one has a file and a service of its own"
            )
