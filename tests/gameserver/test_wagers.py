"""Wagers: taken only in an open betting, within the limits, once per area; the reason is said in words."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tablectl.clock import iso
from tablectl.events import BettingOpened, RoundVoided, ShoeStarted, TableClosed
from tablectl.gameserver.bank import FORGOTTEN_AT_ONCE, REMEMBERED, OtherRequest
from tablectl.gameserver.money import minor, shown, winnings
from tablectl.gameserver.players import Player
from tablectl.gameserver.wagers import REASONS, Bet
from tablectl.profiles import load_rules
from tests.gameserver.posting import NOW
from tests.gameserver.wagering import LIVE, TIES_STAND, Wagering, shoe_started


@pytest.fixture
def table(tmp_path: Path) -> Wagering:
    made = Wagering(tmp_path / "server.db")
    made.opened()
    return made


def test_what_is_placed_lies_there_and_can_be_taken_back_until_the_close(table: Wagering) -> None:
    ann = table.player()
    table.betting()
    assert table.place(ann, player=10_00, tie=5_00) == ["", ""]
    assert (table.balance(ann), table.bank.ledger.balance("stakes/T07", "USD")) == (985_00, 15_00)
    assert table.take_back(ann, "tie") == [""]
    assert table.balance(ann) == 990_00
    assert table.take_back(ann, "tie") == ["nothing"]
    assert table.place(ann, tie=6_00) == [""]
    table.closed()
    assert table.take_back(ann, "tie") == ["late"]
    assert table.take_back(ann) == []
    assert table.balance(ann) == 984_00
    assert table.sound()


@pytest.mark.parametrize("areas", [["player"] * 20, ["2-way", "2-way"], ["player", "2-way", "player"]])
def test_an_area_that_is_named_again_is_given_back_once(table: Wagering, areas: list[str]) -> None:
    ann = table.player()
    table.betting()
    table.place(ann, player=10_00, two_way=5_00)
    assert set(table.take_back(ann, *areas)) == {""}
    named = set(areas)
    assert table.balance(ann) == 1_000_00 - 10_00 * ("player" not in named) - 10_00 * ("2-way" not in named)
    assert table.sound()


def test_a_stake_leaves_the_layout_once(table: Wagering) -> None:
    """Whoever asks: what was dealt with is not dealt with again by a reader of before."""
    ann = table.player()
    table.betting()
    table.place(ann, player=10_00)
    (wager,) = table.bank.book.lying("T07", "ann")
    with table.store.transaction():
        table.bank.book.give_back(wager, "taken back", "taken-back", "", 1)
    with pytest.raises(AssertionError, match="not open any more"), table.store.transaction():
        table.bank.book.give_back(wager, "taken back", "taken-back", "", 2)
    assert table.balance(ann) == 1_000_00 and table.sound()


def test_no_stake_is_so_high_that_no_result_could_be_told(tmp_path: Path) -> None:
    table = Wagering(tmp_path / "server.db", TIES_STAND)
    table.opened()
    ann = table.player(balance=10**15)
    table.betting()
    assert table.place(ann, tie=10**12 + 1) == ["stake"]
    assert table.place(ann, tie=10**12) == [""]
    table.results("tie")
    assert table.sound()


def test_one_wager_per_area_and_a_combination_covers_its_bets(table: Wagering) -> None:
    ann = table.player()
    table.betting()
    assert table.place(ann, player=10_00, banker=10_00, tie=5_00) == ["", "", ""], "three in all"
    assert table.place(ann, player=20_00) == ["area"]
    assert table.place(ann, three_way=5_00) == ["covered"], "the tie has one"
    assert table.place(ann, two_way=5_00) == [""]
    assert table.place(ann, player_pair=5_00) == ["covered"]
    assert table.take_back(ann, "player_pair") == ["covered"], "a part of a combination"
    assert table.take_back(ann, "2-way") == [""]
    assert table.place(ann, player_pair=5_00, two_way=5_00) == ["", "covered"], "each on its own, in order"
    assert table.balance(ann) == 970_00 and table.sound()


def test_the_bet_that_is_in_the_way_is_named(table: Wagering) -> None:
    ann = table.player()
    number = table.betting()

    def said(area: str, request: str) -> tuple[str, str]:
        answer = table.bank.place(ann, "T07", request, number, [Bet(area, 5_00)])
        reason = answer["bets"][0]["reason"]
        return reason["en"], reason["de"]

    assert table.place(ann, three_way=5_00) == [""]
    assert said("tie", "request-1") == (
        "Your bet there lies on 3-Way: take that back first.",
        "Ihr Einsatz dort liegt auf 3-Way: das erst zurücknehmen.",
    )
    assert said("3-way", "request-2")[0] == "Your bet lies there: take it back first."
    assert table.take_back(ann, "tie", "player", "2-way") == ["covered", "nothing", "covered"]
    assert table.take_back(ann, "3-way") == [""]
    assert table.place(ann, player_pair=5_00, banker_pair=5_00) == ["", ""]
    assert said("3-way", "request-3") == (
        "Your bet there lies on Player Pair, Banker Pair: take that back first.",
        "Ihr Einsatz dort liegt auf Paar Spieler, Paar Bank: das erst zurücknehmen.",
    )
    assert table.take_back(ann, "2-way") == ["covered"] and table.sound()


@pytest.mark.parametrize(
    ("area", "stake", "code"),
    [
        ("player", 9_99, "under"), ("player", 10_00, ""), ("player", 400_00, ""), ("player", 400_01, "over"),
        ("tie", 4_99, "under"), ("tie", 50_00, ""), ("tie", 50_01, "over"), ("three_way", 50_01, "over"),
        ("player", 0, "stake"), ("player", -10_00, "stake"), ("player", 10**16, "stake"),
        ("dragon", 10_00, "offered"),
    ],
)  # fmt: skip
def test_the_limits_are_the_house_s(table: Wagering, area: str, stake: int, code: str) -> None:
    table.betting()
    assert table.place(table.player(), **{area: stake}) == [code]


def test_below_the_minimum_is_raised_where_the_house_wants_it(tmp_path: Path) -> None:
    table = Wagering(tmp_path / "server.db", load_rules("atlantic-city"))
    table.opened()
    table.betting()
    ann, poor = table.player(), table.player("poor", 4_99)
    assert table.place(ann, player=1_00, player_pair=5_00) == ["", "offered"]
    assert table.balance(ann) == 995_00
    assert table.place(poor, player=1_00) == ["funds"], "it has not enough for the minimum"


def test_no_one_stakes_what_is_not_there(table: Wagering) -> None:
    ann = table.player(balance=24_99)
    table.betting()
    assert table.place(ann, player=10_00, three_way=5_00) == ["", "funds"]
    assert table.place(ann, two_way=5_00) == [""]
    assert table.balance(ann) == 4_99


def test_a_bet_after_the_close_is_refused_whoever_closed(table: Wagering) -> None:
    ann = table.player()
    assert table.place(ann, at="1/1", player=10_00) == ["not-open"]
    table.betting(20)
    table.now += 14.9
    assert table.place(ann, player=10_00) == [""]
    table.now += 0.1
    assert table.place(ann, banker=10_00) == ["unlinked"], "no word from the table for 15 s"
    table.betting(10)
    table.now += 10
    assert table.place(ann, player=10_00) == ["late"], "this server's own clock"
    table.betting(10)
    table.closed()
    assert table.place(ann, player=10_00) == ["late"]
    table.betting()
    assert table.place(ann, at="1/3", player=10_00) == ["round"], "meant for the round before"
    assert table.tell(TableClosed()) == 200
    assert table.place(ann, player=10_00) == ["closed"]
    late = BettingOpened(shoe=1, round=6, seconds=20, closes_at=iso(int((NOW + table.now - 1) * 1e9)))
    assert table.tell(late) == 200
    table.round = 6
    assert table.place(ann, player=10_00) == ["late"]
    assert table.balance(ann) == 990_00 and table.sound()


def test_a_void_closes_and_a_restart_closes(table: Wagering) -> None:
    ann = table.player()
    table.betting()
    assert table.place(ann, player=10_00) == [""]
    table.store.close()
    table.start()
    assert table.place(ann, banker=10_00) == ["not-open"]
    table.betting()
    assert table.tell(RoundVoided(shoe=1, round=2, reason="x", cards={}, approved_by="Ann")) == 200
    assert table.place(ann, banker=10_00) == ["late"]


def test_without_terms_that_can_be_read_nothing_is_taken(table: Wagering) -> None:
    ann = table.player()
    broken = shoe_started(2, LIVE).rules | {"limits": {"currency": "USD", "bets": {"player": {"min": "1e9"}}}}
    assert table.tell(ShoeStarted(shoe=2, decks=8, rules=broken, rules_hash="")) == 200
    table.shoe, table.round = 2, 0
    table.betting()
    assert table.place(ann, player=10_00) == ["terms"]
    table.shoe, table.round = 3, 0
    table.betting()
    assert table.place(ann, player=10_00) == ["terms"], "a shoe whose beginning never came"


def test_another_currency_is_refused(table: Wagering) -> None:
    table.bank.players.add("eva", "EUR", 100_00)
    table.betting()
    assert table.place(Player("eva", "EUR"), player=10_00) == ["currency"]


def test_a_request_sent_again_does_nothing_again(table: Wagering) -> None:
    ann = table.player()
    table.betting()
    assert table.place(ann, request="the-same-one", player=10_00) == [""]
    assert table.take_back(ann, "player") == [""]
    assert table.place(ann, request="the-same-one", player=10_00) == [""], "answered as the first time"
    assert table.balance(ann) == 1_000_00
    with pytest.raises(OtherRequest):
        table.place(ann, request="the-same-one", player=20_00)


def test_a_request_is_remembered_for_a_week_and_forgotten_a_few_at_a_time(
    table: Wagering, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = NOW * 10**9
    monkeypatch.setattr("tablectl.gameserver.bank.time.time_ns", lambda: int(wall))
    ann, bob = table.player(), table.player("bob")

    def known() -> list[str]:
        return [name for (name,) in table.store.sql("SELECT id FROM answered ORDER BY seen, id")]

    table.betting()
    for n in range(3 * FORGOTTEN_AT_ONCE):
        table.place(ann if n % 2 else bob, request=f"old-{n:05}", tie=5_00)
    wall += REMEMBERED
    assert table.place(ann, request="old-00001", tie=5_00) == [""], "answered as the first time"
    table.place(ann, request="week-later", tie=5_00)
    assert len(known()) == 3 * FORGOTTEN_AT_ONCE + 1, "none is older than a week"
    wall += 1
    for left in (2, 1, 0):
        table.place(ann, request=f"new-{left:05}", tie=5_00)
        assert sum(name.startswith("old") for name in known()) == left * FORGOTTEN_AT_ONCE
    assert known() == ["week-later", "new-00000", "new-00001", "new-00002"]
    assert table.place(ann, request="old-00001", tie=5_00) == ["area"], "a new request by now"
    assert table.sound()


def test_every_reason_is_said_in_both_languages() -> None:
    for code, (english, german) in REASONS.items():
        assert english != german and english.count("{") == german.count("{"), code


@pytest.mark.parametrize(
    ("stake", "odds", "rounding", "won"),
    [
        (30, "0.95", "down", 28), (30, "0.95", "half-even", 28), (30, "0.95", "half-up", 29),
        (10, "0.95", "half-even", 10), (10, "0.95", "down", 9), (5, "0.05", "down", 0),
        (10_00, "0.5", "down", 5_00),
        (1, "0.5", "half-even", 0), (3, "0.5", "half-even", 2), (33, "11", "down", 363),
    ],
)  # fmt: skip
def test_the_rounding_rule(stake: int, odds: str, rounding: str, won: int) -> None:
    assert winnings(stake, odds, rounding) == won  # type: ignore[arg-type]


def test_money_in_other_currencies() -> None:
    assert (minor("10", "JPY"), minor("10.5", "KWD")) == (10, 10_500)
    assert (minor("10.999", "USD"), minor("10.991", "USD", up=True)) == (10_99, 11_00)
    assert (shown(-1250, "USD"), shown(5, "USD"), shown(7, "JPY"), shown(7, "KWD")) == (
        "-12.50 USD", "0.05 USD", "7 JPY", "0.007 KWD",
    )  # fmt: skip
    for bad in ("1e9", "-1", "1/2", "", " 1", "9" * 40):
        with pytest.raises(ValueError, match="no amount"):
            minor(bad, "USD")


def test_a_limit_finer_than_the_coin_is_the_stricter_one(tmp_path: Path) -> None:
    limits = {
        **LIVE.limits.bets,
        "player": dataclasses.replace(LIVE.limits.bets["player"], min="10.001", max="20.009"),
    }
    rules = dataclasses.replace(LIVE, limits=dataclasses.replace(LIVE.limits, bets=limits))
    table = Wagering(tmp_path / "server.db", rules)
    table.opened()
    table.betting()
    ann = table.player()
    assert table.place(ann, player=10_00) == ["under"]
    assert table.place(ann, player=20_01) == ["over"]
    assert table.place(ann, player=10_01) == [""]


def test_what_lies_there_is_found_without_reading_all_that_ever_lay(table: Wagering) -> None:
    asked: list[str] = []
    table.store._db.set_trace_callback(asked.append)
    ann = table.player()
    table.betting()
    table.place(ann, player=10_00)
    table.results("player")
    assert table.tell(RoundVoided(shoe=1, round=1, reason="x", cards={}, approved_by="Ann")) == 200
    table.bank.book.newest("T07", "ann", 30)
    table.bank.book.standing("T07")
    table.store._db.set_trace_callback(None)
    for sql in {one for one in asked if one.startswith("SELECT") and "?" not in one}:
        plans = [row[3] for row in table.store.sql(f"EXPLAIN QUERY PLAN {sql}")]
        assert not any(plan.startswith("SCAN") for plan in plans), (sql, plans)
        if "takes_back = m.number" in sql:
            assert "movements_of_wager" in plans[0]
        where = sql.partition("WHERE")[2]
        if "FROM wagers" in sql and "LIMIT" not in sql:
            wanted = ("wagers_lying", "wagers_of_round", "wagers_one", "wagers_carried")
            assert any(index in plan for plan in plans for index in wanted), (where, plans)
