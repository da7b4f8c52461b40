"""``make web``: the pages in a real Chromium, against real daemons, and looked at while a table plays.

Arguments go to pytest, for example ``-k recover``. The exit code is 0 only if every scenario there is, or
that was asked for, has passed. Without Chromium it is 2, and no scenario is ever skipped.
"""

from __future__ import annotations

from pathlib import Path

from tests.browser import missing
from tests.lab.scenarios import Transcript, alone, keep, scenarios

HERE = Path(__file__).parent


def play() -> int:
    """Every scenario, and what became of it."""
    transcript = Transcript()
    code = scenarios("web", HERE, 300, transcript)
    keep("web-transcript.txt", transcript.text())
    return code or transcript.bad


if __name__ == "__main__":
    raise SystemExit(alone("web", [missing()] if missing() else [], play))
