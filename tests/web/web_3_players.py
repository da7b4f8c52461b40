"""Three players at a real table: a whole shoe on their pages, every cent against the books, a bet too late.

The table is a daemon with an emulated shoe, the server a process of its own; the players work their pages
by the keys of the number pad and by mouse, and are asked what they read there.
"""

from __future__ import annotations

import contextlib
import json
import random
import signal
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from tablectl.cards import DECK
from tablectl.gameserver.ledger import Account, Ledger
from tablectl.gameserver.players import Players
from tablectl.gameserver.store import Store
from tests.browser import Browser
from tests.e2e.harness import BARE, TABLE, Rig

SLOW = BARE | {"betting": {"seconds": 4.0, "pips": 2, "pip_every": 0.2}}
QUICK = BARE | {"betting": {"seconds": 2.5, "pips": 2, "pip_every": 0.2}}
CUT_AT = 60
"""Cards before the cutting card: a short shoe, whole all the same."""
PLAYERS = {"ann": "en-US", "bob": "en-US", "eva": "en-US"}
DEPOSIT = 1_000_00


@contextlib.contextmanager
def books(rig: Rig) -> Iterator[tuple[Store, Ledger]]:
    """The server's database, read beside it."""
    store = Store(rig.server_db)
    try:
        yield store, Ledger(store)
    finally:
        store.close()


class Floor:
    """One rig, one browser, a page for each player."""

    def __init__(self, rig: Rig, browser: Browser) -> None:
        self.rig = rig
        self.browser = browser
        self.tokens: dict[str, str] = {}
        self.pages: dict[str, str] = {}

    def sit(self, name: str) -> None:
        """A new player opens the page."""
        with books(self.rig) as (store, ledger):
            self.tokens[name] = Players(store, ledger).add(name, "USD", DEPOSIT)
        self.pages[name] = self.browser.tab(f"{self.rig.server_url}/play/{TABLE}#{self.tokens[name]}")
        self.browser.wait_text("1,000.00 USD", "#balance")

    def show(self, name: str) -> None:
        self.browser.show(self.pages[name])

    def pad(self, *keys: str) -> None:
        """Keys of the number pad."""
        pad = {str(n): getattr(Keys, f"NUMPAD{n}") for n in range(10)}
        self.browser.keys(*(pad.get(key, {"+": Keys.ADD, "-": Keys.SUBTRACT}.get(key, key)) for key in keys))

    def draw(self) -> None:
        """One card, or the cutting card, seen by the table."""
        before = self.rig.client.state()["shoe"]
        self.rig.shoe.draw()
        self.rig.wait(
            lambda state: (state["shoe"]["out"], state["shoe"]["cut"]) != (before["out"], before["cut"]),
            "a card is seen",
        )

    def told(self) -> str:
        return self.browser.text("#told")

    def placed(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.rig.server_url}/v1/tables/{TABLE}/placed", timeout=5) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def accounts(self) -> dict[str, Account]:
        with books(self.rig) as (_, ledger):
            assert ledger.audit() == []
            return {account.name: account for account in ledger.accounts()}

    def balance(self, name: str) -> int:
        return self.accounts()[f"player/{name}"].balance


def amount(text: str) -> int:
    """``1,005.50 USD`` in cents."""
    number = text.split(" ", maxsplit=1)[0].replace("−", "-").replace(",", "").replace(".", "")
    return int(number)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser((1280, 1000)) as made:
        yield made


def cards(seed: int) -> str:
    shoe = [str(card) for card in DECK] * 8
    random.Random(seed).shuffle(shoe)
    return " ".join(shoe)


@contextlib.contextmanager
def floor(browser: Browser, overrides: Any, shoe: str, cut: tuple[int, ...] = ()) -> Iterator[Floor]:
    with Rig(overrides=overrides) as rig:
        rig.start()
        made = Floor(rig, browser)
        try:
            for name in PLAYERS:
                made.sit(name)
            rig.open_table(shoe, cut)
            yield made
        finally:
            for page in made.pages.values():
                browser.show(page)
                browser.driver.close()
            browser.show(browser.driver.window_handles[0])


