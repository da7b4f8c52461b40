"""The display with everything against it: asleep, cut off, crowded, under a deal face down, corrected."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from tests.browser import Browser
from tests.e2e.harness import QUICK
from tests.web.tables import WINDOW, ShownTable, check_boards, check_hands

CARDS = "2C 9D 3H KS 9S 2H KD 3C 2D 3D 4D 5D 8S 9H 8H 9C 6S 7H 6D 7D"
TIE = "2C 9D 3H KS 9S 8H KD AC 2S 9D 3H KC 2C 9D 3H KS 9S 2H KD 3C"
"""Banker, a tie of nines, Banker, Banker, Player."""
LONG = WINDOW | {"betting": {"seconds": 6.0}}
FACE = re.compile(rb'"[2-9TJQKA][SHDC]"')


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as made:
        yield made


@contextlib.contextmanager
def shown(browser: Browser, cards: str = CARDS, **options: object) -> Iterator[ShownTable]:
    with ShownTable(**options) as table:  # type: ignore[arg-type]
        table.start()
        table.open_table(cards)
        browser.open(table.address)
        browser.wait_text("THE NEXT ROUND BEGINS SOON", "#band")
        yield table


# --- the countdown ------------------------------------------------------------------------------------

_COUNTED = """
window.counted = [];
const ring = document.getElementById("countdown");
const note = () => window.counted.push(
  [ring.hidden ? null : ring.querySelector(".seconds").textContent, performance.now()]);
