"""Cases from the field, "Devices": adapters, cables and a boot without them, on a whole table's runtime."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_mock import MockerFixture
from tablectl_drivers import bee_tek, hid_pos, links_serial, links_usb
from tablectl_drivers.emulated.usb_bus import LIBUSB_TIME_OUT, FakeBus, FakeDevice, usb_error

from tablectl.cards import DECK
from tablectl.config import load_config
from tablectl.lock import TableLocked
from tablectl.runtime import Runtime
from tablectl.scanner import Arrived, Backoff, LinkFault, Scan, ScannerLost, ScannerRestored
from tests.api.test_app import CARDS, Bench
from tests.descriptors import descriptors, settled_descriptors
from tests.drivers.contract import CARDS as CODES
from tests.drivers.test_links import port
from tests.e2e.harness import BARE, Rig
from tests.e2e.irregularities import wired
from tests.field.shared import BEE, GUISES, SOAK, quick, with_cards
from tests.ptys import Pty
from tests.reader.test_thread import MS

USB = "usb:0c2e:0b61:S1"


@contextlib.contextmanager
def in_mid_hand() -> Iterator[Bench]:
    """A real table with two cards dealt, and a reader that is back soon."""
    with Bench("bee-tek", overrides=BARE) as table:
        reader = table.runtime.reader
        reader._settle, reader.presence.backoff = 10 * MS, Backoff(first=5 * MS, cap=20 * MS)
        table.open_table(CARDS * 2)
        table.bets()
        table.deal(2)
        yield table


def frozen(table: Bench) -> None:
    """The hand lies there as it lay, on hold for the lost scanner and for nothing else."""
    state = table.wait(lambda s: s["holds"], "it is held")
    assert [hold["code"] for hold in state["holds"]] == ["device-lost"]
    assert state["round"]["cards"] == {"P1": "2C", "B1": "9D"}


# --- unplug in every guise: one "scanner lost", hand frozen, reopened by identity; `b''` for ever ---


def test_devices_an_unplug_in_every_guise_freezes_the_hand_and_is_reopened_by_identity(
    mocker: MockerFixture,
) -> None:
    with in_mid_hand() as table:
        for lost, guise in enumerate(GUISES, 1):
            mocker.patch("tablectl_drivers.links_serial.os.read", side_effect=guise)
            wired(table)._send(b"\r\n")
            table.wait(lambda s: not s["scanner"]["up"], f"{guise!r} is a loss")
            frozen(table)
            mocker.stopall()
            table.wait(lambda s: s["scanner"]["up"], "it is reopened")
            assert table.runtime.reader.counters.outages == lost
            frozen(table)
        table.do("release", supervised=True, action="cards-confirmed")
        table.deal(2)
        table.finish()
        events = [event.TYPE for event in table.journal_events()]
        assert events.count("scanner.lost") == events.count("scanner.restored") - 1 == len(GUISES)
        assert events.count("round.resulted") == 1 and "round.voided" not in events


def test_devices_a_port_that_is_ready_and_empty_for_ever_is_lost_without_a_busy_loop(
    mocker: MockerFixture,
) -> None:
    with in_mid_hand() as table:
        read = mocker.patch.object(links_serial.SerialLink, "read", return_value=b"")
        wired(table)._send(b"\r\n")
        table.wait(lambda s: not s["scanner"]["up"], "it is lost")
        frozen(table)
        reads = read.call_count  # first: the reader goes on meanwhile
        assert reads <= 3 * (table.runtime.reader.presence.backoff.failures + 1)
        mocker.stopall()
        table.shoe.hang_up()
        used = resource.getrusage(resource.RUSAGE_SELF)
        time.sleep(0.2)
        now = resource.getrusage(resource.RUSAGE_SELF)
        assert now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime < 0.1


# --- close during a read: clean stop, flat descriptor count over 1000 cycles ---


@pytest.mark.soak
def test_devices_a_close_during_a_read_is_clean_and_a_thousand_of_them_leave_nothing(pty: Pty) -> None:
    before = settled_descriptors()
    for _ in range(1000 if SOAK else 50):
        rig = quick(bee_tek.DRIVER, str(pty.link), settle=0).started()
        pty.say(BEE[:7])
        rig.stop()
    assert descriptors() == before


# --- a second controller on the same port: refuses ---


def test_devices_a_second_controller_on_the_same_port_reads_nothing() -> None:
    with Bench("bee-tek", overrides=BARE) as first:
        with pytest.raises(TableLocked, match=f"process {os.getpid()}"):
            Runtime(first.runtime.config).start()
        with Rig("bee-tek", overrides=BARE) as other:
            Path(other.shoe.device).unlink()
            Path(other.shoe.device).symlink_to(os.path.realpath(first.shoe.device))
            second = Runtime(load_config(other.config))
            second.start()
            try:
                other.wait(lambda s: "is in use: process" in (s["scanner"]["why"] or ""), "it says why")
                first.open_table(CARDS)
                first.play_round(4)
                assert other.client.state()["scanner"]["bytes"] == 0
            finally:
                assert second.stop()


# --- the scanner second of two adapters: bound by identity, not the first that opens ---


def test_devices_of_two_adapters_the_one_named_is_read(pty: Pty, tmp_path: Path) -> None:
    """They change numbers as they are plugged in again the other way round."""
    folder = tmp_path / "first"
    folder.mkdir()
    first, second = pty, Pty(folder / "shoe")
    rig = quick(bee_tek.DRIVER, str(second.link)).started()
    for _ in range(2):
        first.say(BEE * 3)
        second.say(BEE)
        card = rig.next()
        assert isinstance(card, Arrived) and isinstance(card.item, Scan)
        rig.none_for(0.05)
        second.unplug()
        assert isinstance(rig.next(), ScannerLost)
        first.unplug()
        first.plug()  # takes the lowest number that is free, often the other's
        second.plug()
        assert isinstance(rig.next(), ScannerRestored)
    rig.stop()
    second.unplug()


def test_devices_two_adapters_that_cannot_be_told_apart_are_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "by-id").mkdir()
    (tmp_path / "ttyUSB1").touch()
    link = tmp_path / "by-id" / "usb-1a86_USB_Serial-if00-port0"
    link.symlink_to(tmp_path / "ttyUSB1")
    with pytest.raises(LinkFault, match=r"cannot be told apart.*by-path"):
        links_serial.refuse_ambiguous(
            str(link), lambda: [port("/dev/ttyUSB0", "1-1"), port(str(tmp_path / "ttyUSB1"), "1-2")]
        )


# --- boot without scanner, network or credential file: up, degraded, says so; picked up when it comes ---


def test_devices_a_boot_without_scanner_is_up_says_so_and_picks_it_up() -> None:
    with Rig("bee-tek", overrides=BARE) as table:
        table.shoe.hang_up()
        text = table.config.read_text()
        table.config.write_text(text[: text.index("[server]")] + text[text.index("[journal]") :])
        runtime = Runtime(load_config(table.config))
        runtime.start()
        try:
            state = table.wait(lambda s: s["alerts"], "it is told")
            assert not state["scanner"]["up"] and "no scanner at" in state["scanner"]["why"]
            status, health = table.client.get("/healthz")
            assert (status, health["ok"], health["alerts"]) == (200, True, ["scanner-lost"])
            table.shoe.plug_in()
            table.wait(lambda s: s["scanner"]["up"], "it is picked up")
            table.open_table(CARDS)
            table.play_round(4)
        finally:
            assert runtime.stop()


def test_devices_a_boot_without_network_is_up_says_so_and_picks_it_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tablectl.delivery.outbox.BACKOFF_CAP", 100 * MS)
    with Rig("bee-tek", overrides=BARE) as table:
        runtime = Runtime(load_config(table.config))
        runtime.start()
        try:
            state = table.wait(lambda s: s["scanner"]["up"] and s["link"]["why"], "it says why")
            assert not state["link"]["good"]
            table.open_table(CARDS)
            status, answer = table.command("bets open")
            assert status == 409 and "game server" in answer["answer"], answer
            table.start_server()
            table.wait(lambda s: s["link"]["good"], "it is picked up", 30)
            table.play_round(4)
            table.settle()
            assert list(table.held()) == ["1/1"]
        finally:
            assert runtime.stop()


def test_devices_a_boot_without_credential_files_is_up_says_so_and_picks_them_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tablectl.late_credentials.LOOK", 0.02)
    with Rig("bee-tek", overrides=BARE) as table:
        folder = table.folder / "credentials"
        files = {path: path.read_text() for path in folder.iterdir()}
        for path in files:
            path.unlink()
        table.start_server()
        runtime = Runtime(load_config(table.config))
        runtime.start()
        try:
            state = table.wait(lambda s: s["scanner"]["up"], "it is up")
            why = "the credential push-hmac is missing"
            assert state["link"] == {"good": False, "why": why, "configured": True}
            table.do("open")
            status, answer = table.command("shoe inspect", supervised=True)
            assert status == 403 and "credential pit-bosses is missing" in str(answer), answer
            (folder / "push-hmac").write_text("not a secret")
            for path, text in files.items():
                path.write_text(text)
            table.wait(lambda s: s["link"]["good"], "the signing secret is picked up")
            time.sleep(0.1)
            table.do("sign-in", name="Dora", pickup="left")
            table.do("shoe inspect", supervised=True)
            table.new_shoe(CARDS)
            table.play_round(4)
            table.settle()
            assert list(table.held()) == ["1/1"]
        finally:
            assert runtime.stop()


# --- USB: idle for ten minutes; errno 19 in mid-read; the second of two ---


def test_devices_ten_minutes_of_usb_idle_time_outs_are_no_reset_and_no_log(bus: FakeBus) -> None:
    device = bus.plug(FakeDevice(serial="S1"), "1-1.2")
    rig = quick(with_cards(hid_pos.DRIVER), USB).started()
    before = len(device.calls)
    waits = 10 * 60 * 1000 // links_usb.WAIT
    device.fail("intr_read", *[usb_error(errno.ETIMEDOUT, LIBUSB_TIME_OUT)] * waits)
    settled = len(rig.log.lines)
    seen = device.waits
    until_quiet = time.monotonic() + 5
    while device._faults["intr_read"] or device.waits == seen:
        assert time.monotonic() < until_quiet
        time.sleep(0.005)
    assert {name for name, *_ in device.calls[before:]} <= {"intr_read"}, "no reset, no new opening"
    assert rig.log.lines[settled:] == []
    device.say(hid_pos.Encoder(CODES).card(DECK[0]))
    assert isinstance(rig.next(), Arrived)
    assert rig.stop() == []


def test_devices_errno_19_in_mid_read_is_found_afresh_at_its_new_address(bus: FakeBus) -> None:
    device = bus.plug(FakeDevice(serial="S1"), "1-1.2")
    rig = quick(with_cards(hid_pos.DRIVER), USB).started()
    encode = hid_pos.Encoder(CODES)
    device.say(encode.card(DECK[0]))
    assert isinstance(rig.next(), Arrived)
    old = device.address
    device.fail("intr_read", errno.ENODEV)
    bus.unplug(device)
    assert isinstance(rig.next(), ScannerLost)
    bus.plug(device, "1-3")
    assert device.address != old
    assert isinstance(rig.next(), ScannerRestored)
    device.say(encode.card(DECK[1]))
    card = rig.next()
    assert isinstance(card, Arrived) and isinstance(card.item, Scan) and card.item.card == DECK[1]
    assert rig.stop() == []


def test_devices_of_two_usb_scanners_the_one_named_is_read(bus: FakeBus) -> None:
    first = bus.plug(FakeDevice(serial="S0"), "1-1.1")
    second = bus.plug(FakeDevice(serial="S1"), "1-1.2")
    rig = quick(with_cards(hid_pos.DRIVER), USB).started()
    encode = hid_pos.Encoder(CODES)
    first.say(encode.card(DECK[0]))
    second.say(encode.card(DECK[1]))
    card = rig.next()
    assert isinstance(card, Arrived) and isinstance(card.item, Scan) and card.item.card == DECK[1]
    bus.unplug(second)
    assert isinstance(rig.next(), ScannerLost)
    rig.none_for(0.05)
    assert first.handles == 0, "the other one is not taken in its place"
    assert rig.stop() == []
