"""A whole shoe is watched: at each phase the page says what the journal says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import Browser
from tests.e2e.harness import BARE
from tests.web.pictures import shoe
from tests.web.tables import WINDOW, ShownTable, check_boards, check_hands, hand

CUT_AT = 364
"""Cards before the cutting card of a full shoe."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as made:
        yield made


def look_at_round(browser: Browser, table: ShownTable, number: int, *, closely: bool) -> str:
    """One round, looked at in each of its phases; how it ended."""
    table.do("bets open")
    browser.wait_text("PLACE YOUR BETS", "#band")
    assert f"Round {number}" in browser.text("#name")
    if closely:
        left = table.client.state()["round"]["seconds_left"]
        seconds = int(browser.text("#countdown"))
        assert left - 0.5 <= seconds <= left + 1.5, (seconds, left)
    check_hands(browser, "", "", ("", ""))
    table.phase("no more bets")
    browser.wait_text("NO MORE BETS", "#band")
    assert not browser.shown("#countdown")
    result: dict[str, Any] = {}
    while not result:
        table.draw_one()
        state = table.client.state()
        now = state["round"]
        if now is None:
            break
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
            break
    table.finish()
    (data,) = [
        event["data"]
        for event in table.public()
        if event["type"] == "tablectl.round.resulted.v1" and event["data"]["round"] == number
    ]
    words = {"player": "PLAYER WINS", "banker": "BANKER WINS", "tie": "TIE"}[data["outcome"]]
    browser.wait_text(f"{data['player']['total']} : {data['banker']['total']}", "#band")
    assert words in browser.text("#band") and f"Round {number}" in browser.text("#band")
    for side in ("player", "banker"):
        assert hand(browser, side) == (data[side]["cards"], str(data[side]["total"]))
        badges = browser.texts(f"#badges .{side}")
        called = side.capitalize()
        assert (f"{called} pair" in badges) == data[side]["pair"]
        assert (f"{called} natural" in badges) == data[side]["natural"]
    return str(data["outcome"])


def test_a_whole_shoe_watched_at_each_phase(browser: Browser) -> None:
    rules = {"betting": {"seconds": 0.6, "pips": 2, "pip_every": 0.1}}
    with ShownTable(overrides=BARE | rules) as table:
        table.start()
        browser.open(table.address)
        browser.wait_text("TABLE CLOSED", "#band")
        assert not browser.shown("#boards")
        assert "Table E2E" in browser.text("#name") and browser.text("#test") == "TEST TABLE"
        table.do("open")
        table.do("sign-in", name="Dora", pickup="left")
        browser.wait_text("A NEW SHOE IS BEING PREPARED", "#band")
        assert browser.text("#limits") == "USD 10 – 400"
        table.new_shoe(shoe(11), (CUT_AT,))
        browser.wait_text("THE NEXT ROUND BEGINS SOON", "#band")
        outcomes: list[str] = []
        while True:
            outcomes.append(look_at_round(browser, table, len(outcomes) + 1, closely=len(outcomes) < 3))
            check_boards(browser, table, 1, predictions=table.client.state()["shoe"] is not None)
            state = table.client.state()
            if state["phase"] == "shuffle due":
                break
            said = browser.shown("#last-hand")
            assert said == state["shoe"]["last_hand"]
        assert len(outcomes) > 60 and {*outcomes} == {"player", "banker", "tie"}
        browser.wait_text("Shuffle", "#band")
        last = [e["data"]["round"] for e in table.public() if e["type"] == "tablectl.last_hand.announced.v1"]
        assert last == [len(outcomes)]
        assert browser.complaints() == []
        assert {one.split("/")[2] for one in browser.requests()} == {f"127.0.0.1:{table.display_port}"}


def test_last_hand_is_there_before_the_last_hand(browser: Browser) -> None:
    with ShownTable() as table:
        table.start()
        table.open_table("2C 9D 3H KS 9S 2H KD 3C 2D 3D 4D 5D")
        browser.open(table.address)
        table.play_round()
        browser.wait_text("BANKER WINS", "#band")
        assert not browser.shown("#last-hand")
        table.do("cut-card")
        browser.wait_text("LAST HAND BEFORE SHUFFLE", "#last-hand")
        table.bets()
        assert browser.shown("#last-hand")
        table.deal(4)
        table.finish()
        browser.wait_text("PLAYER WINS", "#band")
        check_boards(browser, table, 1, predictions=False)


def test_the_countdown_is_the_tables_own_and_ends_with_it(browser: Browser) -> None:
    with ShownTable(overrides=WINDOW | {"betting": {"seconds": 4.0}}) as table:
        table.start()
        table.open_table("2C 9D 3H KS")
        browser.open(table.address)
        browser.wait_text("THE NEXT ROUND", "#band")
        table.do("bets open")
        browser.wait_text("PLACE YOUR BETS", "#band")
        looked = []
        while (state := table.client.state())["phase"] == "betting":
            left, shown = (
                state["round"]["seconds_left"],
                browser.run("return document.querySelector('#countdown .seconds').textContent"),
            )
            looked.append((left, int(shown)))
            time.sleep(0.1)
        assert len(looked) > 10
        for left, shown in looked:
            assert -0.4 <= shown - left <= 1.4, looked
        browser.wait_text("NO MORE BETS", "#band", timeout=1.0)
