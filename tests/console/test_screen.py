"""What stands on the screen, in every phase and under every hold, on rich terminals and poor ones."""

from __future__ import annotations

import string
from dataclasses import replace

import pytest

from tablectl.console import big
from tablectl.console.dialog import Choice, Dialog
from tablectl.console.keys import keys
from tablectl.console.language import ENGLISH
from tablectl.console.model import Model
from tablectl.console.paper import cells, cut, fit, pad, poor, size, wrap
from tablectl.console.past import MOST_NAMES, MOST_ROUNDS, Past
from tablectl.console.prompt import next_words
from tablectl.console.screen import PHASE_STYLE, Terminal, screen
from tablectl.console.seen import read
from tablectl.table import Phase
from tablectl.table.holds import HOLDS
from tests.console.states import (
    EVIL,
    FRESH_SHOE,
    LAST_SHOE,
    Raw,
    event,
    every,
    held,
    past,
    result,
    round_,
    state,
)

HERE = Terminal(80, 24)
SIZES = (
    HERE,
    Terminal(80, 24, blocks=False),
    Terminal(132, 50),
    Terminal(60, 20),
    Terminal(40, 10),
    Terminal(1, 1),
)


def model(raw: Raw, *, now: float = 0.0) -> Model:
    return Model(past=past(), settles=0.0).told(raw, now)


def text(made: Model, on: Terminal = HERE, now: float = 0.0) -> str:
    return "\n".join("".join(span.text for span in line) for line in screen(made, on, now, "03:14:15"))


@pytest.mark.parametrize("on", SIZES, ids=str)
def test_every_screen_fills_its_terminal_exactly_and_moves_no_cursor(on: Terminal) -> None:
    for name, raw in every():
        crossed = " in " in name and not name.endswith("in dealing")
        if on != HERE and crossed:
            continue
        made = model(raw).says(EVIL, "bad", 0.0)
        dialogs = "" if crossed else "*07" if on == HERE else "*"
        for one in (made, made.gone(EVIL, 0.0), *(made.key(key, 1.0)[0] for key in dialogs)):
            lines = screen(one, on, 1.0, "03:14:15")
            assert len(lines) == on.height, name
            for line in lines:
                assert size(line) == on.width, (name, line)
                shown = "".join(span.text for span in line)
                assert shown.isprintable(), (name, shown)
                assert on.blocks or shown.isascii(), (name, shown)


@pytest.mark.parametrize("phase", Phase)
def test_phase_and_prompt(phase: Phase) -> None:
    shown = text(model(state(phase.value)))
    words = {
        "closed": "NEXT: open the table",
        "no shoe": "NEXT: shuffle, cut and load, then start the new shoe",
        "burning": "NEXT: burn 6 face down (shuffle)",
        "idle": "NEXT: open betting",
        "betting": "BETS ARE OPEN: draw no card",
        "no more bets": "NO MORE BETS. NEXT: Player's first card",
        "dealing": "NEXT: PLAYER DRAWS",
        "complete": "BANKER WINS, Player 6, Banker 7: announce it",
        "shuffle due": "NEXT: shuffle and load, then start the new shoe",
    }[phase]
    assert words in shown
    large = big.draw("burn 6" if phase is Phase.BURNING else phase.value, blocks=True)
    assert all(line.rstrip() in shown for line in large)
    assert phase.value in {*PHASE_STYLE, "closed", "no shoe", "idle"}


@pytest.mark.parametrize("on", [HERE, Terminal(80, 24, blocks=False)], ids=str)
@pytest.mark.parametrize("code", HOLDS)
def test_a_hold_is_told_with_every_way_out(code: str, on: Terminal) -> None:
    made = model(held(code))
    seen = made.seen
    assert seen is not None
    first = text(made, on)
    assert f"HOLD: {ENGLISH(HOLDS[code].means)}" in first
    if on.blocks and code != "integrity":  # these have so much to tell that the large letters give way
        assert all(line.rstrip() in first for line in big.draw("on hold", blocks=True))
    for one in keys(seen, made.past):
        if one.means.startswith("way "):
            assert f" {one.key}  {cut(one.label, 73)}" in first, (code, one)
    assert "K1" in first or len(seen.ways) > 8
    assert "[8]" not in first


DOWN = {"up": False, "health": "absent", "why": "no such port " * 9}


