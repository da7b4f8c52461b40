"""A round looked at on the display, in each of its phases, beside what the table and its journal say."""

from __future__ import annotations

from typing import Any

from tests.browser import Browser
from tests.web.tables import ShownTable, check_hands, hand

CONTRAST = """
const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const numbers = (text) => text.match(/[0-9.]+/g).map(Number);
const ground = (one) => {
  for (; one; one = one.parentElement) {
    const found = numbers(getComputedStyle(one).backgroundColor);
    if (found.length === 3 || found[3] > 0) return found;
  }
  return [255, 255, 255];
};
return [...document.querySelectorAll("main *")]
  .filter((one) => !one.closest("svg") && one.getClientRects().length
    && [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
  .map((one) => {
    const [a, b] = [numbers(getComputedStyle(one).color), ground(one)].map(light);
    return [one.textContent, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
  })
  .filter(([, ratio]) => ratio < 4.5);
"""
"""Every text of a page that has less than 4.5 to 1 with its ground (WCAG 2, level AA)."""

WORDS = {"player": "PLAYER WINS", "banker": "BANKER WINS", "tie": "TIE"}


def look_at_betting(browser: Browser, table: ShownTable, number: int) -> None:
    """Betting is open: the sentence, the round, the seconds, and no card."""
    browser.wait_text("PLACE YOUR BETS", "#band")
    assert f"Round {number}" in browser.text("#name")
    left = table.client.state()["round"]["seconds_left"]
    seconds = int(browser.text("#countdown"))
    assert left - 0.5 <= seconds <= left + 1.5, (seconds, left)
    check_hands(browser, "", "", ("", ""))


def look_at_the_close(browser: Browser) -> None:
    """No more bets: said, and nothing counts down."""
    browser.wait_text("NO MORE BETS", "#band")
    assert not browser.shown("#countdown")


def deal_and_look(browser: Browser, table: ShownTable) -> None:
    """Card by card up to the last one of the hand."""
    while True:
        table.draw_one()
        now = table.client.state()["round"]
        if now is None:
            return
        cards = now["cards"]
        told = {side: " ".join(cards[place] for place in cards if place[0] == side) for side in "PB"}
        totals = [now[f"{side}_total"] for side in ("player", "banker")]
        shown = tuple("" if total is None else str(total) for total in totals)
        check_hands(browser, told["P"], told["B"], (shown[0], shown[1]))
        if len(cards) < 4:
            browser.wait_text("CARDS ARE BEING DEALT", "#band")
        elif now["next"] != "none":
            browser.wait_text(f"{now['next']} draws".upper(), "#band")
            assert browser.value("#arrow", "className") == now["next"]
        else:
            browser.wait_text("NO MORE CARDS", "#band")
            assert browser.value("#player", "className") == "hand", "no winner before the announcement"
            return


def look_at_the_result(browser: Browser, table: ShownTable, number: int) -> dict[str, Any]:
    """The banner, the hands, naturals and pairs of the round whose result has just come; what it was."""
    data: dict[str, Any]
    (data,) = [
        event["data"]
        for event in table.public()
        if event["type"] == "tablectl.round.resulted.v1" and event["data"]["round"] == number
    ]
    browser.wait_text(f"{data['player']['total']} : {data['banker']['total']}", "#band")
    said = browser.text("#band")
    assert WORDS[data["outcome"]] in said and f"Round {number}" in said
    for side in ("player", "banker"):
        assert hand(browser, side) == (data[side]["cards"], str(data[side]["total"]))
        badges = browser.texts(f"#badges .{side}")
        called = side.capitalize()
        assert (f"{called} pair" in badges) == data[side]["pair"]
        assert (f"{called} natural" in badges) == data[side]["natural"]
    return data
