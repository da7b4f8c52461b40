"""Whole shoes through the table: their length against an independent simulation, and exact shares."""

from __future__ import annotations

import math
import os
import random

import pytest

from tablectl import events as ev
from tablectl.cards import DECK, Outcome
from tablectl.house import HouseRules
from tablectl.profiles import load_rules
from tablectl.rules import draws, prove
from tablectl.simulate import simulate
from tests.table.playing import Recorded, house

SOAK = "TABLECTL_SOAK" in os.environ
SHOES = 2000 if SOAK else 40
FEWER = 2000 if SOAK else 40
SD = 1.43
"""Standard deviation of the rounds of a shoe, by an independent simulation."""


def bound(sd: float, n: int) -> float:
    """Four standard errors: an honest run goes beyond once in 16,000."""
    return 4 * sd / math.sqrt(n)


@pytest.mark.soak
def test_rounds_of_a_shoe_with_the_cutting_card_at_52() -> None:
    report = simulate(load_rules("live-casino"), SHOES, seed=11).report()
    assert report["shoes"] == SHOES
    assert abs(report["rounds_per_shoe"] - 73.10) < (0.15 if SOAK else bound(SD, SHOES) + 0.01)
    assert 1.2 < report["rounds_per_shoe_sd"] < 1.7
    low, high = report["rounds_per_shoe_range"]
    assert low >= 65 and high <= 82
    assert set(report) >= {"outcomes", "cards_per_hand", "cards_per_second"}


@pytest.mark.soak
def test_one_more_hand_after_the_cutting_card() -> None:
    rules = house(shoe={"hands_after_cut": 1})
    mean = simulate(rules, FEWER, seed=12).report()["rounds_per_shoe"]
    assert abs(mean - 73.90) < (0.15 if SOAK else bound(SD, FEWER) + 0.01)


@pytest.mark.soak
def test_share_of_shoes_in_which_the_cutting_card_comes_before_p1() -> None:
    shoes = FEWER
    simulation = Recorded(house(), "cut")
    for _ in range(shoes):
        simulation.play_shoe()
    # Named with the round in play, it came after betting opened; the simulator's card comes with the
    # next draw, so "before P1" is: no card of the hand lay when it came.
    before_p1, on_table = 0, 0
    for event in simulation.events:
        match event:
            case ev.BettingOpened():
                on_table = 0
            case ev.CardDealt():
                on_table += 1
            case ev.CutCardDrawn():
                before_p1 += on_table == 0
            case _:
                pass
    share = 0.202
    assert abs(before_p1 / shoes - share) < bound(math.sqrt(share * (1 - share)), shoes)


def test_shares_of_outcomes_and_lengths_against_the_exact_proof() -> None:
    tally = simulate(house(), 60, seed=13)
    proof = prove()
    for outcome in Outcome:
        share = float(proof.share(proof.outcomes[outcome]))
        got = tally.outcomes[outcome.value] / tally.rounds
        assert abs(got - share) < bound(math.sqrt(share * (1 - share)), tally.rounds)
    for cards in (4, 5, 6):
        share = float(proof.share(proof.cards[cards]))
        got = tally.lengths[cards] / tally.rounds
        assert abs(got - share) < bound(math.sqrt(share * (1 - share)), tally.rounds)


@pytest.mark.parametrize("profile", ["live-casino", "classic", "commission-free", "atlantic-city"])
def test_every_profile_plays_and_a_seed_tells_all(profile: str) -> None:
    first, second = (simulate(load_rules(profile), 3, seed=5) for _ in range(2))
    assert first.shoes == 3 and first.rounds == sum(first.rounds_by_shoe) == sum(first.outcomes.values())
    assert first.rounds_by_shoe == second.rounds_by_shoe and first.outcomes == second.outcomes


def by_hand(rules: HouseRules, rng: random.Random) -> int:
    """Rounds of one shoe by a few lines that know nothing of the table: the second opinion."""
    shoe = [card.points for card in DECK * 8]
    rng.shuffle(shoe)
    at, cut, rounds = rules.burn.after_shuffle, 416 - rules.shoe.cutting_card, 0
    while True:
        rounds += 1
        last = at >= cut
        player: list[int] = []
        banker: list[int] = []
        while (side := draws(player, banker)) is not None:
            last = last or at >= cut
            (player if side == "player" else banker).append(shoe[at])
            at += 1
        if last:
            return rounds


def test_mean_length_against_a_second_opinion() -> None:
    rules, rng = house(), random.Random(3)
    n = 200
    mine = sum(by_hand(rules, rng) for _ in range(n)) / n
    table = simulate(rules, 40, seed=14).report()["rounds_per_shoe"]
    assert abs(mine - 73.10) < bound(SD, n) + 0.01
    assert abs(mine - table) < 4 * SD * math.sqrt(1 / n + 1 / 40)
