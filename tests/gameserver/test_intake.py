"""Taking events: once, in order, from the right sender and the right history, or refused in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tablectl.clock import iso
from tablectl.delivery.signing import parse_secret, sign
from tablectl.events import BettingOpened, EventParked, HistorySkipped, public_data
from tablectl.gameserver.intake import Intake, Reply
from tablectl.gameserver.store import Store
from tests.gameserver.posting import (
    EPOCH,
    NOW,
    OTHER_SECRET,
    SECRET,
    VOIDED,
    Request,
    amended,
    body,
    resulted,
)


class Server:
    """An intake over a real database, its clock in the test's hand."""

    def __init__(self, path: Path, *, accept_test: bool = False) -> None:
        self.store = Store(path)
        self.now = NOW
        self.intake = Intake(self.store, [SECRET], accept_test=accept_test, clock=lambda: self.now * 10**9)

    def post(self, *bodies: bytes, table: str = "T07", kind: str = "", **options: Any) -> Reply:
        request = Request(list(bodies), **options)
        content_type = kind or request.headers["Content-Type"]
        return self.intake.take(table, content_type, request.headers, request.content)

    def sequences(self) -> list[int]:
        return [taken.sequence for taken in self.store.events("T07")]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "server.db")
    yield made
    made.store.close()


def test_events_are_taken_in_order_byte_for_byte(server: Server) -> None:
    assert server.post(body(1), single=True) == Reply(200, {"next": 2})
    assert server.post(body(2), body(3), body(4)) == Reply(200, {"next": 5})
    assert [taken.body for taken in server.store.events("T07")] == [body(n) for n in range(1, 5)]


def test_replays_change_nothing_and_say_what_is_next(server: Server) -> None:
    server.post(body(1, resulted(1)), body(2), body(3))
    assert server.post(body(1, resulted(1)), single=True) == Reply(200, {"next": 4})
    assert server.post(body(2), body(3)) == Reply(200, {"next": 4})
    assert server.post(body(3), body(4)) == Reply(200, {"next": 5})
    assert server.sequences() == [1, 2, 3, 4]
    assert len(server.store.rounds("T07", EPOCH, limit=9)) == 1


def test_a_gap_is_told_and_nothing_behind_it_is_taken(server: Server) -> None:
    assert server.post(body(2), single=True).status == 409
    assert server.store.held("T07") is None
    server.post(body(1), single=True)
    reply = server.post(body(3), body(4))
    assert (reply.status, reply.payload["next"]) == (409, 2)
    assert server.sequences() == [1]


def test_other_bytes_under_a_sequence_are_refused_and_the_whole_request_with_them(server: Server) -> None:
    server.post(body(1), body(2))
    changed = body(2).replace(b"table.closed", b"table.opened")
    reply = server.post(changed, body(3))
    assert reply.status == 422
    assert "event 2 is held here with other content" in reply.payload["error"]
    assert server.sequences() == [1, 2]
    assert server.post(body(1), changed, body(3)).status == 422
    assert server.post(body(3), single=True) == Reply(200, {"next": 4})
    bad = body(5, resulted(1)).replace(b'"total":9', b'"total":8')
    assert server.post(body(4, resulted(9)), bad).status == 422
    assert server.sequences() == [1, 2, 3]
    assert server.store.rounds("T07", EPOCH, limit=9) == []


def test_the_probe_asks_what_is_next_and_pins_nothing(server: Server) -> None:
    assert server.post() == Reply(200, {"next": 1})
    assert server.store.tables() == []
    server.post(body(1), body(2))
    assert server.post() == Reply(200, {"next": 3})


def test_a_question_that_names_no_history_pins_nothing_and_leaves_none_to_accept(server: Server) -> None:
    """Over NATS, as over HTTP: `tablectl check` on a PC that has no journal yet."""
    for epoch in ("", "None", "00000", "0000000", "00000g", "4F2A91"):
        assert server.intake.wanted("T07", epoch) == Reply(200, {"next": 1})
    assert server.store.tables() == [] and server.store.refused_epochs("T07") == []
    server.post(body(1))
    assert server.intake.wanted("T07", "") == Reply(200, {"next": 2})
    assert server.store.refused_epochs("T07") == []
    with pytest.raises(LookupError, match="no history 000000"):
        server.store.accept_epoch("T07", "000000")


