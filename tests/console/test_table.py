"""The console at a running daemon: a shoe by keys only, two consoles, a daemon that goes and comes back."""

from __future__ import annotations

import asyncio
import signal

import pytest
from textual.events import Paste

from tablectl.console import big
from tablectl.console.app import Fault, Told
from tablectl.console.model import Send
from tests.console.shoes import RULES, play, story
from tests.console.states import PAD, event, held, state
from tests.console.terminal import COLOUR, RealTerminal
from tests.console.working import ByCommands, ByKeys, Seat
from tests.e2e.harness import BARE, SOAK, Rig

CUT_AT = 364 if SOAK else 14
ROUNDS = 66 if SOAK else 2
"""So many at least."""


@pytest.mark.soak
@pytest.mark.timeout(1200)
async def test_a_whole_shoe_by_keys_only_and_the_same_by_plain_commands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Rig("bee-tek", overrides=RULES) as rig:
        await asyncio.to_thread(rig.start)
        app = Seat(str(rig.socket_path), settles=0.0)
        async with app.run_test(size=(80, 24)) as pilot:
            keys = ByKeys(app, pilot)
            await keys.sees("NEXT: open the table")
            rounds = await play(rig, keys, cut_at=CUT_AT)
            await keys.sees("NEXT: open the table")
        letters = {key for key in keys.pressed if key not in PAD}
        assert letters <= set("borispt")  # two names, boris and pit; all else is on the number pad
        by_keys = story(rig)
        await asyncio.to_thread(rig.settle)
        rig.check_everything()
    assert rounds >= ROUNDS
    kinds = [kind.removeprefix("tablectl.").removesuffix(".v1") for kind, _ in by_keys]
    for kind in ("hand.corrected", "cut_card.drawn", "last_hand.announced", "shoe.ended", "table.closed"):
        assert kind in kinds
    assert kinds.count("dealer.changed") == 3 and kinds.count("round.resulted") == rounds
    if not SOAK:
        return
    with Rig("bee-tek", overrides=RULES) as rig:
        await asyncio.to_thread(rig.start)
        assert await play(rig, ByCommands(rig, monkeypatch), cut_at=CUT_AT) == rounds
        assert story(rig) == by_keys


async def test_two_consoles_one_in_a_real_terminal_and_a_daemon_that_is_killed_in_mid_hand() -> None:
    rules = BARE | {"betting": {"seconds": 600}}
    with Rig("bee-tek", overrides=rules) as rig:
        await asyncio.to_thread(rig.start)
        words = ("console", "--socket", str(rig.socket_path))
        with RealTerminal(*words, LANG="C", NO_COLOR="1", COLUMNS="80", LINES="24") as other:
            await asyncio.to_thread(rig.open_table, "8S TH 6D 7C 2C 9D 3H KS 4C 5C 6C 7D")
            app = Seat(str(rig.socket_path), settles=0.0)
            async with app.run_test(size=(80, 24)) as pilot:
                await _at_two_consoles(rig, app, ByKeys(app, pilot, slowly=True), other)
                keys = ByKeys(app, pilot)
                app.taken = 0
                await pilot.resize_terminal(100, 40)
                await keys.sees(lambda shown: len(shown.splitlines()) == 40)
                await keys.sees(big.draw("player draws", blocks=True)[1].rstrip())
                await pilot.resize_terminal(80, 24)
                await keys.sees(lambda shown: len(shown.splitlines()) == 24)
                await _killed(rig, app, keys)
                await _held_whatever_has_changed(rig, app, keys)
                await _wrong_pin(app, keys)


