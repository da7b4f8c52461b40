"""``tablectl demo``: a whole table on one machine, with nothing mocked on the way of a card.

An emulated shoe speaks its real protocol on a pseudo-terminal; the daemon's own runtime opens it with
the driver that hardware would get; the reference game server takes the results over HTTP; a scripted
dealer works the table by the public commands.  At the end everything is counted on both sides.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import secrets
import sys
import tempfile
import threading
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tablectl.config import Config, load_config
from tablectl.core import Durable
from tablectl.daemon import setup_logging
from tablectl.emulation import EmulatedShoe
from tablectl.gameserver.server import GameServer
from tablectl.journal import JournalReader
from tablectl.journal_writer import Batch
from tablectl.local import Client
from tablectl.pins import make_line
from tablectl.plugins import load_driver, load_emulator
from tablectl.profiles import config_dir
from tablectl.runtime import Runtime
from tablectl.scripted_dealer import PitBoss, ScriptedDealer

WINDOW = 20.0
"""Length (s) of the default betting window, which the speed divides."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The files of one demo table."""

    config: Config
    secret: str | None


def write_config(
    folder: Path,
    *,
    table: str,
    shoe: str,
    device: str,
    url: str,
    secret: str,
    pit_boss: PitBoss,
    speed: float,
    rules: str = "live-casino",
    overrides: dict[str, dict[str, Any]] | None = None,
) -> Path:
    """Configuration, house rules and credentials of an emulated table, as files like a house's own."""
    profile = tomllib.loads((config_dir() / "rules" / f"{rules}.toml").read_text())
    betting = profile.setdefault("betting", {})
    betting["seconds"] = WINDOW / speed
    betting["pip_every"] = max(0.01, 1.0 / speed)
    for section, values in (overrides or {}).items():
        profile.setdefault(section, {}).update(values)
    profile["name"] = f"{rules}-demo"
    (folder / "rules").mkdir(exist_ok=True)
    (folder / "rules" / f"{rules}-demo.toml").write_text(_toml(profile))
    credentials = folder / "credentials"
    credentials.mkdir(mode=0o700, exist_ok=True)
    (credentials / "push-hmac").write_text(secret + "\n")
    (credentials / "pit-bosses").write_text(make_line(pit_boss.name, pit_boss.pin) + "\n")
    path = folder / f"{table}.toml"
    path.write_text(
        _toml(
            {
                "table": {"id": table, "test": True, "rules": str(folder / "rules" / f"{rules}-demo.toml")},
                "scanner": {"driver": shoe, "device": device},
                "server": {"url": url},
                "journal": {"path": str(folder / f"{table}.db")},
                "api": {"socket": str(folder / f"{table}.sock")},
                "secrets": {"folder": str(credentials)},
                "log": {"format": "console", "level": "error"},
            }
        )
    )
    return path


def _toml(sections: dict[str, Any]) -> str:
    """Enough TOML to write configuration: tables of plain values, nested tables inline-free."""
    lines: list[str] = []

    def write(prefix: str, table: dict[str, Any]) -> None:
        if prefix:
            lines.append(f"[{prefix}]")
        inner = {k: v for k, v in table.items() if isinstance(v, dict)}
        lines.extend(f"{k} = {json.dumps(v)}" for k, v in table.items() if k not in inner)
        for key, value in inner.items():
            write(f"{prefix}.{key}" if prefix else key, value)

    write("", sections)
    return "\n".join(lines) + "\n"