def test_another_history_is_refused_until_a_person_accepts_it(server: Server) -> None:
    server.post(body(1), body(2))
    for request in ([body(3, epoch="bbbbbb")], []):
        reply = server.post(*request, epoch="bbbbbb")
        assert reply.status == 403
        assert "pinned to history 4f2a91; this is bbbbbb" in reply.payload["error"]
    assert server.store.refused_epochs("T07") == ["bbbbbb"]
    with pytest.raises(LookupError, match="no history cccccc"):
        server.store.accept_epoch("T07", "cccccc")
    assert server.store.accept_epoch("T07", "bbbbbb").next == 1
    assert server.post(epoch="bbbbbb") == Reply(200, {"next": 1})
    assert server.post(body(1, epoch="bbbbbb"), single=True) == Reply(200, {"next": 2})
    assert server.post(body(3)).status == 403
    assert server.store.accept_epoch("T07", EPOCH).next == 3
    assert server.post(body(3), single=True) == Reply(200, {"next": 4})


def test_a_history_accepted_between_question_and_answer_is_refused_no_more(server: Server) -> None:
    """Another process accepts it while this one answers that it does not know it."""
    server.store.refuse_epoch("T07", "bbbbbb")
    refuse = server.store.refuse_epoch

    def too_late(table: str, epoch: str) -> None:
        server.store.accept_epoch(table, epoch)
        refuse(table, epoch)

    server.store.refuse_epoch = too_late  # type: ignore[method-assign]
    server.intake.wanted("T07", "bbbbbb")
    assert server.store.refused_epochs("T07") == []


def test_a_history_that_was_held_before_goes_on_where_it_was(server: Server) -> None:
    """The old PC comes back after another one dealt: a person accepts it again, before it has called."""
    first = [body(1, resulted(1)), body(2), skip(3, 9)]
    server.post(*first[:2])
    server.post(first[2])
    server.post(epoch="bbbbbb")
    server.store.accept_epoch("T07", "bbbbbb")
    server.post(body(1, resulted(1), epoch="bbbbbb"), epoch="bbbbbb")
    assert server.store.refused_epochs("T07") == [EPOCH], "a person sees that it may be accepted"
    assert server.store.accept_epoch("T07", EPOCH).next == 10
    for bodies in (first[:2], first[1:2], first[2:]):
        assert server.post(*bodies) == Reply(200, {"next": 10}), "a duplicate as before"
    assert server.post(body(2).replace(b"table.closed", b"table.opened")).status == 422
    assert server.post(body(10)) == Reply(200, {"next": 11})
    assert [record.event for record in server.store.rounds("T07", EPOCH, limit=9)] == [
        "T07-4f2a91-000000000001"
    ]
    assert server.post(body(2, epoch="bbbbbb")).status == 403
    assert server.store.accept_epoch("T07", "bbbbbb").next == 2
    with pytest.raises(LookupError):
        server.store.accept_epoch("T07", "cccccc")


def test_a_refused_event_of_a_table_not_known_yet_pins_nothing(server: Server) -> None:
    for request, status in (
        ([body(5, epoch="bbbbbb")], 409),
        ([body(1, resulted(7), epoch="bbbbbb").replace(b'"total":9', b'"total":8')], 422),
        ([body(1, epoch="bbbbbb", test=True)], 403),
        ([], 200),
    ):
        assert server.post(*request, epoch="bbbbbb").status == status
    assert server.post(body(1)) == Reply(200, {"next": 2}), "the first event taken pins"
    assert server.post(epoch="bbbbbb").status == 403


@pytest.mark.parametrize(
    ("bodies", "named"),
    [
        ([body(1)], "T07-4f2a91-000000000002"),
        ([body(1)], "T07-4f2a91-000000000001_T07-4f2a91-000000000001"),
        ([body(1)], "T07-4f2a91-probe"),
        ([body(1)], "T07-bbbbbb-000000000001"),
        ([body(1), body(2), body(3)], "T07-4f2a91-000000000001_T07-4f2a91-000000000002"),
        ([body(1), body(2)], "T07-4f2a91-000000000001"),
    ],
)
def test_a_request_is_signed_under_the_name_of_what_it_holds(
    server: Server, bodies: list[bytes], named: str
) -> None:
    reply = server.post(*bodies, named=named)
    assert reply.status == 400
    assert "webhook-id is T07-4f2a91-000000000001" in reply.payload["error"]
    assert server.store.tables() == []