async def _at_two_consoles(rig: Rig, app: Seat, keys: ByKeys, other: RealTerminal) -> None:
    """The other one closes betting while this one asks whether to."""
    await keys.sees("NEXT: open betting")
    await keys.dealer("bets", "open")
    await keys.sees("BETS ARE OPEN")
    await keys.choose("close betting early")
    await asyncio.to_thread(other.sees, "BETS ARE OPEN: draw no card")
    await asyncio.sleep(0.5)  # a person has read it
    other.resize(20, 5)
    await asyncio.to_thread(other.sees, " BETTING  ")
    other.resize(80, 24)
    await asyncio.to_thread(other.sees, "close betting early")
    other.type("-1")
    await asyncio.to_thread(other.sees, "Nobody presses keys so fast")
    other.type(".")
    await asyncio.to_thread(other.sees, "-  close betting early")
    other.type("-")
    await asyncio.to_thread(other.sees, "Close betting now")
    await asyncio.sleep(0.1)  # no person is faster
    other.type("1")
    await asyncio.to_thread(other.sees, "OK  betting closed, round 1/1")
    await keys.sees("The table has changed since you began")
    row = rig.client.state()["row"]
    await keys.press("1")
    await keys.sees("the table has changed since")
    assert app.model.message is not None and app.model.message.kind == "bad"
    after = rig.client.state()
    assert (after["phase"], after["round"]["number"]) == ("no more bets", 1)
    assert after["row"] == row + 1  # the refusal, written down
    await asyncio.to_thread(rig.deal, 4)
    await keys.sees("NEXT: PLAYER DRAWS")
    await asyncio.to_thread(other.sees, "| 8S| | 6D| | ? |   = 4")
    await asyncio.to_thread(other.sees, "NEXT: PLAYER DRAWS")
    assert other.bytes.isascii() and not COLOUR.search(other.bytes)
    other.hang_up()
    assert await asyncio.to_thread(other.ended) == 0


async def _killed(rig: Rig, app: Seat, keys: ByKeys) -> None:
    """The daemon goes and comes back."""
    await keys.sees("NEXT: PLAYER DRAWS")
    rig.daemon.stop_somehow()
    await keys.sees("STALE")
    await keys.press("0", "1")
    await keys.sees("NOT SENT: hold; no answer for")
    assert "│ 8♠│" in keys.screen and not app.model.sending
    await asyncio.to_thread(rig.start_daemon)
    await keys.sees("The daemon is back, after")
    await keys.sees("HOLD: The controller was restarted in the middle of a round.")
    assert "STALE" not in keys.screen
    await keys.sees("cards-confirmed: ")
    await keys.pit_boss("release", "cards-confirmed")
    await keys.sees("NEXT: PLAYER DRAWS")


async def _held_whatever_has_changed(rig: Rig, app: Seat, keys: ByKeys) -> None:
    """The hand's last card falls while the list of holds stands there: nothing speaks against pressing on."""
    await keys.press("0")
    await keys.sees("Put the table on hold?")
    before = rig.client.state()["version"]
    await asyncio.to_thread(rig.deal, 1)
    await keys.sees(lambda _: app.model.seen is not None and app.model.seen.version > before)
    assert app.model.changed_since and "The table has changed" not in keys.screen
    await keys.press("1")
    await keys.answered()


async def _wrong_pin(app: Seat, keys: ByKeys) -> None:
    """It changes nothing, and is asked for again."""
    await keys.sees("resume: ")
    for label in ("resume:", "routine:", "nothing more", "pit"):
        await keys.choose(label)
    await keys.press(*"0000", "enter")
    await keys.sees("PIN of pit")
    assert "wrong name or PIN" in keys.screen
    await keys.press(*"1234", "enter")
    await keys.sees("NEXT: open betting")
    assert app.model.seen is not None and not app.model.seen.held


def test_signals_and_keys_of_a_terminal_leave_it_as_it_was() -> None:
    with RealTerminal("console", "--socket", "/nonexistent", "--language", "de", width=60) as here:
        was = here.settings()
        here.sees("Warten auf den Dienst")
        assert here.settings() != was
        here.type("\x1a\x1c\x13")  # Ctrl-Z, Ctrl-\, Ctrl-S: no key of the console
        for _ in range(5):
            here.resize(40, 6)
            here.process.send_signal(signal.SIGTSTP)
            here.stopped()
            assert here.settings() == was
            here.wipe()  # somebody else wrote on it
            here.process.send_signal(signal.SIGCONT)
            here.resize(60, 24)
            here.sees("[.] verlassen")
            assert here.settings() != was
        here.process.send_signal(signal.SIGCONT)  # it was not stopped
        here.process.send_signal(signal.SIGSTOP)  # it cannot give the terminal back
        here.stopped()
        here.wipe()
        here.process.send_signal(signal.SIGCONT)
        here.sees("[.] verlassen")
        here.process.send_signal(signal.SIGTERM)
        assert here.ended() == 0
        assert (
            here.settings() == was and b"\x1b[?1049l" in here.bytes[-60:] and b"\x1b[?25h" in here.bytes[-60:]
        )


