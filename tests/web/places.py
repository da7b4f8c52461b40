"""Where things lie on a page, not only what they say: each card in its own hand, nothing out of reach."""

from __future__ import annotations

from tests.browser import Browser

MIXED = """
const [css, rows] = arguments;
const hands = [...document.querySelectorAll(css)];
const box = (one) => one.getBoundingClientRect();
const beside = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1;
const apart = (a, b) => beside(a, b) || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
const across = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1;
const inside = (a, b) => across(a, b) && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
const found = hands.length === 2 ? [] : [`${hands.length} hands`];
hands.forEach((hand, at) => {
  const others = hands.filter((one) => one !== hand).map(box);
  if (!across(box(hand), {left: 0, right: innerWidth})) found.push(`hand ${at} leaves the page`);
  if (!others.every((other) => apart(box(hand), other))) found.push(`hand ${at} lies over the other`);
  const cards = [...hand.querySelectorAll(".card")].map(box);
  cards.forEach((card, n) => {
    if (!inside(card, box(hand))) found.push(`hand ${at}: card ${n} lies outside`);
    if (!others.every((other) => apart(card, other))) found.push(`hand ${at}: card ${n} in the other`);
    if (rows && Math.abs(card.top - cards[0].top) > 1) found.push(`hand ${at}: card ${n} in another row`);
  });
});
return found;
"""


def check_hands_apart(browser: Browser, css: str, cards: int, *, rows: bool = True) -> None:
    """Two hands of so many cards in all, each a block of its own in which all of its cards lie.

    ``rows``: in one row, too.
    """
    browser.wait(lambda: len(browser.all(f"{css} .card")) == cards, f"{cards} cards")
    mixed = browser.run(MIXED, css, rows)
    assert mixed == [], (browser.run("return [innerWidth, innerHeight]"), mixed)