def test_a_probe_of_another_sender_that_names_no_history_is_answered(server: Server) -> None:
    server.post(body(1))
    request = Request([])
    headers = sign([parse_secret(SECRET)], "msg_1", NOW, b"[]")
    assert server.intake.take("T07", request.headers["Content-Type"], headers, b"[]").payload == {"next": 2}


def test_test_tables_are_refused_unless_told_otherwise(tmp_path: Path, server: Server) -> None:
    reply = server.post(body(1, test=True), single=True)
    assert reply.status == 403
    assert "--accept-test" in reply.payload["error"]
    other = Server(tmp_path / "other.db", accept_test=True)
    assert other.post(body(1, test=True), single=True).status == 200
    other.store.close()


def test_another_tables_events_are_refused(server: Server) -> None:
    assert server.post(body(1), table="T08").status == 403
    assert server.post(table="T08").status == 403
    assert server.store.tables() == []


def test_the_sender_must_hold_the_secret_and_a_clock(server: Server) -> None:
    assert server.post(body(1), secret=OTHER_SECRET).status == 401
    server.now = NOW + 301
    reply = server.post(body(1))
    assert reply.status == 401
    assert "301 s behind" in reply.payload["error"]
    server.now = NOW - 301
    assert "301 s ahead" in server.post(body(1)).payload["error"]
    request = Request([body(1)])
    assert server.intake.take("T07", "x", request.headers, request.content + b" ").status == 401
    assert server.intake.take("T07", "x", {}, b"[]").status == 401
    assert server.store.tables() == []


def test_a_content_type_nobody_agreed_on_is_refused(server: Server) -> None:
    assert server.post(body(1), kind="application/json").status == 415
    assert server.post(body(1), kind="Application/CloudEvents-Batch+json; charset=utf-8").status == 200


def changed(**fields: object) -> bytes:
    return json.dumps({**json.loads(body(1)), **fields}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]x",
        b'"x"',
        b"{} {}",
        b"\xff",
        b'{"id": NaN}',
        b"[" * 100_000,
        b"{}",
        body(1)[:-1],
        body(1) + b"x",
        changed(specversion="0.3"),
        changed(id="T07-4f2a91-1"),
        changed(id="T07-4f2a91-000000000002"),
        changed(id="T07-4f2a91-00000000000\u0661"),
        changed(id=7),
        changed(source="/tables/T08"),
        changed(sequence=1),
        changed(epoch="4f2a92"),
        changed(type=None),
        changed(data=[]),
        changed(tabletest="no"),
        changed(id="T07-4f2a91-000000000000", sequence="000000000000"),
        changed(id="T07-4f2a91-0000000000001", sequence="0000000000001"),
        changed(sequence="+00000000001"),
        changed(id="T07-4f2a91-000000000001-p"),
        changed(id="T07-4f2a91-000000000001-s"),
        changed(type="tablectl.event.parked.v1"),
        changed(type="tablectl.history.skipped.v1", id="T07-4f2a91-000000000001-p"),
    ],
    ids=lambda content: repr(content[:30]),
)
def test_what_is_no_event_is_refused_as_such(server: Server, content: bytes) -> None:
    for single in (True, False):
        assert server.post(content, single=single).status == 400 or (content, single) == (b"", False)
    assert server.store.tables() == []


@pytest.mark.parametrize(
    "bodies",
    [
        [body(1), body(3)],
        [body(1), body(1)],
        [body(2), body(1)],
        [body(1), body(2, epoch="bbbbbb")],
        [body(n) for n in range(1, 102)],
        [body(1), b""],
        [b"", body(1)],
    ],
)
def test_a_batch_is_in_sequence_and_bounded(server: Server, bodies: list[bytes]) -> None:
    assert server.post(*bodies).status == 400
    assert server.store.tables() == []


# --- what the three settling events do --------------------------------------------------------------------