class StoppedWhileItWrites(RealTerminal):
    """SIGUSR1, and with its next write to the terminal, the lock of its queue held, comes SIGTSTP."""

    program = (
        "-c",
        """
import os, signal
from textual.drivers._writer_thread import WriterThread
from tablectl.cli import main

due, write = [], WriterThread.write

def written(self, text):
    if due:
        due.clear()
        with self._queue.mutex:
            os.kill(os.getpid(), signal.SIGTSTP)
            os.getpid()  # here a handler of Python's has had its turn
    write(self, text)

WriterThread.write = written
signal.signal(signal.SIGUSR1, lambda *_: due.append(True))
main()
""",
    )


def test_it_can_be_stopped_in_the_middle_of_a_write() -> None:
    with StoppedWhileItWrites("console", "--socket", "/nonexistent") as here:
        was = here.settings()
        here.sees("leave")
        here.process.send_signal(signal.SIGUSR1)
        here.resize(60, 20)
        here.stopped()
        assert here.settings() == was
        here.wipe()
        here.process.send_signal(signal.SIGCONT)
        here.resize(70, 20)
        here.sees("leave")
        here.type(".")
        assert here.ended() == 0 and here.settings() == was


class WritesToTheLast(RealTerminal):
    """Something is left in the stream when the process ends."""

    program = (
        "-c",
        """
import atexit, sys
from tablectl.cli import main

atexit.register(sys.stderr.write, "x")
main()
""",
    )


def test_a_terminal_that_is_gone_is_no_failure() -> None:
    with WritesToTheLast("console", "--socket", "/nonexistent") as here:
        here.sees("leave")
        here.resize(60, 20)
        here.hang_up()
        assert here.ended() == 0


async def test_it_begins_without_a_daemon_and_is_left_by_a_key() -> None:
    app = Seat("/nonexistent", blocks=False, colours=False)
    async with app.run_test(size=(80, 24)) as pilot:
        keys = ByKeys(app, pilot)
        await keys.sees("there is no such socket")
        assert keys.screen.isascii()
        await keys.press("+")
    assert app.return_code == 0


async def test_all_have_placed_and_the_dealer_closes_early(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Send] = []
    monkeypatch.setattr("tablectl.console.app.DaemonLine.start", lambda _: None)
    monkeypatch.setattr("tablectl.console.app.DaemonLine.send", lambda _, order: sent.append(order))
    app = Seat("/nonexistent", settles=0.0)
    async with app.run_test(size=(80, 24)) as pilot:
        keys = ByKeys(app, pilot)
        for placed in (2, 3):
            told = {"shoe": 12, "round": 34, "players": 3, "placed": placed, "all": placed == 3}
            raw = state("betting", placed=told)
            app.post_message(Told(lambda model, now, raw=raw: model.told(raw, now)))  # type: ignore[misc]
            await keys.sees("ALL HAVE PLACED" if placed == 3 else "2 of 3 players have placed")
        await keys.sees("betting may be closed early, key -")
        assert sent == []
        await keys.press("-", "1")
    assert [order.name for order in sent] == ["bets close"]


async def test_a_fault_of_the_console_tells_no_pin(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr("tablectl.console.model.Model._send", fail)
    monkeypatch.setattr("tablectl.console.app.DaemonLine.start", lambda _: None)
    app = Seat("/nonexistent", settles=0.0)
    with pytest.raises(Fault, match=r"planted(?s:.*)the table goes on") as told:
        async with app.run_test(size=(80, 24)) as pilot:
            app.model = app.model.told(held("called"), 0.0).heard_event(event("x", approved_by="bo"), 0.0)
            keys = ByKeys(app, pilot)
            for label in ("resume:", "routine:", "nothing more", "bo"):
                await keys.choose(label)
            app.post_message(Paste("5"))  # what is pasted is typed by nobody
            await keys.press(*"8642")
            await pilot.press("enter")
    assert "8642" not in str(told.value)
