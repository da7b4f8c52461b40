"""``tablectl demo``: a whole table on one machine, with nothing mocked on the way of a card.

An emulated shoe speaks its real protocol on a pseudo-terminal; the daemon's own runtime opens it with
the driver that hardware would get; the reference game server takes the results over HTTP; a scripted
dealer works the table by the public commands.  At the end everything is counted on both sides.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tablectl.config import load_config
from tablectl.demo.compare import CannotAsk, differences, held_by, held_rounds, keep, sent_rounds
from tablectl.demo.files import WINDOW, new_secret, write_config
from tablectl.demo.game import GameServerThread
from tablectl.demo.screen import Screen, summary
from tablectl.demo.scripted_dealer import PitBoss, ScriptedDealer
from tablectl.emulation import EmulatedShoe
from tablectl.journal import JournalReader
from tablectl.local import Client
from tablectl.logs import setup_logging
from tablectl.plugins import load_driver, load_emulator
from tablectl.profiles import ConfigError
from tablectl.runtime import Runtime
from tablectl.scanner_setup import resolve_paths

PACE = 0.8
"""How long (s) a dealer takes from one card to the next, which the speed divides."""
LINKED = 10.0
"""Seconds within which a game server that is there gives a good link."""
PATIENCE = 30.0
"""How long (s), besides a betting window, the table may stand still."""
PLAYER, DEPOSIT = "guest", 1_000_00
"""Who may bet at the demo's table, and with how much (cents)."""


@dataclass(slots=True)
class Table:
    """One table of the demo while it runs."""

    name: str
    shoe: EmulatedShoe
    runtime: Runtime
    dealer: ScriptedDealer
    client: Client
    ended: threading.Event = field(default_factory=threading.Event)
    error: str = ""


@contextlib.contextmanager
def _closing(steps: list[Callable[[], object]]) -> Iterator[None]:
    try:
        yield
    finally:
        for step in reversed(steps):
            with contextlib.suppress(Exception):
                step()


@contextlib.contextmanager
def _ended_as_by_ctrl_c() -> Iterator[None]:
    """``kill`` and a terminal that is closed end it as Ctrl-C does: summed up, and no file left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ends = [one for one in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) is signal.SIG_DFL]
    try:
        for one in ends:
            signal.signal(one, signal.default_int_handler)
        yield
    finally:
        for one in ends:
            signal.signal(one, signal.SIG_DFL)


@_ended_as_by_ctrl_c()
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
    web: bool = False,
    json_output: bool = False,
) -> int:
    """Play and print; 0 only if every result sent is the result the server holds and the journal is whole.

    ``speed`` divides the betting window and the shoe's own pauses. ``server``: the address of another
    game server; its secret is read from the environment variable TABLECTL_PUSH_SECRET. ``web``: the pages
    of the (first) table are there to be looked at. An interrupt or SIGTERM ends the play;
    it is summed up all the same.
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
        listen, stop = f"127.0.0.1:{_free_port()}" if web else None, threading.Event()
        running = [
            _start(name, i, folder, url, secret, shoe, speed, seed, faults, screen, steps, stop, listen)
            for i, name in enumerate(names)
        ]
        if web:
            screen.line(f"table display   http://{listen}/")
            if game is not None:
                screen.line(f"player's page   {game.player(names[0], PLAYER, DEPOSIT)}")
            screen.line("Ctrl-C ends it.")
        for one in running:
            threading.Thread(target=_play, args=(one, shoes, url, stop), daemon=True).start()
        while not all(one.ended.is_set() for one in running):
            try:
                for one in running:
                    one.ended.wait(0.1)  # a join that is interrupted takes the thread for ended
            except KeyboardInterrupt:
                if stop.is_set():
                    raise
                stop.set()
            shoe_now = running[0].runtime.state.shoe
            if shoe_now is not None:
                screen.bar(shoe_now.left, shoe_now.size)
        reports = [_report(one, game, url, time.monotonic() - begun) for one in running]
        return summary(reports, screen, json_output)


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
    stop: threading.Event,
    listen: str | None,
) -> Table:
    home = folder / name
    home.mkdir()
    driver, emulator = load_driver(protocol), load_emulator(protocol)
    settings = emulator.settings_at(speed)
    own = resolve_paths(driver, settings, home)
    try:
        emulated = emulator.make(
            link=str(home / "shoe"), speed=speed, faults=faults, seed=seed + index, settings=own
        )
    except ValueError as wrong:
        raise ConfigError(f"the emulated shoe: {wrong}") from None
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
            settings=settings,
            listen=listen if index == 0 else None,
        )
    )
    runtime = Runtime(config, on_stored=screen.stored(name))
    runtime.start()
    steps.append(runtime.stop)
    client = Client(config.socket_path)
    traits = driver.traits(settings)
    dealer = ScriptedDealer(
        client,
        emulated,
        pit_boss,
        seed=seed + index,
        announces_cut=not traits.reports_cutting_card,
        presses_result=traits.has_result_button,
        pause=PACE / speed,
        patience=PATIENCE,
        stuck=PATIENCE + WINDOW / speed,
        stop=stop.is_set,
    )
    return Table(name, emulated, runtime, dealer, client)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _play(one: Table, shoes: int, url: str, stop: threading.Event) -> None:
    try:
        if _linked(one, stop):
            one.dealer.play(shoes)
            _settle(one)
    except Exception as error:  # noqa: BLE001 told in the summary
        one.error = str(error) or type(error).__name__
        if one.runtime.core.around.link_why:
            one.error = f"game server {url}: {one.error}"
    finally:
        one.ended.set()


def _linked(one: Table, stop: threading.Event) -> bool:
    """Wait for a good link; False: interrupted before there was one. Raises :class:`TimeoutError`."""
    until = time.monotonic() + LINKED
    while not (link := one.client.state()["link"])["good"]:
        if stop.is_set():
            return False
        if time.monotonic() > until:
            raise TimeoutError(f"no good link within {LINKED:g} s: {link['why']}")
        time.sleep(0.02)
    return True


def _settle(one: Table) -> None:
    """Wait until the server has everything."""
    until = time.monotonic() + 15
    while time.monotonic() < until:
        state = one.client.state()
        if state["acked"] == state["sequence"] and state["journal"]["depth"] == 0:
            return
        time.sleep(0.05)
    raise TimeoutError(f"the server does not take everything: {one.client.state()['link']['why']}")


def _compare(
    one: Table, game: GameServerThread | None, url: str, sent: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """What the server holds against what was sent; where it cannot be asked the journal is kept for that."""
    if not sent:
        return {"held": None, "differences": [], "not_compared": "", "kept": None}
    try:
        held = held_rounds(game.url, one.name) if game else held_by(url, one.name)
        return {"held": len(held), "differences": differences(sent, held), "not_compared": "", "kept": None}
    except CannotAsk as why:
        kept = keep(one.runtime.config.journal_path, sent, one.name)
        return {"held": None, "differences": [], "not_compared": str(why), "kept": str(kept)}


def _report(one: Table, game: GameServerThread | None, url: str, seconds: float) -> dict[str, Any]:
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
    return {
        "table": one.name,
        "shoes": one.dealer.ledger.shoes,
        "rounds": len(sent),
        "voids": sum(r["type"].endswith("voided.v1") for r in sent.values()),
        "cards": one.dealer.ledger.cards,
        "events": state.sequence,
        "journal_rows": rows,
        "journal_fault": verified,
        **_compare(one, game, url, sent),
        "error": one.error,
        "seconds": round(seconds, 1),
    }
