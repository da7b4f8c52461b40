"""The whole way of a scanner's health: from a clock or a real line to what the dealer sees."""

from __future__ import annotations

import os
import time
import tty
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pytest_mock import MockerFixture

from tablectl import clock
from tablectl.clock import SECOND, Instant
from tablectl.config import load_config
from tablectl.config_sections import HealthConfig, ScannerConfig
from tablectl.health import REFUSED_FOR
from tablectl.reader.intake import Counters
from tablectl.runtime import Runtime
from tablectl.scanner_watch import ScannerWatch
from tablectl.table import Phase, State
from tests.e2e.harness import BARE, Rig, running, until

NOW = 1_000 * SECOND
CARDS = "2C 9D 3H KS 9S 2H KD 3C"


class Jumping:
    """A clock that goes on by itself and can be set ahead."""

    def __init__(self) -> None:
        self.ahead = 0

    def __call__(self) -> Instant:
        real = clock.now()
        return Instant(real.boot + self.ahead, real.wall + self.ahead)


class Bench:
    """A watch over a reader and a state that one sets."""

    def __init__(self) -> None:
        there = SimpleNamespace(connected=True, reason=None, refused_since=None, identity="", where="")
        self.reader = SimpleNamespace(presence=there, counters=Counters())
        self.state = State(scanner_up=True, scanner_why="")
        self.lines: list[tuple[str, str]] = []
        log = SimpleNamespace(warning=lambda _, health, why: self.lines.append((health, why)))
        self.now = NOW
        self.watch = ScannerWatch(
            ScannerConfig(driver="bee-tek", device="/dev/ttyUSB0"),
            HealthConfig(),
            cast(Any, self.reader),
            lambda: self.state,
            log,
        )

    def look(self, seconds: int = 1) -> list[str]:
        """The troubles of so many looks, one a second."""
        told = []
        for _ in range(seconds):
            self.now += SECOND
            told += [trouble.code for trouble in self.watch.look(Instant(self.now, 0))]
        return told


def test_a_change_is_a_line_of_log_and_a_fault_that_lasts_is_not() -> None:
    bench = Bench()
    bench.look(100)
    assert bench.lines == []
    bench.state = State(phase=Phase.BURNING, scanner_up=True)
    bench.look(1000)
    assert [health for health, _ in bench.lines] == ["mute"]
    bench.reader.counters = Counters(bytes=9, frames=1, cards=1)
    bench.look()
    assert [health for health, _ in bench.lines] == ["mute", "ok"]


def test_a_refusal_that_the_lost_scanners_alert_names_is_no_second_alert() -> None:
    bench = Bench()
    bench.reader.presence.connected, bench.reader.presence.refused_since = False, NOW
    bench.reader.presence.reason = "no permission to open it"
    bench.state = State(scanner_why="no permission to open it")
    seconds = 2 * REFUSED_FOR // SECOND
    assert bench.look(seconds) == []
    bench.state = State(scanner_why="scanner lost: unplugged")
    assert set(bench.look(seconds)) == {"scanner-refused"}


