"""The local interface of a running table: forms, PINs, repeats, races, and clients that misbehave."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import stat
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import pytest

from tablectl.api.app import BODY
from tablectl.api.forms import BadRequest, parse_command, parse_expect, parse_number, parse_order
from tablectl.clock import now
from tablectl.config import load_config
from tablectl.events import CommandRecorded
from tablectl.local import Client
from tablectl.runtime import Runtime
from tablectl.service import Said
from tablectl.table import Expect, Kind, Phase
from tests.e2e.harness import BARE, PIT_BOSS, SOAK, Rig, until

RACES = 1_000 if SOAK else 20
CARDS = "2C 9D 3H KS "
"""One hand; with eight decks there are eight of them at most."""


class Bench(Rig):
    """The table with its runtime in this process: quicker, and the same interface. No game server."""

    def __enter__(self) -> Self:
        text = self.config.read_text()
        at = text.index("[server]")
        self.config.write_text(text[:at] + text[text.index("[journal]") :])
        self.runtime = Runtime(load_config(self.config))
        self.runtime.start()
        self.wait(lambda s: s["scanner"]["up"], "the scanner is there")
        return self

    def __exit__(self, *_: object) -> None:
        assert self.runtime.stop(), "every thread ends in time"
        assert not self.runtime.incidents.crashed.is_set()
        super().__exit__()

    def body(self, command: str, **fields: Any) -> dict[str, Any]:
        return {"id": uuid.uuid4().hex, "command": command, **fields}

    def post(self, body: Any) -> tuple[int, dict[str, Any]]:
        return self.client.post("/v1/commands", body)

    def raw(self, content: bytes, target: str = "/v1/commands") -> tuple[int, bytes]:
        """A POST of bytes as they are."""
        with contextlib.closing(stream(self.socket_path)) as sock:
            head = f"POST {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            sock.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode())
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                sock.sendall(content)
            response = http.client.HTTPResponse(sock, method="POST")
            response.begin()
            return response.status, response.read()


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench("bee-tek", overrides=BARE) as rig:
        rig.open_table(CARDS * 8)
        yield rig


@pytest.fixture
def idle(bench: Bench) -> Bench:
    """The table between two rounds."""
    state = bench.client.state()
    if state["round"]:
        bench.do("void", supervised=True)
    elif state["holds"]:
        bench.do("release", supervised=True, action="resume")
    return bench


def stream(path: Path, timeout: float = 10.0) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(timeout)
    sock.connect(str(path))
    return sock


# --- forms ------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 5000, "not JSON"),
        (b"[]", "not a JSON object"),
        (b'"bets open"', "not a JSON object"),
        (b"{}", "id"),
        (b'{"id": "", "command": "open"}', "id"),
        (b'{"id": 1, "command": "open"}', "id"),
        (b'{"id": "a"}', "unknown command"),
        (b'{"id": "a", "command": "reboot"}', "unknown command"),
        (b'{"id": "a", "command": "card"}', "unknown command"),
        (b'{"id": "a", "command": null}', "unknown command"),
        (b'{"id": "a", "command": ["open"]}', "command"),
        (b'{"id": "a", "command": "open", "color": 1}', "unknown field 'color'"),
        (b'{"id": "a", "command": "open", "args": []}', None),
        (b'{"id": "a", "command": "open", "args": ["x"]}', "args"),
        (b'{"id": "a", "command": "open", "args": {"text": 1}}', "args"),
        (b'{"id": "a\\u0000", "command": "open"}', "id"),
        (b'{"id": "a", "command": "hold", "args": {"text": "\\u001b[2J"}}', "args"),
        (b'{"id": "a", "command": "hold", "args": {"text": "\\ud800"}}', "args"),
        (b'{"id": "a", "command": "open", "person": "x\\n"}', "person"),
        (json.dumps({"id": "a" * 513, "command": "open"}).encode(), "id"),
        (json.dumps({"id": "a", "command": "open", "args": {str(i): "" for i in range(9)}}).encode(), "args"),
    ],
)
def test_form_of_a_command_is_checked(body: bytes, says: str | None) -> None:
    if says is None:  # an empty list stands for no arguments
        assert parse_command(body)[1] is Kind.OPEN
        return
    with pytest.raises(BadRequest, match=says):
        parse_command(body)


@pytest.mark.parametrize(
    "given",
    [
        [],
        "1",
        {"shoe": 1, "hand": 2},
        {"version": "7"},
        {"version": True},
        {"version": 10**4000},
        {"version": 10**12 + 1},
    ],
)
def test_form_of_what_was_seen_is_checked(given: object) -> None:
    with pytest.raises(BadRequest, match="expect"):
        parse_expect(given)


def test_round_seen_is_named_with_its_shoe() -> None:
    with pytest.raises(BadRequest, match="shoe"):
        parse_expect({"round": 3})
    with pytest.raises(BadRequest, match="round"):
        parse_expect({"shoe": 12})
    with pytest.raises(BadRequest, match="round"):
        parse_expect({"shoe": 12, "version": 5})
    assert parse_expect({"shoe": 12, "round": 34, "version": 5}) == Expect("12/34", 5)
    assert parse_expect(None) == Expect()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1), ("500", 500), ("007", 7), ("0", None), ("501", None), ("0500999999", None), ("", None),
        ("9" * 5000, None), ("-1", None), ("1e2", None), ("٣", None), (" 1", None), ("²", None),
    ],
)  # fmt: skip
def test_numbers_in_addresses_are_bounded(text: str, number: int | None) -> None:
    assert parse_number(text, 1, 500) == number


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"id": "a"}',
        b'{"id": "a", "reason": " "}',
        b'{"id": "a", "reason": "system", "args": {}}',
        b'{"id": "a", "reason": "x"}',
    ],
)
def test_form_of_a_delivery_retry_is_checked(body: bytes) -> None:
    with pytest.raises(BadRequest):
        parse_order(body)


@pytest.mark.parametrize("event", [None, "1", 1.0, True, 0, -1, 10**12, [1], {}])
def test_form_of_an_order_that_names_an_event_is_checked(event: object) -> None:
    body = json.dumps({"id": "a", "reason": "system", "event": event}).encode()
    with pytest.raises(BadRequest, match="event: the number"):
        parse_order(body, with_event=True)
    with pytest.raises(BadRequest, match="unknown field 'event'"):
        parse_order(body)


def test_an_order_that_names_an_event_is_known_by_it() -> None:
    """What is asked under an id is the same only with the same event."""
    given = parse_order(b'{"id": "a", "reason": "system", "event": 12}', with_event=True)
    assert (given["event"], given["args"]) == (12, {"event": "12"})


def test_bad_requests_are_refused_and_change_nothing(idle: Bench) -> None:
    before = idle.client.state()
    for content in (b"", b"\x00" * 100, b'{"id": "x", "command": "nonsense"}', b"{" * 1000):
        status, answer = idle.raw(content)
        assert status == 400
        assert json.loads(answer)["error"]
    huge = json.dumps(idle.body("hold", args={"text": "x" * BODY})).encode()
    status, _ = idle.raw(huge)
    assert status in (400, 413)
    after = idle.client.state()
    assert (after["row"], after["phase"]) == (before["row"], before["phase"])


def test_unknown_rounds_and_addresses(idle: Bench) -> None:
    assert idle.client.get("/v1/rounds/99/1")[0] == 404
    assert idle.client.get("/v1/rounds?last=0")[0] == 400
    assert idle.client.get("/v1/rounds?last=x")[0] == 400
    assert idle.client.get("/v1/rounds?last=0500999999")[0] == 400
    with contextlib.closing(stream(idle.socket_path)) as sock:
        sock.sendall(b"GET /v2/nothing HTTP/1.1\r\nHost: x\r\n\r\n")
        assert sock.recv(100).startswith(b"HTTP/1.1 404")


def test_socket_is_open_to_its_group_only(bench: Bench) -> None:
    assert stat.S_IMODE(bench.socket_path.stat().st_mode) == 0o660


# --- who ------------------------------------------------------------


def test_wrong_pins_are_refused_journalled_and_slowed_down() -> None:
    with Bench("bee-tek", overrides=BARE) as idle:  # its own: names that nobody has are one to the gate
        idle.open_table(CARDS)
        version = {"version": idle.client.state()["version"]}
        supervised = {"reason": "training: test", "expect": version, "command": "shoe end"}
        assert idle.post({"id": "p0", **supervised})[0] == 403
        assert idle.post({"id": "p1", **supervised, "person": "mallory"})[0] == 403
        answers = [
            idle.post({"id": f"w{i}", **supervised, "person": "mallory", "pin": f"{i:04d}"}) for i in range(5)
        ]
        assert [status for status, _ in answers] == [403] * 5
        waits = [answer.get("retry_after") for _, answer in answers]
        assert waits[:3] == [None, None, None], "two slips are free, the third makes the next one wait"
        assert waits[3:] == [1, 1]
        # Who is locked out is the name that was tried, not everybody.
        assert idle.post(
            {"id": "ok", **supervised, "person": PIT_BOSS.name, "pin": PIT_BOSS.pin, "reason": ""}
        )[0] in (409, 400)
        assert idle.client.state()["shoe"] is not None
        attempts = [e for e in idle.journal_events() if e.TYPE == "pin.attempted"]
        assert [(e.person, e.good) for e in attempts[:3]] == [("mallory", False)] * 3  # type: ignore[attr-defined]
        refused = [
            e
            for e in idle.journal_events()
            if isinstance(e, CommandRecorded) and e.answer.startswith("shoe end re")
        ]
        why = [e.answer.removeprefix("shoe end refused: ") for e in refused]
        assert why[:2] == ["only a pit boss does this: give a name and PIN"] * 2
        assert why[2:5] == ["wrong name or PIN"] * 3
        assert why[5:-1] == ["too many wrong PINs; wait 1 s"], "the first one of a wait stands for the others"
        assert all((e.id, e.supervisor) == ("", False) for e in refused[:-1]), "the id is not spent"


def test_guesses_sent_side_by_side_are_slowed_down_too(idle: Bench) -> None:
    time.sleep(max(0.0, idle.post(idle.body("void", person="x", pin="0000"))[1].get("retry_after", 0)))
    answers: list[tuple[int, dict[str, Any]]] = []

    def guess(i: int) -> None:
        client = Client(idle.socket_path)
        body = idle.body("void", person="burst", pin=f"{i:04d}", reason="training")
        answers.append(client.post("/v1/commands", body))

    threads = [threading.Thread(target=guess, args=(i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [status for status, _ in answers] == [403] * 12
    tried = [answer for _, answer in answers if "retry_after" not in answer]
    assert len(tried) <= 3, "twelve guesses at once are not twelve tries"


def test_a_pin_is_in_no_journal_row(idle: Bench) -> None:
    idle.do("hold")
    idle.do("release", supervised=True, action="resume")
    for path in (idle.journal_path, idle.journal_path.with_name(idle.journal_path.name + "-wal")):
        content = path.read_bytes() if path.exists() else b""
        assert b'"pin"' not in content
        assert f'"{PIT_BOSS.pin}"'.encode() not in content


# --- commands ------------------------------------------------------------


def count(rig: Rig, name: str) -> int:
    return sum(event["type"] == f"tablectl.{name}.v1" for event in rig.public())


def test_same_id_gets_the_same_answer_and_happens_once(idle: Bench) -> None:
    before = count(idle, "table.held")
    body = idle.body("hold", args={"text": "look"})
    first = idle.post(body)
    assert first[0] == 200
    idle.do("release", supervised=True, action="resume")
    assert idle.post(body) == first
    assert idle.client.state()["holds"] == []
    assert count(idle, "table.held") == before + 1


def test_a_refused_command_stays_refused_under_its_id(idle: Bench) -> None:
    body = idle.body("turn")
    first = idle.post(body)
    assert first[0] == 409
    assert "refused" in first[1]["answer"]
    assert idle.post(body) == first


@pytest.mark.parametrize("stale", ["version", "round", "shoe"])
def test_command_for_what_is_not_so_any_more_is_refused(idle: Bench, stale: str) -> None:
    state = idle.client.state()
    shoe = state["shoe"]["number"]
    seen = {
        "version": {"version": state["version"] - 1},
        "round": {"shoe": shoe, "round": state["shoe"]["rounds"] + 7},
        "shoe": {"shoe": shoe + 1, "round": 1},
    }[stale]
    status, answer = idle.post(idle.body("bets open", expect=seen))
    assert status == 409
    assert "look again" in answer["answer"]
    assert idle.client.state()["phase"] == "idle"


@pytest.mark.parametrize("command", ["confirm", "void", "release"])
def test_commands_that_settle_carry_what_their_sender_saw(idle: Bench, command: str) -> None:
    idle.bets()
    if command != "confirm":
        idle.do("hold")
    person = {
        "person": PIT_BOSS.name,
        "pin": PIT_BOSS.pin,
        "reason": "training",
        "args": {"action": "resume"},
    }
    status, answer = idle.post(idle.body(command, **({} if command == "confirm" else person)))
    assert status == 409
    assert "what its sender saw" in answer["answer"] or "phase" in answer["answer"]
    assert idle.client.state()["round"] is not None


def test_answer_comes_after_the_commit(idle: Bench) -> None:
    for _ in range(10):
        status, answer = idle.post(idle.body("hold"))
        assert status == 200
        state = idle.client.state()
        assert state["version"] == answer["version"]
        assert [hold["code"] for hold in state["holds"]] == ["called"]
        idle.do("release", supervised=True, action="resume")


def test_one_id_is_one_command_over_the_interface_too(idle: Bench) -> None:
    body = idle.body("hold", args={"text": "look"})
    assert idle.post(body)[0] == 200
    idle.do("release", supervised=True, action="resume")
    status, answer = idle.post(body | {"command": "turn", "args": {}})
    assert status == 409
    assert "this id was used for another command" in answer["answer"]


def test_a_table_that_delivers_nothing_says_so(idle: Bench) -> None:
    """Who asks for it is checked and written down all the same."""
    status, found = idle.client.get("/v1/delivery")
    assert (status, found["url"], found["good"], found["owed"]) == (200, None, False, 0)
    assert (found["trouble"], found["halted"]) == (None, False)
    assert "no game server is configured" in found["why"]
    body = {"id": uuid.uuid4().hex, "person": PIT_BOSS.name, "pin": PIT_BOSS.pin, "reason": "system"}
    status, answer = idle.client.post("/v1/delivery/retry", body)
    assert status == 409
    assert "nothing is delivered" in answer["answer"]
    assert idle.client.post("/v1/delivery/retry", body) == (status, answer)
    assert idle.client.post("/v1/delivery/retry", body | {"pin": "0000", "id": "x"})[0] == 403
    assert idle.client.post("/v1/delivery/retry", {"id": "y", "reason": "system"})[0] == 403
    idle.post(idle.body("turn"))  # answered after its commit, and so after theirs
    recorded = [
        (e.id == body["id"], e.person, e.reason, e.accepted)
        for e in idle.journal_events()
        if isinstance(e, CommandRecorded) and e.command == "delivery retry"
    ]
    assert recorded == [
        (True, PIT_BOSS.name, "system", False),
        (False, PIT_BOSS.name, "system", False),
        (False, None, "system", False),
    ]


# --- races ------------------------------------------------------------


HANDS = ("2C 9D 3H KS", "2D 9S 3C KH", "2H 9C 3D KC", "2S 9H 3S KD")
"""Four-card hands; eight times each they are no impossible shoe."""


@pytest.mark.soak
@pytest.mark.timeout(1800 if SOAK else 60)
def test_of_confirm_and_void_at_once_exactly_one_wins() -> None:
    """The hand is complete and awaits its announcement; two people decide within the same millisecond."""
    rules = BARE | {"dealing": {"confirm": "dealer"}, "betting": {"seconds": 0.01}}
    with Bench("bee-tek", overrides=rules) as rig:
        rig.open_table(" ".join(HANDS * 8))
        wins = {"confirm": 0, "void": 0}
        lead = 0.06  # how much earlier (s) the void is sent: its PIN is looked at first
        last, step = "", 0.0
        for i in range(RACES):
            if rig.shoe.left == 0:
                rig.do("shoe end", supervised=True)
                rig.new_shoe(" ".join(HANDS * 8))
            rig.bets()
            rig.deal(4)
            answers = race(rig, rig.phase("complete"), lead)
            accepted = [name for name, (status, _) in answers.items() if status == 200]
            assert len(accepted) == 1, (i, answers)
            wins[accepted[0]] += 1
            # Stay where both have a chance, and go there fast: a busy machine looks long at a PIN.
            step, last = 2 * step if accepted[0] == last else 0.002, accepted[0]
            lead += step if last == "confirm" else -step
            assert rig.client.state()["round"] is None
        settled = [
            (event["data"]["shoe"], event["data"]["round"])
            for event in rig.public()
            if event["type"] in ("tablectl.round.resulted.v1", "tablectl.round.voided.v1")
        ]
        assert len(settled) == len(set(settled)) == RACES
        assert min(wins.values()) > 0, f"no race: {wins}"


def race(rig: Rig, state: dict[str, Any], lead: float) -> dict[str, tuple[int, dict[str, Any]]]:
    """Two clients, one moment: what each was answered."""
    expect = {"version": state["version"]}
    pit_boss = {"person": PIT_BOSS.name, "pin": PIT_BOSS.pin, "reason": "training: race"}
    bodies: dict[str, dict[str, Any]] = {"confirm": {}, "void": pit_boss}
    answers: dict[str, tuple[int, dict[str, Any]]] = {}
    barrier = threading.Barrier(2)

    def send(name: str) -> None:
        client = Client(rig.socket_path)
        client.state()
        body = {"id": uuid.uuid4().hex, "command": name, "expect": expect, **bodies[name]}
        barrier.wait()
        if name == "confirm":
            time.sleep(max(0.0, lead))
        answers[name] = client.post("/v1/commands", body)

    threads = [threading.Thread(target=send, args=(name,)) for name in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def connects(sock: socket.socket, path: str) -> bool:
    sock.setblocking(False)
    try:
        sock.connect(path)
    except BlockingIOError:
        return False
    sock.setblocking(True)
    return True


@pytest.mark.parametrize("asked", [b"GET /v1/state?newer=999999999 HTTP/1.1\r\nHost: t\r\n\r\n", b""])
def test_whoever_waits_keeps_no_hold_out(idle: Bench, asked: bytes) -> None:
    """256 of them took every place, and for seconds after they had hung up."""
    with contextlib.ExitStack() as held:
        for _ in range(300):
            sock = held.enter_context(socket.socket(socket.AF_UNIX))
            until(partial(connects, sock, str(idle.socket_path)), "there is a place in the line")
            sock.sendall(asked)
        assert idle.post(idle.body("hold"))[0] == 200
    until(lambda: idle.client.get("/v1/state")[0] == 200, "there is room for who asks")


# --- following ------------------------------------------------------------


class Follower:
    """Somebody who reads the event stream."""

    def __init__(self, rig: Rig, query: str = "", **headers: str) -> None:
        self._sock = stream(rig.socket_path)
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        self._sock.sendall(f"GET /v1/events{query} HTTP/1.0\r\nHost: x\r\n{lines}\r\n".encode())
        self._file = self._sock.makefile("rb")
        self.status = int(self._file.readline().split()[1])
        self.headers = list(iter(self._file.readline, b"\r\n"))

    def next(self) -> tuple[int, dict[str, Any]]:
        """The next event: its id and itself."""
        number = self._line(b"id: ")
        event = json.loads(self._line(b"data: "))
        assert self._file.readline() == b"\n"
        return int(number), event

    def _line(self, name: bytes) -> bytes:
        line = self._file.readline()
        assert line.startswith(name), line
        return line[len(name) :]

    def close(self) -> None:
        self._file.close()
        self._sock.close()


def test_who_follows_events_does_not_keep_the_socket_at_a_stop() -> None:
    with Bench("bee-tek", overrides=BARE) as rig:
        follower = Follower(rig)
        assert rig.runtime.stop()
        assert not rig.socket_path.exists()
        follower.close()


def test_events_are_followed_from_where_the_follower_left_off(idle: Bench) -> None:
    events = idle.public()
    head = len(events)
    for follower in (Follower(idle, f"?after={head - 3}"), Follower(idle, Last_Event_ID=str(head - 3))):
        assert follower.status == 200
        assert any(b"text/event-stream" in line for line in follower.headers)
        got = [follower.next() for _ in range(3)]
        assert got == [(event_number(event), event) for event in events[-3:]]
        follower.close()
    # A header tells more than the address that a browser repeats for ever.
    both = Follower(idle, "?after=0", Last_Event_ID=str(head - 1))
    assert both.next()[0] == head
    both.close()


def event_number(event: dict[str, Any]) -> int:
    return int(event["sequence"])


def test_follower_without_a_number_begins_now(idle: Bench) -> None:
    head = idle.client.state()["sequence"]
    follower = Follower(idle)
    idle.do("hold", text="now")
    number, event = follower.next()
    assert number == head + 1
    assert event["type"] == "tablectl.table.held.v1"
    follower.close()


def test_only_so_many_may_follow_and_a_place_that_is_left_is_free_at_once(
    idle: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablectl.api.app.MOST_STREAMS", 2)
    followers = [Follower(idle, "?after=0") for _ in range(2)]
    status, answer = idle.client.get("/v1/events")
    assert (status, answer) == (503, {"error": "too many clients follow events"})
    followers.pop().close()
    deadline = time.monotonic() + 5
    while (again := Follower(idle)).status == 503:
        again.close()
        assert time.monotonic() < deadline, "the place of a client that hung up stays taken"
    assert again.status == 200
    for follower in (*followers, again):
        follower.close()


@pytest.mark.parametrize("after", ["-1", "x", "1e3", "1" * 13, "%D9%A1"])
def test_numbers_to_follow_from_are_checked(idle: Bench, after: str) -> None:
    follower = Follower(idle, f"?after={after}")
    assert follower.status == 400
    follower.close()


def test_who_has_seen_more_than_there_is_has_seen_another_history_and_is_told(idle: Bench) -> None:
    """An older journal was put back: to wait until this one is as long is to miss all till then."""
    state = idle.client.state()
    head = state["sequence"]
    for query, header in ((f"?after={head + 1}", {}), ("", {"Last_Event_ID": "1000000"})):
        follower = Follower(idle, query, **header)
        assert follower.status == 409
        follower.close()
    status, answer = idle.client.get(f"/v1/events?after={head + 1}")
    assert (status, answer["sequence"], answer["epoch"]) == (409, head, state["epoch"])
    assert f"event {head + 1} is not there, the newest is {head}" in answer["error"]
    follower = Follower(idle, f"?after={head}")
    assert follower.status == 200, "all that is there was seen"
    follower.close()
    begun = time.monotonic()
    assert idle.client.state(newer=state["row"] + 1000)["row"] == state["row"]
    assert time.monotonic() - begun < 2, "whoever waits for a row of another history is told of this one"


def test_what_is_committed_and_not_published_yet_is_no_other_history(
    idle: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = idle.runtime.service.published
    head = published.state.sequence
    monkeypatch.setattr(published, "state", replace(published.state, sequence=head - 1))
    follower = Follower(idle, f"?after={head}")
    assert follower.status == 200
    follower.close()


def test_state_is_waited_for(idle: Bench) -> None:
    row = idle.client.state()["row"]
    got: list[dict[str, Any]] = []

    def wait() -> None:
        client = Client(idle.socket_path)
        got.append(client.state(newer=row))

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.1)
    assert not got, "nothing new yet"
    idle.do("hold")
    thread.join(15)
    assert got[0]["row"] > row
    # What is newer already is answered at once, and rubbish is no reason to wait.
    begun = time.monotonic()
    assert idle.client.state(newer=row)["row"] > row
    assert idle.client.get("/v1/state?newer=soon")[0] == 200
    assert time.monotonic() - begun < 5


def test_who_waits_for_the_state_is_told_what_is_new_beside_it(
    idle: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when it came while nobody waited: between an answer and the next question."""
    monkeypatch.setattr("tablectl.api.app.SEEN", 0.2)
    service = idle.runtime.service
    row = idle.client.state()["row"]

    def new() -> None:
        service.loop.call_soon_threadsafe(service.published.beside_is_new, now().boot)

    threading.Timer(0.05, new).start()
    begun = time.monotonic()
    assert idle.client.state(newer=row)["row"] == row
    assert idle.client.state(newer=row)["row"] == row
    assert time.monotonic() - begun < 2


