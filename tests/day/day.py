"""A day at one table, time-compressed, with everything going wrong at once.

The emulated shoe speaks on a bad line and its cable is pulled; the daemon is killed, stopped for a while,
its disk full or slow; the game server dies, and the link to it has moods.  Dealer and pit boss work on
through all of it as fast as the speed says.  At the end journal, game server and what the shoe's hand
really drew are compared.  In the last third nobody kills the daemon or the server, so that what they grow
by can be seen.
"""

from __future__ import annotations

import random
import resource
import signal
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tablectl.demo.play import PACE
from tablectl.demo.scripted_dealer import ScriptedDealer
from tablectl.local import NotReachable
from tablectl.plugins import load_driver
from tests.crash.forked import ForkedRig
from tests.crash.people import Console, Follower, Told
from tests.crash.play import check_told
from tests.day.moody import MOODS, MoodyLink
from tests.e2e.harness import PIT_BOSS, Changes, RecordingShoe, free_port, until
from tests.e2e.test_faults import in_deal_order
from tests.e2e.test_shift_on_a_wire import FAULTS

WINDOW = 20.0
"""Seconds of a betting window, before the compression."""
QUIET = 2 / 3
"""From this part of the day on nobody kills."""
NO_START = 1
"""The exit code of a daemon that cannot start now and may later."""
NO_ROOM = 0
"""Bytes a file may grow to while the disk is full: every write that makes one longer fails."""


@dataclass
class Figures:
    """What a day came to."""

    protocol: str
    seed: int
    hours: float
    speed: float
    seconds: float = 0.0
    shoes: int = 0
    rounds: int = 0
    results: int = 0
    voids: int = 0
    cards: int = 0
    rows: int = 0
    events: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    memory: dict[str, tuple[float, float]] = field(default_factory=dict)
    """MB resident of each process at the beginning and the end of the quiet third."""
    descriptors: dict[str, tuple[int, int]] = field(default_factory=dict)