def test_what_is_shown() -> None:
    bench = Bench()
    shown = bench.watch.view(NOW)
    assert (shown["health"], shown["why"], shown["last_good_age"]) == ("ok", "", None)
    bench.reader.counters = Counters(bytes=90, frames=8, cards=7, rejects=2, last_good=NOW, outages=1)
    bench.reader.presence.identity, bench.reader.presence.where = "usb:0403:6001:A1", "/dev/ttyUSB1"
    shown = bench.watch.view(NOW + 5 * SECOND // 2)
    assert {key: shown[key] for key in ("cards", "outages", "last_good_age", "identity", "where")} == {
        **{"cards": 7, "outages": 1, "last_good_age": 2.5},
        **{"identity": "usb:0403:6001:A1", "where": "/dev/ttyUSB1"},
    }
    there = bench.reader.presence
    there.connected, there.reason, there.where = False, "unplugged", ""
    shown = bench.watch.view(NOW)
    assert (shown["health"], shown["why"], shown["up"]) == ("absent", "unplugged", False)


def test_before_the_first_plug_the_last_ones_name_is_shown() -> None:
    bench = Bench()
    bench.state = State(device="usb:0403:6001:A1")
    assert bench.watch.view(NOW)["identity"] == "usb:0403:6001:A1"


# --- the whole way --------------------------------------------------------------------------------------


def without_server(rig: Rig) -> str:
    """The configuration, now without a game server."""
    text = rig.config.read_text()
    text = text[: text.index("[server]")] + text[text.index("[journal]") :]
    rig.config.write_text(text)
    return text


def alerts(rig: Rig) -> list[str]:
    return [alert["alert"] for alert in rig.client.state()["alerts"]]


def test_a_silent_scanner_is_told_on_the_first_look_behind_its_time_and_holds_nothing() -> None:
    jumping = Jumping()
    with Rig("bee-tek", overrides=BARE) as rig:
        without_server(rig)
        runtime = Runtime(load_config(rig.config), clock=jumping)
        runtime.start()
        try:
            rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")
            rig.open_table(CARDS)
            rig.bets()
            rig.deal(2)
            runtime.watch()
            for _ in range(59):
                jumping.ahead += SECOND
                runtime.watch()
            assert alerts(rig) == [] and rig.client.state()["scanner"]["health"] == "ok"
            jumping.ahead += 2 * SECOND
            runtime.watch()
            state = rig.wait(lambda s: s["alerts"], "the dealer is told", 2)
            assert [alert["alert"] for alert in state["alerts"]] == ["scanner-mute"]
            assert "its line is silent" in state["alerts"][0]["message"]
            assert state["scanner"]["health"] == "mute" and not state["holds"]
            runtime.watch()
            rig.deal(1)
            runtime.watch()
            state = rig.client.state()
            assert state["scanner"]["health"] == "ok" and not state["holds"]
            assert len(state["alerts"]) == 1, "until somebody has seen it"
        finally:
            assert runtime.stop()


def test_mute_and_absent_reach_the_dealer_within_two_seconds_of_their_time() -> None:
    with running("bee-tek", overrides=BARE) as rig:
        assert rig.daemon.end()[0] == 0
        rig.config.write_text(rig.config.read_text() + "\n[health]\nmute_after = 1\n")
        rig.start_daemon()
        rig.wait(lambda s: s["scanner"]["up"] and s["link"]["good"], "all is there")
        rig.open_table(CARDS)
        rig.bets()
        rig.deal(2)
        begun = time.monotonic()
        rig.wait(lambda s: s["alerts"], "the dealer is told", 10)
        took = time.monotonic() - begun
        assert took < 1 + 2 + 2, "a loaded machine may take a little longer"
        assert alerts(rig) == ["scanner-mute"]
        begun = time.monotonic()
        rig.shoe.hang_up()
        state = rig.wait(lambda s: s["scanner"]["health"] == "absent", "it is away", 10)
        rig.wait(lambda s: "scanner-lost" in [a["alert"] for a in s["alerts"]], "the dealer is told", 10)
        assert time.monotonic() - begun < 2 + 2
        assert state["scanner"]["why"] and state["scanner"]["identity"]
        rig.shoe.plug_in()
        rig.wait(lambda s: s["scanner"]["health"] != "absent", "it is back", 10)


def test_rubbish_on_a_real_line_is_told_counted_and_over_when_it_stops() -> None:
    jumping = Jumping()
    master, slave = os.openpty()
    tty.setraw(slave)
    with Rig("bee-tek", overrides=BARE) as rig:
        text = without_server(rig).replace(f'"{rig.shoe.device}"', f'"{os.ttyname(slave)}"')
        rig.config.write_text(text)
        runtime = Runtime(load_config(rig.config), clock=jumping)
        runtime.start()
        try:
            rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")
            runtime.watch()
            os.write(master, b"\xfe\xfe[Gxme]<Cxrd:8S>\r\n" * 300)
            rig.wait(lambda s: s["scanner"]["rejects"] >= 300, "all came")
            jumping.ahead += SECOND
            runtime.watch()
            state = rig.wait(lambda s: s["alerts"], "the dealer is told", 2)
            assert [alert["alert"] for alert in state["alerts"]] == ["scanner-faulty"]
            assert state["scanner"]["health"] == "faulty" and not state["holds"]
            assert state["row"] < 70, "three hundred bad messages are no three hundred rows"
            for _ in range(61):
                jumping.ahead += SECOND
                runtime.watch()
            assert rig.client.state()["scanner"]["health"] == "ok"
        finally:
            assert runtime.stop()
    os.close(master)
    os.close(slave)


def test_another_adapter_in_the_socket_is_told_and_remembered_over_restarts(mocker: MockerFixture) -> None:
    """By-path names and sockets stay; what hangs there may change while it runs, or while it does not."""
    adapter = mocker.patch("tablectl_drivers.links_serial.identify", return_value="usb:0403:6001:A1")

    def put_in(rig: Rig, name: str) -> dict[str, Any]:
        rig.shoe.hang_up()
        rig.wait(lambda s: not s["scanner"]["up"], "it is out")
        adapter.return_value = name
        rig.shoe.plug_in()
        return rig.wait(lambda s: s["scanner"]["up"], "another one is in")

    with Rig("bee-tek", overrides=BARE) as rig:
        without_server(rig)
        runtime = Runtime(load_config(rig.config))
        runtime.start()
        try:
            rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")
            rig.open_table(CARDS)
            state = put_in(rig, "usb:0403:6001:B2")
            (message,) = [a["message"] for a in state["alerts"] if a["alert"] == "scanner-changed"]
            assert "usb:0403:6001:A1" in message and "usb:0403:6001:B2" in message
            assert state["scanner"]["health"] == "swapped"
            rig.do("ack", supervised=True, alert="scanner-changed")
            assert rig.client.state()["scanner"]["health"] == "ok"

            rig.do("device swap", supervised=True)
            state = put_in(rig, "usb:0403:6001:C3")
            assert "scanner-changed" not in alerts(rig), "a pit boss announced it"

            assert runtime.stop()
            adapter.return_value = "usb:0403:6001:A1"
            runtime = Runtime(load_config(rig.config))
            runtime.start()
            state = rig.wait(lambda s: s["scanner"]["up"], "it was changed meanwhile")
            (message,) = [a["message"] for a in state["alerts"] if a["alert"] == "scanner-changed"]
            assert "C3" in message and "A1" in message
        finally:
            assert runtime.stop()


@pytest.mark.parametrize("pin", ["usb:0403:6001:A1", ""])
def test_a_pinned_scanner_alone_is_read(pin: str) -> None:
    with Rig("bee-tek", overrides=BARE) as rig:
        text = without_server(rig)
        rig.config.write_text(text.replace("[scanner]", f'[scanner]\nidentity = "{pin or rig.shoe.device}"'))
        runtime = Runtime(load_config(rig.config))
        runtime.start()
        try:
            if not pin:
                until(lambda: rig.client.state()["scanner"]["up"], "it is the one")
                return
            state = rig.wait(lambda s: s["alerts"], "another one is refused")
            assert state["scanner"]["health"] == "absent"
            assert "another scanner" in state["scanner"]["why"] and pin in state["alerts"][0]["message"]
        finally:
            assert runtime.stop()
