"""States of a table as its daemon tells them, for the console's tests; built by hand, one per situation."""

from __future__ import annotations

from typing import Any

from tablectl.console.past import Past
from tablectl.table import Phase
from tablectl.table.holds import HOLDS, WAYS

Raw = dict[str, Any]
HAND = {"P1": "8S", "B1": "TH", "P2": "6D", "B2": "7C"}
PAD = (*"0123456789", "+", "-", "*", "/", ".", "enter")
"""The keys of a number pad."""
EVIL = 'x\x1b[2J\x07\r\nü "a" [b]bold[/b] \u202e日本 ' + "very long " * 80


def shoe(**changes: Any) -> Raw:
    """The shoe in play, in the middle of it."""
    made: Raw = {"number": 12, "left": 200, "out": 216, "rounds": 34}
    return made | {"cut": False, "last_round": None, "last_hand": False} | changes


LAST_SHOE = shoe(left=40, out=376, rounds=70, cut=True, last_round=71, last_hand=True)
"""The coming hand is its last."""
FRESH_SHOE = shoe(left=416, out=0, rounds=0)


def state(phase: str = "idle", **changes: Any) -> Raw:
    """The table in a phase."""
    in_round = phase in ("betting", "no more bets", "dealing", "complete")
    has_shoe = phase not in ("closed", "no shoe")
    raw: Raw = {
        "table": "T07",
        "test": True,
        "epoch": "4f2a91",
        "phase": phase,
        "where": "12/34" if in_round else "12/-" if has_shoe else "-",
        "version": 512,
        "row": 900,
        "sequence": 345,
        "acked": 345,
        "dealer": None if phase == "closed" else "anna",
        "pickup": None if phase == "closed" else "left",
        "shoe": shoe() if has_shoe else None,
        "round": round_(phase) if in_round else None,
        "holds": [],
        "ways": [],
        "kept": [],
        "burns_due": 6 if phase == "burning" else 0,
        "burn_reason": "shuffle" if phase == "burning" else None,
        "read_twice": False,
        "alerts": [],
        "scanner": {"driver": "bee-tek", "up": True, "health": "ok", "why": ""},
        "link": {"good": True, "why": ""},
        "journal": {"state": "ok", "why": ""},
        "say": [],
    }
    return raw | changes


def round_(phase: str, **changes: Any) -> Raw:
    """The round in play of a phase."""
    cards = HAND if phase in ("dealing", "complete") else {}
    if phase == "complete":
        cards = cards | {"P3": "2C"}
    return {
        "number": 34,
        "free": False,
        "cards": cards,
        "face_down": 0,
        "player_total": (6 if phase == "complete" else 4) if cards else None,
        "banker_total": 7 if cards else None,
        "next": "none" if phase == "complete" else "player",
        "due": None if phase == "complete" else "P3" if cards else "P1",
        "words": "Player 4, Banker 7: Player draws" if phase == "dealing" else "Player's card",
        "seconds_left": 11.4 if phase == "betting" else None,
        "closes_at": None,
    } | changes


def held(code: str, phase: str = "dealing", *, kept: int = 1, **changes: Any) -> Raw:
    """On hold for ``code``, with every way that this hold can ever have."""
    ways = HOLDS[code].ways
    saw = {"label": "scan 5", "bytes": "02 35"}
    hold = {
        "holds": [{"code": code, "message": HOLDS[code].means, "saw": saw}],
        "ways": [{"action": way, "text": WAYS[way]} for way in WAYS if way in ways],
        "kept": ["?"] * kept,
    }
    return state(phase, **hold | changes)


def every() -> list[tuple[str, Raw]]:
    """Every phase, every hold in every phase it may lie over, and what else changes the screen."""
    made = [(phase.value, state(phase.value)) for phase in Phase]
    made += [(f"{phase.value}, nobody signed in", state(phase.value, dealer=None)) for phase in Phase]
    made += [(f"{code} in {phase}", held(code, phase)) for code in HOLDS for phase in Phase]
    down = round_(
        "dealing", cards={}, face_down=4, player_total=None, banker_total=None, words="cards face down"
    )
    alerts = [{"alert": f"alert-{n}", "message": EVIL, "present": n == 0} for n in range(12)]
    made += [
        ("face down", state("dealing", round=down)),
        ("two face down", state("dealing", round=down | {"face_down": 2})),
        ("last hand", state("idle", shoe=LAST_SHOE)),
        ("one more hand", state("dealing", shoe=LAST_SHOE | {"last_hand": False})),
        ("unread", state("dealing", unread=1)),
        ("read twice", state("dealing", read_twice=True)),
        ("scanned again", state("complete", rescan={"what": "hand", "scanned": 2})),
        ("alerted", state("idle", alerts=alerts[1:3])),
        ("counting", state("shuffle due", counting={"counted": 12, "of": 416, "extra": ["8S"]})),
        (
            "all wrong",
            state("idle", alerts=alerts, link={"good": False, "why": EVIL}, journal={"state": EVIL}),
        ),
        (
            "scanner down",
            state("idle", scanner={"driver": "x", "up": False, "health": "absent", "why": EVIL}),
        ),
        ("owed", state("idle", acked=3, unsettled=["12/30"], reserved=2, say=[EVIL, "No More Bets"])),
        ("strange", {"phase": "orbiting", "round": [], "shoe": 7, "holds": "?", "alerts": [None, 3]}),
        ("empty", {}),
        ("evil", held("called", dealer=EVIL, table=EVIL, where=EVIL, pickup=EVIL, burn_reason=EVIL)),
    ]
    return made


def event(kind: str, sequence: int = 1, **data: Any) -> Raw:
    """An event as it comes."""
    return {"type": f"tablectl.{kind}.v1", "sequence": f"{sequence:012d}", "data": data}


def result(
    round_number: int, outcome: str, player: tuple[str, ...], banker: tuple[str, ...], p: int, b: int
) -> Raw:
    """A round's result."""
    return event(
        "round.resulted",
        shoe=12,
        round=round_number,
        outcome=outcome,
        player={"cards": list(player), "total": p, "pair": player[0][0] == player[1][0], "natural": p > 7},
        banker={"cards": list(banker), "total": b, "pair": banker[0][0] == banker[1][0], "natural": False},
        free=False,
    )


def past(before: int = 34) -> Past:
    """Two rounds before this one, and who works here."""
    made = Past()
    rules = {"shoe": {"cutting_card": 52, "share": None}, "dealing": {"confirm": "automatic"}}
    for one in (
        event("shoe.started", shoe=12, decks=8, rules=rules),
        event("dealer.changed", dealer="boris", pickup="left"),
        event("dealer.changed", dealer="anna", pickup="left"),
        event("table.released", action="keep", approved_by="bo", reason="routine"),
        result(before - 2, "banker", ("8S", "6D", "2C"), ("TH", "7H"), 6, 7),
        result(before - 1, "player", ("4S", "5D"), ("TH", "7H"), 9, 7),
    ):
        made = made.heard(one)
    return made
