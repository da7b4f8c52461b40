"""Delivery over a real NATS server into the reference game server, and through everything that breaks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tablectl.cli.check.nats import nats_finding
from tablectl.clock import iso, now
from tablectl.config import make_config
from tablectl.delivery import ways
from tablectl.delivery.instead import Instead, instead_of, park, skip
from tablectl.delivery.nats_line import Line
from tablectl.delivery.nats_words import Fault
from tablectl.delivery.placed import Placed
from tablectl.delivery.tls import TlsFiles
from tablectl.events import BettingOpened
from tablectl.gameserver import intake, stream
from tablectl.gameserver.server import GameServer, accept_epoch
from tablectl.gameserver.store import RoundRecord
from tablectl.journal import Journal, JournalReader
from tablectl.schemas import FOLDER
from tests.delivery.nats_rig import Rig, Sender, Thief
from tests.gameserver.posting import body, resulted
from tests.gameserver.wagering import LIVE, shoe_started
from tests.test_schemas import faults


@pytest_asyncio.fixture
async def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Rig]:
    for module in ("sender", "nats_taken"):
        monkeypatch.setattr(f"tablectl.delivery.{module}.LOOK", 0.02)
    made = Rig(tmp_path)
    try:
        yield made
    finally:
        await made.close()


def held(server: GameServer, table: str = "T07") -> list[bytes]:
    return [taken.body for taken in server.store.events(table, limit=100_000)]


# --- the good way -----------------------------------------------------------------------------------------


async def test_events_arrive_once_in_order_byte_for_byte(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender()
    await sender.good()
    for _ in range(5):
        sender.play()
    sender.play(995)
    await sender.all_taken(server)
    await sender.good()
    assert held(server) == sender.bodies
    assert len(held(server)) == 1000
    assert await rig.nats.messages() == 1000
    assert sender.alarms == []


async def test_events_published_since_the_start_are_no_sign_of_lost_rows(rig: Rig) -> None:
    """The game server comes back late, and has taken them from the stream by then."""
    await rig.nats.make_stream()
    sender = rig.sender()
    sender.play(3)
    await sender.all_stored()
    await rig.stop(sender)
    journal = Journal.open(rig.path, "T07")
    journal._doubt(3)  # as after a power cut, or killed right behind a commit
    journal.close()
    again = rig.sender()
    again.play(4)
    await again.all_stored()
    await again.until(lambda: "no game server answers" in again.why)
    await rig.server()
    await again.good()
    assert again.alarms == []


async def test_a_message_carries_type_id_and_fence(rig: Rig) -> None:
    await rig.nats.make_stream()
    async with rig.client() as client:
        heard = await client.subscribe("tables.*.events")
        asked = await client.subscribe("tables.*.link")
        sender = rig.sender()
        sender.play(2)
        await sender.all_stored()
        messages = [await heard.next_msg(15) for _ in range(2)]
        question = json.loads((await asked.next_msg(15)).data)
    ids = [json.loads(body)["id"] for body in sender.bodies]
    assert [message.subject for message in messages] == ["tables.T07.events"] * 2
    assert [message.headers for message in messages] == [
        {
            "ce-type": "tablectl.round.resulted.v1",
            "Nats-Msg-Id": ids[n],
            "Nats-Expected-Last-Subject-Sequence": str(n),
        }
        for n in range(2)
    ]
    assert [message.data for message in messages] == sender.bodies
    root = {"$defs": json.loads((FOLDER / "asyncapi.json").read_text())["components"]["schemas"]}
    for message in messages:
        assert faults(message.headers, root["$defs"]["streamed"], root) == []
    assert faults(question, root["$defs"]["asked"], root) == []
    await rig.server()
    async with rig.client() as client:
        answer = json.loads((await client.request("tables.T07.link", b"{}", 2)).data)
    assert faults(answer, root["$defs"]["word"], root) == []


async def test_who_has_placed_is_told_while_betting_is_open(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender()
    await sender.good()
    opened = BettingOpened(shoe=3, round=9, seconds=20, closes_at=iso(time.time_ns() + 20 * 10**9))
    sender.play(made=lambda _: shoe_started(3, LIVE))
    sender.play(made=lambda _: opened)
    await sender.until(lambda: sender.placed[-1:] == [Placed(3, 9, 0, 0)])
    bank = server.intake.bank

    def done() -> None:
        bank.presence.seen("T07", "ann", time.monotonic())
        bank.presence.done("T07", "ann", (sender.journal.epoch, 3, 9))

    await asyncio.get_running_loop().run_in_executor(server._turns.looks, done)
    await sender.until(lambda: sender.placed[-1] == Placed(3, 9, 1, 1))
    root = {"$defs": json.loads((FOLDER / "asyncapi.json").read_text())["components"]["schemas"]}
    async with rig.client() as client:
        answer = json.loads((await client.request("tables.T07.link", b"{}", 2)).data)
    assert answer["placed"] == {"shoe": 3, "round": 9, "players": 1, "placed": 1}
    assert faults(answer, root["$defs"]["word"], root) == []
    assert sender.alarms == []


async def test_several_tables_in_one_stream_keep_apart(rig: Rig) -> None:
    server = await rig.server()
    senders = [rig.sender(path=rig.folder / f"{name}.db", table=name) for name in ("A", "B", "C-1")]
    for _ in range(20):
        for sender in senders:
            sender.play(3)
        await asyncio.sleep(0)
    for sender in senders:
        await sender.all_taken(server)
        assert held(server, sender.table) == sender.bodies


# --- the link ---------------------------------------------------------------------------------------------


async def test_the_streams_word_alone_makes_no_good_link(rig: Rig) -> None:
    await rig.nats.make_stream()
    sender = rig.sender()
    sender.play(3)
    await sender.all_stored()
    await sender.until(lambda: sender.links[-1:] == [(False, "no game server answers on tables.T07.link")])
    assert await rig.nats.messages() == 3
    server = await rig.server()
    await sender.good()
    assert held(server) == sender.bodies
    await rig.stop(server)
    sender.play(2)
    await sender.all_stored()
    await sender.until(lambda: not sender.links[-1][0])
    assert sender.alarms == []
    again = await rig.server()
    await sender.all_taken(again)
    await sender.good()
    assert held(again) == sender.bodies


async def test_a_game_server_that_answers_and_takes_nothing_is_no_good_link(rig: Rig) -> None:
    await rig.nats.make_stream()
    async with rig.client() as client:

        async def answer(message: object) -> None:
            await message.respond(b'{"next": 1}')  # type: ignore[attr-defined]

        await client.subscribe("tables.*.link", cb=answer)
        sender = rig.sender()
        await sender.good()
        sender.play()
        await sender.until(
            lambda: sender.links[-1] == (False, "the game server is owed events older than 2 s")
        )
        assert sender.outbox.owed == 0


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"", 'the game server answers 200 without {"next": N}, which acknowledges nothing'),
        (b'{"next": "7"}', "with a `next` that is no event number"),
        (b'{"next": 9}', "the server is ahead of this journal"),
        (b'{"status": 403, "error": "not you"}', 'it refuses this table or this history (epoch): "not you"'),
        (
            b'{"status": 422, "next": 1, "error": "no"}',
            "the server refuses event 1: the game server answers 422",
        ),
        (b'{"status": 422, "error": "no"}', "without"),
        (b'{"status": 422, "next": 1%b}' % (b"0" * 4000), "(4001 digits), and there is none such"),
        (b'{"status": 422, "next": 0}', "refuses event 0, and there is none such"),
        (b'{"status": true, "next": 2}', 'a "status" that is no number'),
        (b'{"status": "503", "next": 2}', 'a "status" that is no number'),
        (b'{"status": 409, "next": 2}', "the empty probe with 409 and wants 2"),
        (b"[" * 70_000, "without"),
    ],
)
async def test_answers_of_a_game_server_that_are_none(rig: Rig, said: bytes, reason: str) -> None:
    await rig.nats.make_stream()
    async with rig.client() as client:

        async def answer(message: object) -> None:
            await message.respond(said)  # type: ignore[attr-defined]

        await client.subscribe("tables.*.link", cb=answer)
        sender = rig.sender()
        sender.play()
        await sender.until(lambda: reason in sender.why)
        await sender.all_stored()
        config = make_config(
            {
                "table": {"id": "T07", "test": True},
                "scanner": {"driver": "angel-eye", "device": "/dev/null"},
                "server": {"kind": "nats", "url": rig.nats.url},
            },
            rig.folder / "T07.toml",
        )
        found = await asyncio.to_thread(nats_finding, config, "")
        assert (found.grade == "ok") == (said == b'{"next": 9}'), "`tablectl check` knows no more"


# --- the fence --------------------------------------------------------------------------------------------


async def test_a_second_controller_with_the_same_table_is_fenced_off(rig: Rig) -> None:
    server = await rig.server()
    first = rig.sender()
    first.play(5)
    await first.all_taken(server)
    second = rig.sender(path=rig.folder / "other.db")
    second.play(9)
    await second.until(lambda: second.alarms)
    assert second.alarms[0][0] == "delivery-halted"
    assert "another history" in second.alarms[0][1]
    assert "a person must accept its history" in second.alarms[0][1]
    first.play(2)
    await first.all_taken(server)
    assert held(server) == first.bodies
    assert await rig.nats.messages() == 7


async def test_a_replaced_pc_goes_on_once_a_person_accepted_it(rig: Rig) -> None:
    server = await rig.server()
    old = rig.sender()
    old.play(5)
    await old.all_taken(server)
    await rig.stop(old)
    new = rig.sender(path=rig.folder / "new.db")
    new.play(3)
    await new.until(lambda: new.alarms)
    await new.until(lambda: server.store.refused_epochs("T07"))
    new.delivery.retry()
    await asyncio.sleep(0.2)
    assert await rig.nats.messages() == 5
    accept_epoch(rig.folder / "server.db", "T07", new.journal.epoch)
    new.delivery.retry()
    await new.all_taken(server)
    await new.good()
    assert held(server) == new.bodies
    # The old one comes back: now it is the other history.
    again = rig.sender()
    again.play()
    await again.until(lambda: again.alarms)
    assert "another history" in again.alarms[0][1]


async def test_a_game_server_that_answers_anybody_is_no_acceptance(rig: Rig) -> None:
    await rig.nats.make_stream()
    async with rig.client() as client:

        async def answer(message: object) -> None:
            await message.respond(b'{"next": 1}')  # type: ignore[attr-defined]

        await client.subscribe("tables.*.link", cb=answer)
        first = rig.sender()
        first.play(3)
        await first.all_stored()
        await rig.stop(first)
        second = rig.sender(path=rig.folder / "other.db")
        second.play(2)
        await second.until(lambda: second.alarms)
        assert "another history" in second.alarms[0][1]
        assert await rig.nats.messages() == 3


async def test_a_copy_of_the_journal_that_went_another_way_is_another_history(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender()
    sender.play(5)
    await sender.all_taken(server)
    copy = rig.folder / "copy.db"
    sender.journal._db.execute("VACUUM INTO ?", (str(copy),))
    sender.play(1)
    await sender.all_taken(server)
    await rig.stop(sender)
    other = rig.sender(path=copy)
    other.play(3)
    await other.until(lambda: other.alarms)
    assert "event 6 in the stream is not event 6 of this journal" in other.alarms[0][1]
    assert await rig.nats.messages() == 6


async def test_a_journal_restored_from_yesterday_halts(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender()
    sender.play(5)
    await sender.all_taken(server)
    yesterday = rig.folder / "yesterday.db"
    sender.journal._db.execute("VACUUM INTO ?", (str(yesterday),))
    sender.play(5)
    await sender.all_taken(server)
    await rig.stop(sender)
    old = rig.sender(path=yesterday)
    await old.until(lambda: old.alarms)
    assert old.alarms[0][0] == "delivery-halted"
    assert "ahead of this journal" in old.alarms[0][1]


async def test_a_stranger_on_the_subject_halts_it(rig: Rig) -> None:
    await rig.nats.make_stream()
    sender = rig.sender()
    sender.play()
    await sender.all_stored()
    async with rig.client() as client:
        await client.request("tables.T07.events", b"hello", timeout=2)
    sender.play()
    await sender.until(lambda: sender.alarms)
    assert "of nobody that can be named" in sender.alarms[0][1]


# --- what gets lost on the way ----------------------------------------------------------------------------


@pytest.mark.parametrize("lost", [1, 50])
async def test_a_lost_acknowledgement_stores_nothing_twice(rig: Rig, lost: int) -> None:
    server = await rig.server()
    thief = await Thief(rig.nats.port).start()
    sender = rig.sender(thief.url)
    await sender.good()
    sender.play(3)
    await sender.all_taken(server)
    for turn in range(3):
        thief.steals = True
        sender.play(lost)
        await asyncio.wait_for(thief.stolen.wait(), 5)
        thief.stolen.clear()
        await sender.all_taken(server)
        assert await rig.nats.messages() == 3 + lost * (turn + 1)
    assert held(server) == sender.bodies
    assert sender.alarms == []
    await thief.stop()


async def test_a_server_killed_three_times_in_mid_stream_has_every_event_once(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender()
    await sender.good()
    for turn in range(3):
        for _ in range(30):
            sender.play(3)
            await asyncio.sleep(0)
        await sender.until(lambda: sender.journal.acked() > turn * 90)  # noqa: B023 used at once
        rig.nats.kill()
        sender.play(5)
        await sender.until(lambda: not sender.links[-1][0])
        rig.nats.start()
        sender.delivery.retry()
    await sender.all_taken(server)
    await sender.good()
    assert held(server) == sender.bodies
    assert len(held(server)) == 285
    assert await rig.nats.messages() == 285
    assert sender.alarms == []


async def test_a_server_that_dies_while_the_consumer_begins_costs_no_time_out(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await rig.server()
    assert server.stream is not None
    asks = stream._stream

    async def dies(*given: Any) -> Any:
        monkeypatch.setattr(stream, "_stream", asks)
        rig.nats.kill()
        return await asks(*given)

    monkeypatch.setattr(stream, "_stream", dies)
    rig.restart()
    while stream._stream is dies:
        await asyncio.sleep(0.01)
    rig.restart()
    server.stream.consuming.clear()
    await asyncio.wait_for(server.stream.consuming.wait(), 4)  # an unanswered question waits for 5 s


async def test_a_game_server_killed_in_mid_stream_takes_every_event_once(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender()
    sender.play(300)
    await sender.until(lambda: len(held(server)) > 20)
    await rig.stop(server)
    sender.play(100)
    server = await rig.server()
    await sender.all_taken(server)
    assert held(server) == sender.bodies
    assert server.store.sql("SELECT name, at FROM streams") == [("TABLES", 400)]


async def test_a_server_that_hangs_is_dropped_at_the_deadline(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender(deadline=0.4)
    await sender.good()
    os.kill(rig.nats.pid, signal.SIGSTOP)
    try:
        sender.play(2)
        await sender.until(lambda: "within 0.4 s" in sender.why)
        assert sender.task is not None
    finally:
        os.kill(rig.nats.pid, signal.SIGCONT)
    await sender.all_taken(server)
    assert held(server) == sender.bodies


async def test_a_connection_that_died_in_silence_is_made_anew(rig: Rig) -> None:
    server = await rig.server()
    thief = await Thief(rig.nats.port).start()
    sender = rig.sender(thief.url, deadline=0.4)
    await sender.good()
    thief.mute()
    sender.play(2)
    await sender.all_taken(server)
    await sender.good()
    assert held(server) == sender.bodies
    await thief.stop()


async def test_stream_that_lost_its_end_is_filled_again(rig: Rig) -> None:
    """A power cut at the NATS server, or its store from yesterday: what was acknowledged is gone."""
    server = await rig.server()
    sender = rig.sender()
    sender.play(10)
    await sender.all_taken(server)
    rig.nats.kill()
    shutil.copytree(rig.folder / "store", rig.folder / "yesterday")
    rig.nats.start()
    sender.play(10)
    await sender.all_taken(server)
    rig.nats.kill()
    shutil.rmtree(rig.folder / "store")
    shutil.move(rig.folder / "yesterday", rig.folder / "store")
    rig.nats.start()
    sender.play(5)
    await sender.all_taken(server)
    await sender.good()
    assert held(server) == sender.bodies
    assert await rig.nats.messages() == 25
    assert sender.alarms == []


async def test_an_emptied_stream_goes_on_where_the_game_server_says(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender()
    sender.play(10)
    await sender.all_taken(server)
    await rig.stop(server)
    await rig.nats.ask("STREAM.DELETE.TABLES")
    await rig.nats.make_stream()
    sender.play(5)
    await sender.until(lambda: "only the game server can say where to go on" in sender.why)
    assert await rig.nats.messages() == 0
    again = await rig.server()
    await sender.all_taken(again)
    assert held(again) == sender.bodies
    assert await rig.nats.messages() == 5
    assert sender.alarms == []


async def test_a_replaced_game_server_gets_what_the_stream_keeps_no_more(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender()
    sender.play(10)
    await sender.all_taken(server)
    await rig.stop(server)
    await rig.nats.ask("STREAM.PURGE.TABLES", {"keep": 3})
    new = await rig.server("new.db")
    await sender.all_taken(new)
    await sender.good()
    assert held(new) == sender.bodies
    sender.play(2)
    await sender.all_taken(new)
    assert held(new) == sender.bodies


# --- what the server refuses ------------------------------------------------------------------------------


async def test_a_missing_stream_is_told_and_found_when_it_comes(rig: Rig) -> None:
    sender = rig.sender()
    sender.play()
    await sender.until(lambda: sender.alarms)
    assert sender.alarms == [
        (
            "delivery-link",
            "no stream takes tables.T07.events: it must be made on the NATS server (docs/integration.md)",
        )
    ]
    await rig.nats.make_stream()
    sender.delivery.retry()
    await sender.all_stored()


async def test_a_stream_that_vanishes_while_it_runs(rig: Rig) -> None:
    await rig.nats.make_stream()
    sender = rig.sender()
    await sender.until(lambda: sender.delivery.outbox and sender.outbox.probed)
    await rig.nats.ask("STREAM.DELETE.TABLES")
    sender.play()
    await sender.until(lambda: sender.alarms)
    assert "no stream takes tables.T07.events" in sender.alarms[0][1]


async def test_jetstream_that_is_off_is_told(rig: Rig) -> None:
    rig.nats.kill()
    config = rig.folder / "nats.conf"
    config.write_text(f'listen: "127.0.0.1:{rig.nats.port}"\n')
    rig.nats.start()
    sender = rig.sender()
    await sender.until(lambda: "JetStream does not answer" in sender.why)


@pytest.mark.parametrize("limit", [{"max_msgs": 3}, {"max_bytes": 3000}])
async def test_a_full_stream_loses_nothing_and_says_so(rig: Rig, limit: dict[str, int]) -> None:
    await rig.nats.make_stream(**limit)
    sender = rig.sender()
    sender.play(8)
    await sender.until(lambda: sender.alarms)
    ((code, text),) = sender.alarms
    assert code == "delivery-link"
    assert text.startswith('the stream is full: "maximum')
    assert 0 < sender.outbox.acked < 8
    await rig.nats.ask(
        "STREAM.UPDATE.TABLES", {"name": "TABLES", "subjects": ["tables.*.events"], "discard": "new"}
    )
    sender.delivery.retry()
    server = await rig.server()
    await sender.all_taken(server)
    assert held(server) == sender.bodies


async def test_an_event_larger_than_the_stream_takes(rig: Rig) -> None:
    await rig.nats.make_stream(max_msg_size=300)
    sender = rig.sender()
    sender.play()
    await sender.until(lambda: sender.alarms)
    assert "the stream takes no event as large as this one" in sender.alarms[0][1]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            'permissions { publish: { allow: ["$JS.API.>"] }, subscribe: { allow: ["_INBOX_T07.>"] } }',
            "does not let this table publish to tables.T07.events",
        ),
        (
            'permissions { publish: { allow: ["tables.T07.>"] }, subscribe: { allow: ["_INBOX_T07.>"] } }',
            "does not let this table publish to $JS.API.STREAM.NAMES",
        ),
        (
            'permissions { publish: { allow: [">"] }, subscribe: { allow: ["_INBOX_T08.>"] } }',
            "does not let this table listen on _INBOX_T07.>",
        ),
    ],
)
async def test_what_is_not_permitted_is_named(rig: Rig, more: str, words: str) -> None:
    await rig.nats.make_stream()
    users = f"authorization {{ users: [ {{ user: t, password: p, {more} }} ] }}\nno_auth_user: t"
    rig.restart(users)
    sender = rig.sender()
    sender.play()
    # Whichever is refused first is told first: what is published, or the question whether anybody listens.
    await sender.until(lambda: any(words in text for _, text in sender.alarms))
    assert {code for code, _ in sender.alarms} == {"delivery-link"}


async def test_nobody_listens_there(rig: Rig) -> None:
    rig.nats.kill()
    sender = rig.sender()
    await sender.until(lambda: "cannot be reached" in sender.why)
    assert sender.alarms == []
    second = rig.sender(f"nats://127.0.0.1:1,{rig.nats.url}", path=rig.folder / "second.db")
    rig.nats.start()
    await rig.nats.make_stream()
    second.play()
    await second.all_stored()


@pytest.mark.parametrize("hangs", ["at the connection", "at the first word", "later"])
async def test_a_server_that_hangs_does_not_keep_the_others_from_being_asked(rig: Rig, hangs: str) -> None:
    await rig.nats.make_stream()
    thief = await Thief(rig.nats.port).start()
    silent, told = socket.create_server(("127.0.0.1", 0), backlog=1), asyncio.Event()

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told.set()
        await reader.read()

    dumb = await asyncio.start_server(mute, "127.0.0.1", 0)
    first = {
        "at the connection": f"nats://127.0.0.1:{silent.getsockname()[1]}",
        "at the first word": f"nats://127.0.0.1:{dumb.sockets[0].getsockname()[1]}",
        "later": thief.url,
    }[hangs]
    sender = rig.sender(f"{first},{rig.nats.url}", deadline=0.3)
    if hangs == "later":
        sender.play()
        await sender.all_stored()
        thief.mute()
        thief.deaf = True
    sender.play()
    await sender.all_stored()
    dumb.close()
    silent.close()
    await thief.stop()


async def test_every_question_is_broken_off_when_the_connection_ends(rig: Rig) -> None:
    """The sender and who asks on ask the game server at once, on one subject."""
    line = Line(rig.nats.url, "T07", TlsFiles(), None)
    async with rig.client() as client:
        heard = await client.subscribe("tables.T07.link")
        await client.flush()
        asking = [asyncio.create_task(line.ask({"n": n})) for n in range(3)]
        for _ in asking:
            await heard.next_msg(15)
        rig.nats.kill()
        ended = await asyncio.wait_for(asyncio.gather(*asking, return_exceptions=True), 15)
        assert [type(one) for one in ended] == [Fault] * 3
        await line.close()


async def refusing(rig: Rig) -> tuple[Sender, GameServer, Callable[..., None]]:
    """A game server that refuses the fourth event, and its own way to take it after all."""
    server = await rig.server()
    sender = rig.sender()
    sender.play(3)
    await sender.all_taken(server)
    original = server.store.put_round

    def refuses(table: str, epoch: str, record: RoundRecord) -> None:
        if record.round == 4 and record.state == "resulted":
            raise intake._Refused(422, "no such bet here")
        original(table, epoch, record)

    server.store.put_round = refuses  # type: ignore[method-assign]
    sender.play(4)
    await sender.until(lambda: sender.alarms)
    refused = 'the server refuses event 4: the game server answers 422: "no such bet here"'
    assert sender.alarms == [("delivery-halted", f"{refused}. {ways.refused(4)}")]
    assert sender.delivery.trouble is not None
    assert sender.delivery.trouble.refused == 4
    assert (sender.delivery.status() or {})["halted"] is True
    assert len(held(server)) == 3
    return sender, server, original


async def test_a_refused_event_halts_its_table_alone_and_goes_on_when_mended(rig: Rig) -> None:
    sender, server, original = await refusing(rig)
    other = rig.sender(path=rig.folder / "other.db", table="T08")
    other.play(3)
    await other.all_taken(server)
    await other.good()
    sender.delivery.retry()  # too soon
    await sender.until(lambda: len(sender.alarms) == 2)
    server.store.put_round = original  # type: ignore[method-assign]
    sender.delivery.retry()
    await sender.all_taken(server)
    await sender.good()
    assert held(server) == sender.bodies


def parked(sender: Sender, sequence: int) -> Instead:
    stored = sender.journal.bodies(sequence, 1)[0]
    event = park(stored, sender.journal.epoch, now(), "system: test", "bo")
    one = instead_of(event, "T07", sender.journal.epoch)
    assert one is not None
    return one


async def test_another_game_server_that_takes_what_was_parked_has_the_printed_way_out(rig: Rig) -> None:
    sender, server, _ = await refusing(rig)
    sender.delivery.sends_instead(parked(sender, 4))
    await sender.all_taken(server)
    await rig.stop(server)
    sender.alarms.clear()
    other = await rig.server("other.db")
    await sender.until(lambda: sender.alarms)
    assert "refuses event 4" in sender.alarms[0][1] and ways.PARKED in sender.alarms[0][1]
    assert "park 4" not in sender.alarms[0][1]
    await rig.stop(other)
    await rig.nats.ask("STREAM.PURGE.TABLES", {"filter": "tables.T07.events"})
    emptied = await rig.server("emptied.db")
    sender.delivery.retry()
    await sender.all_taken(emptied)
    await sender.good()
    assert len(held(emptied)) == 7
    assert json.loads(held(emptied)[3])["type"] == "tablectl.event.parked.v1"


async def test_a_refused_event_is_parked_and_the_others_follow(rig: Rig) -> None:
    sender, server, _ = await refusing(rig)
    one = parked(sender, 4)
    sender.delivery.sends_instead(one)
    await sender.all_taken(server)
    await sender.good()
    assert held(server) == [*sender.bodies[:3], one.outgoing.body, *sender.bodies[4:]]


async def test_an_order_survives_the_answer_to_what_was_asked_before_it(rig: Rig) -> None:
    """The game server was asked while it still refused, and answers behind the order that was given then."""
    sender, server, original = await refusing(rig)
    line, held_up, heard = sender.delivery._line, asyncio.Event(), asyncio.Event()
    really = line.ask

    async def late(asked: dict[str, Any]) -> dict[str, Any]:
        said = await really(asked)
        heard.set()
        await held_up.wait()
        return said

    line.ask = late  # type: ignore[method-assign]
    sender.delivery.retry()
    await heard.wait()
    server.store.put_round = original  # type: ignore[method-assign]
    sender.delivery.retry()
    line.ask = really  # type: ignore[method-assign]
    held_up.set()
    await sender.all_taken(server)
    await sender.good()
    assert len(sender.alarms) == 1
    assert held(server) == sender.bodies


async def test_going_back_to_what_was_parked_survives_a_try_that_fails(rig: Rig) -> None:
    """Events behind it are in the stream: where that stands says nothing of what is to be published again."""
    sender, server, _ = await refusing(rig)
    line = sender.delivery._line
    really = line.publish

    async def fails(message_id: str, kind: str, body: bytes, after: int) -> int:
        line.publish = really  # type: ignore[method-assign]
        assert message_id.endswith("-p")
        raise Fault("the connection broke")

    line.publish = fails  # type: ignore[method-assign]
    one = parked(sender, 4)
    sender.delivery.sends_instead(one)
    await sender.all_taken(server)
    await sender.good()
    assert held(server) == [*sender.bodies[:3], one.outgoing.body, *sender.bodies[4:]]


@pytest.mark.parametrize("order", ["park", "retry"])
@pytest.mark.parametrize("slow", ["the publisher", "the consumer"])
async def test_an_old_refusal_told_before_the_new_try_was_looked_at_halts_nothing(
    rig: Rig, order: str, slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The game server says what it knows, and it knows the last try only once it has taken it."""
    ordered, takes = asyncio.Event(), stream.StreamIntake._take

    async def taken(*args: Any) -> None:
        if ordered.is_set() and slow == "the consumer":
            await told()
        await takes(*args)

    monkeypatch.setattr(stream.StreamIntake, "_take", taken)
    sender, server, original = await refusing(rig)
    line = sender.delivery._line
    asked, publishes, asks = asyncio.Event(), line.publish, line.ask

    async def asking(about: dict[str, Any]) -> dict[str, Any]:
        said = await asks(about)
        asked.set()
        return said

    async def told() -> None:
        ordered.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asked.wait(), 0.4)
        await asyncio.sleep(0.02)  # its answer is heard

    async def published(*args: Any) -> int:
        if ordered.is_set() and slow == "the publisher":
            await told()
        return await publishes(*args)

    server.store.put_round = original  # type: ignore[method-assign]
    line.ask = asking  # type: ignore[method-assign,assignment]
    line.publish = published  # type: ignore[method-assign,assignment]
    ordered.set()
    if order == "retry":
        sender.delivery.retry()
    else:
        sender.delivery.sends_instead(parked(sender, 4))
    await sender.all_taken(server)
    await sender.good()
    assert len(sender.alarms) == 1


