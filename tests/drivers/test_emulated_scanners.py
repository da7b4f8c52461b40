"""Emulated scanners of codes: what they say and hear, and that reader and driver count each card once."""

from __future__ import annotations

import os
import select
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tablectl_drivers import ssi_wire as wire
from tablectl_drivers.emulated import barcode, rfid, zebra_ssi
from tablectl_drivers.emulated.port import LEAST_PATIENCE
from tablectl_drivers.emulated.scanner import EmulatedScanner
from tablectl_drivers.zebra_ssi import resent

from tablectl.cards import DECK, Card
from tablectl.emulation import EmulatedShoe, Emulator
from tablectl.plugins import load_driver, load_emulator
from tablectl.profiles import config_dir
from tablectl.scanner import DeviceEvent, Scan
from tablectl.scanner_setup import resolve_paths
from tests.descriptors import settled_descriptors
from tests.drivers.contract import CARDS, TAGGED
from tests.drivers.test_emulated import Rig

EMULATORS = {emulator.name: emulator for emulator in (barcode.EMULATOR, rfid.EMULATOR, zebra_ssi.EMULATOR)}
SETTINGS: dict[str, dict[str, Any]] = {
    "barcode": CARDS | {"bounce_ms": 0},
    "rfid": TAGGED,
    "zebra-ssi": CARDS | {"bounce_ms": 0},
}
HAND = [Card.parse(word) for word in ["8S", "TH", "TH", "AC", "5D", "KC"]]

each = pytest.mark.parametrize("name", sorted(EMULATORS))


def made(name: str, **options: Any) -> EmulatedScanner:
    scanner = EMULATORS[name].make(**({"settings": SETTINGS[name], "speed": 100.0} | options))
    assert isinstance(scanner, EmulatedScanner)
    return scanner


class Line:
    """The far end of an emulated scanner's pseudo-terminal."""

    def __init__(self, shoe: EmulatedShoe) -> None:
        self._fd = os.open(shoe.device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)

    def read(self, size: int, seconds: float = 3.0) -> bytes:
        """``size`` bytes, fewer if they do not come in time."""
        got = b""
        until = time.monotonic() + seconds
        while len(got) < size and (left := until - time.monotonic()) > 0:
            if select.select([self._fd], [], [], left)[0]:
                got += os.read(self._fd, size - len(got))
        return got

    def write(self, data: bytes) -> None:
        os.write(self._fd, data)

    def close(self) -> None:
        os.close(self._fd)


@pytest.fixture
def wired() -> Iterator[Any]:
    """A scanner by name and options, loaded with a hand, and the line to it."""
    made_here: list[Any] = []

    def setup(name: str, **options: Any) -> tuple[EmulatedScanner, Line]:
        scanner = made(name, **options)
        scanner.load(HAND)
        line = Line(scanner)
        made_here.extend((line, scanner))
        return scanner, line

    yield setup
    for one in made_here:
        one.close()


# --- through the real reader and driver --------------------------------------------------------------


@pytest.fixture
def rigs() -> Iterator[Any]:
    running: list[Rig] = []

    def setup(name: str, cards: list[Card], settings: dict[str, Any] | None = None, **options: Any) -> Rig:
        settings = SETTINGS[name] | (settings or {})
        scanner = made(name, settings=settings, **options)
        scanner.load(cards)
        rig = Rig(scanner, load_driver(name), settings)
        running.append(rig)
        return rig

    yield setup
    for rig in running:
        rig.close()


def read_off(rig: Rig, count: int) -> tuple[list[Card | None], Counter[str]]:
    """The cards that arrive for ``count`` drawn, and how many items of other kinds."""
    for _ in range(count):
        rig.shoe.draw()
    items = rig.items()
    others = [one for one in items if not isinstance(one, Scan)]
    kinds = Counter(one.kind.value if isinstance(one, DeviceEvent) else "reject" for one in others)
    return [item.card for item in items if isinstance(item, Scan)], kinds


@each
@pytest.mark.parametrize("wire_of", ["pty", "tcp"])
def test_every_card_arrives_once(name: str, wire_of: str, rigs: Any) -> None:
    rig = rigs(name, HAND, listen=0 if wire_of == "tcp" else None)
    assert read_off(rig, len(HAND)) == (HAND, Counter())


def test_a_scanner_that_waits_for_answers_loses_nothing_on_a_bad_line(rigs: Any) -> None:
    """Only what its protocol cannot mend is lost: here there are five tries."""
    cards = list(DECK[::3])
    rig = rigs("barcode", cards, {"host_ack": True}, faults=["garble:4", "split:3"], seed=5)
    found, kinds = read_off(rig, len(cards))
    assert found == cards
    assert kinds["reject"] > 2 and set(kinds) == {"reject"}


def test_an_ssi_scanner_sends_again_what_was_damaged_or_lost(rigs: Any) -> None:
    cards = list(DECK[::4])
    rig = rigs("zebra-ssi", cards, faults=["garble:5", "drop:8", "split:3"], seed=2)
    found, kinds = read_off(rig, len(cards))
    assert found == cards
    assert kinds["reject"]


def test_a_card_that_lies_on_the_reader_is_one_card(rigs: Any) -> None:
    rig = rigs("rfid", HAND, speed=1.0)
    assert read_off(rig, 3) == (HAND[:3], Counter())