@pytest.mark.parametrize("on", [HERE, Terminal(60, 20, blocks=False)], ids=str)
@pytest.mark.parametrize("code", HOLDS)
def test_every_way_out_stands_there_whatever_else_is_wrong(code: str, on: Terminal) -> None:
    raw = held(code, kept=3, scanner=DOWN, link={"good": False, "why": "refused " * 20}, shoe=LAST_SHOE)
    raw |= {"journal": {"state": "slow", "why": "slow " * 20}, "beeper": {"why": "mute"}}
    raw["alerts"] = [{"alert": f"alert-{n}", "message": "wrong " * 20} for n in range(5)]
    made = model(raw).says("refused: " + "because " * 30, "bad", 0.0)
    shown = text(made, on)
    assert made.seen is not None
    for one in keys(made.seen, made.past):
        assert f" {one.key}  {cut(one.label, on.width - 7)}" in shown, (one, shown)
    assert "LAST HAND BEFORE SHUFFLE" in shown and "8S" in shown.replace("8♠", "8S")
    assert " refused: because" in shown and "..." in shown
    assert on != HERE or all(name in shown for name in (" scanner ", " server ", " journal ", " beeper "))
    for key in ("0", "*"):
        asked, _ = made.key(key, 1.0)
        asked = asked.says("refused: " + "because " * 30, "bad", 1.0)
        assert asked.dialog is not None
        choice = asked.dialog.asks()
        assert isinstance(choice, Choice)
        assert all(
            f" {n}  {cut(told, on.width - 8)}" in text(asked, on)
            for n, _, told in asked.dialog.options(choice)
            if told
        )


def test_what_was_not_sent_is_told_while_the_daemon_is_away() -> None:
    gone = model(state("idle")).gone("down", 0.0)
    refused, sent = gone.key("enter", 3.0)
    assert sent is None
    assert "NOT SENT: bets open; no answer for 3 s; down" in text(refused, now=4.0)
    assert "STALE: no answer for 70 s; down" in text(refused, now=70.0)


def test_both_hands_with_points_and_totals() -> None:
    shown = text(model(state("dealing"))).splitlines()
    assert shown[6].startswith(" ┌P1─┐ ┌P2─┐ ┌P3─┐") and "┌B1─┐ ┌B2─┐" in shown[6]
    assert shown[7].startswith(" │ 8♠│ │ 6♦│ │ ? │") and "│10♥│ │ 7♣│" in shown[7]
    assert shown[8].startswith(" └─8─┘ └─6─┘ └───┘") and "└─0─┘ └─7─┘" in shown[8]
    assert all(
        part.rstrip() in line for part, line in zip(big.draw("4", blocks=True), shown[6:9], strict=True)
    )
    poor_one = text(model(state("dealing")), Terminal(80, 24, blocks=False))
    assert "| 8S| | 6D| | ? |   = 4" in poor_one and "|10H| | 7C|         = 7" in poor_one


def test_faces_that_lie_down_are_not_shown_and_the_last_hand_stays_until_the_next() -> None:
    down = round_(
        "dealing", cards={}, face_down=3, player_total=None, banker_total=None, words="cards face down"
    )
    shown = text(model(state("dealing", round=down)))
    assert shown.count("▒▒▒") == 3 and "NEXT: deal, face down: 3 of 4" in shown
    over = text(model(state("idle")))
    assert "12/33 is over" in over and "│ 4♠│ │ 5♦│" in over
    assert "is over" not in text(model(state("betting")))
    assert "is over" not in text(model(state("idle", shoe=FRESH_SHOE | {"number": 13})))


def test_the_countdown_runs_between_two_answers_and_ends_at_nothing() -> None:
    made = model(state("betting"))
    for now, left in ((0.0, "12"), (0.39, "12"), (0.41, "11"), (6.5, "5")):
        row = big.draw(left, blocks=True)[0]
        assert text(made, now=now).splitlines()[1].rstrip().endswith(row.rstrip()), now
    assert made.seconds_left(7.9) == pytest.approx(3.5)
    assert made.seconds_left(8.1) is None and "STALE" in text(made, now=8.1)
    assert model(state("betting", round=round_("betting", seconds_left=0.0))).seconds_left(1.0) == 0.0
    assert model(state("idle")).seconds_left(0.0) is None


def placed(players: object, placed: object, everybody: object = False, **other: object) -> Raw:
    told = {"shoe": 12, "round": 34, "players": players, "placed": placed, "all": everybody}
    return state("betting", placed=told | other)


