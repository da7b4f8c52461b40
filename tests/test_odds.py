"""How bets end, by every profile that ships."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tablectl.cards import Card, Outcome
from tablectl.events import HandResult
from tablectl.house import Payouts
from tablectl.odds import bet_results, hand_result, outcome
from tablectl.profiles import load_rules


def hand(cards: str) -> HandResult:
    return hand_result([Card.parse(card) for card in cards.split()])


def ends(player: str, banker: str, payouts: Payouts) -> dict[str, str]:
    """Each bet's end as ``win 0.95``, ``lose``, ``push``, ``stand``."""
    results = bet_results(hand(player), hand(banker), payouts)
    return {bet: f"{r.result} {r.odds}" if r.odds is not None else r.result for bet, r in results.items()}


LIVE = load_rules("live-casino").payouts
FREE = load_rules("commission-free").payouts
CLASSIC = load_rules("classic").payouts


def test_a_hand_as_the_outside_sees_it() -> None:
    assert hand("8S 8D") == HandResult(cards=("8S", "8D"), points=(8, 8), total=6, natural=False, pair=True)
    assert hand("KS QH JD") == HandResult(
        cards=("KS", "QH", "JD"), points=(0, 0, 0), total=0, natural=False, pair=False
    )
    assert hand("9S KD").natural
    assert not hand("2S 2D 4C").natural, "8 in three cards is no natural"


def test_live_casino() -> None:
    assert ends("9S KD", "2H 3C", LIVE) == {
        "player": "win 1",
        "banker": "lose",
        "tie": "lose",
        "player_pair": "lose",
        "banker_pair": "lose",
    }
    assert ends("2H 3C", "4S 5D", LIVE)["banker"] == "win 0.95"
    assert ends("KS KH 5D", "3S 3H", LIVE)["banker"] == "win 0.95", "with 6 as with any total"
    assert ends("3S 3H", "KD 6C", LIVE) == {
        "player": "push",
        "banker": "push",
        "tie": "win 8",
        "player_pair": "win 11",
        "banker_pair": "lose",
    }


def test_commission_free_pays_half_on_a_win_with_six() -> None:
    assert ends("2S 3H", "3S 3D", FREE) == {"player": "lose", "banker": "win 0.5", "tie": "lose"}
    assert ends("2S 3H", "3S 4D", FREE)["banker"] == "win 1"
    assert ends("3S 3H", "KD 6C", FREE) == {"player": "stand", "banker": "stand", "tie": "win 8"}


def test_ties_stand_in_the_classic_house_and_pairs_are_not_offered() -> None:
    assert ends("KS KH", "QD QC", CLASSIC) == {"player": "stand", "banker": "stand", "tie": "win 8"}


@pytest.mark.parametrize("side_bets", [(), ("player_pair",), ("banker_pair",)])
def test_only_the_offered_bets_are_named(side_bets: tuple[str, ...]) -> None:
    payouts = Payouts(side_bets=side_bets)  # type: ignore[arg-type]
    assert set(ends("KS KH", "QD QC", payouts)) == {"player", "banker", "tie", *side_bets}


def test_odds_are_exact_decimals() -> None:
    for payouts in (LIVE, FREE, CLASSIC):
        for player, banker in (("9S KD", "2H 3C"), ("2H 3C", "3S 3D"), ("KS KH", "QD QC")):
            for result in bet_results(hand(player), hand(banker), payouts).values():
                assert (result.odds is not None) == (result.result == "win")
                assert result.odds is None or Decimal(result.odds) > 0


def test_the_higher_count_wins() -> None:
    assert outcome(hand("7S KH 2D"), hand("8D QC")) is Outcome.PLAYER
    assert outcome(hand("KS 2H"), hand("8D KC")) is Outcome.BANKER
    assert outcome(hand("KS QH"), hand("JD TC")) is Outcome.TIE
