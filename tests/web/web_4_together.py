"""A whole shoe with its display and three players' pages open beside each other, in windows of one browser.

The players bet by the number pad and by mouse.  In every round the display says what the journal says, and
each page what an independent calculation (of :mod:`tests.gameserver.test_settled_at_random`) makes of the
cards that were really drawn; the books say the same, and their sum is zero.
"""

from __future__ import annotations

import json
import random
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser import Browser
from tests.e2e.harness import BARE, TABLE
from tests.gameserver.test_settled_at_random import dealt, net, points
from tests.web.floor import PLAYERS, Floor, amount, books, floor
from tests.web.pictures import shoe
from tests.web.tables import check_boards
from tests.web.watching import deal_and_look, look_at_betting, look_at_the_close, look_at_the_result

SECONDS = 10.0
WINDOW = BARE | {"betting": {"seconds": SECONDS, "pips": 2, "pip_every": 0.2}}
CUT_AT = 364
"""Cards before the cutting card of a full shoe."""
DEPOSIT = 5_000_00
WIDE = (1920, 1080)

AREAS = ("player", "banker", "tie", "player_pair", "banker_pair", "2-way", "3-way")
"""As the keys 1 to 7 have them."""
PARTS = {"2-way": ("player_pair", "banker_pair"), "3-way": ("player_pair", "banker_pair", "tie")}
CALLED = {
    "player": "Player", "banker": "Banker", "tie": "Tie", "player_pair": "Player Pair",
    "banker_pair": "Banker Pair", "2-way": "2-Way (both pairs)", "3-way": "3-Way (both pairs, tie)",
}  # fmt: skip

MAIN = (("player",), ("banker",), ("player", "banker"))
SIDE = ((), ("tie",), ("player_pair",), ("tie", "banker_pair"), ("2-way",), ("tie", "2-way"), ("3-way",))

LATE_BY_KEYS, LATE_BY_HTTP, RUN_OUT, VOID_NOW, AMEND, VOID_EARLIER = 3, 5, 8, 12, 16, 20
"""Rounds in or after which something besides is done."""

Bets = dict[str, int]
"""Area → stake, on each bet of a combination."""


@dataclass
class Own:
    """The independent books: all bets of all rounds, and how the rounds stand. Nothing is patched."""

    bets: dict[int, dict[str, Bets]] = field(default_factory=dict)
    hands: dict[int, tuple[list[str], list[str]] | None] = field(default_factory=dict)
    """Of a round; None: it is void."""

    def rows(self, player: str, number: int) -> dict[tuple[str, str], tuple[int, int | None]]:
        """A round's single bets, (area, part) → (stake, won or lost); None: void."""
        hands = self.hands[number]
        found: dict[tuple[str, str], tuple[int, int | None]] = {}
        for area, stake in self.bets[number].get(player, {}).items():
            for part in PARTS.get(area, (area,)):
                won = net("live-casino", part, stake, *hands) if hands else None
                found[area, part] = stake, won
        return found

    def balance(self, player: str) -> int:
        return DEPOSIT + sum(
            won or 0 for number in self.hands for _, won in self.rows(player, number).values()
        )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser(WIDE) as made:
        yield made


# --- the players ------------------------------------------------------------------------------------


def stakes(chance: random.Random) -> Bets:
    """Something lawful, and often on several areas."""
    main = {area: chance.randint(10, 31) * 100 for area in chance.choice(MAIN)}
    return main | {area: chance.randint(5, 12) * 100 for area in chance.choice(SIDE)}


