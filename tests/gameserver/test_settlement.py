"""Settlement: by the result's ``bets`` alone, once, to the cent; set right with both entries kept."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tablectl.events import BetResult, RoundAmended, RoundVoided, TableClosed, TableOpened
from tablectl.gameserver.model import placed
from tablectl.gameserver.players import Player
from tablectl.gameserver.settlement import Ended, end
from tablectl.gameserver.terms import Terms
from tablectl.profiles import load_rules
from tests.gameserver.posting import EPOCH, body
from tests.gameserver.wagering import LIVE, TIES_STAND, Wagering, data_of, result, set_aside


@pytest.fixture
def table(tmp_path: Path) -> Wagering:
    return playing(tmp_path)


def playing(folder: Path, profile: str = "live-casino") -> Wagering:
    made = Wagering(folder / "server.db", load_rules(profile))
    made.opened()
    return made


def amend(table: Wagering, was: str, becomes: str, *, round: int = 1, revision: int = 2) -> None:
    before = result(was, round, table.shoe, table.rules, revision=revision - 1)
    after = result(becomes, round, table.shoe, table.rules, revision=revision)
    told = RoundAmended(
        shoe=table.shoe, round=round, before=data_of(before), after=data_of(after), reason="misread",
        approved_by="Ann", revision=revision,
    )  # fmt: skip
    assert table.tell(told) == 200


def void(table: Wagering, round: int = 1) -> None:
    assert (
        table.tell(RoundVoided(shoe=table.shoe, round=round, reason="x", cards={}, approved_by="Ann")) == 200
    )


@pytest.mark.parametrize(
    ("profile", "bets", "dealt", "won"),
    [
        ("live-casino", {"player": 10_00}, "player", 10_00),
        ("live-casino", {"banker": 10_00}, "banker", 9_50),
        ("live-casino", {"tie": 5_00}, "tie", 40_00),
        ("live-casino", {"player_pair": 5_00}, "player pair", 55_00),
        ("live-casino", {"player": 10_00, "banker": 10_00}, "tie", 0),
        ("live-casino", {"two_way": 5_00}, "both pairs", 110_00),
        ("live-casino", {"two_way": 5_00}, "player pair", 50_00),
        ("live-casino", {"three_way": 5_00}, "tie with pairs", 150_00),
        ("live-casino", {"three_way": 5_00}, "player", -15_00),
        ("live-casino", {"player": 400_00}, "player", 400_00),
        ("live-casino", {"banker": 400_00}, "banker", 380_00),
        ("live-casino", {"tie": 50_00}, "tie", 400_00),
        ("live-casino", {"player": 10_00}, "banker", -10_00),
        ("live-casino", {"banker": 10_01}, "banker", 9_50),
        ("live-casino", {"banker": 10_00}, "banker six", 9_50),
        ("commission-free", {"banker": 10_00}, "banker", 10_00),
        ("commission-free", {"banker": 10_01}, "banker six", 5_00),
        ("classic", {"banker": 30}, "banker", 28),
        ("atlantic-city", {"banker": 300_00}, "banker", 285_00),
    ],
)
def test_worked_examples(tmp_path: Path, profile: str, bets: dict[str, int], dealt: str, won: int) -> None:
    table = playing(tmp_path, profile)
    ann = table.player()
    table.betting()
    assert set(table.place(ann, **bets)) == {""}
    table.results(dealt)
    assert table.balance(ann) - 1_000_00 == won
    assert table.bank.ledger.balance("house", table.rules.limits.currency) == -won
    assert table.sound()


def test_the_most_that_is_won(tmp_path: Path) -> None:
    limits = dataclasses.replace(LIVE.limits, max_winnings={"player": "50.005", "tie": "400"})
    table = Wagering(tmp_path / "server.db", dataclasses.replace(LIVE, limits=limits))
    table.opened()
    ann = table.player()
    table.betting()
    table.place(ann, player=100_00)
    table.results("player")
    assert table.balance(ann) == 1_050_00
    (wager,) = table.bank.book.newest("T07", "ann", 9)
    ending = table.bank.book.ending(wager.number)
    assert ending is not None and ending.capped and ending.odds == "1"


def test_only_the_event_decides() -> None:
    terms = Terms("x", "USD", ("player",))
    told = {"player": BetResult(result="win", odds="2.5"), "tie": BetResult(result="push")}
    assert end("player", 10_00, told, terms) == Ended("win", 10_00, 25_00, "2.5")
    assert end("banker", 10_00, told, terms) == Ended("push", 10_00), "what is not named was not offered"


def test_an_event_that_comes_again_pays_once(table: Wagering) -> None:
    ann = table.player()
    table.betting()
    table.place(ann, player=10_00)
    told = table.results("player")
    for _ in range(3):
        assert table.send([body(table.sequence, told)]) == 200
    assert table.balance(ann) == 1_010_00
    again = result("player", 1)
    assert table.tell(again) == 422, "a second result of the round"
    assert table.balance(ann) == 1_010_00 and table.sound()


def test_a_void_returns_all_stakes_before_a_result_and_after(table: Wagering) -> None:
    ann, bob = table.player(), table.player("bob")
    table.betting()
    table.place(ann, player=10_00, three_way=5_00)
    table.closed()
    void(table)
    assert table.balance(ann) == 1_000_00
    table.betting()
    table.place(ann, player=10_00)
    table.place(bob, banker=10_00)
    table.results("player")
    void(table, 2)
    assert (table.balance(ann), table.balance(bob)) == (1_000_00, 1_000_00)
    assert table.bank.ledger.balance("house", "USD") == 0 and table.sound()


def test_an_amendment_settles_anew_and_keeps_both_entries(table: Wagering) -> None:
    ann, bob = table.player(), table.player("bob", 10_00)
    table.betting()
    table.place(ann, player=10_00, tie=5_00)
    table.place(bob, banker=10_00)
    table.results("banker")
    assert (table.balance(ann), table.balance(bob)) == (985_00, 19_50)
    amend(table, "banker", "player")
    assert (table.balance(ann), table.balance(bob)) == (1_005_00, 0)
    amend(table, "player", "tie", revision=3)
    assert (table.balance(ann), table.balance(bob)) == (1_040_00, 10_00)
    rows = table.bank.players.movements(Player("bob", "USD"), 1 << 40, 50)
    assert [(row["why"], row["amount"]) for row in reversed(rows)] == [
        ("deposit", 10_00), ("stake", -10_00), ("win", 10_00), ("win", 9_50), ("set right", -9_50),
        ("set right", -10_00), ("push", 10_00),
    ]  # fmt: skip
    ((wager,),) = [[w.number for w in table.bank.book.newest("T07", "bob", 9)]]
    told = table.store.sql("SELECT revision, how FROM endings WHERE wager = ? ORDER BY number", wager)
    assert told == [(1, "win"), (2, "lose"), (3, "push")]
    assert table.sound()


def test_who_spent_what_was_won_by_mistake_owes_it(table: Wagering) -> None:
    bob = table.player("bob", 10_00)
    table.betting()
    table.place(bob, banker=10_00)
    table.results("banker")
    table.betting()
    table.place(bob, player=19_50)
    amend(table, "banker", "player")
    assert table.balance(bob) == -19_50
    assert table.place(bob, tie=5_00) == ["funds"]
    table.results("player")
    assert table.balance(bob) == 19_50 and table.sound()


def test_a_parked_result_leaves_the_round_unsettled_until_it_is_amended_or_void(table: Wagering) -> None:
    ann = table.player()
    for round in (1, 2):
        table.betting()
        table.place(ann, player=10_00)
        table.closed()
        assert table.tell(set_aside(round)) == 200
    assert table.balance(ann) == 980_00
    assert len(table.bank.book.lying("T07", "ann")) == 2
    amend(table, "banker", "player")
    assert table.balance(ann) == 1_000_00
    void(table, 2)
    assert table.balance(ann) == 1_010_00 and table.sound()


def test_a_parked_amendment_changes_nothing_until_the_next_one(table: Wagering) -> None:
    ann = table.player()
    table.betting()
    table.place(ann, player=10_00)
    table.results("player")
    assert table.tell(set_aside(1, "round.amended")) == 200
    assert table.balance(ann) == 1_010_00
    amend(table, "player", "banker", revision=3)
    assert table.balance(ann) == 990_00 and table.sound()


def test_a_free_hand_has_no_wagers(table: Wagering) -> None:
    ann = table.player()
    free = dataclasses.replace(result("player", 1), free=True, bets={})
    assert table.tell(free) == 200
    table.round = 1
    assert table.place(ann, player=10_00) == ["not-open"]
    assert table.balance(ann) == 1_000_00


def test_winnings_beyond_all_measure_are_refused_and_the_most_winnings_come_first(tmp_path: Path) -> None:
    for profile, status, balance in (("classic", 422, 980_00), ("live-casino", 200, 1_400_00)):
        table = Wagering(tmp_path / profile, load_rules(profile))
        table.opened()
        ann = table.player()
        table.betting()
        table.place(ann, player=20_00)
        table.closed()
        told = result("player", 1, rules=table.rules)
        bets = {**told.bets, "player": BetResult(result="win", odds="999999999999.5")}
        assert table.tell(dataclasses.replace(told, bets=bets)) == status
        assert table.balance(ann) == balance and table.sound()


# --- stakes that stand --------------------------------------------------------------------------------------


@pytest.fixture
def stands(tmp_path: Path) -> Wagering:
    made = playing(tmp_path, "classic")
    made.player()
    made.betting()
    made.place(ANN, player=10_00)
    made.results("tie")
    return made


ANN = Player("ann", "USD")


def test_on_a_tie_it_stands_for_the_next_round_and_may_be_withdrawn(stands: Wagering) -> None:
    assert stands.balance(ANN) == 990_00
    stands.betting()
    assert stands.place(ANN, player=20_00) == ["area"]
    assert stands.take_back(ANN, "player") == [""]
    assert stands.balance(ANN) == 1_000_00 and stands.sound()


def test_it_is_settled_by_the_next_round(stands: Wagering) -> None:
    stands.betting()
    stands.results("tie")
    stands.betting()
    stands.results("player")
    assert stands.balance(ANN) == 1_010_00 and stands.sound()


def test_it_stands_over_a_new_shoe(stands: Wagering) -> None:
    stands.shoe, stands.round = 2, 0
    stands.new_shoe()
    stands.betting()
    stands.results("player")
    assert stands.balance(ANN) == 1_010_00 and stands.sound()


def test_it_is_returned_when_the_table_closes(stands: Wagering) -> None:
    assert stands.tell(TableClosed()) == 200
    assert stands.balance(ANN) == 1_000_00 and stands.sound()
    amend(stands, "tie", "banker")
    assert stands.balance(ANN) == 990_00 and stands.sound()
    amend(stands, "banker", "player", revision=3)
    assert stands.balance(ANN) == 1_010_00 and stands.sound()


def test_it_is_returned_by_a_void_of_either_round(stands: Wagering) -> None:
    stands.betting()
    void(stands, 2)
    assert stands.balance(ANN) == 1_000_00 and stands.sound()
    void(stands, 1)
    assert stands.balance(ANN) == 1_000_00 and stands.sound()


def test_one_that_may_be_withdrawn_is_not_laid_where_it_could_not_be(stands: Wagering) -> None:
    stands.round += 1
    late = dataclasses.replace(stands.opening(), closes_at="2020-01-01T00:00:00Z")
    assert stands.tell(late) == 200
    stands.results("banker")
    assert [w.state for w in stands.bank.book.lying("T07", "ann")] == ["stands"]
    stands.betting()
    stands.results("player")
    assert stands.balance(ANN) == 1_010_00 and stands.sound()


def test_where_the_house_locks_it_it_is_laid_and_not_given_back(tmp_path: Path) -> None:
    payouts = dataclasses.replace(TIES_STAND.payouts, standing="locked")
    table = Wagering(tmp_path / "server.db", dataclasses.replace(TIES_STAND, payouts=payouts))
    table.opened()
    ann = table.player()
    table.betting()
    table.place(ann, player=10_00, banker=5_00)
    table.results("tie")
    table.betting()
    assert table.place(ann, tie=1_00) == [""]
    assert table.take_back(ann, "player") == ["locked"]
    assert table.take_back(ann, "tie") == [""]
    table.results("player")
    assert table.balance(ann) == 1_005_00 and table.sound()


def test_a_stake_that_merely_stands_is_not_waited_for_as_placed(stands: Wagering) -> None:
    stands.betting()
    stands.bank.presence.seen("T07", "ann", 0.0)
    assert placed(stands.bank, "T07", 0.0)["placed"] == 0
    stands.place(ANN, tie=1_00)
    assert placed(stands.bank, "T07", 0.0)["all_placed"]
    assert placed(stands.bank, "T07", 31.0)["players"] == 0, "gone"


@pytest.mark.parametrize("then", ["waits", "laid", "settled", "stood twice", "taken back", "void"])
@pytest.mark.parametrize(
    ("becomes", "won"), [("player", 10_00), ("banker", -10_00), ("void", 0), ("tie", None)]
)
def test_a_stake_that_stood_is_one_stake(stands: Wagering, then: str, becomes: str, won: int | None) -> None:
    """Whatever became of it since, the amended round ends it; and it ends there for good."""
    if then != "waits":
        stands.betting()
    match then:
        case "settled":
            stands.results("player")
        case "stood twice":
            stands.results("tie")
            stands.betting()
            stands.results("banker")
        case "taken back":
            assert stands.take_back(ANN, "player") == [""]
        case "void":
            void(stands, 2)
    before = stands.balance(ANN)
    void(stands) if becomes == "void" else amend(
        stands, "tie", becomes if won is not None else "tie with pairs"
    )
    if won is None:
        assert stands.balance(ANN) == before, "it stands as before"
        return
    assert stands.balance(ANN) == 1_000_00 + won
    assert stands.bank.book.lying("T07", "ann") == [] and stands.sound()
    if then == "settled":
        amend(stands, "player", "banker", round=2)
        assert stands.balance(ANN) == 1_000_00 + won, "it never lay on the second round"
    if becomes == "player":
        amend(stands, "player", "tie", revision=3)
        assert stands.balance(ANN) == 1_000_00, "it cannot begin to stand late: returned"
    assert stands.sound()


def test_the_stakes_of_a_history_that_is_over_are_returned(stands: Wagering) -> None:
    stands.store.refuse_epoch("T07", "bbbbbb")
    stands.store.accept_epoch("T07", "bbbbbb")
    opened = TableOpened(rules="classic", currency="USD", limits={}, max_winnings={})
    stands.sequence = 0
    for event in (opened, stands.opening()):
        stands.sequence += 1
        assert stands.send([body(stands.sequence, event, epoch="bbbbbb")], epoch="bbbbbb") == 200
    assert stands.balance(ANN) == 1_000_00 and stands.sound()


def test_a_person_gives_back_what_no_word_will_come_of_and_the_word_still_counts(table: Wagering) -> None:
    ann = table.player()
    table.betting()
    table.place(ann, player=10_00, three_way=5_00)
    with pytest.raises(ValueError, match="in play"):
        table.bank.settling.give_back("T07", EPOCH, 1, 1, 1, pinned=True)
    table.closed()
    table.betting()
    assert table.bank.book.unsettled() == [("T07", EPOCH, 1, 1, "USD", 4, 25_00)]
    assert table.bank.settling.give_back("T07", EPOCH, 1, 1, 1, pinned=True) == 4
    assert table.balance(ann) == 1_000_00 and table.sound()
    with pytest.raises(LookupError):
        table.bank.settling.give_back("T07", EPOCH, 1, 1, 2, pinned=True)
    assert table.tell(result("tie with pairs", 1)) == 200
    assert table.balance(ann) == 1_000_00 + 150_00 and table.sound()


def test_the_newest_round_of_a_history_that_is_over_is_given_back_too(table: Wagering) -> None:
    ann = table.player()
    table.betting()
    table.place(ann, player=10_00)
    assert table.bank.settling.give_back("T07", EPOCH, 1, 1, 1, pinned=False) == 1
    assert table.balance(ann) == 1_000_00 and table.sound()


@pytest.mark.parametrize("how", ["parked", "skipped", "late result"])
def test_a_stake_begins_to_stand_with_the_newest_round_or_never(stands: Wagering, how: str) -> None:
    """Its player has another one on that area by then, and a player has one there at most."""
    ann = Player("ann", stands.rules.limits.currency)
    start = stands.balance(ann) + sum(w.stake for w in stands.bank.book.lying("T07", "ann"))
    stands.tell(TableClosed())  # what stood before is returned
    stands.opened()
    first = int(stands.betting().partition("/")[2])
    assert stands.place(ann, player=10_00) == [""]
    stands.closed()
    if how != "late result":
        assert stands.tell(set_aside(first)) == 200
    stands.betting()
    assert stands.place(ann, player=7_00) == [""]
    stands.closed()
    if how == "late result":
        assert stands.tell(result("tie", first, 1, stands.rules)) == 200
    else:
        amend(stands, "player", "tie", round=first)
    assert stands.balance(ann) == start - 7_00
    assert stands.tell(result("tie", first + 1, 1, stands.rules)) == 200
    stands.betting()
    assert [wager.stake for wager in stands.bank.book.lying("T07", "ann")] == [7_00]
    assert stands.sound()


def test_a_parked_tie_that_is_set_right_before_the_next_betting_stands(stands: Wagering) -> None:
    ann = Player("ann", stands.rules.limits.currency)
    stands.tell(TableClosed())
    stands.opened()
    round = int(stands.betting().partition("/")[2])
    assert stands.place(ann, player=10_00) == [""]
    stands.closed()
    assert stands.tell(set_aside(round)) == 200
    amend(stands, "player", "tie", round=round)
    assert [wager.state for wager in stands.bank.book.lying("T07", "ann")] == ["stands"]
    assert stands.sound()


def test_what_stands_is_not_laid_where_betting_is_over_as_it_opens(stands: Wagering) -> None:
    """Caught up with: the opening and the close, or a first card, in one batch."""
    (before,) = stands.bank.book.lying("T07", "ann")
    stands.round += 1
    assert stands.tell(stands.opening(), stands.closing()) == 200
    assert stands.bank.book.lying("T07", "ann") == [before]
    assert stands.tell(result("banker", stands.round, 1, stands.rules)) == 200
    assert stands.bank.book.lying("T07", "ann") == [before] and stands.sound()


def test_nothing_is_laid_on_a_round_that_is_known(stands: Wagering) -> None:
    (before,) = stands.bank.book.lying("T07", "ann")
    stands.round += 1
    assert stands.tell(result("banker", stands.round, 1, stands.rules)) == 200
    assert stands.tell(stands.opening()) == 200
    assert stands.bank.now("T07").reason is not None
    assert stands.bank.book.lying("T07", "ann") == [before] and stands.sound()
