"""What every key does in every phase and under every hold, and that a number pad is enough for all of it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tablectl.api.forms import parse_command
from tablectl.cards import DECK
from tablectl.console.dialog import MORE, PAGE, CardEntry, Changed, Choice, Dialog, Entry, Flow, Leave, Order
from tablectl.console.keys import keys, lawful, pit_boss_menu, way_pages, ways
from tablectl.console.model import Model
from tablectl.console.seen import Seen, read
from tablectl.table import Phase
from tablectl.table.holds import HOLDS, RELEASES, WAYS
from tablectl.table.inputs import COMMANDS, SUPERVISED, Kind
from tablectl.table.reasons import problem
from tablectl.table.transitions import move_for
from tests.console.states import FRESH_SHOE, LAST_SHOE, PAD, every, held, past, round_, state

FREE = {
    "closed": "enter:open",
    "no shoe": "enter:shoe new -:close 7:sign-in 8:sign-out",
    "burning": "4:cut-card 9:burn done",
    "idle": "enter:bets open 4:cut-card 7:sign-in 8:sign-out",
    "betting": "-:bets close 4:cut-card",
    "no more bets": "4:cut-card 5:rescan",
    "dealing": "4:cut-card 5:rescan",
    "complete": "enter:confirm banker 1:confirm player 2:confirm banker 3:confirm tie 4:cut-card 5:rescan",
    "shuffle due": "enter:shoe new -:close 7:sign-in 8:sign-out",
}
"""The dealer's keys in each phase; hold, pit boss and more come everywhere."""
NOBODY = {
    "no shoe": "enter:sign-in -:close",
    "idle": "enter:sign-in 4:cut-card",
    "shuffle due": "enter:sign-in -:close",
}


def told(seen: Seen) -> str:
    return " ".join(f"{one.key}:{one.means}" for one in keys(seen, past()))


@pytest.mark.parametrize("phase", Phase)
def test_the_dealers_keys_of_each_phase(phase: Phase) -> None:
    assert told(read(state(phase.value))) == f"{FREE[phase]} 0:hold *:pit boss +:more"
    expected = NOBODY.get(phase, FREE[phase]).replace(" 8:sign-out", "")
    assert told(read(state(phase.value, dealer=None))) == f"{expected} 0:hold *:pit boss +:more"


def test_keys_that_come_with_a_situation() -> None:
    assert "6:same-again" in told(read(state("dealing", read_twice=True)))
    assert "/:alerts" in told(read(state("idle", alerts=[{"alert": "disk-slow", "message": "x"}])))
    assert "/:" not in told(read(state("idle", alerts=[{"alert": "x", "message": "x", "present": True}])))
    down = round_("dealing", cards={}, face_down=4, player_total=None, banker_total=None)
    assert told(read(state("dealing", round=down))).startswith("enter:turn")
    assert "4:" not in told(read(state("idle", shoe=LAST_SHOE)))
    assert told(read({"phase": "orbiting"})) == "*:pit boss +:more"


def test_no_key_does_two_things() -> None:
    for name, raw in every():
        seen = read(raw)
        for page in range(way_pages(seen)):
            found = [one.key for one in keys(seen, past(), page)]
            assert len(found) == len(set(found)) and set(found) <= set(PAD), name


@pytest.mark.parametrize("code", HOLDS)
def test_every_way_out_of_a_hold_has_a_number(code: str) -> None:
    seen = read(held(code))
    shown: list[str] = []
    for page in range(way_pages(seen)):
        digits = [one for one in keys(seen, past(), page) if one.means.startswith("way ")]
        shown += [one.means.removeprefix("way ") for one in digits]
        assert [one.key for one in digits] == [str(n) for n in range(1, len(digits) + 1)]
    assert shown == [way for way in WAYS if way in HOLDS[code].ways]