def test_a_result_is_held_with_both_hands(server: Server) -> None:
    server.post(body(1, resulted(7)))
    record = server.store.round("T07", EPOCH, 1, 7)
    assert record is not None
    assert (record.state, record.revision, record.event) == ("resulted", 1, "T07-4f2a91-000000000001")
    assert record.result == json.loads(json.dumps(public_data(resulted(7))))


def test_a_round_has_one_result_which_may_be_amended_and_voided(server: Server) -> None:
    server.post(body(1, resulted(7)))
    assert server.post(body(2, resulted(7))).status == 422
    assert server.post(body(2, amended(7, revision=2))).status == 200
    assert server.post(body(3, amended(7, revision=2))).status == 422
    record = server.store.round("T07", EPOCH, 1, 7)
    assert record is not None
    assert (record.state, record.revision) == ("amended", 2)
    assert record.result["banker"]["cards"] == ["4H", "5S"]
    assert server.post(body(3, VOIDED)).status == 200
    record = server.store.round("T07", EPOCH, 1, 7)
    assert record is not None
    assert record.state == "voided"


PARKED = EventParked(shoe=1, round=7, parked_type="round.resulted", reason="x", approved_by="Ann")


def test_a_parked_result_is_unsettled_and_takes_the_sequence(server: Server) -> None:
    sent = body(1, PARKED)
    assert server.post(sent) == Reply(200, {"next": 2})
    assert server.post(sent) == Reply(200, {"next": 2})
    record = server.store.round("T07", EPOCH, 1, 7)
    assert record is not None
    assert record.state == "parked"


def skip(first: int, last: int, *, at: int | None = None) -> bytes:
    return body(first if at is None else at, HistorySkipped(from_=first, to=last))


def test_a_skip_leaps_over_what_is_kept_no_more(server: Server) -> None:
    server.post(body(1), body(2))
    assert server.post(skip(3, 9)) == Reply(200, {"next": 10})
    assert server.post(skip(3, 9)) == Reply(200, {"next": 10}), "sent again"
    assert server.post(body(10)) == Reply(200, {"next": 11})
    assert server.sequences() == [1, 2, 3, 10]
    assert (server.post(body(3)).status, server.post(body(5)).status) == (422, 422)
    assert "was skipped" in server.post(body(5)).payload["error"]
    assert server.post(skip(12, 20)) == Reply(409, {"next": 11, "error": "event 11 comes before 12"})


@pytest.mark.parametrize(
    "sent", [skip(1, 9, at=3), skip(4, 9, at=3), skip(3, 2), skip(3, 9).replace(b'"to":9', b'"to":"9"')]
)
def test_a_skip_that_cannot_be_is_refused(server: Server, sent: bytes) -> None:
    server.post(body(1), body(2))
    assert server.post(sent).status == 422
    assert server.sequences() == [1, 2]


NASTY: tuple[object, ...] = (
    *(2**63, 2**63 - 1, -(2**63) - 1, 10**30, 0.5, 1e308),
    *("\ud800", "\0", "", None, [], {}, True, ["\udfff"]),
)
"""Values that JSON can write and a database, or a clock, cannot hold."""


@pytest.mark.parametrize("value", NASTY, ids=repr)
def test_no_value_in_an_event_is_a_fault_of_the_server(server: Server, value: object) -> None:
    """Over NATS it would come again and again, and with it the events of every other table stand still."""
    opened = BettingOpened(shoe=1, round=7, seconds=60, closes_at=iso((NOW + 60) * 10**9))
    events = (resulted(7), amended(7, revision=2), VOIDED, HistorySkipped(from_=1, to=9), PARKED, opened)
    server.store.sql("PRAGMA synchronous=OFF")
    for event in events:
        whole = json.loads(body(1, event))
        for changed in (
            *({**whole, "data": {**whole["data"], key: value}} for key in whole["data"]),
            *({**whole, key: value} for key in ("type", "time", "more")),
        ):
            sent = json.dumps(changed).encode()
            assert server.intake.take_message("T07", sent).status in (200, 400, 422), changed
            assert server.post(sent).status in (200, 400, 422), changed
            json.dumps(server.intake.betting("T07"))
            with server.store.transaction():
                for table in ("tables", "events", "rounds"):
                    server.store.sql(f"DELETE FROM {table}")


