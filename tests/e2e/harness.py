"""A whole table of real processes for the end-to-end tests, and what can be counted about it afterwards.

The daemon and the reference game server are programs of their own, so that they can be killed; the
emulated shoe lives in the test on a pseudo-terminal behind a symbolic link and survives both. What the
shoe's hand really drew is written down (:class:`RecordingShoe`), to be compared with journal and server.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import sqlite3
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from tablectl import events as ev
from tablectl.cards import Card, Outcome
from tablectl.demo.compare import held_rounds
from tablectl.demo.files import new_secret, write_config
from tablectl.demo.scripted_dealer import PitBoss, ScriptedDealer
from tablectl.emulation import Drawn, EmulatedShoe
from tablectl.journal import JournalReader
from tablectl.journal.replay import replay
from tablectl.journal.rows import decode_row
from tablectl.local import Client, NotReachable
from tablectl.plugins import load_driver, load_emulator
from tests.e2e.programs import Forked, Process, run_daemon, run_server

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
TABLE = "E2E"
PIT_BOSS = PitBoss("pit", "1234")


class Changes(dict[str, dict[str, Any]]):
    """House rules to set, section by section; ``|`` merges inside the sections."""

    def __or__(self, other: Any) -> Changes:  # type: ignore[override]
        return Changes({name: self.get(name, {}) | other.get(name, {}) for name in {*self, *other}})


QUICK = Changes({"betting": {"seconds": 0.01, "pips": 0}})
"""A betting window that is over at once."""
BARE = QUICK | {"burn": {"by": "none"}, "shoe": {"inspection": False}}
"""No burn cards and no inspection besides."""


def free_port() -> int:
    """A TCP port nobody listens on now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def until(what: Callable[[], Any], why: str, timeout: float = 30.0) -> Any:
    """Wait until ``what()`` is true, and give it back. Fails the test naming ``why``."""
    end = time.monotonic() + timeout
    while True:
        with contextlib.suppress(NotReachable, urllib.error.URLError, OSError):
            if got := what():
                return got
        assert time.monotonic() < end, f"waited {timeout:g} s in vain: {why}"
        time.sleep(0.01)


@dataclass
class RecordingShoe:
    """An emulated shoe, and every card that was really drawn from it."""

    shoe: EmulatedShoe
    drawn: list[str] = field(default_factory=list)
    """All cards over all loads, burns included."""
    hands: list[list[str]] = field(default_factory=lambda: [[]])
    """Cards by hand, burns not included; a stand-by begins the next hand."""
    loaded: int = 0
    """How many of ``drawn`` are of earlier loads."""

    def draw(self, burn: bool = False) -> Drawn | None:
        got = self.shoe.draw(burn=burn)
        if got is not None and got.card is not None:
            self.drawn.append(str(got.card))
            if not burn:
                self.hands[-1].append(str(got.card))
        return got

    def scan_again(self) -> None:
        """A card that is out already passes the scanner once more; it is in the load a second time."""
        assert self.shoe.draw() is not None

    def misread(self, card: str) -> None:
        """``card`` is drawn, and the scanner reads what the load has in its place."""
        assert self.shoe.draw() is not None
        self.drawn.append(card)

    def slip(self, card: str) -> None:
        """``card`` is drawn and nothing reads it; it is not in the load."""
        self.drawn.append(card)

    @property
    def out(self) -> list[str]:
        """The cards drawn of this load."""
        return self.drawn[self.loaded :]

    def standby(self) -> None:
        if self.hands[-1]:
            self.hands.append([])
        self.shoe.standby()

    def load(self, cards: Iterable[Card], cutting_cards: Iterable[int] = ()) -> None:
        self.loaded = len(self.drawn)
        self.shoe.load(list(cards), list(cutting_cards))

    def press_result(self, outcome: Outcome | None = None) -> None:
        self.shoe.press_result(outcome)

    def force_end(self) -> None:
        self.shoe.force_end()

    def lock(self, locked: bool) -> None:
        self.shoe.lock(locked)

    def restart(self) -> None:
        self.shoe.restart()

    def hang_up(self) -> None:
        self.shoe.hang_up()

    def plug_in(self) -> None:
        self.shoe.plug_in()

    def flush(self) -> None:
        self.shoe.flush()

    def close(self) -> None:
        self.shoe.close()

    @property
    def device(self) -> str:
        return self.shoe.device

    @property
    def left(self) -> int:
        return self.shoe.left


