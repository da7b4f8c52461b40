"""Where things lie on the player's page, on screens of every usual size."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

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
