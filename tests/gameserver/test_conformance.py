"""The conformance kit: the reference passes, and each of many servers with one fault fails its check."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tablectl.cli import main
from tablectl.conformance import EVERY_CHECK, Finding, Kit, run, window
from tablectl.conformance.kit import Got
from tablectl.conformance.settling import SETTLING_CHECKS
from tablectl.conformance.story import STORY_CHECKS, two_shoes
from tablectl.delivery.signing import SignatureRefused, verify
from tablectl.events import PUBLIC_TYPES, EventParked, HistorySkipped
from tablectl.gameserver import betting as betting_module
from tablectl.gameserver.betting import Window
from tablectl.gameserver.intake import Intake, Reply
from tablectl.gameserver.messages import read
from tablectl.gameserver.server import GameServer
from tablectl.gameserver.store import Store
from tests.cli.fake_daemon import tablectl
from tests.gameserver.exact_faults import EXACT
from tests.gameserver.lawful_faults import LAWFUL
from tests.gameserver.posting import OTHER_SECRET, SECRET

SILENCE = 0.5
INTAKE = "tablectl.gameserver.intake"
Take = Callable[[str, str, Mapping[str, str], bytes], Reply]


LAWFUL_KIND = {"other-bytes", "same-json", *(check.name for check in (*SETTLING_CHECKS, *STORY_CHECKS))}


def this_and_other_kinds(name: str) -> Callable[[str], bool]:
    """What is tried with a fault that ``name`` must find: for speed little of what is lawful."""
    return lambda one: one == name or not (one.startswith("window") or one in LAWFUL_KIND)


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[GameServer]:
    """The reference game server in a thread of its own."""
    loop = asyncio.new_event_loop()
    server = GameServer(folder / "server.db", [SECRET], accept_test=True, silence=SILENCE)
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
    yield server
    asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)
    loop.close()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GameServer]:
    monkeypatch.setattr(window, "LATE", 0.08)
    monkeypatch.setattr("tablectl.gameserver.app.REQUEST_BYTES", 32 << 20)
    with serving(tmp_path) as made:
        yield made


def kit(server: GameServer, *, betting: bool = True) -> Kit:
    betting_url = f"{server.url}/v1/tables/{{table}}/betting" if betting else None
    return Kit(server.events_url, [SECRET], "CONF-1", betting_url, silence=SILENCE)


def failed(found: list[Finding]) -> set[str]:
    return {one.name for one in found if one.grade == "FAIL"}


def test_the_reference_passes_every_check_also_a_second_time(
    server: GameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "LATE", 0.3)  # a busy machine is no fault of the server
    one = kit(server)
    found = list(run(one))
    assert [(f.name, f.grade) for f in found] == [(check.name, "ok") for check in EVERY_CHECK], found
    assert not failed(list(run(one, lambda name: not name.startswith("window"))))
    assert len({check.name for check in EVERY_CHECK}) == len(EVERY_CHECK) == 53
    one.hang_up()


# --- servers with one fault each -------------------------------------------------------------------------


def answers(status: int, **payload: Any) -> Reply:
    return Reply(status, payload)


class Faults:
    """Each wraps the reference's own intake and spoils one thing."""

    @staticmethod
    def no_next(take: Take) -> Take:
        return lambda *request: answers(200, ok=True)

    @staticmethod
    def next_as_text(take: Take) -> Take:
        def spoiled(*request: Any) -> Reply:
            reply = take(*request)
            return answers(reply.status, **reply.payload | {"next": str(reply.payload.get("next"))})

        return spoiled

    @staticmethod
    def one_by_one(take: Take) -> Take:
        return lambda t, k, h, b: answers(413) if b.startswith(b"[{") else take(t, k, h, b)

    @staticmethod
    def batches_only(take: Take) -> Take:
        return lambda t, k, h, b: answers(415) if b.startswith(b"{") else take(t, k, h, b)

    @staticmethod
    def new_ones_only(take: Take) -> Take:
        """A batch with a known event in it is refused."""
        seen: set[bytes] = set()

        def spoiled(t: str, k: str, h: Mapping[str, str], b: bytes) -> Reply:
            ids = set(re.findall(rb'"id":"([^"]+)"', b))
            if len(ids) == 4 and ids & seen:
                return answers(409)
            seen.update(ids)
            return take(t, k, h, b)

        return spoiled

    @staticmethod
    def trims(take: Take) -> Take:
        return lambda t, k, h, b: take(t, k, h, b.strip())

    @staticmethod
    def any_message_id(take: Take) -> Take:
        def spoiled(t: str, k: str, h: Mapping[str, str], b: bytes) -> Reply:
            reply = take(t, k, h, b)
            return (
                answers(200, next=1)
                if "no signature fits" in reply.payload.get("error", "")
                and (b.startswith(b"{") and h["webhook-id"].encode() not in b)
                else reply
            )

        return spoiled

    @staticmethod
    def large_is_503(take: Take) -> Take:
        return lambda t, k, h, b: answers(503) if len(b) > 1 << 20 else take(t, k, h, b)

    @staticmethod
    def small_batches(take: Take) -> Take:
        return lambda t, k, h, b: answers(413) if b.count(b'"specversion"') > 50 else take(t, k, h, b)

    @staticmethod
    def duplicates_are_errors(take: Take) -> Take:
        seen: set[bytes] = set()

        def spoiled(t: str, k: str, h: Mapping[str, str], b: bytes) -> Reply:
            if b != b"[]" and b in seen:
                return answers(409, error="duplicate")
            seen.add(b)
            return take(t, k, h, b)

        return spoiled

    @staticmethod
    def slow_twins(take: Take) -> Take:
        """Twenty events at once: whoever comes second is told that it is a conflict."""
        seen: set[bytes] = set()

        def spoiled(t: str, k: str, h: Mapping[str, str], b: bytes) -> Reply:
            if b.count(b'"specversion"') == 20:
                if b in seen:
                    return answers(500 - 77, error="locked")
                seen.add(b)
            return take(t, k, h, b)

        return spoiled

    @staticmethod
    def skips_ahead(take: Take) -> Take:
        """A gap is taken."""

        def spoiled(t: str, k: str, h: Mapping[str, str], b: bytes) -> Reply:
            reply = take(t, k, h, b)
            return answers(200, next=reply.payload["next"] + 1) if reply.status == 409 else reply

        return spoiled

    @staticmethod
    def other_bytes_409(take: Take) -> Take:
        def spoiled(*request: Any) -> Reply:
            reply = take(*request)
            return answers(409) if "other content" in reply.payload.get("error", "") else reply

        return spoiled

    @staticmethod
    def unreadable_is_500(take: Take) -> Take:
        def spoiled(*request: Any) -> Reply:
            reply = take(*request)
            return answers(500) if reply.status == 400 else reply

        return spoiled

    @staticmethod
    def epochs_are_409(take: Take) -> Take:
        def spoiled(*request: Any) -> Reply:
            reply = take(*request)
            return answers(409) if "pinned" in reply.payload.get("error", "") else reply

        return spoiled

    @staticmethod
    def any_content_type(take: Take) -> Take:
        return lambda t, k, h, b: take(t, "application/cloudevents+json" if "plain" in k else k, h, b)

    @staticmethod
    def knows_types(take: Take) -> Take:
        return lambda t, k, h, b: answers(422) if b"sneezed" in b else take(t, k, h, b)

    @staticmethod
    def strict_fields(take: Take) -> Take:
        return lambda t, k, h, b: answers(422) if b'"mood"' in b else take(t, k, h, b)

    @staticmethod
    def no_amendments(take: Take) -> Take:
        return lambda t, k, h, b: answers(422) if b"round.amended.v1" in b else take(t, k, h, b)

    @staticmethod
    def no_parking(take: Take) -> Take:
        return lambda t, k, h, b: answers(400) if b'-p"' in b else take(t, k, h, b)

    @staticmethod
    def first_signature_only(take: Take) -> Take:
        def spoiled(t: str, k: str, h: Mapping[str, str], b: bytes) -> Reply:
            one = {n: v.split(" ")[0] if n.lower() == "webhook-signature" else v for n, v in h.items()}
            return take(t, k, one, b)

        return spoiled

    @staticmethod
    def forbidden_not_unauthorized(take: Take) -> Take:
        def spoiled(*request: Any) -> Reply:
            reply = take(*request)
            return answers(403) if "no signature fits" in reply.payload.get("error", "") else reply

        return spoiled


