"""Bad cables: whatever happens to the bytes on the way, the result is that of the cards that were dealt."""

from __future__ import annotations

import pytest

from tests.e2e.harness import QUICK, SOAK, running

ROUNDS = 60 if SOAK else 6
FAULTS = {
    "angel-eye": ("split:2", "duplicate:2", "garble:2", "stall:4"),
    # A shoe that says a card once, without number or check sum: what is damaged is lost, and what comes
    # twice is two cards (the same card twice in a row is lawful). Only what keeps the bytes is harmless.
    "bee-tek": ("split:2", "stall:4"),
}
IN_DEAL_ORDER = (("player", 0), ("banker", 0), ("player", 1), ("banker", 1), ("player", 2), ("banker", 2))


def in_deal_order(result: dict[str, dict[str, list[str]]]) -> list[str]:
    hands = {side: result[side]["cards"] for side in ("player", "banker")}
    return [hands[side][i] for side, i in IN_DEAL_ORDER if i < len(hands[side])]


@pytest.mark.soak
@pytest.mark.timeout(1200 if SOAK else 90)
@pytest.mark.parametrize("protocol", FAULTS)
def test_results_are_those_of_the_cards_dealt_whatever_the_line_does(protocol: str) -> None:
    with running(protocol, overrides=QUICK) as rig:
        for number, fault in enumerate(FAULTS[protocol], start=1):
            rig.change_shoe((fault,), seed=number)
            dealer = rig.dealer(number, cut_at=6 * ROUNDS)
            dealer.play(1)
            rig.settle()
            assert dealer.ledger.voids == 0, (fault, dealer.ledger.refusals)
            dealt = [hand for hand in rig.shoe.hands if hand]
            held = rig.held()
            ours = [record["result"] for where, record in held.items() if where.startswith(f"{number}/")]
            assert [in_deal_order(result) for result in ours] == dealt, fault
            assert len(dealt) >= ROUNDS
        rig.check_everything()
