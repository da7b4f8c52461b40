"""The operator's page is played: each example under a hold ends that hold at a real table.

The blocks of a hold's section are typed one after the other at a table held just so, the way the
pit boss would. ``# through the shoe: 2H`` is that card drawn; ``# the scanner is up`` is the cable mended.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tablectl.table import HOLDS, Kind, Phase
from tablectl.table.holds import offered
from tablectl.table.inputs import LOOKING_BACK, SUPERVISED
from tablectl.table.reasons import problem
from tests.table import test_holds as at
from tests.table.playing import Play

OPERATOR = (Path(__file__).parent.parent / "docs" / "operator.md").read_text()

Situation = Callable[[], Play]

TABLES: dict[str, list[Situation]] = {
    # code: the table that each block of its section is played at, in the order of the page
    "card-early": [at.early_closed],
    "card-idle": [at.card_idle],
    "burn-over": [at.burn_over],
    "burn-wrong": [at.burn_wrong],
    "card-unreadable": [at.unread_twice, at.unread_twice],
    "card-missed": [at.missed],
    "card-twice": [at.twice],
    "two-cards": [at.two_at_once],
    "unturned": [at.unturned],
    "card-conflict": [at.conflict],
    "overdraw": [at.overdraw_idle, at.overdraw_next, at.overdraw_void],
    "shoe-disagrees": [at.disagrees],
    "announce-differs": [at.announced, at.announced],
    "shoe-empty": [at.empty],
    "integrity": [at.integrity, at.integrity],
    "device-lost": [at.lost_and_back, at.lost, at.lost],
    "shoe-restarted": [at.shoe_restarted],
    "shoe-error": [at.shoe_error],
    "restart": [at.restart, at.restart],
    "rescan": [at.rescan_begun],
    "journal": [at.journal_full],
    "called": [at.called, at.called, at.called_and_kept],
}


def blocks(code: str) -> list[str]:
    """The examples of a hold's section."""
    section = OPERATOR.partition(f"\n### `{code}`\n")[2]
    section = re.split(r"^##", section, maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(r"^```\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL)


CASES = [(code, i) for code, tables in TABLES.items() for i in range(len(tables))]


def typed(line: str) -> tuple[Kind, dict[str, str], dict[str, str]]:
    """A line of the page as a command: its kind, its arguments, and its options."""
    words, options, places = shlex.split(line)[1:], dict[str, str](), list[str]()
    while words:
        if words[0] == "--by-hand":
            options["method"] = words.pop(0)[2:]
        elif words[0].startswith("--"):
            options[words[0][2:]] = words[1]
            del words[:2]
        else:
            places.append(words.pop(0))
    at_ = 2 if len(places) > 1 and " ".join(places[:2]) in tuple(Kind) else 1
    kind, rest = Kind(" ".join(places[:at_])), places[at_:]
    names = {
        Kind.RELEASE: ["action"],
        Kind.CORRECT: ["position", "card"],
        Kind.INSERT: ["position", "card"],
        Kind.ENTER: ["position", "card"],
        Kind.MOVE: ["position", "to"],
        Kind.CONFIRM: ["outcome"],
        Kind.VOID: ["round"],
    }.get(kind, [])
    assert len(rest) <= len(names), line
    args = dict(zip(names, rest, strict=False))
    args |= {name: text for name, text in options.items() if name in ("method", "extra", "missing")}
    return kind, args, options


def follow(play: Play, line: str) -> None:
    """Do what a line of the page says; what a command says must be accepted."""
    if line.startswith("# through the shoe: "):
        play.deal(line.partition(": ")[2])
        return
    if line == "# the scanner is up":
        play.restore()
        return
    kind, args, options = typed(line)
    if kind in LOOKING_BACK and "round" in args:
        args["round"] = play.state.where if play.state.round else play.state.settled[0]
    if kind in SUPERVISED:
        assert "as" in options and ("state" in options or "round" in options), line
        assert problem(options.get("reason", "")) is None, line
    play.do(kind, **args)


def test_each_hold_has_examples_and_each_example_a_table() -> None:
    assert set(TABLES) == set(HOLDS)
    assert {code: len(blocks(code)) for code in HOLDS} == {code: len(TABLES[code]) for code in HOLDS}


@pytest.mark.parametrize(("code", "which"), CASES)
def test_what_the_page_says_ends_the_hold(code: str, which: int) -> None:
    play = TABLES[code][which]()
    assert code in play.codes
    for line in blocks(code)[which].splitlines():
        follow(play, line)
    assert play.codes == [] and not play.state.loose


@pytest.mark.parametrize("code", HOLDS)
def test_the_first_way_told_is_one_that_exists_there(code: str) -> None:
    first = TABLES[code][0]()
    told = [line for line in blocks(code)[0].splitlines() if not line.startswith("#")]
    kind, args, _ = typed(told[0])
    if code == "rescan":
        return  # first the cards are scanned
    way = args["action"] if kind is Kind.RELEASE else kind.value
    assert way in offered(first.state) or kind is Kind.TURN


def test_a_line_that_is_wrong_is_noticed() -> None:
    with pytest.raises(AssertionError):
        follow(at.called(), 'tablectl release burn --state 512 --as bo --reason "dealing: x"')
    with pytest.raises(AssertionError):
        follow(at.called(), 'tablectl release resume --state 512 --as bo --reason "because"')
    with pytest.raises(AssertionError):
        follow(at.called(), "tablectl release resume --as bo --reason dispute")


# --- the sections that are no holds ----------------------------------------------------------------------


def test_the_cutting_card_is_taken_back_until_the_next_card() -> None:
    play = at.in_hand()
    play.do(Kind.CUT_CARD)
    play.do(Kind.CUT_UNDO)
    play.do(Kind.CUT_CARD)
    play.scan("KD")
    assert "shoe end" in play.refused(Kind.CUT_UNDO)


def test_a_new_shoe_is_taken_back_until_its_first_card() -> None:
    play = Play().opened()
    play.do(Kind.SHOE_NEW)
    play.do(Kind.SHOE_UNDO)
    play.do(Kind.SHOE_NEW)
    play.scan("2S")
    assert "shoe end" in play.refused(Kind.SHOE_UNDO)


def test_corrections_want_a_hold_and_do_not_end_it() -> None:
    play = at.in_hand()
    assert "first: hold" in play.refused(Kind.CORRECT, position="B1", card="3H")
    play.do(Kind.HOLD)
    play.do(Kind.CORRECT, position="B1", card="3H")
    assert play.codes == ["called"]
    play.release("resume")


def test_a_shoe_is_adopted_and_a_free_hand_dealt() -> None:
    play = Play().opened()
    play.do(Kind.SHOE_ADOPT, number="12", out="216", rounds="34", last_hand="")
    play.do(Kind.HAND_FREE)
    assert play.stands(Phase.NO_MORE_BETS)


def test_the_cards_are_counted_by_scanner_or_the_count_is_given_up() -> None:
    play = Play().opened()
    play.do(Kind.INSPECT, method="scan")
    play.scan("KS")
    play.refused(Kind.INSPECT, method="scan-done")
    play.do(Kind.INSPECT, method="scan-cancel")
    play.do(Kind.INSPECT, method="by-hand", missing="KS", replaced="KS")
    play.do(Kind.SHOE_NEW)


def test_a_settled_round_is_amended_then_void_for_good() -> None:
    play = Play()
    play.round("9S 2H KD 3C")
    where = play.state.settled[0]
    play.do(Kind.AMEND, round=where, B2="7C")
    assert "void" in play.refused(Kind.AMEND, round=where, P3="2C")
    play.do(Kind.VOID, round=where)
    play.refused(Kind.VOID, round=where)
