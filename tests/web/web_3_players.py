"""The player's page at a real table: its keys, a server that dies, German, a token that is none.

The table is a daemon with an emulated shoe, the server a process of its own. A whole shoe on the pages of
three players, beside the display, is in ``web_4_together.py``.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser import Browser
from tests.e2e.harness import BARE, TABLE
from tests.web.floor import SIZE, floor

SLOW = BARE | {"betting": {"seconds": 4.0, "pips": 2, "pip_every": 0.2}}
CARDS = "9S 2D KH 3C 2S 9D 3H KC 5S 6S 7S 8S 9S 2H 3H 4H 5H 6H 7H 8H"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser(SIZE) as made:
        yield made


def test_a_round_worked_by_the_number_pad_and_a_bet_after_the_beep(browser: Browser) -> None:
    with floor(browser, SLOW, CARDS) as at:
        browser.wait_text("Betting is not open", "#says")
        at.rig.do("bets open")
        browser.wait_text("Place your bets", "#says")
        assert browser.text("#table") == TABLE and "1/1" in browser.text("#round")
        limits = browser.text("#area-player small")
        assert "min 10.00 USD" in limits and "max 400.00 USD" in limits
        at.pad("1", *"+" * 11, "-")
        assert "+ 10.00 USD" in browser.text("#area-player .slip") and browser.text("#lying") == "0.00 USD"
        at.pad("3", "+", "#")
        assert browser.text("#area-tie .slip") == "+ 11.00 USD"
        at.pad(Keys.ENTER)
        browser.wait_text("Tie: placed, 11.00 USD", "#told")
        assert browser.text("#lying") == "21.00 USD" and browser.text("#balance") == "979.00 USD"
        at.pad(Keys.DELETE)
        browser.wait_text("Tie: taken back", "#told")
        at.pad("2", "+", Keys.ENTER)
        browser.wait_text("Banker: Below the minimum of 10.00 USD.", "#told")
        assert at.placed()["placed"] == 1 and at.placed()["players"] == 3
        at.show("bob")
        browser.click("#done")
        browser.wait_text("No bet in this round", "#told")
        at.show("ann")
        assert not at.placed()["all_placed"]
        browser.click("#done")
        browser.wait_text("No bet in this round", "#told")
        assert at.placed()["all_placed"], "the dealer may close early"
        at.rig.do("bets close")
        browser.wait_text("No more bets", "#says")
        assert browser.value("#place", "disabled") == "true"
        before = at.balance("ann")
        status = browser.run(LATE, at.tokens["ann"], TABLE)
        assert status["reason"]["code"] == "late" and not status["bets"][0]["accepted"]
        assert at.balance("ann") == before
        at.rig.deal(4)
        at.rig.finish()
        at.show("eva")
        browser.wait_text("Player wins", "#outcome")
        browser.wait_text("1,010.00 USD", "#balance")
        assert "Player 10.00 USD: won +10.00 USD" in browser.text("#ended")
        assert at.balance("eva") == 1_010_00
        assert browser.complaints() == []


LATE = """
const [token, table] = arguments;
const request = new XMLHttpRequest();
request.open('POST', `/v1/tables/${table}/wagers`, false);
request.setRequestHeader('Authorization', `Bearer ${token}`);
request.send(JSON.stringify({id: 'late-' + Date.now(), round: '1/1', bets: [{area: 'player', stake: 1000}]}));
return JSON.parse(request.responseText);
"""


def test_the_page_recovers_when_the_server_dies_in_mid_round(browser: Browser) -> None:
    with floor(browser, SLOW, CARDS) as at:
        at.rig.do("bets open")
        browser.wait_text("Place your bets", "#says")
        at.pad("1", *"+" * 10, Keys.ENTER)
        browser.wait_text("Player: placed, 10.00 USD", "#told")
        at.rig.server.end(signal.SIGKILL)
        browser.wait_text("No connection to the server", "#says")
        at.rig.start_server()
        browser.wait_text("Betting is not open", "#says")
        assert browser.text("#lying") == "10.00 USD"
        at.rig.phase("no more bets")
        at.rig.deal(4)
        at.rig.finish()
        browser.wait_text("1,010.00 USD", "#balance")
        assert at.balance("eva") == 1_010_00


def test_german_and_a_wrong_token(browser: Browser) -> None:
    with floor(browser, SLOW, CARDS) as at:
        browser.click("#language")
        browser.wait_text("Noch nicht gesetzt", "#stake")
        at.rig.do("bets open")
        browser.wait_text("Bitte setzen", "#says")
        at.pad("3", "+", Keys.ENTER)
        browser.wait_text("Unter dem Minimum von 5,00 USD.", "#told")
        browser.click("#language")
        browser.tab(f"{at.rig.server_url}/play/{TABLE}#not-a-token")
        browser.wait_text("does not know this token", "#refused")
        assert browser.run("return location.hash") == "", "a token does not stay in the address"
        browser.driver.close()
        at.show("eva")
        time.sleep(0.1)
