"""Arrows point down: the pure modules import nothing of the edges, the controller no driver."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EDGES = frozenset(
    {
        *("time", "datetime", "threading", "multiprocessing", "subprocess", "queue", "signal", "select"),
        *("logging", "structlog", "os", "pathlib", "fcntl", "socket", "sqlite3", "secrets", "http"),
        *("pydantic", "aiohttp", "asyncio", "click", "serial", "usb"),
        "prometheus_client",
    }
)
"""What no pure module imports. ``tablectl.clock`` is where time is made; only its types are used."""

PURE = (
    "gameserver.money", "gameserver.terms", "gameserver.wagers", "gameserver.settlement",
    "gameserver.presence",
    "cards", "frozen", "roads", "rules", "shoe", "house", "odds", "events", "scanner", "table", "health",
    "delivery.outbox", "delivery.answers", "delivery.ages", "delivery.ways", "delivery.actions",
    "delivery.placed",
    "display.model", "display.rounds", "views",
    "technician.capture", "technician.verdict", "technician.rehearsal",
    "finder", "item_words", "printable",
    "console.paper", "console.big", "console.seen", "console.past", "console.dialog", "console.flows",
    "console.questions", "console.pit_boss", "console.bounded",
    "console.language", "console.german", "console.german_table", "console.german_answers",
    "console.keys", "console.model", "console.prompt", "console.hands", "console.middle", "console.screen",
)  # fmt: skip
PURE_MAY_USE = (*PURE, "clock")
DRIVERS_MAY_USE = ("cards", "clock", "scanner", "emulation", "events", "finder", "plain_file")


CONSOLE_MAY_USE = ("console", "cards", "local", "printable", "table")
"""It is a client: of the table it knows the words and what is lawful, nothing that runs."""


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "_config" not in path.parts)


def module_of(path: Path) -> str:
    """``tablectl/table/turn.py`` → ``table.turn``."""
    parts = path.relative_to(ROOT / "tablectl").with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports(path: Path) -> list[tuple[int, str]]:
    """Line and full name of everything a file imports, however deep in it."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                found += [(node.lineno, alias.name) for alias in names]
            case ast.ImportFrom(module=module, names=names, level=level):
                base = module or ""
                if level:
                    package = path.relative_to(ROOT).parent.parts
                    base = ".".join((*package[: len(package) - level + 1], *([module] if module else [])))
                found += [(node.lineno, f"{base}.{alias.name}") for alias in names]
            case _:
                pass
    return found


def under(name: str, allowed: tuple[str, ...]) -> bool:
    """Whether ``tablectl.<name>`` is one of the allowed modules or lies in one."""
    inner = name.removeprefix("tablectl.")
    return any(inner == module or inner.startswith(f"{module}.") for module in allowed)


def is_pure(path: Path) -> bool:
    return under(f"tablectl.{module_of(path)}", PURE)


def faults_of_pure(path: Path) -> list[str]:
    faults = []
    for line, name in imports(path):
        top = name.split(".", maxsplit=1)[0]
        inside = top == "tablectl"
        if top in EDGES or top == "tablectl_drivers" or (inside and not _may_use(name)):
            faults.append(f"{path.relative_to(ROOT)}:{line} imports {name}: a pure module must not")
        if name == "tablectl.clock.now":
            faults.append(f"{path.relative_to(ROOT)}:{line} imports {name}: time is an argument here")
    return faults


def _may_use(name: str) -> bool:
    # ``from tablectl import events`` names the module, ``from tablectl.cards import Card`` a name in it.
    return under(name, PURE_MAY_USE)


def test_pure_modules_import_nothing_of_the_edges() -> None:
    pure = [path for path in files(ROOT / "tablectl") if is_pure(path)]
    assert len(pure) >= 20
    assert [fault for path in pure for fault in faults_of_pure(path)] == []


def test_the_controller_imports_no_driver() -> None:
    faults = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in files(ROOT / "tablectl")
        for line, name in imports(path)
        if name.split(".", maxsplit=1)[0] == "tablectl_drivers"
    ]
    assert faults == []


def test_drivers_import_only_what_a_driver_may_know() -> None:
    drivers = files(ROOT / "drivers" / "tablectl_drivers")
    assert drivers
    faults = [
        f"{path.relative_to(ROOT)}:{line} imports {name}; a driver may know {', '.join(DRIVERS_MAY_USE)}"
        for path in drivers
        for line, name in imports(path)
        if name.split(".", maxsplit=1)[0] == "tablectl" and not under(name, DRIVERS_MAY_USE)
    ]
    assert faults == []


def test_the_console_imports_nothing_that_runs() -> None:
    faults = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in files(ROOT / "tablectl" / "console")
        for line, name in imports(path)
        if name.split(".", maxsplit=1)[0] == "tablectl" and not under(name, CONSOLE_MAY_USE)
    ]
    assert faults == []


def part_of(module: str) -> str:
    """``tablectl.journal.rows`` → ``journal``: a module, or a package with all that is in it."""
    return module.split(".")[1] if "." in module else ""


def parts_used(folder: Path) -> dict[str, set[str]]:
    """Part → the parts that it imports."""
    used: dict[str, set[str]] = {}
    for path in files(folder):
        part = part_of(f"tablectl.{module_of(path)}")
        names = {name for _, name in imports(path) if name.startswith("tablectl.")}
        used.setdefault(part, set()).update({part_of(name) for name in names} - {part})
    return {part: {one for one in others if one in used} for part, others in used.items()}


def test_the_parts_stand_in_an_order() -> None:
    """A package and a module beside it is a part; types alone count too."""
    used = parts_used(ROOT / "tablectl")
    assert used["runtime"] >= {"core", "journal", "reader", "delivering", "api"}
    list(TopologicalSorter(used).static_order())  # raises CycleError, with the circle
    with pytest.raises(CycleError):
        list(TopologicalSorter(used | {"journal": used["journal"] | {"service"}}).static_order())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import time", "imports time"),
        ("def f():\n    import threading", ":2 imports threading"),
        ("from os import path", "imports os.path"),
        ("from tablectl import journal", "imports tablectl.journal"),
        ("from tablectl.journal import rows", "imports tablectl.journal.rows"),
        ("from tablectl.runtime import Runtime", "imports tablectl.runtime.Runtime"),
        ("from . import runtime", "imports tablectl.runtime"),
        ("from tablectl.clock import now", "imports tablectl.clock.now"),
        ("import tablectl_drivers.links", "imports tablectl_drivers.links"),
    ],
)
def test_a_fault_is_seen_and_named(
    text: str, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "tablectl" / "rules.py"
    path.parent.mkdir()
    path.write_text(text)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (fault,) = faults_of_pure(path)
    assert fault.startswith("tablectl/rules.py:") and told in fault
