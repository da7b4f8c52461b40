"""The daemon dies at every write, commit, send and acknowledgement, and the shoe comes to the same end.

``make soak`` dies at every single one of a short shoe, with a second death after each; ``make test`` at one
of each side. ``python -m tests.crash points`` tries other seeds.
"""

from __future__ import annotations

from itertools import product

import pytest

from tests.crash.boundaries import KINDS, Arm
from tests.crash.play import compare, play
from tests.crash.points import every_boundary
from tests.e2e.harness import SOAK

PROTOCOLS = ("angel-eye", "bee-tek")

SOME: dict[str, tuple[Arm, ...]] = {
    "angel-eye": (("make:written", 1), ("commit:before", 9), ("request:answered", 3), ("answer:before", 2)),
    "bee-tek": (("commit:after", 8), ("acked:before", 5), ("durable:before", 6), ("stream:before", 4)),
}


@pytest.mark.parametrize("protocol", PROTOCOLS if SOAK else PROTOCOLS[:1])
def test_a_shoe_with_deaths_on_every_side_comes_to_the_same_end(protocol: str) -> None:
    smooth, played = play(protocol, 1), play(protocol, 1, SOME[protocol])
    assert played.deaths == SOME[protocol]
    assert set(KINDS) == set(smooth.reached), "a kind of boundary that nothing reaches"
    compare(played, smooth)


if SOAK:  # all of them take minutes

    @pytest.mark.soak
    @pytest.mark.timeout(1800)
    @pytest.mark.parametrize(("protocol", "kind"), product(PROTOCOLS, KINDS))
    def test_death_at_every_boundary(protocol: str, kind: str) -> None:
        for _, found in every_boundary(protocol, 1, [kind]):
            assert not found.faults, found.faults
        assert found.deaths, "nothing died"
