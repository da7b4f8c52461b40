"""Power cuts: the daemon is killed at random moments of a running play, and nothing is lost or told twice."""

from __future__ import annotations

import random
import signal
import threading
import time

import pytest

from tests.e2e.harness import QUICK, SOAK, Rig, running

KILLS = 50 if SOAK else 3


class Play:
    """A scripted dealer in a thread; ``error`` is what ended him early."""

    def __init__(self, rig: Rig, seed: int) -> None:
        self._ending = threading.Event()
        self._dealer = rig.dealer(seed, cut_at=200, stop=self._ending.is_set)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.error: BaseException | None = None
        self._thread.start()

    def _run(self) -> None:
        try:
            self._dealer.play(1_000)
        except BaseException as error:
            self.error = error

    def end(self) -> None:
        self._ending.set()
        self._thread.join(20)
        assert not self._thread.is_alive()
        if self.error is not None:
            raise self.error


def kill_at_random(protocol: str, seed: int) -> None:
    chance = random.Random(seed)
    with running(protocol, overrides=QUICK | {"betting": {"seconds": 0.06}}) as rig:
        play = Play(rig, seed)
        rig.wait(lambda s: s["round"] and s["round"]["number"] >= 2, "the second round")
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.0, 0.8))
            assert play.error is None, play.error
            rig.daemon.end(signal.SIGKILL)
            if chance.random() < 0.2:  # and once more while it starts
                rig.daemon.start()
                time.sleep(chance.uniform(0.2, 0.6))
                rig.daemon.end(signal.SIGKILL)
            rig.start_daemon()
        began = rig.client.state()["row"]
        rig.wait(lambda s: s["row"] > began + 60, "play goes on after the last kill", 30)
        play.end()
        rig.settle()
        assert rig.daemon.end()[0] == 0
        rig.check_everything()
        assert 0 <= rig.missed_cards() <= 4 * KILLS, "more cards unseen than the kills explain"


@pytest.mark.soak
@pytest.mark.timeout(900 if SOAK else 60)
@pytest.mark.parametrize("protocol", ["angel-eye", "bee-tek"])
def test_killed_at_random_moments_nothing_is_lost_or_told_twice(protocol: str) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")  # pytest shows it when the test fails
    kill_at_random(protocol, seed)
