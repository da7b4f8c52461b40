"""One table at work: its threads, queues, clock and supervision.  The only place that knows them all.

    reader ──► core ──► journal ──► service loop (delivery, local interface)
                 └────► signals (beeps)

Data flows one way; see docs/threads.md for why each thread exists.  There are no module globals
and no signal handlers here (:mod:`tablectl.daemon` installs them): one process can hold many tables.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from tablectl import __version__
from tablectl.beeping import make_signals
from tablectl.clock import Instant, now
from tablectl.config import Config, host_and_port, is_pseudo_terminal
from tablectl.core import Core, Durable, Identity, Record
from tablectl.delivering import Delivering
from tablectl.delivery.instead import INSTEAD, instead_of
from tablectl.delivery.link import ServerLink
from tablectl.delivery.outbox import Link
from tablectl.delivery.sender import Sender
from tablectl.events import event_id
from tablectl.flight import FlightRecorder
from tablectl.gate import Gate
from tablectl.journal import Journal, JournalReader, Outgoing
from tablectl.journal_keep import keep
from tablectl.journal_mirror import Mirror
from tablectl.journal_rows import Row, decode_row
from tablectl.journal_writer import Batch, JournalWriter
from tablectl.late_credentials import come
from tablectl.life_log import LifeLog
from tablectl.local_interface import Behind, make_api
from tablectl.lock import TableLock
from tablectl.outside import Outside
from tablectl.raw_tap import RawTap
from tablectl.read_only import ReadOnly
from tablectl.reader import Reader
from tablectl.reloading import Changes, Reloading
from tablectl.replay import Replayed, replay_journal
from tablectl.scanner import Arrival
from tablectl.scanner_setup import EMULATED, load_scanner, refuse_emulated
from tablectl.scanner_watch import ScannerWatch
from tablectl.service import Published, Service
from tablectl.supervision import Supervision
from tablectl.table import Around, Phase, Started, State, Trouble
from tablectl.views import state_view

_STOPPING = (
    *(("reader", 1.0), ("core", 0.5), ("writer", 1.5), ("service", 1.5)),
    *(("signals", 0.2), ("mirror", 0.2)),
)
"""In the order in which data flows, with the seconds each may take: under five in all."""


class Runtime:
    """Everything one table needs, from its configuration.

    :meth:`start` raises :class:`tablectl.profiles.ConfigError`, :class:`JournalFault` or
    :class:`TableLocked` when the table cannot play at all; a missing scanner or server is no such
    reason. ``trace`` sees inputs as they are decided (for benchmarks). ``still_starting`` is called now
    and then while a long journal is replayed.
    """

    def __init__(
        self,
        config: Config,
        *,
        on_crash: Callable[[str, BaseException], None] | None = None,
        clock: Callable[[], Instant] = now,
        trace: Callable[[Any, int], None] | None = None,
        on_stored: Callable[[Durable, tuple[Batch, ...]], None] | None = None,
        still_starting: Callable[[], object] = lambda: None,
    ) -> None:
        self.config = config
        self.crashed = threading.Event()
        self.log = structlog.get_logger("tablectl").bind(table=config.table.id)
        self._clock = clock
        self._trace = trace
        self._on_crash = on_crash
        self._on_stored = on_stored
        self._still_starting = still_starting
        self._lock: TableLock | None = None
        self._journal: Journal | None = None
        self._mirror: Mirror | None = None
        self._readers: list[JournalReader] = []
        self._event_id: Callable[[int], str] = str
        self._running: dict[str, Callable[[float], bool]] = {}
        self.flight = FlightRecorder()
        self._life = LifeLog(self.log)

    # --- starting ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Take the table's lock, replay its journal, and start every thread; returns when all listen.

        When it has failed nothing is left of it, and it may be called again.
        """
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self) -> None:
        config = self.config
        driver, settings = self._driver = load_scanner(config)
        traits = driver.traits(settings)
        refuse_emulated(config, traits)
        rules = config.house_rules().resolved(result_button=traits.has_result_button)
        self._lock = TableLock(config.journal_path.parent, config.table.id)
        self._lock.acquire()
        self._journal = journal = Journal.open(config.journal_path, config.table.id, self._still_starting)

        self.signals = make_signals(config, driver, settings, self._say, self.log)
        self.writer = JournalWriter(journal, self._durable, self._crash("journal"), self._clock)
        self._epoch = journal.epoch
        self._event_id = partial(event_id, config.table.id, journal.epoch)
        past = replay_journal(journal, self._still_starting)
        state = past.state
        self._link = ServerLink(config.server.url is not None, self._clock)  # a long replay is no bad link
        self.around = Around(rules, traits, self._link.why)
        identity = Identity(config.table.id, journal.epoch, config.table.test)
        self.core = Core(
            state,
            identity,
            self.around,
            self.writer,
            self.signals,
            self._crash("core"),
            clock=self._clock,
            trace=self._trace,
            flight=self.flight.decided,
        )
        for one in past.answered:
            self.core.remember(one.event, one.where, one.version)
        self.service = Service(
            Published(state), self._crash("service"), clock=self._clock, on_stored=self._after_commit
        )
        self._tap = RawTap()
        self.reader = Reader(
            driver,
            config.scanner.device,
            settings,
            self._deliver,
            clock=self._clock,
            tap=self._heard,
            log=self.log,
            on_crash=self._crash("reader"),
            refused=self._refused,
            pinned=config.scanner.identity,
        )
        self.scanner = ScannerWatch(
            config.scanner,
            config.health,
            self.reader,
            lambda: self.state,
            self.log,
            names_positions=traits.names_positions,
        )
        self.supervision = Supervision(
            self.core,
            self.reader,
            self.writer,
            self.service,
            self.signals,
            self._clock,
            self.crashed,
            self._troubles,
        )
        self._alarm = self.supervision.alarm
        self.core.put(Started(self._clock(), __version__, journal.mended, journal.lost))  # before all else
        if journal.mended:
            self.log.error("the journal was mended", reason=journal.mended)
        self._delivering = Delivering(
            config,
            journal.epoch,
            on_link=self._set_link,
            on_acked=self._set_acked,
            on_alarm=self._alarm,
            log=self.log,
        )
        self._add_keeping(journal)
        self._add_api(journal, past)
        self._delivering.add_to(self.service)
        self._reloading = Reloading(
            config,
            self.core,
            driver,
            settings,
            self._say,
            self.signals,
            self.scanner,
            self._delivering,
            self.outside.gate,
            self.service,
        )
        self._tell_unsettled(state)
        for name, part in (
            ("signals", self.signals),
            ("writer", self.writer),
            ("core", self.core),
            ("service", self.service),
            ("reader", self.reader),
        ):
            self._running[name] = part.stop
            part.start()
        if self._mirror is not None:
            self._running["mirror"] = self._mirror.stop
            self._mirror.start()
        self.log.info(
            "table ready", epoch=journal.epoch, rows=state.row, read_from=past.first, phase=state.phase.value
        )

    def _say(self, data: bytes) -> bool:
        return self.reader.say(data)

    def _refused(self, device: str) -> str | None:
        """Why the reader may not use a device: also one that came only after the start."""
        return EMULATED if not self.config.table.test and is_pseudo_terminal(device) else None

    def _troubles(self, at: Instant) -> Iterator[Trouble]:
        """What the game server's link and the scanner have to tell."""
        yield from self._link.troubles(at)
        yield from self.scanner.look(at)
        if self._mirror is not None and self._mirror.trouble:
            yield Trouble(at, "mirror", self._mirror.trouble)

    def _open_reader(self, journal: Journal) -> JournalReader:
        reader = journal.reader()
        self._readers.append(reader)
        return reader

    def _add_api(self, journal: Journal, past: Replayed) -> None:
        gate = Gate(self.config.pit_bosses, self.core, self._clock, self.supervision.alarm, past.attempts)
        if not len(self.config.pit_bosses):
            self.log.warning("nobody can release a hold: the credential pit-bosses is missing")
            self.service.add(partial(self._admit, gate))
        self.outside = Outside(
            self.scanner,
            self.writer,
            self.signals,
            self._link,
            gate,
            journal.acked(),
            past.last_result,
            self._mirror,
        )
        driver, settings = self._driver
        behind = Behind(
            config=self.config,
            epoch=journal.epoch,
            core=self.core,
            published=self.service.published,
            gate=gate,
            outside=self.outside,
            link=self._link,
            delivering=self._delivering,
            signals=self.signals,
            reader=self.reader,
            tap=self._tap,
            driver=driver,
            settings=settings,
            health=self.unhealthy,
            mirror=self._mirror,
            clock=self._clock,
        )
        api = make_api(behind, lambda: self._open_reader(journal))
        self.service.add(api.watch, setup=api.start, close=api.stop)
        if self.config.api.listen is not None:
            host, port = host_and_port(self.config.api.listen)
            read_only = ReadOnly(host, port, api.read_only_routes(), self.supervision.alarm)
            self.service.add(read_only.watch, setup=read_only.start, close=read_only.stop)

    def _add_keeping(self, journal: Journal) -> None:
        """What the journal needs besides writing: a copy elsewhere, and an end of what is too old."""
        mirror, days = self.config.journal.mirror, self.config.journal.keep_days
        if mirror is not None:
            self._mirror = Mirror(mirror, journal.reader, clock=self._clock)
        if days is not None:
            reader = self._open_reader(journal)
            mirrored = lambda: None if self._mirror is None else self._mirror.row  # noqa: E731
            note = lambda event: self.core.offer(Record(event, self._clock()))  # noqa: E731
            self.service.add(partial(keep, reader, note, self.writer.trim, days, mirrored, self._clock))

    async def _admit(self, gate: Gate) -> None:
        """The pit bosses whose credential was missing, once it has come."""
        gate.admit(await come(lambda: self.config.credentials_now()[1], self.log))
        await asyncio.Event().wait()  # a job that ends is taken for a fault

    # --- while it runs ---------------------------------------------------------------------------------

    def _heard(self, data: bytes, at: Instant) -> None:
        """On the reader's thread: before the bytes are decoded."""
        self.flight.note(at.boot, "heard", data)
        self._tap.heard(data, at)

    def _deliver(self, arrival: Arrival) -> None:
        """On the reader's thread: to the table first."""
        self.core.put(arrival)
        self._tap.arrived(arrival)

    def _durable(self, batches: tuple[Batch, ...]) -> None:
        """On the journal's thread: what was committed goes to the service loop."""
        if self._on_stored is not None and isinstance(batches[-1].token, Durable):
            self._on_stored(batches[-1].token, batches)
        self.service.stored(batches)
        if self._mirror is not None:
            self._mirror.wake()

    def _after_commit(self, durable: Durable, batches: tuple[Batch, ...]) -> None:
        """On the service loop."""
        fresh = []
        for batch in batches:
            for row in batch.rows:
                self._life.stored(row)
                if row.where is not None and row.where.type in INSTEAD:
                    self._instead(row, durable.state)
                if row.sequence is None or row.public is None:
                    continue
                fresh.append(Outgoing(row.sequence, self._event_id(row.sequence), row.public))
                if row.where is not None and row.where.type == "round.resulted":
                    self.outside.resulted(json.loads(row.public)["data"])
        if self.delivery is not None:
            self.delivery.wake(durable.state.sequence, self._clock().boot, fresh)

    def _instead(self, row: Row, state: State) -> None:
        """A pit boss's word on what goes out in place of something is durable."""
        one = instead_of(decode_row(row)[0], self.config.table.id, self._epoch)
        if one is not None and self.delivery is not None:
            self.delivery.sends_instead(one)
        self._tell_unsettled(state)

    def _tell_unsettled(self, state: State) -> None:
        """The pit is told of rounds whose bets nobody has settled, at a start again."""
        if state.unsettled:
            rounds = ", ".join(f"{shoe}/{number}" for shoe, number in state.unsettled)
            self._alarm(
                "round-unsettled",
                f"The game server refused how it ended, and it was parked: round {rounds}. Its bets are "
                "unsettled until it is voided or amended.",
            )

    def _set_link(self, link: Link) -> None:
        self.flight.note(self._clock().boot, "link", "good" if link.good else link.reason)
        self._link.now_is(link)
        self.core.around = replace(self.core.around, link_why=self._link.why)

    def _set_acked(self, sequence: int) -> None:
        self.outside.acked = sequence
        self.writer.save_acked(sequence)
        if self._mirror is not None:
            self._mirror.wake()  # half a second later it is in the journal

    def unhealthy(self) -> str | None:
        """Which thread does not move, or None: then the watchdog may be fed."""
        return self.supervision.unhealthy()

    def watch(self) -> None:
        """To be called once a second: tells of troubles that no thread of theirs can tell."""
        self.supervision.watch()

    def record_flight(self, why: str, *, asked: bool = False) -> None:
        """Write the last messages beside the journal; where that fails the log says so."""
        folder = self.config.journal_path.parent
        try:
            path = self.flight.write(folder, self.config.table.id, why, self._clock(), asked=asked)
        except OSError as error:
            self.log.error("the flight recording cannot be written", reason=why, error=str(error))
        else:
            self.log.warning("flight recording written", reason=why, file=str(path))

    def reload(self, config: Config) -> Changes:
        """Take over what may change while the table runs (:mod:`tablectl.reloading`); one thread at a time.

        Raises ``ConfigError`` or ``PluginError``, and then nothing has changed.
        """
        return self._reloading.take(config)

    def view(self) -> dict[str, Any]:
        """The last committed state and what lies around the table, as ``/v1/state`` tells them."""
        at = self._clock()
        return state_view(self.state, at) | self.outside.view(at.boot, self.state.row)

    @property
    def delivery(self) -> Sender | None:
        """Who sends the events to the game server, if anybody does."""
        return self._delivering.sender

    @property
    def state(self) -> State:
        """The last committed state."""
        return self.service.published.state

    @property
    def phase(self) -> Phase:
        """The last committed phase."""
        return self.state.phase

    def _crash(self, name: str) -> Callable[[BaseException], None]:
        def crashed(error: BaseException) -> None:
            # The supervisor first: whatever ended the thread may end the log as well.
            self.crashed.set()
            self.record_flight(f"the {name} thread ended: {error!r}")
            if self._on_crash is not None:
                self._on_crash(name, error)
            self.log.error("a thread ended unexpectedly", thread=name, error=repr(error))

        return crashed

    # --- stopping ---------------------------------------------------------------------------------------

    def stop(self) -> bool:
        """Stop in the order in which data flows. Whether everything ended in time (under 5 s)."""
        ended = True
        for name, seconds in _STOPPING:
            stop = self._running.pop(name, None)
            # A beeper or a mirror that hangs is left behind: it holds nothing that another process needs.
            ended &= stop is None or stop(seconds) or name in ("signals", "mirror")
        self._close_journal()
        return ended

    def _close_journal(self) -> None:
        for reader in self._readers:
            reader.close()
        self._readers.clear()
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def journal_folder(path: Path) -> None:
    """Make the folder of a journal where systemd has not."""
    path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
