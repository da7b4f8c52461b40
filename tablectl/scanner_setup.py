"""From a ``[scanner]`` section to the driver and the settings it is used with: one way for all who open it.

The daemon, ``tablectl check``, the demo and the technician's commands must mean the same file by
``cards = "cards/house.toml"``, and refuse the same mistakes in the same words.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tablectl.config import Config
from tablectl.plugins import PluginError, load_driver
from tablectl.profiles import ConfigError, config_dir
from tablectl.scanner import Driver, Traits

EMULATED = "is emulated; a table that plays for nobody's money says so: [table] test = true"

_PTY_MAJORS = range(136, 144)


def load_scanner(config: Config) -> tuple[Driver, dict[str, Any]]:
    """The driver a configuration names and its settings, paths resolved and checked by the driver.

    No port is opened. Raises :class:`ConfigError` naming file and key.
    """
    try:
        driver = load_driver(config.scanner.driver)
    except PluginError as fault:
        raise ConfigError(f"{config.path}: scanner.driver: {fault}") from None
    try:
        settings = resolve_paths(driver, config.scanner.settings, config.path.parent)
        driver.check(settings)
        driver.check_device(config.scanner.device)
    except ValueError as fault:
        raise ConfigError(f"{config.path}: scanner.{fault}") from None
    return driver, settings


def refuse_emulated(config: Config, traits: Traits) -> None:
    """Raises :class:`ConfigError` where an emulated shoe would play for money."""
    if not config.table.test and (traits.emulated or is_pseudo_terminal(config.scanner.device)):
        raise ConfigError(f"{config.path}: scanner.device: {config.scanner.device} {EMULATED}")


def is_pseudo_terminal(device: str) -> bool:
    """Whether ``device`` leads to a pseudo-terminal: an emulated shoe, whatever its name says.

    Links are followed. False for a ``tcp://`` address and for what does not exist.
    """
    if device.startswith("tcp://"):
        return False
    try:
        if os.path.realpath(device).startswith("/dev/pts/"):
            return True
        return os.major(Path(device).stat().st_rdev) in _PTY_MAJORS
    except (OSError, ValueError):
        return False


def resolve_paths(driver: Driver, settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """``settings`` with those which name files (:attr:`Driver.paths`) made absolute.

    A text with a ``/`` or ending in ``.toml`` is a path and begins at ``folder``. A bare name is that of a
    file ``KEY/NAME.toml`` beside the configuration, else of a shipped one: ``cards = "suit-rank"``.
    Anything but text is left to the driver. Raises :class:`ValueError` naming the key.
    """
    resolved = dict(settings)
    for key in driver.paths:
        value = resolved.get(key)
        if isinstance(value, str) and value:
            resolved[key] = str(_file(key, value, folder))
    return resolved


def _file(key: str, value: str, folder: Path) -> Path:
    if "/" in value or value.endswith(".toml"):
        return folder / value
    places = [place / key / f"{value}.toml" for place in (folder, config_dir())]
    for place in places:
        if place.is_file():
            return place
    shipped = ", ".join(sorted(path.stem for path in places[-1].parent.glob("*.toml")))
    raise ValueError(
        f"{key}: there is no {places[0]} and none of that name is shipped ({shipped}); "
        f"write the path of a file, for example {key}/{value}.toml"
    )
