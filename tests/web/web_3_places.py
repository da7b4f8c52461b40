"""Where things lie on the player's page, on screens of every usual size."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser import Browser
from tests.e2e.harness import BARE
from tests.web.floor import SIZE, floor
from tests.web.places import check_hands_apart

SIX = "2S 3D 3H KC TS TD"
"""Player 2 3 10, Banker 3 K 10: the widest cards come third."""
BY_DEALER = BARE | {"betting": {"seconds": 20.0}, "dealing": {"confirm": "dealer"}}
SIZES = [
    *((360, 740), (390, 844), (768, 1024), (1024, 600), (1024, 768), (1280, 720), (1280, 1000)),
    *((1366, 768), (1440, 900), (1600, 900), (1920, 1080), (3840, 2160)),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser(SIZE) as made:
        yield made


def check_sizes(browser: Browser) -> None:
    for size in SIZES:
        browser.size(size)
        check_hands_apart(browser, "#hands .hand", 6)
    browser.size(SIZE)


def test_no_card_of_one_hand_lies_in_the_other(browser: Browser) -> None:
    with floor(browser, BY_DEALER, SIX, players=("eva",)) as at:
        at.rig.do("bets open")
        at.rig.do("bets close")
        at.rig.deal(6)
        check_sizes(browser)
        at.rig.do("confirm")
        browser.wait_text("Result of", "#result")
        check_sizes(browser)
        browser.click("#language")
        browser.wait_text("Ergebnis von", "#result")
        check_sizes(browser)
        browser.click("#language")


OUT_OF_REACH = """
const found = [];
for (const css of ["#says", "#seconds", "#lying", "#actions button", "#told li"]) {
  for (const one of document.querySelectorAll(css)) {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) found.push(`${css} is outside`);
    const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    if (there !== one && !one.contains(there)) found.push(`${css} is covered`);
  }
}
for (const one of document.querySelectorAll("body *:not(#past *)")) {
  if (one.getBoundingClientRect().right > innerWidth + 1) found.push(`${one.outerHTML.slice(0, 80)} is wide`);
}
return found;
"""
LOW = [(1024, 457), (844, 390)]
"""A small window's inside, and a telephone on its side."""


def test_how_long_there_is_and_what_places_is_on_the_screen_whatever_its_size(browser: Browser) -> None:
    """Seven areas, in German, whose words are longer; wherever the page is scrolled to among them."""
    with floor(browser, BY_DEALER, SIX, players=("eva",)) as at:
        browser.click("#language")
        at.rig.do("bets open")
        browser.wait_text("Bitte setzen", "#says")
        at.pad("1", "#", "2", "#", "7", *"+" * 5, Keys.ENTER)
        browser.wait(lambda: len(browser.all("#told li")) == 3, "three answers")
        assert len(browser.all("#layout button")) == 7
        try:
            for size in (*SIZES, *LOW):
                browser.size(size)
                for place in ("start", "end"):
                    last = place == "end"
                    where = "#chips" if last else "header"
                    browser.run(f"document.querySelector('{where}').scrollIntoView({{block: '{place}'}})")
                    found = browser.run(OUT_OF_REACH)
                    assert found == [], (size, place, found)
        finally:
            browser.size(SIZE)
            browser.click("#language")


def test_what_is_said_of_stakes_and_keys_is_so(browser: Browser) -> None:
    """A combination's stake is on each of its bets; "last bet again" says what it leaves out."""
    with floor(browser, BY_DEALER, f"{SIX} {SIX}", players=("eva",)) as at:
        at.rig.do("bets open")
        browser.wait_text("Place your bets", "#says")
        at.pad("7", *"+" * 5)
        assert browser.text("#area-3-way .slip") == "+ 5.00 USD each, 15.00 USD in all"
        at.pad("1", "#", Keys.ENTER)
        said = browser.wait_text("Player: placed, 10.00 USD", "#told")
        assert "3-Way (both pairs, tie): placed, 5.00 USD each, 15.00 USD in all" in said
        assert (browser.text("#lying"), browser.text("#balance")) == ("25.00 USD", "975.00 USD")
        at.rig.do("bets close")
        at.rig.deal(6)
        at.rig.do("confirm")
        browser.wait_text("Result of", "#result")
        at.rig.shoe.standby()
        at.rig.do("bets open")
        browser.wait_text("Place your bets", "#says")
        at.pad("3", *"+" * 5, Keys.ENTER)
        browser.wait_text("Tie: placed", "#told")
        at.pad("1", "#", Keys.ENTER)
        browser.wait_text("Player: placed", "#told")
        at.pad("0")
        said = browser.wait_text("Player", "#told")
        assert said.splitlines() == [
            "3-Way (both pairs, tie): taken by your Tie",
            "Player: your bet lies there already",
        ]
        assert browser.text("#slip") == "0.00 USD"
        browser.click("#done")
        browser.wait_text("No further bet in this round.", "#told")
        assert "3 Tie" not in browser.text("footer"), "a table may have other areas: they show their numbers"
