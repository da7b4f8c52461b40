"""The drawing rule in words, step by step: what each hand does and why.

What is drawn is asked of :func:`tablectl.rules.draws`; here it is only said.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.cards import Side
from tablectl.rules import PUNTO_BANCO, draws, total


def steps(player: Sequence[int], banker: Sequence[int]) -> list[str]:
    """The decisions of the rule for a hand, from the point values of its cards, from the fourth card on."""
    if len(player) < 2 or len(banker) < 2:
        return []
    p_two, b_two = list(player[:2]), list(banker[:2])
    p, b = total(p_two), total(b_two)
    made = [f"Player {p}, Banker {b} with two cards each"]
    naturals = [
        f"{name} has a natural {count}"
        for name, count in (("Player", p), ("Banker", b))
        if count in PUNTO_BANCO.natural
    ]
    if naturals:
        return [*made, f"{' and '.join(naturals)}: no more cards"]
    if draws(p_two, b_two) is Side.PLAYER:
        made.append(f"Player {p}: draws")
        if len(player) < 3:
            return made
        third = player[2]
        does = "draws" if draws([*p_two, third], b_two) is Side.BANKER else "stands"
        return [*made, f"Banker {b}, Player's third card is {third}: {does}"]
    does = "draws" if draws(p_two, b_two) is Side.BANKER else "stands"
    return [*made, f"Player {p}: stands", f"Banker {b}, Player stood: {does}"]
