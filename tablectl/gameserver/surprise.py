"""What nobody foresaw while something of one table is looked at: that table's trouble, and nobody else's.

Nothing of it is kept; its table is told whose fault it is and waits, and the log has the traceback once
however often the table asks again.
"""

from __future__ import annotations

import sqlite3
import traceback

import structlog

INNERMOST = 20
"""Places of a traceback that are logged."""
MOST = 1000
"""Kinds that are remembered as logged."""

_OF_ONE_THING = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.ProgrammingError,
    sqlite3.InterfaceError,
)
"""What the database says of that which it was given to keep."""

log = structlog.get_logger(__name__)


def is_everybodys(error: BaseException) -> bool:
    """Whether disk, database or memory fail, whatever is asked: all is rolled back then and tried again."""
    if isinstance(error, _OF_ONE_THING):
        return False
    return isinstance(error, sqlite3.Error | OSError | MemoryError)


class Surprises:
    """Those of one server."""

    def __init__(self) -> None:
        self._logged: set[tuple[str, str, str]] = set()

    def words(self, table: str, at: str, error: Exception) -> str:
        """Log it, if that was not done yet; what the table is told. ``at``: what was looked at.

        Raises ``error`` itself where it is everybody's.
        """
        if is_everybodys(error):
            raise error
        kind = table, at, type(error).__name__
        if kind not in self._logged:
            if len(self._logged) >= MOST:
                self._logged.clear()
            self._logged.add(kind)
            log.error(
                "a fault of this program: its table waits until it is mended and started anew",
                table=table,
                at=at,
                error=f"{kind[2]}: {error}"[:300],
                traceback="".join(traceback.format_exception(error, limit=-INNERMOST)),
            )
        return (
            f"a fault in the game server at {at}: nothing of that is kept. Whoever runs it finds the place in"
            " its log; mended and started anew it goes on by itself"
        )
