"""One short shoe from beginning to end, with daemon and game server dying where they are told to.

A keeper starts again whoever dies, and looks at the books first.  Afterwards everything is counted: what was
told to anybody is in the journal, and the game server holds the journal's events once each, byte for byte.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tablectl import events as ev
from tablectl.local import NotReachable
from tablectl.plugins import load_driver
from tests.crash.books import books, stored, taken
from tests.crash.boundaries import Arm, Via
from tests.crash.forked import Fate, ForkedRig
from tests.crash.people import Console, Follower, Told
from tests.crash.played import Played, about_money, lasting, standing
from tests.crash.taking import OURS
from tests.crash.whims import WhimsicalDealer
from tests.e2e.harness import PIT_BOSS, TABLE, Changes, Rig, counted_cards, until
from tests.e2e.programs import Forked
from tests.nats_server import NatsServer

RULES = Changes(
    {
        "betting": {"seconds": 0.01, "pips": 0},
        "burn": {"after_shuffle": 2},
        "shoe": {"inspection": False},
    }
)
CUT_AT = 8
"""Cards before the cutting card: two burned, and two or three rounds."""

LATE = 75
"""The exit code of a stop that left a thread behind, on a busy machine: that loses nothing either."""


class Crashed(AssertionError):
    """A play went wrong; the text says with which protocol, seed and deaths."""


class _Kept:
    """A process that is started again as often as it dies; its n-th start dies at the n-th of ``arms``."""

    def __init__(self, process: Forked, fate: Fate, arms: Sequence[Arm], buried: Callable[[Arm], None]):
        self._process, self._fate, self._arms = process, fate, list(arms)
        self._buried = buried

    def keep(self) -> bool:
        """Bury it and start it, if it does not run. Whether it does."""
        if self._process.running:
            return True
        self.bury()
        self._fate.arm = self._arms.pop(0) if self._arms else None
        self._process.start()
        return False

    def bury(self) -> None:
        """It has not been started, or it died where it was to die."""
        code, arm = self._process.code, self._fate.arm
        if code is not None:
            assert code == -9, f"it ended with {code}: {self._process.log.read_text()[-500:]}"
            assert arm is not None, "it was killed, and nobody did it"
            self._buried(arm)


class CrashRig(ForkedRig):
    """A table whose daemon and game server die where told and are started again until the shoe is dealt."""

    def __init__(
        self,
        protocol: str,
        seed: int,
        via: Via = "http",
        cut_at: int = CUT_AT,
        plant: str | None = None,
    ) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="tablectl-nats-"))
        self.nats = NatsServer(self._home) if via == "nats" else None
        url = None if self.nats is None else self.nats.url
        super().__init__(protocol, overrides=RULES, url=url, nats=url)
        self.told = Told()
        self.seed = seed
        self.cut_at = cut_at
        for name, fate in ("daemon", self.fate), ("server", self.server_fate):
            fate.counts, fate.plant = self.folder / f"{name}.json", plant
        self._deaths: list[Arm] = []
        self._ended = threading.Event()
        self._failed: BaseException | None = None

    def __exit__(self, *given: object) -> None:
        super().__exit__(*given)
        if self.nats is not None:
            self.nats.kill()
        shutil.rmtree(self._home, ignore_errors=True)

    def play(self, arms: Sequence[Arm] = ()) -> Played:
        """The whole shoe. ``arms``: where daemon and game server die, each at its own in turn."""
        ours = [arm for arm in arms if arm[0].startswith(OURS)]
        server = _Kept(self.server, self.server_fate, ours, self._server_died)
        daemon = _Kept(self.daemon, self.fate, [arm for arm in arms if arm not in ours], self._daemon_died)
        if self.nats is not None:
            self.nats.start()
        until(lambda: server.keep() and self._server_answers(), "the game server answers")
        dealing = threading.Thread(target=self._deal, args=(self._dealer(),), daemon=True)
        follower = Follower(self.socket_path, self.told, self._ended.is_set)
        following = threading.Thread(target=follower.follow, daemon=True)
        dealing.start()
        following.start()
        end = time.monotonic() + 60
        try:
            last = None
            while dealing.is_alive() or last is None:
                assert time.monotonic() < end, f"the shoe is not dealt within 60 s: {self._stands()}"
                daemon.keep()
                server.keep()
                time.sleep(0.002)
                last = None if dealing.is_alive() else self._settled()
            assert self._failed is None, f"{self._failed!r}: {self._stands()}"
        finally:
            self._ended.set()
        code, _ = self.daemon.end()
        if code == -9:  # a boundary that only a stop comes to
            daemon.bury()
            self.fate.arm = None
            self.start_daemon()
            self.settle()
            code, _ = self.daemon.end()
        assert code in (0, LATE), f"the daemon ended with {code}: {self.errors()[-500:]}"
        assert code or not self.socket_path.exists(), "its socket is left"
        dealing.join(20)
        until(lambda: server.keep() and self._server_answers(), "the game server answers")
        self.check_everything()
        check_told(self, self.told)
        rounds = standing(self.held())
        self.server.end()
        return Played(
            rounds,
            about_money(self.public()),
            counted_cards(self.journal_events()),
            lasting(last),
            tuple(self._deaths),
            self._reached(),
        )

    def _dealer(self) -> WhimsicalDealer:
        traits = load_driver(self.protocol).traits({})
        return WhimsicalDealer(
            Console(self.socket_path, self.told, self._ended.is_set),
            self.shoe,
            PIT_BOSS,
            seed=self.seed,
            announces_cut=not traits.reports_cutting_card,
            presses_result=traits.has_result_button,
            cut_at=self.cut_at,
            patience=20.0,
            stop=self._ended.is_set,
        )

    def _deal(self, dealer: WhimsicalDealer) -> None:
        try:
            dealer.play(1)
        except BaseException as error:
            self._failed = error

    def _stands(self) -> str:
        """How the table stands, for whoever reads why a play went wrong."""
        try:
            state = self.client.state()
        except NotReachable as why:
            return str(why)
        told = {name: state[name] for name in ("phase", "holds", "scanner", "link", "acked", "sequence")}
        return f"{told}, {len(self.told.events)} heard, {taken(self.server_db, TABLE)} taken"

    # --- at a death ---------------------------------------------------------------------------------------

    def _daemon_died(self, arm: Arm) -> None:
        """What it has promised is kept, and what it calls delivered is."""
        self._deaths.append(arm)
        heard = len(self.told.events), max((row for row, _ in self.told.states), default=0)
        found = books(self.journal_path)
        assert heard[0] <= found.sequence, f"event {heard[0]} was told, the newest kept is {found.sequence}"
        assert heard[1] <= found.row, f"row {heard[1]} was told, the newest kept is {found.row}"
        sent, held = self._sent(), taken(self.server_db, TABLE)
        assert found.acked <= sent, f"event {found.acked} is called delivered, the newest that is: {sent}"
        # Read anew: what was on the way when it died may have arrived since.
        newest = max(held, self._sent())
        assert newest <= found.sequence, f"event {newest} was sent, the newest kept is {found.sequence}"

    def _server_died(self, arm: Arm) -> None:
        """The daemon, which goes on, calls nothing delivered that is not."""
        self._deaths.append(arm)
        with contextlib.suppress(NotReachable):
            acked, sent = self.client.state()["acked"], self._sent()
            assert acked <= sent, f"event {acked} is called delivered, the newest that is: {sent}"

    def _sent(self) -> int:
        """The newest event that has arrived where the daemon sends to."""
        return taken(self.server_db, TABLE) if self.nats is None else stored(self.nats, TABLE)

    # --- at the end ---------------------------------------------------------------------------------------

    def _settled(self) -> dict[str, Any] | None:
        """The state once the game server and the stream have everything; None: not yet."""
        with contextlib.suppress(NotReachable):
            state = self.client.state()
            done = state["sequence"]
            if state["acked"] == done == len(self.told.events) and not state["journal"]["depth"]:
                return state if taken(self.server_db, TABLE) == done else None
        return None

    def _reached(self) -> Counter[str]:
        reached: Counter[str] = Counter()
        for fate in self.fate, self.server_fate:
            if fate.counts is not None and fate.counts.exists():
                reached.update(json.loads(fate.counts.read_text()))
        return reached


def check_told(rig: Rig, told: Told) -> None:
    """What was told to anybody at any time is in the journal, as it was told."""
    events = rig.journal_events()
    bodies = [json.dumps(body) for body in rig.public()]
    heard = [json.dumps(json.loads(text)) for text in told.events]
    assert heard == bodies[: len(heard)], "the stream told something else"
    recorded: dict[str, list[ev.CommandRecorded]] = {}
    for event in events:
        if isinstance(event, ev.CommandRecorded):
            recorded.setdefault(event.id, []).append(event)
    for id_, (accepted, answer) in told.answers.items():
        assert id_ in recorded, f"a command was answered with {answer!r} and is not in the journal"
        record = recorded[id_][0]
        assert (record.accepted, record.answer) == (accepted, answer), f"command {record.command}"
    twice = [records[0].command for records in recorded.values() if len(records) > 1]
    assert not twice, f"carried out twice: {twice}"
    sequences = [0]
    for event in events:
        sequences.append(sequences[-1] + event.PUBLIC)
    for row, sequence in told.states:
        assert sequences[row] == sequence, f"state {row}, {sequence} was told and is not in the journal"


def play(
    protocol: str,
    seed: int,
    arms: Sequence[Arm] = (),
    via: Via = "http",
    cut_at: int = CUT_AT,
    plant: str | None = None,
) -> Played:
    """A play in a folder of its own. Raises :class:`Crashed`."""
    try:
        with CrashRig(protocol, seed, via, cut_at, plant) as rig:
            return rig.play(arms)
    except (AssertionError, TimeoutError) as fault:
        raise Crashed(f"{protocol} over {via}, seed {seed}, dying at {list(arms)}: {fault}") from fault
