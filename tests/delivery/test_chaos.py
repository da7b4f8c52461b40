"""Behind a proxy that spoils requests and answers: every event in order, and once in effect."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from tablectl.clock import Instant, now
from tablectl.gameserver.intake import Intake
from tablectl.gameserver.messages import Message
from tablectl.gameserver.server import INTAKE_PATH, GameServer
from tests.delivery.chaos import WAYS, Chaos
from tests.delivery.test_http import Sender, held
from tests.e2e.harness import SOAK
from tests.gameserver.posting import SECRET

EVENTS = 10_000 if SOAK else 300
FASTER = 200
"""So many times as fast the sender's clock runs: what it waits for is the policy's, not the test's."""


def fast() -> Instant:
    moment = now()
    return Instant(moment.boot * FASTER, moment.wall)


@pytest.mark.soak
@pytest.mark.timeout(1800 if SOAK else 60)
@pytest.mark.parametrize("seed", range(3 if SOAK else 1))
async def test_every_event_arrives_in_order_and_has_its_effect_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr("tablectl.delivery.sender.LOOK", 0.002)
    effects: Counter[str] = Counter()
    real = Intake._effect

    def effect(self: Intake, table: str, message: Message, *, over: bool) -> bool:
        opened = real(self, table, message, over=over)
        effects[message.id] += 1
        return opened

    monkeypatch.setattr(Intake, "_effect", effect)
    chance, begun = random.Random(seed), time.monotonic()
    server = GameServer(tmp_path / "server.db", [SECRET])
    await server.start()
    host, _, port = server.url.rpartition("/")[2].partition(":")
    chaos = Chaos((host, int(port)), seed)
    url = f"http://127.0.0.1:{await chaos.start()}{INTAKE_PATH}"
    sender = Sender(tmp_path / "T07.db", url, deadline=0.15, clock=fast, jitter=chance.random).start()
    restarts = 0
    try:
        left = EVENTS
        while left or sender.journal.acked() < EVENTS:
            if left and chance.random() < 0.6:
                count = min(left, 130 if chance.random() < 0.01 else chance.choice([1, 1, 1, 2, 3, 5]))
                left -= count
                sender.play(count)
            await asyncio.sleep(chance.uniform(0, 0.01))
            if chance.random() < 0.01:  # the controller is killed; what it knew of the server may be lost
                await sender.stop()
                restarts += 1
                sender = Sender(tmp_path / "T07.db", url, deadline=0.15, clock=fast, jitter=chance.random)
                if chance.random() < 0.5:
                    sender.journal.set_acked(0)
                sender.start()
            box = sender.delivery.outbox
            troubled = box is not None and box.trouble is not None
            if chance.random() < (0.2 if troubled else 0.02):
                sender.delivery.retry()  # a person acts, in the middle of a try too
            assert sender.task is not None and not sender.task.done(), sender.task
            assert time.monotonic() - begun < 1500
        chaos.quiet = True
        sender.delivery.retry()
        await sender.all_taken()
        assert held(server) == sender.bodies
        assert len(sender.bodies) == EVENTS
        assert effects.total() == len(effects) == EVENTS
        assert server.store.count_rounds("T07", sender.journal.epoch) == EVENTS
        spent = time.monotonic() - begun
        spoiled = chaos.done.total() - chaos.done["through"]
        print(f"seed {seed}: {EVENTS} events, {chaos.done.total()} requests, {spoiled} spoiled, "
              f"{restarts} restarts, {spent:.1f} s; {dict(chaos.done)}")  # fmt: skip
        assert spoiled > EVENTS / 20
        assert not SOAK or set(chaos.done) == set(WAYS), "everything happened"
    finally:
        await sender.stop()
        await chaos.stop()
        await server.stop()
