"""docs/table.md, drawn from the transition table: ``python -m tablectl.table.diagram > docs/table.md``.

Nothing is written here by hand that the table knows, so that the page cannot tell another story.
"""

from __future__ import annotations

import sys
from collections import defaultdict

from tablectl.table.holds import HOLDS, WAYS
from tablectl.table.inputs import COMMANDS, ROUND_CHANGING, SUPERVISED, Kind
from tablectl.table.state import Phase
from tablectl.table.transitions import LAWFUL, REFUSALS, UNDER_HOLD

_HEAD = """\
# The table as a state machine

Made by `make docs` from `tablectl/table/transitions.py` and `holds.py`; do not edit.

A table is a *phase* and perhaps a *hold* over it. The diagram shows what leads from one phase to
another; what stays in its phase is in the tables below. Time passes in `betting`: at its deadline
betting closes, whatever else is going on.
"""


def _state(phase: Phase) -> str:
    return phase.value.replace(" ", "_")


def mermaid() -> str:
    """The phases and what leads from one to another."""
    edges: dict[tuple[Phase, Phase], list[str]] = defaultdict(list)
    for (phase, kind), move in LAWFUL.items():
        for to in move.to:
            if to is not phase:
                edges[phase, to].append(kind.value)
    edges[Phase.BETTING, Phase.NO_MORE_BETS].append("deadline")
    edges[Phase.IDLE, Phase.BETTING].append("pause over (automatic opening)")
    lines = ["stateDiagram-v2", f"    [*] --> {_state(Phase.CLOSED)}"]
    lines += [
        f"    {_state(phase)} --> {_state(to)} : {', '.join(kinds)}"
        for (phase, to), kinds in sorted(edges.items(), key=lambda edge: _order(*edge[0]))
    ]
    return "\n".join(lines)


def _order(phase: Phase, to: Phase) -> tuple[int, int]:
    phases = list(Phase)
    return phases.index(phase), phases.index(to)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _table(*head: str) -> list[str]:
    return [_row(*head), _row(*("---" for _ in head))]


def _kinds(phase: Phase, *, held: bool, commands: bool) -> str:
    table = UNDER_HOLD if held else LAWFUL
    return ", ".join(
        f"`{kind}`" for kind in Kind if (kind in COMMANDS) is commands and (phase, kind) in table
    )


def commands_by_phase() -> list[str]:
    """Lawful commands of each phase, without a hold and under one, and the refusal of all others."""
    lines = _table("phase", "lawful commands", "under a hold", "any other command is refused with")
    for phase in Phase:
        free, held = (_kinds(phase, held=h, commands=True) for h in (False, True))
        lines.append(_row(phase.value, free, held, REFUSALS[phase]))
    return lines


def reports_by_phase() -> list[str]:
    """What each report of the shoe does in each phase: the handlers of the table by name."""
    reports = [kind for kind in Kind if kind not in COMMANDS]
    lines = _table("input", *(phase.value for phase in Phase))
    for kind in reports:
        moves = (LAWFUL.get((phase, kind)) for phase in Phase)
        lines.append(_row(kind.value, *(f"{move.handler}" if move else "noted" for move in moves)))
    return lines


def holds() -> list[str]:
    """Every hold, what it means, and its ways out."""
    lines = _table("code", "what happened", "ways out")
    lines += [
        _row(f"`{code}`", hold.means, ", ".join(f"`{way}`" for way in hold.ways))
        for code, hold in HOLDS.items()
    ]
    return lines


def page() -> str:
    """The whole of docs/table.md."""
    supervised = ", ".join(f"`{kind}`" for kind in Kind if kind in SUPERVISED)
    seen = ", ".join(f"`{kind}`" for kind in Kind if kind in ROUND_CHANGING)
    parts = [
        _HEAD,
        "```mermaid\n" + mermaid() + "\n```\n",
        "## Commands\n",
        f"Only a pit boss, with a reason: {supervised}. With what the sender saw: {seen}.\n",
        "\n".join(commands_by_phase()) + "\n",
        "## Cards, reports of the shoe, time\n",
        "`noted`: written down, changes nothing. Under a hold a card of the shoe is kept with the hold.\n",
        "\n".join(reports_by_phase()) + "\n",
        "## Holds\n",
        "A way out is offered when it is possible at that moment; an action that is not offered is"
        " refused. With a card kept, `accept` or `burn` give it its place first.\n",
        "\n".join(holds()) + "\n",
        "\n".join([*_table("way out", "the command, and what it does"), *_ways()]) + "\n",
    ]
    return "\n".join(parts)


def _ways() -> list[str]:
    return [_row(f"`{way}`", text) for way, text in WAYS.items()]


if __name__ == "__main__":
    sys.stdout.write(page())