def sample(pid: int) -> tuple[float, int]:
    """MB resident and open descriptors of a process. Raises :class:`OSError` when it is no more."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    resident = [int(line.split()[1]) for line in lines if line.startswith("VmRSS")]
    if not resident:
        raise ProcessLookupError(pid)
    return resident[0] / 1024, len(list(Path(f"/proc/{pid}/fd").iterdir()))


class Day:
    """One day. ``often``: how many seconds (real ones) pass between two faults of a kind, on average."""

    def __init__(self, protocol: str, seed: int, hours: float, speed: float, often: float) -> None:
        self.figures = Figures(protocol, seed, hours, speed)
        self._often = often
        self._length = hours * 3600 / speed
        self._ended = threading.Event()
        self._wrong: list[BaseException] = []
        self._told = Told()
        self._signalling = threading.Lock()
        """Held while somebody signals or starts the daemon, so that no two do it at once."""
        self._link_port = free_port()
        rules = Changes({"betting": {"seconds": WINDOW / speed, "pips": 0}})
        url = f"http://127.0.0.1:{self._link_port}/v1/tables/{{table}}/events"
        self.rig = ForkedRig(protocol, overrides=rules, url=url, speed=max(200.0, speed))
        config = self.rig.config
        config.write_text(config.read_text().replace("[server]\n", "[server]\ntimeout = 1.0\n"))
        self._slow_file = self.rig.fate.slow = self.rig.folder / "slow"
        self._link = MoodyLink(self.rig.server_url, self._link_port, seed)

    def play(self, told: Callable[[str], object] = lambda text: None) -> Figures:
        """Play it and compare. Raises :class:`AssertionError`."""
        begun = time.monotonic()
        with self.rig:
            self._link.start()
            try:
                self._play(told)
            finally:
                self._ended.set()
                self._link.stop()
        self.figures.seconds = time.monotonic() - begun
        return self.figures

    def _play(self, told: Callable[[str], object]) -> None:
        rig, figures = self.rig, self.figures
        rig.start()
        rig.change_shoe(tuple(FAULTS[figures.protocol].split()), seed=figures.seed)
        dealer = self._dealer()
        follower = Follower(rig.socket_path, self._told, self._ended.is_set)
        works: list[Callable[[], object]] = [lambda: dealer.play(1_000_000), self._pit_boss, self._keeper]
        kinds = (self._kill, self._stop, self._server, self._mood, self._full, self._slow, self._cable)
        works += [self._again_and_again(kind) for kind in kinds]
        threads = [threading.Thread(target=self._guarded(work), daemon=True) for work in works]
        # The follower ends with the daemon: it waits for the next event.
        following = threading.Thread(target=self._guarded(follower.follow), daemon=True)
        begun = time.monotonic()
        for thread in (*threads, following):
            thread.start()
        first: dict[str, tuple[float, int]] = {}
        hour = 0
        while time.monotonic() < begun + self._length:
            time.sleep(min(0.2, self._length / 50))
            assert not self._wrong, self._wrong
            part = (time.monotonic() - begun) / self._length
            if part > QUIET + 0.05 and not first:
                first = until(self._samples, "both processes are there")
            if int(part * figures.hours) > hour:
                hour = int(part * figures.hours)
                held = until(self._samples, "both processes are there")
                memory = ", ".join(f"{name} {megabytes:.0f} MB" for name, (megabytes, _) in held.items())
                told(f"hour {hour}: {memory}; {dealer.ledger}"[:160])
        last = until(self._samples, "both processes are there")
        self._ended.set()
        for thread in threads:
            thread.join(40)
            assert not thread.is_alive(), "somebody did not come to an end"
        assert not self._wrong, self._wrong
        self._calm_down()
        self._compare(dealer)
        for name in first:
            figures.memory[name] = first[name][0], last[name][0]
            figures.descriptors[name] = first[name][1], last[name][1]
        figures.faults += self._link.struck

    def _dealer(self) -> ScriptedDealer:
        traits = load_driver(self.figures.protocol).traits({})
        return ScriptedDealer(
            Console(self.rig.socket_path, self._told, self._ended.is_set),
            self.rig.shoe,
            PIT_BOSS,
            seed=self.figures.seed,
            announces_cut=not traits.reports_cutting_card,
            presses_result=traits.has_result_button,
            pause=PACE / self.figures.speed,
            patience=60.0,
            stop=self._ended.is_set,
        )

    def _samples(self) -> dict[str, tuple[float, int]]:
        return {"daemon": sample(self.rig.daemon.pid), "server": sample(self.rig.server.pid)}

    def _guarded(self, work: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            try:
                work()
            except BaseException as error:
                self._wrong.append(error)

        return run

    # --- what goes wrong ----------------------------------------------------------------------------------

    def _again_and_again(self, fault: Callable[[random.Random], None]) -> Callable[[], None]:
        chance = random.Random(f"{self.figures.seed} {fault.__name__}")
        begun = time.monotonic()
        kills = fault.__name__ in ("_kill", "_server")

        def strike() -> None:
            while not self._ended.wait(chance.expovariate(1 / self._often)):
                if kills and time.monotonic() > begun + QUIET * self._length:
                    return
                fault(chance)
                self.figures.faults[fault.__name__.strip("_")] += 1

        return strike

    def _kill(self, chance: random.Random) -> None:
        with self._signalling:
            code, _ = self.rig.daemon.end(signal.SIGKILL)
            assert code in (-9, NO_START), f"the daemon ended with {code}: {self.rig.errors()[-500:]}"
            time.sleep(chance.uniform(0, 0.3))
            self.rig.daemon.start()

    def _stop(self, chance: random.Random) -> None:
        with self._signalling, suppress(ProcessLookupError):
            self.rig.daemon.send(signal.SIGSTOP)
            time.sleep(chance.uniform(0.01, 0.5))
            self.rig.daemon.send(signal.SIGCONT)

    def _server(self, chance: random.Random) -> None:
        self.rig.server.end(signal.SIGKILL)
        time.sleep(chance.uniform(0.1, 3.0))
        self.rig.start_server()

    def _mood(self, chance: random.Random) -> None:
        self._link.mood = chance.choice(MOODS)
        time.sleep(chance.uniform(0.1, 2.0))
        self._link.mood = ""

    def _full(self, chance: random.Random) -> None:
        """No file of the daemon grows any more, as on a full disk."""
        pid = self.rig.daemon.pid
        with suppress(ProcessLookupError):
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (NO_ROOM, hard))
            time.sleep(chance.uniform(0.05, 1.0))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))

    def _slow(self, chance: random.Random) -> None:
        self._slow_file.write_text(f"{chance.uniform(0.05, 0.6):.3f}")
        time.sleep(chance.uniform(0.1, 2.0))
        self._slow_file.unlink()

    def _cable(self, chance: random.Random) -> None:
        self.rig.shoe.hang_up()
        time.sleep(chance.uniform(0.0, 0.4))
        self.rig.shoe.plug_in()

    # --- who puts it right --------------------------------------------------------------------------------

    def _keeper(self) -> None:
        """What systemd does: a daemon that could not start, on a disk just then full, is started again."""
        while not self._ended.wait(0.05):
            with self._signalling:
                if not self.rig.daemon.running:
                    code = self.rig.daemon.code
                    assert code == NO_START, f"the daemon ended with {code}: {self.rig.errors()[-500:]}"
                    self.figures.faults["no start"] += 1
                    self.rig.daemon.start()

    def _pit_boss(self) -> None:
        """Has the delivery tried again whenever it waits for a person."""
        while not self._ended.wait(0.3):
            with suppress(NotReachable):
                status, found = self.rig.client.get("/v1/delivery")
                if status == 200 and found.get("trouble"):
                    self.retry()
                self.rig.shoe.plug_in()

    def retry(self) -> None:
        """``delivery retry``."""
        body = {"id": uuid.uuid4().hex, "person": PIT_BOSS.name, "pin": PIT_BOSS.pin, "reason": "system: day"}
        self.rig.client.post("/v1/delivery/retry", body)

    def _calm_down(self) -> None:
        if not self.rig.daemon.running:
            self.rig.daemon.start()
        self.rig.wait_answers()
        self.retry()
        self.rig.settle(60.0)
        self.figures.rows = self.rig.client.state()["row"]
        self.figures.events = self.rig.client.state()["sequence"]
        assert self.rig.daemon.end()[0] == 0

    def _compare(self, dealer: ScriptedDealer) -> None:
        """Journal, server and the shoe's hand."""
        rig, figures = self.rig, self.figures
        rig.check_everything()
        check_told(rig, self._told)
        assert isinstance(rig.shoe, RecordingShoe)
        dealt = iter([hand for hand in rig.shoe.hands if hand])
        held = {tuple(map(int, where.split("/"))): record for where, record in rig.held().items()}
        for where, record in sorted(held.items()):
            if "player" in (record["result"] or {}):
                cards = in_deal_order(record["result"])
                assert cards in dealt, f"{where}: {cards} was not dealt, or not then"
                figures.results += 1
        figures.rounds, figures.voids = len(held), sum(r["state"] == "voided" for r in held.values())
        figures.shoes, figures.cards = dealer.ledger.shoes, len(rig.shoe.drawn)