# --- the printed ways out ---------------------------------------------------------------------------------

STRANGE = (
    b'{"hello": 1}',
    b"",
    b"\xff",
    b"[" * 5000,
    b'{"id": "T08-aaaaaa-000000000001"}',
    b'{"id": "T07-aaaaaa-000000000001"}',
    b'{"id": "T07-EPOCH-000000000000"}',
    b'{"id": "T07-EPOCH-000000000003"}',
)
"""What nobody's controller publishes; EPOCH stands for the table's own."""


async def publish(rig: Rig, body: bytes) -> None:
    async with rig.client() as client:
        await client.request("tables.T07.events", body, timeout=2)


@pytest.mark.parametrize("strange", STRANGE[:7], ids=range(7))
async def test_what_a_stranger_publishes_neither_halts_nor_refuses(rig: Rig, strange: bytes) -> None:
    """The game server is pinned to this history: it says where to go on, and speaks of no refusal."""
    server = await rig.server()
    sender = rig.sender()
    sender.play(3)
    await sender.all_taken(server)
    await publish(rig, strange.replace(b"EPOCH", sender.journal.epoch.encode()))
    sender.play(2)
    await sender.all_taken(server)
    await sender.good()
    assert held(server) == sender.bodies
    assert sender.alarms == []


@pytest.mark.parametrize("first", [STRANGE[0], STRANGE[5]])
async def test_a_stranger_before_the_first_event_is_passed_by_acceptance(rig: Rig, first: bytes) -> None:
    """Nothing is held of this table: a person accepts the history that asks, as the halt says."""
    server = await rig.server()
    await publish(rig, first)
    sender = rig.sender()
    sender.play(3)
    await sender.until(lambda: sender.alarms)
    assert ways.accepted(sender.journal.epoch) in sender.alarms[0][1]
    await sender.until(lambda: server.store.refused_epochs("T07"))
    accept_epoch(rig.folder / "server.db", "T07", sender.journal.epoch)
    sender.delivery.retry()
    await sender.all_taken(server)
    await sender.good()
    assert held(server) == sender.bodies
    await sender.until(lambda: server.store.refused_epochs("T07") == [])


