"""The log of a process: lines on standard error, for a console or as JSON, with nothing in them that acts."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable
from typing import TextIO, cast

import structlog


class _Stderr:
    """Standard error, which may be closed, full or gone: a line of log is never worth a table."""

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            return sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.flush()


def at_a_terminal() -> bool:
    """Whether a person sees standard error."""
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # it is closed
        return False


class _Threshold:
    """Drops what is below the level, which a reload may change under loggers that are in use."""

    def __init__(self) -> None:
        self.level = logging.INFO

    def __call__(
        self, _logger: object, name: str, facts: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        if logging.getLevelNamesMapping().get(name.upper(), logging.CRITICAL) < self.level:
            raise structlog.DropEvent
        return facts


def setup_logging(format_: str, level: str) -> Callable[[str], None]:
    """Structured logs on stderr, as JSON lines or for a console. Control characters are escaped.

    Returns what sets another level.
    """
    renderer: structlog.typing.Processor
    if format_ == "json":
        renderer = structlog.processors.JSONRenderer()
    else:
        renderer = structlog.dev.ConsoleRenderer(colors=at_a_terminal())
    threshold = _Threshold()

    def set_level(name: str) -> None:
        threshold.level = logging.getLevelNamesMapping()[name.upper()]

    set_level(level)
    structlog.configure(
        processors=[
            threshold,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _escape,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger("debug"),
        logger_factory=structlog.PrintLoggerFactory(cast(TextIO, _Stderr())),
    )
    return set_level


def _escape(_logger: object, _name: str, facts: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """No peer's text writes control characters into a terminal that shows the log."""
    for key, value in facts.items():
        if isinstance(value, str) and not value.isprintable():
            line = "; ".join(value.splitlines())  # the faults of a file are a line each
            facts[key] = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in line)
    return facts
