"""The page as such: languages, screens of every shape, still pictures and strong contrast where wanted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.browser import Browser
from tests.e2e.harness import BARE
from tests.web.places import check_hands_apart
from tests.web.tables import WINDOW, ShownTable, check_boards, check_hands
from tests.web.watching import CONTRAST

CARDS = "2C 9D 3H KS 9S 2H KD 3C 2D 3D 4D 5D 8S 9H 8H 9C 6S 7H 6D 7D"
SIZES = [(1920, 1080), (1280, 720), (1024, 768), (3840, 2160), (1080, 1920), (1366, 600)]


@contextmanager
def shown(display: str = "", **options: object) -> Iterator[ShownTable]:
    with ShownTable(display=display, **options) as table:  # type: ignore[arg-type]
        table.start()
        table.open_table(CARDS)
        yield table


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as made:
        yield made


@pytest.mark.parametrize(
    ("configured", "liked", "asked", "said"),
    [
        ("", "en-US", "", "THE NEXT ROUND BEGINS SOON"),
        ("", "de-AT", "", "DIE NÄCHSTE RUNDE BEGINNT GLEICH"),
        ("", "fr-FR", "", "THE NEXT ROUND BEGINS SOON"),
        ('language = "de"', "en-US", "", "DIE NÄCHSTE RUNDE BEGINNT GLEICH"),
        ('language = "de"', "de-DE", "?lang=en", "THE NEXT ROUND BEGINS SOON"),
        ("", "en-US", "?lang=de", "DIE NÄCHSTE RUNDE BEGINNT GLEICH"),
        ("", "en-US", "?lang=<b>x", "THE NEXT ROUND BEGINS SOON"),
    ],
)
def test_language_is_the_addresss_the_houses_or_the_browsers(
    configured: str, liked: str, asked: str, said: str
) -> None:
    with shown(configured) as table, Browser(lang=liked) as browser:
        browser.open(table.address + asked)
        browser.wait_text(said, "#band")
        language = "de" if "NÄCHSTE" in said else "en"
        assert browser.value("html", "lang") == language
        assert browser.complaints() == []


def test_both_languages_have_the_same_words(browser: Browser) -> None:
    with shown() as table:
        browser.open(table.address)
        keys = browser.run(
            "return import('/display/words.js').then(({wordsOf}) => ['en', 'de'].map((one) => {"
            " const keys = (part, at) => Object.entries(part).flatMap(([key, value]) =>"
            "   typeof value === 'object' ? keys(value, `${at}${key}.`) : [`${at}${key}`]);"
            " return keys(wordsOf(one), '').sort(); }))"
        )
        assert keys[0] == keys[1] and len(keys[0]) > 50


def test_a_round_in_german(browser: Browser) -> None:
    with shown() as table:
        browser.open(f"{table.address}?lang=de")
        browser.wait_text("DIE NÄCHSTE RUNDE", "#band")
        table.do("bets open")
        browser.wait_text("BITTE DAS SPIEL MACHEN", "#band")
        assert browser.text("#name") == "Tisch E2E\nSchuh 1 · Runde 1"
        table.phase("no more bets")
        browser.wait_text("NICHTS GEHT MEHR", "#band")
        table.deal(4)
        table.finish()
        browser.wait_text("BANK GEWINNT", "#band")
        table.do("cut-card")
        browser.wait_text("LETZTES SPIEL VOR DEM MISCHEN", "#last-hand")


def test_cards_lie_face_down_until_they_are_turned(browser: Browser) -> None:
    rules = WINDOW | {"dealing": {"deal": "face-down"}}
    with shown(overrides=rules) as table:
        browser.open(table.address)
        table.bets()
        table.deal(4)
        check_hands(browser, "? ?", "? ?", ("", ""))
        browser.wait_text("CARDS ARE FACE DOWN", "#band")
        assert not browser.all("#stage .rank"), "there is no face, hidden or not"
        table.do("turn")
        check_hands(browser, "2C 3H", "9D KS", ("5", "9"))


def test_a_free_hand_says_that_there_are_no_bets(browser: Browser) -> None:
    with shown() as table:
        browser.open(table.address)
        table.do("hand free", supervised=True)
        browser.wait_text("Free hand: no bets", "#badges")
        table.deal(4)
        table.finish()
        browser.wait_text("BANKER WINS", "#band")
        check_boards(browser, table, 1)


def test_predictions_can_be_switched_off(browser: Browser) -> None:
    with shown("predictions = false") as table:
        table.play_round()
        browser.open(table.address)
        browser.wait_text("BANKER WINS", "#band")
        check_boards(browser, table, 1, predictions=False)
        assert not browser.shown("#predictions") and "wins next" not in browser.text()


_OUTSIDE = """
return [...document.querySelectorAll("main *")].filter((one) => {
  if (one.closest("[hidden]") || !one.getClientRects().length) return false;
  const { left, top, right, bottom } = one.getBoundingClientRect();
  return left < -1 || top < -1 || right > innerWidth + 1 || bottom > innerHeight + 1;
}).map((one) => one.outerHTML.slice(0, 120));
"""
_CUT = """
const texts = "header div, #band, h1, dt, dd, figcaption, .prediction span, #badges span";
return [...document.querySelectorAll(texts)]
  .filter((one) => one.getClientRects().length && one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.textContent);
