"""``python -m tests.web.pictures``: the pictures of the pages in docs/pictures, taken anew from a table."""

from __future__ import annotations

import random
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from tablectl.cards import DECK
from tablectl.gameserver.ledger import Ledger
from tablectl.gameserver.players import Players
from tablectl.gameserver.store import Store
from tests.browser import Browser
from tests.e2e.harness import TABLE
from tests.web.tables import WINDOW, ShownTable

PLACE = Path(__file__).parents[2] / "docs" / "pictures"
SIZE = (1280, 720)
PAGE = (1280, 860)
ROUNDS = 40


def shoe(seed: int) -> str:
    """A full shoe, as its cards are written."""
    cards = [str(card) for card in DECK] * 8
    random.Random(seed).shuffle(cards)
    return " ".join(cards)


class Pictured(ShownTable):
    """With a name that a table could have."""

    def __init__(self, **betting: float) -> None:
        super().__init__(overrides=WINDOW | {"betting": dict(betting)})
        self.config.write_text(self.config.read_text().replace(f'id = "{TABLE}"', 'id = "T07"'))


def play_round(table: ShownTable) -> bool:
    """The cards of one hand up to the last; whether there was a third."""
    third = False
    while True:
        table.draw_one()
        now = table.client.state()["round"]
        if now["next"] == "none":
            return third
        third = third or len(now["cards"]) >= 4


def player_page(place: Path) -> None:
    """A player with a bet on the table and another one on the slip, after a hand of six cards."""
    with Pictured(seconds=20.0) as table, Browser(PAGE) as browser:
        table.start()
        store = Store(table.server_db)
        token = Players(store, Ledger(store)).add("anna", "USD", 500_00)
        store.close()
        table.open_table(shoe(36))
        browser.open(f"{table.server_url}/play/T07#{token}")
        for bet in ("1+#", "2##", "1#3+++++", "2##4+++++"):
            table.do("bets open")
            browser.wait_text("Place your bets", "#says")
            press(browser, *bet, "enter")
            browser.wait(lambda: browser.all("#told .good"), "the bet")
            table.do("bets close")
            play_round(table)
            table.finish()
        table.do("bets open")
        browser.wait_text("Place your bets", "#says")
        press(browser, "2", "#", "#", "+", "+", "+", "+", "+", "enter")
        browser.wait_text("Banker: placed", "#told")
        press(browser, "6", *"+" * 5)
        browser.wait_text("16", "#seconds")
        browser.screenshot(place / "player-page.png")


def press(browser: Browser, *keys: str) -> None:
    """On the number pad; ``#`` is the plus with Shift held."""
    pad = {str(n): getattr(Keys, f"NUMPAD{n}") for n in range(10)}
    pad |= {"+": Keys.ADD, "-": Keys.SUBTRACT, "#": Keys.SHIFT + Keys.ADD, "enter": Keys.ENTER}
    browser.keys(*(pad.get(key, key) for key in keys))


def take(place: Path) -> None:
    """Play, and press the button when it is worth it."""
    place.mkdir(exist_ok=True)
    with Pictured(seconds=0.1, pips=0) as table, Browser(SIZE) as browser:
        table.start()
        table.open_table(shoe(11))
        browser.open(table.address)
        for _ in range(ROUNDS):
            table.bets()
            play_round(table)
            table.finish()
        while True:
            table.bets()
            third = play_round(table)
            table.finish()
            if third:
                break
        table.do("cut-card")
        browser.wait_text("WINS", "#band")
        browser.wait(lambda: browser.run("return document.getAnimations().length") == 0, "rest")
        browser.screenshot(place / "display-result.png")
    with Pictured(seconds=20.0) as table, Browser(SIZE) as browser:
        table.start()
        table.open_table(shoe(12))
        browser.open(f"{table.address}?lang=de")
        for _ in range(30):
            table.do("bets open")
            table.do("bets close")
            play_round(table)
            table.finish()
        table.do("bets open")
        browser.wait(lambda: browser.text("#countdown") == "14", "14 seconds left", timeout=12.0)
        browser.screenshot(place / "display-betting-de.png")


if __name__ == "__main__":
    take(PLACE)
    player_page(PLACE)
