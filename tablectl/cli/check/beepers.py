"""The beepers' part of ``tablectl check``: configured as they can be, and there, without a sound.

What a running daemon has open is not opened twice: it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from tablectl.cli.check.findings import FAIL, OK, WARN, Finding

if TYPE_CHECKING:
    from tablectl.config import Config


def beeper_findings(config: Config, look: bool) -> Iterator[Finding]:
    """Each beeper; ``look``: opened too where it can be. FAIL is what the daemon would not start with."""
    from tablectl.beeping import attach, make_beepers
    from tablectl.lock import TableLocked, while_stopped
    from tablectl.plugins import PluginError
    from tablectl.profiles import ConfigError
    from tablectl.scanner_setup import load_scanner

    try:
        made = make_beepers(config)
        with suppress(_OfScanner):
            try:
                driver, settings = load_scanner(config)
            except ConfigError as fault:
                raise _OfScanner from fault  # told in its own line
            attach(config, made, driver, settings, lambda _: False)
    except PluginError as fault:
        yield Finding("beeper", FAIL, f"{config.path}: beeper.driver: {fault}")
        return
    except ConfigError as fault:
        yield Finding("beeper", FAIL, str(fault))
        return
    with ExitStack() as stack:
        if look:
            try:
                stack.enter_context(while_stopped(config.journal_path, config.table.id, trace=False))
            except (TableLocked, OSError):
                look = False
                yield from _asked(config)
        yield from _each(config, made, look)


class _OfScanner(Exception):
    """The scanner's section has a fault, and so the scanner's own beep cannot be looked at."""


def _asked(config: Config) -> Iterator[Finding]:
    """What the daemon that has the beepers says of them."""
    from tablectl.local import Client, Interrupted, NotReachable

    try:
        why = Client(config.socket_path).state()["beeper"]["why"]
    except (NotReachable, Interrupted, KeyError, TypeError):
        return
    if why:
        yield Finding("beeper", WARN, f"the daemon cannot be heard: {why}"[:300])


def _each(config: Config, made: Mapping[str, Any], look: bool) -> Iterator[Finding]:
    from tablectl.beeper import Checked

    for key, beeper in made.items():
        name = config.beeper.each[key].driver
        if name == "null":
            yield Finding(key, OK, "null: nobody hears it")
        elif not look or not isinstance(beeper, Checked):
            yield Finding(key, OK, f"{name}, not looked at; hear it: tablectl signal close")
        else:
            yield _looked_at(key, name, beeper)


def _looked_at(key: str, name: str, beeper: Any) -> Finding:
    try:
        beeper.check()
        beeper.close()
    except Exception as fault:  # noqa: BLE001  whatever a beeper does, it is no reason not to play
        return Finding(key, WARN, f"{name}: {fault}")
    return Finding(key, OK, f"{name} is there; hear it: tablectl signal close")