"""


def check_sizes(browser: Browser) -> None:
    """Nothing is outside of the screen, and no text is cut, on any of them."""
    for size in SIZES:
        browser.size(size)
        assert browser.run(_OUTSIDE) == [] and browser.run(_CUT) == [], size


@pytest.mark.parametrize("language", ["en", "de"])
def test_everything_is_on_the_screen(language: str) -> None:
    rules = WINDOW | {"betting": {"seconds": 20.0}}
    with shown(overrides=rules) as table, Browser(SIZES[0]) as browser:
        browser.open(f"{table.address}?lang={language}")
        table.do("bets open")
        table.do("bets close")
        table.deal(4)
        table.finish()
        table.do("cut-card")
        table.do("bets open")
        browser.wait(lambda: browser.shown("#countdown") and browser.shown("#last-hand"), "all of it")
        check_sizes(browser)
        table.do("bets close")
        table.deal(4)
        table.finish()
        browser.wait(lambda: browser.value("#band", "className") == "result player", "the result")
        check_sizes(browser)
        table.daemon.stop_somehow()
        browser.wait(lambda: browser.value("#band", "className") == "lost", "that it is lost")
        check_sizes(browser)


@pytest.mark.parametrize("down", [False, True])
def test_no_card_of_one_hand_lies_in_the_other(down: bool) -> None:
    rules = BARE | {"dealing": {"confirm": "dealer"} | ({"deal": "face-down"} if down else {})}
    with ShownTable(overrides=rules) as table, Browser(SIZES[0]) as browser:
        table.start()
        table.open_table("2S 3D 3H KC TS TD")
        browser.open(table.address)
        table.bets()
        cards = (4, 6) if down else (6,)
        for lie in cards:
            if lie == 6 and down:
                table.do("turn")
            table.deal(lie if lie == cards[0] else 2)
            for size in SIZES:
                browser.size(size)
                browser.run("for (const one of document.getAnimations()) one.finish()")
                check_hands_apart(browser, "#stage .hand", lie, rows=False)


_DRAWN_CONTRAST = """
const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const numbers = (text) => text.match(/[0-9.]+/g).slice(0, 3).map(Number);
const ink = (one) => { // what it is drawn with
  const { fill, stroke } = getComputedStyle(one);
  return numbers(fill === "none" ? stroke : fill);
};
const under = (one) => { // the colour behind the whole picture
  for (; one; one = one.parentElement) {
    const found = getComputedStyle(one).backgroundColor;
    if (!/, 0\\)$/.test(found)) return numbers(found);
  }
};
const dimmed = (one) => { // how much of it is left of what it was
  let left = 1;
  for (; one; one = one.parentElement) left *= Number(getComputedStyle(one).opacity);
  return left;
};
const grounds = { // what it lies on in its own picture; none: on the page
  ".card .rank, .card path": (one) => one.closest("svg").querySelector(".paper"),
  ".mark .letter": (one) => one.parentElement.querySelector(".full"),
  ".mark .ties, .mark .ring, .mark .full, .mark .slash": (one) => one.closest("svg").querySelector(".plate"),
  ".prediction .ring, .prediction .full, .prediction .slash, .prediction .none": () => null,
  "#countdown .seconds, #countdown .arc": () => null,
};
const found = [];
let looked = 0;
for (const [css, lies] of Object.entries(grounds)) {
  for (const one of document.querySelectorAll(css)) {
    if (!one.getClientRects().length || one.classList.contains("hatch")) continue;
    looked += 1;
    const on = lies(one), page = under(one.closest("svg")), left = dimmed(one);
    const mixed = (colour) => colour.map((part, i) => part * left + page[i] * (1 - left));
    const [a, b] = [mixed(ink(one)), on ? mixed(ink(on)) : page].map(light);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (one.tagName === "text" ? 4.5 : 3)) found.push([css, one.outerHTML.slice(0, 80), ratio]);
  }
}
return [looked, found];
"""
"""Text of a picture has 4.5 to 1 at least, every other shape that means something 3 to 1 (WCAG 2, 1.4.11)."""


def stands_out(browser: Browser, *drawn: str) -> None:
    """All text on the page and in its pictures. ``drawn``: what must be there to be looked at."""
    browser.run("for (const one of document.getAnimations()) one.finish()")
    assert browser.run(CONTRAST) == []
    assert all(browser.shown(one) for one in drawn), drawn
    looked, faint = browser.run(_DRAWN_CONTRAST)
    assert looked >= len(drawn) and faint == []


def test_text_and_marks_stand_out_from_their_ground(browser: Browser) -> None:
    """In every phase; a loser's cards, which are dimmed, too."""
    with shown() as table:
        browser.open(table.address)
        browser.wait_text("THE NEXT ROUND", "#band")
        stands_out(browser)
        for _ in range(3):
            table.do("bets open")
            browser.wait_text("PLACE YOUR BETS", "#band")
            stands_out(browser, "#countdown .seconds", "#countdown .arc")
            table.phase("no more bets")
            browser.wait_text("NO MORE BETS", "#band")
            stands_out(browser)
            table.deal(4)
            table.finish()
            browser.wait(lambda: "result" in str(browser.value("#band", "className")), "the result")
            stands_out(browser, ".card .rank", ".card path.red", ".mark .letter", ".mark .ring")
        assert browser.all(".loser .card .rank")
        table.do("hold")
        browser.wait_text("ONE MOMENT", "#band")
        stands_out(browser)


