"""The drawing rule: cell by cell, by exact enumeration, and against hands that a house published."""

from __future__ import annotations

import csv
import dataclasses
import os
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.cards import DECK, Card, Outcome, Position, Side
from tablectl.house import Payouts
from tablectl.odds import bet_results, hand_result, outcome
from tablectl.rules import (
    EXPECTED_8_DECKS,
    PUNTO_BANCO,
    DrawingTable,
    banker_matrix,
    counts,
    deal,
    draws,
    next_position,
    player_row,
    prove,
)

DATA = Path(__file__).parent / "data"


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(newline="") as file:
        return list(csv.DictReader(file))


# --- cell by cell ------------------------------------------------------------------------------------


def test_every_cell_of_the_published_matrix() -> None:
    published = [
        (
            int(row["banker_two_card_total"]),
            "".join(row[f"P3_{third}"] for third in range(10)),
            row["player_stood"],
        )
        for row in rows("banker_matrix.csv")
    ]
    assert len(published) == 8
    assert banker_matrix() == published


def test_every_cell_by_every_pair_of_cards_that_reaches_it() -> None:
    matrix = {int(row["banker_two_card_total"]): row for row in rows("banker_matrix.csv")}
    two = [(a, b) for a in range(10) for b in range(10)]
    for b1, b2 in two:
        banker_total = (b1 + b2) % 10
        for p1, p2 in two:
            player_total = (p1 + p2) % 10
            if player_total >= 8 or banker_total >= 8:
                assert draws((p1, p2), (b1, b2)) is None
            elif player_total >= 6:
                expected = Side.BANKER if matrix[banker_total]["player_stood"] == "D" else None
                assert draws((p1, p2), (b1, b2)) is expected
            else:
                assert draws((p1, p2), (b1, b2)) is Side.PLAYER
                for third in range(10):
                    expected = Side.BANKER if matrix[banker_total][f"P3_{third}"] == "D" else None
                    assert draws((p1, p2, third), (b1, b2)) is expected


def test_the_player_draws_on_nought_to_five() -> None:
    assert player_row() == "DDDDDDSS"


# --- the exact proof ---------------------------------------------------------------------------------


def test_the_exact_counts_over_all_six_card_draws() -> None:
    proof = prove()
    assert counts(proof) == {
        "draws": 4_998_398_275_503_360,
        "banker": 2_292_252_566_437_888,
        "player": 2_230_518_282_592_256,
        "tie": 475_627_426_473_216,
        "banker six": 269_232_304_455_680,
        "4 cards": 1_893_735_611_458_560,
        "5 cards": 1_516_734_808_780_800,
        "6 cards": 1_587_927_855_264_000,
    }
    assert counts(proof) == EXPECTED_8_DECKS
    assert sum(proof.outcomes.values()) == sum(proof.cards.values()) == proof.draws


def test_the_five_house_edges() -> None:
    edges = {name: f"{float(edge * 100):.6f}" for name, edge in prove().edges().items()}
    assert edges == {
        "Banker, 5 % commission": "1.057906",
        "Player": "1.235081",
        "Tie, 8 to 1": "14.359629",
        "Banker, even money, half on a win with 6": "1.458104",
        "Pair, 11 to 1": "10.361446",
    }


def test_the_pair_edge_by_counting_pairs_of_cards() -> None:
    pairs = sum(a.rank == b.rank for a in DECK * 8 for b in DECK * 8) - 416
    assert prove().edges()["Pair, 11 to 1"] == 1 - 12 * Fraction(pairs, 416 * 415)


def flipped() -> Iterator[tuple[str, DrawingTable]]:
    """The rule with one cell changed, for every cell it has."""
    for n in range(8):
        yield f"player {n}", dataclasses.replace(PUNTO_BANCO, player=PUNTO_BANCO.player ^ {n})
        changed = PUNTO_BANCO.banker_alone ^ {n}
        yield f"banker {n}, player stood", dataclasses.replace(PUNTO_BANCO, banker_alone=changed)
        for third in range(10):
            banker = list(PUNTO_BANCO.banker)
            banker[n] = banker[n] ^ {third}
            changed_table = dataclasses.replace(PUNTO_BANCO, banker=tuple(banker))
            yield f"banker {n}, third card {third}", changed_table
    for n in range(6, 10):
        changed = PUNTO_BANCO.natural ^ {n}
        yield f"natural {n}", dataclasses.replace(PUNTO_BANCO, natural=changed)


@pytest.mark.soak
def test_one_changed_cell_is_always_seen_by_the_counts() -> None:
    cells = list(flipped())
    assert len(cells) == 8 + 8 + 80 + 4
    # A quarter of a second each: without the soak, every ninth cell, another set each day.
    chosen = cells if "TABLECTL_SOAK" in os.environ else cells[date.today().toordinal() % 27 :: 27]
    unseen = [cell for cell, table in chosen if counts(prove(table)) == EXPECTED_8_DECKS]
    assert unseen == []


# --- whole hands ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", rows("live_hands.csv"), ids=lambda row: "-".join(row.values()))
def test_hands_that_a_live_house_published(row: dict[str, str]) -> None:
    expected = {p: Card.parse(row[p.value]) for p in Position if row[p.value]}
    laid, excess = deal(list(expected.values()))
    assert laid == expected
    assert excess == ()
    player = hand_result([c for p, c in laid.items() if p.side is Side.PLAYER])
    banker = hand_result([c for p, c in laid.items() if p.side is Side.BANKER])
    assert next_position(player.points, banker.points) is None
    assert (player.total, banker.total) == (int(row["player_total"]), int(row["banker_total"]))
    winner = {"P": Outcome.PLAYER, "B": Outcome.BANKER, "T": Outcome.TIE}[row["winner"]]
    assert outcome(player, banker) is winner
    assert (player.pair, banker.pair) == (row["player_pair"] == "1", row["banker_pair"] == "1")
    bets = bet_results(player, banker, Payouts())
    assert bets["tie"].result == ("win" if winner is Outcome.TIE else "lose")
    assert bets["player_pair"].result == ("win" if row["player_pair"] == "1" else "lose")


def test_there_are_all_184_published_hands() -> None:
    assert len(rows("live_hands.csv")) == 184


@settings(max_examples=200)
@given(st.lists(st.sampled_from(DECK), max_size=9))
def test_dealing_loses_no_card_and_invents_none(cards: list[Card]) -> None:
    laid, excess = deal(cards)
    assert [*laid.values(), *excess] == cards
    assert len(laid) <= 6
    assert not excess or len(laid) >= 4
    # Whatever lies was due: the positions are taken in the order the rule gives.
    player: list[int] = []
    banker: list[int] = []
    for position, card in laid.items():
        assert next_position(player, banker) is position
        (player if position.side is Side.PLAYER else banker).append(card.points)
