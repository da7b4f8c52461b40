"""What the keyboard takes: cards and places, who and why; the rest is told and never sent."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tablectl.cards import DECK, Position
from tablectl.cli.root import cli
from tablectl.table.reasons import REASONS
from tests.cli.conftest import Typed
from tests.cli.fake_daemon import FakeDaemon
from tests.cli.test_orders import PIT_BOSS, WHO, leaves

# --- cards and places ----------------------------------------

SPELLED = {
    spelling: str(card)
    for card in DECK
    for name in {str(card), str(card).replace("T", "10")}
    for spelling in {name, name.lower(), name.swapcase()[0] + name[1:]}
}
"""Every way to write a card, and its name."""


def test_every_card_can_be_spelled(daemon: FakeDaemon, typed: Typed) -> None:
    for spelling, card in SPELLED.items():
        assert typed("enter", "P1", spelling, "--state", "1", *WHO)[0] == 0
        assert daemon.commands[-1]["args"]["card"] == card
    assert len(set(SPELLED.values())) == 52


ODD = st.one_of(
    st.text(max_size=5), st.text("AaKkTt1098SsHhDd cC?=", max_size=4), st.sampled_from(["1S", "010S", "100S"])
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(text=ODD)
def test_nothing_else_is_a_card(daemon: FakeDaemon, typed: Typed, text: str) -> None:
    daemon.commands.clear()
    for words in (["enter", "P1"], ["correct", "P1"], ["insert", "P1"]):
        code, _, err = typed(*words, "--state", "1", *WHO, "--", text)
        assert (code == 0) == (text.upper() in {spelling.upper() for spelling in SPELLED}), text
        if code:
            assert code == 2 and len(err) < 500
    assert len(daemon.commands) in (0, 3)


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["correct", "{}", "8S"], True),
        (["move", "{}", "P2"], True),
        (["insert", "{}", "8S"], False),
        (["enter", "{}", "8S"], False),
        (["rescan", "{}"], False),
        (["amend", "1/2", "{}=8S"], False),
    ],
)
def test_places_are_those_of_the_layout_and_of_kept_cards_where_they_may_be(
    daemon: FakeDaemon, typed: Typed, words: list[str], kept: bool
) -> None:
    places = {position.value for position in Position} - ({"P2"} if words[0] == "move" else set())
    good = places | ({f"K{number}" for number in range(1, 10)} if kept else set())
    who = () if words[0] == "rescan" else WHO
    for place in [*good, "K0", "K10", "P0", "P4", "B4", "P", "1", "PB", "K1" if not kept else "K-", "P1 B1"]:
        for spelling in (place, place.lower()):
            daemon.commands.clear()
            code, _, err = typed(*(word.format(spelling) for word in words), "--state", "1", *who)
            assert code == (0 if place in good else 2), place
            assert len(daemon.commands) == (place in good)
            assert place in good or "P1 B1 P2 B2 P3 B3" in err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("correct P1", "Missing argument 'CARD'"),
        ("move P1 P1", "P1 to P1 is no move"),
        ("move P1 p1", "P1 to P1 is no move"),
        ("amend 12/33", "Missing argument"),
        ("amend 12 P1=8S", "a round is written SHOE/ROUND"),
        ("amend 12/33 P1", "write POSITION=CARD"),
        ("amend 12/33 P1=", "is not a card"),
        ("amend 12/33 P1=8X", "'8X' is not a card"),
        ("amend 12/33 P1=8S=8S", "is not a card"),
        ("amend 12/33 P1=8S p1=none", "P1 is named twice"),
        ("void 12-30", "a round is written SHOE/ROUND"),
        ("shoe inspect", "one of --by-hand, --scan, --done or --cancel is needed"),
        ("shoe inspect --by-hand --scan", "one of --by-hand, --scan, --done or --cancel is needed"),
        ("shoe inspect --scan --done --cancel", "one of --by-hand, --scan, --done or --cancel is needed"),
        ("shoe inspect --scan --missing KS", "--missing does not go with --scan"),
        ("shoe inspect --done --extra KS", "--extra does not go with --done"),
        ("shoe inspect --cancel --damaged KS", "--damaged does not go with --cancel"),
        ("shoe inspect --by-hand --missing 'KS 8X'", "'8X' is not a card"),
        ("shoe inspect --by-hand --missing ' , '", "cards are needed"),
        (f"shoe inspect --by-hand --missing '{'KS ' * 101}'", "101 cards are too many"),
        ("shoe adopt --number 0 --out 1 --rounds 1", "--number"),
        ("shoe adopt --number 1 --out 833 --rounds 1", "--out"),
        ("shoe adopt --number 1 --out 1", "Missing option '--rounds'"),
        ("shoe new --undo --note x", "--note goes with a new shoe"),
        ("hold --because bored", "card-missed"),
        ("rescan everything", "last, hand, or one of"),
        ("device", "swap"),
    ],
)
def test_what_cannot_be_meant_is_told(daemon: FakeDaemon, typed: Typed, line: str, says: str) -> None:
    words = shlex.split(line)
    code, out, err = typed(*words, *(() if words[0] in ("hold", "rescan", "device") else WHO))
    assert (code, out) == (2, "") and says in err and "Traceback" not in err
    assert daemon.commands == [] and daemon.asked == []


# --- who and why ----------------------------------------

CODES = ", ".join(REASONS)


@pytest.mark.parametrize("line", [line for line, _, _ in PIT_BOSS])
def test_the_pit_boss_is_named_and_gives_a_reason_from_the_list(
    daemon: FakeDaemon, typed: Typed, line: str
) -> None:
    words = (*shlex.split(line), "--state", "512", "--pin-stdin")
    code, _, err = typed(*words, "--reason", "misread")
    assert code == 2 and "Missing option '--as'" in err
    code, _, err = typed(*words, "--as", "bo")
    assert code == 2 and "Missing option '--reason'" in err and CODES in err
    for wrong in ("as seen on video", "Misread", "misread seen", ": words", "other", "other: ", "misread;x"):
        code, _, err = typed(*words, "--as", "bo", "--reason", wrong)
        assert code == 2 and "--reason" in err and (CODES in err or "other: WORDS" in err), wrong
    assert daemon.commands == [] and daemon.asked == []


def test_every_code_alone_or_with_words_is_a_reason(daemon: FakeDaemon, typed: Typed) -> None:
    wanted = [*(code for code in REASONS if code != "other"), *(f"{code}: seen on video" for code in REASONS)]
    for reason in wanted:
        assert typed("burn-error", "--state", "1", "--as", "bo", "--pin-stdin", "--reason", reason)[0] == 0
    assert [sent["reason"] for sent in daemon.commands] == wanted


@pytest.mark.parametrize("path", [path for path, _ in leaves(cli)], ids=" ".join)
def test_help_lists_the_codes_wherever_a_reason_is_given(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    cli.main([*path, "--help"], prog_name="tablectl", standalone_mode=False)
    text = " ".join(capsys.readouterr().out.split())
    assert ("--reason" in text) == (CODES in text)


@pytest.mark.parametrize("line", ["cut-card", "shoe new"])
def test_who_and_why_go_with_undo_only(
    daemon: FakeDaemon, typed: Typed, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = line.split()
    for extra in (["--as", "bo"], ["--reason", "misread"], ["--pin-stdin"], list(WHO)):
        code, _, err = typed(*words, *extra)
        assert code == 2 and "go with --undo" in err
    code, _, err = typed(*words, "--undo", "--state", "1")
    assert code == 2 and "Missing option '--as'. --undo is the pit boss's" in err
    assert daemon.commands == [] and daemon.asked == []
    monkeypatch.setenv("TABLECTL_PIT_BOSS", "bo")
    assert typed(*words)[0] == 0
    assert typed(*words, "--undo", "--state", "1", "--reason", "misread", "--pin-stdin")[0] == 0
    assert [(sent["command"], sent["person"]) for sent in daemon.commands] == [
        (line, None),
        (f"{line} undo", "bo"),
    ]


def test_no_line_of_the_documents_of_a_command_gives_an_uncoded_reason() -> None:
    """The examples in every help can be typed."""
    found = 0
    for path, command in leaves(cli):
        for line in (command.help or "").splitlines():
            if "--reason" not in line:
                continue
            words = shlex.split(line.partition("tablectl ")[2])
            reason = words[words.index("--reason") + 1]
            assert reason.partition(":")[0] in REASONS, (path, line)
            found += 1
    assert found > 15
