"""What the page does when the table is gone, back, silent or corrected: it says so, and finds back alone."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from tests.browser import Browser
from tests.e2e.harness import PIT_BOSS
from tests.web.tables import ShownTable, check_boards, check_hands

CARDS = "2C 9D 3H KS 9S 2H KD 3C 2D 3D 4D 5D 8S 9H 8H 9C 6S 7H 6D 7D"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as made:
        yield made


@pytest.fixture
def table(browser: Browser) -> Iterator[ShownTable]:
    with ShownTable() as made:
        made.start()
        made.open_table(CARDS)
        browser.open(made.address)
        browser.wait_text("THE NEXT ROUND BEGINS SOON", "#band")
        yield made


def lost(browser: Browser) -> None:
    """The page says that it has lost the table, and shows nothing that may be false by now."""
    browser.wait_text("NO CONNECTION TO THE TABLE", "#band", timeout=12.0)
    for what in ("#stage", "#countdown", "#last-hand"):
        assert not browser.shown(what), what
    assert "Round" not in browser.text("#name")


def test_the_daemon_is_killed_in_mid_round_and_the_page_recovers(browser: Browser) -> None:
    with ShownTable(protocol="bee-tek") as table:
        table.start()
        table.open_table(CARDS)
        browser.open(table.address)
        _killed_in_mid_round(browser, table)


def _killed_in_mid_round(browser: Browser, table: ShownTable) -> None:
    table.play_round()
    browser.wait_text("BANKER WINS", "#band")
    table.bets()
    table.deal(2)
    check_hands(browser, "9S", "2H", ("9", "2"))
    table.daemon.end(signal.SIGKILL)
    lost(browser)
    table.start_daemon()
    begun = time.monotonic()
    browser.wait_text("ONE MOMENT, PLEASE", "#band")
    assert time.monotonic() - begun < 5.0
    check_hands(browser, "9S", "2H", ("9", "2"))
    check_boards(browser, table, 1)
    table.wait(lambda s: s["scanner"]["up"], "the scanner is there")
    table.do("release", supervised=True, action="cards-confirmed")
    browser.wait_text("CARDS ARE BEING DEALT", "#band")
    table.deal(2)
    browser.wait_text("PLAYER WINS", "#band")
    check_hands(browser, "9S KD", "2H 3C", ("9", "5"))
    check_boards(browser, table, 1)


def test_killed_while_betting_is_open_the_page_does_not_invite_bets(
    browser: Browser, table: ShownTable
) -> None:
    table.do("bets open")
    browser.wait_text("PLACE YOUR BETS", "#band")
    table.daemon.end(signal.SIGKILL)
    lost(browser)
    table.start_daemon()
    browser.wait_text("ONE MOMENT, PLEASE", "#band")
    assert not browser.shown("#countdown")


def test_at_the_end_of_the_window_no_bets_are_invited_though_the_table_says_nothing(
    browser: Browser, table: ShownTable
) -> None:
    table.do("bets open")
    browser.wait_text("PLACE YOUR BETS", "#band")
    table.daemon.send(signal.SIGSTOP)
    try:
        browser.wait_text("NO MORE BETS", "#band", timeout=3.0)
        assert not browser.shown("#countdown")
        lost(browser)  # nobody closed the connection: that it is silent is enough
    finally:
        table.daemon.send(signal.SIGCONT)
    browser.wait_text("NO MORE BETS", "#band", timeout=10.0)


def test_void_and_amendment_are_on_the_boards_of_every_page(browser: Browser, table: ShownTable) -> None:
    for _ in range(3):
        table.play_round()
    check_boards(browser, table, 1)
    table.do("amend", supervised=True, round="1/1", P2="7C")
    check_boards(browser, table, 1)
    table.do("void", supervised=True, round="1/3")
    browser.wait_text("ROUND VOID", "#band")
    check_boards(browser, table, 1)
    first = browser.handle
    browser.tab(table.address)
    browser.wait_text("ROUND VOID", "#band")
    check_boards(browser, table, 1)
    browser.driver.close()
    browser.show(first)
    table.do("void", supervised=True, round="1/1")
    check_boards(browser, table, 1)
    assert len(table.marks(1)) == 1


def test_a_hold_asks_for_patience_and_tells_no_reason(browser: Browser, table: ShownTable) -> None:
    table.do("hold", text="the dealer's secret")
    browser.wait_text("ONE MOMENT, PLEASE", "#band")
    said = browser.text()
    assert "secret" not in said and PIT_BOSS.name not in said
    table.do("release", supervised=True, action="resume")
    browser.wait_text("THE NEXT ROUND", "#band")


def test_a_page_that_was_asleep_has_everything_at_once(browser: Browser, table: ShownTable) -> None:
    browser.command("Page.setWebLifecycleState", state="frozen")
    for _ in range(2):
        table.play_round()
    time.sleep(1.0)
    browser.command("Page.setWebLifecycleState", state="active")
    browser.wait_text("PLAYER WINS", "#band")
    check_boards(browser, table, 1)


def test_a_page_of_another_edition_loads_itself_anew(browser: Browser, table: ShownTable) -> None:
    browser.run("window.before = true")
    browser.run(
        "import('/display/display.js').then((page) => page.told('table', {edition: 'another', table: 'E2E'}))"
    )
    browser.wait(lambda: browser.run("return window.before === undefined"), "itself anew")
    browser.wait_text("THE NEXT ROUND", "#band")
