"""A relay that must never stay on: the daemon stopped, killed and started again while its horn sounds."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import tty
from collections.abc import Iterator

import pytest

from tablectl.local import NotReachable
from tests.e2e.harness import BARE, Rig, until

ON, OFF = bytes.fromhex("A0 01 01 A2"), bytes.fromhex("A0 01 00 A1")


class Horn:
    """A relay on a pseudo-terminal, and all it was told."""

    def __init__(self) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.device = os.ttyname(self.slave)
        self._told = b""

    def told(self) -> bytes:
        with contextlib.suppress(BlockingIOError):
            self._told += os.read(self.master, 4096)
        return self._told

    @property
    def on(self) -> bool:
        told = self.told()
        assert len(told) % 4 == 0
        return told.endswith(ON)

    def close(self) -> None:
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def horn() -> Iterator[Horn]:
    made = Horn()
    yield made
    made.close()


def test_the_relay_is_off_after_a_stop_and_after_the_start_that_follows_a_kill(horn: Horn) -> None:
    with Rig("bee-tek", overrides=BARE) as rig:
        with rig.config.open("a") as file:
            file.write(f'\n[beeper]\ndriver = "relay"\ndevice = "{horn.device}"\n')
            file.write("patterns = { hold = [3000] }\n")
        for number in (signal.SIGKILL, signal.SIGTERM):
            rig.start_daemon()
            until(lambda: horn.told().endswith(OFF), "off at the start")

            def sound() -> None:
                with contextlib.suppress(NotReachable):
                    rig.client.post("/v1/signal", {"pattern": "hold"})

            thread = threading.Thread(target=sound)
            thread.start()
            until(lambda: horn.on, "the horn sounds")
            _, took = rig.daemon.end(number)
            thread.join(5)
            if number is signal.SIGKILL:
                assert horn.on, "nobody can switch it off but the next start"
            else:
                assert not horn.on and took < 2.5


def test_the_close_of_betting_sounds_on_time_through_the_whole_daemon(horn: Horn) -> None:
    with Rig("bee-tek", overrides=BARE | {"betting": {"seconds": 0.4, "link_required": False}}) as rig:
        with rig.config.open("a") as file:
            file.write(f'\n[beeper]\ndriver = "relay"\ndevice = "{horn.device}"\n')
        rig.start_daemon()
        rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")
        rig.do("open")
        rig.do("sign-in", name="Dora", pickup="left")
        rig.new_shoe("2C 9D 3H KS")
        rig.do("bets open")
        opened = time.monotonic()
        status, told = rig.client.post("/v1/signal", {"pattern": "close"})
        assert status == 409 and "betting is open" in told["error"]
        assert not horn.told().count(ON)
        until(lambda: horn.on, "the horn sounds")
        assert 0.3 < time.monotonic() - opened < 1.0
        until(lambda: not horn.on, "and ends")
