"""What a daemon told of its table, taken apart once: bounded, escaped, and with a place for everything.

Nothing of what comes over the socket is believed: names, reasons and messages come from people, and a
field may be missing or odd.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tablectl.console.bounded import count, listed, mapping, number, text
from tablectl.console.language import ENGLISH, Language

POSITIONS = ("P1", "B1", "P2", "B2", "P3", "B3")
"""In the order in which cards are dealt."""

NO_SERVER = "no game server is configured"
"""How the daemon's reason begins where a table plays for itself: no trouble."""

NOT_CALLED = ("Player's card", "Banker's card", "The scanner is ready")
"""What the daemon says too, is seen anyhow (the place that is due, the scanner's light), and nobody calls."""


def outcome(player: int | None, banker: int | None) -> str | None:
    """Which side has won with these totals."""
    if player is None or banker is None:
        return None
    return "tie" if player == banker else "player" if player > banker else "banker"


@dataclass(frozen=True, slots=True)
class ShoeSeen:
    """The shoe in play."""

    number: int
    left: int
    out: int
    rounds: int
    cut: bool
    last_round: int | None
    last_hand: bool

    @property
    def size(self) -> int:
        """Cards of the full shoe."""
        return self.left + self.out


@dataclass(frozen=True, slots=True)
class RoundSeen:
    """The round in play. ``cards``: what lies where; ``face_down``: cards whose faces nobody may see yet."""

    number: int
    free: bool
    cards: Mapping[str, str]
    face_down: int
    player: int | None
    banker: int | None
    next: str
    due: str
    words: str
    seconds_left: float | None

    @property
    def to_be_turned(self) -> bool:
        """Four cards lie face down."""
        return self.face_down >= 4

    @property
    def outcome(self) -> str | None:
        """What the cards say, of a hand that is complete."""
        return outcome(self.player, self.banker)


@dataclass(frozen=True, slots=True)
class PlacedSeen:
    """Who has placed for the round in play, as the game server counts: ``placed`` of ``players``."""

    players: int
    placed: int
    everybody: bool


@dataclass(frozen=True, slots=True)
class HoldSeen:
    """One reason why the table is on hold."""

    code: str
    message: str
    saw: str


@dataclass(frozen=True, slots=True)
class AlertSeen:
    """``present``: it goes by itself when it is over."""

    code: str
    message: str
    present: bool


@dataclass(frozen=True, slots=True)
class Light:
    """How something outside the table is: ``why`` is empty when all is well."""

    name: str
    good: bool
    what: str
    why: str


@dataclass(frozen=True)
class Seen:
    """``GET /v1/state``."""

    table: str
    test: bool
    epoch: str
    phase: str
    where: str
    version: int
    row: int
    sequence: int
    dealer: str
    pickup: str
    shoe: ShoeSeen | None
    round: RoundSeen | None
    holds: tuple[HoldSeen, ...]
    ways: tuple[tuple[str, str], ...]
    """The ways out offered now: the action, and what it does."""
    kept: int
    reserved: int
    rescan: str
    """What is being scanned again and how far it is, in words."""
    counting: str
    read_twice: bool
    unread: int
    burns_due: int
    burn_reason: str
    step_lost: bool
    settled: str
    unsettled: tuple[str, ...]
    say: tuple[str, ...]
    alerts: tuple[AlertSeen, ...]
    lights: tuple[Light, ...] = field(default=())
    placed: PlacedSeen | None = None
    """While betting is open for this very round; None where nothing is known of it."""
    words: Language = field(default=ENGLISH, compare=False)
    """The language that all of it is told in."""

    @property
    def held(self) -> bool:
        """Whether a hold lies over the phase."""
        return bool(self.holds)

    @property
    def places(self) -> tuple[str, ...]:
        """Where a card is that may be set right: in the hand, or kept under the hold."""
        laid = tuple(place for place in POSITIONS if self.round and place in self.round.cards)
        return laid + tuple(f"K{n}" for n in range(1, min(self.kept, 9) + 1))


