"""``tablectl run``: one table as a service: logging, signals, the watchdog, and the exit code."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from typing import TextIO, cast

import structlog

from tablectl.config import Config
from tablectl.journal import JournalFault
from tablectl.lock import TableLocked
from tablectl.notify import notify
from tablectl.plugins import PluginError
from tablectl.profiles import ConfigError
from tablectl.runtime import Runtime, journal_folder

CONFIG_ERROR = 78
MORE_TIME = "EXTEND_TIMEOUT_USEC=30000000"
"""What keeps systemd from giving up on a start that replays a long journal."""
EXIT_OF_THREAD = {"core": 70, "journal": 71, "reader": 72, "service": 73}
"""Exit codes of a process that ended because a thread did."""


class _Stderr:
    """Standard error, which may be closed, full or gone: a line of log is never worth a table."""

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            return sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.flush()


def _at_a_terminal() -> bool:
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # it is closed
        return False


def setup_logging(format_: str, level: str) -> None:
    """Structured logs on stderr, as JSON lines or for a console. Control characters are escaped."""
    renderer: structlog.typing.Processor
    if format_ == "json":
        renderer = structlog.processors.JSONRenderer()
    else:
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr is not None and sys.stderr.isatty())
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _escape,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(cast(TextIO, _Stderr())),
    )


def _escape(_logger: object, _name: str, facts: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """No peer's text writes control characters into a terminal that shows the log."""
    for key, value in facts.items():
        if isinstance(value, str) and not value.isprintable():
            facts[key] = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in value)
    return facts


def run(config: Config) -> int:
    """Run the table until SIGTERM or SIGINT. The exit code: 0, 78 (configuration), or a thread's own."""
    setup_logging(config.log.format, config.log.level)
    log = structlog.get_logger("tablectl")
    sys.setswitchinterval(0.001)
    wanted = threading.Event()
    failed: list[str] = []

    def crashed(name: str, _: BaseException) -> None:
        failed.append(name)
        wanted.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: wanted.set())
    asked = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: asked.set())
    runtime = Runtime(config, on_crash=crashed, still_starting=lambda: notify(MORE_TIME))
    try:
        journal_folder(config.journal_path)
        runtime.start()
    except (ConfigError, PluginError, JournalFault, TableLocked, OSError) as fault:
        if config.log.format == "json" and not _at_a_terminal():
            log.error("the table cannot start", reason=str(fault))  # who reads the console reads it below
        print(f"tablectl: {fault}", file=sys.stderr)  # noqa: T201 for the person at the terminal
        return CONFIG_ERROR if isinstance(fault, ConfigError | PluginError | JournalFault) else 1
    notify("READY=1\nSTATUS=table " + config.table.id + " is up")
    well = True
    while not wanted.wait(1.0):
        runtime.watch()
        why = runtime.unhealthy()
        if why is None:
            notify("WATCHDOG=1")
        else:
            log.error("the watchdog is not fed", reason=why)
            if well:
                runtime.record_flight(why)
        well = why is None
        if asked.is_set():
            asked.clear()
            runtime.record_flight("asked for with SIGUSR1")
    notify("STOPPING=1")
    begun = time.monotonic()
    ended = runtime.stop()
    log.info("stopped", in_time=ended, seconds=round(time.monotonic() - begun, 2))
    code = EXIT_OF_THREAD.get(failed[0], 70) if failed else 0
    if not ended:
        # A thread that hangs (in a driver, a disk) must not keep the process: its lock is the kernel's.
        sys.stderr.flush()
        os._exit(code or 75)
    return code
