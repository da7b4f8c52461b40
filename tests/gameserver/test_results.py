"""What settles bets is held to what the cards say and to where its round stands."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.cards import DECK, Outcome
from tablectl.events import Event, EventParked, RoundResulted, RoundVoided, public_data
from tablectl.gameserver.messages import Message, read
from tablectl.gameserver.results import Impossible, settle
from tablectl.gameserver.store import RoundRecord
from tablectl.house import HouseRules
from tablectl.odds import bet_results, hand_result, outcome
from tablectl.profiles import load_rules
from tablectl.rules import deal
from tablectl.table import Kind
from tests.gameserver.posting import VOIDED, amended, body, hand, resulted
from tests.table.playing import Play, house


def message(event: Event) -> Message:
    (made,) = read(body(1, event), batch=False)
    return made


def with_data(event: Event, change: Callable[[dict[str, Any]], object]) -> Message:
    """``event`` with something in its data changed."""
    made = message(event)
    data = copy.deepcopy(made.data)
    change(data)
    return dataclasses.replace(made, data=data)


def refused(given_: Message, before: RoundRecord | None = None) -> str:
    with pytest.raises(Impossible) as caught:
        settle(given_, before)
    return str(caught.value)


def stands(event: Event, before: RoundRecord | None = None) -> RoundRecord:
    made = settle(message(event), before)
    assert made is not None
    return made


def setting(path: str, value: object) -> Callable[[dict[str, Any]], object]:
    """``setting("player.total", 3)``."""
    *way, last = path.split(".")

    def change(data: dict[str, Any]) -> None:
        for name in way:
            data = data[name]
        data[last] = value

    return change


# --- where a round stands -----------------------------------------------------------------------------------

PARKED = EventParked(shoe=1, round=7, parked_type="round.resulted", reason="x", approved_by="Ann")
RESULT = resulted(7)

STANDINGS: dict[str, RoundRecord | None] = {
    "none": None,
    "resulted": stands(RESULT),
    "amended": stands(amended(7, revision=2), stands(RESULT)),
    "voided": stands(VOIDED),
    "parked": stands(PARKED),
}
NEXT = {"resulted": RESULT, "amended": amended(7, revision=3), "voided": VOIDED, "parked": PARKED}
MAY_BECOME = {
    "none": {"resulted", "voided", "parked"},
    "resulted": {"amended", "voided", "parked"},
    "amended": {"amended", "voided", "parked"},
    "voided": set[str](),
    "parked": {"amended", "voided", "parked"},
}


@pytest.mark.parametrize(("now", "then"), list(itertools.product(STANDINGS, NEXT)))
def test_the_whole_table_of_standings(now: str, then: str) -> None:
    before, event = STANDINGS[now], NEXT[then]
    if then == "amended" and now == "amended":
        assert before is not None
        event = dataclasses.replace(amended(7, revision=3), before=before.result)
    if then in MAY_BECOME[now]:
        assert stands(event, before).state == then
    elif then == "parked":
        assert settle(message(event), before) is None, "a void stays one, and a parked event is never refused"
    else:
        assert "round 1/7" in refused(message(event), before)


def test_a_revision_follows_the_one_held() -> None:
    held = STANDINGS["amended"]
    for revision in (0, 1, 2):
        assert "does not follow 2" in refused(message(amended(7, revision=revision)), held)
    assert "first result has revision 1" in refused(with_data(RESULT, setting("revision", 999)))
    assert "first result has revision 1" in refused(with_data(RESULT, setting("revision", 0)))


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("after.round", 8, "is of round 1/8, not of 1/7"),
        ("after.shoe", 2, "is of round 2/7, not of 1/7"),
        ("after.revision", 1, "revision 1, the event 2"),
        ("after.outcome", "tie", "is banker, not tie"),
        ("after.banker.total", "9", "data.after.banker.total"),
        ("after.cancelled", True, "cancelled"),
        ("after.free", True, "free hand"),
        ("after.bets.player_pair", {"result": "lose"}, "other bets than the round did"),
        ("after", {}, "data.after"),
        ("before.banker.cards", ["4D", "5S"], "not the result that is held"),
        ("before", {}, "data.before"),
        ("revision", "2", "data.revision"),
    ],
)
def test_an_amendment_that_cannot_be(path: str, value: object, why: str) -> None:
    assert why in refused(with_data(amended(7, revision=2), setting(path, value)), STANDINGS["resulted"])


def test_a_round_is_voided_without_having_had_a_result() -> None:
    assert stands(VOIDED).state == "voided"
    assert "P9" in refused(with_data(VOIDED, setting("cards.P9", "AS")))
    assert "not a card" in refused(with_data(VOIDED, setting("cards.P1", "1S")))


def test_a_round_is_voided_whose_cards_were_never_turned() -> None:
    """Every void that a table can make, face down too, is one the server takes."""
    play = Play(house("classic"))
    for cards in ("", "2S", "2S KD", "2S KD 3S 6H"):
        play.no_more_bets()
        play.deal(cards)
        play.do(Kind.VOID)
        number = play.of(RoundVoided)[-1].round
        assert stands(dataclasses.replace(play.of(RoundVoided)[-1], shoe=1, round=number)).state == "voided"


# --- what its cards say -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("player.total", "3", "data.player.total"),
        ("player.total", 3.0, "data.player.total"),
        ("player.total", True, "data.player.total"),
        ("player.points", ["1", "2"], "data.player.points"),
        ("player.natural", 0, "data.player.natural"),
        ("revision", "1", "data.revision"),
        ("cancelled", "false", "data.cancelled"),
        ("cancelled", True, "round.voided"),
        ("player.total", 4, "total is 3, not 4"),
        ("player.points", [2, 1], "points is (1, 2), not (2, 1)"),
        ("banker.natural", False, "natural is True, not False"),
        ("player.pair", True, "pair is False, not True"),
        ("player.cards", ["AS", "2X"], "not a card"),
        ("outcome", "tie", "3 to 9 is banker, not tie"),
        ("free", True, "a free hand settles no bets"),
        ("bets", {}, "does not say how player ends"),
        ("bets.player", {"result": "win", "odds": "1"}, "the bet on player: lose here"),
        ("bets.player", {"result": "push"}, "the bet on player: lose here"),
        ("bets.banker", {"result": "lose"}, "the bet on banker: win here"),
        ("bets.tie", {"result": "win", "odds": "8"}, "the bet on tie: lose here"),
        ("bets.player_pair", {"result": "win", "odds": "11"}, "the bet on player_pair: lose here"),
        ("bets.banker_pair", {"result": "stand"}, "the bet on banker_pair: lose here"),
        ("bets.banker", {"result": "win"}, "has odds"),
        ("bets.player", {"result": "lose", "odds": "1"}, "has odds"),
        ("bets.banker", {"result": "win", "odds": "1e9"}, "plain decimal"),
        ("bets.banker", {"result": "win", "odds": "-1"}, "plain decimal"),
        ("bets.banker", {"result": "win", "odds": 0.95}, "data.bets.banker.odds"),
    ],
)
def test_a_result_that_cannot_be(path: str, value: object, why: str) -> None:
    assert why in refused(with_data(RESULT, setting(path, value)))


def of_hands(player: str, banker: str) -> RoundResulted:
    """These two hands as a result, whatever the rule says of them."""
    hands = hand(*player.split()), hand(*banker.split())
    says = outcome(*hands)
    bets = bet_results(*hands, load_rules("live-casino").payouts)
    return RoundResulted(shoe=1, round=7, outcome=says, player=hands[0], banker=hands[1], bets=bets)


@pytest.mark.parametrize(
    ("player", "banker", "why"),
    [
        ("9S 2H 3C", "KD 8C", "no card to P3"),  # a natural: nobody draws
        ("KS 6H 2C", "KD 5C", "no card to P3"),  # the Player stands on 6
        ("KS 2H 8C", "KD 3C 4S", "no card to B3"),  # Banker 3 stands against an 8
        ("KS 6H", "KD 6C AS", "no card to B3"),  # both stand
        ("KS 2H", "KD 7C", "wants a card at P3"),
        ("KS 2H 7C", "KD 3C", "wants a card at B3"),
        ("KS 6H", "KD 5C", "wants a card at B3"),
        ("KS 2H", "KD 7C 2S", "no card to B3"),  # the Player's third laid to the Banker
    ],
)
def test_cards_against_the_drawing_rule(player: str, banker: str, why: str) -> None:
    assert why in refused(message(of_hands(player, banker)))


@pytest.mark.parametrize("count", [0, 1, 4, 7])
def test_a_hand_has_two_or_three_cards(count: int) -> None:
    truth = of_hands("KS 2H 7C", "KD 7C")
    many = hand(*(["KS", "2H", *["KH"] * 5][: max(count, 2)]))
    if count < 2:
        cut = many.cards[:count]
        many = dataclasses.replace(many, cards=cut, points=many.points[:count], total=0, pair=False)
    assert f"has {count} cards" in refused(message(dataclasses.replace(truth, player=many)))


def test_both_bets_of_a_tie_end_alike() -> None:
    tie = of_hands("KS 6H", "KD 6C")
    assert tie.outcome is Outcome.TIE
    assert stands(tie).state == "resulted"
    mixed = with_data(tie, setting("bets.player", {"result": "stand"}))
    assert "standing or returns both" in refused(mixed)
    assert "push or stand here" in refused(with_data(tie, setting("bets.banker", {"result": "lose"})))


def test_a_free_hand_settles_none_and_an_unknown_bet_is_ignored() -> None:
    assert stands(dataclasses.replace(RESULT, free=True, bets={})).result["bets"] == {}
    assert settle(with_data(RESULT, setting("bets.lucky_six", {"result": "win", "odds": "12"})), None)
    assert settle(with_data(RESULT, setting("weather", [1, {"rain": None}])), None)


PROFILES = [load_rules(name) for name in ("live-casino", "classic", "commission-free", "atlantic-city")]


@given(st.lists(st.sampled_from(DECK), min_size=6, max_size=6), st.sampled_from(PROFILES))
def test_every_result_a_table_can_publish_is_taken(cards: list[Any], rules: HouseRules) -> None:
    laid, _ = deal(cards)
    player = hand_result([card for position, card in laid.items() if position.side == "player"])
    banker = hand_result([card for position, card in laid.items() if position.side == "banker"])
    result = RoundResulted(
        shoe=1, round=7, outcome=outcome(player, banker), player=player, banker=banker,
        bets=bet_results(player, banker, rules.payouts),
    )  # fmt: skip
    assert stands(result).result == json.loads(json.dumps(public_data(result)))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner)))
def test_no_data_raises_anything_else(value: object) -> None:
    for event in (RESULT, VOIDED, amended(7, revision=2), PARKED):
        for name in message(event).data:
            try:
                settle(with_data(event, setting(name, value)), STANDINGS["resulted"])
            except Impossible as why:
                assert str(why)
