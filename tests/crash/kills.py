"""So many deaths at random moments, in one play that goes on: shoe after shoe, with daemon, server and shoe
as processes of their own and the dealer working on as the table lets him.
"""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from tablectl.demo.scripted_dealer import ScriptedDealer
from tablectl.plugins import load_driver
from tests.crash.forked import ForkedRig
from tests.crash.people import Console, Follower, Told
from tests.crash.play import check_told
from tests.e2e.harness import PIT_BOSS, QUICK

IN_START = 0.25
"""Share of the deaths that strike a process that has not answered yet."""


@dataclass
class Kills:
    """What a run came to."""

    kills: int = 0
    in_start: int = 0
    rows: int = 0
    events: int = 0
    rounds: int = 0
    voids: int = 0
    shoes: int = 0
    cards: int = 0
    unseen: int = 0
    seconds: float = 0.0


def kill_at_random(
    protocol: str, seed: int, times: int, told: Callable[[int], object] = lambda done: None
) -> Kills:
    """Play until ``times`` kills are done, then count everything. Raises :class:`AssertionError`."""
    chance = random.Random(seed)
    found, ended, begun = Kills(), threading.Event(), time.monotonic()
    seen, wrong = Told(), list[BaseException]()
    with ForkedRig(protocol, overrides=QUICK | {"betting": {"seconds": 0.03}}) as rig:
        rig.start()
        traits = load_driver(protocol).traits({})
        dealer = ScriptedDealer(
            Console(rig.socket_path, seen, ended.is_set),
            rig.shoe,
            PIT_BOSS,
            seed=seed,
            announces_cut=not traits.reports_cutting_card,
            presses_result=traits.has_result_button,
            cut_at=120,
            patience=30.0,
            stop=ended.is_set,
        )

        def deal() -> None:
            try:
                dealer.play(1_000_000)
            except BaseException as error:
                wrong.append(error)

        follower = Follower(rig.socket_path, seen, ended.is_set)
        threads = [threading.Thread(target=work, daemon=True) for work in (deal, follower.follow)]
        for thread in threads:
            thread.start()
        try:
            while found.kills < times:
                if chance.random() < IN_START:
                    found.in_start += 1
                    time.sleep(chance.uniform(0.0, 0.25))
                else:
                    row = rig.wait_answers()
                    rig.wait(lambda s: s["row"] > row, "play goes on", 30)  # noqa: B023
                    time.sleep(chance.uniform(0.0, 0.4))
                assert not wrong, wrong
                code, _ = rig.daemon.end(signal.SIGKILL)
                assert code == -9, f"the daemon ended by itself with {code}: {rig.errors()[-500:]}"
                found.kills += 1
                rig.daemon.start()
                told(found.kills)
            row = rig.wait_answers()
            rig.wait(lambda s: s["row"] > row + 20, "play goes on after the last kill", 60)
        finally:
            ended.set()
        threads[0].join(30)
        assert not wrong, wrong
        rig.settle()
        state = rig.client.state()
        assert rig.daemon.end()[0] == 0
        rig.check_everything()
        check_told(rig, seen)
        found.unseen = rig.missed_cards()
        assert 0 <= found.unseen <= 2 * found.kills, "more cards unseen than the kills explain"
        held = rig.held().values()
        found.rows, found.events = state["row"], state["sequence"]
        found.rounds, found.voids = len(held), sum(r["state"] == "voided" for r in held)
        found.shoes, found.cards = dealer.ledger.shoes, len(rig.shoe.drawn)
    found.seconds = time.monotonic() - begun
    return found
