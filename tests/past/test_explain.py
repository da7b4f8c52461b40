"""A derivation agrees with every result the table publishes, and finds whatever was changed in it."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl import events as ev
from tablectl.cards import DECK, Card, Position
from tablectl.past.drawing_words import steps
from tablectl.past.explain import Entry, NotExplained, explain
from tablectl.past.settled import result_of
from tablectl.rules import PUNTO_BANCO, draws
from tablectl.table import Kind
from tests.past_rows import entries_of, rows_of
from tests.table.playing import NATURAL, Play, house

PROFILES = ("live-casino", "classic", "atlantic-city", "commission-free")
HANDS = st.lists(st.sampled_from(DECK), min_size=6, max_size=6, unique=True)
HERE: Any = {"shoe": 1, "round": 1}


def no_bytes(raw: bytes) -> None:
    return None


def by_name(raw: bytes) -> list[str]:
    """As ``Play`` writes them: a scan's bytes are the card's name."""
    return [raw.decode()]


def played(cards: list[Card], profile: str = "live-casino", **sections: Any) -> list[ev.Event]:
    """The events of a table that played one round of these cards."""
    sections["dealing"] = {"confirm": "automatic"} | sections.get("dealing", {})
    play = Play(house(profile, burn={"by": "none"}, **sections))
    play.no_more_bets()
    for card in cards:
        if play.state.round is None or play.state.round.to_be_turned or play.state.round.due is None:
            break
        play.scan(str(card))
    if play.state.round is not None and play.state.round.to_be_turned:
        play.do(Kind.TURN)
        for card in cards[4:]:
            if play.state.round is None:
                break
            play.scan(str(card))
    return play.events


def explained(events: list[ev.Event], decode: Any = no_bytes, *, over: bool = False) -> dict[str, Any]:
    shoe = next(i for i, e in enumerate(events) if isinstance(e, ev.ShoeStarted))
    entries = entries_of(rows_of(events))
    own = [e for e in entries if e.event.round == 1]
    return explain(entries[shoe], own, decode, over=over)


def texts(answer: dict[str, Any]) -> list[str]:
    return [step["text"] for step in answer["steps"]]


# --- it agrees ------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(HANDS, st.sampled_from(PROFILES))
def test_whatever_the_table_publishes_is_derived_again(cards: list[Card], profile: str) -> None:
    events = played(cards, profile)
    (result,) = [e for e in events if isinstance(e, ev.RoundResulted)]
    answer = explained(events)
    assert answer["findings"] == [] and answer["agrees"] is True
    for key in ("outcome", "player", "banker", "bets"):
        assert answer["derived"][key] == ev.public_data(result)[key]


def every_hand() -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every reachable cell of the rule, by points: two totals, and each third card."""
    for p in range(10):
        for b in range(10):
            for third in range(10):
                player: tuple[int, ...] = (0, p)
                banker: tuple[int, ...] = (0, b)
                while side := draws(player, banker):
                    if side.value == "player":
                        player = (*player, third)
                    else:
                        banker = (*banker, 0)
                yield player, banker


def test_the_words_of_the_rule_are_what_is_done_in_every_cell() -> None:
    for player, banker in every_hand():
        said = steps(player, banker)
        whole = " / ".join(said)
        p, b = sum(player[:2]) % 10, sum(banker[:2]) % 10
        assert ("natural" in whole) == bool({p, b} & PUNTO_BANCO.natural)
        assert (f"Player {p}: draws" in said) == (len(player) == 3)
        banker_draws = any(text.startswith(f"Banker {b}") and text.endswith(": draws") for text in said)
        assert banker_draws == (len(banker) == 3)


def test_the_reasons_are_said() -> None:
    events = played([Card.parse(c) for c in ["2S", "KD", "3S", "3H", "8D"]])
    said = texts(explained(events, by_name))
    assert "Player 5: draws" in said
    assert "Banker 3, Player's third card is 8: stands" in said
    assert "tie: Player 3 to 3 Banker" in said and "bet tie: win at 8 to 1 (payouts.tie)" in said
    assert "bet banker: push" in said


