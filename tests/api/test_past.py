"""The local interface about the past: rounds by time, derivations, shoes, and what a pit boss may see."""

from __future__ import annotations

import json
import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tablectl.api.forms import BadRequest
from tablectl.api.reveal import REVEAL, parse_reveal
from tablectl.cli import main
from tablectl.events import CommandRecorded, RoundResulted
from tablectl.past.looking_back import decode_with
from tablectl.plugins import load_driver, names
from tablectl.table import Command
from tests.api.test_app import CARDS, Bench
from tests.e2e.harness import BARE, PIT_BOSS


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """One round was played (1/1), one is void with a card burned under its hold (1/2)."""
    with Bench("bee-tek", overrides=BARE) as rig:
        rig.open_table(CARDS + "AS " + CARDS * 3)
        rig.play_round()
        rig.bets()
        rig.do("hold", text="wait")
        rig.shoe.draw()
        rig.wait(lambda s: s["kept"], "the card is kept")
        rig.do("release", supervised=True, action="burn")
        rig.do("hold")
        rig.do("void", supervised=True)
        yield rig


def get(bench: Bench, resource: str, status: int = 200) -> dict[str, Any]:
    code, answer = bench.client.get(resource)
    assert code == status, answer
    return answer


# --- rounds --------------------------------------------------------------------------------------------


def test_the_round_of_a_time_is_found(bench: Bench) -> None:
    now = int(time.time())
    assert [r["round"] for r in get(bench, f"/v1/rounds?at={now + 5}")["rounds"]] == [2]
    assert get(bench, "/v1/rounds?at=0") == {"rounds": []}
    for odd in ("", "x", "-1", "1e3", "1" * 13):
        assert "at" in get(bench, f"/v1/rounds?at={odd}", 400)["error"]


def test_who_ended_a_round_is_told_with_what_was_seen(bench: Bench) -> None:
    (void,) = [c for c in get(bench, "/v1/rounds/1/2")["commands"] if c["command"] == "void"]
    assert void["person"] == PIT_BOSS.name and void["accepted"] is True and isinstance(void["uid"], int)


def test_of_fifty_rounds_those_there_are_come_newest_first(bench: Bench) -> None:
    assert [r["round"] for r in get(bench, "/v1/rounds?last=50")["rounds"]] == [2, 1]


# --- explain -------------------------------------------------------------------------------------------


def test_a_result_is_derived_again_from_the_bytes_of_the_shoe(bench: Bench) -> None:
    answer = get(bench, "/v1/rounds/1/1/explain")
    assert answer["agrees"] is True and answer["findings"] == []
    cards = [step for step in answer["steps"] if "position" in step]
    assert [step["card"] for step in cards] == CARDS.split()
    assert [step["decoded"] for step in cards] == [[card] for card in CARDS.split()]
    void = get(bench, "/v1/rounds/1/2/explain")
    assert void["agrees"] is True and void["derived"] is None
    assert "AS" not in json.dumps(void)
    assert "no round 9/9" in get(bench, "/v1/rounds/9/9/explain", 404)["error"]


def test_angel_eye_bytes_are_read_again() -> None:
    with Bench("angel-eye", overrides=BARE) as rig:
        rig.open_table(CARDS)
        rig.bets()
        assert "no result yet" in get(rig, "/v1/rounds/1/1/explain", 409)["error"]
        rig.deal(4)
        rig.finish()
        answer = get(rig, "/v1/rounds/1/1/explain")
        assert answer["agrees"] is True, answer["findings"]
        assert [step["decoded"] for step in answer["steps"] if "position" in step] == [
            [card] for card in CARDS.split()
        ]


@pytest.mark.parametrize("name", names("tablectl.drivers"))
@pytest.mark.parametrize("raw", [b"", b"\x00" * 50, b"\xff\x02\x03", b"x" * 100_000])
def test_decoding_never_raises(name: str, raw: bytes) -> None:
    decode = decode_with(load_driver(name), {"no": "such setting"})
    assert decode(raw) is None or isinstance(decode(raw), list)
    assert decode_with(load_driver(name), {})(raw) is None or raw


# --- shoes ---------------------------------------------------------------------------------------------


def test_the_shoe_in_play_is_told_in_numbers(bench: Bench) -> None:
    report = get(bench, "/v1/shoes/1/report")
    state = bench.client.state()["shoe"]
    assert (report["out"], report["left"], report["over"]) == (state["out"], state["left"], False)
    assert (report["dealt"], report["burned"], report["rounds"], report["void"]) == (4, 1, 2, 1)
    assert "faces" not in report
    assert get(bench, "/v1/shoes/last/report") == report
    assert "no shoe 9" in get(bench, "/v1/shoes/9/report", 404)["error"]