def new_secret() -> str:
    """A fresh signing secret in the Standard Webhooks form."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


class GameServerThread:
    """The reference game server in a thread of its own loop."""

    def __init__(self, db: Path, secret: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(db, secret), name="gameserver", daemon=True)
        self.url = ""
        self.events_url = ""

    def start(self) -> None:
        """Start and wait until it listens. Raises what went wrong."""
        self._thread.start()
        self._ready.wait(20)
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Stop and wait."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)

    def _run(self, db: Path, secret: str) -> None:
        try:
            self._loop.run_until_complete(self._serve(db, secret))
        except BaseException as error:  # noqa: BLE001 told by start()
            self._error = error
        finally:
            self._ready.set()
            self._loop.close()

    async def _serve(self, db: Path, secret: str) -> None:
        server = GameServer(db, [secret], accept_test=True)
        await server.start()
        self.url, self.events_url = server.url, server.events_url
        self._ready.set()
        await self._stop.wait()
        await server.stop()


def held_rounds(base: str, table: str) -> dict[str, dict[str, Any]]:
    """Every round a reference game server holds of a table, by ``SHOE/ROUND``."""
    found: dict[str, dict[str, Any]] = {}
    after = "0/0"
    while True:
        target = f"{base}/v1/tables/{table}/rounds?after={after}&limit=500"
        with urllib.request.urlopen(target, timeout=10) as response:  # noqa: S310 our own loopback server
            page = json.load(response)
        for record in page["rounds"]:
            after = f"{record['shoe']}/{record['round']}"
            found[after] = record
        if not page["more"]:
            return found


def sent_rounds(path: Path) -> dict[str, dict[str, Any]]:
    """The last word on every round in a journal: its result, amended result or void."""
    reader = JournalReader.open(path)
    try:
        found: dict[str, dict[str, Any]] = {}
        for row in reader.every_row():
            if row.public is None:
                continue
            event = json.loads(row.public)
            kind, data = event["type"], event["data"]
            if kind in ("tablectl.round.resulted.v1", "tablectl.round.voided.v1"):
                found[f"{data['shoe']}/{data['round']}"] = {"type": kind, **data}
        return found
    finally:
        reader.close()


class Screen:
    """What the demo prints while it plays: a line a round, pips and beep marked, and a progress bar."""

    BAR = 24

    def __init__(self, quiet: bool, many: bool) -> None:
        self._quiet = quiet
        self._many = many
        self._marks: dict[str, str] = {}
        self._bar = sys.stderr.isatty() and not quiet
        self._lock = threading.Lock()
        self.last_hand = 0

    def stored(self, table: str) -> Callable[[Durable, tuple[Batch, ...]], None]:
        """The callback for one table's committed batches."""

        def stored(durable: Durable, batches: tuple[Batch, ...]) -> None:
            for batch in batches:
                for row in batch.rows:
                    if row.public is not None:
                        event = json.loads(row.public)
                        with self._lock:
                            self._event(table, event["type"].split(".", 1)[1][:-3], event["data"])

        return stored

    def _event(self, table: str, kind: str, data: dict[str, Any]) -> None:
        where = f"{table + ' ' if self._many else ''}{data.get('shoe')}/{data.get('round')}"
        match kind:
            case "shoe.started":
                self.line(f"--- shoe {data['shoe']}: {data['decks']} decks, burn first ---")
            case "betting.opened":
                self._marks[table] = ""
            case "betting.closing":
                self._marks[table] = self._marks.get(table, "") + "."
            case "betting.closed":
                self._marks[table] = self._marks.get(table, "") + "BEEP"
            case "cut_card.drawn":
                self.line(f"{where:>8}  cutting card after {data['out']} cards")
            case "last_hand.announced":
                self.last_hand += 1
                self.line(f"{where:>8}  *** Last Hand before shuffle ***")
            case "round.resulted":
                player, banker = data["player"], data["banker"]
                extras = [n for n, hand in (("P pair", player), ("B pair", banker)) if hand["pair"]]
                extras += ["natural"] if player["natural"] or banker["natural"] else []
                self.line(
                    f"{where:>8}  {self._marks.get(table, ''):<10} "
                    f"P {' '.join(player['cards']):<8} {player['total']}   "
                    f"B {' '.join(banker['cards']):<8} {banker['total']}   "
                    f"{data['outcome'].upper():<6} {', '.join(extras)}".rstrip()
                )
            case "round.voided":
                self.line(f"{where:>8}  VOID: {data['reason']}")
            case "table.held":
                self.line(f"{where:>8}  ON HOLD: {data['message']}")
            case "shoe.ended":
                self.line(f"--- shoe {data['shoe']} ended: {data['reason']}, {data['rounds']} rounds ---")
            case _:
                pass

    def line(self, text: str) -> None:
        """One line above the bar."""
        if self._quiet:
            return
        if self._bar:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        print(text, flush=True)  # noqa: T201 the demo's purpose

    def bar(self, left: int, size: int) -> None:
        """How much of the shoe is dealt."""
        if not self._bar:
            return
        done = (size - left) * self.BAR // size
        with self._lock:
            sys.stderr.write(f"\r[{'#' * done}{'.' * (self.BAR - done)}] {size - left}/{size} cards ")
            sys.stderr.flush()


