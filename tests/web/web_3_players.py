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

from tablectl.gameserver.players import Players
from tests.browser import Browser
from tests.e2e.harness import BARE, TABLE
from tests.web.floor import DEPOSIT, SIZE, Floor, amount, books, floor
from tests.web.watching import CONTRAST

SLOW = BARE | {"betting": {"seconds": 4.0, "pips": 2, "pip_every": 0.2}}
LONG = BARE | {"betting": {"seconds": 20.0}}
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
        browser.wait_text("21.00 USD", "#lying")
        assert browser.text("#balance") == "979.00 USD"
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


def test_the_close_is_shown_and_then_the_cards_as_they_fall(browser: Browser) -> None:
    with floor(browser, SLOW, CARDS, players=("eva",)) as at:
        assert not browser.shown("#result")
        at.rig.do("bets open")
        browser.wait_text("Place your bets", "#says")
        at.pad("1", "#", Keys.ENTER)
        browser.wait_text("Player: placed, 10.00 USD", "#told")
        assert browser.shown("#left")
        assert browser.run(CONTRAST) == []
        browser.wait_text("No more bets", "#says")  # by the table's own deadline
        assert browser.text("#seconds") == "" and not browser.shown("#left")
        assert browser.run("return document.getElementById('phase').dataset.reason") == "late"
        assert {browser.value(f"#{one}", "disabled") for one in ("place", "back", "again", "done")} == {
            "true"
        }
        lies = {1: ("Player 9", "Banker"), 2: ("Player 9", "Banker 2"), 3: ("Player 9", "Banker 2")}
        for drawn, (player, banker) in lies.items():
            at.rig.deal(1)
            browser.wait(lambda: len(browser.all("#hands .card")) >= drawn, "the card")  # noqa: B023
            assert browser.texts("#hands b") == [player, banker]
            assert browser.text("#outcome") == "Cards are being dealt"
            assert "Round 1/1" in browser.text("#result h2")
        assert sorted(browser.texts("#hands .card")) == ["2♦", "9♠", "K♥"]
        at.rig.deal(1)
        at.rig.finish()
        browser.wait_text("Player wins", "#outcome")
        assert browser.texts("#hands b") == ["Player 9", "Banker 5"]
        assert browser.run(CONTRAST) == []
        assert "Result of 1/1" in browser.text("#result h2")


def test_cards_face_down_are_backs_on_the_players_page_too(browser: Browser) -> None:
    down = SLOW | {"betting": {"seconds": 0.2, "pips": 0}, "dealing": {"deal": "face-down"}}
    with floor(browser, down, CARDS, players=("eva",)) as at:
        at.rig.bets()
        at.rig.deal(4)
        browser.wait(lambda: len(browser.all("#hands .card.down")) == 4, "four backs")
        assert browser.texts("#hands b") == ["Player", "Banker"]
        at.rig.do("turn")
        browser.wait(lambda: browser.texts("#hands .card") == ["9♠", "K♥", "2♦", "3♣"], "the faces")


def test_worked_by_the_number_pad_alone(browser: Browser) -> None:
    """With Num Lock on and off, from the first key to the last bet again; nothing is clicked."""
    with floor(browser, LONG, CARDS, players=("eva",)) as at:
        at.rig.do("bets open")
        browser.wait_text("Place your bets", "#says")
        at.pad("2", "#", "#", "-", "+", "+", "#", "-", Keys.ENTER)
        browser.wait_text("Banker: placed, 30.00 USD", "#told")
        at.pad("6", *"+" * 7, "-", "-", Keys.ENTER)
        browser.wait_text("2-Way (both pairs): placed, 5.00 USD", "#told")
        assert browser.text("#lying") == "40.00 USD"
        at.pad("4", *"+" * 5, Keys.ENTER)
        browser.wait_text("Player Pair: Your bet there lies on 2-Way: take that back first.", "#told")
        assert browser.text("#area-player_pair .covered") == "taken by your 2-Way"
        assert browser.text("#area-3-way .covered") == "taken by your 2-Way"
        assert browser.text("#area-tie .covered") == browser.text("#area-2-way .covered") == ""
        at.pad(Keys.DELETE)  # first the slip, which was not taken
        assert browser.text("#slip") == "0.00 USD"
        at.pad("6", Keys.DELETE)
        browser.wait_text("2-Way (both pairs): taken back", "#told")
        assert browser.text("#area-player_pair .covered") == ""
        assert browser.text("#lying") == "30.00 USD"
        at.rig.do("bets close")
        at.rig.deal(4)
        at.rig.finish()
        at.rig.do("bets open")
        browser.wait_text("Place your bets", "#says")
        for code, key in (("Numpad0", "Insert"), ("NumpadEnter", "Enter")):
            browser.run(PRESS, code, key)
        browser.wait_text("Banker: placed, 30.00 USD", "#told")
        for code, key in (("Numpad2", "ArrowDown"), ("NumpadDecimal", "Delete")):
            browser.run(PRESS, code, key)
        browser.wait_text("Banker: taken back", "#told")
        assert browser.complaints() == []


