"""The hands of the field cases, dealt through the table from the burn to the published result."""

from __future__ import annotations

import pytest

from tablectl import events as ev
from tablectl.cards import Outcome, Position
from tablectl.table import Kind, Phase
from tests.table.playing import Play, house

P, B, TIE = Outcome.PLAYER, Outcome.BANKER, Outcome.TIE


@pytest.mark.parametrize(
    ("cards", "winner", "player_total", "banker_total"),
    [
        pytest.param("7S KH 8D QC 3H 6S", P, 8, 6, id="five draws"),
        pytest.param("2C 9D 3H KS", B, 5, 9, id="Banker natural, no third card"),
        pytest.param("6S TH KD JC 7D", B, 6, 7, id="Player stands on 6, Banker 0 draws"),
        pytest.param("2S KD AS 6H 4C", P, 7, 6, id="Banker 6 stands on a third card of 4"),
        pytest.param("2S KD 3S 6H 6C 2H", B, 1, 8, id="Banker 6 draws on a third card of 6"),
        pytest.param("9S 2H KD 3C", P, 9, 5, id="cards alternate"),
        pytest.param("8S 3D 8S 4C", B, 6, 7, id="the same card twice is lawful"),
        pytest.param("KS KH QD TH JC JS", TIE, 0, 0, id="tie 0-0 with six cards"),
        pytest.param("6C 3S KD 3H", TIE, 6, 6, id="Banker pair in two suits, tie"),
        *(
            pytest.param(f"2S AD 3S 3H {rank}{suit}", P, 5, 4, id=f"Banker 4 stands on {rank}{suit}")
            for rank in "TJQK"
            for suit in "SHDC"
        ),
    ],
)
def test_result(cards: str, winner: Outcome, player_total: int, banker_total: int) -> None:
    play = Play()
    play.round(cards)
    result = play.result()
    assert result.outcome is winner
    assert (result.player.total, result.banker.total) == (player_total, banker_total)
    dealt = [(e.position, e.card) for e in play.of(ev.CardDealt)]
    assert [card for _, card in dealt] == cards.split()
    assert len(result.player.cards) + len(result.banker.cards) == len(cards.split())
    assert play.stands(Phase.IDLE) and not play.state.held


@pytest.mark.parametrize(
    ("cards", "player_pair", "banker_pair"),
    [
        pytest.param("2S KH 2D 7C 5H", True, False, id="a third card changes nothing"),
        pytest.param("2S KH 3D 7C 3H", False, False, id="a pair with the third card is none"),
        pytest.param("KH 6D QH 7S 2C 4D", False, False, id="king and queen are no pair"),
        pytest.param("6C 3S KD 3H", False, True, id="different suits"),
        pytest.param("8S 3D 8S 4C", True, False, id="the very same card"),
    ],
)
def test_pairs(cards: str, player_pair: bool, banker_pair: bool) -> None:
    play = Play()
    play.round(cards)
    result = play.result()
    assert (result.player.pair, result.banker.pair) == (player_pair, banker_pair)
    assert result.bets["player_pair"].result == ("win" if player_pair else "lose")
    assert result.bets["banker_pair"].result == ("win" if banker_pair else "lose")


def test_totals_are_integers_nought_included() -> None:
    play = Play()
    play.round("KS KH QD TH JC JS")
    data = ev.public_data(play.result())
    assert data["player"]["total"] == 0 and data["banker"]["total"] == 0
    assert data["player"]["points"] == [0, 0, 0]
    assert data["cancelled"] is False and data["free"] is False and data["revision"] == 1


def test_a_fifth_scan_after_a_natural_is_an_overdraw_and_no_card_of_any_hand() -> None:
    play = Play()
    play.round("2C 9D 3H KS")
    out = play.out
    play.scan("7S")
    assert play.codes == ["overdraw"] and play.out == out + 1
    assert len(play.of(ev.CardDealt)) == 4
    play.release("burn")
    play.round("9S 2H KD 3C")
    assert play.result().player.cards == ("9S", "KD"), "not silently the next hand's"
    assert play.out == out + 1 + 4


def test_a_fifth_scan_before_the_result_is_confirmed_is_an_overdraw_too() -> None:
    play = Play(house(dealing={"confirm": "dealer"}))
    play.round("2C 9D 3H KS")
    assert play.stands(Phase.COMPLETE)
    play.scan("7S")
    assert play.codes == ["overdraw"] and not play.of(ev.RoundResulted)
    play.release("burn")
    play.do(Kind.CONFIRM)
    assert play.result().outcome is B


def test_what_comes_next_is_said_after_each_card() -> None:
    play = Play()
    play.no_more_bets()
    said, nexts = [], []
    for card in ["2S", "KD", "3S", "6H", "6C", "2H"]:
        play.scan(card)
        said.append(play.said[0])
        nexts.append(play.of(ev.CardDealt)[-1].next)
    assert said == [
        "Banker's card",
        "Player's card",
        "Banker's card",
        "Player 5, Banker 6: Player draws",
        "Player 1, Banker 6: Banker draws",
        "Player 1, Banker 8: no more cards",
    ]
    assert nexts == ["banker", "player", "banker", "player", "banker", "none"]
    play.no_more_bets()
    play.deal("6S TH KD JC")
    assert play.said == ["Player 6, Banker 0: Player stands, Banker draws"]


def test_each_card_tells_points_and_the_total_of_its_hand() -> None:
    play = Play()
    play.round("7S KH 8D QC 3H 6S")
    told = [(e.position, e.points, e.total) for e in play.of(ev.CardDealt)]
    assert told == [
        (Position.P1, 7, 7),
        (Position.B1, 0, 0),
        (Position.P2, 8, 5),
        (Position.B2, 0, 0),
        (Position.P3, 3, 8),
        (Position.B3, 6, 6),
    ]


def test_a_free_hand_has_no_bets_and_takes_a_round_number() -> None:
    play = Play()
    play.idle()
    play.do(Kind.HAND_FREE)
    play.deal("9S 2H KD 3C")
    assert (play.result().free, play.result().bets, play.result().round) == (True, {}, 1)
    assert not play.of(ev.BettingOpened)
    play.round("9S 2H KD 3C")
    assert play.result().round == 2


def test_a_void_round_uses_up_its_number_and_its_cards() -> None:
    play = Play()
    play.no_more_bets()
    play.deal("9S 2H")
    out = play.out
    play.do(Kind.VOID)
    voided = play.of(ev.RoundVoided)[-1]
    assert voided.cards == {"P1": "9S", "B1": "2H"}
    assert (voided.reason, voided.approved_by) == ("training: test", "Pia")
    assert play.out == out and play.stands(Phase.IDLE)
    play.round("9S 2H KD 3C")
    assert play.result().round == 2