@dataclass(slots=True)
class Table:
    """One table of the demo while it runs."""

    name: str
    shoe: EmulatedShoe
    runtime: Runtime
    dealer: ScriptedDealer
    client: Client
    thread: threading.Thread | None = None
    error: str = ""


@contextlib.contextmanager
def _closing(steps: list[Callable[[], object]]) -> Iterator[None]:
    try:
        yield
    finally:
        for step in reversed(steps):
            with contextlib.suppress(Exception):
                step()


def main(
    *,
    shoe: str = "angel-eye",
    shoes: int = 1,
    speed: float = 50.0,
    seed: int = 1,
    server: str | None = None,
    table: str = "DEMO",
    tables: int = 1,
    faults: tuple[str, ...] = (),
    json_output: bool = False,
) -> int:
    """Play and print; 0 only if every result sent is the result the server holds and the journal is whole.

    ``speed`` divides the betting window and the shoe's own pauses. ``server``: the address of another
    game server; its secret is read from the environment variable TABLECTL_PUSH_SECRET.
    """
    setup_logging("console", "error")
    sys.setswitchinterval(0.001)
    begun = time.monotonic()
    steps: list[Callable[[], object]] = []
    screen = Screen(json_output, tables > 1)
    with tempfile.TemporaryDirectory(prefix="tablectl-demo-") as text, _closing(steps):
        folder = Path(text)
        secret = os.environ.get("TABLECTL_PUSH_SECRET") or new_secret()
        game: GameServerThread | None = None
        if server is None:
            game = GameServerThread(folder / "gameserver.db", secret)
            game.start()
            steps.append(game.stop)
        url = server or (game.events_url if game else "")
        names = [table] if tables == 1 else [f"{table}{i + 1}" for i in range(tables)]
        running = [
            _start(name, i, folder, url, secret, shoe, speed, seed, faults, screen, steps)
            for i, name in enumerate(names)
        ]
        for one in running:
            one.thread = threading.Thread(target=_play, args=(one, shoes), daemon=True)
            one.thread.start()
        while any(one.thread is not None and one.thread.is_alive() for one in running):
            for one in running:
                assert one.thread is not None
                one.thread.join(0.1)
            shoe_now = running[0].runtime.state.shoe
            if shoe_now is not None:
                screen.bar(shoe_now.left, shoe_now.size)
        reports = [_report(one, game, time.monotonic() - begun) for one in running]
        return _summary(reports, screen, json_output)


def _start(
    name: str,
    index: int,
    folder: Path,
    url: str,
    secret: str,
    protocol: str,
    speed: float,
    seed: int,
    faults: tuple[str, ...],
    screen: Screen,
    steps: list[Callable[[], object]],
) -> Table:
    home = folder / name
    home.mkdir()
    emulated = load_emulator(protocol).make(
        link=str(home / "shoe"), speed=speed, faults=faults, seed=seed + index
    )
    steps.append(emulated.close)
    pit_boss = PitBoss("demo-pit", secrets.token_hex(4))
    config = load_config(
        write_config(
            home,
            table=name,
            shoe=protocol,
            device=emulated.device,
            url=url,
            secret=secret,
            pit_boss=pit_boss,
            speed=speed,
        )
    )
    runtime = Runtime(config, on_stored=screen.stored(name))
    runtime.start()
    steps.append(runtime.stop)
    client = Client(config.socket_path)
    traits = load_driver(protocol).traits({})
    dealer = ScriptedDealer(
        client,
        emulated,
        pit_boss,
        seed=seed + index,
        announces_cut=not traits.reports_cutting_card,
        presses_result=traits.has_result_button,
        patience=30.0,
    )
    return Table(name, emulated, runtime, dealer, client)


