"""Every order that can be typed: its body as sent, who may give it, and what is shown before it is given."""

from __future__ import annotations

import itertools
import json
import shlex
from collections.abc import Iterator
from typing import Any

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tablectl.api.forms import parse_command
from tablectl.cli.order import Order
from tablectl.cli.preview import refusal
from tablectl.cli.read import State
from tablectl.cli.root import cli
from tablectl.table import WAYS, Phase
from tablectl.table.inputs import COMMANDS, ROUND_CHANGING, SUPERVISED, Kind
from tablectl.table.transitions import move_for
from tests.cli.conftest import Typed
from tests.cli.fake_daemon import STATE, FakeDaemon

WHO = ("--as", "bo", "--reason", "misread: seen on video", "--pin-stdin")

DEALER: list[tuple[str, str, dict[str, str]]] = [
    ("open", "open", {}),
    ("close", "close", {}),
    ("sign-in anna --pickup left", "sign-in", {"name": "anna", "pickup": "left"}),
    ("sign-out", "sign-out", {}),
    ("shoe new", "shoe new", {}),
    ("shoe new --note 'set 4'", "shoe new", {"note": "set 4"}),
    ("bets open", "bets open", {}),
    ("bets close", "bets close", {}),
    ("cut-card", "cut-card", {}),
    ("turn", "turn", {}),
    ("rescan", "rescan", {"what": "last"}),
    ("same-again", "same-again", {}),
    ("rescan LAST", "rescan", {"what": "last"}),
    ("rescan hand", "rescan", {"what": "hand"}),
    ("rescan b3", "rescan", {"what": "B3"}),
    ("hold", "hold", {}),
    ("hold 'card on the floor'", "hold", {"text": "card on the floor"}),
    ("hold --because card-missed", "hold", {"because": "card-missed"}),
    ("hold two --because two-cards", "hold", {"text": "two", "because": "two-cards"}),
    ("hold --because card-twice", "hold", {"because": "card-twice"}),
    ("ack disk-slow", "ack", {"alert": "disk-slow"}),
    ("burn done 6", "burn done", {"count": "6"}),
    ("confirm banker", "confirm", {"outcome": "banker"}),
    ("confirm", "confirm", {}),
]
PIT_BOSS: list[tuple[str, str, dict[str, str]]] = [
    ("release burn", "release", {"action": "burn"}),
    ("correct P2 8S", "correct", {"position": "P2", "card": "8S"}),
    ("correct k9 10h", "correct", {"position": "K9", "card": "TH"}),
    ("insert b1 th", "insert", {"position": "B1", "card": "TH"}),
    ("move P2 B1", "move", {"position": "P2", "to": "B1"}),
    ("move K1 p3", "move", {"position": "K1", "to": "P3"}),
    ("enter P3 aD", "enter", {"position": "P3", "card": "AD"}),
    ("void 12/30", "void", {"round": "12/30"}),
    ("amend 12/33 B2=8S", "amend", {"round": "12/33", "B2": "8S"}),
    (
        "amend 12/33 P1=AS B1=2S P2=3S B2=4S P3=10S b3=None",
        "amend",
        {"round": "12/33", "P1": "AS", "B1": "2S", "P2": "3S", "B2": "4S", "P3": "TS", "B3": "none"},
    ),
    ("burn 2", "burn", {"count": "2"}),
    ("burn-error", "burn-error", {}),
    ("hand free", "hand free", {}),
    ("shoe end", "shoe end", {}),
    (
        "shoe adopt --number 12 --out 216 --rounds 34",
        "shoe adopt",
        {"number": "12", "out": "216", "rounds": "34", "last_hand": ""},
    ),
    (
        "shoe adopt --number 1 --out 0 --rounds 0 --last-hand",
        "shoe adopt",
        {"number": "1", "out": "0", "rounds": "0", "last_hand": "yes"},
    ),
    ("cut-card --undo", "cut-card undo", {}),
    ("shoe new --undo", "shoe new undo", {}),
    ("device swap", "device swap", {}),
    ("shoe inspect --by-hand", "shoe inspect", {"method": "by-hand"}),
    (
        "shoe inspect --by-hand --missing 'ks 8D' --extra 10S,9c --foreign 'two \"blue\" jokers' "
        "--damaged AH --replaced 'KS, 8D AH'",
        "shoe inspect",
        {
            "method": "by-hand",
            "missing": "KS 8D",
            "extra": "TS 9C",
            "foreign": 'two "blue" jokers',
            "damaged": "AH",
            "replaced": "KS 8D AH",
        },
    ),
    ("shoe inspect --scan", "shoe inspect", {"method": "scan"}),
    ("shoe inspect --cancel", "shoe inspect", {"method": "scan-cancel"}),
    ("shoe inspect --scan --cancel", "shoe inspect", {"method": "scan-cancel"}),
    ("shoe inspect --scan --done", "shoe inspect", {"method": "scan-done"}),
    (
        "shoe inspect --done --damaged AH --replaced AH --foreign joker",
        "shoe inspect",
        {"method": "scan-done", "foreign": "joker", "damaged": "AH", "replaced": "AH"},
    ),
]
ALL = [(line, command, args, ()) for line, command, args in DEALER] + [
    (line, command, args, WHO) for line, command, args in PIT_BOSS
]
IDS = [line for line, *_ in ALL]