# --- reveal --------------------------------------------------------------------------------------------


def reveal(bench: Bench, **changes: Any) -> tuple[int, dict[str, Any]]:
    body = {
        "id": uuid.uuid4().hex, "person": PIT_BOSS.name, "pin": PIT_BOSS.pin, "reason": "dispute: seat 3",
        "shoe": 1, "round": 2,
    }  # fmt: skip
    return bench.client.post("/v1/reveal", body | changes)


def written(bench: Bench) -> list[CommandRecorded]:
    return [e for e in bench.journal_events() if isinstance(e, CommandRecorded) and e.command == REVEAL]


def test_a_pit_boss_sees_every_face_and_it_is_written_down(bench: Bench) -> None:
    hidden = json.dumps(get(bench, "/v1/rounds/1/2"))
    assert "AS" not in hidden
    before = len(written(bench))
    status, answer = reveal(bench, id="same")
    assert status == 200 and answer["accepted"] is True
    assert [card["card"] for card in answer["revealed"]["kept"]] == ["AS"]
    (record,) = written(bench)[before:]
    assert (record.args, record.person, record.reason, record.accepted) == (
        {"round": "1/2"}, PIT_BOSS.name, "dispute: seat 3", True,
    )  # fmt: skip
    assert reveal(bench, id="same") == (status, answer)
    assert len(written(bench)) == before + 1, "one id is one request"
    assert reveal(bench, id="same", round=1)[0] == 409, "an id is not used for another round"
    assert json.dumps(get(bench, "/v1/rounds/1/2")) == hidden, "for nobody else"


def test_nobody_else_sees_them_and_who_tried_is_written_down(bench: Bench) -> None:
    before = len(written(bench))
    status, answer = reveal(bench, pin="0000")
    assert (status, answer["error"]) == (403, "wrong name or PIN")
    status, answer = reveal(bench, pin=None)
    assert status == 403 and "revealed" not in answer
    status, answer = reveal(bench, round=99)
    assert status == 409 and "no round 1/99" in answer["answer"]
    refused = written(bench)[before:]
    assert [(r.accepted, r.args["round"]) for r in refused] == [
        (False, "1/2"),
        (False, "1/2"),
        (False, "1/99"),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"reason": None}, {"reason": "because"}, {"reason": "other"}, {"shoe": 0}, {"shoe": "1"},
        {"shoe": True}, {"round": 10**9}, {"round": None}, {"color": 1}, {"id": ""},
    ],
)  # fmt: skip
def test_form_of_a_reveal_is_checked(changes: dict[str, Any]) -> None:
    good = {"id": "a", "person": "bo", "pin": "1", "reason": "dispute", "shoe": 1, "round": 2}
    assert parse_reveal(json.dumps(good).encode())["shoe"] == 1
    with pytest.raises(BadRequest):
        parse_reveal(json.dumps(good | changes).encode())


# --- commands that look back ---------------------------------------------------------------------------


def test_a_command_that_looks_back_brings_the_round_it_names(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Command] = []
    offer = bench.runtime.core.offer

    def watch(given: Any, *rest: Any) -> bool:
        seen.extend([given] if isinstance(given, Command) else [])
        return offer(given, *rest)

    monkeypatch.setattr(bench.runtime.core, "offer", watch)
    person = {"person": PIT_BOSS.name, "pin": PIT_BOSS.pin, "reason": "dispute", "expect": {"version": 1}}
    for command, named in (
        ("void", "1/1"), ("void", "1/2"), ("void", "9/9"), ("void", "one"), ("amend", "1/1"),
        ("release", "1/1"),
    ):  # fmt: skip
        bench.post(bench.body(command, args={"round": named}, **person))
    found = [given.past for given in seen]
    assert [past and (past.shoe, past.round, past.voided) for past in found] == [
        (1, 1, False), (1, 2, True), None, None, (1, 1, False), None,
    ]  # fmt: skip
    assert found[0] is not None and found[0].result is not None and found[0].revision == 1


def test_what_the_sender_saw_is_written_down_with_a_refusal(bench: Bench) -> None:
    seen = {"shoe": 1, "round": 1, "version": 5}
    bench.post(bench.body("shoe end", person="nobody", reason="cards", expect=seen))
    bench.post(bench.body("turn"))  # answered after its commit, and so after that of the refusal
    recorded = [e for e in bench.journal_events() if isinstance(e, CommandRecorded)]
    assert [(e.saw_round, e.saw_version) for e in recorded if e.person == "nobody"] == [("1/1", 5)]


