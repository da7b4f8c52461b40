"""A table whose display can be reached by a browser, and what its page should say by the journal's word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tablectl.cards import Outcome, Side
from tablectl.roads import LAGS, Mark, bead_plate, big_road, derived_road, prediction, statistics
from tests.browser import Browser
from tests.e2e.harness import BARE, Changes, Rig, free_port, standing

WINDOW = BARE | {"betting": {"seconds": 1.0, "pips": 2, "pip_every": 0.2}}
"""No burn cards and no inspection, and betting that lasts long enough to be looked at."""


class ShownTable(Rig):
    """A :class:`Rig` with a read-only address. ``display``: keys of ``[display]``, as TOML."""

    def __init__(self, *, overrides: Changes = WINDOW, display: str = "", **options: Any) -> None:
        super().__init__(overrides=overrides, **options)
        self.display_port = free_port()
        text = self.config.read_text()
        listen = f'[api]\nlisten = "127.0.0.1:{self.display_port}"\n'
        self.config.write_text(f"{text.replace('[api]' + chr(10), listen)}\n[display]\n{display}\n")

    @property
    def address(self) -> str:
        """Where the display's page is."""
        return f"http://127.0.0.1:{self.display_port}/"

    def draw_one(self) -> None:
        """The next card is drawn; where the cutting card is before it, both."""
        out = self.client.state()["shoe"]["out"]
        drawn = self.shoe.draw()
        assert drawn is not None
        if drawn.card is None:
            assert self.shoe.draw() is not None
        self.wait(lambda s: s["shoe"]["out"] == out + 1, "the card is seen")

    def marks(self, shoe: int) -> list[Mark]:
        """The results of a shoe as the public events of the journal leave them."""
        found: dict[int, Mark] = {}
        for where, (state, _, data) in standing(self.public()).items():
            number, round_ = (int(part) for part in where.split("/"))
            if number == shoe and state != "voided":
                found[round_] = Mark(
                    Outcome(data["outcome"]),
                    player_pair=data["player"]["pair"],
                    banker_pair=data["banker"]["pair"],
                    natural=data["player"]["natural"] or data["banker"]["natural"],
                )
        return [found[round_] for round_ in sorted(found)]


@dataclass(frozen=True, slots=True)
class Boards:
    """The boards a page has drawn, or should have: cells as (column, row, what is in it), in order."""

    bead: list[tuple[int, int, str]]
    big: list[tuple[int, int, str]]
    derived: dict[str, list[tuple[int, int, str]]]
    predictions: dict[str, str]
    statistics: dict[str, str]


COLUMNS = {"bead": 14, "big": 36}
COLUMNS_DERIVED = 20


def expected(marks: list[Mark], *, predictions: bool = True) -> Boards:
    """By :mod:`tablectl.roads`, which has tests of its own."""
    bead = [(at.column, at.row, at.what.outcome.value) for at in bead_plate(marks)]
    big = [(cell.column, cell.row, cell.side.value if cell.side else "tie") for cell in big_road(marks)]
    return Boards(
        _newest(bead, COLUMNS["bead"]),
        _newest(big, COLUMNS["big"]),
        {
            road.value: _newest(
                [(at.column, at.row, at.what.value) for at in derived_road(marks, road)], COLUMNS_DERIVED
            )
            for road in LAGS
        },
        {
            side.value: " ".join(
                found.value if (found := prediction(marks, road, side)) else "null" for road in LAGS
            )
            for side in Side
        }
        if predictions
        else {},
        {name: str(count) for name, count in statistics(marks).items()},
    )


def _newest(cells: list[tuple[int, int, str]], columns: int) -> list[tuple[int, int, str]]:
    """A board shows its last columns, and one free."""
    first = max(0, max((column for column, _, _ in cells), default=-1) + 2 - columns)
    return [(column - first, row, what) for column, row, what in cells if column >= first]


_READ = """
const read = (id) => [...document.querySelectorAll(`#${id} g.mark`)].map((mark) => {
  const [x, y] = mark.getAttribute("transform").match(/[0-9.]+/g).map(Number);
  const what = mark.querySelector(".full, .ring, .slash").getAttribute("class").split(" ")[1];
  return [(x - 10) / 20, (y - 10) / 20, what];
});
const derived = ["big-eye-boy", "small-road", "cockroach-pig"];
return {
  bead: read("bead"),
  big: read("big"),
  derived: Object.fromEntries(derived.map((id) => [id, read(id)])),
  predictions: Object.fromEntries([...document.querySelectorAll(".prediction")].map(
    (one) => [one.classList[1], one.dataset.colours])),
  statistics: Object.fromEntries([...document.querySelectorAll("#statistics div")].map(
    (one) => [one.dataset.name, one.querySelector("dd").textContent])),
};
"""


def drawn(browser: Browser) -> Boards:
    """What the page shows now."""
    made = browser.run(_READ)

    def cells(found: list[list[Any]]) -> list[tuple[int, int, str]]:
        return [(int(column), int(row), what) for column, row, what in found]

    return Boards(
        cells(made["bead"]),
        cells(made["big"]),
        {road: cells(found) for road, found in made["derived"].items()},
        made["predictions"],
        made["statistics"],
    )


def check_boards(browser: Browser, table: ShownTable, shoe: int, *, predictions: bool = True) -> None:
    """The page's boards are the journal's, soon."""
    wanted = expected(table.marks(shoe), predictions=predictions)
    browser.wait(lambda: drawn(browser) == wanted, f"the boards {wanted}, but {drawn(browser)}")


def hand(browser: Browser, side: str) -> tuple[list[str], str]:
    """The cards of a hand as they are drawn, and its total."""
    cards = browser.run(
        "return [...document.querySelectorAll(`#${arguments[0]} .card`)].map((one) => one.dataset.card)", side
    )
    return [card.split()[1] for card in cards], browser.text(f"#{side} .total")


def check_hands(browser: Browser, player: str, banker: str, totals: tuple[str, str]) -> None:
    """The page shows these cards and totals, soon."""
    wanted = (player.split(), totals[0]), (banker.split(), totals[1])
    browser.wait(lambda: (hand(browser, "player"), hand(browser, "banker")) == wanted, f"the hands {wanted}")
