"""``python -m tests.crash.writing DATABASE ROWS [PLANT]``: a journal written and told of, as fast as it goes.

Rows behind the last one, in transactions of one to four, the outbox cursor moved between them; after each
commit the newest row is said on a socket.  The log comes to its automatic checkpoint again and again.
"""

from __future__ import annotations

import json
import random
import socket
import sqlite3
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tablectl.journal import Journal
from tablectl.journal.rows import Row
from tests.crash.planted import PLANTS

TABLE = "CUT"


def made(number: int) -> Row:
    """The row of that number; every second one is public, and now and then one is long."""
    raw = random.Random(number).randbytes(6_000 if number % 7 == 0 else 300)
    body = json.dumps({"type": "tablectl.noted.v1", "data": {}}).encode()
    public = json.dumps({"id": f"n{number}", "type": "tablectl.table.opened.v1", "data": {}}).encode()
    event = number % 2 == 0
    return Row(number, number // 2 if event else None, public if event else None, body, raw)


def stubbornly(write: Callable[[], None]) -> None:
    """Until the disk takes it, as the journal's thread does."""
    while True:
        try:
            return write()
        except sqlite3.OperationalError:
            continue


def write(path: Path, rows: int) -> None:
    """Write so many rows and tell of each."""
    here, there = socket.socketpair()
    journal = Journal.open(path, TABLE)
    number = journal.last()[0] + 1
    last, chance = number + rows, random.Random(number)

    def tell() -> None:
        here.send(b'{"row": %d}' % (number - 1))
        there.recv(1000)

    tell()
    while number < last:
        count = chance.randint(1, 4)
        acked = (number - 1) // 2 if chance.random() < 0.3 else None
        stubbornly(partial(journal.append, [made(n) for n in range(number, number + count)], acked=acked))
        number += count
        tell()
        if chance.random() < 0.3:
            stubbornly(partial(journal.set_acked, (number - 1) // 2))
    journal.close()


if __name__ == "__main__":
    for plant in sys.argv[3:]:
        PLANTS[plant]()
    write(Path(sys.argv[1]), int(sys.argv[2]))