class Rig:
    """One table: daemon, game server, shoe, and a console's connection. ``with`` cleans all of it up."""

    def __init__(
        self,
        protocol: str = "angel-eye",
        *,
        speed: float = 200.0,
        overrides: Changes | None = None,
        url: str | None = None,
        disk: Path | None = None,
    ) -> None:
        """``disk``: where its folder is made, on another file system."""
        # Its name is short: a socket's path is in it.
        self.folder = Path(tempfile.mkdtemp(prefix="tablectl-e2e-", dir=disk))
        self.protocol = protocol
        self.speed = speed
        self.port = free_port()
        self.secret = new_secret()
        self.shoe = RecordingShoe(self._emulated())
        self.config = write_config(
            self.folder,
            table=TABLE,
            shoe=protocol,
            device=self.shoe.device,
            url=url or f"http://127.0.0.1:{self.port}/v1/tables/{{table}}/events",
            secret=self.secret,
            pit_boss=PIT_BOSS,
            speed=1.0,
            overrides=QUICK if overrides is None else overrides,
        )
        self.journal_path = self.folder / f"{TABLE}.db"
        self.socket_path = self.folder / f"{TABLE}.sock"
        self.server_db = self.folder / "server.db"
        self.daemon: Process = Forked(run_daemon, lambda: (str(self.config),), self.folder / "daemon.log")
        self.server: Process = Forked(
            run_server, lambda: (str(self.server_db), self.secret, self.port), self.folder / "server.log"
        )
        self.client = Client(self.socket_path)

    def _emulated(self, faults: tuple[str, ...] = (), seed: int = 1) -> EmulatedShoe:
        link = str(self.folder / "shoe")
        return load_emulator(self.protocol).make(link=link, speed=self.speed, faults=faults, seed=seed)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.daemon.stop_somehow()
        self.server.stop_somehow()
        self.shoe.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- the processes -------------------------------------------------------------------------------

    @property
    def server_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start_server(self) -> None:
        """Start the game server and wait until it answers."""
        self.server.start()
        until(self._server_answers, "the game server answers")

    def _server_answers(self) -> bool:
        with urllib.request.urlopen(f"{self.server_url}/healthz", timeout=2) as response:
            return bool(response.status == 200)

    def start_daemon(self) -> None:
        """Start the daemon and wait until it answers."""
        self.daemon.start()

        def answers() -> Any:
            assert self.daemon.running, self.errors()
            return self.client.state()

        until(answers, "the daemon answers")

    def start(self) -> Self:
        """Start both; the link good and the scanner there."""
        self.start_server()
        self.start_daemon()
        self.wait(lambda s: s["link"]["good"] and s["scanner"]["up"], "link and scanner are there")
        return self

    def errors(self) -> str:
        """What the daemon wrote on standard error."""
        return self.daemon.log.read_text() if self.daemon.log.exists() else ""

    def change_shoe(self, faults: tuple[str, ...], seed: int) -> None:
        """Another emulated shoe on the same cable, with these faults."""
        self.shoe.close()
        self.wait(lambda s: not s["scanner"]["up"], "the old shoe is gone")
        self.shoe = RecordingShoe(self._emulated(faults, seed))
        self.wait(lambda s: s["scanner"]["up"], "the new shoe is there")

    # --- looking and acting ------------------------------------------------------------------------------

    def wait(self, what: Callable[[dict[str, Any]], Any], why: str, timeout: float = 30.0) -> dict[str, Any]:
        """The first state of which ``what`` is true."""
        end = time.monotonic() + timeout
        while True:
            state = self.client.state()
            if what(state):
                return state
            assert time.monotonic() < end, (
                f"waited {timeout:g} s in vain: {why}; phase {state['phase']}, holds {state['holds']}, "
                f"scanner {state['scanner']}, link {state['link']}"
            )
            time.sleep(0.005)

    def phase(self, phase: str, timeout: float = 30.0) -> dict[str, Any]:
        """Wait for a phase."""
        return self.wait(lambda s: s["phase"] == phase, f"phase {phase}", timeout)

    def command(
        self,
        command: str,
        *,
        expect: dict[str, int] | None = None,
        supervised: bool = False,
        id: str | None = None,
        pin: str | None = None,
        **args: str,
    ) -> tuple[int, dict[str, Any]]:
        """Send a command; status and body."""
        body: dict[str, Any] = {"id": id or uuid.uuid4().hex, "command": command, "args": args}
        if supervised:
            body |= {"person": PIT_BOSS.name, "pin": pin or PIT_BOSS.pin, "reason": "training: test"}
        if expect is not None:
            body["expect"] = expect
        return self.client.post("/v1/commands", body)

    def do(self, command: str, *, supervised: bool = False, **args: str) -> dict[str, Any]:
        """A command that must be accepted, with the state as it is now as what its sender saw."""
        expect = {"version": self.client.state()["version"]}
        status, answer = self.command(command, supervised=supervised, expect=expect, **args)
        assert status == 200, (command, answer)
        return answer

    def open_table(self, cards: str = "", cutting_cards: tuple[int, ...] = ()) -> None:
        """With :data:`BARE` rules: open, dealer there, a shoe with just these cards in play."""
        self.do("open")
        self.do("sign-in", name="Dora", pickup="left")
        self.new_shoe(cards, cutting_cards)

    def new_shoe(self, cards: str, cutting_cards: tuple[int, ...] = ()) -> None:
        """Load these cards and start the next shoe."""
        self.shoe.load([Card.parse(card) for card in cards.split()], cutting_cards)
        self.shoe.standby()  # heard after `shoe new`, its start signal alone would leave it out of step
        self.shoe.flush()
        self.do("shoe new")

    def bets(self) -> None:
        """Open betting and wait for its end."""
        self.do("bets open")
        self.phase("no more bets")

    def deal(self, cards: int) -> None:
        """Draw so many cards, and wait until the table has counted them."""
        shoe = self.client.state()["shoe"]
        for _ in range(cards):
            assert self.shoe.draw() is not None
        self.wait(lambda s: s["shoe"]["out"] == shoe["out"] + cards, f"{cards} cards are seen")

    def finish(self) -> None:
        """Announce the result of a complete hand and make ready for the next one."""
        if self.protocol == "angel-eye":
            state = self.phase("complete")
            if state["step_lost"]:
                self.do("confirm")
            else:
                self.shoe.press_result()
        self.wait(lambda s: s["round"] is None, "the result is out")
        self.shoe.standby()

    def play_round(self, cards: int = 4) -> None:
        """A whole round of so many cards."""
        self.bets()
        self.deal(cards)
        self.finish()

    def dealer(self, seed: int = 1, **options: Any) -> ScriptedDealer:
        """A scripted dealer with a connection of his own."""
        traits = load_driver(self.protocol).traits({})
        return ScriptedDealer(
            Client(self.socket_path),
            self.shoe,
            PIT_BOSS,
            seed=seed,
            announces_cut=not traits.reports_cutting_card,
            presses_result=traits.has_result_button,
            patience=20.0,
            **options,
        )

    def settle(self, timeout: float = 30.0) -> None:
        """Wait until the game server has everything."""
        self.wait(
            lambda s: s["acked"] == s["sequence"] and s["journal"]["depth"] == 0,
            "the game server has everything",
            timeout,
        )

    # --- counting afterwards -------------------------------------------------------------------------------

    def journal_events(self) -> list[ev.Event]:
        """Every event, private ones too. Fails when the chain is broken or does not replay."""
        reader = JournalReader.open(self.journal_path)
        try:
            rows = list(reader.every_row())
            assert reader.verify() == len(rows)
        finally:
            reader.close()
        events = [decode_row(row)[0] for row in rows]
        assert replay((row.row, event) for row, event in zip(rows, events, strict=True)).row == len(rows)
        return events

    def public(self) -> list[dict[str, Any]]:
        """The public events of the journal, in sequence."""
        reader = JournalReader.open(self.journal_path)
        try:
            return [json.loads(row.public) for row in reader.every_row() if row.public is not None]
        finally:
            reader.close()

    def held(self) -> dict[str, dict[str, Any]]:
        """What the server says it holds, by ``SHOE/ROUND``."""
        return held_rounds(self.server_url, TABLE)

    def server_rows(self) -> list[tuple[int, str, str, bytes]]:
        """The server's own events: sequence, id, type, body."""
        with contextlib.closing(sqlite3.connect(f"file:{self.server_db}?mode=ro", uri=True)) as db:
            return db.execute("SELECT sequence, id, type, body FROM events ORDER BY sequence").fetchall()

    def check_everything(self) -> None:
        """Journal and server agree on every event and round; nothing twice, nothing missing."""
        events = self.journal_events()
        reader = JournalReader.open(self.journal_path)
        try:
            ours = [(row.sequence, row.public) for row in reader.every_row() if row.public is not None]
        finally:
            reader.close()
        theirs = self.server_rows()
        assert [(sequence, body) for sequence, _, _, body in theirs] == ours
        assert [sequence for sequence, _ in ours] == list(range(1, len(ours) + 1))
        assert len({id_ for _, id_, _, _ in theirs}) == len(theirs)
        held = {
            where: (record["state"], record["revision"], record["result"])
            for where, record in self.held().items()
        }
        assert held == standing([json.loads(body) for _, body in ours if body is not None])

        opened = [(e.shoe, e.round) for e in events if isinstance(e, ev.BettingOpened | ev.FreeHandOrdered)]
        assert len(set(opened)) == len(opened), "a round number was given twice"
        assert opened == sorted(opened, key=lambda pair: (pair[0] or 0, pair[1] or 0))
        shoes = [0, *(e.shoe for e in events if isinstance(e, ev.ShoeStarted) and e.shoe is not None)]
        adopted = {e.shoe for e in events if isinstance(e, ev.ShoeStarted) and e.adopted}
        for before, shoe in pairwise(shoes):
            assert shoe > before if shoe in adopted else shoe == before + 1, f"shoe {shoe} after {before}"
        settled = [
            (e.shoe, e.round)
            for e in events
            if isinstance(e, ev.RoundResulted) or (isinstance(e, ev.RoundVoided) and not e.earlier)
        ]
        in_play = opened[-1:] if opened and opened[-1] not in settled else []
        assert settled + in_play == opened, "each round is settled once and in order"

    def missed_cards(self) -> int:
        """How many drawn cards the journal did not count. Fails if it counted one that was not drawn.

        What was counted must be a subsequence of what was drawn: no card twice, none invented.
        """
        return missed(counted_cards(self.journal_events()), self.shoe.drawn)


