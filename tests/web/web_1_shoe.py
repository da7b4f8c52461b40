"""The end of a shoe, and the clock. A whole shoe watched in each phase is in ``web_4_together.py``."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.browser import Browser
from tests.web.tables import WINDOW, ShownTable, check_boards


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as made:
        yield made


def test_last_hand_is_there_before_the_last_hand(browser: Browser) -> None:
    with ShownTable() as table:
        table.start()
        table.open_table("2C 9D 3H KS 9S 2H KD 3C 2D 3D 4D 5D")
        browser.open(table.address)
        table.play_round()
        browser.wait_text("BANKER WINS", "#band")
        assert not browser.shown("#last-hand")
        table.do("cut-card")
        browser.wait_text("LAST HAND BEFORE SHUFFLE", "#last-hand")
        table.bets()
        assert browser.shown("#last-hand")
        table.deal(4)
        table.finish()
        browser.wait_text("PLAYER WINS", "#band")
        check_boards(browser, table, 1, predictions=False)


def test_the_countdown_is_the_tables_own_and_ends_with_it(browser: Browser) -> None:
    with ShownTable(overrides=WINDOW | {"betting": {"seconds": 4.0}}) as table:
        table.start()
        table.open_table("2C 9D 3H KS")
        browser.open(table.address)
        browser.wait_text("THE NEXT ROUND", "#band")
        table.do("bets open")
        browser.wait_text("PLACE YOUR BETS", "#band")
        looked = []
        while (state := table.client.state())["phase"] == "betting":
            left, shown = (
                state["round"]["seconds_left"],
                browser.run("return document.querySelector('#countdown .seconds').textContent"),
            )
            looked.append((left, int(shown)))
            time.sleep(0.1)
        assert len(looked) > 10
        for left, shown in looked:
            assert -0.4 <= shown - left <= 1.4, looked
        browser.wait_text("NO MORE BETS", "#band", timeout=1.0)
