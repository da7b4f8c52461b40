"""The line to the daemon: what is known of a command that was sent, and a table that is another one."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tablectl.console.line import Line, ask
from tablectl.console.model import Answer
from tablectl.local import Client
from tests.cli.fake_daemon import STATE, FakeDaemon, event, stream
from tests.e2e.harness import until

BODY = {"id": "one", "command": "bets open", "args": {}}


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDaemon]:
    monkeypatch.setattr("tablectl.console.line.ONCE_MORE", 0.0)
    made = FakeDaemon(tmp_path / "t.sock")
    yield made
    made.close()


def asked(daemon: FakeDaemon, *replies: Any) -> Answer:
    left = list(replies)
    daemon.on_command = lambda body: left.pop(0)
    answer = ask(Client(daemon.socket, 2.0), "bets open", BODY)
    assert left == []
    return answer


def test_what_was_answered(daemon: FakeDaemon) -> None:
    done = (200, {"id": "one", "accepted": True, "answer": "betting open"})
    assert asked(daemon, done) == Answer(True, "betting open")
    assert asked(daemon, (409, {"accepted": False, "answer": "bets open refused: no"})) == Answer(
        False, "bets open refused: no"
    )
    assert asked(daemon, (400, {"error": "unknown field"})) == Answer(False, "refused: unknown field")
    assert asked(daemon, (403, {"error": "too many wrong PINs", "retry_after": 30})) == Answer(
        False, "refused: too many wrong PINs; try again in 30 s", pin=True
    )
    kept = (503, {"error": "it waits for the disk", "kept": True})
    assert asked(daemon, kept) == Answer(False, "it waits for the disk")


def test_where_no_answer_comes_the_same_is_asked_once_more(daemon: FakeDaemon) -> None:
    done = (200, {"id": "one", "accepted": True, "answer": "betting open"})
    assert asked(daemon, None, done).done
    assert asked(daemon, (503, {"error": "busy"}), done).done
    assert [body["id"] for body in daemon.commands] == ["one"] * 4
    silences: list[tuple[Any, ...]] = [(None, None), (b"garbage", None), (None, (500, {"error": "x"}))]
    silences.append(((200, {}),))
    for silent in silences:
        answer = asked(daemon, *silent)
        assert not answer.done
        assert answer.text.startswith("Whether 'bets open' was carried out is not known: look at the table")
    assert asked(daemon, (503, {"error": "busy"}), (503, {"error": "busy"})).text == "refused: busy"


def test_what_never_reached_the_daemon_was_not_sent(tmp_path: Path) -> None:
    answer = ask(Client(tmp_path / "none.sock"), "bets open", BODY)
    assert answer.text.startswith("NOT SENT: bets open; ")


@pytest.mark.parametrize("other", [{"sequence": 5}, {"epoch": "aaaaaa", "sequence": 400}])
def test_an_older_journal_and_another_history_are_followed_anew(
    daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]
) -> None:
    monkeypatch.setattr("tablectl.console.line.AGAIN", 0.01)
    monkeypatch.setattr("tablectl.console.line.BACKLOG", 10)
    heard: queue.Queue[Any] = queue.Queue()
    daemon.streams = [stream(event(336, "dealer.changed", dealer="boris"))]
    line = Line(
        str(daemon.socket),
        table=None,
        told=lambda state: heard.put(state.get("sequence")),
        gone=lambda why: None,
        heard=lambda event: heard.put(event["data"]["dealer"]),
        answered=lambda answer: None,
    )
    line.start()
    while heard.get(timeout=5) != "boris":
        pass
    until(lambda: "/v1/events?after=336" in daemon.asked, "it is followed from there on")
    daemon.state = (200, STATE | other)
    begins = f"/v1/events?after={max(0, other['sequence'] - 10)}"
    until(lambda: begins in daemon.asked, "the other one is followed")
    asked = daemon.asked
    assert asked.index("/v1/events?after=335") < asked.index("/v1/events?after=336") < asked.index(begins)
    line.stop()


def test_it_follows_state_and_events_and_knows_another_table(daemon: FakeDaemon) -> None:
    told: queue.Queue[tuple[str, Any]] = queue.Queue()
    daemon.streams = [stream(event(1), b"data: {not json\n\n", event(2, "dealer.changed", dealer="boris"))]

    def line(table: str) -> Line:
        return Line(
            str(daemon.socket),
            table=table,
            told=lambda state: told.put(("told", state)),
            gone=lambda why: told.put(("gone", why)),
            heard=lambda event: told.put(("heard", event)),
            answered=lambda answer: told.put(("answered", answer)),
        )

    right = line("T07")
    right.start()
    found: dict[str, Any] = {}
    while {"told", "heard"} - set(found):
        name, what = told.get(timeout=5)
        found[name] = what
    right.stop()
    assert found["told"] == STATE and found["heard"]["data"]["dealer"] == "boris"
    assert any(asked.startswith("/v1/events?after=0") for asked in daemon.asked)
    wrong = line("T08")
    wrong.start()
    while told.get(timeout=5) != ("gone", "this is table T07, not T08"):
        pass
    wrong.stop()
