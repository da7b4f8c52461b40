"""Drivers, emulated shoes, beepers and finders by name: the entry points any installed package may offer.

This is the only place that looks them up, so that ``tablectl`` never imports the drivers it ships with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from tablectl.emulation import Emulator
from tablectl.finder import Finder
from tablectl.scanner import Driver

if TYPE_CHECKING:
    from tablectl.beeper import Beeper

DRIVERS, EMULATORS, BEEPERS = "tablectl.drivers", "tablectl.emulators", "tablectl.beepers"
FINDERS = "tablectl.finders"

_KINDS = {DRIVERS: "driver", EMULATORS: "emulated shoe", BEEPERS: "beeper", FINDERS: "finder"}


class PluginError(Exception):
    """There is nothing of that name, or it does not load. The text names what there is."""


def names(group: str) -> tuple[str, ...]:
    """The names a group offers, in alphabetical order."""
    return tuple(sorted({point.name for point in entry_points(group=group)}))


def _load(group: str, name: str) -> Any:
    kind = _KINDS.get(group, group)
    found: dict[str, EntryPoint] = {point.value: point for point in entry_points(group=group, name=name)}
    if not found:
        there = ", ".join(names(group)) or "none; is tablectl installed with its drivers?"
        raise PluginError(f"there is no {kind} named {name!r}; there are: {there}")
    if len(found) > 1:
        raise PluginError(
            f"the {kind} {name!r} is offered more than once: {', '.join(sorted(found))}; uninstall one"
        )
    (point,) = found.values()
    try:
        return point.load()
    except (ImportError, AttributeError) as fault:
        raise PluginError(f"the {kind} {name!r} ({point.value}) does not load: {fault}") from fault


def load_driver(name: str) -> Driver:
    """The scanner driver ``name``. Raises :class:`PluginError`."""
    driver = _load(DRIVERS, name)
    if not isinstance(driver, Driver):
        raise PluginError(f"what is offered as driver {name!r} is no tablectl.scanner.Driver")
    return driver


def load_emulator(name: str) -> Emulator:
    """The emulated shoe that speaks protocol ``name``. Raises :class:`PluginError`."""
    emulator = _load(EMULATORS, name)
    if not isinstance(emulator, Emulator):
        raise PluginError(f"what is offered as emulated shoe {name!r} is no tablectl.emulation.Emulator")
    return emulator


def load_beeper(name: str) -> Callable[[Mapping[str, Any]], Beeper]:
    """``make(settings)`` of the beeper ``name``. Raises :class:`PluginError`."""
    make = _load(BEEPERS, name)
    if not callable(make):
        raise PluginError(f"what is offered as beeper {name!r} is no function make(settings)")
    return make  # type: ignore[no-any-return]


def load_finder(name: str) -> Finder:
    """The function that finds one kind of device (:mod:`tablectl.finder`). Raises :class:`PluginError`."""
    find = _load(FINDERS, name)
    if not callable(find):
        raise PluginError(f"what is offered as finder {name!r} is no function")
    return find  # type: ignore[no-any-return]
