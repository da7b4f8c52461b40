"""Every command by keys sends what the command line sends when it is typed, word for word."""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tablectl.cli import main
from tablectl.console.model import Model, Send
from tablectl.table.inputs import COMMANDS
from tests.cli.fake_daemon import FakeDaemon
from tests.console.states import FRESH_SHOE, LAST_SHOE, Raw, held, past, round_, state

HELD = held("called", kept=2, shoe=LAST_SHOE)
FRESH = state("idle", shoe=FRESH_SHOE | {"cut": True})
DOWN = state("dealing", round=round_("dealing", cards={}, face_down=4, player_total=None, banker_total=None))
ALERT = state("idle", alerts=[{"alert": "disk-slow", "message": "x"}])
BOSS = "2 2 1 9 8 7 enter"
"""Reason misread, seen on video, by bo, and the PIN."""
TYPED = ' --as bo --reason "misread: seen on video" --pin-stdin'

TABLE: tuple[tuple[str, Raw, str], ...] = (
    ("open", state("closed", dealer=None), "enter"),
    ("close", state("no shoe"), "- 1"),
    ("sign-in boris --pickup right", state("no shoe"), "7 1 2"),
    ("sign-in 47 --pickup left", state("idle"), "7 2 4 7 enter 1"),
    ("sign-out", state("idle"), "8 1"),
    ("shoe new", state("shuffle due"), "enter 1"),
    ("bets open", state("idle"), "enter"),
    ("bets close", state("betting"), "- 1"),
    ("turn", DOWN, "enter"),
    ("confirm banker", state("complete"), "enter"),
    ("confirm player", state("complete"), "1"),
    ("confirm banker", state("complete"), "2"),
    ("confirm tie", state("complete"), "3"),
    ("cut-card", state("dealing"), "4 1"),
    ("rescan last", state("dealing"), "5 1"),
    ("rescan hand", state("dealing"), "5 2"),
    ("rescan B2", state("dealing"), "5 6"),
    ("same-again", state("dealing", read_twice=True), "6 1"),
    ("burn done 12", state("burning"), "9 1 2 enter"),
    ("hold", state("dealing"), "0 1"),
    ("hold --because card-missed", state("dealing"), "0 2"),
    ("hold --because card-twice", state("dealing"), "0 3"),
    ("hold --because two-cards", state("dealing"), "0 4"),
    ('hold "a b"', state("dealing"), "0 5 a space b enter"),
    ("ack disk-slow", ALERT, "/ 1"),
    ("release accept" + TYPED, HELD, "1 " + BOSS),
    ("release resume" + TYPED, HELD, "4 " + BOSS),
    ("rescan hand", HELD, "5"),
    ("correct P2 QD" + TYPED, HELD, "6 3 * 3 " + BOSS),
    ("correct K2 AS" + TYPED, HELD, "6 6 1 1 " + BOSS),
    ("insert B1 TH" + TYPED, HELD, "7 2 0 2 " + BOSS),
    ("move P2 B1" + TYPED, HELD, "8 3 2 " + BOSS),
    ("move K2 K1" + TYPED, HELD, "8 6 7 " + BOSS),
    ("enter P3 JC" + TYPED, HELD, "9 1 1 / 4 " + BOSS),
    ("void 12/34" + TYPED, HELD, "9 3 1 " + BOSS),
    ("void 12/32" + TYPED, HELD, "9 3 2 2 " + BOSS),
    ("void 11/7" + TYPED, state("idle"), "* 1 3 1 1 / 7 enter " + BOSS),
    ("hold --as bo --pin-stdin", state("no shoe", dealer=None), "* 5 1 1 9 8 7 enter"),
    ("ack disk-slow --as bo --pin-stdin", ALERT | {"dealer": None}, "* 9 1 1 9 8 7 enter"),
    ("shoe end" + TYPED, HELD, "9 4 " + BOSS),
    ("amend 12/33 B2=KS P3=none" + TYPED, state("idle"), "* 6 1 4 1 - 1 4 2 5 " + BOSS),
    ("burn 3" + TYPED, state("idle"), "* 2 3 enter " + BOSS),
    ("burn-error" + TYPED, state("idle"), "* 3 " + BOSS),
    ("hand free" + TYPED, state("idle"), "* 4 " + BOSS),
    ("shoe new --undo" + TYPED, FRESH, "* 8 " + BOSS),
    ("cut-card --undo" + TYPED, FRESH, "* 7 " + BOSS),
    ("device swap" + TYPED, state("idle"), "* 7 " + BOSS),
    (
        "shoe adopt --number 9 --out 80 --rounds 12 --last-hand" + TYPED,
        state("no shoe"),
        "* 4 9 enter 8 0 enter 1 2 enter 2 " + BOSS,
    ),
    ("shoe inspect --by-hand" + TYPED, state("no shoe"), "* 1 1 1 " + BOSS),
    (
        'shoe inspect --by-hand --missing "8S KD" --damaged 2C' + TYPED,
        state("no shoe"),
        "* 1 1 2 8 1 2 - 3 4 2 4 1 " + BOSS,
    ),
    ("shoe inspect --scan" + TYPED, state("no shoe"), "* 1 2 " + BOSS),
    ("shoe inspect --done" + TYPED, state("no shoe", counting={"counted": 9, "of": 416}), "* 1 1 1 " + BOSS),
    ("shoe inspect --cancel" + TYPED, state("no shoe", counting={"counted": 9, "of": 416}), "* 1 2 " + BOSS),
    (
        'release accept --as 4711 --reason "other: hm" --pin-stdin',
        HELD,
        "1 9 5 6 h m enter 2 4 7 1 1 enter 9 8 7 enter",
    ),
)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeDaemon]:
    made = FakeDaemon(Path(tmp_path_factory.mktemp("d")) / "t.sock")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("words", "raw", "keys"), TABLE, ids=[f"{n}: {row[0][:30]}" for n, row in enumerate(TABLE)]
)
def test_by_keys_and_typed(
    words: str, raw: Raw, keys: str, daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("987\n"))
    assert (
        main(
            [
                "--socket",
                str(daemon.socket),
                *shlex.split(words),
                *(["--state", "512"] * (words != "ack disk-slow")),
            ]
        )
        == 0
    )
    typed = daemon.commands.pop()
    model, sent = Model(past=past(), settles=0.0).told(raw, 0.0), None
    for key in keys.split():
        assert sent is None, key
        model, sent = model.key({"space": " "}.get(key, key), 1.0)
    assert isinstance(sent, Send), model.dialog and model.dialog.asks()
    expect = {"version": 512} if sent.body["command"] not in ("hold", "ack") else {}
    where = {"shoe": 12, "round": 34} if expect and raw["round"] else {}
    assert sent.body == {name: value for name, value in typed.items() if name != "id"} | {
        "expect": expect | where
    }


def test_no_command_is_missing_here() -> None:
    typed = {" ".join(word for word in shlex.split(words) if word[0] != "-")[:40] for words, _, _ in TABLE}
    shown = " | ".join(typed)
    for kind in COMMANDS:
        assert kind.value.removesuffix(" undo") in shown, kind
