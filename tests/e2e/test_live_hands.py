"""The 184 published hands of live tables: card by card over the wire, through the daemon, to the server."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

import pytest

from tests.e2e.harness import BARE, SOAK, Rig, running

HANDS = Path(__file__).parents[1] / "data" / "live_hands.csv"
NEW_SHOE_BEFORE = (22, 61, 94, 126, 164)
"""Rows (the first is 1) before which the shoe was changed."""
POSITIONS = ("P1", "B1", "P2", "B2", "P3", "B3")
WINNERS = {"P": "player", "B": "banker", "T": "tie"}


def hands() -> list[dict[str, str]]:
    with HANDS.open(newline="") as file:
        return list(csv.DictReader(file))


def cards_of(hand: dict[str, str]) -> list[str]:
    return [hand[position] for position in POSITIONS if hand[position]]


def shoes() -> list[list[dict[str, str]]]:
    rows = hands()
    cuts = [0, *(row - 1 for row in NEW_SHOE_BEFORE), len(rows)]
    return [rows[low:high] for low, high in pairwise(cuts)]


def played(protocol: str) -> list[list[dict[str, str]]]:
    """The first two shoes; all of them in a soak."""
    return shoes() if SOAK else shoes()[:2]


def play(rig: Rig, played: list[list[dict[str, str]]]) -> None:
    for number, shoe in enumerate(played, start=1):
        cards = " ".join(card for hand in shoe for card in cards_of(hand))
        if number == 1:
            rig.open_table(cards)
        else:
            rig.do("shoe end", supervised=True)
            rig.new_shoe(cards)
        for hand in shoe:
            rig.bets()
            for _ in cards_of(hand):
                rig.shoe.draw()
            rig.finish()
            state = rig.client.state()
            assert not state["holds"], (hand, state["holds"])


@pytest.mark.soak
@pytest.mark.parametrize("protocol", ["angel-eye", "bee-tek"])
def test_every_published_hand_arrives_at_the_server_as_published(protocol: str) -> None:
    with running(protocol, overrides=BARE) as rig:
        play(rig, played(protocol))
        rig.settle()
        held = rig.held()
        assert len(hands()) == 184
        assert len(held) == sum(map(len, played(protocol)))
        for number, shoe in enumerate(played(protocol), start=1):
            for round_, hand in enumerate(shoe, start=1):
                record = held[f"{number}/{round_}"]
                result = record["result"]
                got = {
                    "state": record["state"],
                    "P": result["player"]["cards"],
                    "B": result["banker"]["cards"],
                    "winner": result["outcome"],
                    "totals": (result["player"]["total"], result["banker"]["total"]),
                    "pairs": (result["player"]["pair"], result["banker"]["pair"]),
                    "by": result["confirmed_by"],
                }
                assert got == {
                    "state": "resulted",
                    "P": [hand[p] for p in ("P1", "P2", "P3") if hand[p]],
                    "B": [hand[p] for p in ("B1", "B2", "B3") if hand[p]],
                    "winner": WINNERS[hand["winner"]],
                    "totals": (int(hand["player_total"]), int(hand["banker_total"])),
                    "pairs": (hand["player_pair"] == "1", hand["banker_pair"] == "1"),
                    "by": "shoe" if protocol == "angel-eye" else "automatic",
                }, f"row of shoe {number}, round {round_}"
        rig.check_everything()
        assert rig.missed_cards() == 0