def standing(events: Iterable[dict[str, Any]]) -> dict[str, tuple[str, int, dict[str, Any]]]:
    """Where each round stands after these public events: state, revision and result (or the void's data).

    Fails for what may not follow: a second result, anything after a void, an amendment of what never was.
    """
    rounds: dict[str, tuple[str, int, dict[str, Any]]] = {}
    for event in events:
        data = event["data"]
        where = f"{data.get('shoe')}/{data.get('round')}"
        state, revision, result = rounds.get(where, ("", 0, {}))
        match event["type"]:
            case "tablectl.round.resulted.v1":
                assert state == "", f"{where}: a second result"
                rounds[where] = "resulted", 1, data
            case "tablectl.round.amended.v1":
                assert state in ("resulted", "amended"), f"{where}: amended, and it was {state or 'nothing'}"
                assert (data["revision"], data["before"]) == (revision + 1, result), f"{where}: amended anew"
                rounds[where] = "amended", data["revision"], data["after"]
            case "tablectl.round.voided.v1":
                assert state != "voided", f"{where}: void twice"
                rounds[where] = "voided", revision, data
            case _:
                pass
    return rounds


def missed(counted: list[str], drawn: list[str]) -> int:
    """How many more were drawn than counted; fails unless ``counted`` is a subsequence of ``drawn``."""
    rest = iter(drawn)
    for i, card in enumerate(counted):
        assert any(card == other for other in rest), f"counted card {i + 1}, {card}, was not drawn then"
    return len(drawn) - len(counted)


def counted_cards(events: Iterable[ev.Event]) -> list[str]:
    """Every card that was counted out of a shoe, in order: dealt, burned or kept with a hold."""
    cards: list[str] = []
    for event in events:
        match event:
            case ev.CardDealt(kept=False, card=card, face=face):
                cards.append(str(face or card))
            case ev.CardBurned(kept=False, card=card) | ev.ScanKept(card=card):
                cards.append(str(card))
            case _:
                pass
    return cards


@contextlib.contextmanager
def running(protocol: str = "angel-eye", **options: Any) -> Iterator[Rig]:
    """A started table."""
    with Rig(protocol, **options) as rig:
        yield rig.start()
