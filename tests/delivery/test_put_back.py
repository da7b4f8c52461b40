"""A journal put back from its mirror, against the game server that has seen the old one to its end.

Nothing counts twice, nothing is skipped; where it lacks what the server has, delivery halts and says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tablectl.clock import now
from tablectl.delivery.instead import instead_of, park
from tablectl.events import private_body
from tablectl.journal import Journal, JournalReader, Row
from tablectl.journal.backup import restore
from tablectl.journal.copy import copy_rows
from tablectl.journal.mirror import Mirror
from tests.delivery.picky import Picky
from tests.delivery.test_http import Rig, Sender
from tests.gameserver.posting import SECRET

REFUSED = 4


@pytest_asyncio.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    made = Rig(tmp_path)
    yield made
    await made.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Picky]:
    with Picky(tmp_path / "server.db", SECRET, lambda e: e["id"].endswith(f"{REFUSED:012d}")) as made:
        yield made


@pytest.fixture
def at(tmp_path: Path) -> Path:
    folder = tmp_path / "medium"
    folder.mkdir()
    return folder / "T07.db"


def follow(at: Path, journal: JournalReader) -> None:
    mirror = Mirror(at, lambda: journal)
    mirror.follow(journal)
    mirror._leave()


def park_it(sender: Sender) -> bytes:
    """As a pit boss has it done: the row first, and only then it goes out."""
    moment = now()
    (stored,) = sender.journal.bodies(REFUSED, 1)
    parked = park(stored, sender.journal.epoch, moment, "x: y", "Ann")
    sender.journal.append([Row(sender.journal.last()[0] + 1, None, None, private_body(parked, moment))])
    one = instead_of(parked, "T07", sender.journal.epoch)
    assert one is not None
    sender.delivery.sends_instead(one)
    return one.outgoing.body


async def lived(rig: Rig, server: Picky) -> Sender:
    """Six results, the fourth of which the server refuses: three are acknowledged, delivery is halted."""
    sender = rig.sender(server.url)
    sender.play(6)
    await sender.until(lambda: sender.alarms)
    assert len(server.held("T07")) == REFUSED - 1
    sender.alarms.clear()
    return sender


async def put_back(rig: Rig, sender: Sender, at: Path) -> None:
    """The PC burns down, the new one has only the mirror."""
    await rig.stop(sender)
    for left in rig.path.parent.glob("T07.db*"):
        left.unlink()
    restore(at, rig.path, "T07")


@pytest.mark.parametrize("acknowledged", ["in the mirror", "not there", "later"])
@pytest.mark.parametrize("unsent", [0, 3])
async def test_what_the_mirror_has_goes_on_with_the_parked_event_in_its_place(
    rig: Rig, server: Picky, at: Path, unsent: int, acknowledged: str
) -> None:
    sender = await lived(rig, server)
    park_it(sender)
    if acknowledged == "later":  # by itself, behind the last row
        follow(at, sender.journal)
    await sender.all_taken()
    assert sender.task is not None
    sender.task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await sender.task
    sender.task = None
    if unsent:
        sender.play(unsent)
    follow(at, sender.journal)
    if acknowledged == "not there":  # as a mirror is that was half a second behind
        with contextlib.closing(sqlite3.connect(at)) as db, db:
            db.execute("UPDATE meta SET value = ? WHERE key = 'acked'", (REFUSED - 1,))
    else:
        with contextlib.closing(JournalReader.open(at)) as reader:
            assert reader.acked() == 6
    taken = server.held("T07")
    await put_back(rig, sender, at)

    again = rig.sender(server.url)
    await again.all_taken()
    again.play()
    await again.all_taken()
    assert again.alarms == []
    held = server.held("T07")
    assert held[:6] == taken
    assert b'-p"' in held[REFUSED - 1]
    mine = [one.body for one in again.journal.bodies(1, 100)]
    assert [held[n] == mine[n] for n in range(len(mine))] == [n != REFUSED - 1 for n in range(7 + unsent)]


async def test_parked_twice_over_a_slow_journal_the_first_body_goes_out_for_good(
    rig: Rig, server: Picky
) -> None:
    sender = await lived(rig, server)
    first = park_it(sender)
    second = park_it(sender)  # given again, before the first was known to be committed
    assert first != second
    await sender.all_taken()
    assert park_it(sender) not in (first, second)  # and a third one behind the acknowledgement
    await rig.stop(sender)
    again = rig.sender(server.url)
    await again.all_taken()
    assert server.held("T07")[REFUSED - 1] == first
    assert (sender.alarms, again.alarms) == ([], [])


async def test_a_park_that_the_mirror_lacks_halts_it_and_nothing_passes_it(
    rig: Rig, server: Picky, at: Path
) -> None:
    sender = await lived(rig, server)
    follow(at, sender.journal)
    park_it(sender)
    await sender.all_taken()
    taken = server.held("T07")
    await put_back(rig, sender, at)

    again = rig.sender(server.url)
    await again.until(lambda: again.alarms)
    again.play()
    ((code, text),) = again.alarms
    assert code == "delivery-halted" and f"refuses event {REFUSED}" in text
    park_it(again)  # other bytes than the first time
    await again.until(lambda: len(again.alarms) > 1)
    assert again.outbox.acked == REFUSED - 1
    assert server.held("T07") == taken


async def test_a_mirror_that_lacks_what_the_server_has_halts_it(rig: Rig, server: Picky, at: Path) -> None:
    sender = await lived(rig, server)
    park_it(sender)
    follow(at, sender.journal)
    sender.play(2)
    await sender.all_taken()
    taken = server.held("T07")
    await put_back(rig, sender, at)

    again = rig.sender(server.url)
    again.play(5)  # grown beyond it meanwhile
    await again.until(lambda: again.alarms)
    assert "the server is ahead of this journal" in again.alarms[0][1]
    assert server.held("T07") == taken
    assert not again.links[-1][0]


async def test_the_doubt_about_lost_rows_is_in_the_mirror_too_and_ends_there_too(
    rig: Rig, server: Picky, at: Path
) -> None:
    """Events 2 and 3 were sent and their rows lost; others got their numbers, and the mirror has those."""
    sender = await lived(rig, server)
    await rig.stop(sender)
    with contextlib.closing(JournalReader.open(rig.path)) as reader:
        copy_rows(reader, at.with_name("short.db"), 1, sure=1)
    for left in rig.path.parent.glob("T07.db*"):
        left.unlink()
    at.with_name("short.db").rename(rig.path)
    sender = Sender(rig.path, server.url)
    follow(at, sender.journal)
    sender.play(5)
    follow(at, sender.journal)
    taken = server.held("T07")
    rig._open.append(sender)
    await put_back(rig, sender, at)

    again = rig.sender(server.url)
    await again.until(lambda: again.alarms)
    assert "the events behind 1 that it has were lost here" in again.alarms[0][1]
    assert server.held("T07") == taken
    assert again.journal.sure() == 1

    again.journal.set_acked(1)
    at.unlink()
    follow(at, again.journal)
    with contextlib.closing(JournalReader.open(at)) as reader:
        assert reader.sure() is None


def test_the_doubt_ends_in_the_mirror_without_a_new_row(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "T07.db", "T07")
    journal._doubt(0)
    mirror = Mirror(tmp_path / "mirror.db", lambda: journal)
    for sure in (0, None):
        mirror.follow(journal)
        with contextlib.closing(JournalReader.open(mirror.path)) as reader:
            assert reader.sure() == sure
        journal.set_acked(0)
    mirror._leave()
    journal.close()