def test_after_the_shoe_everything_may_be_known() -> None:
    with Bench("bee-tek", overrides=BARE) as rig:
        rig.open_table(CARDS)
        rig.play_round()
        rig.do("hold")
        rig.do("shoe end", supervised=True)
        report = get(rig, "/v1/shoes/last/report")
        assert report["over"] is True and report["faces"]["dealt_by_rank"] == {"2": 1, "3": 1, "9": 1, "K": 1}
        assert report["ended"]["approved_by"] == PIT_BOSS.name


# --- a row that was altered while the daemon runs ------------------------------------------------------


def test_nothing_altered_is_given_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Bench("bee-tek", overrides=BARE) as rig:
        rig.open_table(CARDS)
        rig.play_round()
        row, event = next(
            (n, e) for n, e in enumerate(rig.journal_events(), 1) if isinstance(e, RoundResulted)
        )
        good, bad = f'"outcome":"{event.outcome}"', '"outcome":"tie"'

        def change(one: str, other: str) -> None:
            sql = "UPDATE rows SET public = CAST(replace(public, ?, ?) AS BLOB) WHERE row = ?"
            with closing(sqlite3.connect(rig.journal_path)) as db, db:
                db.execute(sql, (one, other, row))

        change(good, bad)
        says = f"row {row}: its hash does not fit"
        with closing(sqlite3.connect(rig.journal_path)) as db:
            ((event_before,),) = db.execute("SELECT sequence - 1 FROM rows WHERE row = ?", (row,))
        for resource in (
            "/v1/rounds?last=1", f"/v1/rounds?at={int(time.time()) + 5}", "/v1/rounds/1/1",
            "/v1/rounds/1/1/explain", "/v1/shoes/1/report", "/v1/journal/rows",
            "/v1/journal/rows?public=1&round=1", f"/v1/events?after={event_before}",
        ):  # fmt: skip
            status, answer = rig.client.get(resource)
            assert status == 500 and says in answer["error"], (resource, answer)
        for status, answer in (
            reveal(rig, round=1),
            rig.client.post("/v1/journal/reveal", revealed(row)),
            rig.command("void", supervised=True, round="1/1"),
        ):
            assert status in (500, 503) and says in answer["error"], answer
        for words in (
            ["recall"], ["recall", "1/1", "--json"], ["recall", "1", "--export", str(tmp_path / "a.json")],
            ["explain", "1/1"], ["shoe", "report"], ["journal", "export", str(tmp_path / "b.csv")],
            ["journal", "show", str(row)], ["watch", "--after", str(event_before)],
        ):  # fmt: skip
            capsys.readouterr()
            code = main([*words, "--socket", str(rig.socket_path)])
            out, err = capsys.readouterr()
            assert (code, out) == (1, "") and says in err, (words, out, err)
        assert main(["watch", "--after", "0", "--json", "--socket", str(rig.socket_path)]) == 1
        out, err = capsys.readouterr()
        assert len(out.splitlines()) == event_before and says in err, "what comes before it is shown"
        assert not list(tmp_path.iterdir())
        change(bad, good)
        assert get(rig, "/v1/rounds/1/1")["round"] == 1
        with closing(sqlite3.connect(rig.journal_path, isolation_level=None)) as db:
            db.execute("UPDATE rows SET round = 1000 WHERE row = ?", (row,))
            start = db.execute("SELECT row FROM rows WHERE type = 'shoe.started'").fetchone()[0]
            for resource in (
                "/v1/rounds?last=1", "/v1/rounds/1/1", "/v1/rounds/1/1/explain", "/v1/shoes/1/report",
                "/v1/journal/rows?shoe=1&round=1",
            ):  # fmt: skip
                status, answer = rig.client.get(resource)
                assert status == 500 and f"row {row}: its index" in answer["error"], (resource, answer)
            db.execute("UPDATE rows SET round = 1 WHERE row = ?", (row,))
            for column in ("type = 'zz'", "shoe = 99"):
                db.execute(f"UPDATE rows SET {column} WHERE row = ?", (start,))
                status, answer = rig.client.get(f"/v1/journal/rows?after={start}")
                assert status == 500 and f"row {start}: its index" in answer["error"], "no burn faces"
                assert rig.client.get("/v1/journal/verify")[1]["row"] == start
                db.execute("UPDATE rows SET type = 'shoe.started', shoe = 1 WHERE row = ?", (start,))
        assert get(rig, f"/v1/journal/rows?after={start}")["rows"]


def revealed(row: int) -> dict[str, Any]:
    who = {"id": uuid.uuid4().hex, "person": PIT_BOSS.name, "pin": PIT_BOSS.pin, "reason": "dispute"}
    return who | {"after": row - 1, "upto": row}