def test_odds_of_a_banker_win_with_six() -> None:
    # Player 0 draws a king: 0; Banker 6 stands against 0.
    events = played([Card.parse(c) for c in ["KS", "2D", "QS", "4H", "KD"]], "commission-free")
    assert "bet banker: win at 0.5 to 1 (payouts.banker_six)" in texts(explained(events))


def test_a_free_hand_has_no_bets() -> None:
    play = Play(house())
    play.idle()
    play.do(Kind.HAND_FREE)
    play.deal(NATURAL)
    answer = explained(play.events)
    assert answer["agrees"] and answer["derived"]["bets"] == {} and answer["derived"]["free"] is True


def test_a_face_down_hand_is_explained_once_it_is_settled() -> None:
    cards = [Card.parse(c) for c in NATURAL.split()]
    answer = explained(played(cards, "classic"))
    assert answer["agrees"] and any("turned: Player 9S KD" in text for text in texts(answer))


def test_a_round_without_a_result_is_not_explained() -> None:
    play = Play(house("classic"))
    play.no_more_bets()
    play.deal("9S 2H KD 3C")
    with pytest.raises(NotExplained, match="round 1/1 has no result yet"):
        explained(play.events)


@pytest.mark.parametrize("profile", ["live-casino", "classic"])
def test_a_void_tells_why_and_by_whom_and_no_card_that_was_not_turned(profile: str) -> None:
    play = Play(house(profile))
    play.no_more_bets()
    play.deal("9S 2H")
    play.do(Kind.HOLD, text="look")
    play.scan("QD")
    play.do(Kind.VOID)
    answer = explained(play.events, by_name)
    assert answer["agrees"] and answer["derived"] is None
    assert any(text.startswith("void, by Pia: ") for text in texts(answer))
    told = repr(answer)
    assert "QD" not in told and "51 44" not in told, "what was kept may be burned"
    assert ("9S" in told) == (profile == "live-casino")
    assert "QD" in repr(explained(play.events, by_name, over=True))


# --- it finds ---------------------------------------------------------------------------------------------

OTHER: dict[str, Any] = {
    "player": "banker", "banker": "tie", "tie": "player", "win": "lose", "lose": "win", "push": "stand",
    "stand": "push",
}  # fmt: skip


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    else:
        yield path