def test_what_follows_a_skip_in_one_batch_follows_it(server: Server) -> None:
    assert server.post(skip(1, 9), body(2)).status == 422
    assert server.sequences() == []


def test_a_round_that_was_skipped_may_be_amended_and_only_then(server: Server) -> None:
    assert server.post(body(1, amended(7, revision=2))).status == 422
    server.post(skip(1, 9))
    assert server.post(body(10, amended(7, revision=2))) == Reply(200, {"next": 11})
    record = server.store.round("T07", EPOCH, 1, 7)
    assert record is not None
    assert record.state == "amended"


def test_an_amendment_between_may_have_been_skipped_and_only_then(server: Server) -> None:
    later = amended(7, revision=3)
    later.before["revision"] = 2
    later.before["outcome"] = "tie"  # as it was amended first
    assert server.post(body(1, resulted(7))).status == 200
    assert server.post(body(2, later)).status == 422
    server.post(skip(2, 9))
    assert server.post(body(10, later)) == Reply(200, {"next": 11})
    nearer = replace(amended(8, revision=2), before=later.before | {"round": 8})
    assert server.post(body(11, resulted(8))).status == 200
    refused = server.post(body(12, nearer))
    assert refused.status == 422 and "not the result that is held" in refused.payload["error"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"outcome":"banker"', b'"outcome":"player"', "3 to 9 is banker"),
        (b'"outcome":"banker"', b'"outcome":"nobody"', "data.outcome"),
        (b'"total":9', b'"total":8', "total is 9, not 8"),
        (b'"round":7', b'"round":0', "name the round"),
        (b'"round":7', b'"round":99999999999999999999', "name the round"),
        (b'"shoe":1,', b"", "name the round"),
        (b'"revision":1', b'"revision":99999999999999999999', "revision"),
        (b'"bets":', b'"bats":', "data.bets"),
    ],
)
def test_a_result_that_cannot_be_is_refused(server: Server, old: bytes, new: bytes, why: str) -> None:
    sent = body(1, resulted(7))
    assert old in sent
    reply = server.post(sent.replace(old, new))
    assert reply.status == 422
    assert why in reply.payload["error"]
    assert server.store.tables() == []


def test_unknown_types_and_fields_are_taken_and_ignored(server: Server) -> None:
    assert server.post(body(1).replace(b"table.closed.v1", b"moon.rose.v9")).status == 200
    assert server.post(body(2, resulted(1)).replace(b'"data":{', b'"data":{"new":[1],')).status == 200
    assert server.store.round("T07", EPOCH, 1, 1) is not None


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(st.integers(1, 14), st.integers(1, 6)), max_size=12))
def test_any_order_of_requests_leaves_each_event_once_in_order(
    tmp_path: Path, requests: list[tuple[int, int]]
) -> None:
    server = Server(tmp_path / f"{uuid4()}.db")
    held = 0
    for first, count in requests:
        reply = server.post(*(body(n, resulted(n)) for n in range(first, first + count)))
        if first <= held + 1:
            held = max(held, first + count - 1)
            assert reply == Reply(200, {"next": held + 1})
        else:
            assert (reply.status, reply.payload["next"]) == (409, held + 1)
    assert server.sequences() == list(range(1, held + 1))
    assert [r.round for r in server.store.rounds("T07", EPOCH, limit=99)] == list(range(1, held + 1))
    server.store.close()


def test_both_secrets_of_a_rotation_are_taken(tmp_path: Path) -> None:
    store = Store(tmp_path / "server.db")
    intake = Intake(store, [OTHER_SECRET, SECRET], clock=lambda: NOW * 10**9)
    for n, secret in enumerate((SECRET, OTHER_SECRET), start=1):
        request = Request([body(n)], secret=secret)
        reply = intake.take("T07", request.headers["Content-Type"], request.headers, request.content)
        assert reply == Reply(200, {"next": n + 1})
    store.close()


def test_what_was_answered_is_there_after_a_restart(tmp_path: Path) -> None:
    server = Server(tmp_path / "server.db")
    server.post(body(1), body(2))
    again = Server(tmp_path / "server.db")
    assert again.post() == Reply(200, {"next": 3})
    assert replace(again.store.tables()[0], next=0) == replace(server.store.tables()[0], next=0)
    server.store.close()
    again.store.close()
