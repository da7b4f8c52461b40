"""Other line speeds are tried on a closed table: found, bounded, ended by `open`, and no card comes of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest
from tablectl_drivers import bee_tek, hid_pos

from tablectl.api.speeds import NOT_BACK, OPENED, SPEEDS, LineTrials, in_use
from tablectl.cards import Card
from tablectl.cli import main
from tablectl.clock import SECOND
from tablectl.config import load_config
from tablectl.events import CommandRecorded, ScanPassed
from tablectl.journal import JournalReader
from tablectl.journal.rows import decode_row
from tablectl.local import Client, NoStream
from tablectl.reader import Reader
from tablectl.reader.tap import Entry
from tablectl.reader.trial import TRYING, NotNow, Trial, Tried, Trying
from tablectl.runtime import Runtime
from tablectl.scanner import Arrival, Driver, Link, LinkFault, ScannerLost, ScannerRestored, Traits
from tablectl.table import Phase, State
from tablectl.technician import line_speeds
from tests.api.test_app import Bench
from tests.descriptors import descriptors, settled_descriptors
from tests.e2e.harness import BARE, PIT_BOSS, until
from tests.fixed_speed import Shoe
from tests.reader.test_thread import Lines, PipeLink, World
from tests.reader.test_thread import Rig as ReaderRig

# --- the daemon, end to end -------------------------------------------------------------------------------


class Table:
    """A closed table at 9600 baud, and its daemon in this process."""

    def __init__(self, folder: Path, device: str) -> None:
        folder.mkdir(exist_ok=True)
        self.config = folder / "T09.toml"
        self.config.write_text(
            f'[table]\nid = "T09"\ntest = true\n[scanner]\ndriver = "bee-tek"\ndevice = "{device}"\n'
            f'[journal]\npath = "{folder}/T09.db"\n[api]\nsocket = "{folder}/T09.sock"\n'
        )
        self.runtime = Runtime(load_config(self.config))
        self.runtime.start()
        self.client = Client(folder / "T09.sock")
        self.journal = folder / "T09.db"

    def state(self) -> dict[str, Any]:
        return self.client.state()

    def trial(self, **body: Any) -> Generator[Entry, None, None]:
        for text in self.client.events("/v1/raw/speeds", {"id": uuid.uuid4().hex} | body):
            yield json.loads(text)

    def back(self) -> None:
        """Wait until the scanner is there, at its own speed."""
        until(lambda: self.state()["scanner"]["up"], "the scanner is back")

    def refused(self) -> tuple[int, str]:
        with pytest.raises(NoStream) as refusal:
            next(self.trial())
        return refusal.value.status, str(refusal.value.answer["error"])

    def command(self, command: str, **args: str) -> tuple[int, dict[str, Any]]:
        return self.client.post("/v1/commands", {"id": uuid.uuid4().hex, "command": command, "args": args})

    def events(self) -> list[Any]:
        with contextlib.closing(JournalReader.open(self.journal)) as reader:
            return [decode_row(row)[0] for row in reader.every_row()]

    def stop(self) -> None:
        assert self.runtime.stop(), "every thread ends in time"
        assert not self.runtime.incidents.crashed.is_set()


@dataclass
class Scene:
    """A table with a shoe that speaks at one speed only, and only when it is told to."""

    shoe: Shoe
    table: Table
    speaks: threading.Event

    @property
    def line(self) -> int | None:
        return self.shoe.line


def scene_at(folder: Path, speed: int, *, once: bool = False) -> Iterator[Scene]:
    """``once``: a card that is understood is the last; it comes when the line is believed."""
    encoder, speaks, since = bee_tek.Encoder(), threading.Event(), 0.0

    def say() -> bytes:
        nonlocal since
        if not speaks.is_set():
            return b""
        if once and shoe.line == speed:
            since = since or time.monotonic()
            if time.monotonic() < since + 0.1:
                return b""
            speaks.clear()
        return encoder.card(Card.parse("8S"))

    shoe = Shoe(speed, say)
    table = Table(folder, shoe.device)
    try:
        table.back()
        yield Scene(shoe, table, speaks)
    finally:
        table.stop()
        shoe.close()


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """The shoe speaks at 19200 baud."""
    monkeypatch.setattr(Trial, "each", SECOND // 2)
    yield from scene_at(tmp_path / "s", 19200, once=True)


@pytest.fixture
def right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """The shoe speaks at 9600 baud, as the configuration says; a trial takes long."""
    monkeypatch.setattr(Trial, "each", 20 * SECOND)
    yield from scene_at(tmp_path / "s", 9600)


def of_kind(records: list[Entry], kind: str) -> list[Entry]:
    return [record for record in records if record["kind"] == kind]


def test_the_speed_that_fits_is_found_and_nothing_of_it_reaches_the_table(scene: Scene) -> None:
    before = scene.table.state()["scanner"]
    records = []
    for record in scene.table.trial():
        records.append(record)
        if record["kind"] == "trying":
            scene.speaks.set()
            assert scene.table.runtime.unhealthy() is None
            scene.table.runtime.watch()
            during = scene.table.state()
            assert (during["scanner"]["up"], during["alerts"]) == (False, [])
            assert during["scanner"]["why"] == TRYING
    assert scene.line == 9600, "at its own speed when the last word is said"
    assert [record["speed"] for record in of_kind(records, "trying")] == [4800, 19200]
    wrong, found = of_kind(records, "tried")
    assert wrong["bytes"] > 0 and (wrong["speed"], wrong["frames"], wrong["fault"]) == (4800, 0, "")
    assert found["frames"] == 1 and found["bytes"] > 0
    assert of_kind(records, "item")[-1]["item"]["card"] == "8S"
    assert records[-1] == {"kind": "over", "fits": 19200, "text": ""}

    scene.table.runtime.watch()
    state = scene.table.state()
    assert state["alerts"] == [] and state["phase"] == "closed"
    same = ("identity", "where", "outages", "bytes", "frames", "cards", "rejects", "up", "health")
    assert {key: state["scanner"][key] for key in same} == {key: before[key] for key in same}
    command, *others = [event for event in scene.table.events() if isinstance(event, CommandRecorded)]
    assert not others
    assert (command.command, command.accepted, command.uid) == (SPEEDS, True, os.getuid())
    assert (command.person, command.supervisor) == (None, False)
    assert "4800, 19200" in command.answer
    assert not [event for event in scene.table.events() if isinstance(event, ScanPassed) and event.card]


def test_afterwards_a_card_is_a_card(right: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trial, "each", SECOND // 20)
    assert list(right.table.trial())[-1] == {"kind": "over", "fits": None, "text": ""}
    right.speaks.set()
    until(lambda: right.table.state()["scanner"]["cards"] > 0, "cards are counted again")
    right.speaks.clear()

    def written() -> list[Any]:
        return [
            event for event in right.table.events() if isinstance(event, ScanPassed) and event.card == "8S"
        ]

    until(written, "the card is in the journal")


def test_opening_the_table_ends_a_trial_at_once_and_the_next_card_is_heard(right: Scene) -> None:
    with contextlib.closing(right.table.trial()) as records:
        assert next(records)["kind"] == "trying"
        until(lambda: right.line == 4800, "another speed is tried")
        begun = time.monotonic()
        status, answer = right.table.command("open")
        assert status == 200, answer
        assert time.monotonic() - begun < 3
        there = right.table.runtime.reader.presence
        assert right.line == 9600 and there.connected, "before `open` is answered"
        right.speaks.set()
        assert list(records)[-1] == {"kind": "over", "fits": None, "text": OPENED}
    until(lambda: right.table.state()["scanner"]["cards"] > 0, "the card is heard")
    right.speaks.clear()
    assert right.table.state()["phase"] == "no shoe"


def test_a_connection_that_breaks_ends_the_trial(right: Scene) -> None:
    records = right.table.trial()
    assert next(records)["kind"] == "trying"
    until(lambda: right.line == 4800, "another speed is tried")
    records.close()
    right.table.back()
    assert right.line == 9600


def test_a_console_that_is_killed_ends_the_trial(right: Scene) -> None:
    # The daemon hears rubbish: at 9600 baud too, for the shoe speaks at no speed at all.
    right.shoe._speed = 1
    right.speaks.set()
    command = [sys.executable, "-m", "tablectl.cli", "scan", "--seconds", "0.5"]
    with subprocess.Popen(
        [*command, "--socket", right.table.client.path],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as console:
        assert console.stderr is not None
        assert "trying 4800 baud" in console.stderr.readline()
        until(lambda: right.line == 4800, "another speed is tried")
        console.send_signal(signal.SIGKILL)
    right.speaks.clear()
    right.table.back()
    assert right.line == 9600


def test_one_trial_at_a_time(right: Scene) -> None:
    with contextlib.closing(right.table.trial()) as records:
        assert next(records)["kind"] == "trying"
        status, why = right.table.refused()
        assert status == 409 and "already" in why
        until(lambda: right.line == 4800, "the first one goes on")
    right.table.back()
    with contextlib.closing(right.table.trial()) as records:
        assert next(records)["kind"] == "trying"


def test_only_while_the_table_is_closed(right: Scene) -> None:
    assert right.table.command("open")[0] == 200
    status, why = right.table.refused()
    assert status == 409 and "only while the table is closed, and it is not (no shoe)" in why
    assert right.table.command("close")[0] == 200
    with contextlib.closing(right.table.trial()) as records:
        assert next(records)["kind"] == "trying"


def test_scan_has_the_daemon_try_them_and_says_what_fits(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    scene.speaks.set()
    assert main(("scan", "--socket", scene.table.client.path, "--seconds", "0.5")) == 1
    shown = capsys.readouterr()
    assert shown.out.splitlines()[-1] == "19200 baud fits: write baud = 19200 into [scanner]."
    assert "4800 baud: " in shown.err and "trying 19200 baud for 0.5 s: draw cards now" in shown.err
    assert scene.line == 9600
    assert scene.table.command("open")[0] == 200
    scene.speaks.set()
    assert main(("scan", "--socket", scene.table.client.path, "--seconds", "0.5")) == 1
    out = capsys.readouterr().out
    assert "were not tried: other line speeds are tried only while the table is closed" in out
    assert "systemctl stop tablectl@T09" in out


@pytest.mark.parametrize(
    ("device", "says"),
    [("tcp://127.0.0.1:9", "set in the serial server"), ("/dev/ttyNONE", "the scanner is not there")],
)
def test_no_trial_without_a_line_of_ones_own(tmp_path: Path, device: str, says: str) -> None:
    table = Table(tmp_path / "t", device)
    try:
        status, why = table.refused()
        assert status == 409 and says in why
        assert not [event for event in table.events() if isinstance(event, CommandRecorded)]
        assert table.command("open")[0] == 200, "and nothing is in its way"
    finally:
        table.stop()


def test_a_pit_boss_is_let_in_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trial, "each", SECOND // 20)
    asked = {"person": PIT_BOSS.name, "pin": PIT_BOSS.pin, "reason": "device: dead shoe"}
    with Bench("bee-tek", overrides=BARE) as bench:

        def trial(**body: Any) -> list[str]:
            return list(bench.client.events("/v1/raw/speeds", {"id": "same"} | body))

        for wrong, status in (
            (asked | {"pin": "0000"}, 403),
            (asked | {"reason": "because"}, 400),
            ({"pin": "1"}, 400),
            ({"id": ""}, 400),
            ({"command": "open"}, 400),
        ):
            with pytest.raises(NoStream) as refusal:
                trial(**wrong)
            assert refusal.value.status == status, wrong
        for _ in range(2):
            assert json.loads(trial(**asked)[-1])["kind"] == "over"
        written = [e for e in bench.journal_events() if isinstance(e, CommandRecorded) and e.accepted]
        assert [(event.command, event.person, event.supervisor) for event in written] == [
            (SPEEDS, PIT_BOSS.name, True)
        ] * 2, "each trial is written down, also one under an id that was used"


# --- the claim --------------------------------------------------------------------------------------------


class Asked:
    """Stands for a reader that takes every trial and never begins."""

    def try_speeds(self, trial: Trial) -> None:
        trial.asked = True


def idle(**callbacks: Callable[..., None]) -> Trial:
    nothing: Any = lambda *_: None  # noqa: E731
    return Trial((4800,), **({"tell": nothing, "heard": nothing, "arrived": nothing} | callbacks))


async def test_a_table_opened_while_a_trial_is_still_being_written_down_is_not_tried_on() -> None:
    trials = LineTrials(cast(Reader, Asked()))
    assert await trials.end() is None, "no trial: nothing to wait for"
    with trials.claimed(idle()) as trial:
        assert trials.busy
        opening = asyncio.create_task(trials.end())
        await asyncio.sleep(0)
        assert not opening.done(), "`open` waits"
        assert trials.start(trial) == OPENED
    assert await opening is None
    assert not trial.asked and not trials.busy


async def test_open_is_refused_when_the_scanner_does_not_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablectl.api.speeds.BACK_WITHIN", 0.05)
    trials = LineTrials(cast(Reader, Asked()))
    with trials.claimed(idle()) as trial:
        assert trials.start(trial) is None
        assert await trials.end() == NOT_BACK
    assert trials.busy, "until the reader says so"
    trial.over.set()
    assert await trials.end() is None and not trials.busy


def test_what_the_table_needs_its_scanner_for() -> None:
    closed = State()
    assert in_use(closed, None) is None
    assert in_use(closed, 7), "a shoe that is decided and not yet committed"
    for phase in Phase:
        assert (in_use(replace(closed, phase=phase), None) is None) == (phase is Phase.CLOSED)


def test_where_there_is_no_speed_to_try() -> None:
    assert line_speeds.no_speed(bee_tek.DRIVER, "/dev/ttyUSB0") is None
    assert "serial server" in str(line_speeds.no_speed(bee_tek.DRIVER, "tcp://192.0.2.1:4001"))
    assert "no serial line" in str(line_speeds.no_speed(hid_pos.DRIVER, "usb:0c2e:0b61:1"))
    assert line_speeds.others(hid_pos.DRIVER, {}) == ()
    assert line_speeds.others(bee_tek.DRIVER, {}) == (4800, 19200, 38400, 57600, 115200)
    assert line_speeds.others(bee_tek.DRIVER, {"baud": 4800})[0] == 9600


# --- the reader -------------------------------------------------------------------------------------------


class Port(PipeLink):
    """A link that knows its speed."""

    def __init__(self, world: World, speed: int) -> None:
        super().__init__(world)
        self.speed = speed


class Bauds(World):
    """A device on a line: what is said at each speed as soon as it is opened."""

    def __init__(self, **said: bytes) -> None:
        super().__init__()
        self.said = {int(speed[1:]): data for speed, data in said.items()}
        self.opened: list[int] = []
        self.identity = "pipe"
        self.told: list[Trying | Tried] = []
        self.heard: list[bytes] = []
        self.arrived: list[Arrival] = []
        self.driver = Driver(
            "lines", "", lambda _: Lines(), self.open, lambda _: Traits(), lambda _: None, speeds=(9600,)
        )

    def open(self, device: str, settings: Any) -> Link:
        speed = settings.get("baud", 9600)
        self.opened.append(speed)
        if self.open_faults:
            raise self.open_faults.pop(0)
        self.link = link = Port(self, speed)
        link.identity = self.identity
        # Behind the moment in which what comes was still heard at the speed before.
        threading.Timer(0.08, self._say, (link, self.said.get(speed, b""))).start()
        return link

    def _say(self, link: Port, data: bytes) -> None:
        with contextlib.suppress(OSError):
            os.write(link.writer, data)

    def trial(self, *speeds: int) -> Trial:
        return Trial(
            speeds,
            tell=lambda step, at: self.told.append(step),
            heard=lambda data, at: self.heard.append(data),
            arrived=self.arrived.append,
        )


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trial, "each", SECOND // 2)


def ask(rig: ReaderRig, trial: Trial) -> None:
    """The table hears of a scanner a moment before a trial is taken."""

    def taken() -> bool:
        with contextlib.suppress(NotNow):
            rig.reader.try_speeds(trial)
        return trial.asked

    until(taken, "the trial is taken")


def ran(rig: ReaderRig, trial: Trial) -> Trial:
    ask(rig, trial)
    assert trial.over.wait(5)
    return trial


def test_a_trial_answers_the_device_and_goes_back_to_its_own_speed(quick: None) -> None:
    world = Bauds(_4800=b"\xa5\x5a\n", _19200=b"8S\n")
    rig = ReaderRig(world.driver, "d").started()
    counters = rig.reader.counters
    trial = ran(rig, world.trial(4800, 19200, 38400))
    assert (trial.fits, trial.stopped, trial.lost) == (19200, "", "")
    assert world.told == [
        Trying(4800, 0.5),
        Tried(4800, 3, 0, 1),
        Trying(19200, 0.5),
        Tried(19200, 3, 1, 0),
    ]
    assert world.opened == [9600, 4800, 19200, 9600]
    assert world.heard == [b"\xa5\x5a\n", b"8S\n"] and len(world.arrived) == 2
    assert rig.reader.counters == counters
    assert rig.stop() == [], "the table hears nothing of it, not even that the scanner was away"
    assert world.log[-1] == "close"


def test_what_waited_in_the_line_was_heard_at_another_speed(quick: None) -> None:
    world = Bauds()
    world._say = lambda link, data: None  # type: ignore[method-assign]
    rig = ReaderRig(world.driver, "d").started()
    plain = world.open

    def full(device: str, settings: Any) -> Link:
        link = plain(device, settings)
        assert isinstance(link, Port)
        if link.speed != 9600:
            os.write(link.writer, b"8S\n")
        return link

    rig.reader._opening = replace(rig.reader._opening, driver=replace(world.driver, open=full))
    assert ran(rig, world.trial(4800)).fits is None
    assert world.told[-1] == Tried(4800)
    rig.stop()


def test_a_port_that_does_not_open_at_a_speed_is_no_lost_scanner(quick: None) -> None:
    world = Bauds(_19200=b"8S\n")
    rig = ReaderRig(world.driver, "d").started()
    world.open_faults = [LinkFault("no such speed")]
    assert ran(rig, world.trial(4800, 19200)).fits == 19200
    assert world.told[1] == Tried(4800, fault="no such speed")
    assert rig.stop() == []


def test_a_scanner_that_does_not_come_back_is_told_lost(quick: None) -> None:
    world = Bauds()
    rig = ReaderRig(world.driver, "d").started()
    world.open_faults = [LinkFault("unplugged"), LinkFault("unplugged")]
    trial = ran(rig, world.trial(4800))
    assert trial.lost == "unplugged"
    assert isinstance(rig.next(), ScannerLost)
    assert isinstance(rig.next(), ScannerRestored)
    with pytest.raises(NotNow, match="not there"):
        gone = ReaderRig(world.driver, "d")
        gone.reader.try_speeds(world.trial(4800))
    rig.stop()


def test_another_scanner_in_its_place_after_a_trial_is_told(quick: None) -> None:
    world = Bauds()
    rig = ReaderRig(world.driver, "d").started()
    world.identity = "another"
    ran(rig, world.trial(4800))
    told = rig.next()
    assert isinstance(told, ScannerRestored) and told.identity == "another"
    rig.stop()


def test_a_trial_is_bounded_however_many_speeds_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trial, "each", 3 * SECOND // 10)
    monkeypatch.setattr(Trial, "whole", SECOND // 2)
    world = Bauds()
    rig = ReaderRig(world.driver, "d").started()
    trial = ran(rig, world.trial(*range(100, 200)))
    assert trial.stopped == "its time was over"
    given = [step.seconds for step in world.told if isinstance(step, Trying)]
    assert given[0] == 0.3 and sum(given) <= 0.5
    assert world.opened[-1] == 9600
    rig.stop()


@pytest.mark.parametrize("how", ["abort", "stop"])
def test_a_trial_ends_at_once(how: str) -> None:
    world = Bauds()
    rig = ReaderRig(world.driver, "d").started()
    trial = world.trial(4800, 19200)
    ask(rig, trial)
    until(lambda: world.opened[-1] == 4800, "it has begun")
    with pytest.raises(NotNow, match="being tried"):
        rig.reader.try_speeds(world.trial(4800))
    begun = time.monotonic()
    if how == "abort":
        trial.abort("enough")
        assert trial.over.wait(15)
        assert world.opened == [9600, 4800, 9600] and rig.reader.presence.connected
    assert rig.stop() == []
    assert time.monotonic() - begun < 2
    assert trial.over.is_set()
    assert world.log[-1] == "close"


def test_a_beep_during_a_trial_finds_the_line_busy() -> None:
    world = Bauds()
    rig = ReaderRig(world.driver, "d").started()
    trial = world.trial(4800)
    ask(rig, trial)
    until(lambda: world.opened[-1] == 4800, "it has begun")
    assert rig.reader.say(b"beep") is False
    trial.abort("enough")
    assert trial.over.wait(15)
    assert rig.reader.say(b"beep") is True
    rig.stop()


def test_trials_leave_no_descriptor_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trial, "each", SECOND // 1000)
    world = Bauds()
    world._say = lambda link, data: None  # type: ignore[method-assign]
    rig = ReaderRig(world.driver, "d").started()
    before = settled_descriptors()
    for _ in range(20):
        assert not ran(rig, world.trial(4800, 19200, 38400)).stopped
    assert len(world.opened) == 1 + 20 * 4
    assert descriptors() == before
    rig.stop()