def test_a_round_worked_by_the_number_pad_and_a_bet_after_the_beep(browser: Browser) -> None:
    with floor(browser, SLOW, "9S 2D KH 3C 2S 9D 3H KC 5S 6S 7S 8S 9S 2H 3H 4H 5H 6H 7H 8H") as at:
        browser.wait_text("Betting is not open", "#says")
        at.rig.do("bets open")
        browser.wait_text("Place your bets", "#says")
        assert browser.text("#table") == TABLE and "1/1" in browser.text("#round")
        limits = browser.text("#area-player small")
        assert "min 10.00 USD" in limits and "max 400.00 USD" in limits
        at.pad("1", *"+" * 11, "-")
        assert "+ 10.00 USD" in browser.text("#area-player .slip") and browser.text("#lying") == "0.00 USD"
        at.pad("3", "+")
        browser.run(SHIFT_PLUS)
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


SHIFT_PLUS = """
document.dispatchEvent(new KeyboardEvent('keydown', {code: 'NumpadAdd', key: '+', shiftKey: true}));
"""

LATE = """
const [token, table] = arguments;
const request = new XMLHttpRequest();
request.open('POST', `/v1/tables/${table}/wagers`, false);
request.setRequestHeader('Authorization', `Bearer ${token}`);
request.send(JSON.stringify({id: 'late-' + Date.now(), round: '1/1', bets: [{area: 'player', stake: 1000}]}));
return JSON.parse(request.responseText);
"""


def test_a_whole_shoe_with_three_players(browser: Browser) -> None:
    with floor(browser, QUICK, cards(5), (CUT_AT,)) as at:
        chance, rounds = random.Random(5), 0
        while True:
            at.rig.do("bets open")
            for name in PLAYERS:
                at.show(name)
                browser.wait_text("Place your bets", "#says")
                if rounds and chance.random() < 0.3:
                    at.pad("0", Keys.ENTER)
                else:
                    at.pad(chance.choice("12"), *"+" * 10, Keys.ENTER)
                browser.wait(
                    lambda: "placed" in at.told() or "No more bets" in browser.text("#says"), "an answer"
                )
            at.rig.phase("no more bets")
            while at.rig.client.state()["phase"] in ("no more bets", "dealing"):
                at.draw()
            at.rig.finish()
            rounds += 1
            for name in PLAYERS:
                at.show(name)
                browser.wait_text(f"1/{rounds}", "#of")
                assert amount(browser.text("#balance")) == at.balance(name)
            if at.rig.client.state()["phase"] == "shuffle due":
                break
        assert rounds >= 8
        settled = _by_the_events(at)
        for name in PLAYERS:
            assert at.balance(name) == DEPOSIT + settled[name], name
        assert browser.complaints() == []
        elsewhere = [url for url in browser.requests() if not url.startswith("http://127.0.0.1:")]
        assert elsewhere == []


def _by_the_events(at: Floor) -> dict[str, int]:
    """What each player has won and lost, from the journal's results and the wagers that lay there."""
    results = {
        event["data"]["round"]: event["data"]["bets"]
        for event in at.rig.public()
        if event["type"] == "tablectl.round.resulted.v1"
    }
    net = dict.fromkeys(PLAYERS, 0)
    with books(at.rig) as (store, _):
        for player, number, part, stake in store.sql(
            "SELECT player, round, part, stake FROM wagers WHERE state = 'settled'"
        ):
            bet = results[number][part]
            if bet["result"] == "win":
                whole, _, part_of = bet["odds"].partition(".")
                net[player] += stake * int(whole + part_of) // 10 ** len(part_of)
            elif bet["result"] == "lose":
                net[player] -= stake
    return net


def test_the_page_recovers_when_the_server_dies_in_mid_round(browser: Browser) -> None:
    with floor(browser, SLOW, "9S 2D KH 3C 2S 9D 3H KC 5S 6S 7S 8S 9S 2H 3H 4H 5H 6H 7H 8H") as at:
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
    with floor(browser, SLOW, "9S 2D KH 3C 2S 9D 3H KC 5S 6S 7S 8S 9S 2H 3H 4H 5H 6H 7H 8H") as at:
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
