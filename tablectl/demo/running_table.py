"""``tablectl play``: the scripted dealer of the demo at a daemon that runs already, for a test table only.

It is the hand, the shoe and the voice at the table: it makes the emulated shoe that the daemon's own
configuration names, on the very port the daemon opens, and works the table by the public commands. What it
does not hold in its hands it does not deal: a shoe that is in play ends first, and that is for a pit boss.
"""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tablectl.config import Config
from tablectl.demo.scripted_dealer import NeedsPitBoss, PitBoss, ScriptedDealer
from tablectl.emulation import EmulatedShoe
from tablectl.local import Client, NotReachable
from tablectl.plugins import load_emulator
from tablectl.scanner_setup import is_pseudo_terminal, load_scanner

NAME = "play"
"""Who signs in."""
PATIENCE = 120.0
"""Longer (s) than any betting window: how long the table may stand still."""
REACHED = 30.0
"""Seconds within which a daemon opens the port of a shoe that is there."""
REASON = "training: the shoe goes into other hands"


class CannotPlay(Exception):
    """The table cannot be played, or not on; the message says why and the way out."""


def play(
    config: Config,
    told: Callable[[dict[str, Any]], None],
    *,
    rounds: int,
    pace: float,
    seed: int,
    faults: tuple[str, ...] = (),
    pit_boss: PitBoss | None = None,
) -> ScriptedDealer:
    """Deal ``rounds`` rounds; the dealer, who knows what was done. ``told``: each event, in another thread.

    ``pace``: seconds from one card to the next. Raises :class:`CannotPlay`, ``ConfigError`` and
    :class:`NotReachable`.
    """
    client = Client(config.socket_path)
    state = client.state()
    driver, settings = load_scanner(config)
    traits = driver.traits(settings)
    _may_be_played(config, state)
    with _shoe(config, settings, seed, faults) as shoe, _following(client, state["sequence"], told) as caught:
        _wait_for_scanner(client, config)
        _take_over(client, pit_boss)
        dealer = ScriptedDealer(
            client,
            shoe,
            pit_boss,
            seed=seed,
            name=NAME,
            announces_cut=not traits.reports_cutting_card,
            presses_result=traits.has_result_button,
            pause=pace,
            patience=PATIENCE,
            stuck=PATIENCE,
        )
        try:
            dealer.play(rounds=rounds)
        except TimeoutError as stuck:
            raise CannotPlay(str(stuck)) from None
        except NeedsPitBoss as needed:
            raise CannotPlay(
                f"{needed}; `tablectl status` shows the ways out, or play with --as NAME"
            ) from None
        except KeyboardInterrupt:
            pass
        caught(client.state()["sequence"])
        return dealer


def _may_be_played(config: Config, state: dict[str, Any]) -> None:
    table, device = config.table.id, config.scanner.device
    if state.get("table") != table:
        raise CannotPlay(f"{config.socket_path} is table {state.get('table')}, not {table}")
    if not config.table.test or state.get("test") is not True:
        raise CannotPlay(f"{table} is no test table: cards are dealt there by people ([table] test = true)")
    if state["scanner"]["driver"] != config.scanner.driver or state["scanner"]["device"] != device:
        raise CannotPlay(f"{config.path} is not what the daemon runs with: its scanner is another one")
    if state["scanner"]["up"]:
        raise CannotPlay(
            f"a shoe is on {device} already; end what holds it (`tablectl emulate`, another `play`)"
        )


@contextmanager
def _shoe(
    config: Config, settings: dict[str, Any], seed: int, faults: tuple[str, ...]
) -> Iterator[EmulatedShoe]:
    """The emulated shoe where the daemon looks for it."""
    device = config.scanner.device
    where: dict[str, Any] = {"link": device}
    if device.startswith("tcp://"):
        host, _, port = device.removeprefix("tcp://").rpartition(":")
        if host not in ("127.0.0.1", "localhost", "[::1]"):
            raise CannotPlay(
                f"scanner.device: {device} is another machine's port; a shoe is made on this one"
            )
        where = {"listen": int(port)}
    elif not device.startswith("/"):
        raise CannotPlay(f"scanner.device: {device} is no path; for an emulated shoe it names a link")
    elif Path(device).exists() and not is_pseudo_terminal(device):
        raise CannotPlay(f"scanner.device: {device} is there, and is no emulated shoe's")
    elif not os.access(Path(device).parent, os.W_OK | os.X_OK):
        raise CannotPlay(f"scanner.device: no link can be made in {Path(device).parent}")
    try:
        made = load_emulator(config.scanner.driver).make(**where, seed=seed, faults=faults, settings=settings)
    except (OSError, ValueError) as fault:
        raise CannotPlay(f"the emulated shoe: {fault}") from None
    try:
        yield made
    finally:
        made.close()


def _wait_for_scanner(client: Client, config: Config) -> None:
    until = time.monotonic() + REACHED
    while not (state := client.state())["scanner"]["up"]:
        if time.monotonic() > until:
            why = state["scanner"]["why"]
            raise CannotPlay(f"the daemon does not open {config.scanner.device}: {why or 'no reason told'}")
        time.sleep(0.05)


def _take_over(client: Client, pit_boss: PitBoss | None) -> None:
    """End the round and the shoe whose cards are in other hands."""
    while (state := client.state())["shoe"] is not None:
        command = "void" if state["round"] else "shoe end"
        if pit_boss is None:
            raise CannotPlay(
                f"shoe {state['shoe']['number']} is in play, and its cards are not in these hands: a pit "
                f"boss ends it first (`tablectl {command}`), or play with --as NAME"
            )
        who = {"person": pit_boss.name, "pin": pit_boss.pin, "reason": REASON}
        seen = {"version": state["version"]}
        accepted, answer = client.command(
            {"id": uuid.uuid4().hex, "command": command, "args": {}, "expect": seen, **who}
        )
        if not accepted:
            raise CannotPlay(f"{command}: {answer}")


@contextmanager
def _following(
    client: Client, after: int, told: Callable[[dict[str, Any]], None]
) -> Iterator[Callable[[int], None]]:
    """Tell each event behind ``after``; to be called with the sequence up to which all is to be told."""
    at, over = after, threading.Event()

    def follow() -> None:
        nonlocal at
        while not over.is_set():
            with suppress(NotReachable):
                for text in client.events(f"/v1/events?after={at}"):
                    if over.is_set():
                        return
                    event = json.loads(text)
                    told(event)
                    at = int(event["sequence"])
            over.wait(0.2)

    def caught(sequence: int) -> None:
        until = time.monotonic() + 3
        while at < sequence and time.monotonic() < until:
            time.sleep(0.01)

    threading.Thread(target=follow, name="events", daemon=True).start()
    try:
        yield caught
    finally:
        over.set()