PRESS = """
const [code, key] = arguments;
document.body.dispatchEvent(new KeyboardEvent("keydown", {code, key, bubbles: true}));
"""

_HOSTILE = """
const bad = "<img src=x onerror='window.hacked = 1'>";
let said = false; // once, and then nothing more
const answer = (made) => said++ ? new Promise(() => {}) : Promise.resolve(made);
window.fetch = () => answer({status: 200, json: () => Promise.resolve({
  version: bad, table: bad, player: bad, currency: bad, places: 2, balance: 5, open: false, seconds: 0,
  round: bad,
  reason: {code: bad, en: bad, de: bad}, wagers: [], again: [], hand: null,
  terms: {areas: [{area: bad, parts: [bad], min: 1, max: 5, max_winnings: 5}], chips: [100]},
  result: {round: bad, state: bad, outcome: bad, free: false, hands: {[bad]: {total: bad, cards: [bad]}},
    bets: [{area: bad, part: bad, stake: 1, how: "win", won: 1}]},
  history: [{round: bad, area: bad, part: bad, stake: 1, how: "lose", won: 0, state: "resulted"}],
})});
document.dispatchEvent(new Event("visibilitychange"));
"""


def test_what_a_server_says_is_text_whatever_it_is(browser: Browser) -> None:
    with floor(browser, SLOW, CARDS, players=("eva",)) as at:
        browser.run(_HOSTILE)
        browser.wait_text("<img src=x", "#says")
        for place in ("#round", "#balance", "#layout", "#outcome", "#hands", "#ended", "#history"):
            assert "<img src=x" in browser.text(place), place
        assert not browser.all("main img") and browser.run("return window.hacked === undefined")
        assert browser.complaints() == []
        browser.open(f"{at.rig.server_url}/play/{TABLE}")
        refused = "return fetch('http://127.0.0.1:9/').then(() => 'reached', (fault) => fault.name)"
        assert browser.run(refused) == "TypeError"
        assert any("Content Security Policy" in one for one in browser.complaints())
        browser.run(
            "const s = document.createElement('script'); s.text = 'window.ran = 1'; document.head.append(s)"
        )
        assert browser.run("return window.ran === undefined")


def test_a_machine_that_slept_shows_no_open_betting(browser: Browser) -> None:
    with floor(browser, LONG, CARDS, players=("eva",)) as at:
        at.rig.do("bets open")
        browser.wait_text("Place your bets", "#says")
        at.rig.server.send(signal.SIGSTOP)
        try:
            browser.run("const now = Date.now; Date.now = () => now() + 60000;")
            browser.wait_text("No connection to the server", "#says", timeout=1.0)
            assert browser.text("#seconds") == ""
        finally:
            at.rig.server.send(signal.SIGCONT)
        browser.wait_text("Place your bets", "#says")  # it has looked again, and it is open still


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


def renew(at: Floor, name: str) -> str:
    with books(at.rig) as (store, ledger):
        return Players(store, ledger).add(name, "USD", 0)


