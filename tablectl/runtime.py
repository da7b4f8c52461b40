"""One table at work: its threads, queues, clock and supervision.  The only place that knows them all.

    reader ──► core ──► journal ──► service loop (delivery, local interface)
                 └────► signals (beeps)

Data flows one way; see docs/threads.md for why each thread exists.  There are no module globals
and no signal handlers here (:mod:`tablectl.daemon` installs them): one process can hold many tables.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import structlog

from tablectl import __version__
from tablectl.after_commit import AfterCommit
from tablectl.api.interface import Behind, add_interface
from tablectl.beeping import make_signals
from tablectl.clock import Instant, now
from tablectl.config import Config
from tablectl.core import Core, Durable, Identity
from tablectl.delivering import Delivering
from tablectl.delivery.link import ServerLink
from tablectl.delivery.outbox import Link
from tablectl.delivery.sender import Sender
from tablectl.gate import Gate
from tablectl.journal.at_home import UNSAFE
from tablectl.journal.replay import Replayed, replay_journal
from tablectl.journal.writer import Batch, JournalWriter
from tablectl.keeping import Keeping
from tablectl.late_credentials import come
from tablectl.outside import Outside
from tablectl.process.incidents import Incidents
from tablectl.process.reloading import Changes, Reloading
from tablectl.process.running import Running
from tablectl.process.supervision import Supervision
from tablectl.reader import Reader
from tablectl.reader.tap import RawTap
from tablectl.scanner import Arrival
from tablectl.scanner_setup import EMULATED, is_pseudo_terminal, load_scanner, refuse_emulated
from tablectl.scanner_watch import ScannerWatch
from tablectl.service import Published, Service
from tablectl.table import Around, Phase, Started, State, Trouble
from tablectl.views import state_view, with_present

STOPPED = 4.5
"""Within how many seconds a stop has closed the journal, or leaves that to the end of the process."""


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
        self.log = structlog.get_logger("tablectl").bind(table=config.table.id)
        self._clock = clock
        self._trace = trace
        self._on_stored = on_stored
        self._still_starting = still_starting
        self._running = Running()
        self._held: Keeping | None = None
        self.incidents = Incidents(
            config.table.id, config.journal_path.parent, on_crash, clock=clock, log=self.log
        )

    # --- starting ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Take the table's lock, replay its journal, and start every thread; returns when all listen.

        When it has failed nothing is left of it (unless :meth:`stop` says so), and it may be called again.
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
        self._keeping = keeping = Keeping(config, self._still_starting, self._clock)
        self._held = keeping
        self.journal = journal = keeping.journal

        self.signals = make_signals(config, driver, settings, self._say, self.log)
        self.writer = JournalWriter(journal, self._durable, self.incidents.ends("journal"), self._clock)
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
            self.incidents.ends("core"),
            clock=self._clock,
            trace=self._trace,
            flight=self.incidents.flight.decided,
        )
        for one in past.answered:
            self.core.remember(one.event, one.where, one.version)
        self.service = Service(
            Published(state),
            self.incidents.ends("service"),
            clock=self._clock,
            on_stored=self._stored,
            log=self.log,
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
            on_crash=self.incidents.ends("reader"),
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
            self.incidents.crashed,
            self._troubles,
            self.log,
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
            on_over=self.supervision.over,
            log=self.log,
        )
        keeping.trims(self.core, self.writer, self.service)
        keeping.looks(self._alarm, self.supervision.over, self._set_journal, self.service)
        self._add_api(past)
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
        self._after_commit = AfterCommit(
            config.table.id,
            journal.epoch,
            self.outside,
            self._delivering,
            alarm=self._alarm,
            over=self.supervision.over,
            log=self.log,
        )
        self._after_commit.tell_unsettled(state)
        self._running.start(
            signals=self.signals,
            writer=self.writer,
            core=self.core,
            service=self.service,
            reader=self.reader,
            mirror=keeping.mirror,
        )
        self.log.info(
            "table ready", epoch=journal.epoch, rows=state.row, read_from=past.first, phase=state.phase.value
        )

    def _say(self, data: bytes) -> bool:
        return self.reader.say(data)

    def _refused(self, device: str) -> str | None:
        """Why the reader may not use a device: also one that came only after the start."""
        return EMULATED if not self.config.table.test and is_pseudo_terminal(device) else None

    def _troubles(self, at: Instant) -> Iterator[Trouble]:
        """What the game server's link, the scanner and the mirror have to tell."""
        yield from self._link.troubles(at)
        yield from self.scanner.look(at)
        yield from self._keeping.troubles(at)

    def _add_api(self, past: Replayed) -> None:
        gate = Gate(self.config.pit_bosses, self.core, self._clock, self.supervision.once, past.attempts)
        if not len(self.config.pit_bosses):
            self.log.warning("nobody can release a hold: the credential pit-bosses is missing")
            self.service.add(partial(self._admit, gate))
        self.outside = Outside(
            self.scanner,
            self.writer,
            self.signals,
            self._link,
            gate,
            self.journal.acked(),
            past.last_result,
            self._keeping.mirror,
        )
        driver, settings = self._driver
        behind = Behind(
            config=self.config,
            epoch=self.journal.epoch,
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
            mirror=self._keeping.mirror,
            clock=self._clock,
        )
        add_interface(behind, self._keeping.reader, self.service, self._alarm)

    async def _admit(self, gate: Gate) -> None:
        """The pit bosses whose credential was missing, once it has come."""
        gate.admit(await come(lambda: self.config.credentials_now()[1], self.log))
        await asyncio.Event().wait()  # a job that ends is taken for a fault

    # --- while it runs ---------------------------------------------------------------------------------

    def _heard(self, data: bytes, at: Instant) -> None:
        """On the reader's thread: before the bytes are decoded."""
        self.incidents.flight.note(at.boot, "heard", data)
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
        self._keeping.committed()

    def _stored(self, durable: Durable, batches: tuple[Batch, ...]) -> None:
        """On the service loop."""
        self._after_commit.stored(durable, batches)

    def _set_link(self, link: Link) -> None:
        at, why, placed = self._clock().boot, self._link.why, self.outside.placed(self.state)
        self._link.now_is(link)
        if self._link.why != why:
            self.incidents.flight.note(at, "link", "good" if link.good else link.reason)
            self.core.around = replace(self.core.around, link_why=self._link.why)
        if self.outside.placed(self.state) != placed:
            self.service.published.beside_is_new(at)

    def _set_journal(self, misplaced: str) -> None:
        self.outside.misplaced = misplaced
        self.core.around = replace(self.core.around, journal_why=UNSAFE if misplaced else None)

    def _set_acked(self, sequence: int) -> None:
        self.outside.acked = sequence
        self.writer.save_acked(sequence)
        self._keeping.committed()  # half a second later it is in the journal

    def unhealthy(self) -> str | None:
        """Which thread does not move, or None: then the watchdog may be fed."""
        return self.supervision.unhealthy()

    def watch(self) -> None:
        """To be called once a second: tells of troubles that no thread of theirs can tell."""
        self.supervision.watch()

    def reload(self, config: Config) -> Changes:
        """Take over what may change while the table runs (:mod:`tablectl.process.reloading`).

        One thread at a time.
        Raises ``ConfigError`` or ``PluginError``, and then nothing has changed.
        """
        return self._reloading.take(config)

    def view(self) -> dict[str, Any]:
        """The last committed state and what lies around the table, as ``/v1/state`` tells them."""
        at = self._clock()
        return with_present(state_view(self.state, at) | self.outside.view(at.boot, self.state))

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

    # --- stopping ---------------------------------------------------------------------------------------

    def stop(self) -> bool:
        """Stop in the order in which data flows. Whether everything ended in time (under 5 s).

        When it did not (a commit that hangs in the disk), the journal stays open and the table locked: the
        commit may still come, and no other process may write before. The process must end then.
        """
        begun = time.monotonic()
        if not self._running.stop():
            return False
        if self._held is not None:
            if not self._held.close(max(0.5, STOPPED - (time.monotonic() - begun))):
                return False
            self._held = None
        return True
