"""A published result derived again from the journal rows that caused it, each step with its reason.

Nothing is taken from the published result itself: the cards come from their rows, what the rows' bytes
mean from the driver, the rule and the odds from the rules that the shoe started with. What differs from
what was published is a finding. Pure: events in, plain values out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tablectl import events as ev
from tablectl.house import HouseRules
from tablectl.past.drawing_words import steps
from tablectl.past.explain_hand import PLACES, Decode, Entry, HandSteps, points
from tablectl.past.explain_result import compare, derive, told_result
from tablectl.past.round_faces import Told, told
from tablectl.rules import draws

__all__ = ["Decode", "Entry", "NotExplained", "explain"]


class NotExplained(Exception):
    """There is nothing to derive; the text says why."""


def explain(shoe: Entry | None, entries: Sequence[Entry], decode: Decode, *, over: bool) -> dict[str, Any]:
    """The derivation of one round. ``shoe``: the row its shoe started with; ``over``: it has ended.

    Raises :class:`NotExplained` for a round that is not settled, as its cards may lie face down, and for one
    whose cards are not all there.
    """
    name = next((f"{e.event.shoe}/{e.event.round}" for e in entries), "-")
    if not any(isinstance(e.event, ev.RoundResulted | ev.RoundVoided) for e in entries):
        raise NotExplained(f"round {name} has no result yet")
    faces = told([(e.row, e.event) for e in entries], shoe_over=over)
    made = _Derivation(faces, decode)
    made.rules_of(shoe)
    for entry in entries:
        made.take(entry)
    return {
        **{"shoe": entries[0].event.shoe, "round": entries[0].event.round, "rules": made.rules_told},
        **{"steps": made.steps, "derived": made.derived, "findings": made.findings},
        "agrees": not made.findings,
    }


class _Derivation(HandSteps):
    def __init__(self, faces: Told, decode: Decode) -> None:
        super().__init__(faces, decode)
        self._rules: HouseRules | None = None
        self._free = False
        self._published: dict[str, Any] | None = None
        self._revision = 0
        self.rules_told: dict[str, Any] = {}
        self.derived: dict[str, Any] | None = None

    # --- the rules ------------------------------------------------------------------------------------

    def rules_of(self, entry: Entry | None) -> None:
        """The rules the shoe started with; their hash is made again."""
        if entry is None or not isinstance(entry.event, ev.ShoeStarted):
            self._find(None, "the shoe's start is not in this journal: its rules are not known")
            return
        try:
            self._rules = HouseRules.from_dict(entry.event.rules)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._find(entry, f"the rules of the shoe cannot be read: {error}")
            return
        made = self._rules.digest
        same = made == entry.event.rules_hash
        if not same:
            self._find(entry, f"the rules' hash is {made}, written is {entry.event.rules_hash}")
        self.rules_told = {"name": self._rules.name, "hash": entry.event.rules_hash, "made_again": made}
        self._say(
            entry, f"house rules {self._rules.name}, hash {made[:12]}: {'agrees' if same else 'DIFFERS'}"
        )

    # --- row by row -----------------------------------------------------------------------------------

    def take(self, entry: Entry) -> None:
        """What one row adds."""
        match entry.event:
            case ev.BettingOpened():
                self._say(entry, "betting opened")
            case ev.BettingClosed(reason=reason):
                self._say(entry, f"betting closed ({reason})")
            case ev.FreeHandOrdered(approved_by=by):
                self._free = True
                self._say(entry, f"a hand without wagers, ordered by {by}")
            case ev.CardDealt():
                self.dealt(entry, entry.event)
            case ev.ScanKept():
                self.scan_kept(entry, entry.event)
            case ev.HandTurned():
                self.turned(entry, entry.event)
            case ev.HandCorrected():
                self.corrected(entry, entry.event)
            case ev.RoundResulted():
                self._resulted(entry, entry.event)
            case ev.RoundAmended():
                self._amended(entry, entry.event)
            case ev.RoundVoided():
                self._voided(entry, entry.event)
            case _:
                self.other(entry)

    # --- how it ended ---------------------------------------------------------------------------------

    def _rule(self, player: Sequence[str], banker: Sequence[str]) -> None:
        for text in steps(points(player), points(banker)):
            self._say(None, text)

    def _resulted(self, entry: Entry, event: ev.RoundResulted) -> None:
        self._judge(entry, ev.public_data(event), self._player, self._banker, 1)

    def _amended(self, entry: Entry, event: ev.RoundAmended) -> None:
        """The cards are those the pit boss stated; all else follows from them."""
        self._say(entry, f"amended by {event.approved_by}: {event.reason}")
        told_after = ev.public_data(event)["after"]
        if self._published is None or _bare(ev.public_data(event)["before"]) != _bare(self._published):
            self._find(entry, "the result before the amendment is not the one published")
        if event.revision != self._revision + 1:
            self._find(entry, f"revision {event.revision} follows revision {self._revision}")
        try:
            player, banker = ([str(c) for c in told_after[side]["cards"]] for side in ("player", "banker"))
            self._judge(entry, told_after, player, banker, event.revision)
        except (KeyError, TypeError, ValueError) as error:
            self._find(entry, f"the amended result cannot be read: {error!r}")

    def _judge(
        self, entry: Entry, said: dict[str, Any], player: Sequence[str], banker: Sequence[str], revision: int
    ) -> None:
        if len(player) < 2 or len(banker) < 2:
            raise NotExplained(
                f"round {entry.event.shoe}/{entry.event.round} cannot be derived: of its cards only "
                f"{len(player)} of the Player and {len(banker)} of the Banker are in the journal before row "
                f"{entry.row}; look for the damage with tablectl journal verify"
            )
        self._rule(player, banker)
        self._published, self._revision = dict(said), revision
        laid = dict(zip(PLACES["P"], player, strict=False)) | dict(zip(PLACES["B"], banker, strict=False))
        self._check_order(entry, laid)
        side = draws(points(player), points(banker))
        if side is not None:
            self._find(entry, f"the hand is not complete: the next card is the {side.value}'s")
        if self._rules is None:
            return
        self.derived, words = derive(player, banker, self._rules.payouts, free=self._free)
        for text in words:
            self._say(None, text)
        differ = compare(self.derived | {"revision": revision}, said)
        for text in differ:
            self._find(entry, text)
        self._say(entry, f"published {told_result(said)}: {'DIFFERS' if differ else 'agrees'}")

    def _voided(self, entry: Entry, event: ev.RoundVoided) -> None:
        earlier = ", settled before" if event.earlier else ""
        self._say(entry, f"void{earlier}, by {event.approved_by}: {event.reason}")
        laid = self._laid()
        if self._published is not None:
            laid = {
                place: card
                for side, key in (("P", "player"), ("B", "banker"))
                for place, card in zip(PLACES[side], self._published[key]["cards"], strict=False)
            }
        if event.cards and (
            any(face not in ("?", laid.get(place)) for place, face in event.cards.items())
            or event.cards.keys() != laid.keys()
        ):
            self._find(entry, "the cards published with the void are not those dealt")


def _bare(result: dict[str, Any]) -> dict[str, Any]:
    """A result without where it belongs, which an amendment may leave out."""
    return {key: value for key, value in result.items() if key not in ("shoe", "round")}
