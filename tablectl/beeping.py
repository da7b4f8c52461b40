"""The beepers a configuration names, made ready to be played; for the daemon and for technicians alike."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from tablectl.beeper import Beeper, OfScanner
from tablectl.config import Config
from tablectl.plugins import load_beeper
from tablectl.profiles import ConfigError
from tablectl.scanner import Driver
from tablectl.signals import Signals


def make_beepers(config: Config) -> dict[str, Beeper]:
    """Every beeper by its key in the file (``beeper``, ``beeper.lamp``); no device is touched.

    Raises :class:`~tablectl.profiles.ConfigError` naming the key, or ``PluginError``.
    """
    made = {}
    for key, beeper in config.beeper.each.items():
        try:
            made[key] = load_beeper(beeper.driver)(beeper.settings)
        except ValueError as fault:
            raise ConfigError(f"{config.path}: {key}.{fault}") from None
        if _same(beeper.settings.get("device"), config.scanner.device):
            raise ConfigError(
                f"{config.path}: {key}.device: {config.scanner.device} is the scanner, and nothing else may"
                ' write to it; its own beep is driver = "scanner"'
            )
    return made


def _same(device: object, scanner: str) -> bool:
    """Whether two names lead to one device now."""
    return isinstance(device, str) and os.path.realpath(device) == os.path.realpath(scanner)


def attach(
    config: Config,
    made: Mapping[str, Beeper],
    driver: Driver,
    settings: Mapping[str, Any],
    say: Callable[[bytes], bool],
) -> None:
    """Tell the beepers that are the scanner's own how they reach it. ``settings``: the scanner's.

    Raises ``ConfigError`` naming the key.
    """
    for key, beeper in made.items():
        if isinstance(beeper, OfScanner):
            try:
                beeper.attach(lambda pattern: driver.beep(settings, pattern), say)
            except ValueError as fault:
                raise ConfigError(f"{config.path}: {key}.{fault}") from None


def make_signals(
    config: Config,
    driver: Driver,
    settings: Mapping[str, Any],
    say: Callable[[bytes], bool],
    log: Any = None,
) -> Signals:
    """The signals of a table. ``settings``: the scanner's; ``say``: as :meth:`tablectl.reader.Reader.say`.

    Raises ``ConfigError`` naming the key, or ``PluginError``.
    """
    made = make_named(config, driver, settings, say)
    return Signals(*made.values(), names=list(made), log=log)


def make_named(
    config: Config, driver: Driver, settings: Mapping[str, Any], say: Callable[[bytes], bool]
) -> dict[str, Beeper]:
    """As :func:`make_signals`, but the beepers themselves, by what people call them."""
    made = make_beepers(config)
    attach(config, made, driver, settings, say)
    each = config.beeper.each
    # One alone is called by its kind.
    return {
        each[key].driver if key == "beeper" else key.removeprefix("beeper."): one for key, one in made.items()
    }