# --- what is sent ----------------------------------------


@pytest.mark.parametrize(("line", "command", "args", "who"), ALL, ids=IDS)
def test_an_order_is_sent_by_its_name_with_its_arguments(
    daemon: FakeDaemon, typed: Typed, line: str, command: str, args: dict[str, str], who: tuple[str, ...]
) -> None:
    assert typed(*shlex.split(line), "--state", "512", *who) == (0, f"did {command}\n", "")
    (sent,) = daemon.commands
    assert len(sent.pop("id")) == 32
    people = {"person": "bo", "pin": "482913", "reason": "misread: seen on video"}
    assert sent == {
        "command": command,
        "args": args,
        "expect": {"version": 512},
        **(people if who else dict.fromkeys(people)),
    }


def test_every_kind_of_command_can_be_typed_by_whom_the_table_wants() -> None:
    assert {Kind(command) for _, command, _ in DEALER} == COMMANDS - SUPERVISED
    assert {Kind(command) for _, command, _ in PIT_BOSS} == SUPERVISED


def leaves(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield (*path, name), command


def test_every_command_line_that_changes_a_table_is_in_this_table() -> None:
    """Those are the commands that take ``--state``."""
    there = {path for path, command in leaves(cli) if any("--state" in p.opts for p in command.params)}
    tried = set()
    for line, *_ in ALL:
        words, group = shlex.split(line), cli
        path: tuple[str, ...] = ()
        while True:
            name, command, words = group.resolve_command(click.Context(group), words)
            assert name is not None and command is not None
            path = (*path, command.name or name)
            if not isinstance(command, click.Group):
                break
            group = command
        tried.add(path)
    assert tried == there


@pytest.mark.parametrize(("line", "command", "args", "who"), ALL, ids=IDS)
def test_the_args_keep_the_bounds_of_the_interface(
    line: str, command: str, args: dict[str, str], who: tuple[str, ...]
) -> None:
    body = json.dumps({"id": "a", "command": command, "args": args}).encode()
    assert parse_command(body)[1].value == command


# --- what was seen ----------------------------------------


def stands(phase: Phase, held: bool, **changes: Any) -> tuple[int, dict[str, Any]]:
    """A table with every way out offered, if it is on hold."""
    ways = [{"action": way, "text": text} for way, text in WAYS.items()]
    now = {"phase": phase.value, "holds": STATE["holds"] if held else [], "ways": ways if held else []}
    return 200, {**STATE, **now, **changes}


def takes(command: str) -> tuple[int, dict[str, Any]]:
    """A table that takes it."""
    return next(
        stands(phase, held)
        for held in (True, False)
        for phase in Phase
        if move_for(phase, Kind(command), held=held) is not None
    )


@pytest.mark.parametrize("held", [True, False])
def test_what_the_table_would_refuse_is_shown_as_refused(held: bool) -> None:
    """Every command of which a preview is shown, in every phase, by the table's own rule."""
    orders = {command: Order(command, args) for _, command, args in DEALER + PIT_BOSS}
    for phase, kind in itertools.product(Phase, ROUND_CHANGING):
        refused = refusal(orders[kind.value], State(stands(phase, held)[1]))
        assert (refused is None) == (move_for(phase, kind, held=held) is not None), (phase, kind, refused)
        if refused is not None and held:
            assert refused.startswith(f"the table is on hold. {STATE['holds'][0]['message']} Ways out: ")


@pytest.mark.parametrize(
    ("line", "state", "says"),
    [
        ("release keep", stands(Phase.DEALING, True, ways=[]), "keep is no way out"),
        ("enter P3 8S", stands(Phase.DEALING, True, ways=[]), "the table is on hold. "),
        ("same-again", stands(Phase.DEALING, False, read_twice=False), "no card was read twice"),
        ("void", stands(Phase.IDLE, False, round=None, where="12/-"), "no round is in play"),
        ("burn 2", stands(Phase.BETTING, False), "phase betting: betting is open"),
    ],
)
def test_why_it_would_be_refused_is_said(
    daemon: FakeDaemon, typed: Typed, line: str, state: tuple[int, dict[str, Any]], says: str
) -> None:
    daemon.state = state
    who = () if line == "same-again" else WHO
    assert f"would be refused now: {says}" in typed(*line.split(), *who)[1]
    assert says in json.loads(typed(*line.split(), *who, "--json")[1])["refused"]


def test_a_phase_of_another_release_refuses_nothing(daemon: FakeDaemon, typed: Typed) -> None:
    daemon.state = (200, {**STATE, "phase": "dancing"})
    assert "This would order 2 cards burned." in typed("burn", "2", *WHO)[1]


@pytest.mark.parametrize(("line", "command", "args", "who"), ALL, ids=IDS)
def test_without_what_was_seen_it_is_shown_and_the_line_shown_gives_it(
    daemon: FakeDaemon, typed: Typed, line: str, command: str, args: dict[str, str], who: tuple[str, ...]
) -> None:
    daemon.state = takes(command)
    code, out, err = typed(*shlex.split(line), *who)
    if Kind(command) not in ROUND_CHANGING:
        assert (code, out, err) == (0, f"did {command}\n", "")
        return
    assert code == 1 and daemon.commands == []
    assert err == f"not done: {command} needs --round or --state, what its sender saw\n"
    shown = out.splitlines()
    assert shown[0] == "Nothing was done yet. The table now:"
    told = " ".join(text for text in shown[1:-1] if text.startswith(("This would ", "Round 12/30 ")))
    assert told and "{" not in told
    assert all(value in told for name, value in args.items() if name not in ("method", "last_hand", "action"))
    assert ("last" in told) == (args.get("last_hand") == "yes" or args.get("what") == "last")
    again = shlex.split(shown[-1])
    assert again[0] == "tablectl" and "482913" not in out
    assert typed(*again[1:]) == (0, f"did {command}\n", "")
    (sent,) = daemon.commands
    looks_back = command in ("void", "amend")
    assert sent["expect"] == {"version": 512} | ({} if looks_back else {"shoe": 12, "round": 34})
    assert (sent["command"], sent["args"]) == (command, args)
    assert sent["reason"] == (WHO[3] if who else None)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(
    words=st.text(min_size=1, max_size=60).filter(lambda text: text.isprintable() and text.strip()),
    foreign=st.text(min_size=1, max_size=60).filter(lambda text: text.isprintable() and text.strip()),
)
def test_the_line_to_type_again_keeps_every_letter(
    daemon: FakeDaemon, typed: Typed, words: str, foreign: str
) -> None:
    daemon.commands.clear()
    daemon.state = takes("shoe inspect")
    reason = f"cards: {words}".strip()
    order = ["shoe", "inspect", "--by-hand", f"--foreign={foreign}"]
    _, out, _ = typed(*order, "--as", "bo", "--reason", reason, "--pin-stdin")
    assert typed(*shlex.split(out.splitlines()[-1])[1:])[0] == 0
    (sent,) = daemon.commands
    assert (sent["reason"], sent["args"]["foreign"]) == (reason, foreign.strip())


def test_a_preview_for_a_program_has_the_line_too(daemon: FakeDaemon, typed: Typed) -> None:
    code, out, _ = typed("enter", "P3", "8S", *WHO, "--json")
    told = json.loads(out)
    assert code == 1 and (told["done"], told["would"]) == (False, "enter")
    assert told["repeat"].startswith("tablectl enter P3 8S --round 12/34 --state 512 --as bo")


def test_between_rounds_the_version_alone_is_what_was_seen(daemon: FakeDaemon, typed: Typed) -> None:
    daemon.state = stands(Phase.SHUFFLE_DUE, False, where="12/-", round=None)
    _, out, _ = typed("shoe", "inspect", "--scan", *WHO)
    assert out.splitlines()[-1].startswith("  tablectl shoe inspect --scan --state 512 --as bo")


# --- void: the round in play, or an earlier one ----------------------------------------


def test_void_of_the_round_in_play_is_seen_by_its_name(daemon: FakeDaemon, typed: Typed) -> None:
    in_play = {"shoe": 12, "round": 34}
    for words, expect in (
        (["12/34"], in_play),
        (["--round", "12/34"], in_play),
        (["12/34", "--round", "12/34"], in_play),
        (["12/34", "--state", "512"], {"version": 512}),
        (["--round", "12/34", "--state", "512"], in_play | {"version": 512}),
    ):
        daemon.commands.clear()
        assert typed("void", *words, *WHO)[0] == 0
        (sent,) = daemon.commands
        assert (sent["args"], sent["expect"]) == ({"round": "12/34"}, expect), words


def test_void_without_a_name_is_only_shown_with_the_round_in_play(daemon: FakeDaemon, typed: Typed) -> None:
    code, out, _ = typed("void", *WHO)
    assert code == 1 and "This would void round 12/34; its cards stay used." in out
    assert typed(*shlex.split(out.splitlines()[-1])[1:])[0] == 0
    assert daemon.commands[0]["args"] == {"round": "12/34"}


@pytest.mark.parametrize("words", [["void", "9/9"], ["amend", "9/9", "B2=8S"]])
def test_for_a_round_that_never_was_the_preview_says_so(
    daemon: FakeDaemon, typed: Typed, words: list[str]
) -> None:
    daemon.rounds = (404, {"error": "there is no round 9/9 in this journal"})
    code, out, _ = typed(*words, *WHO)
    assert code == 1 and f"{words[0]} would be refused now: there is no round 9/9 in this journal" in out
    assert "This would" not in out and "  tablectl" not in out
    assert daemon.commands == []


def test_an_earlier_round_is_never_taken_for_the_one_in_play(daemon: FakeDaemon, typed: Typed) -> None:
    code, out, _ = typed("void", "12/30", *WHO)
    assert code == 1 and "Round 12/30 is not in play. This would void it all the same" in out
    assert "--round" not in out and "  tablectl void 12/30 --state 512 --as bo" in out
    code, _, err = typed("void", "12/30", "--round", "12/34", *WHO)
    assert code == 1 and "12/30 and --round 12/34 are two rounds" in err and "--state" in err
    assert daemon.commands == []