async def test_a_table_that_begins_is_no_history_to_be_accepted(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender()
    await sender.good()
    assert server.store.refused_epochs("T07") == [sender.journal.epoch]
    sender.play()
    await sender.all_taken(server)
    assert server.store.refused_epochs("T07") == []


async def test_accepted_while_the_old_pc_still_publishes(rig: Rig) -> None:
    """Off it goes, and the halt's way out is followed: accepted is what is taken."""
    server = await rig.server()
    old = rig.sender()
    old.play(5)
    await old.all_taken(server)
    new = rig.sender(path=rig.folder / "new.db")
    new.play(3)
    await new.until(lambda: new.alarms and server.store.refused_epochs("T07"))
    accept_epoch(rig.folder / "server.db", "T07", new.journal.epoch)
    old.play(2)
    await old.all_stored()
    await rig.stop(old)
    new.delivery.retry()
    await new.all_taken(server)
    await new.good()
    assert held(server) == new.bodies


@pytest.mark.parametrize("emptied", [False, True])
async def test_a_history_accepted_and_taken_back(rig: Rig, emptied: bool) -> None:
    server = await rig.server()
    old, new = rig.sender(), rig.sender(path=rig.folder / "new.db")
    old.play(3)
    await old.all_taken(server)
    new.play(3)
    await new.until(lambda: new.alarms and server.store.refused_epochs("T07"))
    accept_epoch(rig.folder / "server.db", "T07", new.journal.epoch)
    new.delivery.retry()
    await new.all_taken(server)
    old.play(2)
    await old.until(lambda: old.alarms)
    accept_epoch(rig.folder / "server.db", "T07", old.journal.epoch)
    new.play(1)  # it is stored, unless its question was asked first
    await new.until(lambda: new.journal.acked() == new.journal.last()[1] or not new.links[-1][0])
    await rig.stop(new)
    if emptied:
        await rig.nats.ask("STREAM.PURGE.TABLES")
    old.delivery.retry()
    await old.all_taken(server)
    await old.good()
    assert held(server) == old.bodies


@pytest.mark.parametrize("way", ["retry", "park"])
@pytest.mark.parametrize("lost", ["emptied", "deleted", "stranger", "restarted"])
async def test_a_refused_event_whose_stream_is_in_trouble_too(rig: Rig, way: str, lost: str) -> None:
    """The game server never sees again what it refused, unless the table publishes it again."""
    sender, server, original = await refusing(rig)
    if lost == "stranger":
        await publish(rig, STRANGE[0])
    elif lost != "restarted":
        await rig.nats.ask(f"STREAM.{'PURGE' if lost == 'emptied' else 'DELETE'}.TABLES")
    if lost in ("restarted", "deleted"):
        await rig.stop(server)
        server = await rig.server()
        original = server.store.put_round
    if way == "retry":
        server.store.put_round = original  # type: ignore[method-assign]
        sender.delivery.retry()
        expected = sender.bodies
    else:
        one = parked(sender, 4)
        sender.delivery.sends_instead(one)
        expected = [*sender.bodies[:3], one.outgoing.body, *sender.bodies[4:]]
    await sender.all_taken(server)
    await sender.good()
    assert held(server) == expected


@pytest.mark.parametrize("emptied", [False, True])
async def test_what_is_kept_no_more_is_skipped(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, emptied: bool
) -> None:
    """A new game server wants the first event; stream and journal begin behind it."""
    server = await rig.server()
    sender = rig.sender()
    sender.play(8)
    await sender.all_taken(server)
    await rig.stop(server)
    real = JournalReader.bodies
    kept = lambda reader, first, limit=100: real(reader, max(first, 6), limit)  # noqa: E731
    monkeypatch.setattr(JournalReader, "bodies", kept)
    monkeypatch.setattr(JournalReader, "first_sequence", lambda _: 6)
    await rig.nats.ask("STREAM.PURGE.TABLES", {} if emptied else {"keep": 2})
    new = await rig.server("new.db")
    sender.play(1)
    await sender.until(lambda: sender.alarms)
    assert ways.gone(1, 6) in sender.alarms[0][1]
    event = skip("T07", sender.journal.epoch, now(), 1, 5, "system: lost", "bo", test=False)
    one = instead_of(event, "T07", sender.journal.epoch)
    assert one is not None
    sender.delivery.sends_instead(one)
    await sender.all_taken(new)
    await sender.good()
    assert held(new) == [one.outgoing.body, *sender.bodies], "those kept"


async def test_a_journal_that_is_behind_begins_a_new_history(rig: Rig) -> None:
    """The way out where there is no newer copy."""
    server = await rig.server()
    sender = rig.sender()
    sender.play(3)
    await sender.all_taken(server)
    yesterday = rig.folder / "yesterday.db"
    sender.journal._db.execute("VACUUM INTO ?", (str(yesterday),))
    sender.play(3)
    await sender.all_taken(server)
    await rig.stop(sender)
    behind = rig.sender(path=yesterday)
    behind.play(4)
    await behind.until(lambda: behind.alarms)
    assert ways.AHEAD in behind.alarms[0][1]
    await rig.stop(behind)
    new = rig.sender(path=rig.folder / "new.db")
    new.play(2)
    await new.until(lambda: new.alarms and server.store.refused_epochs("T07"))
    accept_epoch(rig.folder / "server.db", "T07", new.journal.epoch)
    new.delivery.retry()
    await new.all_taken(server)
    await new.good()
    assert held(server) == new.bodies


def other_way(sender: Sender, sequence: int) -> bytes:
    """An event of this history that its journal does not hold."""
    return body(sequence, resulted(sequence), epoch=sender.journal.epoch)


async def word(rig: Rig, epoch: str) -> dict[str, Any]:
    """What the game server answers a table that asks with this history."""
    async with rig.client() as client:
        asked = json.dumps({"epoch": epoch, "stream": "TABLES", "stored": 0, "acked": 0}).encode()
        said: dict[str, Any] = json.loads((await client.request("tables.T07.link", asked, 2)).data)
        return said


async def test_what_is_held_otherwise_is_refused_until_it_is_taken_away(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender()
    sender.play(3)
    await sender.all_taken(server)
    await publish(rig, other_way(sender, 2))
    sender.play(1)
    await sender.until(lambda: sender.alarms)
    seen_here = "event 2 in the stream is not event 2 of this journal"
    assert any(
        words in sender.alarms[0][1] for words in (seen_here, "event 2 is held here with other content")
    )
    said = await word(rig, sender.journal.epoch)
    assert (said["status"], said["next"]) == (422, 2)
    assert "is held here with other content" not in (await word(rig, "aaaaaa"))["error"]
    await rig.nats.ask("STREAM.MSG.DELETE.TABLES", {"seq": 4})
    await sender.until(lambda: sender.delivery._taken.box and sender.delivery._taken.box.trouble)
    sender.delivery.retry()
    await sender.all_taken(server)
    await sender.good()
    assert held(server) == sender.bodies


async def test_behind_what_is_held_otherwise_nothing_is_taken(rig: Rig) -> None:
    """A journal that went another way would else be joined to what is held, at the next number."""
    server = await rig.server()
    sender = rig.sender()
    sender.play(3)
    await sender.all_taken(server)
    for sequence in (2, 3, 4):
        await publish(rig, other_way(sender, sequence))
    await sender.until(lambda: server.store.sql("SELECT at FROM streams") == [(6,)])
    assert held(server) == sender.bodies


POISON = (
    {"type": "\ud800"},
    {"type": "tablectl.history.skipped.v1", "data": {"from": 4, "to": 1 << 70}},
    {"type": "tablectl.history.skipped.v1", "data": {"from": 4, "to": 1e400}},
    {"data": {"shoe": 1 << 70, "round": 1 << 70}},
    {"data": {"shoe": 1, "round": 4, "revision": 1 << 70}},
    {"data": {"\ud800": "\ud800"}},
)


@pytest.mark.parametrize("poison", POISON, ids=range(len(POISON)))
async def test_no_message_stops_the_other_tables(rig: Rig, poison: dict[str, Any]) -> None:
    server = await rig.server()
    sender = rig.sender()
    sender.play(3)
    await sender.all_taken(server)
    made = json.loads(other_way(sender, 4)) | poison
    if "skipped" in made["type"]:
        made["id"] += "-s"
    await publish(rig, json.dumps(made).encode())
    other = rig.sender(path=rig.folder / "other.db", table="T08")
    other.play(2)
    await other.all_taken(server)
    await other.good()
    assert len(held(server)) == 3


def test_bad_addresses_are_refused(tmp_path: Path) -> None:
    for url in ("http://x", "nats://", "nats://u:p@x", "nats://x/path", "nats://x,ftp://y", "nats://x:0"):
        with pytest.raises(ValueError, match="a NATS server's address is"):
            Sender(tmp_path / "T07.db", url)


def test_journal_is_not_touched_by_a_bad_address(tmp_path: Path) -> None:
    assert Journal.open(tmp_path / "T07.db", "T07").last() == (0, 0)
