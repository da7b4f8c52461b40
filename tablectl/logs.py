"""The log of a process: lines on standard error, for a console or as JSON, with nothing in them that acts."""

from __future__ import annotations

import contextlib
import logging
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TextIO, cast

import structlog

from tablectl.printable import escape


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


class _Libraries(logging.Handler):
    """What libraries say through ``logging``: a line of ours each, and of one kind a few a minute only.

    A peer can have them say something with each request; ten lines of traceback would fill the disk.
    """

    EVERY = 60.0
    """Seconds in which at most :data:`MOST` lines of one kind are written; the next tells how many not."""
    MOST = 5
    KINDS = 100

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(Exception):  # a line of log is never worth a table
            error = record.exc_info[1] if record.exc_info else None
            if record.name == "aiohttp.server" and _is_a_peers(error):
                self._unreadable(record.created, error)
                return
            left_out = self._left_out(
                (record.name, f"{record.msg!s:.80} {type(error).__name__}"), record.created
            )
            if left_out is None:
                return
            facts: dict[str, object] = {"logger": record.name}
            if error is not None:
                facts |= {"error": f"{type(error).__name__}: {error}"[:300], "at": _where(error)}
            if left_out:
                facts["left_out"] = left_out
            structlog.get_logger().log(
                max(record.levelno, logging.WARNING), record.getMessage()[:300], **facts
            )

    def _unreadable(self, at: float, error: BaseException | None) -> None:
        """What a peer sent is no HTTP, or breaks off: whatever is wrong with it, a line a minute."""
        left_out = self._left_out(("aiohttp.server", "unreadable"), at, most=1)
        if left_out is not None:
            facts: dict[str, object] = {"left_out": left_out} if left_out else {}
            if error is not None:
                facts |= {"why": type(error).__name__, "at": _where(error)}
            structlog.get_logger().warning("a request that is no HTTP was refused", **facts)

    def _left_out(self, kind: tuple[str, str], at: float, most: int = MOST) -> int | None:
        """How many of this kind were not written since the last one; None: nor is this one."""
        if kind not in self._seen and len(self._seen) >= self.KINDS:
            self._seen.clear()
        since, count = self._seen.get(kind, (at, 0))
        fresh = not 0 <= at - since < self.EVERY
        self._seen[kind] = (at, 1) if fresh else (since, count + 1)
        if fresh:
            return max(0, count - most)
        return 0 if count < most else None


def _is_a_peers(error: BaseException | None) -> bool:
    """Whether a peer made it. By the name of its module: whoever serves no HTTP needs no aiohttp."""
    if isinstance(error, (ConnectionError, UnicodeError)):
        return True
    kind = type(error)
    return kind.__module__ == "aiohttp.http_exceptions" or kind.__name__ == "RequestPayloadError"


def _where(error: BaseException) -> str:
    """The innermost places of a traceback, in a few words."""
    places = [
        f"{Path(f.f_code.co_filename).name}:{line}" for f, line in traceback.walk_tb(error.__traceback__)
    ]
    return " < ".join(places[: -5 if places else None : -1])


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
    root = logging.getLogger()
    for one in [one for one in root.handlers if isinstance(one, _Libraries)]:
        root.removeHandler(one)
    root.addHandler(_Libraries())
    logging.captureWarnings(True)
    return set_level


def _escape(_logger: object, _name: str, facts: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """No peer's text writes control characters into a terminal that shows the log."""
    for key, value in facts.items():
        if isinstance(value, str) and not value.isprintable():
            line = "; ".join(value.splitlines())  # the faults of a file are a line each
            facts[key] = escape(line)
    return facts
