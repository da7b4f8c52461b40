"""A table with a page for each of three players, and what the books say beside the pages."""

from __future__ import annotations

import contextlib
import json
import urllib.request
from collections.abc import Iterator
from typing import Any

from tablectl.gameserver.ledger import Account, Ledger
from tablectl.gameserver.players import Players
from tablectl.gameserver.store import Store
from tests.browser import Browser
from tests.e2e.harness import TABLE, Changes, Rig
from tests.web.pictures import press
from tests.web.tables import ShownTable

PLAYERS = ("ann", "bob", "eva")
DEPOSIT = 1_000_00
SIZE = (1280, 1000)


@contextlib.contextmanager
def books(rig: Rig) -> Iterator[tuple[Store, Ledger]]:
    """The server's database, read beside it."""
    store = Store(rig.server_db)
    try:
        yield store, Ledger(store)
    finally:
        store.close()


class Floor:
    """One table, one browser, a window for each player. ``display``: the page that was there before."""

    def __init__(self, rig: ShownTable, browser: Browser) -> None:
        self.rig = rig
        self.browser = browser
        self.display = browser.handle
        self.tokens: dict[str, str] = {}
        self.pages: dict[str, str] = {}

    def sit(self, name: str, deposit: int = DEPOSIT) -> None:
        """A new player opens the page."""
        with books(self.rig) as (store, ledger):
            self.tokens[name] = Players(store, ledger).add(name, "USD", deposit)
        address = f"{self.rig.server_url}/play/{TABLE}#{self.tokens[name]}"
        self.pages[name] = self.browser.window(address, SIZE)
        self.browser.wait(lambda: amount(self.browser.text("#balance")) == deposit, "the deposit")

    def show(self, name: str) -> None:
        self.browser.show(self.pages[name])

    def pad(self, *keys: str) -> None:
        """Keys of the number pad; ``#`` is the plus with Shift held."""
        press(self.browser, *keys)

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
    """``1,005.50 USD`` in cents; 0 where there is none."""
    number = text.split(" ", maxsplit=1)[0].replace("−", "-").replace(",", "").replace(".", "")
    return int(number) if number.lstrip("-").isdecimal() else 0


@contextlib.contextmanager
def floor(
    browser: Browser,
    overrides: Changes,
    shoe: str,
    cut: tuple[int, ...] = (),
    *,
    deposit: int = DEPOSIT,
    players: tuple[str, ...] = PLAYERS,
) -> Iterator[Floor]:
    """The players have sat down, and a shoe of these cards is in play."""
    with ShownTable(overrides=overrides) as rig:
        rig.start()
        made = Floor(rig, browser)
        try:
            for name in players:
                made.sit(name, deposit)
            rig.open_table(shoe, cut)
            yield made
        finally:
            for page in made.pages.values():
                browser.show(page)
                browser.driver.close()
            browser.show(made.display)