def change_dealers(rig: Bench) -> None:
    """Two events, more than a kilobyte."""
    assert rig.post(rig.body("sign-out"))[0] == 200
    assert rig.post(rig.body("sign-in", args={"name": "D" * 500, "pickup": "left"}))[0] == 200


def cut_off(sock: socket.socket) -> bool:
    try:
        sock.sendall(b"\r\n")
    except OSError:
        return True
    return False


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_client_that_stops_reading_holds_up_nobody_and_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    stalled = 3.0  # who waits for a client that takes nothing waits so long; a busy machine does not
    monkeypatch.setattr("tablectl.api.app.STALLED", stalled)
    with Bench("bee-tek", overrides=BARE) as rig:
        rig.open_table(CARDS)
        for _ in range(300):  # more than the buffers of a socket take
            change_dealers(rig)
        assert sum(len(json.dumps(event)) for event in rig.public()) > 250_000

        deaf = [stream(rig.socket_path) for _ in range(5)]
        for sock in deaf:
            sock.sendall(b"GET /v1/events?after=0 HTTP/1.1\r\nHost: x\r\n\r\n")
        slowest = 0.0
        for _ in range(5_000 if SOAK else 150):
            begun = time.monotonic()
            change_dealers(rig)
            slowest = max(slowest, time.monotonic() - begun)
        assert slowest < stalled
        wal = rig.journal_path.with_name(rig.journal_path.name + "-wal")
        assert not wal.exists() or wal.stat().st_size < 16 << 20
        for sock in deaf:
            until(partial(cut_off, sock), "it is cut off")
            sock.close()