def check_nobody(browser: Browser) -> None:
    """Who asks for a token tells nothing of who played before, not even hidden."""
    browser.wait_text("does not know this token", "#refused")
    left = browser.run("return document.querySelector('header').textContent"
                       " + document.querySelector('main').textContent")  # fmt: skip
    assert not [one for one in ("USD", "1/1", "980", "placed,") if one in left], left
    assert browser.text("#balance") == "–" and browser.text("#round") == ""


def test_nothing_of_who_played_before_is_left_when_the_token_ends(browser: Browser) -> None:
    """Nor does anything come later that was under way for that player."""
    with floor(browser, LONG, CARDS, players=("bob", "eva")) as at:
        at.rig.do("bets open")
        browser.wait_text("Place your bets", "#says")
        at.pad("1", "#", "#", Keys.ENTER)
        browser.wait_text("Player: placed, 20.00 USD", "#told")
        at.pad("2", "#")
        renew(at, "eva")
        at.pad(Keys.ENTER)  # an order learns of it first, while the page waits for news by the old token
        check_nobody(browser)
        browser.one("#token").send_keys(at.tokens["bob"], Keys.ENTER)
        browser.wait_text("1,000.00 USD", "#balance", timeout=2.0)
        assert (browser.text("#slip"), browser.text("#lying"), browser.text("#told")) == (
            *("0.00 USD", "0.00 USD", ""),
        )
        at.rig.do("bets close")
        browser.wait_text("No more bets", "#says")
        time.sleep(0.3)
        assert browser.text("#balance") == "1,000.00 USD" and at.placed()["players"] == 2
        token = renew(at, "bob")
        at.rig.deal(1)  # news, and the next question is refused
        check_nobody(browser)
        assert not browser.shown("#result")
        browser.one("#token").send_keys(token, Keys.ENTER)
        browser.wait_text("1,000.00 USD", "#balance", timeout=2.0)


def test_an_order_without_an_answer_is_not_known_until_the_server_is_back(browser: Browser) -> None:
    with floor(browser, LONG, CARDS, players=("eva",)) as at:
        at.rig.do("bets open")
        browser.wait_text("Place your bets", "#says")
        at.pad("2", "#")
        at.rig.server.send(signal.SIGSTOP)
        try:
            at.pad(Keys.ENTER)
            browser.wait_text("No connection to the server", "#says", timeout=6.0)
            said = browser.wait_text("not known yet", "#told", timeout=12.0)
            assert said == (
                "No answer. Place Banker 10.00 USD: whether it was done is not known yet."
                " It is shown when the server is back."
            )
            assert browser.text("#slip") == "0.00 USD" and browser.value("#place", "disabled") == "true"
            assert "No connection" in browser.text("#says") and browser.text("#seconds") == ""
            at.pad("1", "#", Keys.ENTER)
            browser.wait_text("No connection to the server", "#told")
            at.pad(Keys.DELETE)
        finally:
            at.rig.server.send(signal.SIGCONT)
        browser.wait_text("The server is back: what lies on the table is shown.", "#told")
        time.sleep(0.5)
        lies = amount(browser.text("#lying"))  # taken or not: the page says which
        assert lies in (0, 10_00) and amount(browser.text("#balance")) == at.balance("eva") == DEPOSIT - lies


def test_german_and_a_wrong_token(browser: Browser) -> None:
    with floor(browser, SLOW, CARDS) as at:
        browser.click("#language")
        browser.wait_text("Noch nicht gesetzt", "#stake")
        keys = browser.run(
            "return import('/page/words.js').then("
            "  ({WORDS}) => [WORDS.en, WORDS.de].map((one) => Object.keys(one)))"
        )
        assert sorted(keys[0]) == sorted(keys[1])
        at.rig.do("bets open")
        browser.wait_text("Bitte setzen", "#says")
        at.pad("3", "+", Keys.ENTER)
        browser.wait_text("Unentschieden: Unter dem Minimum von 5,00 USD.", "#told")
        browser.click("#language")
        browser.tab(f"{at.rig.server_url}/play/{TABLE}#not-a-token")
        browser.wait_text("does not know this token", "#refused")
        assert browser.run("return location.hash") == "", "a token does not stay in the address"
        browser.driver.close()
        at.show("eva")
        time.sleep(0.1)