def read(raw: Mapping[str, Any], words: Language = ENGLISH) -> Seen:
    """A state as it came."""
    rescan, counting, settled = (mapping(raw.get(name)) for name in ("rescan", "counting", "settled"))
    extra = len(listed(counting.get("extra"), 1000))
    return Seen(
        table=text(raw.get("table"), 16) or "?",
        test=raw.get("test") is True,
        epoch=text(raw.get("epoch"), 20),
        phase=text(raw.get("phase"), 20) or "?",
        where=text(raw.get("where"), 24),
        version=count(raw.get("version")),
        row=count(raw.get("row")),
        sequence=count(raw.get("sequence")),
        dealer=text(raw.get("dealer"), 60),
        pickup=text(raw.get("pickup"), 10),
        shoe=_shoe(mapping(raw.get("shoe"))),
        round=_round(mapping(raw.get("round")), words),
        holds=tuple(_hold(mapping(one), words) for one in listed(raw.get("holds"))),
        ways=tuple(
            (text(way.get("action"), 40), text(way.get("text")))
            for way in map(mapping, listed(raw.get("ways")))
        ),
        kept=len(listed(raw.get("kept"))),
        reserved=count(raw.get("reserved")),
        rescan=words(
            "{what}: {n} scanned so far",
            what=words(text(rescan.get("what"), 10)),
            n=count(rescan.get("scanned")),
        )
        if rescan
        else "",
        counting=words(
            "{n} of {all}, {extra} extra",
            n=count(counting.get("counted")),
            all=count(counting.get("of")),
            extra=extra,
        )
        if counting
        else "",
        read_twice=raw.get("read_twice") is True,
        unread=count(raw.get("unread")),
        burns_due=count(raw.get("burns_due")),
        burn_reason=words(text(raw.get("burn_reason"), 60)),
        step_lost=raw.get("step_lost") is True and mapping(raw.get("scanner")).get("names_positions") is True,
        settled=f"{text(settled.get('where'), 24)} {text(settled.get('what'))}" if settled else "",
        unsettled=tuple(text(one, 24) for one in listed(raw.get("unsettled"))),
        say=tuple(text(one) for one in listed(raw.get("say")) if one not in NOT_CALLED),
        alerts=tuple(
            AlertSeen(text(one.get("alert"), 60), text(one.get("message"), 600), one.get("present") is True)
            for one in map(mapping, listed(raw.get("alerts")))
        ),
        lights=_lights(raw, words),
        placed=_placed(raw),
        words=words,
    )


def _placed(raw: Mapping[str, Any]) -> PlacedSeen | None:
    """That of another round, or of more players than there are, is no word on this one."""
    said, shoe, now = (mapping(raw.get(name)) for name in ("placed", "shoe", "round"))
    players, placed = number(said.get("players")), number(said.get("placed"))
    if raw.get("phase") != "betting" or not players or placed is None or placed > players:
        return None
    here = number(shoe.get("number")), number(now.get("number"))
    if None in here or (number(said.get("shoe")), number(said.get("round"))) != here:
        return None
    return PlacedSeen(players, placed, said.get("all") is True and placed == players)


def _shoe(shoe: Mapping[str, Any]) -> ShoeSeen | None:
    if not shoe:
        return None
    return ShoeSeen(
        count(shoe.get("number")),
        count(shoe.get("left")),
        count(shoe.get("out")),
        count(shoe.get("rounds")),
        shoe.get("cut") is True,
        number(shoe.get("last_round")),
        shoe.get("last_hand") is True,
    )


def _round(now: Mapping[str, Any], words: Language) -> RoundSeen | None:
    if not now:
        return None
    cards, left = mapping(now.get("cards")), now.get("seconds_left")
    return RoundSeen(
        count(now.get("number")),
        now.get("free") is True,
        {place: text(cards[place], 3) for place in POSITIONS if cards.get(place)},
        min(6, count(now.get("face_down"))),
        number(now.get("player_total")),
        number(now.get("banker_total")),
        text(now.get("next"), 10),
        text(now.get("due"), 2),
        words.told(text(now.get("words"), 80)),
        float(left) if isinstance(left, int | float) and 0 <= left < 10**6 else None,
    )


def _hold(hold: Mapping[str, Any], words: Language) -> HoldSeen:
    saw = mapping(hold.get("saw"))
    told = [text(saw.get("label"), 100)] if saw.get("label") else []
    told += [words("bytes {hex}", hex=text(saw.get("bytes"), 60))] if saw.get("bytes") else []
    return HoldSeen(text(hold.get("code"), 40), text(hold.get("message"), 600), ", ".join(told))


def _lights(raw: Mapping[str, Any], words: Language) -> tuple[Light, ...]:
    scanner, link, journal = (mapping(raw.get(name)) for name in ("scanner", "link", "journal"))
    health, why = text(scanner.get("health") or "ok", 20), text(scanner.get("why"))
    up = scanner.get("up") is True
    made = [
        Light(
            words("scanner"),
            up and health == "ok",
            text(scanner.get("driver"), 20),
            ""
            if up and health == "ok"
            else f"{words(health).upper() if up else words('DOWN')}: {why or words('not ready')}",
        )
    ]
    good, reason = link.get("good") is True, text(link.get("why"))
    owed = max(0, count(raw.get("sequence")) - count(raw.get("acked")))
    if reason.startswith(NO_SERVER):
        made.append(Light(words("server"), True, words("none"), ""))
    else:
        to_send = words("{n} to send", n=owed)
        what = to_send if owed else words("has everything")
        made.append(Light(words("server"), good, what, "" if good else f"{reason or '?'} ({to_send})"))
    fine = journal.get("state") == "ok"
    trouble = "" if fine else text(journal.get("why") or journal.get("state"))
    made.append(Light(words("journal"), fine, "", trouble))
    mirror, beeper = mapping(raw.get("mirror")), mapping(raw.get("beeper"))
    if mirror.get("error"):
        made.append(Light(words("mirror"), False, "", text(mirror["error"])))
    if beeper.get("why"):
        made.append(Light(words("beeper"), False, "", text(beeper["why"])))
    return tuple(made)