def changed(result: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    made = copy.deepcopy(result)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    was = inner[path[-1]]
    match was:
        case bool():
            inner[path[-1]] = not was
        case int():
            inner[path[-1]] = (was + 1) % 10 or 7
        case str() if was in OTHER:
            inner[path[-1]] = OTHER[was]
        case str() if path[0] == "bets":
            inner[path[-1]] = was + "1"
        case _:
            inner[path[-1]] = next(str(card) for card in DECK if card.points != Card.parse(was).points)
    return made


NOT_DERIVED = ("shoe", "round", "confirmed_by")


@settings(max_examples=25, deadline=None)
@given(HANDS, st.sampled_from(PROFILES))
def test_whatever_is_changed_in_a_result_is_found(cards: list[Card], profile: str) -> None:
    events = played(cards, profile)
    at = next(i for i, e in enumerate(events) if isinstance(e, ev.RoundResulted))
    plain = ev.public_data(events[at])
    paths = [path for path in leaves(plain) if path[0] not in NOT_DERIVED]
    assert len(paths) > 20
    for path in paths:
        events_ = [*events]
        events_[at] = result_of(changed(plain, path), 1, 1)
        answer = explained(events_)
        assert not answer["agrees"], path
        dotted = ".".join(str(p) for p in path if isinstance(p, str))
        assert any(f"published {dotted} is" in finding for finding in answer["findings"]), path
    for bet in plain["bets"]:
        less = copy.deepcopy(plain)
        del less["bets"][bet]
        assert not explained([*events[:at], result_of(less, 1, 1), *events[at + 1 :]])["agrees"]


@settings(max_examples=15, deadline=None)
@given(HANDS, HANDS)
def test_an_amendment_follows_from_its_own_cards_and_what_is_changed_in_it_is_found(
    first: list[Card], second: list[Card]
) -> None:
    events = played(first)
    before = ev.public_data(next(e for e in events if isinstance(e, ev.RoundResulted)))
    after = ev.public_data(next(e for e in played(second) if isinstance(e, ev.RoundResulted)))
    after["revision"] = 2

    def amended(before: dict[str, Any], after: dict[str, Any], revision: int = 2) -> dict[str, Any]:
        event = ev.RoundAmended(
            before=before, after=after, reason="announcement", approved_by="Pia", revision=revision, **HERE
        )
        return explained([*events, event])

    good = amended(before, after)
    assert good["findings"] == []
    assert good["derived"]["outcome"] == after["outcome"]
    for path in leaves(after):
        if path[0] not in NOT_DERIVED:
            assert not amended(before, changed(after, path))["agrees"], path
    for path in leaves(before):
        if path[0] not in ("shoe", "round", "confirmed_by"):
            assert not amended(changed(before, path), after)["agrees"], path
    assert not amended(before, after, revision=3)["agrees"]


def test_what_was_published_with_a_card_is_held_against_the_rule() -> None:
    events = played([Card.parse(c) for c in NATURAL.split()])
    at = next(i for i, e in enumerate(events) if isinstance(e, ev.CardDealt))
    changes: tuple[dict[str, Any], ...] = (
        {"points": 3},
        {"total": 3},
        {"next": "none"},
        {"position": Position.P2},
    )
    for change in changes:
        assert isinstance(events[at], ev.CardDealt)
        wrong = [*events[:at], dataclasses.replace(events[at], **change), *events[at + 1 :]]
        assert not explained(wrong)["agrees"], change


@pytest.mark.parametrize("hand", [NATURAL, "2S 2D 2H 2C 5D 4C"])
def test_a_round_whose_cards_are_not_all_there_is_refused_or_found_in_words(hand: str) -> None:
    events = played([Card.parse(c) for c in hand.split()])
    dealt = [e.position.value for e in events if isinstance(e, ev.CardDealt)]
    assert len(dealt) == len(hand.split())
    for missing in chain.from_iterable(combinations(dealt, n) for n in range(1, len(dealt) + 1)):
        left = [e for e in events if not isinstance(e, ev.CardDealt) or e.position.value not in missing]
        try:
            assert not explained(left)["agrees"], missing
        except NotExplained as why:
            assert "round 1/1 cannot be derived" in str(why) and "tablectl journal verify" in str(why)
        else:
            assert len(dealt) > 4, missing


def test_rules_that_were_changed_are_found() -> None:
    events = played([Card.parse(c) for c in NATURAL.split()])
    at = next(i for i, e in enumerate(events) if isinstance(e, ev.ShoeStarted))
    shoe = events[at]
    assert isinstance(shoe, ev.ShoeStarted)
    rules = copy.deepcopy(shoe.rules)
    rules["payouts"]["player"] = "2"
    answer = explained([*events[:at], dataclasses.replace(shoe, rules=rules), *events[at + 1 :]])
    assert any("hash" in finding for finding in answer["findings"])
    assert any("bets.player.odds" in finding for finding in answer["findings"])
    broken = explained([*events[:at], dataclasses.replace(shoe, rules={}), *events[at + 1 :]])
    assert any("cannot be read" in finding for finding in broken["findings"])


def test_without_the_start_of_its_shoe_a_result_is_not_derivable() -> None:
    events = played([Card.parse(c) for c in NATURAL.split()])
    entries = [e for e in entries_of(rows_of(events)) if e.event.round == 1]
    answer = explain(None, entries, no_bytes, over=False)
    assert not answer["agrees"] and answer["derived"] is None


# --- bytes ----------------------------------------------------------------------------------------------


def with_bytes(raw: bytes, decode: Any) -> dict[str, Any]:
    events = played([Card.parse(c) for c in NATURAL.split()])
    entries = entries_of(rows_of(events))
    at = next(i for i, e in enumerate(entries) if isinstance(e.event, ev.CardDealt))
    entries[at] = dataclasses.replace(entries[at], raw=raw)
    shoe = next(e for e in entries if isinstance(e.event, ev.ShoeStarted))
    return explain(shoe, [e for e in entries if e.event.round == 1], decode, over=False)


@pytest.mark.parametrize(
    ("decoded", "agrees", "says"),
    [
        (["9S"], True, "bytes 02 31 say 9S"),
        (None, True, "bytes 02 31: not decoded"),
        (["8S"], False, "bytes 02 31 say 8S"),
        (["?"], False, "bytes 02 31 say ?"),
    ],
)
def test_bytes_are_read_again(decoded: list[str] | None, agrees: bool, says: str) -> None:
    answer = with_bytes(b"\x02\x31", lambda raw: decoded)
    assert answer["agrees"] is agrees
    assert any(says in text for text in texts(answer))
    (step,) = [s for s in answer["steps"] if "raw" in s]
    assert (step["raw"], step["decoded"]) == ("02 31", decoded)


# --- corrections ----------------------------------------------------------------------------------------


def corrected(**fields: Any) -> dict[str, Any]:
    """P1 was misread: 8S lies there; made by hand, as the table will."""
    events = played([Card.parse(c) for c in ["2S", "KD", "3S", "9H"]])
    at = next(i for i, e in enumerate(events) if isinstance(e, ev.RoundResulted))
    last = max(i for i, e in enumerate(events[:at]) if isinstance(e, ev.CardDealt))
    before = {"P1": "2S", "B1": "KD", "P2": "3S", "B2": "9H"}
    after = before | {"P1": "4S"}
    event = ev.HandCorrected(
        **{
            **{"before": before, "after": after, "reason": "misread", "approved_by": "Pia", "next": "none"},
            **{"how": "correct", "player": ("4S", "3S"), "banker": ("KD", "9H"), **HERE, **fields},
        }
    )
    result = ev.public_data(
        next(
            e
            for e in played([Card.parse(c) for c in ["4S", "KD", "3S", "9H"]])
            if isinstance(e, ev.RoundResulted)
        )
    )
    return explained([*events[: last + 1], event, result_of(result, 1, 1)])


def test_a_correction_is_a_step_and_what_it_left_is_what_counts() -> None:
    answer = corrected()
    assert answer["findings"] == []
    assert any(
        "corrected (correct) by Pia, misread: P1 2S B1 KD P2 3S B2 9H -> P1 4S" in t for t in texts(answer)
    )
    assert answer["derived"]["player"]["cards"] == ["4S", "3S"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"before": {"P1": "3S", "B1": "KD", "P2": "3S", "B2": "9H"}},
        {"before": {"P1": "2S"}},
        {"after": {"P1": "5S", "B1": "KD", "P2": "3S", "B2": "9H"}},
        {"next": "player"},
        {"player": ("4S", "3S", "2S")},
    ],
)
def test_a_correction_that_cannot_be_is_found(wrong: dict[str, Any]) -> None:
    assert not corrected(**wrong)["agrees"]


