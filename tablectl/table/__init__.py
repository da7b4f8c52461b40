"""The table: two pure functions, :func:`decide` and :func:`evolve`, over one frozen state.

Start reading at :mod:`tablectl.table.transitions`, which opens with the theory of operation.
"""

from tablectl.table.decide import decide
from tablectl.table.evolve import evolve
from tablectl.table.holds import HOLDS, WAYS, offered
from tablectl.table.inputs import (
    Around,
    Command,
    Decision,
    Expect,
    Input,
    JournalFilled,
    Kind,
    Say,
    Signal,
    Started,
    Tick,
    Trouble,
)
from tablectl.table.state import Phase, State, next_deadline

__all__ = [
    "HOLDS",
    "WAYS",
    "Around",
    "Command",
    "Decision",
    "Expect",
    "Input",
    "JournalFilled",
    "Kind",
    "Phase",
    "Say",
    "Signal",
    "Started",
    "State",
    "Tick",
    "Trouble",
    "decide",
    "evolve",
    "next_deadline",
    "offered",
]
