"""What a game server must answer, tried on any: ``tablectl conformance URL``.

Every check sends signed requests for a test table, as a controller would, and some as none should. It says
what was sent, what the contract expects and what came (docs/integration.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tablectl.conformance.checks import CHECKS
from tablectl.conformance.exact import EXACT_CHECKS
from tablectl.conformance.kit import Check, Failed, Finding, Kit, Skipped
from tablectl.conformance.settling import SETTLING_CHECKS
from tablectl.conformance.story import STORY_CHECKS
from tablectl.conformance.window import WINDOW_CHECKS

__all__ = ["EVERY_CHECK", "Finding", "Kit", "run"]

EVERY_CHECK: tuple[Check, ...] = (
    *CHECKS,
    *SETTLING_CHECKS,
    *STORY_CHECKS,
    *EXACT_CHECKS,
    *WINDOW_CHECKS,
)
"""In the order they are tried."""


def run(kit: Kit, wanted: Callable[[str], bool] = lambda name: True) -> Iterator[Finding]:
    """Try each check whose name is ``wanted``. Without an answer to the first one the rest says nothing."""
    for check in EVERY_CHECK:
        if not (wanted(check.name) or check is EVERY_CHECK[0]):
            continue
        try:
            kit.sync()
            check.run(kit)
            yield Finding(check.name, check.says, "ok")
        except Skipped as why:
            yield Finding(check.name, check.says, "skip", got=str(why))
        except Failed as failed:
            yield Finding(check.name, check.says, "FAIL", failed.sent, failed.expected, failed.got)
            if check is EVERY_CHECK[0]:
                return
