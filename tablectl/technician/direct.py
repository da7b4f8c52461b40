"""Reading a scanner without the daemon, for the technician: under the table's lock, so that none starts.

The records are those of ``/v1/raw`` (:mod:`tablectl.reader.tap`): what shows or writes them does not care
which of the two they come from.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tablectl.clock import SECOND, now
from tablectl.lock import TableLock, TableLocked
from tablectl.private_files import FOLDER
from tablectl.reader import Reader
from tablectl.reader.tap import Entry, RawTap, Source
from tablectl.scanner import Driver
from tablectl.technician.inlining import inlined

if TYPE_CHECKING:
    from tablectl.config import Config

EVERY = SECOND // 2
LOOK = 0.25
"""How often (s) the clock is looked at while nothing comes."""


class NotOurs(Exception):
    """The scanner may not be opened here; the text says why and the way out."""


@contextlib.contextmanager
def locked(config: Config) -> Iterator[None]:
    """Hold the table's lock. Raises :class:`NotOurs`."""
    folder = config.journal_path.parent
    lock = TableLock(config.journal_path, config.table.id)
    try:
        folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)
        lock.acquire()
    except TableLocked as fault:
        raise NotOurs(str(fault)) from None
    except OSError as fault:
        raise NotOurs(
            f"the table's lock {lock.path} cannot be taken: {fault.strerror}; "
            "run this as the daemon's user, or as root"
        ) from None
    try:
        yield
    finally:
        lock.release()


class _Quiet:
    """A log nobody reads: what happens to the device is in the records."""

    def __getattr__(self, _: str) -> Any:
        return lambda *_args, **_facts: None


def records(config: Config, driver: Driver, settings: Mapping[str, Any]) -> Generator[Entry, None, None]:
    """What the scanner says, until the caller has enough; at least one record a second.

    To be used under :func:`locked`. ``settings`` in place of the configuration's own.
    """
    there = threading.Event()
    tap = RawTap()
    started = now()
    listener = tap.add(started.boot, there.set)
    device = config.scanner.device
    failed: list[BaseException] = []
    reader = Reader(
        driver,
        device,
        settings,
        tap.arrived,
        tap=tap.heard,
        pinned=config.scanner.identity,
        log=_Quiet(),
        on_crash=failed.append,
    )
    source = Source(config.table.id, driver.name, device, inlined(settings, driver.paths), tap, reader)
    yield source.header(started, None)
    reader.start()
    try:
        told = started.boot
        while reader.alive:
            there.wait(LOOK)
            there.clear()
            yield from listener.take()
            moment = now().boot
            if moment >= told + EVERY:
                told = moment
                yield source.state(moment, started.boot)
        raise NotOurs(f"the driver {driver.name} failed: {failed[0]!r}")
    finally:
        reader.stop()