def test_rounds_are_shown_card_by_card(idle: Bench) -> None:
    out = idle.client.state()["shoe"]["out"]
    idle.bets()
    idle.deal(4)
    idle.finish()
    status, body = idle.client.get("/v1/rounds?last=1")
    (latest,) = body["rounds"]
    assert status == 200
    assert [card["position"] for card in latest["cards"]] == ["P1", "B1", "P2", "B2"]
    assert all(card["raw"] and card["time"] for card in latest["cards"])
    assert latest["result"]["outcome"] in ("player", "banker", "tie")
    where = f"/v1/rounds/{latest['shoe']}/{latest['round']}"
    assert idle.client.get(where) == (200, latest)
    assert idle.client.state()["shoe"]["out"] == out + 4


def test_a_kept_card_is_shown_by_its_face_only_where_it_was_laid() -> None:
    with Bench("bee-tek", overrides=BARE) as rig:
        rig.open_table("AS AH 2C 9D 3H KS QD 5C")
        for way, face in (("burn", "AS"), ("accept", "AH")):
            rig.bets()
            rig.do("hold", text="wait")
            rig.shoe.draw()
            state = rig.wait(lambda s: s["kept"], "the card is kept")
            assert state["kept"] == ["?"]
            where = "/v1/rounds/" + state["where"]
            assert face not in json.dumps([state, rig.client.get(where)])
            rig.do("release", supervised=True, action=way)
            shown = json.dumps(rig.client.get(where)[1]["kept"])
            assert (face in shown) == (way == "accept")
            if way == "burn":
                rig.do("hold")
                rig.do("void", supervised=True)
        rig.do("hold")
        rig.do("shoe end", supervised=True)
        assert "AS" in json.dumps(rig.client.get("/v1/rounds/1/1")), "after the shoe everything may be known"