def test_who_has_placed_and_that_betting_may_be_closed_early() -> None:
    open_ = " BETS ARE OPEN: draw no card"
    for on in (HERE, Terminal(80, 24, blocks=False), Terminal(60, 20), Terminal(120, 40)):
        assert f"{open_}. 2 of 3 players have placed" in text(model(placed(3, 2)), on)
    assert f"{open_}. 0 of 1 player has placed" in text(model(placed(1, 0)))
    shown = text(model(placed(3, 3, True)))
    assert (
        " ALL HAVE PLACED: betting may be closed early, key - " in shown
        and " -  close betting early" in shown
    )
    assert open_ not in shown
    assert "players have placed" not in text(model(placed(3, 2)).gone("down", 0.0))


@pytest.mark.parametrize(
    "odd",
    [
        *({}, state("betting", placed=None), state("betting", placed=[3]), placed(3, 4), placed(0, 0, True)),
        *(placed(-1, 0), placed("3", "2"), placed(True, True, True), placed(3, None), placed(10**20, 1)),
        *(placed(3, 3, True, round=33), placed(3, 3, True, shoe=11), placed(3, 3, True, round=None)),
        *(placed(3, 3, True) | {"shoe": None}, placed(3, 3, True) | {"phase": "no more bets"}),
    ],
)
def test_no_word_or_an_odd_one_on_who_has_placed_is_none(odd: Raw) -> None:
    assert read(odd).placed is None
    assert "placed" not in text(model(odd)).lower()


def test_all_have_placed_only_if_all_have() -> None:
    for raw in (placed(3, 2, True), placed(3, 3), placed(3, 3, "yes")):
        assert "ALL HAVE PLACED" not in text(model(raw))


def test_the_shoe_and_its_last_hand() -> None:
    assert "200 of 416 left, cutting card in about 148" in text(model(state("idle")))
    shown = text(model(state("idle", shoe=LAST_SHOE)))
    assert "LAST HAND BEFORE SHUFFLE" in shown and "CUTTING CARD OUT" in shown
    assert "The coming hand is the LAST" in shown
    more = text(model(state("dealing", shoe=LAST_SHOE | {"last_hand": False})))
    assert "LAST HAND BEFORE" not in more and "The last hand before the shuffle is round 12/71" in more
    by_share = replace(past(), by_share=True, cut_place=371)
    assert "end of the shoe in about 155" in text(Model(past=by_share).told(state("idle"), 0.0))
    assert "burns due: 1 (dealer change)" in text(
        model(state("idle", burns_due=1, burn_reason="dealer change"))
    )


def test_a_tall_window_says_what_comes_next_in_large_letters() -> None:
    for on in (Terminal(80, 28), Terminal(80, 40, blocks=False)):
        shown = text(model(state("dealing")), on)
        assert all(row.rstrip() in shown for row in big.draw("player draws", blocks=on.blocks))
        assert "NEXT: shuffle, cut and load" in text(model(state("no shoe")), on)  # too long for that


def test_devices_alerts_and_what_was_last() -> None:
    fine = text(model(state("idle")))
    assert "scanner ok bee-tek" in fine and "server ok has everything" in fine and "journal ok" in fine
    wrong = text(
        model(
            state(
                "idle",
                scanner={"driver": "x", "up": False, "why": "no such port"},
                link={"good": False, "why": "refused"},
                acked=340,
                alerts=[{"alert": "disk-slow", "message": "A commit took 3 s."}],
                unsettled=["12/30"],
                say=["No More Bets"],
            )
        )
    )
    for words in (
        *(
            "scanner  DOWN: no such port",
            "server  refused (5 to send)",
            "ALERT  disk-slow: A commit took 3 s.",
        ),
        *("UNSETTLED at the game server: 12/30", "say No More Bets"),
        *("12/33   Player 9:7  P 4S 5D     B TH 7H     player natural", "12/32   Banker 6:7  P 8S 6D 2C"),
    ):
        assert words in wrong, words
    assert "server ok none" in text(
        model(state("idle", link={"good": False, "why": "no game server is configured ([server] url)"}))
    )


def test_who_announces_the_result() -> None:
    by_shoe = replace(past(), confirm="shoe")
    seen = read(state("complete"))
    assert next_words(Model(past=by_shoe), seen)[0].endswith("press the shoe's result button")
    lost = read(state("complete", step_lost=True, scanner={"names_positions": True}))
    assert next_words(Model(past=by_shoe), lost)[0].endswith("the shoe is out of step: announce it here")