const all = {subtree: true, childList: true, attributes: true, characterData: true};
new MutationObserver(note).observe(document.getElementById("display"), all);
note();
"""
"""From now on the page writes down each second it shows."""


_SLEPT = """
const now = Date.now;
Date.now = () => now() + 60000;
window.woke = performance.now();
"""


def check_seconds(browser: Browser, seconds: int, ended: float) -> None:
    """What was counted went down from ``seconds`` at most, and was over at ``ended`` (the page's own ms)."""
    counted = browser.run("return window.counted")
    assert all(text is None or text.isdecimal() for text, _ in counted), counted
    shown = [(int(text), at) for text, at in counted if text is not None]
    assert shown, "nothing was counted"
    assert all(0 <= number <= seconds for number, _ in shown), shown
    assert [number for number, _ in shown] == sorted((number for number, _ in shown), reverse=True)
    assert max(at for _, at in shown) <= ended, "time left was shown after the close"


def test_the_countdown_holds_when_the_daemon_is_killed(browser: Browser) -> None:
    """A page that tries to reach the table anew has no new clock yet, and keeps the one it had."""
    with shown(browser, overrides=LONG) as table:
        table.do("bets open")
        browser.wait_text("PLACE YOUR BETS", "#band")
        browser.run(_COUNTED)
        table.daemon.end(signal.SIGKILL)
        browser.wait_text("NO CONNECTION TO THE TABLE", "#band", timeout=12.0)
        check_seconds(browser, 6, browser.run("return performance.now()"))


def test_a_machine_that_slept_shows_no_time_left(browser: Browser) -> None:
    """While it sleeps its own clock stands still: the wall clock tells that it did."""
    with shown(browser, overrides=LONG) as table:
        table.do("bets open")
        browser.wait_text("PLACE YOUR BETS", "#band")
        table.daemon.send(signal.SIGSTOP)  # nothing that comes puts it right
        try:
            browser.run(_COUNTED + _SLEPT)
            browser.wait_text("NO CONNECTION TO THE TABLE", "#band", timeout=2.0)
            assert not browser.shown("#countdown")
            check_seconds(browser, 6, browser.run("return window.woke + 500"))
        finally:
            table.daemon.send(signal.SIGCONT)
        browser.wait_text("NO MORE BETS", "#band", timeout=10.0)


def test_a_tab_that_was_frozen_shows_nothing_of_before(browser: Browser) -> None:
    """What was on the way to it meanwhile is of before too."""
    with shown(browser, overrides=LONG) as table:
        table.do("bets open")
        browser.wait_text("PLACE YOUR BETS", "#band")
        browser.command("Page.setWebLifecycleState", state="frozen")
        time.sleep(0.2)
        table.do("bets close")
        table.deal(4)
        table.finish()
        table.do("bets open")
        time.sleep(5.5)
        browser.command("Page.setWebLifecycleState", state="active")
        browser.wait_text("NO MORE BETS", "#band", timeout=3.0)
        table.deal(4)
        table.finish()
        browser.wait_text("PLAYER WINS", "#band")
        check_boards(browser, table, 1)


# --- the boards ----------------------------------------------------------------------------------------


def test_the_last_tie_is_void_and_its_line_goes(browser: Browser) -> None:
    with shown(browser, TIE) as table:
        for _ in range(2):
            table.play_round()
        browser.wait_text("TIE", "#band")
        check_boards(browser, table, 1)
        assert len(browser.all("#big .slash.tie")) == 1
        table.do("void", supervised=True, round="1/2")
        browser.wait_text("ROUND VOID", "#band")
        check_boards(browser, table, 1)
        assert not browser.all("#big .slash.tie") and len(browser.all("#big .ring")) == 1
        table.play_round()
        check_boards(browser, table, 1)
        table.do("void", supervised=True, round="1/1")
        check_boards(browser, table, 1)


def test_a_new_shoe_begins_with_empty_boards(browser: Browser) -> None:
    with shown(browser) as table:
        table.play_round()
        table.play_round()
        check_boards(browser, table, 1)
        table.do("shoe end", supervised=True)
        browser.wait_text("Shuffle", "#band")
        check_boards(browser, table, 1, predictions=False)
        table.new_shoe(CARDS)
        browser.wait(lambda: "Shoe 2" in browser.text("#name"), "the new shoe")
        check_boards(browser, table, 2)
        assert not browser.all("#boards .mark")
        table.play_round()
        browser.wait_text("BANKER WINS", "#band")
        check_boards(browser, table, 2)


# --- what is told to whom --------------------------------------------------------------------------------


class Listener:
    """Somebody who reads every byte of ``/v1/display/events``."""

    def __init__(self, table: ShownTable) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", table.display_port, timeout=10)
        self._connection.request("GET", "/v1/display/events")
        self.response = self._connection.getresponse()
        self.heard = b""

    def follow(self) -> threading.Thread:
        def read() -> None:
            with contextlib.suppress(OSError, http.client.HTTPException, AttributeError, ValueError):
                while part := self.response.read1():
                    self.heard += part

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        return thread

    def begin(self) -> bytes:
        """What a connection begins with."""
        while b"event: table" not in self.heard:
            self.heard += self.response.read1()
        return self.heard

    def close(self) -> None:
        sock = self._connection.sock
        if sock is not None:
            sock.close()
        self.response.close()
        self._connection.close()


def everything(table: ShownTable) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", table.display_port, timeout=5)
    try:
        connection.request("GET", "/v1/display")
        return connection.getresponse().read()
    finally:
        connection.close()


def test_no_face_is_told_before_the_turn_and_no_burn_card_ever(browser: Browser) -> None:
    """Not to a page that was there, not to one that comes in mid-hand, not by the whole of it."""
    rules = QUICK | {"shoe": {"inspection": False}, "dealing": {"deal": "face-down"}}
    with ShownTable(overrides=rules) as table:
        table.start()
        listener = Listener(table)
        thread = listener.follow()
        table.open_table("4H 5H 6H 7H 8C 9C " + CARDS)
        for _ in range(6):
            table.shoe.draw(burn=True)
            table.shoe.flush()
        table.phase("idle")
        table.bets()
        for drawn in range(4):
            table.deal(1)
            late = Listener(table)
            assert not FACE.search(late.begin()) and not FACE.search(everything(table))
            late.close()
            browser.open(table.address)
            browser.wait(lambda: browser.all("#stage .card"), "the cards")
            assert len(browser.all("#stage .card")) == drawn + 1
            assert not browser.all("#stage .rank")
        assert not FACE.search(listener.heard) and b'"?"' in listener.heard
        table.do("turn")
        check_hands(browser, "2C 3H", "9D KS", ("5", "9"))
        table.finish()
        browser.wait_text("BANKER WINS", "#band")
        time.sleep(0.1)
        assert set(FACE.findall(listener.heard)) == {b'"2C"', b'"3H"', b'"9D"', b'"KS"'}
        listener.close()
        thread.join(5)


def test_two_hundred_pages_that_come_and_go(browser: Browser) -> None:
    """Those above the most are told to come later; who goes makes room at once, and no table minds."""
    with shown(browser) as table:
        for _ in range(3):
            pages = [Listener(table) for _ in range(200)]
            there = [page for page in pages if page.response.status == 200]
            assert len(there) == 127, "128, and one is in the browser"
            refused = next(page.response for page in pages if page.response.status != 200)
            assert refused.status == 503 and refused.headers["Retry-After"] == "5"
            for page in there:
                assert b'"phase":"' in page.begin()
            for page in pages:
                page.close()
        table.play_round()
        browser.wait_text("BANKER WINS", "#band")
        check_boards(browser, table, 1)
        again = Listener(table)
        assert again.response.status == 200 and json.loads(everything(table))["table"]["phase"] == "idle"
        again.close()