def test_burn_faces_are_not_shown() -> None:
    """Not in the state, not in the rounds, not in the stream: burn cards are face down."""
    with Bench("bee-tek", overrides=BARE | {"burn": {"by": "count", "after_shuffle": 2}}) as rig:
        rig.open_table("AS AH 2C 9D 3H KS")
        for _ in range(2):
            rig.shoe.draw(burn=True)
        rig.phase("idle")
        shown = json.dumps([rig.client.state(), rig.public()])
        assert "AS" not in shown
        assert "AH" not in shown
        rig.shoe.draw()  # one too many, perhaps a burn card: its face stays hidden as well
        state = rig.wait(lambda s: s["holds"], "the hold")
        assert state["kept"] == ["?"]
        assert "2C" not in json.dumps([state, rig.public()])


# --- trying the beepers -----------------------------------------------------------------------------------


def test_a_signal_is_tried_without_a_pin_and_without_a_row(idle: Bench) -> None:
    row = idle.client.state()["row"]
    status, told = idle.client.post("/v1/signal", {"pattern": "hold"})
    assert (status, told) == (200, {"pattern": "hold", "beepers": {"null": ""}})
    assert idle.client.state()["row"] == row


def test_words_to_the_dealer_go_once_the_table_has_gone_on(
    idle: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = idle.runtime.service.published
    version = published.state.version
    monkeypatch.setattr(published, "said", Said())
    published.said.add(("of before",), version - 1, 0)
    published.said.add(("still true",), version, 0)
    assert idle.client.state()["say"] == ["still true"]


def test_no_signal_is_tried_while_betting_is_open(idle: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    published = idle.runtime.service.published
    monkeypatch.setattr(published, "state", replace(published.state, phase=Phase.BETTING))
    status, told = idle.client.post("/v1/signal", {"pattern": "close"})
    assert status == 409 and "no more bets" in told["error"]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"pattern": "fanfare"}', b'{"pattern": []}', b'{"pattern": "pip", "x": 1}']
)
def test_the_form_of_a_signal_is_checked(idle: Bench, body: bytes) -> None:
    status, told = idle.raw(body, "/v1/signal")
    assert status == 400 and b"error" in told
