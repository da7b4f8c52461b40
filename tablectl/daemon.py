"""``tablectl run``: one table as a service: signals, reload, the watchdog, and the exit code."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import structlog

from tablectl.config import Config, load_config
from tablectl.journal import JournalFault
from tablectl.journal.disk import refuses
from tablectl.keeping import journal_folder
from tablectl.late_credentials import handed_over_once
from tablectl.lock import TableLocked
from tablectl.logs import at_a_terminal, setup_logging
from tablectl.plugins import PluginError
from tablectl.process.notify import MOST, notify, short, status
from tablectl.profiles import ConfigError
from tablectl.runtime import Runtime

CONFIG_ERROR = 78
MORE_TIME = "EXTEND_TIMEOUT_USEC=30000000"
"""What keeps systemd from giving up on a start that replays a long journal."""
PATIENCE, AGAIN = 60.0, 1.0
"""How long (s) a start waits for a disk that takes nothing, and how often it tries."""
EXIT_OF_THREAD = {"core": 70, "journal": 71, "reader": 72, "service": 73}
"""Exit codes of a process that ended because a thread did."""


def run(config: Config) -> int:
    """Run the table until SIGTERM or SIGINT. The exit code: 0, 78 (configuration), or a thread's own."""
    set_level = setup_logging(config.log.format, config.log.level)
    with contextlib.suppress(OSError, ValueError, AttributeError, RuntimeError):
        faulthandler.enable()  # systemd's watchdog ends with SIGABRT: the log tells where each thread was
    log = structlog.get_logger("tablectl").bind(table=config.table.id)
    sys.setswitchinterval(0.001)
    asked = _Asked()
    failed: list[str] = []

    def crashed(name: str, _: BaseException) -> None:
        failed.append(name)
        asked.to_stop()

    def still_starting() -> None:
        if asked.stop:
            raise _StopWanted
        notify(MORE_TIME + "\nSTATUS=reading the journal")

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked.to_stop())
    signal.signal(signal.SIGUSR1, lambda *_: asked.to_record())
    runtime = Runtime(config, on_crash=crashed, still_starting=still_starting)
    reloads = Reloads(runtime, config.path, set_level, log, asked.to_look)
    signal.signal(signal.SIGHUP, lambda *_: reloads.ask())
    try:
        still_starting()
        _start(runtime, asked, log)
    except _StopWanted:
        log.info("stopped before the table was up")
        return 0
    except (ConfigError, PluginError, JournalFault, TableLocked, OSError) as fault:
        _tell(config, log, f"cannot start: {fault}")
        return CONFIG_ERROR if isinstance(fault, ConfigError | PluginError | JournalFault) else 1
    well = True
    told = ""
    ready = "READY=1\n"
    while True:
        if (line := f"table {config.table.id}: {status(runtime.view())}{reloads.said}") != told:
            told = line
            notify(f"{ready}STATUS={line}")
            ready = ""
        asked.wait(1.0)
        if asked.stop:
            break
        runtime.watch()
        reloads.go_on()
        why = runtime.unhealthy()
        if why is None:
            notify("WATCHDOG=1")
        else:
            log.error("the watchdog is not fed", reason=why)
            if well:
                runtime.incidents.record(why)
        well = why is None
        if asked.recording:
            asked.recording = False
            runtime.incidents.record("asked for with SIGUSR1", asked=True)
    notify("STOPPING=1\nSTATUS=stopping")
    begun = time.monotonic()
    ended = runtime.stop()
    log.info("stopped", in_time=ended, seconds=round(time.monotonic() - begun, 2))
    code = EXIT_OF_THREAD.get(failed[0], 70) if failed else 0
    if not ended:
        # A thread that hangs (in a driver, a disk) must not keep the process: its lock is the kernel's.
        sys.stderr.flush()
        os._exit(code or 75)
    return code


def _start(runtime: Runtime, asked: _Asked, log: Any) -> None:
    """Start the table. A disk that takes nothing now is waited for, and said; raises what is in the way.

    After :data:`PATIENCE` the next process goes on waiting: who has ordered the start gets an answer.
    """
    begun, told = time.monotonic(), ""
    while True:
        try:
            journal_folder(runtime.config.journal_path)
            return runtime.start()
        except OSError as fault:
            if not refuses(fault) or time.monotonic() - begun > PATIENCE:
                raise
            if (why := f"waiting for the journal's disk, no table can be played: {fault}") != told:
                _tell(runtime.config, log, why)
                told = why
        notify(f"{MORE_TIME}\nSTATUS={short(told, MOST)}")
        asked.wait(AGAIN)
        if asked.stop:
            raise _StopWanted


