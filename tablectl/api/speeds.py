"""``POST /v1/raw/speeds``: other line speeds are tried on the scanner of a closed table.

Bytes that mean nothing may come at another speed. To find it the reader leaves its line for half a minute
at most (:mod:`tablectl.reader.trial`), so this is only done while nobody plays, one at a time, and it is
written down by whom. Whoever may use the socket may ask (``{"id"}``); with name, PIN and reason it is that
pit boss's.

The answer is a stream of server-sent events, a JSON object each: ``trying`` (``speed``, ``seconds``), then
the records of :mod:`tablectl.reader.tap`, then ``tried`` (``speed``, ``bytes``, ``frames``, ``rejects``,
``fault``), for each speed; at last, when the scanner is at its own speed again, ``over`` (``fits``: a speed
or null; ``text``: why it ended early, or why the scanner is lost). A stream that breaks off ends the trial;
so does ``open``.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from aiohttp import web

from tablectl.api.commands import Commands, error, peer, record_of
from tablectl.api.forms import BadRequest, parse_body, parse_order
from tablectl.api.raw import bell, stream, write
from tablectl.clock import Instant
from tablectl.reader import Reader
from tablectl.reader.tap import Entry, Listener, RawTap
from tablectl.reader.trial import TRYING, NotNow, Trial, Tried, Trying
from tablectl.scanner import Driver
from tablectl.table import Phase, State
from tablectl.technician.line_speeds import no_speed, others

SPEEDS = "scan line speeds"
"""The command as it is written down."""

BACK_WITHIN = 5.0
"""How long (s) ``open`` waits for the scanner to be back at its own speed."""
LOOK = 0.1
"""How often (s) it is looked whether anybody listens still, and whether the table is closed still."""

AGAIN = f"{TRYING} already; wait for the end of that"
OPENED = "the table is opened"
GONE = "nobody listened any more"
NOT_BACK = "the scanner is not back yet from a trial of line speeds; open the table again in a moment"


def in_use(state: State, shoe: int | None) -> str | None:
    """Why the scanner is needed, in words; None: the table is closed.

    ``shoe``: the one in play as decided, which may not be committed yet.
    """
    closed = state.phase is Phase.CLOSED and state.round is None and state.counting is None
    if closed and state.shoe is None and shoe is None:
        return None
    return f"other line speeds are tried only while the table is closed, and it is not ({state.phase.value})"


class LineTrials:
    """One trial at a time, from the asking until the scanner is as before. On the service loop."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._trial: Trial | None = None

    @property
    def busy(self) -> bool:
        """Whether there is one."""
        return self._trial is not None and not self._trial.over.is_set()

    def why_not(self) -> str | None:
        """Why none can begin now, in words, or None."""
        if self.busy:
            return AGAIN
        if not self._reader.presence.connected:
            return f"the scanner is not there: {self._reader.presence.reason or 'it is not connected yet'}"
        return None

    @contextlib.contextmanager
    def claimed(self, trial: Trial) -> Iterator[Trial]:
        """It is this one's turn, for :meth:`why_not` said nothing just now. Who leaves ends it."""
        self._trial = trial
        try:
            yield trial
        finally:
            trial.abort(GONE)
            if not trial.asked:
                trial.over.set()

    def start(self, trial: Trial) -> str | None:
        """Hand it to the reader; why that cannot be, or None."""
        if trial.stopped:
            return trial.stopped
        try:
            self._reader.try_speeds(trial)
        except NotNow as fault:
            return str(fault)
        return None

    async def end(self) -> str | None:
        """End the trial, if there is one, and wait until the scanner is back; why it is not, or None."""
        trial = self._trial
        if trial is None:
            return None
        trial.abort(OPENED)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BACK_WITHIN):
                while not trial.over.is_set():
                    await asyncio.sleep(0.01)
        return None if trial.over.is_set() else NOT_BACK


class SpeedRoutes:
    """The handler, on the service loop. ``in_use``: why the table needs its scanner, or None."""

    def __init__(
        self,
        trials: LineTrials,
        driver: Driver,
        device: str,
        settings: Mapping[str, Any],
        commands: Commands,
        in_use: Callable[[], str | None],
        clock: Callable[[], Instant],
    ) -> None:
        self._trials = trials
        self._never = no_speed(driver, device)
        self._speeds = others(driver, settings)
        self._commands = commands
        self._in_use = in_use
        self._clock = clock

    def routes(self) -> list[web.RouteDef]:
        """Where it is found."""
        return [web.post("/v1/raw/speeds", self._post)]

    async def _post(self, request: web.Request) -> web.StreamResponse:
        try:
            given, supervised = _parse(await request.read())
        except BadRequest as bad:
            return error(400, str(bad))
        why = self._never or self._in_use() or self._trials.why_not()
        if why is not None:
            return error(409, why)
        tap = RawTap()
        there, wake = bell()
        listener = tap.add(self._clock().boot, wake)

        def tell(step: Trying | Tried, at: Instant) -> None:
            kind = "trying" if isinstance(step, Trying) else "tried"
            listener.put({"kind": kind, **asdict(step)}, at.boot)

        with self._trials.claimed(
            Trial(self._speeds, tell=tell, heard=tap.heard, arrived=tap.arrived)
        ) as trial:
            refused = await self._written_down(request, given, supervised)
            if refused is not None:
                return refused
            why = self._in_use() or self._trials.start(trial)
            if why is not None:  # opened, or lost, meanwhile
                return error(409, why)
            return await self._stream(request, trial, listener, there)

    async def _written_down(
        self, request: web.Request, given: dict[str, Any], supervised: bool
    ) -> web.Response | None:
        what = f"other line speeds are tried: {', '.join(map(str, self._speeds))}"
        asked = record_of(given, SPEEDS, peer(request)[1], what, accepted=True)
        # Each trial is one of its own: an id that comes again does not stand for an answer that was lost.
        asked = replace(asked, id=secrets.token_hex(16), supervisor=supervised)
        return await self._commands.written_down(asked, given.get("pin"))

    async def _stream(
        self, request: web.Request, trial: Trial, listener: Listener, there: asyncio.Event
    ) -> web.StreamResponse:
        response = stream()
        try:
            await response.prepare(request)
            while not trial.over.is_set():
                there.clear()
                self._look(request, trial)
                for entry in listener.take():
                    await write(response, entry)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(there.wait(), LOOK)
            for entry in (*listener.take(), _over(trial)):
                await write(response, entry)
        except (ConnectionError, TimeoutError):
            if request.transport is not None:
                request.transport.abort()
        return response

    def _look(self, request: web.Request, trial: Trial) -> None:
        if (why := self._in_use()) is not None:
            trial.abort(why)
        if request.transport is None or request.transport.is_closing():
            trial.abort(GONE)


def _parse(body: bytes) -> tuple[dict[str, Any], bool]:
    """The checked fields, and whether a pit boss asks. Raises :class:`BadRequest`."""
    given = parse_body(body, frozenset({"id", "person", "pin", "reason"}))
    if given.keys() & {"person", "pin", "reason"}:
        return parse_order(body), True
    return given, False


def _over(trial: Trial) -> Entry:
    text = trial.stopped
    if trial.lost:
        text = f"the scanner did not come back: {trial.lost}"
    return {"kind": "over", "fits": trial.fits, "text": text}