FOUND_BY = {
    "no_next": {"probe"},
    "next_as_text": {"probe"},
    "one_by_one": {"batch"},
    "batches_only": {"single"},
    "new_ones_only": {"overlap"},
    "trims": {"changed"},
    "any_message_id": {"changed"},
    "large_is_503": {"oversized"},
    "small_batches": {"full-batch"},
    "duplicates_are_errors": {"replay"},
    "slow_twins": {"at-once"},
    "skips_ahead": {"gap"},
    "other_bytes_409": {"other-bytes"},
    "unreadable_is_500": {"bad-form"},
    "epochs_are_409": {"other-epoch"},
    "any_content_type": {"content-type"},
    "knows_types": {"unknown"},
    "strict_fields": {"unknown"},
    "no_amendments": {"results"},
    "no_parking": {"parked"},
    "first_signature_only": {"rotation"},
    "forbidden_not_unauthorized": {"bad-signature"},
}


@pytest.mark.parametrize("fault", FOUND_BY)
def test_a_fault_of_the_answers_is_found_by_its_check(
    server: GameServer, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    real = Intake.take
    spoil = getattr(Faults, fault)
    spoiled: dict[int, Take] = {}

    def take(self: Intake, *request: Any) -> Reply:
        one = spoiled.setdefault(id(self), spoil(lambda *given: real(self, *given)))
        return one(*request)

    monkeypatch.setattr(Intake, "take", take)
    (name,) = FOUND_BY[fault]
    found = run(kit(server, betting=False), this_and_other_kinds(name))
    first = next(one for one in found if one.grade == "FAIL")
    assert first.name == name, "its own check is the first that fails"
    assert first.sent and first.expected and first.got


def spoil_inside(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """Faults inside the reference itself."""
    match fault:
        case "any signature":
            monkeypatch.setattr(f"{INTAKE}.verify", lambda keys, headers, *_: headers["webhook-id"])
        case "headers may be missing":

            def lax(keys: Any, headers: Mapping[str, str], body: bytes, now: float) -> str:
                try:
                    return verify(keys, headers, body, now)
                except SignatureRefused as refused:
                    if "is missing" in str(refused):
                        return "x"
                    raise

            monkeypatch.setattr(f"{INTAKE}._check_name", lambda *_: None)
            monkeypatch.setattr(f"{INTAKE}.verify", lax)
        case "no clock" | "a strict clock":
            seconds = 10**9 if fault == "no clock" else 60
            monkeypatch.setattr(f"{INTAKE}.verify", lambda *given: verify(*given, window=seconds))
        case "any epoch":
            monkeypatch.setattr(Intake, "_other_history", lambda *_: None)
        case "any table":
            monkeypatch.setattr(Intake, "_check_sender", lambda *_: None)
        case "a skip is one event":
            monkeypatch.setattr(f"{INTAKE}._goes_on", lambda message: message.sequence + 1)
        case "the last of a batch counts":
            monkeypatch.setattr("tablectl.gameserver.messages.pairwise", lambda _: ())
            monkeypatch.setattr(f"{INTAKE}._check_name", lambda *_: None)
            monkeypatch.setattr(
                f"{INTAKE}.read",
                lambda body, *, batch: sorted(read(body, batch=batch), key=lambda m: m.sequence),
            )
        case "deaf to the table":
            monkeypatch.setattr("tablectl.gameserver.betting._OF_ITS_ROUND", frozenset())
        case "no seconds" | "no closes_at" | "no silence":
            real_at = Window.at
            never = {
                "no seconds": {"until": 1e18},
                "no closes_at": {"closes_at": 1e18},
                "no silence": {"heard": 1e18},
            }[fault]

            def at(self: Window, monotonic: float, wall: float, silence: float) -> Window:
                found = real_at(replace(self, **never), monotonic, wall, silence)  # type: ignore[arg-type]
                return replace(self, why=found.why)

            monkeypatch.setattr(Window, "at", at)
        case "anybody's word":
            real_take = Intake.take

            def heard(self: Intake, table: str, *request: Any) -> Reply:
                self._windows.heard(table, self._monotonic(), self._clock() / 1e9)
                return real_take(self, table, *request)

            monkeypatch.setattr(Intake, "take", heard)
        case "late ones open":
            real_opened: Callable[..., Window] = betting_module._opened

            def opened(epoch: str, data: dict[str, Any], monotonic: float) -> Window:
                made = real_opened(epoch, data, monotonic)
                return replace(made, closes_at=1e18) if made.closes_at < time.time() else made

            monkeypatch.setattr(betting_module, "_opened", opened)
        case "a replay opens":
            real_settle = Intake._keep

            def keep(self: Intake, table: str, messages: Any, now: int, monotonic: float) -> Reply:
                reply = real_settle(self, table, messages, now, monotonic)
                for message in messages:
                    self._windows.took(message, monotonic, now / 1e9)
                return reply

            monkeypatch.setattr(Intake, "_keep", keep)


INSIDE = [
    ("any signature", "bad-signature"),
    ("headers may be missing", "no-signature"),
    ("late ones open", "window-late"),
    ("no clock", "clock"),
    ("a strict clock", "clock"),
    ("any epoch", "other-epoch"),
    ("any table", "other-table"),
    ("a skip is one event", "skipped"),
    ("the last of a batch counts", "order"),
    ("deaf to the table", "window-word"),
    ("no seconds", "window-seconds"),
    ("no closes_at", "window-closes-at"),
    ("no silence", "window-silence"),
    ("anybody's word", "window-silence"),
    ("a replay opens", "window-replay"),
]


def test_every_check_finds_a_fault_of_its_own() -> None:
    found = {name for names in FOUND_BY.values() for name in names} | {name for _, name in INSIDE}
    found |= {name for name, _ in EXACT.values()} | {names[0] for names, _ in LAWFUL.values()}
    assert found == {check.name for check in EVERY_CHECK}


class Direct(Kit):
    """The kit's requests to a server's intake, without a line between them; for speed."""

    intake: Intake

    def exchange(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Got:
        reply = self.intake.take(self.table, headers["Content-Type"], headers, body or b"")
        return Got(reply.status, reply.payload.get("next"), json.dumps(reply.payload))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = Store(tmp_path_factory.mktemp("shared") / "server.db")
    made.sql("PRAGMA synchronous=OFF")
    yield made
    made.close()


@pytest.mark.parametrize("fault", LAWFUL)
def test_what_is_refused_that_a_lawful_table_sends_is_found_by_its_check_and_no_other(
    store: Store, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    names, spoil = LAWFUL[fault]
    spoil(monkeypatch)
    one = Direct("", [SECRET], f"C{list(LAWFUL).index(fault)}")
    one.intake = Intake(store, [SECRET], accept_test=True)
    found = list(run(one, LAWFUL_KIND.__contains__))
    assert failed(found) == {*names}
    first = next(finding for finding in found if finding.grade == "FAIL")
    assert first.name == names[0]
    assert first.sent and first.expected and first.got


def test_every_public_type_is_tried() -> None:
    told = {event.TYPE for event in two_shoes(Kit("http://127.0.0.1:1/{table}", [SECRET], "CONF-1"))}
    assert told | {EventParked.TYPE, HistorySkipped.TYPE} == set(PUBLIC_TYPES), "a new one belongs there"


@pytest.mark.parametrize("fault", EXACT)
def test_what_is_taken_that_must_not_be_is_found_by_its_check(
    server: GameServer, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    name, spoil = EXACT[fault]
    spoil(monkeypatch)
    found = run(kit(server, betting=False), lambda one: one == name)
    first = next(one for one in found if one.grade == "FAIL")
    assert first.name == name, first
    assert first.sent and first.expected and first.got


@pytest.mark.parametrize(("fault", "name"), INSIDE)
def test_a_fault_inside_is_found_by_its_check(
    server: GameServer, monkeypatch: pytest.MonkeyPatch, fault: str, name: str
) -> None:
    spoil_inside(monkeypatch, fault)
    windows = name.startswith("window")
    found = run(kit(server), name.__eq__ if windows else this_and_other_kinds(name))
    assert next(one.name for one in found if one.grade == "FAIL") == name


def test_a_server_that_is_not_there_or_mute_is_said(tmp_path: Path) -> None:
    found = list(run(Kit("http://127.0.0.1:1/{table}", [SECRET], "CONF-1")))
    assert [(one.name, one.grade) for one in found] == [("probe", "FAIL")]
    assert "no answer" in found[0].got


# --- the command -----------------------------------------------------------------------------------------


def test_the_command_prints_a_line_a_check_and_its_exit_code_tells(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "other").write_text(OTHER_SECRET)
    with serving(tmp_path) as server:
        options = ["--secret-file", str(tmp_path / "secret"), server.events_url]
        done = tablectl("conformance", *options)
        assert (done.returncode, done.stderr) == (0, "")
        lines = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
        assert len(lines) == len(EVERY_CHECK)
        assert [line.split()[0] for line in lines].count("skip") == 6
        done = tablectl("conformance", "--json", "--only", "gap", *options)
        answer = json.loads(done.stdout)
        assert (answer["ok"], [c["name"] for c in answer["checks"]]) == (True, ["probe", "gap"])
        bad = tablectl("conformance", "--secret-file", str(tmp_path / "other"), server.events_url)
        assert bad.returncode == 1
        assert "FAIL  probe" in bad.stdout
        assert "      got: 401" in bad.stdout
        assert "1 of 1 checks failed" in bad.stderr
    assert tablectl("conformance", "--secret-file", str(tmp_path / "secret"), "ftp://x/").returncode == 2
    assert tablectl("conformance", "--only", "x", *options).returncode == 2


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        ((), 2, "--secret-file"),
        (("--secret-file", "/nowhere"), 1, "/nowhere: cannot be read"),
        (("--secret-file", "{secret}", "--only", "x"), 2, "no check x"),
    ],
)
def test_what_cannot_be_tried_is_told_to_programs_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    given: tuple[str, ...], code: int, says: str,
) -> None:  # fmt: skip
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    (tmp_path / "secret").write_text(SECRET)
    options = [text.format(secret=tmp_path / "secret") for text in given]
    url = "http://127.0.0.1:1/{table}"
    assert main(["conformance", "--json", *options, url]) == code
    said = capsys.readouterr()
    assert says in said.err
    answer = json.loads(said.out)
    assert (answer["ok"], answer["checks"]) == (False, [])
    assert says in answer["refused"]
    assert main(["conformance", *options, url]) == code
    assert capsys.readouterr().out == ""
    assert main(["conformance", "--json", *options, "http://bo:hunter2@127.0.0.1:1/x"]) == 2
    assert "hunter2" not in "".join(capsys.readouterr())