def by_keys(at: Floor, bets: Bets) -> None:
    """On the number pad, a ten at a time where it can be."""
    for area, stake in bets.items():
        tens, ones = divmod(stake // 100, 10)
        at.pad(str(AREAS.index(area) + 1), *("#" * tens), *("+" * ones))


def by_mouse(at: Floor, bets: Bets) -> None:
    """With chips."""
    for area, stake in bets.items():
        rest = stake
        for place, chip in ((3, 25_00), (2, 5_00), (1, 1_00)):
            times, rest = divmod(rest, chip)
            if times:
                at.browser.click(f"#chips .chip:nth-child({place})")
            for _ in range(times):
                at.browser.click(f"#area-{area}")


def place(at: Floor, bets: Bets, *, mouse: bool) -> None:
    """What is on the slip is placed, and lies there."""
    total = sum(stake * len(PARTS.get(area, (area,))) for area, stake in bets.items())
    assert amount(at.browser.text("#slip")) == total
    if mouse:
        at.browser.click("#place")
    else:
        at.pad(Keys.ENTER)
    at.browser.wait(lambda: amount(at.browser.text("#lying")) == total, f"{total} on the table")
    assert len(at.browser.all("#told .good")) == len(bets) and not at.browser.all("#told .bad")


def play(at: Floor, own: Own, name: str, number: int, chance: random.Random) -> None:
    """One player's turn at the page; what lies there then is noted."""
    at.show(name)
    at.browser.wait_text("Place your bets", "#says")
    last = next((own.bets[n][name] for n in range(number - 1, 0, -1) if own.bets[n].get(name)), None)
    does = chance.random()
    if does < 0.1:
        at.browser.click("#done")
        at.browser.wait_text("No bet in this round", "#told")
        bets: Bets = {}
    elif does < 0.25 and last:
        at.pad("0")
        bets = dict(last)
        place(at, bets, mouse=False)
    elif does < 0.4 and last:
        at.browser.click("#again")
        bets = dict(last)
        place(at, bets, mouse=True)
    else:
        bets = stakes(chance)
        mouse = does < 0.6
        (by_mouse if mouse else by_keys)(at, bets)
        place(at, bets, mouse=mouse)
        if does > 0.85:  # regretted: the last one is taken back, and half as much again lies there instead
            area = list(bets)[-1]
            at.pad(str(AREAS.index(area) + 1), Keys.DELETE)
            at.browser.wait_text(f"{CALLED[area]}: taken back", "#told")
            by_keys(at, {area: 10_00})
            at.pad(Keys.ENTER)
            bets[area] = 10_00
            at.browser.wait_text(f"{CALLED[area]}: placed, 10.00 USD", "#told")
    own.bets[number][name] = bets


# --- what the pages say ---------------------------------------------------------------------------------

_PAGE = """
const all = (css) => [...document.querySelectorAll(css)].map((one) => one.textContent);
return {
  balance: document.getElementById("balance").textContent,
  of: document.getElementById("of").textContent,
  outcome: document.getElementById("outcome").textContent,
  cards: all("#hands .card"),
  ended: all("#ended li"),
  history: [...document.querySelectorAll("#history tr")].map(
    (row) => [...row.children].map((cell) => cell.textContent)),
};
"""
WORDS = {
    "player": "Player wins",
    "banker": "Banker wins",
    "tie": "Tie (Egalité)",
    "void": "Round void: all stakes returned",
}


def outcome(hands: tuple[list[str], list[str]] | None) -> str:
    if hands is None:
        return "void"
    left, right = map(points, hands)
    return "tie" if left == right else "player" if left > right else "banker"


def money(cents: int) -> str:
    return f"{cents / 100:,.2f} USD"


def history(own: Own, name: str, number: int, amended: frozenset[int]) -> list[list[str]]:
    """The rows the page has of a round, sorted."""
    rows = []
    for (area, part), (stake, won) in own.rows(name, number).items():
        bet = CALLED[part] if area == part else f"{CALLED[part]} ({area})"
        how = "void, returned" if won is None else "won" if won > 0 else "lost" if won < 0 else "returned"
        gain = "" if not won else f"+{money(won)}" if won > 0 else f"−{money(-won)}"
        rows.append(
            [f"1/{number}", bet, money(stake), how + (" (Corrected)" if number in amended else ""), gain]
        )
    return sorted(rows)


def check_page(at: Floor, own: Own, name: str, number: int, amended: frozenset[int], *, newest: int) -> None:
    """Balance and result (of ``newest``) on a player's page, and there the history of round ``number``."""
    at.show(name)
    wanted = own.balance(name)
    at.browser.wait(
        lambda: amount(at.browser.text("#balance")) == wanted, f"{name}'s balance {money(wanted)}"
    )
    at.browser.wait(lambda: at.browser.text("#of").startswith(f"1/{newest}"), f"the result of {newest}")
    shown = at.browser.run(_PAGE)
    hands = own.hands[newest]
    assert shown["outcome"] == WORDS[outcome(hands)], (name, number)
    if hands is not None:
        signs = dict(zip("SHDC", "♠♥♦♣", strict=True))
        cards = [card[0].replace("T", "10") + signs[card[1]] for side in hands for card in side]
        assert shown["cards"] == cards
    assert len(shown["ended"]) == len(own.rows(name, newest))
    mine = sorted(row for row in shown["history"] if row[0] == f"1/{number}")
    assert mine == history(own, name, number, amended), name


def check_books(at: Floor, own: Own) -> None:
    """Every account adds up, their sum is zero, nothing lies on the table, each balance is the own one."""
    accounts = at.accounts()
    assert sum(account.balance for account in accounts.values()) == 0
    assert {name: accounts[f"player/{name}"].balance for name in PLAYERS} == {
        name: own.balance(name) for name in PLAYERS
    }
    assert accounts[f"stakes/{TABLE}"].balance == 0


# --- too late -----------------------------------------------------------------------------------------

_DEAF = """
window.honest = window.fetch;
window.fetch = (path, options) =>
  String(path).includes("/play?") ? new Promise(() => {}) : window.honest(path, options);
document.dispatchEvent(new Event("visibilitychange")); // it asks anew, and that is what waits now
"""
"""The page hears no news from now on, as when they are late on the way."""


def bet_after_the_beep_on_the_page(at: Floor, name: str) -> None:
    """A page on which betting is still open, by what it has heard, sends its slip after the close."""
    at.show(name)
    at.browser.run(_DEAF)
    by_keys(at, {"tie": 7_00})
    at.rig.do("bets close")
    at.browser.wait(lambda: not at.placed()["open"], "the server has closed")
    before, shown = at.balance(name), at.browser.text("#lying")
    at.pad(Keys.ENTER)
    at.browser.wait_text("Tie: No more bets: betting is closed.", "#told")
    assert at.browser.text("#lying") == shown and at.balance(name) == before
    at.browser.driver.refresh()
    at.browser.wait_text("No more bets", "#says")


def bet_after_the_beep_by_http(at: Floor, name: str, number: int) -> None:
    before = at.balance(name)
    body = {
        "id": f"late-{time.monotonic_ns()}",
        "round": f"1/{number}",
        "bets": [{"area": "player", "stake": 10_00}],
    }
    request = urllib.request.Request(
        f"{at.rig.server_url}/v1/tables/{TABLE}/wagers",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {at.tokens[name]}"},
    )
    with urllib.request.urlopen(request, timeout=5) as got:
        answer = json.load(got)
    (bet,) = answer["bets"]
    assert not bet["accepted"] and bet["reason"]["code"] == answer["reason"]["code"] == "late"
    assert bet["reason"]["de"].startswith("Nichts geht mehr") and at.balance(name) == before


# --- the shoe -----------------------------------------------------------------------------------------


def look_at(at: Floor, handle: str) -> Browser:
    at.browser.show(handle)
    return at.browser


def drawn_hands(at: Floor) -> tuple[list[str], list[str]]:
    """The newest hand as the shoe gave it, dealt by the independent rule."""
    player, banker, used = dealt(at.rig.shoe.hands[-1])
    assert used == len(at.rig.shoe.hands[-1])
    return player, banker


def lawful_amendment(own: Own) -> tuple[int, str]:
    """A round of four cards, and a Player's second card with which it ends otherwise and is lawful still."""
    for number in sorted(own.hands, reverse=True):
        hands = own.hands[number]
        if hands is None or len(hands[0]) + len(hands[1]) != 4 or not any(own.bets[number].values()):
            continue
        player, banker = hands
        for rank in "23456789A":
            other = [player[0], rank + "S"], banker
            stands = max(map(points, other)) >= 8 or min(map(points, other)) >= 6
            if stands and outcome(other) != outcome(hands):
                return number, other[0][1]
    raise AssertionError("no round of this shoe can be amended so")


@pytest.mark.timeout(600)
def test_a_whole_shoe_with_three_players_and_the_display(browser: Browser) -> None:
    chance, own = random.Random(7), Own()
    with floor(browser, WINDOW, shoe(11), (CUT_AT,), deposit=DEPOSIT) as at:
        browser.show(at.display)
        browser.open(at.rig.address)
        browser.wait_text("THE NEXT ROUND BEGINS SOON", "#band")
        outcomes: set[str] = set()
        for number in count(1):
            play_round(at, own, number, chance)
            outcomes.add(outcome(own.hands[number]))
            if number in (VOID_NOW, VOID_EARLIER, AMEND):
                correct(at, own, number)
            browser.show(at.display)
            state = at.rig.client.state()
            check_boards(browser, at.rig, 1, predictions=state["shoe"] is not None)
            if state["phase"] == "shuffle due":
                break
            assert browser.shown("#last-hand") == state["shoe"]["last_hand"]
        assert number > 60 and outcomes == {"player", "banker", "tie"}
        browser.wait_text("Shuffle", "#band")
        last = [e["data"]["round"] for e in at.rig.public() if e["type"] == "tablectl.last_hand.announced.v1"]
        assert last == [number]
        for handle in (at.display, *at.pages.values()):
            assert look_at(at, handle).complaints() == []
        ours = {at.rig.address, f"{at.rig.server_url}/"}
        assert {f"{one.split('/')[0]}//{one.split('/')[2]}/" for one in browser.requests()} == ours
        at.rig.check_everything()


def play_round(at: Floor, own: Own, number: int, chance: random.Random) -> None:
    """One round, on all four pages; ``own`` has it then."""
    browser, rig = at.browser, at.rig
    own.bets[number] = {}
    rig.do("bets open")
    look_at_betting(look_at(at, at.display), rig, number)
    for name in PLAYERS:
        play(at, own, name, number, chance)
    assert at.placed()["all_placed"], "the dealer may close early"
    if number == LATE_BY_KEYS:
        bet_after_the_beep_on_the_page(at, "bob")
    elif number == RUN_OUT:
        run_out(at)
    else:
        rig.do("bets close")
    look_at_the_close(look_at(at, at.display))
    if number == LATE_BY_HTTP:
        bet_after_the_beep_by_http(at, "eva", number)
    deal_and_look(browser, rig)
    own.hands[number] = drawn_hands(at)
    rig.finish()
    data = look_at_the_result(browser, rig, number)
    hands = tuple(data[side]["cards"] for side in ("player", "banker"))
    assert hands == own.hands[number] and data["outcome"] == outcome(own.hands[number])
    for name in PLAYERS:
        check_page(at, own, name, number, frozenset(), newest=number)
    check_books(at, own)


def run_out(at: Floor) -> None:
    """Nobody closes: the table's own deadline, the beep, and all the pages say so together."""
    at.show("ann")
    at.pad("3", *"+" * 6)
    at.browser.wait_text("No more bets", "#says", timeout=SECONDS + 2)
    assert at.rig.client.state()["phase"] == "no more bets"
    at.browser.wait_text("Not placed in time, not staked: Tie 6.00 USD", "#told")
    at.pad("3", "+", Keys.ENTER)
    at.browser.wait_text("Choose an area and a stake first.", "#told")


def correct(at: Floor, own: Own, now: int) -> None:
    """A void of the newest round, an amendment, a void of an earlier one: on every page, and in the books."""
    amended: frozenset[int] = frozenset()
    if now == AMEND:
        number, card = lawful_amendment(own)
        at.rig.do("amend", supervised=True, round=f"1/{number}", P2=card)
        hands = own.hands[number]
        assert hands is not None
        own.hands[number] = [hands[0][0], card], hands[1]
        amended = frozenset({number})
    else:
        number = now if now == VOID_NOW else now - 3
        at.rig.do("void", supervised=True, round=f"1/{number}")
        own.hands[number] = None
    for name in PLAYERS:
        check_page(at, own, name, number, amended, newest=now)
    check_books(at, own)
    check_the_ledger_keeps_both(at, own, number)
    browser = look_at(at, at.display)
    if number == now:
        browser.wait_text("Corrected result" if amended else "ROUND VOID", "#band")


def check_the_ledger_keeps_both(at: Floor, own: Own, number: int) -> None:
    """Each bet of the round has two endings, and what the first one moved is there, and moved back."""
    with books(at.rig) as (store, _):
        for name in PLAYERS:
            bets = store.sql(
                "SELECT number FROM wagers WHERE player = ? AND round = ? AND state = 'settled'", name, number
            )
            assert len(bets) == len(own.rows(name, number))
            for (bet,) in bets:
                first, second = store.sql(
                    "SELECT back, won FROM endings WHERE wager = ? ORDER BY number", bet
                )
                ((undone,),) = store.sql(
                    "SELECT count(*) FROM movements AS later JOIN movements AS earlier"
                    " ON later.takes_back = earlier.number AND later.source = earlier.target"
                    " AND later.amount = earlier.amount WHERE later.wager = ?",
                    bet,
                )
                assert undone > 0 or tuple(first) == tuple(second)
