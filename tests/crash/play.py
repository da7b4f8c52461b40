"""One short shoe from beginning to end, with the daemon dying where it is told to, and the comparison.

A keeper starts the daemon again as often as it dies.  Afterwards everything is counted: what was told to
anybody is in the journal, the game server holds the journal's events once each, byte for byte, and each
round ended as in the play without a death.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tablectl import events as ev
from tablectl.local import NotReachable
from tablectl.plugins import load_driver
from tests.crash.boundaries import Arm
from tests.crash.forked import ForkedRig
from tests.crash.people import Console, Follower, SteadyDealer, Told
from tests.e2e.harness import PIT_BOSS, Changes, Rig, counted_cards

RULES = Changes(
    {
        "betting": {"seconds": 0.01, "pips": 0},
        "burn": {"after_shuffle": 2},
        "shoe": {"inspection": False},
    }
)
CUT_AT = 8
"""Cards before the cutting card: two burned, and two or three rounds."""

LATE = 75
"""The exit code of a stop that left a thread behind, on a busy machine: that loses nothing either."""
UNSEEN = "None"
"""A burn card that was told by a person, who does not say its face."""


@dataclass(frozen=True)
class Played:
    """What a play came to. ``rounds``: cards and outcome by ``SHOE/ROUND``; ``deaths``: where it died."""

    rounds: dict[str, Any]
    counted: list[str]
    last: dict[str, Any]
    deaths: tuple[Arm, ...]
    reached: Counter[str]


class Crashed(AssertionError):
    """A play went wrong; the text says with which protocol, seed and deaths."""


class CrashRig(ForkedRig):
    """A table that is killed at boundaries and started again until the shoe is dealt."""

    def __init__(self, protocol: str, seed: int, cut_at: int = CUT_AT) -> None:
        super().__init__(protocol, overrides=RULES)
        self.told = Told()
        self.seed = seed
        self.cut_at = cut_at
        self.counts = self.folder / "counts.json"
        self._ended = threading.Event()
        self._failed: BaseException | None = None

    def play(self, arms: Sequence[Arm] = ()) -> Played:
        """The whole shoe; the daemon's n-th start dies at the n-th of ``arms``, later ones do not."""
        deaths: list[Arm] = []
        left = list(arms)
        self.start_server()
        console = Console(self.socket_path, self.told, self._ended.is_set)
        traits = load_driver(self.protocol).traits({})
        dealer = SteadyDealer(
            console,
            self.shoe,
            PIT_BOSS,
            seed=self.seed,
            announces_cut=not traits.reports_cutting_card,
            presses_result=traits.has_result_button,
            cut_at=self.cut_at,
            patience=20.0,
            stop=self._ended.is_set,
        )
        dealing = threading.Thread(target=self._deal, args=(dealer,), daemon=True)
        following = threading.Thread(
            target=Follower(self.socket_path, self.told, self._ended.is_set).follow, daemon=True
        )
        dealing.start()
        following.start()
        end = time.monotonic() + 60
        try:
            last = None
            while dealing.is_alive() or last is None:
                assert time.monotonic() < end, f"the shoe is not dealt within 60 s: {self._failed!r}"
                if not self.daemon.running:
                    self._bury(deaths)
                    self.arm = left.pop(0) if left else None
                    self.daemon.start()
                time.sleep(0.002)
                last = None if dealing.is_alive() else self._settled()
            if self._failed is not None:
                raise self._failed
        finally:
            self._ended.set()
        code, _ = self.daemon.end()
        if code == -9:  # a boundary that only a stop comes to
            self._bury(deaths)
            self.arm = None
            self.start_daemon()
            self.settle()
            code, _ = self.daemon.end()
        assert code in (0, LATE), f"the daemon ended with {code}: {self.errors()[-500:]}"
        dealing.join(20)
        assert self.counts is not None
        reached: Counter[str] = Counter(json.loads(self.counts.read_text()))
        self.check_everything()
        check_told(self, self.told)
        return Played(
            self._rounds(), counted_cards(self.journal_events()), _lasting(last), tuple(deaths), reached
        )

    def _bury(self, deaths: list[Arm]) -> None:
        if self.daemon.code is None:
            return  # not started yet
        assert self.daemon.code == -9, f"the daemon ended with {self.daemon.code}: {self.errors()[-500:]}"
        assert self.arm is not None, "the daemon was killed, and nobody did it"
        deaths.append(self.arm)

    def _settled(self) -> dict[str, Any] | None:
        """The state once the game server and the stream have everything; None: not yet."""
        with contextlib.suppress(NotReachable):
            state = self.client.state()
            if state["acked"] == state["sequence"] == len(self.told.events) and not state["journal"]["depth"]:
                return state
        return None

    def _deal(self, dealer: SteadyDealer) -> None:
        try:
            dealer.play(1)
        except BaseException as error:
            self._failed = error

    def _rounds(self) -> dict[str, Any]:
        """State, outcome and cards of each round as the server holds it."""
        found: dict[str, Any] = {}
        for where, record in self.held().items():
            result = record["result"]
            hands = {side: result[side]["cards"] for side in ("player", "banker") if side in result}
            found[where] = (record["state"], result.get("outcome"), hands)
        return found


def check_told(rig: Rig, told: Told) -> None:
    """What was told to anybody at any time is in the journal, as it was told."""
    events = rig.journal_events()
    bodies = [json.dumps(body) for body in rig.public()]
    heard = [json.dumps(json.loads(text)) for text in told.events]
    assert heard == bodies[: len(heard)], "the stream told something else"
    recorded: dict[str, list[ev.CommandRecorded]] = {}
    for event in events:
        if isinstance(event, ev.CommandRecorded):
            recorded.setdefault(event.id, []).append(event)
    for id_, (accepted, answer) in told.answers.items():
        assert id_ in recorded, f"a command was answered with {answer!r} and is not in the journal"
        record = recorded[id_][0]
        assert (record.accepted, record.answer) == (accepted, answer), f"command {record.command}"
    twice = [records[0].command for records in recorded.values() if len(records) > 1]
    assert not twice, f"carried out twice: {twice}"
    sequences = [0]
    for event in events:
        sequences.append(sequences[-1] + event.PUBLIC)
    for row, sequence in told.states:
        assert sequences[row] == sequence, f"state {row}, {sequence} was told and is not in the journal"


def _lasting(state: dict[str, Any]) -> dict[str, Any]:
    """What of a state does not depend on how often the controller was started."""
    kept = ("phase", "where", "shoe", "round", "holds", "kept", "reserved", "dealer", "pickup", "burns_due")
    return {name: state[name] for name in kept}


def play(protocol: str, seed: int, arms: Sequence[Arm] = (), cut_at: int = CUT_AT) -> Played:
    """A play in a folder of its own. Raises :class:`Crashed`."""
    try:
        with CrashRig(protocol, seed, cut_at) as rig:
            return rig.play(arms)
    except AssertionError as fault:
        raise Crashed(f"{protocol}, seed {seed}, dying at {list(arms)}: {fault}") from fault


def compare(played: Played, smooth: Played) -> None:
    """A play with deaths came to what the play without came to. Raises :class:`AssertionError`."""
    assert played.rounds == smooth.rounds, f"rounds {played.rounds} instead of {smooth.rounds}"
    assert played.last == smooth.last, f"state {played.last} instead of {smooth.last}"
    same = [
        card if card != UNSEEN else other for card, other in zip(played.counted, smooth.counted, strict=False)
    ]
    assert len(played.counted) == len(smooth.counted) and same == smooth.counted, (
        f"cards {played.counted} instead of {smooth.counted}"
    )