def entry(event: ev.Event) -> Entry:
    (made,) = entries_of(rows_of([event]))
    return made


def test_kept_cards_are_followed_through_their_names_and_places() -> None:
    """Never raises on what cannot be, and tells no kept face."""
    kept = [ev.ScanKept(card=c, label="", code="called", **HERE) for c in ("QD", None, "5C")]
    events: list[ev.Event] = [
        *kept,
        ev.KeptNamed(place=2, before=None, card="JC", approved_by="Pia", **HERE),
        ev.KeptNamed(place=9, before=None, card="JC", approved_by="Pia", **HERE),
        ev.KeptMoved(place=3, to=1, approved_by="Pia", **HERE),
        ev.CardDropped(approved_by="Pia", **HERE),
        ev.CardsReserved(approved_by="Pia", **HERE),
        ev.RoundVoided(reason="cards", cards={}, approved_by="Pia", **HERE),
    ]
    shoe = next(e for e in played([Card.parse(c) for c in NATURAL.split()]) if isinstance(e, ev.ShoeStarted))
    answer = explain(entry(shoe), entries_of(rows_of(events)), no_bytes, over=False)
    assert answer["agrees"]
    assert not any(face in repr(answer["steps"]) for face in ("QD", "JC", "5C"))
    assert "JC" in repr(explain(entry(shoe), entries_of(rows_of(events)), no_bytes, over=True))
