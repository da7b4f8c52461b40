"""A shift of the real daemon on a real pseudo-terminal, with everything at once going wrong now and then.

The same as :mod:`tests.shift`, in real time and with real threads: fewer rounds, and a dealer who voids
what is not certain. Whatever is settled is the result of a hand that was dealt, in the order of the hands.
"""

from __future__ import annotations

import pytest

from tests.e2e.harness import QUICK, SOAK, running
from tests.e2e.test_faults import in_deal_order

FAULTS = {
    "angel-eye": (
        "split:20 duplicate:20 garble:20 drop:20 stall:40 noise:40 freeze:60 echo:60"
        " unreadable:120 lose:150 hang-up:200 cut-mid-hand:2"
    ),
    # Without duplicates and echoes: such a shoe's own results cannot tell them from cards.
    "bee-tek": "split:20 stall:40 noise:40 garble:120 drop:120 unreadable:120 hang-up:200 cut-mid-hand:2",
}


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("protocol", FAULTS)
@pytest.mark.parametrize("seed", [1, 2, 3] if SOAK else [1])
def test_a_shift_with_everything_going_wrong_settles_no_wrong_result(protocol: str, seed: int) -> None:
    with running(protocol, overrides=QUICK) as rig:
        rig.change_shoe(tuple(FAULTS[protocol].split()), seed=seed)
        # In `make test` a few rounds: tests.shift plays whole shifts there, in virtual time.
        dealer = rig.dealer(seed) if SOAK else rig.dealer(seed, cut_at=30)
        dealer.play(1)
        rig.settle()
        rig.check_everything()
        dealt = iter([hand for hand in rig.shoe.hands if hand])
        settled = {
            tuple(map(int, where.split("/"))): in_deal_order(record["result"])
            for where, record in rig.held().items()
            if "player" in (record["result"] or {})
        }
        for where, cards in sorted(settled.items()):
            assert cards in dealt, f"{where}: {cards} was not dealt, or not then"
        assert len(settled) >= (30 if SOAK else 2)
