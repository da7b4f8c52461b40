"""docs/table.md is the table's own picture of itself."""

from __future__ import annotations

from pathlib import Path

from tablectl.table import HOLDS, WAYS, Phase
from tablectl.table.diagram import mermaid, page
from tablectl.table.transitions import LAWFUL, REFUSALS

PAGE = Path(__file__).parent.parent.parent / "docs" / "table.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "docs/table.md is stale; run: make docs"


def test_every_change_of_phase_is_drawn() -> None:
    drawn = mermaid()
    for (phase, kind), move in LAWFUL.items():
        for to in move.to:
            if to is not phase:
                arrow = f"{phase.value.replace(' ', '_')} --> {to.value.replace(' ', '_')} : "
                (line,) = (line for line in drawn.splitlines() if line.strip().startswith(arrow))
                assert kind.value in line.split(" : ")[1]


def test_refusals_holds_and_ways_are_all_there() -> None:
    text = page()
    for phase in Phase:
        assert f"| {phase.value} |" in text and REFUSALS[phase] in text
    for code, hold in HOLDS.items():
        assert f"| `{code}` | {hold.means} |" in text
    for words in WAYS.values():
        assert words in text
