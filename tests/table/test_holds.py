"""Every hold: how it comes, what it offers, that each way offered works and every other is refused.

A card kept under a hold is counted once, whatever way is taken.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from tablectl import events as ev
from tablectl.cards import Outcome
from tablectl.scanner import DeviceKind, ErrorKind
from tablectl.table import HOLDS, WAYS, Command, Expect, JournalFilled, Kind, Phase, Started, offered
from tablectl.table.holds import RELEASES
from tests.table.playing import ANGEL_EYE, NATURAL, REASON, Play, house
from tests.table.test_transitions import WAY_TO

Way = Callable[[], Play]


def early() -> Play:
    play = Play()
    play.betting()
    play.scan("8S")
    return play


def early_closed() -> Play:
    play = early()
    play.wait(20)
    return play


def early_unread() -> Play:
    play = Play()
    play.betting()
    play.scan(None)
    play.wait(20)
    return play


def card_idle() -> Play:
    play = Play()
    play.no_more_bets()
    play.do(Kind.VOID)
    play.scan("8S")
    return play


def idle_after_unread() -> Play:
    play = unread_twice()
    play.do(Kind.VOID)
    play.scan("8S")
    return play


def burn_over() -> Play:
    play = Play()
    play.idle()
    play.scan("8S")
    return play


def burned_twice() -> Play:
    play = Play()
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.deal("2S 3H 3H")
    play.do(Kind.HOLD)
    return play


def burn_over_behind_a_repeat() -> Play:
    play = Play()
    play.idle("2S 3H 3H 4D 5C 6S")
    play.scan("8S")
    return play


def burn_wrong() -> Play:
    play = Play(house(burn={"scanned": False}))
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.do(Kind.BURN_DONE, count="7")
    return play


def burn_wrong_in_burn() -> Play:
    play = Play(house("atlantic-city", burn={"by": "first-card"}))
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.scan(None)
    play.scan(None)
    play.release("burn")
    play.release("keep")
    play.do(Kind.BURN, count="2")
    play.give(Started(play.now(), "1"))
    return play


def missed() -> Play:
    play = in_hand()
    play.do(Kind.HOLD, because="card-missed")
    return play


def twice() -> Play:
    play = in_hand()
    play.scan("2H")
    play.do(Kind.HOLD, because="card-twice", text="the bounce")
    return play


def two_at_once() -> Play:
    play = in_hand()
    play.do(Kind.HOLD, because="two-cards")
    play.deal("KD 3C")
    return play


def unread_twice() -> Play:
    play = Play()
    play.no_more_bets()
    play.scan("9S")
    play.scan(None)
    play.scan(None)
    return play


def unread_and_kept() -> Play:
    play = unread_twice()
    play.scan("2H")
    return play


def unread_burn() -> Play:
    play = Play()
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.scan(None)
    play.wait(30)
    return play


def conflict() -> Play:
    play = Play(house(), ANGEL_EYE)
    play.no_more_bets()
    play.deal_labelled("P1=9S P2=2H")
    return play


def burn_conflict() -> Play:
    play = Play(house(), ANGEL_EYE)
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.deal_labelled("P1=9S")
    return play


def overdraw_idle() -> Play:
    play = Play()
    play.round(NATURAL)
    play.scan("8S")
    return play


def overdraw_next() -> Play:
    play = Play(house(dealing={"overdraw": "next"}))
    play.round(NATURAL)
    play.scan("8S")
    return play


def overdraw_void() -> Play:
    play = Play(house(dealing={"overdraw": "void"}))
    play.round(NATURAL)
    play.scan("8S")
    return play


def overdraw_complete() -> Play:
    play = Play(house(dealing={"confirm": "dealer"}))
    play.round(NATURAL)
    play.deal("8S 8H")
    return play


def overdraw_said_by_shoe() -> Play:
    play = Play(house(), ANGEL_EYE)
    play.no_more_bets()
    play.deal_labelled("P1=9S B1=2H")
    play.device(DeviceKind.ERROR, error=ErrorKind.OVERDRAW, text="overdraw")
    return play


def disagrees() -> Play:
    rules = house()
    rules = dataclasses.replace(rules, dealing=dataclasses.replace(rules.dealing, confirm="shoe"))
    play = Play(rules, ANGEL_EYE)
    play.no_more_bets()
    play.deal_labelled("P1=9S B1=2H P2=KD B2=3C")
    play.verdict(Outcome.BANKER)
    return play


def announced() -> Play:
    play = Play(house(dealing={"confirm": "dealer"}))
    play.round(NATURAL)
    play.do(Kind.CONFIRM, outcome="tie")
    return play


def empty() -> Play:
    play = Play(house(shoe={"cutting_card": 400}))
    play.no_more_bets()
    play.deal("9S 2H")
    play.device(DeviceKind.CUT_CARD)
    play.device(DeviceKind.CUT_CARD)
    return play


def integrity() -> Play:
    play = Play()
    play.idle("8S 8S 2H 8S 8S 8S")
    play.round("8S 3D 8S 4C")
    play.no_more_bets()
    play.deal("8S 8S")
    return play


def integrity_idle() -> Play:
    play = Play()
    play.idle("8S 8S 2H 8S 8S 8S")
    play.round("8S 3D 8S 4C")
    play.do(Kind.BURN, count="2")
    play.deal("8S 8S")
    return play


def in_hand() -> Play:
    play = Play()
    play.no_more_bets()
    play.deal("9S 2H")
    return play


def lost() -> Play:
    play = in_hand()
    play.lose()
    return play


def lost_complete() -> Play:
    play = Play(house(dealing={"confirm": "dealer"}))
    play.round(NATURAL)
    play.lose()
    return play


def lost_and_back() -> Play:
    play = lost()
    play.restore()
    return play


def lost_back_and_kept() -> Play:
    play = lost_and_back()
    play.scan("KD")
    return play


def shoe_restarted() -> Play:
    play = in_hand()
    play.device(DeviceKind.STARTED)
    return play


def shoe_error() -> Play:
    play = in_hand()
    play.device(DeviceKind.ERROR, number=4, text="reverse run at exit")
    return play


def restart() -> Play:
    play = in_hand()
    play.give(Started(play.now(), "1"))
    play.restore()
    return play


def restart_in_burn() -> Play:
    play = Play()
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.scan("2S")
    play.give(Started(play.now(), "1"))
    play.restore()
    return play


def journal_full() -> Play:
    play = in_hand()
    play.give(JournalFilled(play.now(), full=True))
    return play


def unturned() -> Play:
    play = Play(house("classic"))
    play.no_more_bets()
    play.deal("2S KD 3S 4H")
    play.scan("9C")
    return play


def rescan_begun() -> Play:
    play = in_hand()
    play.do(Kind.RESCAN, what="hand")
    return play


def rescanned() -> Play:
    play = rescan_begun()
    play.deal("9S 2H")
    return play


def half_rescanned() -> Play:
    play = rescan_begun()
    play.deal("9S")
    return play


def called() -> Play:
    play = in_hand()
    play.do(Kind.HOLD, text="a player disputes")
    return play


def called_and_kept() -> Play:
    play = called()
    play.deal("KD 3C")
    return play


def called_and_one_too_many() -> Play:
    play = called()
    play.deal("KD 3C 7H")
    return play


def called_closed() -> Play:
    play = Play()
    play.do(Kind.HOLD)
    return play


END = "shoe end"
REPAIR = ["rescan hand", "correct", "insert", "move"]
DEVICE = [*REPAIR, "enter", "device swap", "void", END]
DEAD = [way for way in DEVICE if way != "rescan hand"]
DEAD_DONE = [way for way in DEAD if way != "enter"]
BACK = [way for way in DEVICE if way != "enter"]
KEPT = ["accept", "burn", "correct", "move"]
CASES: dict[str, tuple[Way, list[str], list[str]]] = {
    # name: how it comes, the codes, the ways out that are offered
    "early, betting open": (early, ["card-early"], ["burn", "correct", "void", END]),
    "early, betting closed": (
        early_closed,
        ["card-early"],
        ["as-p1", "accept", "burn", "correct", "insert", "void", END],
    ),
    "early and unread": (early_unread, ["card-early"], ["burn", "correct", "insert", "void", END]),
    "idle": (card_idle, ["card-idle"], ["burn", "correct", END]),
    "idle, after one that was not read": (
        idle_after_unread,
        ["card-idle"],
        ["burn", "drop", "correct", END],
    ),
    "burn over": (burn_over, ["burn-over"], ["burn", "correct", END]),
    "burn card read twice": (burned_twice, ["called"], ["drop", "resume", "burn done", END]),
    "burn over behind a repeat": (
        burn_over_behind_a_repeat,
        ["burn-over"],
        ["burn", "drop", "correct", END],
    ),
    "burn wrong": (burn_wrong, ["burn-wrong"], ["keep", END]),
    "more to burn, restart": (burn_wrong_in_burn, ["restart"], ["burn done", "device swap", END]),
    "unread twice": (unread_twice, ["card-unreadable"], ["rescan", "enter", "correct", "void", END]),
    "unread, one kept": (unread_and_kept, ["card-unreadable"], [*KEPT, "enter", "void", END]),
    "unread burn": (unread_burn, ["card-unreadable"], ["burn", "rescan", END]),
    "missed": (missed, ["card-missed"], ["keep", *REPAIR, "enter", "void", END]),
    "twice": (twice, ["card-twice"], ["drop", "keep", *REPAIR, "void", END]),
    "two at once": (two_at_once, ["two-cards"], [*KEPT, "rescan hand", "insert", "void", END]),
    "conflict": (conflict, ["card-conflict"], [*KEPT, "rescan hand", "insert", "void", END]),
    "conflict in a burn": (burn_conflict, ["card-conflict"], ["keep", END]),
    "overdraw after the result": (overdraw_idle, ["overdraw"], ["burn", "correct", END]),
    "overdraw, next": (overdraw_next, ["overdraw"], ["next", "correct", END]),
    "overdraw, void": (overdraw_void, ["overdraw"], ["correct", "void", END]),
    "two overdrawn": (overdraw_complete, ["overdraw"], ["burn", *REPAIR, "void", END]),
    "overdraw by the shoe's word": (
        overdraw_said_by_shoe,
        ["overdraw"],
        ["burn", *REPAIR, "void", END],
    ),
    "shoe disagrees": (disagrees, ["shoe-disagrees"], ["keep", *REPAIR, "void", END]),
    "announced otherwise": (announced, ["announce-differs"], ["keep", *REPAIR, "void", END]),
    "empty": (empty, ["shoe-empty"], ["correct", "void", END]),
    "ninth copy": (integrity, ["integrity"], ["drop", *REPAIR, "amend", "void", END]),
    "ninth copy in a burn": (integrity_idle, ["integrity"], ["drop", "correct", "amend", END]),
    "scanner lost": (lost, ["device-lost"], DEAD),
    "scanner lost, hand complete": (lost_complete, ["device-lost"], ["cards-confirmed", *DEAD_DONE]),
    "scanner back": (lost_and_back, ["device-lost"], ["cards-confirmed", *DEVICE]),
    "scanner back, one kept": (
        lost_back_and_kept,
        ["device-lost"],
        ["accept", "burn", *(way for way in DEVICE if way != "enter")],
    ),
    "shoe restarted": (shoe_restarted, ["shoe-restarted"], ["cards-confirmed", *DEVICE]),
    "shoe error": (shoe_error, ["shoe-error"], ["cards-confirmed", *DEVICE]),
    "restart": (restart, ["restart"], ["cards-confirmed", *DEVICE]),
    "restart in a burn": (restart_in_burn, ["restart"], ["cards-confirmed", "burn done", "device swap", END]),
    "drawn before the turn": (unturned, ["unturned"], ["turn", "burn", "correct", "move", "void", END]),
    "scanning the hand again": (rescan_begun, ["rescan"], ["keep", "void", END]),
    "the hand scanned again": (rescanned, ["rescan"], ["rescanned", "keep", "void", END]),
    "half the hand scanned again": (half_rescanned, ["rescan"], ["fewer", "keep", "void", END]),
    "journal": (journal_full, ["journal"], ["resume", "void", END]),
    "called": (called, ["called"], ["resume", *REPAIR, "enter", "void", END]),
    "called, two kept": (called_and_kept, ["called"], [*KEPT, "rescan hand", "insert", "void", END]),
    "called, three kept": (
        called_and_one_too_many,
        ["called"],
        [*KEPT, "rescan hand", "insert", "void", END],
    ),
    "called, closed": (called_closed, ["called"], ["resume"]),
}


def in_order(ways: list[str]) -> tuple[str, ...]:
    return tuple(way for way in WAYS if way in ways)


def test_every_code_is_entered() -> None:
    entered = {code for _, codes, _ in CASES.values() for code in codes}
    assert entered == set(HOLDS)


def test_the_journals_hold_ends_by_itself() -> None:
    play = journal_full()
    play.give(JournalFilled(play.now(), full=False))
    assert play.codes == []
    released = play.of(ev.TableReleased)[-1]
    assert (released.action, released.approved_by) == ("resume", "controller")
    play.deal("2C")


def test_cards_drawn_under_the_journals_hold_wait_for_a_pit_boss() -> None:
    play = journal_full()
    play.scan("2C")
    out = play.out
    play.give(JournalFilled(play.now(), full=False))
    assert play.codes == ["called"] and len(play.state.loose) == 1
    play.release("accept")
    assert play.codes == [] and play.out == out


def test_the_journals_hold_does_not_end_another_one() -> None:
    play = journal_full()
    play.do(Kind.HOLD)
    play.give(JournalFilled(play.now(), full=False))
    assert play.codes == ["called"]


@pytest.mark.parametrize("name", list(CASES))
def test_the_hold_and_the_ways_offered(name: str) -> None:
    way, codes, ways = CASES[name]
    play = way()
    assert play.codes == codes
    assert offered(play.state) == in_order(ways)
    held = play.of(ev.TableHeld)[-1]
    assert held.codes == tuple(codes) and HOLDS[codes[-1]].means in held.message


@pytest.mark.parametrize("name", list(CASES))
def test_what_is_not_offered_is_refused(name: str) -> None:
    way, _, ways = CASES[name]
    play = way()
    for action in [*WAYS, "", "nonsense", "void ", "KEEP"]:
        if action in ways and action in RELEASES:
            continue
        answer = play.refused(Kind.RELEASE, action=action)
        half = play.state.rescan is not None and action == "rescanned"
        assert ("scanned again: scan" if half else "is no way out now") in answer
    for action in set(WAYS) - RELEASES - set(ways) - ALWAYS:
        kind = Kind.RESCAN if action == "rescan hand" else Kind(action)
        answer = play.refused(kind, position="P1", to="B1", card="2S", count="1", round="9/9")
        assert "on hold" in answer


ALWAYS = {"amend", "device swap", "void", "turn"}
"""They look elsewhere, or go on under any hold."""


@pytest.mark.parametrize(
    ("name", "action"), [(name, way) for name, (_, _, ways) in CASES.items() for way in ways]
)
def test_every_way_offered_works_and_counts_each_card_once(name: str, action: str) -> None:
    play = CASES[name][0]()
    before, kept = play.state, len(play.state.loose)
    out = play.out if before.shoe else None
    burned = len(play.of(ev.CardBurned))
    dealt = len(play.of(ev.CardDealt))
    play.take(action)
    # An unread card is counted when nobody will scan it again.
    unread_burn_is_out = name == "unread burn" and action == "burn"
    unread_is_out = bool(before.unread) and action in ("void", END)
    told = {"insert": 1, "enter": 1, "drop": -1, "fewer": -1, "burn done": before.burns_due}.get(action, 0)
    if play.state.shoe is not None:
        assert out is not None
        assert play.out == out + unread_burn_is_out + unread_is_out + told, (
            "every card was counted when it was drawn"
        )
    else:
        ended = play.of(ev.ShoeEnded)
        assert out is None or not ended or ended[-1].dealt + len(ended[-1].burned) == out + unread_is_out
    released = play.of(ev.TableReleased)
    if before.holds[0].code not in play.codes:
        assert (released[-1].action, released[-1].reason, released[-1].approved_by) == (action, REASON, "Pia")
        assert before.holds[0].code in released[-1].codes
    match action:
        case "burn":
            assert len(play.of(ev.CardBurned)) == burned + kept + unread_burn_is_out
            assert not play.state.loose
        case "as-p1" | "accept":
            assert len(play.of(ev.CardDealt)) == dealt + kept - len(play.state.loose)
        case "void":
            assert play.stands(Phase.SHUFFLE_DUE if name == "empty" else Phase.IDLE)
            assert not play.state.loose
            assert play.codes == (["integrity"] if name == "ninth copy" else [])
        case "shoe end":
            assert play.stands(Phase.SHUFFLE_DUE) and not play.state.held and not play.state.loose
        case "burn done":
            assert len(play.of(ev.CardBurned)) == burned + before.burns_due and play.stands(Phase.IDLE)
        case "enter":
            assert len(play.of(ev.CardDealt)) == dealt + 1
        case "correct" | "insert" | "move":
            assert len(play.of(ev.HandCorrected) + play.of(ev.KeptNamed) + play.of(ev.KeptMoved)) == 1
        case "next":
            assert not play.state.loose and len(play.state.reserved) == kept
        case _:
            assert len(play.of(ev.CardDealt)) == dealt and len(play.of(ev.CardBurned)) == burned


@pytest.mark.parametrize("void_first", [False, True], ids=["by the rule", "in a dispute"])
def test_a_further_card_after_the_void_that_is_the_rule_is_burned(void_first: bool) -> None:
    play = Play(house(dealing={"overdraw": "void"}))
    play.round("2C 9D 3H KS")
    if not void_first:
        play.scan("7S")
        assert "burn" not in offered(play.state)
    play.do(Kind.VOID, round="1/1")
    play.scan("8S")
    assert play.codes == ["overdraw"]
    assert offered(play.state) == in_order(["burn", "correct", END]), "it is void already"
    play.release("burn")
    assert not play.state.held and play.stands(Phase.IDLE)


@pytest.mark.parametrize("code", ["two-cards", "card-missed", "called"])
def test_a_card_that_could_not_be_read_is_entered_whatever_else_holds_the_table(code: str) -> None:
    play = in_hand()
    play.scan(None)
    play.do(Kind.HOLD, because=code)
    assert "enter it: enter P2" in play.refused(Kind.INSERT, position="P2", card="KD")
    play.do(Kind.ENTER, position="P2", card="KD")
    assert play.state.unread == 0 and play.out == 9


def test_no_amendment_is_offered_before_a_round_has_ended() -> None:
    play = Play(house(shoe={"decks": 1, "cutting_card": 0}))
    play.no_more_bets()
    play.scan("2S")  # it was burned
    assert play.codes == ["integrity"] and "amend" not in offered(play.state)


@pytest.mark.parametrize("called", [False, True], ids=["by the card", "by call"])
@pytest.mark.parametrize("late", [False, True], ids=["seen in time", "seen late"])
def test_where_the_house_burns_every_early_card_nothing_else_is_offered(called: bool, late: bool) -> None:
    play = Play(house(dealing={"early_card": "burn"}))
    play.betting()
    if called:
        play.do(Kind.HOLD, text="a card lies face up")
    if late:
        play.wait(20)
        play.scan("8S", ago=1.0)
    else:
        play.scan("8S")
        play.wait(20)
    assert play.stands(Phase.NO_MORE_BETS) and play.codes == (["called"] if called else ["card-early"])
    assert not {"as-p1", "accept"} & set(offered(play.state))
    play.release("burn")
    play.deal("9S 2H KD 3C")
    assert play.result().player.cards == ("9S", "KD") and not play.state.held


def test_after_accept_the_hand_goes_on_and_one_too_many_is_an_overdraw() -> None:
    play = called_and_one_too_many()
    play.release("accept")
    assert play.codes == ["overdraw"] and not play.of(ev.RoundResulted)
    assert offered(play.state) == in_order(["burn", *REPAIR, "void", END])
    play.release("burn")
    assert play.result().player.cards == ("9S", "KD") and play.out == 6 + 5


def test_after_a_rescan_the_next_scan_takes_the_position() -> None:
    play = unread_twice()
    out = play.out
    play.release("rescan")
    play.scan("2H")
    assert play.of(ev.CardDealt)[-1].position == "B1" and play.out == out + 1


def test_one_miss_is_no_hold_and_thirty_seconds_are() -> None:
    play = in_hand()
    play.scan(None)
    assert not play.state.held and play.beeps == ["reject"] and "again" in play.said[0]
    play.wait(29)
    assert not play.state.held
    play.wait(1)
    assert play.codes == ["card-unreadable"]


def test_one_miss_then_the_card() -> None:
    play = in_hand()
    play.scan(None)
    play.scan("KD")
    play.wait(60)
    assert not play.state.held and play.of(ev.CardDealt)[-1].position == "P2" and play.out == 9


@pytest.mark.parametrize("how", [Kind.INSERT, Kind.MOVE])
def test_of_the_cards_kept_one_goes_to_the_hand_and_the_others_stay_early(how: Kind) -> None:
    """The house burns early cards: what was drawn early stays so, whatever becomes of one beside it."""
    play = Play(house(dealing={"early_card": "burn"}))
    play.betting()
    play.deal("9S 7C AS")
    play.wait(20)
    play.do(Kind.INSERT, position="P1", card="2D")
    said = {"card": "7C", "position": "B1"} if how is Kind.INSERT else {"position": "K2", "to": "P1"}
    play.do(how, **said)
    assert [(str(kept.card), kept.code) for kept in play.state.loose] == [
        ("9S", "card-early"),
        ("AS", "card-early"),
    ]
    ways = offered(play.state)
    assert "accept" not in ways and "burn" in ways
    play.release("burn")
    assert play.state.shoe is not None and play.state.shoe.burned[-2:] == ("9S", "AS")


def test_a_void_drops_the_wait_for_a_rescan() -> None:
    play = in_hand()
    play.scan(None)
    play.do(Kind.VOID)
    play.wait(60)
    assert not play.state.held


def test_a_further_fault_joins_the_hold_and_each_keeps_its_own_way() -> None:
    play = called_and_kept()
    play.lose()
    assert play.codes == ["called", "device-lost"]
    assert play.of(ev.TableHeld)[-1].codes == ("called", "device-lost")
    play.release("burn")
    assert play.codes == ["device-lost"], "the burn ended the call, not the lost scanner"
    assert "still on hold: device-lost" in play.last.answer
    assert "cards-confirmed" not in offered(play.state)
    play.restore()
    play.release("cards-confirmed")
    assert not play.state.held and play.stands(Phase.DEALING)


def test_the_same_fault_twice_is_one_hold() -> None:
    play = lost()
    play.restore()
    play.lose()
    assert play.codes == ["device-lost"] and len(play.of(ev.TableHeld)) == 1


def test_release_needs_a_pit_boss_a_reason_and_what_was_seen() -> None:
    play = called()
    saw = Expect(version=play.state.version)
    resume = {"action": "resume"}

    def answer(**fields: object) -> str:
        given = {
            "args": resume,
            "person": "Pia",
            "supervisor": True,
            "reason": REASON,
            "expect": saw,
            **fields,
        }
        decision = play.give(Command(Kind.RELEASE, play.now(), **given))  # type: ignore[arg-type]
        return decision.answer if decision.refused else "accepted"

    assert "only a pit boss" in answer(supervisor=False)
    assert "only a pit boss" in answer(person=None)
    assert "a reason is needed" in answer(reason=" ")
    assert "what its sender saw" in answer(expect=Expect())
    assert "has changed since" in answer(expect=Expect(version=saw.version and saw.version - 1))
    assert answer() == "accepted"


def test_the_screen_must_be_anew_after_each_card_kept() -> None:
    play = called()
    saw = Expect(version=play.state.version)
    play.scan("KD")
    late = play.give(
        Command(
            Kind.RELEASE,
            play.now(),
            args={"action": "accept"},
            person="Pia",
            supervisor=True,
            reason=REASON,
            expect=saw,
        )
    )
    assert late.refused and "has changed since" in late.answer


def test_what_people_say_of_a_hold_is_a_sentence_before_the_ways_out() -> None:
    play = in_hand()
    play.give(Command(Kind.HOLD, play.now(), args={"text": "check the cable"}))
    assert "put on hold. check the cable. Ways out: release" in play.refused(Kind.CONFIRM)


def test_the_dealer_may_hold_without_being_a_pit_boss() -> None:
    play = in_hand()
    assert not play.give(Command(Kind.HOLD, play.now(), args={"text": "look"})).refused
    assert play.state.holds[0].message == "The table was put on hold. look"


def test_no_hold_message_names_a_kept_cards_face() -> None:
    for name, (way, _, _) in CASES.items():
        if name == "ninth copy":
            continue  # it lies open on the table, and cannot be burned
        play = way()
        public = str([ev.public_data(e) for e in play.of(ev.TableHeld)])
        for loose in play.state.loose:
            assert str(loose.card) not in public, name


@pytest.mark.parametrize("phase", list(Phase))
def test_restart_in_every_phase(phase: Phase) -> None:
    play = WAY_TO[phase]()
    before = play.state
    play.give(Started(play.now(), "2"))
    held = phase in (Phase.BURNING, Phase.BETTING, Phase.NO_MORE_BETS, Phase.DEALING, Phase.COMPLETE)
    assert play.codes == (["restart"] if held else [])
    assert play.stands(Phase.NO_MORE_BETS if phase is Phase.BETTING else phase)
    assert play.state.shoe == before.shoe and not play.state.scanner_up
    if before.round is not None:
        assert play.state.round is not None and play.state.round.cards == before.round.cards
    if held:
        # Not before the scanner is back; a complete hand wants none.
        assert ("cards-confirmed" in offered(play.state)) == (phase is Phase.COMPLETE)
        play.restore()
        play.release("cards-confirmed")
        assert not play.state.held