def test_a_hold_has_more_ways_than_digits_and_they_are_turned_to() -> None:
    many = [{"action": f"w{n}", "text": f"w{n}"} for n in range(12)]
    model = Model(settles=0.0).told(held("called", ways=many), 0.0)
    assert model.seen is not None and way_pages(model.seen) == 2
    model, _ = model.key("9", 1.0)
    assert [one.means for one in keys(model.seen or read({}), model.past, model.page)][:2] == [
        "way w8",
        "way w9",
    ]
    model, _ = model.key("9", 2.0)
    assert model.page == 0


@pytest.mark.parametrize("on_hold", [False, True])
@pytest.mark.parametrize("phase", Phase)
def test_everything_lawful_is_in_one_of_the_menus_and_nothing_else(phase: Phase, on_hold: bool) -> None:
    raw = held("called", phase.value) if on_hold else state(phase.value, read_twice=True)
    raw |= {"read_twice": True, "alerts": [{"alert": "a", "message": "b"}]}
    seen = read(raw)
    allowed = {k for k in COMMANDS if move_for(phase, k, held=on_hold) is not None}
    assert set(lawful(seen)) == allowed
    offered = {order.command for order in orders(seen)}
    # Nothing to turn lies there; the cutting card and the shoe's cards are not out or out already.
    idle = {Kind.TURN, Kind.CUT_UNDO, Kind.SHOE_UNDO}
    if not any(way in RELEASES for way, _ in seen.ways):
        idle |= {Kind.RELEASE}
    if seen.round is None or seen.round.outcome is None or phase is not Phase.COMPLETE:
        idle |= {Kind.CONFIRM}
    if seen.dealer == "":
        idle |= {Kind.SIGN_OUT}
    by_ways = {"burn done", "rescan", "turn"} & {way.split(" hand")[0] for way, _ in seen.ways}
    # A way out is shown as the daemon offers it, and the daemon offers only what is lawful.
    assert offered - by_ways - {way for way, _ in seen.ways} <= {kind.value for kind in allowed}
    assert {kind.value for kind in allowed - idle} <= offered, (phase, on_hold)


def orders(seen: Seen) -> Iterator[Order]:
    """Every kind of command that keys of a number pad lead to; each choice is tried, entries filled in."""
    tried: set[str] = set()
    for page in range(way_pages(seen)):
        for key in keys(seen, past(), page):
            if key.means in tried or key.means == "more ways":
                continue
            tried.add(key.means)
            yield from walk(Dialog(key.label, key.make, seen.version, seen.where))


def walk(dialog: Dialog, depth: int = 0) -> Iterator[Order]:
    """Every order a dialog leads to; what each question says of a table that has changed is so for them."""
    asked = dialog.asks()
    for order in _walk(dialog, depth):
        if not isinstance(asked, Order | Leave) and asked.changed is not Changed.EITHER:
            assert (asked.changed is Changed.REFUSED) is order.expects, (asked.title, order.command)
        yield order


def _walk(dialog: Dialog, depth: int) -> Iterator[Order]:
    """By number-pad keys; long lists of reasons and cards by one of them."""
    assert depth < 20
    asked = dialog.asks()
    match asked:
        case Order():
            yield asked
        case Leave():
            return
        case Choice():
            shown = dialog.options(asked)
            if asked.title.endswith("Why?") or "in words?" in asked.title or "Which pit boss" in asked.title:
                shown = shown[1:2] if asked.title.endswith("Why?") else shown[:1]
            for key, answer, _ in shown:
                if key == MORE and len(asked.options) > PAGE:
                    if dialog.page == 0:
                        yield from onward(dialog, [key], depth)
                    continue
                if "So far" in str(asked.lines) and answer != "\n":
                    continue  # one card of an amendment is enough
                if (
                    asked.title == "What was found?"
                    and dialog.answers[-1:] != (dialog.answers[0],)
                    and answer
                ):
                    continue
                yield from onward(dialog, [key], depth)
        case Entry():
            low = asked.title.rpartition("(")[2].split(" ")[0]
            text = "12/30" if asked.stroke else (low if low.isdigit() else "7") if asked.digits else "4711"
            yield from onward(dialog, [*text, "enter"], depth)
        case CardEntry():
            yield from onward(dialog, ["8", "1"], depth)


