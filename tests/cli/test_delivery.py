"""``tablectl delivery``: how it stands, and asking the game server again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tablectl.delivering import SIGN, UNSIGNED
from tablectl.delivery import ways
from tablectl.delivery.link import NO_SERVER
from tablectl.delivery.standing import not_begun
from tests.cli.fake_daemon import DELIVERY, STATE, FakeDaemon, tablectl

GOOD: dict[str, object] = {
    "good": True, "trouble": None, "way_out": None, "halted": False, "last_error": None,
}  # fmt: skip
WHO = ("--as", "bo", "--reason", "system: the server was mended", "--pin-stdin")


def test_status_says_why_nothing_is_sent_and_the_way_out(daemon: FakeDaemon, run: Path) -> None:
    shown = tablectl("delivery", "status", run=run)
    assert (shown.returncode, shown.stderr) == (0, "")
    for text in (
        "https://games.example/tables/T07/events",
        "events 345, acknowledged 340, owed 5",
        "HALTED: the server refuses event 341: bad",
        "way out: Have it mended at the game server; then: tablectl delivery retry --as NAME --reason system",
        "if it cannot be mended: tablectl delivery park 341 --as NAME --reason system",
    ):
        assert text in shown.stdout
    daemon.delivery = (200, DELIVERY | GOOD)
    good = tablectl("delivery", "status", run=run).stdout
    assert "link good" in good and "retry" not in good and "trouble" not in good
    daemon.delivery = (
        200,
        DELIVERY | GOOD | {"good": False, "last_error": "no answer within 5 s", "tries_in": 280},
    )
    failing = tablectl("delivery", "status", run=run).stdout
    assert "trouble: no answer within 5 s" in failing
    assert f"tried again: in 280 s; at once: {ways.RETRY}" in failing


def test_status_for_a_program(daemon: FakeDaemon, run: Path) -> None:
    assert json.loads(tablectl("delivery", "status", "--json", run=run).stdout) == DELIVERY


@pytest.mark.parametrize(
    "answer", [{}, {"url": 5, "good": "x"}, {"url": "\x1b[2J", "why": None, "halted": True}]
)
def test_nonsense_from_the_daemon_is_shown_as_text(
    daemon: FakeDaemon, run: Path, answer: dict[str, object]
) -> None:
    daemon.delivery = (200, answer)
    shown = tablectl("delivery", "status", run=run)
    assert shown.returncode == 0
    assert "\x1b" not in shown.stdout + shown.stderr
    assert "Traceback" not in shown.stderr


def test_before_anything_is_sent_it_says_why(daemon: FakeDaemon, run: Path) -> None:
    daemon.delivery = (200, not_begun(None, NO_SERVER, 17, 0))
    shown = tablectl("delivery", "status", run=run)
    assert (shown.returncode, shown.stdout) == (0, f"{NO_SERVER}; betting needs none\n")
    daemon.delivery = (200, not_begun("https://games.example/t", UNSIGNED, 17, 12, way_out=SIGN))
    shown = tablectl("delivery", "status", run=run)
    assert shown.stdout.splitlines() == [
        "game server https://games.example/t",
        f"link NOT good: {UNSIGNED}",
        "events 17, acknowledged 12, owed 5",
        f"trouble: {UNSIGNED}",
        f"way out: {SIGN}",
    ]


def test_retry_is_sent_with_who_and_why(daemon: FakeDaemon, run: Path) -> None:
    done = tablectl("delivery", "retry", *WHO, run=run, stdin="482913\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "did it\n", "")
    assert daemon.posted_to == ["/v1/delivery/retry"]
    (sent,) = daemon.commands
    assert sent.pop("id")
    assert sent == {"person": "bo", "pin": "482913", "reason": "system: the server was mended"}


@pytest.mark.parametrize("missing", ["--as", "--reason"])
def test_retry_needs_a_pit_boss_and_a_reason(daemon: FakeDaemon, run: Path, missing: str) -> None:
    at = WHO.index(missing)
    refused = tablectl("delivery", "retry", *WHO[:at], *WHO[at + 2 :], run=run, stdin="482913\n")
    assert refused.returncode == 2
    assert missing in refused.stderr
    assert daemon.commands == []


def test_retry_without_an_answer_is_asked_once_more_under_the_same_id(daemon: FakeDaemon, run: Path) -> None:
    daemon.on_command = lambda body: None
    lost = tablectl("delivery", "retry", *WHO, run=run, stdin="482913\n")
    assert lost.returncode == 3
    assert "whether 'delivery retry' was carried out is not known" in lost.stderr
    assert len({sent["id"] for sent in daemon.commands}) == 1 and len(daemon.commands) == 2


@pytest.mark.parametrize("what", ["park", "start-at"])
def test_park_and_start_at_name_an_event(daemon: FakeDaemon, run: Path, what: str) -> None:
    done = tablectl("delivery", what, "4711", *WHO, run=run, stdin="482913\n")
    assert (done.returncode, done.stdout) == (0, "did it\n")
    assert daemon.posted_to == [f"/v1/delivery/{what}"]
    (sent,) = daemon.commands
    assert sent.pop("id")
    assert sent == {"person": "bo", "pin": "482913", "reason": "system: the server was mended", "event": 4711}
    for wrong in ("0", "x", "-1", str(10**12)):
        assert tablectl("delivery", what, wrong, *WHO, run=run, stdin="482913\n").returncode == 2
    assert len(daemon.commands) == 1


def test_status_names_the_way_on(daemon: FakeDaemon, run: Path) -> None:
    never = "the game server never gets 89 events (1 to 89): everything before round 1/2"
    daemon.delivery = (200, DELIVERY | {"way_out": ways.gone(1, 90), "never_sent": never})
    shown = tablectl("delivery", "status", run=run).stdout
    assert "if not: tablectl delivery start-at 90 --as NAME --reason system; it then never gets" in shown
    assert f"start-at: {never}" in shown


def test_a_way_out_is_never_cut_off(daemon: FakeDaemon, run: Path) -> None:
    """In the status of the delivery, in that of the table and where an alert is looked at."""
    way = max(ways.AHEAD, ways.LOST, ways.accepted("4f2a91"), ways.refused(10**11), key=len)
    daemon.delivery = (200, DELIVERY | {"way_out": way})
    assert f"way out: {way}\n" in tablectl("delivery", "status", run=run).stdout
    message = f"the server refuses event {10**11}: the game server answers 422: {'x' * 200}. {way}"
    daemon.state = (200, {**STATE, "alerts": [{"alert": "delivery-halted", "message": message}]})
    for command in ("status", "alerts"):
        assert message in tablectl(command, run=run).stdout


def test_over_nats_the_stream_and_the_game_server_are_told_apart(daemon: FakeDaemon, run: Path) -> None:
    daemon.delivery = (200, DELIVERY | {"newest": 7, "acked": 4, "owed": 3, "taken": 6})
    lines = tablectl("delivery", "status", run=run).stdout.splitlines()
    assert "events 7; known to be in the stream 4, still to be stored there 3" in lines
    assert "the game server says that it has taken 6" in lines
