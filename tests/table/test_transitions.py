"""The transition table against the table itself: the full product of phases, holds and kinds is walked.

Every state is reached by playing there. A lawful pair must lead where the table says; every other
command must be refused in the words of its phase, or of the hold, with nothing changed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import pytest

from tablectl import events as ev
from tablectl.cards import DECK, Card, Outcome
from tablectl.clock import SECOND
from tablectl.scanner import (
    Arrived,
    DeviceEvent,
    DeviceKind,
    Discarded,
    Label,
    Reject,
    Scan,
    ScannerLost,
    ScannerRestored,
)
from tablectl.table import (
    HOLDS,
    WAYS,
    Command,
    Expect,
    JournalFilled,
    Kind,
    Phase,
    Started,
    Tick,
    Trouble,
    offered,
)
from tablectl.table.decide import HANDLERS
from tablectl.table.inputs import COMMANDS, LOOKING_BACK, Input
from tablectl.table.state import IN_ROUND
from tablectl.table.transitions import LAWFUL, REFUSALS, UNDER_HOLD, move_for
from tablectl.table.words import ways_out
from tests.table.playing import ANGEL_EYE, NATURAL, REASON, Play, house, other_suit

DEALER = {"dealing": {"confirm": "dealer"}}
NO_COUNT = {"inspection": False}


def table(**sections: Mapping[str, object]) -> Play:
    return Play(house(**{"shoe": dict(NO_COUNT), **sections}))  # type: ignore[arg-type]


def closed(**sections: Mapping[str, object]) -> Play:
    return table(**sections)


def no_shoe(**sections: Mapping[str, object]) -> Play:
    return table(**sections).opened()


def burning(**sections: Mapping[str, object]) -> Play:
    play = no_shoe(**sections)
    play.do(Kind.SHOE_NEW)
    return play


def idle(**sections: Mapping[str, object]) -> Play:
    play = table(**sections).idle()
    play.no_more_bets()
    play.deal(NATURAL)
    if play.stands(Phase.COMPLETE):
        play.do(Kind.CONFIRM)
    return play


def betting(**sections: Mapping[str, object]) -> Play:
    return table(**sections).betting()


def no_more_bets(**sections: Mapping[str, object]) -> Play:
    return table(**sections).no_more_bets()


def dealing(**sections: Mapping[str, object]) -> Play:
    play = no_more_bets(**sections)
    play.deal("2S KD 3S 6H")
    return play


def complete(**sections: Mapping[str, object]) -> Play:
    play = no_more_bets(**{**DEALER, **sections})
    play.deal(NATURAL)
    return play


def shuffle_due(**sections: Mapping[str, object]) -> Play:
    play = idle(**sections)
    play.do(Kind.SHOE_END)
    return play


WAY_TO: dict[Phase, Callable[..., Play]] = {
    Phase.CLOSED: closed,
    Phase.NO_SHOE: no_shoe,
    Phase.BURNING: burning,
    Phase.IDLE: idle,
    Phase.BETTING: betting,
    Phase.NO_MORE_BETS: no_more_bets,
    Phase.DEALING: dealing,
    Phase.COMPLETE: complete,
    Phase.SHUFFLE_DUE: shuffle_due,
}
assert list(WAY_TO) == list(Phase)

DOWN = {"dealing": {"deal": "face-down", "confirm": "dealer"}}
UNSCANNED = {"burn": {"scanned": False}}


def last_card_due(**sections: Mapping[str, object]) -> Play:
    play = no_more_bets(**sections)
    play.deal("9S 2H KD")
    return play


def last_burn_due() -> Play:
    play = burning()
    play.deal("2S 9H 4D KC 7S")
    return play


def last_hand(way: Callable[[], Play]) -> Callable[[], Play]:
    """The same state in the last hand of its shoe."""

    def play_there() -> Play:
        play = way()
        play.do(Kind.CUT_CARD)
        return play

    return play_there


def button_due() -> Play:
    """An Angel Eye table, hand complete and in step: the result button is awaited."""
    rules = house(shoe=dict(NO_COUNT))
    rules = dataclasses.replace(rules, dealing=dataclasses.replace(rules.dealing, confirm="shoe"))
    play = Play(rules, ANGEL_EYE)
    play.no_more_bets()
    play.deal_labelled("P1=9S B1=2H P2=KD B2=3C")
    return play


def cut_told_by_shoe(way: Callable[[], Play]) -> Callable[[], Play]:
    def play_there() -> Play:
        play = way()
        play.device(DeviceKind.CUT_CARD)
        return play

    return play_there


def empty_shoe() -> Play:
    """Every card of it burned."""
    play = table(shoe={"decks": 1, "cutting_card": 0}, burn={"by": "none"}).idle("")
    for i in range(0, 52, 20):
        some = DECK[i : i + 20]
        play.do(Kind.BURN, count=str(len(some)))
        for card in some:
            play.scan(str(card))
    assert play.state.shoe is not None and play.state.shoe.left == 0
    return play


def turned_with_automatic_result() -> Play:
    play = no_more_bets(dealing={"deal": "face-down"})
    play.deal(NATURAL)
    return play


VARIANTS: dict[tuple[Phase, Kind], list[Callable[[], Play]]] = {
    (Phase.BURNING, Kind.CARD): [burning, last_burn_due],
    (Phase.BURNING, Kind.CUT_SEEN): [burning, cut_told_by_shoe(burning)],
    (Phase.IDLE, Kind.CUT_SEEN): [idle, cut_told_by_shoe(idle), cut_told_by_shoe(lambda: empty_shoe())],
    (Phase.BURNING, Kind.SAME_AGAIN): [burning, last_burn_due],
    (Phase.DEALING, Kind.SAME_AGAIN): [
        lambda: _dealing_one(),
        lambda: last_card_due(**DEALER),
        last_card_due,
        last_hand(last_card_due),
    ],
    (Phase.NO_MORE_BETS, Kind.CARD): [
        no_more_bets,
        lambda: _early_card_to_come(),
    ],
    (Phase.DEALING, Kind.CARD): [
        lambda: _dealing_one(),
        lambda: last_card_due(**DEALER),
        last_card_due,
        last_hand(last_card_due),
    ],
    (Phase.COMPLETE, Kind.VERDICT): [complete, button_due, last_hand(button_due)],
    (Phase.SHUFFLE_DUE, Kind.SHOE_NEW): [shuffle_due, lambda: shuffle_due(burn={"by": "none"})],
    (Phase.NO_SHOE, Kind.SHOE_NEW): [no_shoe, lambda: no_shoe(burn={"by": "none"})],
    (Phase.IDLE, Kind.SIGN_IN): [idle, lambda: table().idle()],
    (Phase.BURNING, Kind.BURN_DONE): [
        lambda: burning(**UNSCANNED),
        lambda: burning(burn={"scanned": False, "after_shuffle": 8}),
    ],
    (Phase.DEALING, Kind.TURN): [lambda: dealing(**DOWN)],
    (Phase.COMPLETE, Kind.TURN): [
        lambda: complete(**DOWN),
        turned_with_automatic_result,
        last_hand(turned_with_automatic_result),
    ],
    (Phase.COMPLETE, Kind.CONFIRM): [complete, last_hand(complete), lambda: _differing(complete())],
    (Phase.BURNING, Kind.SHOE_UNDO): [burning, lambda: looking_back(Phase.BURNING)],
    (Phase.IDLE, Kind.SHOE_UNDO): [
        lambda: table(burn={"by": "none"}).idle(""),
        lambda: _unburned_again(),
    ],
    **{
        (phase, Kind.VOID): [WAY_TO[phase], last_hand(WAY_TO[phase])]
        for phase in (Phase.BETTING, Phase.NO_MORE_BETS, Phase.DEALING, Phase.COMPLETE)
    },
}


def _unburned_again() -> Play:
    play = table(burn={"by": "none"}).idle("")
    play.do(Kind.SHOE_END)
    play.do(Kind.SHOE_NEW)
    return play


def _dealing_one() -> Play:
    play = no_more_bets()
    play.scan("9S")
    return play


def _early_card_to_come() -> Play:
    play = betting()
    play.wait(20)
    play.extra = {"ago": 1.0}
    return play


def _differing(play: Play) -> Play:
    play.extra = {"outcome": "tie"}
    return play


ARGS: dict[Kind, dict[str, str]] = {
    Kind.SIGN_IN: {"name": "Emil", "pickup": "right"},
    Kind.BURN_DONE: {"count": "6"},
    Kind.BURN: {"count": "2"},
    Kind.ACK: {"alert": "clock"},
    Kind.HOLD: {"text": "look"},
    Kind.RELEASE: {"action": "resume"},
    Kind.SHOE_ADOPT: {"number": "9", "out": "100", "rounds": "12"},
}

UNDER_HOLD_ONLY = {Kind.RELEASE, Kind.CORRECT, Kind.INSERT, Kind.MOVE, Kind.ENTER}
"""What sets a hand right, and what ends a hold."""

ALWAYS = LOOKING_BACK | {Kind.RESCAN}
TYPED = {
    Kind.RESCAN: "rescan hand",
    Kind.CORRECT: "correct",
    Kind.INSERT: "insert",
    Kind.MOVE: "move",
    Kind.ENTER: "enter",
    Kind.AMEND: "amend",
    Kind.VOID: "void",
}
"""Commands whose arguments depend on what lies on the table, by their way out."""


def looking_back(phase: Phase) -> Play:
    """``phase``, with a round settled before."""
    play = table(**DEALER).idle()
    play.no_more_bets()
    play.deal(NATURAL)
    play.do(Kind.CONFIRM)
    if phase in (Phase.BURNING, Phase.SHUFFLE_DUE, Phase.NO_SHOE, Phase.CLOSED):
        play.do(Kind.SHOE_END)
    if phase is Phase.BURNING:
        play.do(Kind.SHOE_NEW)
    if phase in (Phase.NO_SHOE, Phase.CLOSED):
        play.do(Kind.CLOSE)
    if phase is Phase.NO_SHOE:
        play.do(Kind.OPEN)
        play.do(Kind.SIGN_IN, name="Dora", pickup="left")
    if phase in (Phase.BETTING, Phase.NO_MORE_BETS, Phase.DEALING, Phase.COMPLETE):
        play.do(Kind.BETS_OPEN)
    if phase in (Phase.NO_MORE_BETS, Phase.DEALING, Phase.COMPLETE):
        play.wait(20)
    if phase in (Phase.DEALING, Phase.COMPLETE):
        play.deal("9S 2H KD")
    if phase is Phase.COMPLETE:
        play.scan("3C")
    return play


def input_of(kind: Kind, play: Play) -> Input:
    """An input of ``kind`` as it would arrive now."""
    play.pass_time(0.2)
    at = play.now()

    def device(of: DeviceKind) -> Arrived:
        outcome = Outcome.PLAYER if of is DeviceKind.VERDICT else None
        return Arrived(DeviceEvent(of, b"", outcome=outcome), at)

    match kind:
        case Kind.CARD:
            ago = round(play.extra.get("ago", 0) * SECOND)
            arrived = dataclasses.replace(at, boot=at.boot - ago)
            return Arrived(Scan(Card.parse("3C"), Label.NONE, b""), arrived)
        case Kind.UNREAD:
            return Arrived(Scan(None, Label.NONE, b""), at)
        case Kind.CUT_SEEN:
            return device(DeviceKind.CUT_CARD)
        case Kind.VERDICT:
            return device(DeviceKind.VERDICT)
        case Kind.FORCED_END:
            return device(DeviceKind.FORCED_END)
        case Kind.STANDBY:
            return device(DeviceKind.STANDBY)
        case Kind.SHOE_STARTED:
            return device(DeviceKind.STARTED)
        case Kind.SHOE_ERROR:
            return device(DeviceKind.ERROR)
        case Kind.SHOE_NOTE:
            return device(DeviceKind.NOTICE)
        case Kind.REJECTED:
            return Arrived(Reject(b"?", "no frame"), at)
        case Kind.DISCARDED:
            return Discarded(Scan(Card.parse("8S"), Label.NONE, b""), at)
        case Kind.LOST:
            return ScannerLost("unplugged", at)
        case Kind.RESTORED:
            return ScannerRestored("shoe-1", at, "here")
        case Kind.TIME:
            return Tick(at)
        case Kind.STARTED:
            return Started(at, "1")
        case Kind.TROUBLE:
            return Trouble(at, "clock", "The clock was set.")
        case Kind.JOURNAL_FULL | Kind.JOURNAL_BACK:
            return JournalFilled(at, full=kind is Kind.JOURNAL_FULL)
        case _:
            args = {**ARGS.get(kind, {}), **{k: v for k, v in play.extra.items() if k == "outcome"}}
            if kind in LOOKING_BACK and play.state.shoe is None:
                where = play.state.settled[0]
                args = {"round": where, "P1": other_suit(play.past(where))}
            elif kind in TYPED and play.state.shoe is not None and (play.state.held or kind in ALWAYS):
                args = play.typed(TYPED[kind])[1]
            return Command(
                kind,
                at,
                args=args,
                person="Pia",
                supervisor=True,
                reason=REASON,
                expect=Expect(version=play.state.version),
                past=play.past(args.get("round", "")),
            )


def ready(phase: Phase, kind: Kind, way: Callable[[], Play], *, held: bool) -> Play:
    """A table in ``phase``, by ``way``, with what ``kind`` needs, and a hold if wanted."""
    play = way()
    if kind is Kind.ACK:
        play.give(Trouble(play.now(), "clock", "The clock was set."))
    if kind is Kind.CUT_UNDO and play.state.shoe is not None:
        play.do(Kind.CUT_CARD)
    if kind is Kind.SAME_AGAIN and play.state.shoe is not None:
        play.device(DeviceKind.BOUNCE, card=Card.parse("3C"))
    if held:
        if kind is Kind.HOLD and phase not in NO_RESTART_HOLD:
            play.give(Started(play.now(), "1"))
        else:
            play.do(Kind.HOLD)
    if held and kind in (Kind.CORRECT, Kind.MOVE) and play.state.shoe is not None:
        play.deal("4D 5H")
    assert play.state.phase is phase, (phase, kind)
    return play


def ways(phase: Phase, kind: Kind) -> list[Callable[[], Play]]:
    """How to come to where the pair can be entered."""
    if kind is Kind.AMEND or (kind is Kind.VOID and phase not in IN_ROUND):
        return [lambda: looking_back(phase)]
    return VARIANTS.get((phase, kind), [WAY_TO[phase]])


NO_RESTART_HOLD = {Phase.CLOSED, Phase.NO_SHOE, Phase.IDLE, Phase.SHUFFLE_DUE, Phase.BETTING}


# --- the table itself ------------------------------------------------------------------------------------


def test_every_handler_named_exists_and_every_handler_is_named() -> None:
    named = {move.handler for moves in (LAWFUL, UNDER_HOLD) for move in moves.values()}
    assert named == set(HANDLERS)


def test_every_phase_has_its_refusal_and_a_refusal_is_like_no_other() -> None:
    assert set(REFUSALS) == set(Phase)
    assert len(set(REFUSALS.values())) == len(Phase)


def test_every_command_is_lawful_somewhere_and_every_phase_has_one() -> None:
    for kind in COMMANDS - UNDER_HOLD_ONLY:
        assert any((phase, kind) in LAWFUL for phase in Phase), kind
    for phase in Phase:
        assert any((phase, kind) in LAWFUL for kind in COMMANDS)
    assert not any(kind in UNDER_HOLD_ONLY for _, kind in LAWFUL)
    assert all((phase, Kind.RELEASE) in UNDER_HOLD for phase in Phase)


def test_every_way_of_every_hold_is_known() -> None:
    assert {way for hold in HOLDS.values() for way in hold.ways} == set(WAYS)


# --- lawful pairs -----------------------------------------------------------------------------------------


def enter(phase: Phase, kind: Kind, way: Callable[[], Play], *, held: bool) -> Play:
    play = ready(phase, kind, way, held=held)
    assert play.state.held is held
    start = play.state
    decision = play.give(input_of(kind, play))
    assert not decision.refused, decision.answer
    move = move_for(start.phase, kind, held=held)
    assert move is not None
    assert play.state.phase in move.to, f"{phase} --{kind}--> {play.state.phase} is not in {move.to}"
    if kind in COMMANDS:
        (record,) = [e for e in decision.events if isinstance(e, ev.CommandRecorded)]
        assert record.accepted and record.answer == decision.answer != ""
    return play


@pytest.mark.parametrize("pair", list(LAWFUL), ids=lambda pair: f"{pair[0]}-{pair[1]}")
def test_lawful_pair(pair: tuple[Phase, Kind]) -> None:
    phase, kind = pair
    to = set()
    for way in ways(phase, kind):
        to.add(enter(phase, kind, way, held=False).state.phase)
    assert to == set(LAWFUL[pair].to), f"the table names phases that were not reached: {LAWFUL[pair].to}"


@pytest.mark.parametrize("pair", list(UNDER_HOLD), ids=lambda pair: f"{pair[0]}-{pair[1]}")
def test_lawful_pair_under_a_hold(pair: tuple[Phase, Kind]) -> None:
    phase, kind = pair
    if kind is Kind.HOLD and phase in NO_RESTART_HOLD:
        # Held by call already: the only hold there is in these phases, and said so.
        play = ready(phase, kind, WAY_TO[phase], held=True)
        assert "on hold by call already" in play.refused(Kind.HOLD)
        return
    way = (lambda: WAY_TO[phase](**DOWN)) if kind is Kind.TURN else WAY_TO[phase]
    if kind in (Kind.AMEND, Kind.VOID):
        way = ways(phase, kind)[0]
    enter(phase, kind, way, held=True)


# --- all others -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("held", [False, True], ids=["free", "held"])
@pytest.mark.parametrize("phase", list(Phase))
def test_every_other_command_is_refused_with_nothing_changed(phase: Phase, held: bool) -> None:
    lawful = UNDER_HOLD if held else LAWFUL
    others = sorted(kind for kind in COMMANDS if (phase, kind) not in lawful)
    assert others
    for kind in others:
        play = ready(phase, kind, WAY_TO[phase], held=held)
        before = play.state
        decision = play.give(input_of(kind, play))
        assert decision.refused and decision.effects == ()
        assert dataclasses.replace(play.state, row=before.row) == before
        assert play.state.row == before.row + 1
        (record,) = decision.events
        assert isinstance(record, ev.CommandRecorded) and not record.accepted
        assert record.answer == decision.answer
        if held:
            ways = ways_out(WAYS[way] for way in offered(before))
            assert before.holds[0].message in decision.answer
            assert ways[1:] in decision.answer
        elif kind in UNDER_HOLD_ONLY:
            assert "not on hold" in decision.answer
        else:
            assert f"phase {phase.value}: {REFUSALS[phase]}" in decision.answer


@pytest.mark.parametrize("held", [False, True], ids=["free", "held"])
@pytest.mark.parametrize("phase", list(Phase))
def test_every_other_report_is_written_down_and_changes_nothing(phase: Phase, held: bool) -> None:
    lawful = UNDER_HOLD if held else LAWFUL
    for kind in sorted(kind for kind in Kind if kind not in COMMANDS and (phase, kind) not in lawful):
        play = ready(phase, kind, WAY_TO[phase], held=held)
        before = play.state
        decision = play.give(input_of(kind, play))
        assert [type(e) for e in decision.events] == [ev.DeviceNoted]
        assert dataclasses.replace(play.state, row=before.row) == before