def test_only_what_is_called_is_said() -> None:
    said = ["The scanner is ready", "No More Bets", "Player's card"]
    for phase in ("betting", "dealing", "idle"):
        shown = text(model(state(phase, say=said)))
        assert " say No More Bets" in shown and "scanner is ready" not in shown and "'s card" not in shown


def test_what_was_typed_is_shown_and_a_pin_is_not() -> None:
    made = model(held("called"))
    assert made.seen is not None
    release = next(one for one in keys(made.seen, made.past) if one.means == "way resume")
    made, _ = made.key(release.key, 1.0)
    for key in ("1", "2", "1"):  # routine, seen on video, bo
        made, _ = made.key(key, 1.0)
    assert "PIN of bo, then Enter" in text(made) and "Reason: routine: seen on video" in text(made)
    before = text(made)
    for key in "9876":
        made, _ = made.key(key, 1.0)
    assert "9876" not in text(made) and "(typed, not shown)" in text(made)
    assert "9876" not in repr(made)
    assert "(typed" not in before
    changed = made.told(held("called", version=513), 2.0)
    assert "The table has changed since you began" in text(changed)


def test_text_is_cut_to_cells() -> None:
    assert [cells(word) for word in ("abc", "日本", "e\u0301", "")] == [3, 4, 1, 0]
    assert cut("abcdef", 5) == "ab..." and cut("日本語", 5) == "日..." and cut("abc", 3) == "abc"
    assert cut("abcdef", 2) == ".." and pad("日", 3) == "日 " and pad("abc", 0) == ""
    assert wrap("one two three", 7, 2) == ["one two", "three"]
    assert wrap("one two three", 7, 1) == ["one..."] or wrap("one two three", 7, 1) == ["one ..."]
    assert "".join(wrap("x" * 20, 7, 9)) == "x" * 20 and wrap("日本語日本語", 4, 9) == [
        "日本",
        "語日",
        "本語",
    ]
    assert wrap("", 7, 2) == [] and size(fit((), 9)) == 9
    assert poor("Zoë ♠ 日") == "Zoe S \\u65e5"
    assert poor("Übung Ü ÖFFNEN EINSÄTZE Größe") == "Uebung Ue OEFFNEN EINSAETZE Groesse"


def test_large_letters_are_equally_high_and_there_for_every_word_that_is_drawn() -> None:
    for blocks in (True, False):
        for word in (*map(str, Phase), "on hold", "burn 3", string.digits):
            rows = big.draw(word, blocks=blocks)
            assert len(rows) == big.rows(blocks=blocks) and len({len(row) for row in rows}) == 1
            assert len(rows[0]) <= 60
        assert big.draw("~", blocks=blocks) == big.draw("?", blocks=blocks)


def test_what_events_tell_is_bounded_and_corrected() -> None:
    made = past()
    assert made.dealers == ("anna", "boris") and made.pit_bosses == ("bo",) and made.cut_place == 364
    amended = event(
        "round.amended",
        shoe=12,
        round=32,
        approved_by="pia",
        after={"outcome": "tie", "player": {"cards": ["8S"], "total": 7}, "banker": {"total": 7}},
    )
    made = made.heard(amended)
    assert [one.where for one in made.rounds] == ["12/33", "12/32"]
    assert (made.rounds[1].what, made.rounds[1].mark) == ("Tie", "AMENDED") and made.pit_bosses == (
        "pia",
        "bo",
    )
    made = made.heard(event("round.voided", shoe=12, round=33, reason="dealing", cards={}))
    assert made.rounds[0].what == "VOID" and "VOID" in text(replace(model(state("idle")), past=made))
    for n in range(100):
        made = made.heard(result(n, "tie", ("8S", "TH"), ("8S", "TH"), 8, 8)).heard(
            event("dealer.changed", dealer=f"d{n}")
        )
    assert len(made.rounds) == MOST_ROUNDS and len(made.dealers) == MOST_NAMES
    share = {"shoe": {"cutting_card": 52, "share": "0.89"}}
    assert Past().heard(event("shoe.started", decks=8, rules=share)).cut_place == 371
    for odd in (
        {},
        {"type": 3, "data": []},
        event("shoe.started", decks="x", rules={"shoe": {"share": "y"}}),
    ):
        assert Past().heard(odd).cut_place is None


def test_a_dialog_that_asks_nothing_is_no_trouble() -> None:
    from tablectl.console.flows import direct
    from tablectl.console.middle import dialog

    made = model(state("idle"))
    assert dialog(made, Dialog("x", lambda: direct("open"), 512, "-"), 80, 5)
