"""The beepers of a configuration opened here, while no daemon has them: to be heard, or only looked at."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from tablectl.beeping import make_signals
from tablectl.cli.output import Refused
from tablectl.clock import SECOND
from tablectl.config import Config, load_config
from tablectl.lock import TableLocked, while_stopped
from tablectl.reader import Reader
from tablectl.scanner_setup import load_scanner

SCANNER_SECONDS = 5.0
"""How long the scanner may take to be there."""

T = TypeVar("T")


class _Quiet:
    """A log for nobody: what failed is told as the answer."""

    def bind(self, **_: object) -> _Quiet:
        return self

    def info(self, text: str, **_: object) -> None:
        pass

    warning = error = info


def directly(path: Path, use: Callable[[Callable[[str], dict[str, str]]], T]) -> T:
    """Give ``use`` what plays a pattern on the beepers configured in ``path``.

    Raises ``ConfigError`` or ``PluginError`` for a fault of the configuration, and
    :class:`~tablectl.cli.output.Refused` while a daemon runs the table.
    """
    config = load_config(path)
    driver, settings = load_scanner(config)
    reader = Reader(driver, config.scanner.device, settings, lambda _: None, log=_Quiet())
    signals = make_signals(config, driver, settings, reader.say, _Quiet())
    with _no_daemon(config):
        own = any(one.driver == "scanner" for one in config.beeper.each.values())
        if own:
            reader.start()
        signals.start()
        try:
            until = time.monotonic() + SCANNER_SECONDS
            while own and not reader.presence.connected and time.monotonic() < until:
                time.sleep(0.02)

            def play(pattern: str) -> dict[str, str]:
                told = signals.try_out(pattern, late=10 * SECOND)
                return {name: why or "" for name, why in told.items()}

            return use(play)
        finally:
            signals.stop(3.0)
            reader.stop()


@contextmanager
def _no_daemon(config: Config) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(while_stopped(config.journal_path, config.table.id))
        except TableLocked as fault:
            raise Refused(
                f"{fault}, or name its socket: tablectl signal --socket {config.socket_path}"
            ) from None
        except OSError as fault:
            raise Refused(
                f"{fault.filename}: {fault.strerror}: who runs this table cannot be seen; "
                "run it as the daemon's user"
            ) from None
        yield
