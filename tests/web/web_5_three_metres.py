"""Read from three metres, on a monitor of 24 inches: how large each thing is, measured on the page itself.

The rule (docs/display.md): text that must be read from there has capitals of 16 minutes of arc, 14 mm;
marks, of which one looks at colour and place, are 10 minutes across on the bead plate, 8 on the big road and
5 on the derived roads, and no line of theirs is thinner than one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import atan, degrees, hypot

import pytest

from tests.browser import Browser
from tests.web.pictures import play_round, shoe
from tests.web.tables import WINDOW, ShownTable

DISTANCE = 3000.0
DIAGONAL = 24 * 25.4
"""Both in mm."""
SIZES = [(1280, 720), (1920, 1080), (3840, 2160), (1080, 1920)]
"""Each as the whole of that monitor, which hangs on its side for the last."""

MARKS = {
    "#bead .full": 10,
    "#big .ring": 8,
    "#big-eye-boy .ring": 5,
    "#small-road .full": 5,
    "#cockroach-pig .slash": 5,
}
"""How many minutes across."""
LINES = ["#big .ring", "#big .slash", "#big-eye-boy .ring", "#cockroach-pig .slash"]

_CAPITALS = """
const context = document.createElement("canvas").getContext("2d");
const seen = [...document.querySelectorAll(arguments[0])].filter((one) => one.getClientRects().length);
return seen.map((one) => {
  const style = getComputedStyle(one);
  context.font = `${style.fontWeight} 100px ${style.fontFamily}`;
  const scale = one.getScreenCTM ? Math.hypot(one.getScreenCTM().a, one.getScreenCTM().b) : 1;
  return parseFloat(style.fontSize) * scale * context.measureText("H").actualBoundingBoxAscent / 100;
});
"""
_ACROSS = """
return [...document.querySelectorAll(arguments[0])].map((one) => {
  const { width, height } = one.getBoundingClientRect(), style = getComputedStyle(one);
  const { a, b } = one.getScreenCTM();
  const line = style.stroke === "none" ? 0 : parseFloat(style.strokeWidth) * Math.hypot(a, b);
  return [Math.min(width, height) + line, line];
});
"""


def minutes(browser: Browser, pixels: float) -> float:
    """Under how many minutes of arc a length on the screen is seen."""
    across = hypot(*browser.run("return [innerWidth, innerHeight]"))
    return degrees(atan(pixels * DIAGONAL / across / DISTANCE)) * 60


def check_texts(browser: Browser, *wanted: str) -> None:
    """Each of these is there, and large enough."""
    for css in wanted:
        capitals = browser.run(_CAPITALS, css)
        assert capitals, css
        assert minutes(browser, min(capitals)) >= 16, (css, minutes(browser, min(capitals)))


@contextmanager
def playing(size: tuple[int, int], language: str) -> Iterator[tuple[ShownTable, Browser]]:
    with ShownTable(overrides=WINDOW | {"betting": {"seconds": 20.0}}) as table, Browser(size) as browser:
        table.start()
        table.open_table(shoe(11))
        browser.open(f"{table.address}?lang={language}")
        yield table, browser


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_must_be_read_can_be(language: str) -> None:
    with playing(SIZES[0], language) as (table, browser):
        while not (browser.all("#cockroach-pig .slash") and browser.all("#big .slash.tie")):
            table.do("bets open")
            table.do("bets close")
            play_round(table)
            table.finish()
            browser.wait(lambda: "result" in str(browser.value("#band", "className")), "the result")
        for size in SIZES:
            browser.size(size)
            check_texts(browser, "#band strong", ".hand h1", ".total", ".card .rank")
            pips = browser.run(_ACROSS, ".card path")
            assert minutes(browser, min(across for across, _ in pips)) >= 16
            for css, least in MARKS.items():
                across = min(across for across, _ in browser.run(_ACROSS, css))
                assert minutes(browser, across) >= least, (css, minutes(browser, across))
            for css in LINES:
                line = min(line for _, line in browser.run(_ACROSS, css))
                assert minutes(browser, line) >= 1, (css, minutes(browser, line))
        table.do("cut-card")
        table.do("bets open")
        browser.wait(lambda: browser.shown("#countdown") and browser.shown("#last-hand"), "all of it")
        for size in SIZES:
            browser.size(size)
            check_texts(browser, "#band strong", ".hand h1", "#countdown .seconds", "#last-hand strong")


_SENTENCES = """
const [code] = arguments;
return import("/display/words.js").then(({ wordsOf }) => {
  const words = wordsOf(code), band = document.getElementById("band"), [strong, span] = band.children;
  const said = [words.betting, words.noMoreBets, words.dealing, words.faceDown, ...Object.values(words.draws),
    words.complete, words.closed, words.noShoe, words.burning, words.idle, words.shuffle];
  const sentences = said.map((one) => [one, ""]);
  const besides = `${words.ofRound(81)} · ${words.amended}`;
  for (const one of Object.values(words.wins)) sentences.push([`${one}  9 : 9`, besides]);
  sentences.push([words.void, `${words.voidMore} · ${words.ofRound(81)}`]);
  sentences.push([words.held, words.heldMore], [words.betting, words.held]);
  const outside = () => [strong, span].some((one) => {
    if (!one.textContent) return false;
    const box = one.getBoundingClientRect(), whole = band.getBoundingClientRect();
    const aside = box.left < whole.left || box.right > whole.right;
    return aside || box.top < whole.top || box.bottom > whole.bottom;
  });
  return sentences.filter(([first, second]) => {
    strong.textContent = first;
    span.textContent = second;
    return outside();
  }).map((one) => one.join(" | "));
});
"""


@pytest.mark.parametrize("size", [(1920, 1080), (1080, 1920)], ids=["lying", "on its side"])
def test_every_sentence_has_room(size: tuple[int, int]) -> None:
    with playing(size, "en") as (_, browser):
        browser.wait_text("THE NEXT ROUND", "#band")
        assert [browser.run(_SENTENCES, code) for code in ("en", "de")] == [[], []]