def _play(one: Table, shoes: int) -> None:
    try:
        one.dealer.play(shoes)
        _settle(one)
    except Exception as error:  # noqa: BLE001 told in the summary
        one.error = str(error) or type(error).__name__


def _settle(one: Table) -> None:
    """Wait until the server has everything."""
    until = time.monotonic() + 15
    while time.monotonic() < until:
        state = one.client.state()
        if state["acked"] == state["sequence"] and state["journal"]["depth"] == 0:
            return
        time.sleep(0.05)
    raise TimeoutError(f"the game server does not take everything: {one.client.state()['link']['why']}")


def _report(one: Table, game: GameServerThread | None, seconds: float) -> dict[str, Any]:
    path = one.runtime.config.journal_path
    state = one.runtime.state
    one.runtime.stop()
    reader = JournalReader.open(path)
    try:
        rows, verified = reader.verify(), ""
    except Exception as error:  # noqa: BLE001 it is the demo's verdict
        rows, verified = 0, str(error)
    finally:
        reader.close()
    sent = sent_rounds(path)
    held = held_rounds(game.url, one.name) if game else None
    return {
        "table": one.name,
        "shoes": one.dealer.ledger.shoes,
        "rounds": len(sent),
        "voids": sum(r["type"].endswith("voided.v1") for r in sent.values()),
        "cards": one.dealer.ledger.cards,
        "events": state.sequence,
        "journal_rows": rows,
        "journal_fault": verified,
        "differences": [] if held is None else differences(sent, held),
        "held": None if held is None else len(held),
        "error": one.error,
        "seconds": round(seconds, 1),
    }


def differences(sent: dict[str, dict[str, Any]], held: dict[str, dict[str, Any]]) -> list[str]:
    """What a game server holds otherwise than the journal says, in words; empty when nothing."""
    found = [f"{name}: not at the server" for name in sent if name not in held]
    found += [f"{name}: not in the journal" for name in held if name not in sent]
    for name in sent.keys() & held.keys():
        ours, theirs = dict(sent[name]), held[name]
        state = "voided" if ours.pop("type").endswith("voided.v1") else "resulted"
        if theirs["state"] != state or theirs["result"] != ours:
            found.append(f"{name}: {state} {ours} here, {theirs['state']} {theirs['result']} there")
    return found


def _summary(reports: list[dict[str, Any]], screen: Screen, json_output: bool) -> int:
    good = all(
        not r["error"] and not r["journal_fault"] and not r["differences"] and r["rounds"] for r in reports
    )
    if json_output:
        print(json.dumps({"good": good, "tables": reports, "last_hands": screen.last_hand}))  # noqa: T201
        return 0 if good else 1
    for r in reports:
        held = "its own server" if r["held"] is None else f"{r['held']} held by the server"
        screen.line("")
        screen.line(f"table {r['table']}: {r['rounds']} rounds ({r['voids']} void), {r['cards']} cards drawn")
        screen.line(f"  last hand announced: {screen.last_hand} time(s)")
        screen.line(f"  results: {r['rounds']} sent, {held}, {len(r['differences'])} different")
        screen.line(f"  journal: {r['journal_fault'] or str(r['journal_rows']) + ' rows, verified'}")
        screen.line(f"  took {r['seconds']} s")
        for problem in (*r["differences"][:10], r["error"]):
            if problem:
                screen.line(f"  PROBLEM: {problem}")
    screen.line("all is well" if good else "NOT all is well")
    return 0 if good else 1
