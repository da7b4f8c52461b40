"""A credential that was missing when the table started: looked for until it comes.

A machine may boot before the disk with its secrets is there, or a house may write them last. The table is up
without them and says what it lacks; nobody has to remember to start it again. (What systemd hands over, it
hands over once: there the unit is started again.)
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any, TypeVar

from tablectl.aside import aside
from tablectl.config import Config
from tablectl.profiles import ConfigError

LOOK = 1.0
"""Seconds between two looks."""

T = TypeVar("T")


def handed_over_once(config: Config) -> bool:
    """Whether the credentials are systemd's, which do not change while the service runs."""
    return config.secrets.folder is None and "CREDENTIALS_DIRECTORY" in os.environ


async def come(read: Callable[[], T], log: Any) -> T:
    """What ``read`` gives, once it gives something. A file that cannot be used is told of once."""
    told = ""
    while True:
        try:
            # Not in the loop's pool, for which the stop waits: the disk may hang.
            if found := await aside(read):
                return found
        except (ConfigError, OSError) as fault:
            if str(fault) != told:
                told = str(fault)
                log.warning("a credential cannot be used", reason=told)
        await asyncio.sleep(LOOK)
