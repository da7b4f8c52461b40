"""How long a table's event waits for its answer while thousands look on: ``python -m tests.bench players``.

Three processes: the game server, the players' pages, each of which asks for news as soon as it has some, and
here the table's controller, whose every event is news to all of them. Prints the controller's answers in ms.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from tablectl.clock import Instant, iso
from tablectl.delivery.signing import parse_secret, sign
from tablectl.demo.files import new_secret
from tablectl.events import (
    BettingClosed,
    BettingOpened,
    Event,
    ShoeStarted,
    TableOpened,
    event_id,
    public_body,
)
from tablectl.gameserver.bank import Bank
from tablectl.gameserver.store import Store
from tablectl.profiles import load_rules
from tests.bench.server import game_server

TABLE, EPOCH = "BENCH", "4f2a91"


class Player(asyncio.Protocol):
    """One page: asks anew as soon as it is answered, for what is newer than what it has."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._got = b""
        self.answers = 0
        self.lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._ask("")

    def _ask(self, after: str) -> None:
        line = f"GET /v1/tables/{TABLE}/play?after={after} HTTP/1.1\r\nHost: t\r\n"
        self._transport.write(f"{line}Authorization: Bearer {self._token}\r\n\r\n".encode())

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, end, body = self._got.partition(b"\r\n\r\n")
        if not end or len(body) < int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]):
            return
        assert head.startswith(b"HTTP/1.1 200"), head
        self._got = b""
        self.answers += 1
        self._ask(body.split(b'"version": "')[1].split(b'"')[0].decode())

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True


async def look_on(port: int, tokens: list[str]) -> None:
    """All players; a line once each has been answered, and another at the end of the input."""
    loop = asyncio.get_running_loop()
    all_of_them = [
        (await loop.create_connection(lambda one=one: Player(one), "127.0.0.1", port))[1]  # type: ignore[misc]
        for one in tokens
    ]
    while not all(one.answers for one in all_of_them):
        await asyncio.sleep(0.05)
    before = sum(one.answers for one in all_of_them)
    print("there", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    answers = [one.answers for one in all_of_them]
    print(sum(answers) - before, min(answers), sum(one.lost for one in all_of_them), flush=True)


class Controller:
    """Sends single events over one connection."""

    def __init__(self, url: str, secret: str) -> None:
        place = urlsplit(url.replace("{table}", TABLE))
        assert place.hostname is not None and place.port is not None
        self._path, self.port = place.path, place.port
        self._line = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
        self._key = parse_secret(secret)
        self._sequence = 0

    def tell(self, event: Event) -> float:
        """The answer's time in ms."""
        self._sequence = n = self._sequence + 1
        body = public_body(
            event, table=TABLE, epoch=EPOCH, sequence=n, at=Instant(n, time.time_ns()), test=True
        )
        headers = sign([self._key], event_id(TABLE, EPOCH, n), int(time.time()), body)
        begun = time.perf_counter()
        self._line.request(
            "POST", self._path, body, headers | {"Content-Type": "application/cloudevents+json"}
        )
        answer = self._line.getresponse()
        told = json.loads(answer.read())
        assert (answer.status, told["next"]) == (200, n + 1), told
        return (time.perf_counter() - begun) * 1000


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench players")
    parser.add_argument("--players", type=int, default=2000)
    parser.add_argument("--events", type=int, default=60)
    parser.add_argument(
        "--pause", type=float, default=0.5, help="seconds between an answer and the next event"
    )
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"), help="the database's: a real disk")
    given = parser.parse_args(arguments)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    secret, rules = new_secret(), load_rules("live-casino")
    with tempfile.TemporaryDirectory(prefix="tablectl-bench-", dir=given.folder) as folder:
        store = Store(Path(folder) / "gameserver.db")
        store.sql("PRAGMA synchronous=OFF")
        bank = Bank(store, lambda _: (None, 0.0, 0.0))
        tokens = [bank.players.add(f"p{n}", "USD", 100_00) for n in range(given.players)]
        store.close()
        with game_server(Path(folder), secret) as url:
            table = Controller(url, secret)
            limits = rules.as_dict()["limits"]
            table.tell(TableOpened(rules=rules.name, currency="USD", limits=limits["bets"], max_winnings={}))
            table.tell(ShoeStarted(shoe=1, decks=8, rules=rules.as_dict(), rules_hash=rules.digest))
            alone = sorted(table.tell(_event(n)) for n in range(1, 21))
            crowd = subprocess.Popen(
                [sys.executable, "-m", "tests.bench.players", str(table.port)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert crowd.stdin is not None and crowd.stdout is not None
            crowd.stdin.write(" ".join(tokens) + "\n")
            crowd.stdin.flush()
            assert crowd.stdout.readline() == "there\n"
            begun, took = time.perf_counter(), []
            for n in range(21, 21 + given.events):
                took.append(table.tell(_event(n)))
                time.sleep(given.pause)
            seconds = time.perf_counter() - begun
            crowd.stdin.close()
            answers, least, lost = map(int, crowd.stdout.readline().split())
            crowd.wait(10)
    print(f"alone:              {_figures(alone)}")
    print(f"{given.players} players on: {_figures(sorted(took))}")
    print(f"players answered {answers / seconds:.0f} a second, each at least {least} times; {lost} lost")
    return 0


def _event(n: int) -> Event:
    """Betting opens and closes, round after round."""
    at = iso(time.time_ns() + 20 * 10**9)
    number, closes = divmod(n + 1, 2)
    if closes:
        return BettingClosed(shoe=1, round=number, reason="command", closed_at=at)
    return BettingOpened(shoe=1, round=number, seconds=20, closes_at=at)


def _figures(ms: list[float]) -> str:
    p50, p99 = ms[len(ms) // 2], ms[min(len(ms) - 1, len(ms) * 99 // 100)]
    return f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, max {ms[-1]:.1f} ms of {len(ms)}"


if __name__ == "__main__":
    asyncio.run(look_on(int(sys.argv[1]), sys.stdin.readline().split()))