def onward(dialog: Dialog, pressed: list[str], depth: int) -> Iterator[Order]:
    after: object = dialog
    for key in pressed:
        assert key in PAD and isinstance(after, Dialog)
        after = after.key(key)
    if isinstance(after, Order):
        yield after
    elif isinstance(after, Dialog):
        yield from walk(after, depth + 1)
    else:
        assert isinstance(after, Leave), (dialog, pressed)


ENOUGH = {*map(str, Phase), "called in dealing", "face down", "counting", "read twice", "alerted"}


def test_a_number_pad_alone_gives_every_command_that_there_is() -> None:
    found: set[str] = set()
    for name, raw in every():
        if name not in ENOUGH:
            continue
        for order in orders(read(raw)):
            body = {
                "id": "x",
                "command": order.command,
                "args": dict(order.args),
                "person": order.person,
                "pin": order.pin,
                "reason": order.reason,
            }
            _, kind = parse_command(json.dumps(body).encode())
            if kind in (Kind.HOLD, Kind.ACK):
                assert order.reason is None and bool(order.person) is bool(order.pin)
            elif kind in SUPERVISED:
                assert order.person and order.pin and order.reason and problem(order.reason) is None
            else:
                assert (order.person, order.pin, order.reason) == (None, None, None)
            assert order.expects is (kind not in (Kind.HOLD, Kind.ACK))
            found.add(order.command)
    for raw in (state("idle", shoe=LAST_SHOE), state("idle", shoe=FRESH_SHOE)):
        found |= {order.command for order in orders(read(raw))}
    assert found == {kind.value for kind in COMMANDS}


def test_what_a_way_of_a_newer_daemon_does_is_for_the_table_to_decide() -> None:
    seen = read(held("called", ways=[{"action": "dance", "text": "release dance: all dance"}]))
    ((action, does, make),) = ways(seen, past())
    assert (action, does) == ("dance", "all dance")
    order = next(walk(Dialog("x", make, 1, "-")))
    assert (order.command, dict(order.args)) == ("release", {"action": "dance"})


@pytest.mark.parametrize("card", DECK, ids=str)
def test_every_card_is_two_keys_of_a_number_pad(card: object) -> None:
    from tablectl.console.dialog import RANK_KEYS, SUIT_KEYS

    rank = next(key for key, value in RANK_KEYS.items() if value == str(card)[0] and key in PAD)
    suit = next(key for key, value in SUIT_KEYS.items() if value == str(card)[1] and key in PAD)

    def flow() -> Flow:
        return Order("x", {"card": (yield CardEntry("card"))})

    dialog: object = Dialog("x", flow, 1, "-")
    for key in (rank, suit):
        assert isinstance(dialog, Dialog)
        dialog = dialog.key(key)
    assert isinstance(dialog, Order) and dialog.args == {"card": str(card)}


def test_a_dangerous_command_takes_two_different_keys() -> None:
    for raw in (state(phase.value, read_twice=True) for phase in Phase):
        seen = read(raw)
        for one in keys(seen, past()):
            if one.means not in (
                "bets close",
                "close",
                "shoe new",
                "sign-out",
                "cut-card",
                "same-again",
                "hold",
            ):
                continue
            model, sent = Model(settles=0.0).told(raw, 0.0).key(one.key, 1.0)
            assert sent is None and model.dialog is not None
            again, sent = model.key(one.key, 1.1)
            assert sent is None, one
            assert again.key("1", 1.2)[1] is not None or one.means == "close"


def test_the_pit_boss_menu_names_the_commands_as_they_are_typed() -> None:
    title, entries = pit_boss_menu(read(state("idle")), past())
    assert title == "Pit boss"
    assert [name for name, _, _ in entries] == [
        *("void", "burn", "burn-error", "hand free", "shoe end", "amend", "device swap", "hold")
    ]
