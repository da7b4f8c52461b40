"""The local interface put together: what it shows, whom it asks, and every route it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog

from tablectl.api.app import Api, Facts, socket_folder
from tablectl.api.commands import Commands
from tablectl.api.delivery import DeliveryRoutes
from tablectl.api.journal import JournalRoutes
from tablectl.api.raw import RawRoutes
from tablectl.api.read_only import ReadOnly
from tablectl.api.signal import SignalRoute
from tablectl.api.speeds import LineTrials, SpeedRoutes, in_use
from tablectl.clock import Instant
from tablectl.config import Config
from tablectl.config_sections import host_and_port
from tablectl.core import Core
from tablectl.delivering import Delivering
from tablectl.delivery.link import ServerLink
from tablectl.display.feed import Display, read_played
from tablectl.display.model import About
from tablectl.gate import Gate
from tablectl.journal import JournalReader
from tablectl.journal.backup import Backups
from tablectl.journal.mirror import Mirror
from tablectl.outside import Outside
from tablectl.past.looking_back import LookingBack, decode_with
from tablectl.reader import Reader
from tablectl.reader.tap import RawTap, Source
from tablectl.scanner import Driver
from tablectl.service import Published, Service
from tablectl.signals import Signals
from tablectl.technician.inlining import inlined


@dataclass(frozen=True, slots=True)
class Behind:
    """The parts of a table that the local interface shows and asks. ``settings``: the scanner's."""

    config: Config
    epoch: str
    core: Core
    published: Published
    gate: Gate
    outside: Outside
    link: ServerLink
    delivering: Delivering
    signals: Signals
    reader: Reader
    tap: RawTap
    driver: Driver
    settings: dict[str, Any]
    health: Callable[[], str | None]
    mirror: Mirror | None
    clock: Callable[[], Instant]


def add_interface(
    behind: Behind,
    open_journal: Callable[[], JournalReader],
    service: Service,
    alarm: Callable[[str, str], None],
) -> None:
    """Before the service loop starts: have the table listen on its socket, and on the read-only address.

    ``open_journal``: a further reader of its journal. ``alarm(code, text)`` raises an alert.
    """
    display = _display(behind, open_journal())
    api = _api(behind, open_journal, display)
    service.add(api.watch, setup=api.start, close=api.stop)
    if behind.config.api.listen is not None:
        host, port = host_and_port(behind.config.api.listen)
        read_only = ReadOnly(host, port, [*api.read_only_routes(), *display.routes()], alarm)
        service.add(read_only.watch, setup=read_only.start, close=read_only.stop)
    service.add(display.run, close=display.close)


def _display(behind: Behind, reader: JournalReader) -> Display:
    config = behind.config
    about = About(config.table.id, config.table.test, config.display.language, config.display.predictions)
    log = structlog.get_logger("display").bind(table=config.table.id)
    return Display(about, behind.published, partial(read_played, reader), behind.clock, log)


def _api(behind: Behind, open_journal: Callable[[], JournalReader], display: Display) -> Api:
    config, published, clock = behind.config, behind.published, behind.clock
    socket_folder(config.socket_path)
    back = LookingBack(open_journal(), decode_with(behind.driver, behind.settings))
    trials = LineTrials(behind.reader)
    commands = Commands(
        behind.core,
        behind.gate,
        published,
        lambda: behind.link.why is None,
        back,
        clock,
        trials.end,
        lambda: behind.outside.writer.trouble,
    )
    mirror = behind.mirror
    journal = JournalRoutes(
        open_journal(),
        commands,
        Backups(lambda: JournalReader.open(config.journal_path), config.backups_path),
        lambda row: None if mirror is None else mirror.view(row),
    )
    delivery = DeliveryRoutes(
        commands,
        lambda: behind.delivering.sender,
        open_journal(),
        clock,
        behind.published,
        test=config.table.test,
    )
    routes = (
        *display.routes(),
        *SignalRoute(published, behind.signals).routes(),
        *delivery.routes(),
        *journal.routes(),
        *_raw(behind, commands).routes(),
        *SpeedRoutes(
            trials,
            behind.driver,
            config.scanner.device,
            behind.settings,
            commands,
            lambda: in_use(published.state, behind.core.shoe),
            clock,
        ).routes(),
    )
    return Api(
        config.socket_path,
        _facts(behind),
        published,
        commands,
        open_journal(),
        back,
        clock=clock,
        more=routes,
    )


def _facts(behind: Behind) -> Facts:
    def delivery() -> dict[str, Any]:
        return behind.delivering.status(behind.published.state.sequence, behind.outside.acked)

    table = behind.config.table
    return Facts(
        table.id,
        behind.epoch,
        table.test,
        lambda: behind.outside.view(behind.clock().boot, behind.published.state),
        delivery,
        lambda: behind.outside.last_result,
        behind.health,
    )


def _raw(behind: Behind, commands: Commands) -> RawRoutes:
    source = Source(
        behind.config.table.id,
        behind.driver.name,
        behind.config.scanner.device,
        inlined(behind.settings, behind.driver.paths),
        behind.tap,
        behind.reader,
    )
    return RawRoutes(source, commands, lambda: behind.core.shoe, behind.clock)
