"""Configuration files on the command line: which one is meant, and its faults as an exit code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from tablectl.cli.arguments import Text
from tablectl.cli.output import BadConfiguration, Refused

FOLDER = Path("/etc/tablectl")

config_option = click.option(
    "--config",
    "config_file",
    type=Text(255),
    envvar="TABLECTL_CONFIG",
    help="The configuration (or from TABLECTL_CONFIG); else the only one in /etc/tablectl.",
)


@contextmanager
def configuration(*, running: bool = False) -> Iterator[None]:
    """Faults of a configuration or of house rules become a refusal; 78 for the daemon (``running``)."""
    from tablectl.plugins import PluginError
    from tablectl.profiles import ConfigError

    try:
        yield
    except (ConfigError, PluginError) as fault:
        raise (BadConfiguration if running else Refused)(str(fault)) from None


def config_path(given: str | None, folder: Path = FOLDER) -> Path:
    """The file meant. Raises ``ConfigError`` when none is named and there is not just one."""
    from tablectl.profiles import ConfigError

    if given is not None:
        return Path(given)
    there = sorted(folder.glob("*.toml"))
    if len(there) == 1:
        return there[0]
    found = f"it has {', '.join(path.name for path in there)}" if there else "it has none"
    raise ConfigError(f"{folder}{os.sep}*.toml: {found}; name a configuration with --config FILE")