def _tell(config: Config, log: Any, why: str) -> None:
    """Why the table is not up: in the log, to the person at the terminal, and to ``systemctl status``."""
    if config.log.format == "json" and not at_a_terminal():
        log.error("the table cannot start", reason=why)  # who reads the console reads it below
    with contextlib.suppress(OSError, ValueError):
        print(f"tablectl: {why}", file=sys.stderr)  # noqa: T201 for the person at the terminal
    notify(f"STATUS={short(why, MOST)}")


class _Asked:
    """What signals and dying threads ask of the main thread; may be told in the middle of anything."""

    def __init__(self) -> None:
        self.stop = False
        self.recording = False
        # Not an Event: a signal may come while its lock is held by the very thread that runs the handler.
        self._wakes: SimpleQueue[None] = SimpleQueue()

    def to_stop(self) -> None:
        self.stop = True
        self.to_look()

    def to_record(self) -> None:
        self.recording = True
        self.to_look()

    def to_look(self) -> None:
        self._wakes.put(None)

    def wait(self, seconds: float) -> None:
        """Return when something is asked, or after so many seconds."""
        with contextlib.suppress(Empty):
            self._wakes.get(timeout=seconds)


class _StopWanted(Exception):
    """SIGTERM came while a long journal was being read."""


HANGS = 10.0
"""Seconds after which a reload that has not ended is told, when another one is asked for."""


class Reloads:
    """SIGHUPs, one after the other, in a thread: a file on a disk that hangs does not starve the watchdog."""

    def __init__(
        self,
        runtime: Runtime,
        path: Path,
        set_level: Callable[[str], None],
        log: Any,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.said = ""
        """What the status tells of the last one, when it was refused or left something for a restart."""
        self._runtime = runtime
        self._path = path
        self._set_level = set_level
        self._log = log
        self._wake = wake
        self._asked = False
        self._begun = 0.0
        self._told = False
        self._thread: threading.Thread | None = None

    def ask(self) -> None:
        """There was a SIGHUP."""
        self._asked = True
        self._wake()

    def go_on(self) -> None:
        """Once a second: begin what was asked for, unless one is under way."""
        if self._asked and self._thread is not None and self._thread.is_alive():
            if time.monotonic() - self._begun > HANGS and not self._told:
                self._told = True
                self._waits()
            return
        if self._asked:
            self._asked = False
            self._begun, self._told = time.monotonic(), False
            self._thread = threading.Thread(target=self._reload, name="reload", daemon=True)
            self._thread.start()

    def _reload(self) -> None:
        notify(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")
        try:
            config = load_config(self._path)
            changes = self._runtime.reload(config)
            self._set_level(config.log.level)
        except Exception as fault:  # noqa: BLE001 whatever is wrong with a file, the table plays on
            told = isinstance(fault, ConfigError | PluginError)
            self._refused(str(fault) if told else repr(fault))
        else:
            facts = {"credentials": ONCE} if handed_over_once(config) else {}
            self._log.info("the configuration is reloaded", changes=str(changes), **facts)
            self._runtime.supervision.over("reload", "Over: the configuration was read again.")
            later = f"only with a restart: {', '.join(changes.later)}" if changes.later else ""
            self.said = later and f"; {short(later, 200)}"
        finally:
            notify("READY=1")
            self._wake()

    def _waits(self) -> None:
        said = "the configuration is still being read, until then the old one stays: does its disk answer?"
        self._log.error(said)
        self.said = "; reload waits for its file"
        self._runtime.supervision.alarm("reload", said.capitalize())

    def _refused(self, why: str) -> None:
        self._log.error("the configuration is not reloaded, the old one stays", reason=why)
        text = short(why, MOST)
        self.said = f"; reload refused: {text}"
        said = f"The configuration cannot be used, the old one stays: {text}"
        self._runtime.supervision.alarm("reload", said)


ONCE = "as systemd handed them over at the start; new ones come with a restart"