@each
def test_an_unreadable_card_is_silence(name: str, rigs: Any) -> None:
    rig = rigs(name, HAND, faults=["unreadable:1"])
    assert read_off(rig, 2) == ([], Counter())


# --- on the wire ---------------------------------------------------------------------------------------


def test_an_ssi_scanner_tries_three_times_and_marks_it(wired: Any) -> None:
    scanner, line = wired("zebra-ssi")
    scanner.draw()
    first = line.read(11)
    assert first[1:4] == bytes((wire.DECODE_DATA, wire.SCANNER, 0))
    assert line.read(22, LEAST_PATIENCE * 4) == resent(first) * 2
    assert line.read(1, LEAST_PATIENCE * 2) == b""


def test_an_ssi_scanner_obeys_ack_nak_and_beep(wired: Any) -> None:
    scanner, line = wired("zebra-ssi")
    scanner.draw()
    scanner.draw()
    first = line.read(11)
    line.write(wire.RESEND)
    assert line.read(11) == resent(first)
    line.write(wire.ACK[:3])
    line.write(wire.ACK[3:])
    second = line.read(11)
    assert second[3] == 0 and second != first
    line.write(wire.DENIED)  # do not send it again
    line.write(wire.packet(wire.BEEP, b"\0"))
    assert line.read(6) == wire.packet(wire.CMD_ACK, source=wire.SCANNER)
    assert scanner.heard.endswith(wire.packet(wire.BEEP, b"\0"))


def test_a_bar_code_scanner_obeys_15_and_goes_on_after_06_or_silence(wired: Any) -> None:
    scanner, line = wired("barcode", settings=CARDS | {"host_ack": True})
    for _ in range(3):
        scanner.draw()
    assert line.read(6) == b"1080\r\n"
    line.write(b"\x15")
    assert line.read(6) == b"1080\r\n"
    line.write(b"\x06")
    assert line.read(6) == b"2100\r\n"
    # No answer: the second card is given up, not said again; the third follows.
    assert line.read(6, LEAST_PATIENCE * 3) == b"2100\r\n"
    line.write(b"\x06")
    scanner.flush()
    assert line.read(1, 0.05) == b""


def test_without_host_ack_a_bar_code_scanner_waits_for_nothing(wired: Any) -> None:
    scanner, line = wired("barcode")
    for _ in range(3):
        scanner.draw()
    assert line.read(18, 0.25) == b"1080\r\n2100\r\n2100\r\n"


def test_a_tag_is_said_as_long_as_it_lies_there(wired: Any) -> None:
    scanner, line = wired("rfid")
    scanner.draw()
    scanner.flush()
    frame = line.read(14)
    assert frame[:1] + frame[-1:] == b"\x02\x03"
    assert line.read(200, 0.1) == frame * 4


def test_each_physical_card_comes_out_of_a_shoe_once(wired: Any) -> None:
    scanner, line = wired("rfid", speed=100_000.0)
    for _ in range(2):
        scanner.load(DECK * 8)
        uids = Counter()  # type: ignore[var-annotated]
        for _ in range(26):
            for _ in range(16):
                scanner.draw()
            scanner.flush()
            said = line.read(16 * 5 * 14)
            uids.update(said[i : i + 14] for i in range(0, len(said), 14))
        assert (len(uids), set(uids.values())) == (416, {5})


def test_a_shoe_the_decks_cannot_fill_is_refused(wired: Any) -> None:
    scanner, _ = wired("rfid")
    with pytest.raises(ValueError, match=r"9 AS, but .* 8"):
        scanner.load([Card.parse("AS")] * 9)
    assert scanner.left == len(HAND)


# --- making and leaving ----------------------------------------------------------------------------------


@each
def test_what_it_needs_reads_it(name: str) -> None:
    """The settings an emulator names are lawful for its driver, also at the demo's pace."""
    emulator, driver = load_emulator(name), load_driver(name)
    for speed in (1.0, 50.0, 1000.0):
        settings = resolve_paths(driver, emulator.settings_at(speed), config_dir())
        driver.check(settings)
        emulator.make(settings=settings).close()


def test_times_and_nothing_else_are_divided_by_the_speed() -> None:
    assert barcode.EMULATOR.settings_at(10) == {"cards": "suit-rank", "bounce_ms": 30}
    # A tag shows which card it is: how fast the cards come does not matter to it, how fast shoes come does.
    assert rfid.EMULATOR.settings_at(10) == {"cards": "rfid-example", "bounce_ms": 300, "again_minutes": 1}
    assert Emulator("x", "", lambda: None).settings_at(10) == {}  # type: ignore[arg-type,return-value]


@each
def test_bad_settings_leave_nothing(name: str, tmp_path: Path) -> None:
    for bad in ({}, {"cards": "/none.toml"}):
        with pytest.raises(ValueError, match="cards"):
            made(name, link=str(tmp_path / "shoe"), settings=bad)
    assert list(tmp_path.iterdir()) == []


@each
def test_opened_and_closed_leave_no_descriptor(name: str) -> None:
    made(name).close()
    before = settled_descriptors()
    for i in range(4):
        scanner = made(name, listen=0 if i % 2 else None)
        scanner.load(HAND)
        scanner.draw()
        scanner.hang_up()
        scanner.plug_in()
        scanner.close()
        scanner.close()
    assert settled_descriptors() == before
