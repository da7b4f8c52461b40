"""Opening a port: whose it is, who may, what it must not disturb. Wire facts, section 9: items 3, 5 to 8."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import termios
from pathlib import Path
from typing import Any

import pytest
import serial
from pytest_mock import MockerFixture
from tablectl_drivers import bee_tek, usb_names
from tablectl_drivers.emulated.tcp_port import TcpPort

from tablectl.cards import Card
from tablectl.lock import TableLock, TableLocked
from tablectl.scanner import Arrived, Discarded, Label, LinkFault, Scan, ScannerLost, ScannerRestored
from tests.drivers.test_links import read_until
from tests.field.shared import BEE, open_port, quick
from tests.ptys import Pty
from tests.reader.test_thread import MS
from tests.table.playing import Play
from tests.test_imports import ROOT

TIOCGEXCL = 0x80045440

# --- 3: one reader only ---


def test_9_03_two_readers_on_a_port_are_refused_by_the_lock(pty: Pty) -> None:
    first = open_port(str(pty.link))
    with pytest.raises(LinkFault, match="is in use: process"):
        open_port(str(pty.link))
    with pytest.raises(serial.SerialException, match="lock"):
        serial.Serial(str(pty.link), exclusive=True)
    first.close()
    open_port(str(pty.link)).close()


def test_9_03_and_by_the_kernels_mark_where_the_port_is_hardware(mocker: MockerFixture, pty: Pty) -> None:
    def exclusive(fd: int) -> bool:
        return any(fcntl.ioctl(fd, TIOCGEXCL, bytes(4)))

    link = open_port(str(pty.link))
    assert not exclusive(link.fileno()), "a pseudo-terminal would stay marked after kill -9"
    link.close()
    mocker.patch("tablectl_drivers.links_serial.os.major", return_value=188)  # what a ttyUSB has
    link = open_port(str(pty.link))
    probe = os.dup(link.fileno())
    assert exclusive(probe)
    link.close()
    assert not exclusive(probe), "given back"
    os.close(probe)


def test_9_03_above_both_the_table_has_one_controller(tmp_path: Path) -> None:
    with (
        TableLock(tmp_path / "T07.db", "T07"),
        pytest.raises(TableLocked, match=f"process {os.getpid()} already"),
    ):
        TableLock(tmp_path / "T07.db", "T07").acquire()


def test_9_03_a_refused_serial_server_is_told_as_another_reader() -> None:
    server = TcpPort(0)
    first = quick(bee_tek.DRIVER, server.device).started()
    second = quick(bee_tek.DRIVER, server.device)
    second.reader.start()
    lost = second.next()
    assert isinstance(lost, ScannerLost)
    assert "another reader" in lost.reason
    assert second.stop() == [] == first.stop()
    server.close()


# --- 5, 6: who else is at the port, and who may open it ---


def refuse_opening(mocker: MockerFixture, numbers: list[int]) -> None:
    """The next openings of a port fail with these errors, the ones after them succeed."""
    real, left = os.open, list(numbers)

    def opening(path: str, flags: int, *more: Any) -> int:
        if left and str(path).endswith("/shoe"):
            number = left.pop(0)
            raise OSError(number, os.strerror(number))
        return real(path, flags, *more)

    mocker.patch("serial.serialposix.os.open", side_effect=opening)


def test_9_05_a_port_grabbed_by_the_system_says_by_whom(mocker: MockerFixture, pty: Pty) -> None:
    refuse_opening(mocker, [errno.EBUSY])
    with pytest.raises(LinkFault, match=r"in use.*ModemManager.*brltty"):
        open_port(str(pty.link))


def test_9_05_udev_rules_are_shipped_against_modemmanager_brltty_and_autosuspend() -> None:
    folder = ROOT / "systemd"
    main = (folder / usb_names.UDEV_RULES).read_text(encoding="utf-8")
    assert re.search(r'^ENV\{ID_MM_DEVICE_IGNORE\}="1"$', main, flags=re.MULTILINE)
    assert 'ATTR{power/control}="on"' in main
    assert f'GROUP="{usb_names.GROUP}"' in main, "the group that the messages name"
    brltty = [path.read_text(encoding="utf-8") for path in folder.glob("*brltty*.rules")]
    assert len(brltty) == 1 and 'ENV{SYSTEMD_WANTS}=""' in brltty[0]


def test_9_06_not_allowed_yet_and_busy_still_are_tried_again_quietly(mocker: MockerFixture, pty: Pty) -> None:
    rig = quick(bee_tek.DRIVER, str(pty.link)).started()
    pty.unplug()
    refuse_opening(mocker, [errno.EACCES] * 8 + [errno.EBUSY] * 12)
    pty.plug()
    assert isinstance(rig.next(), ScannerLost)
    assert isinstance(rig.next(), ScannerRestored), "nothing else is told"
    assert rig.stop() == []
    told = [text for text, _ in rig.log.lines]
    assert len(told) <= 6, told
    assert rig.reader.counters.outages == 1


def test_9_06_never_allowed_is_degraded_and_names_group_and_rule(mocker: MockerFixture, pty: Pty) -> None:
    refuse_opening(mocker, [errno.EACCES] * 1000)
    rig = quick(bee_tek.DRIVER, str(pty.link))
    rig.reader.start()
    lost = rig.next()
    assert isinstance(lost, ScannerLost)
    assert "group dialout" in lost.reason and "udev rules" in lost.reason
    rig.none_for(0.1)
    assert rig.reader.alive and not rig.reader.presence.connected
    assert rig.reader.presence.reason == lost.reason
    assert rig.stop() == []


# --- 7: opening must not disturb the device ---


def test_9_07_opened_raw_and_without_echo(pty: Pty) -> None:
    cooked = os.open(pty.link, os.O_RDWR | os.O_NOCTTY)
    state = termios.tcgetattr(cooked)
    state[0] |= termios.ICRNL | termios.IXON | termios.BRKINT
    state[1] |= termios.OPOST
    state[3] |= termios.ECHO | termios.ICANON | termios.ISIG
    termios.tcsetattr(cooked, termios.TCSANOW, state)
    link = open_port(str(pty.link))
    everything = bytes(range(256))
    pty.say(everything)
    assert read_until(link, 256) == everything
    link.write(everything)
    assert os.read(pty.master, 1024) == everything, "what we say and nothing the device said"
    link.close()
    os.close(cooked)


@pytest.mark.parametrize("level", [True, False])
def test_9_07_dtr_and_rts_stand_before_the_port_opens(level: bool, mocker: MockerFixture, pty: Pty) -> None:
    seen: list[tuple[bool, bool]] = []
    real = serial.Serial.open

    def opening(one: serial.Serial) -> None:
        seen.append((one.dtr, one.rts))
        real(one)

    mocker.patch.object(serial.Serial, "open", opening)
    open_port(str(pty.link), {"dtr": level, "rts": level}).close()
    assert seen == [(level, level)]


# --- 8: what waited in the line ---


def test_9_08_old_scans_are_discarded_by_name_before_the_scanner_is_ready(pty: Pty) -> None:
    held = os.open(pty.link, os.O_RDWR | os.O_NOCTTY)  # keeps what is said while no reader is there
    pty.say(BEE + b"[Game]<Card:KD>\r\n")
    rig = quick(bee_tek.DRIVER, str(pty.link), settle=60 * MS)
    rig.reader.start()
    old = [rig.next(), rig.next()]
    assert [one.item.card for one in old if isinstance(one, Discarded) and isinstance(one.item, Scan)] == [
        Card.parse("8S"),
        Card.parse("KD"),
    ]
    assert isinstance(rig.next(), ScannerRestored)
    pty.say(b"[Game]<Card:2C>\r\n")
    fresh = rig.next()
    assert isinstance(fresh, Arrived) and isinstance(fresh.item, Scan)
    assert fresh.item.card == Card.parse("2C")
    assert rig.stop() == []
    os.close(held)


def test_9_08_a_discarded_card_is_written_down_and_is_nobodys() -> None:
    table = Play().no_more_bets()
    before = table.out
    table.give(Discarded(Scan(Card.parse("8S"), Label.P1, BEE), table.now()))
    assert table.alerts == ["scan-discarded"]
    assert [type(event).TYPE for event in table.last.events] == ["scan.passed", "alert.raised"]
    assert table.state.round is not None and not table.state.round.cards
    assert table.out == before


@pytest.mark.parametrize("phase", ["idle", "betting"])
def test_9_08_a_scan_in_the_wrong_phase_is_never_p1(phase: str) -> None:
    table = Play().idle() if phase == "idle" else Play().betting()
    table.scan("8S", Label.P1)
    assert table.state.held
    assert table.state.round is None or not table.state.round.cards
    table.scan("9D", Label.P1)
    assert table.state.round is None or not table.state.round.cards