def test_nothing_moves_for_who_wants_no_motion(browser: Browser) -> None:
    moving = "return document.getAnimations().length"
    with shown() as table:
        table.play_round()
        browser.open(table.address)
        browser.wait_text("BANKER WINS", "#band")
        assert browser.run(moving) > 0
        browser.command(
            "Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}]
        )
        try:
            browser.open(table.address)
            browser.wait_text("BANKER WINS", "#band")
            assert browser.run(moving) == 0
            table.do("bets open")
            browser.wait_text("PLACE YOUR BETS", "#band")
            arc = browser.run("return document.querySelector('.arc').getAttribute('stroke-dasharray')")
            assert arc == "100 200", "the ring goes second by second"
        finally:
            browser.command("Emulation.setEmulatedMedia", features=[])


def test_the_address_is_all_that_a_page_may_ask(browser: Browser) -> None:
    """The policy holds: what a page would load or run from elsewhere is refused."""
    with shown() as table:
        browser.open(table.address)
        browser.wait_text("THE NEXT ROUND", "#band")
        refused = browser.run(
            "return fetch('http://127.0.0.1:9/').then(() => 'reached', (fault) => fault.name)"
        )
        assert refused == "TypeError"
        assert any("Content Security Policy" in one for one in browser.complaints())
        browser.run(
            "const s = document.createElement('script'); s.text = 'window.ran = 1'; document.head.append(s)"
        )
        assert browser.run("return window.ran === undefined")
