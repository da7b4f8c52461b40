"""Whether a table could play: each thing it needs looked at once, without opening the scanner's port.

The port may be the daemon's; that it is there and may be opened is all that is asked here.
"""

from __future__ import annotations

import ctypes
import ipaddress
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tablectl.cli.check.findings import FAIL, OK, WARN, Finding

if TYPE_CHECKING:
    from tablectl.config import Config

_CLOCK_UNSYNCHRONISED = 5
"""What adjtimex(2) returns while nothing sets the clock (TIME_ERROR)."""


def check_all(find: Callable[[], Path], config_only: bool) -> list[Finding]:
    """Everything, in the order to mend it in."""
    from tablectl.cli.check.beepers import beeper_findings
    from tablectl.cli.check.copies import copies_findings
    from tablectl.cli.check.device import device_findings
    from tablectl.cli.check.journal import journal_findings
    from tablectl.cli.check.server import server_findings
    from tablectl.config import load_config
    from tablectl.profiles import ConfigError

    try:
        path = find()
        config = load_config(path)
    except ConfigError as fault:
        return [Finding("configuration", FAIL, line) for line in str(fault).splitlines()]
    findings = [Finding("configuration", OK, f"{path}, table {config.table.id}, rules {config.table.rules}")]
    findings += [*_limits(config), *_credentials(config), *_in_the_clear(config)]
    findings += _plugins(config)
    findings += beeper_findings(config, not config_only)
    if not config_only:
        findings += [*device_findings(config), *server_findings(config), *_clock()]
        findings += [*journal_findings(config), *copies_findings(config)]
    return findings


def _limits(config: Config) -> Iterator[Finding]:
    """Some houses have no limits; in another one the section was forgotten."""
    if unlimited := config.house_rules().unlimited:
        text = f"none on {', '.join(unlimited)}: any stake is taken. Not so? [limits.bets] of the house rules"
        yield Finding("limits", WARN, text)


def _credentials(config: Config) -> Iterator[Finding]:
    inspection = config.house_rules().shoe.inspection
    for text in config.missing:
        needed = "push-hmac" in text or ("pit-bosses" in text and inspection)
        yield Finding("credentials", FAIL if needed else WARN, text)
    if len(config.pit_bosses):
        yield Finding("pit bosses", OK, ", ".join(config.pit_bosses.names))


def _in_the_clear(config: Config) -> Iterator[Finding]:
    """What goes to another machine without encryption, where everybody on the way reads it."""
    for address in config.server.addresses:
        parts = urlsplit(address)
        if parts.scheme in ("http", "nats") and not _here(parts.hostname or ""):
            better = {"http": "https", "nats": "tls"}[parts.scheme]
            text = f"{address}: not encrypted, all on the way can read it and hold it back; use {better}://"
            yield Finding("game server", WARN, text)
            return


def _here(host: str) -> bool:
    """Whether a host is this machine by its very name; nothing is looked up."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        name = host.lower().removesuffix(".")
        return name == "localhost" or name.endswith(".localhost")


def _plugins(config: Config) -> Iterator[Finding]:
    from tablectl.profiles import ConfigError
    from tablectl.scanner_setup import load_scanner

    try:
        driver, settings = load_scanner(config)
        traits = driver.traits(settings)
    except ConfigError as fault:
        yield Finding("driver", FAIL, str(fault))
    else:
        if traits.emulated and not config.table.test:
            yield Finding("driver", FAIL, f"{config.path}: table.test: an emulated driver needs test = true")
        else:
            yield Finding("driver", OK, f"{driver.name}: {driver.about}")


def _clock() -> Iterator[Finding]:
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(1024))
    except (OSError, AttributeError):
        state = -1
    if state == _CLOCK_UNSYNCHRONISED:
        yield Finding(
            "clock", WARN, "nothing sets it; servers refuse what is 5 minutes off: enable time sync"
        )
    elif state < 0:
        yield Finding("clock", WARN, "whether something sets it cannot be told here")
    else:
        yield Finding("clock", OK, "it is set by time sync")
