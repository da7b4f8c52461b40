"""Daemon or game server die at every write, commit, send and answer, and the shoe comes to the same end.

``make crash`` dies at every single one of a short shoe, with a second death after each; ``make soak`` at each
eighth of every kind, others at each run; ``make test`` at one of each side.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.crash.boundaries import Arm, Via
from tests.crash.play import Crashed, play
from tests.crash.played import Played, compare
from tests.crash.points import AT_A_START, every_boundary, every_kind
from tests.e2e.harness import SOAK

SOME: dict[Via, tuple[str, tuple[Arm, ...]]] = {
    "http": (
        "bee-tek",
        (
            *(("make:written", 1), ("commit:before", 9), ("request:answered", 3)),
            *(("server-commit:before", 5), ("server-answer:middle", 4)),
        ),
    ),
    "nats": (
        "angel-eye",
        (
            *(("publish:written", 5), ("acked:before", 3), ("ask:written", 1)),
            *(("server-commit:after", 4), ("server-ack:before", 3)),
        ),
    ),
}


@pytest.mark.parametrize("via", SOME)
def test_a_shoe_with_deaths_on_every_side_comes_to_the_same_end(via: Via) -> None:
    protocol, arms = SOME[via]
    smooth, played = play(protocol, 1), play(protocol, 1, arms, via)
    assert sorted(played.deaths) == sorted(arms)
    assert set(every_kind(via)) - AT_A_START <= set(played.reached), "a kind that nothing reaches"
    compare(played, smooth)


def test_each_boundary_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    smooth = Played({"1/1": "player"}, [], ["8S"], {}, (), Counter({"commit:after": 3}))

    def play(protocol: str, seed: int, arms: Sequence[Arm] = (), *_: object, **__: object) -> Played:
        """The second commit, and only that, loses something."""
        deaths = tuple(arm for arm in arms if arm[1] <= 3)
        lost = ("commit:after", 2) in arms
        return replace(smooth, deaths=deaths, rounds={} if lost else smooth.rounds)

    monkeypatch.setattr("tests.crash.points.play", play)
    *_, (_, found) = every_boundary("angel-eye", 1, "http", ["commit:after"], twice=False)
    assert (found.boundaries, found.plays, len(found.faults)) == (3, 5, 1)
    assert "('commit:after', 2)" in found.faults[0]


@pytest.mark.parametrize(
    ("plant", "arm", "seen"),
    [
        ("acked_before_sent", ("request:start", 5), "is called delivered"),
        ("told_before_commit", ("insert:before", 20), "the newest kept is"),
        ("answered_before_commit", ("server-answer:after", 5), "is called delivered"),
    ],
)
def test_what_is_done_too_early_is_found_at_the_death(plant: str, arm: Arm, seen: str) -> None:
    with pytest.raises(Crashed, match=seen):
        play("angel-eye", 1, [arm], plant=plant)


if SOAK:
    SEED = random.SystemRandom().randrange(1, 9)

    @pytest.mark.soak
    @pytest.mark.timeout(3600)
    @pytest.mark.parametrize(("via", "kind"), [(via, kind) for via in SOME for kind in every_kind(via)])
    def test_death_at_every_boundary(via: Via, kind: str) -> None:
        protocol, _ = SOME[via]
        print(f"seed {SEED}")  # pytest shows it when the test fails
        for _, found in every_boundary(protocol, SEED, via, [kind], every=8):
            assert not found.faults, found.faults
        assert found.boundaries, "nothing died"
