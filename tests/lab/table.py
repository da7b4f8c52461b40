"""The table in the guest: its files, its service, its people, and a shoe on the far end of its cable."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from typing import Any

from tablectl_drivers.angel_eye_encoder import COPIES, COPY_GAP, Encoder

from tablectl.cards import Card
from tablectl.pins import make_line
from tablectl.scanner import Label
from tests.lab.cable import Cable
from tests.lab.guest import PATIENCE, Guest, GuestFault

ID = "LAB"
SOCKET = f"/run/tablectl/{ID}/tablectl.sock"
CONFIG = f"/etc/tablectl/{ID}.toml"
UNIT = "tablectl.service"
BOSS, PIN = "bo", "1234"

RULES = """\
name = "lab"
[burn]
by = "none"
[shoe]
inspection = false
[betting]
seconds = 300.0
pips = 0
link_required = false
"""


def config(driver: str, device: str, *more: str, beeper: str = "") -> str:
    """A house's own file; ``more`` are lines of ``[scanner]``."""
    lines = (
        f'[table]\nid = "{ID}"\nrules = "lab"\n[scanner]\ndriver = "{driver}"\ndevice = "{device}"\n',
        *(line + "\n" for line in more),
        beeper,
    )
    return "".join(lines)


class Table:
    """What a dealer, a pit boss and a technician do at the guest's table."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest

    # --- the service ------------------------------------------------------------------------------

    def start(self, text: str) -> dict[str, Any]:
        """Start the service with this configuration; READY, or the test fails. Its first state."""
        guest = self.guest
        guest.write(CONFIG, text)
        guest.write("/etc/tablectl/rules/lab.toml", RULES)
        guest.write("/etc/tablectl/credentials/pit-bosses", make_line(BOSS, PIN) + "\n")
        # Returns when the daemon has said READY, not when it was forked: Type=notify.
        started = guest.run(f"systemctl start {UNIT}", check=False)
        if started.code:
            raise GuestFault(f"{started.out}\n{self.log()}")
        return self.state()

    def log(self, lines: int = 60) -> str:
        """The newest lines of the service's journal."""
        return self.guest.run(f"journalctl -u {UNIT} -n {lines} --no-pager -o cat", check=False).out

    def says(self, words: str) -> None:
        """Wait until the service has said this."""
        self.guest.until(f"the service says {words!r}", lambda: words in self.log())

    def journal(self) -> list[tuple[str, dict[str, Any]]]:
        """All that is public of the table's history: type and content of each event, oldest first."""
        code = (
            "import sqlite3,json;"
            f"d=sqlite3.connect('file:/var/lib/tablectl/{ID}.db?mode=ro',uri=True);"
            "r=d.execute('SELECT type,CAST(public AS TEXT) FROM rows ORDER BY row').fetchall();"
            "print(json.dumps(r))"
        )
        rows = json.loads(self.guest.run("python3 -", stdin=code.encode()).out)
        return [(kind, json.loads(public)["data"]) for kind, public in rows if public]

    def told(self, kind: str) -> list[dict[str, Any]]:
        """The contents of the public events of one kind, as ``card.dealt``."""
        return [data for name, data in self.journal() if name == kind]

    # --- looking and acting -------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """What the console shows; waits until the daemon answers."""
        answer = self.guest.until(
            "the daemon answers", lambda: (a := self.guest.http(SOCKET, "GET", "/v1/state")).code == 200 and a
        )
        state: dict[str, Any] = json.loads(answer.out)
        return state

    def wait(self, what: str, true: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """The first state of which it is true."""
        deadline = time.monotonic() + PATIENCE
        while True:
            state = self.state()
            if true(state):
                return state
            if time.monotonic() > deadline:
                raise GuestFault(f"not within {PATIENCE:.0f} s: {what}; {_short(state)}\n{self.log()}")
            time.sleep(0.2)

    def up(self) -> dict[str, Any]:
        """Wait until the scanner is there."""
        return self.wait("the scanner is there", lambda s: s["scanner"]["up"])

    def lost(self) -> dict[str, Any]:
        """Wait until the daemon has seen that the scanner is gone."""
        return self.wait("the scanner is seen to be gone", lambda s: not s["scanner"]["up"])

    def out(self, cards: int) -> dict[str, Any]:
        """Wait until so many cards are out of the shoe."""
        return self.wait(f"{cards} cards are counted", lambda s: s["shoe"]["out"] == cards)

    def do(self, command: str, *, boss: bool = False, **args: str) -> None:
        """A command that must be accepted; ``boss``: with the pit boss's PIN."""
        body: dict[str, Any] = {
            "id": uuid.uuid4().hex,
            "command": command,
            "args": args,
            "expect": {"version": self.state()["version"]},
        }
        if boss:
            body |= {"person": BOSS, "pin": PIN, "reason": "training: laboratory"}
        kind = {"Content-Type": "application/json"}
        answer = self.guest.http(SOCKET, "POST", "/v1/commands", body, **kind)
        if answer.code != 200:
            raise GuestFault(f"{command}: {answer.code} {answer.out}")

    def open(self) -> None:
        """Open the table with a new shoe."""
        self.do("open")
        self.do("sign-in", name="Dora", pickup="left")
        self.do("shoe new")

    def bets(self) -> None:
        """Open betting and close it."""
        self.do("bets open")
        self.do("bets close")


def _short(state: dict[str, Any]) -> str:
    return json.dumps({key: state[key] for key in ("phase", "holds", "scanner", "shoe", "alerts")})


class AngelEye:
    """The shoe: what a dealer draws goes down the cable in three copies, as the real one sends it."""

    def __init__(self, cable: Cable) -> None:
        self.cable = cable
        self._encoder = Encoder()

    def say(self, frame: bytes) -> None:
        for _ in range(COPIES):
            self.cable.send(frame)
            time.sleep(COPY_GAP / 1e9)

    def standby(self) -> None:
        self.say(self._encoder.standby())

    def draw(self, label: Label, card: str) -> None:
        self.say(self._encoder.card(label, Card.parse(card)))

    def break_off(self, label: Label, card: str) -> None:
        """Draw a card, but only the first half of its first frame gets out."""
        frame = self._encoder.card(label, Card.parse(card))
        self.cable.send(frame[: len(frame) // 2])
