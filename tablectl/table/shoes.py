"""The shoe's life at the hands of people: its start and end, burns told by hand, the cutting card, counts."""

from __future__ import annotations

from collections import Counter

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.house import HouseRules
from tablectl.table import checkpoint
from tablectl.table.device import note
from tablectl.table.holds import ended_by
from tablectl.table.inputs import Command
from tablectl.table.rounds import announce_last_hand, cutting_card, end_shoe, void_round
from tablectl.table.turn import Refused, Turn

MOST_ROUNDS = 500
"""No shoe has more rounds; for ``shoe adopt``."""

MOST_MISSING = 52
"""A count by scanner with more cards missing is not finished."""


def by(command: Command) -> tuple[str, str]:
    """Who gives a supervised command, and why."""
    assert command.person is not None and command.reason is not None
    return command.person, command.reason


def whole_number(text: str, low: int, high: int) -> int:
    """A plain number in a range. Raises :class:`Refused`."""
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and low <= int(text) <= high):
        raise Refused(f"a number from {low} to {high} is needed, not {text[:20]!r}")
    return int(text)


# --- start and end ----------------------------------------------------------------------------------------


def _ready_for_shoe(turn: Turn, rules: HouseRules) -> None:
    """Refuse a shoe for which something is missing."""
    state = turn.state
    if state.dealer is None:
        raise Refused("no dealer is signed in; first: sign-in NAME")
    if state.counting is not None:
        raise Refused("the cards are being counted; first: shoe inspect --done, or --cancel")
    if rules.burn.scanned and not state.scanner_up:
        raise Refused(f"the scanner is not there ({state.scanner_why}); a card drawn now would be lost")
    if state.count_due:
        raise Refused("the last shoe's cards could not be right; count them first: shoe inspect --by-hand")


def shoe_new(turn: Turn, command: Command) -> None:
    """Start a shoe: the next number, the rules it is dealt under, and its burn cards."""
    state, rules = turn.state, turn.around.rules
    _ready_for_shoe(turn, rules)
    if rules.shoe.inspection and not state.shoe_since_open and not state.inspected:
        raise Refused("the cards are to be inspected before the first shoe; first: shoe inspect --by-hand")
    number = state.shoes + 1
    _start(turn, number, command.args.get("note") or None, None)
    turn.answer = f"shoe {number}"
    due = rules.burn.due_after_shuffle
    if due:
        first = rules.burn.by == "first-card"
        turn.emit(ev.BurnsOrdered(shoe=number, count=due, reason="shuffle", first_card=first))
        turn.answer += "; burn the first card and its value" if first else f"; burn {due}"


def _start(turn: Turn, number: int, note: str | None, adopted: dict[str, int | bool] | None) -> None:
    rules = turn.around.rules
    turn.emit(
        ev.ShoeStarted(
            shoe=number,
            decks=rules.shoe.decks,
            rules=rules.as_dict(),
            rules_hash=rules.digest,
            note=note,
            adopted=adopted,
            carry=checkpoint.take(turn.state),
        )
    )


def shoe_adopt(turn: Turn, command: Command) -> None:
    """A shoe that was in play on another controller goes on here, with counts only."""
    _ready_for_shoe(turn, turn.around.rules)
    cards = turn.around.rules.shoe.cards
    number = whole_number(command.args.get("number", ""), turn.state.shoes + 1, 10**9 - 1)
    out = whole_number(command.args.get("out", ""), 0, cards)
    rounds = whole_number(command.args.get("rounds", ""), 0, MOST_ROUNDS)
    last_hand = command.args.get("last_hand", "") == "yes"
    if 4 * rounds > out:
        raise Refused(
            f"{rounds} rounds take {4 * rounds} cards at least, not {out}; look at the old table's screen"
        )
    _start(turn, number, None, {"out": out, "rounds": rounds, "last_hand": last_hand})
    if last_hand:
        announce_last_hand(turn)
    turn.answer = (
        f"shoe {number} goes on: {out} cards out, {rounds} rounds{', the next hand is the last' * last_hand}"
    )


def shoe_undo(turn: Turn, command: Command) -> None:
    """``shoe new`` was a mistake: as long as no card was drawn, the table stands where it stood."""
    person, reason = by(command)
    shoe = turn.shoe
    drawn = shoe.out or turn.state.unread  # one that could not be read is counted only when it is
    if turn.state.before_shoe is None or drawn or shoe.rounds or shoe.cut is not None:
        raise Refused("cards or a round of this shoe are out; it can only be ended: shoe end")
    turn.emit(
        ev.ShoeEnded(
            shoe=shoe.number,
            reason=f"withdrawn ({reason})",
            rounds=0,
            dealt=0,
            burned=(),
            approved_by=person,
            left=shoe.left,
            withdrawn=True,
        )
    )
    turn.answer = f"shoe {shoe.number} withdrawn; its number is used up"


def shoe_end(turn: Turn, command: Command) -> None:
    """Take the shoe out of play; a round in play (under a hold) is void."""
    person, reason = by(command)
    number = turn.shoe.number
    if turn.in_round:
        void_round(turn, reason, person)
    codes = ended_by("shoe end", turn.state)
    end_shoe(turn, reason, person)
    if codes:
        turn.emit(
            ev.TableReleased(action="shoe end", reason=reason, approved_by=person, codes=codes, shoe=number)
        )
    turn.answer = f"shoe {number} ended"


# --- burns and the cutting card ---------------------------------------------------------------------------


def burn_done(turn: Turn, command: Command) -> None:
    """Burn cards that the scanner did not see, told by the dealer; their faces stay unknown."""
    count = whole_number(command.args.get("count", ""), 1, 30)
    state = turn.state
    due, first_card = state.burns_due, state.burn_first_card
    if turn.rules.burn.scanned and not state.held:
        raise Refused(
            "burn cards pass the scanner at this table; scan them. If one did not: hold, then burn done"
        )
    if count > turn.shoe.left:
        raise Refused(f"only {turn.shoe.left} cards are left in the shoe")
    for i in range(1, count + 1):
        # By the first card's value only the dealer saw how many: what is told is all of them.
        left = count - i if first_card else max(0, due - i)
        turn.emit(
            ev.CardBurned(
                shoe=turn.shoe.number, reason=turn.state.burn_reason, left=left, shoe_left=turn.shoe.left - 1
            )
        )
    turn.answer = f"{count} burned"
    if turn.state.burns_due:
        turn.answer += f", {turn.state.burns_due} still due"
    elif not first_card and count > due:
        turn.hold("burn-wrong", f"{due} were due, {count} were burned.")
    elif first_card and not due + 1 <= count <= due + 10:
        turn.hold("burn-wrong", f"{due + 1} to {due + 10} were due, {count} were burned.")


def cut_card(turn: Turn, command: Command) -> None:
    """The dealer announces the cutting card; the shoe's own report of it is the same card."""
    cut = turn.shoe.cut
    if cut is None:
        cutting_card(turn, "dealer")
        last = turn.shoe.last_round
        turn.answer = f"cutting card noted; the last hand is round {turn.shoe.number}/{last}"
    else:
        note(turn, "cut-card by command", "the cutting card, already noted")
        turn.answer = "the cutting card is noted already"


def cut_undo(turn: Turn, command: Command) -> None:
    """The cutting card was told by mistake: until the next card it can be taken back."""
    person, reason = by(command)
    shoe, rules = turn.shoe, turn.rules.shoe
    if shoe.cut is None:
        raise Refused("the cutting card was not told yet")
    if rules.share_card is not None and shoe.out >= rules.share_card:
        raise Refused("the house rules end this shoe by the share of cards dealt, cutting card or not")
    # What was out with it may have been read twice and taken back since.
    if shoe.cut.out < shoe.out or turn.state.unread:
        raise Refused("cards were drawn since the cutting card; the pit boss may end the shoe: shoe end")
    turn.emit(ev.CutCardWithdrawn(approved_by=person, reason=reason, **turn.where))
    turn.answer = "the cutting card is withdrawn; there is no last hand yet"


# --- inspection --------------------------------------------------------------------------------------------


def inspect(turn: Turn, command: Command) -> None:
    """The set is counted, by hand or by the scanner; dealer and pit boss attest it."""
    if turn.state.dealer is None:
        raise Refused("dealer and pit boss attest the count; first: sign-in NAME")
    method = command.args.get("method", "by-hand")
    match method:
        case "by-hand" if turn.state.counting is not None:
            raise Refused("a count by the scanner is under way; first: shoe inspect --done, or --cancel")
        case "by-hand":
            found = {name: _cards(command, name) for name in ("missing", "extra")}
            _attest(turn, command, method, found["missing"], found["extra"], None)
        case "scan":
            _begin_count(turn)
        case "scan-done":
            _finish_count(turn, command)
        case "scan-cancel":
            if turn.state.counting is None:
                raise Refused("no count is under way")
            turn.emit(ev.CountEnded())
            turn.answer = "the count is given up; nothing is attested"
        case _:
            raise Refused(f"cards are counted by-hand or by scan, not {method[:20]!r}")


def _begin_count(turn: Turn) -> None:
    if turn.state.counting is not None:
        raise Refused("a count is under way already; go on, or: shoe inspect --cancel")
    if not turn.state.scanner_up:
        raise Refused(f"the scanner is not there ({turn.state.scanner_why}); count: shoe inspect --by-hand")
    decks = turn.rules.shoe.decks
    turn.emit(ev.CountBegan(decks=decks))
    turn.answer = f"counting: pass all {52 * decks} cards through the scanner, then: shoe inspect --done"


def _finish_count(turn: Turn, command: Command) -> None:
    counted = turn.state.counting
    if counted is None:
        raise Refused("no count is under way; first: shoe inspect --scan")
    missing = counted.unseen()
    if len(missing) > MOST_MISSING:
        raise Refused(
            f"only {counted.out} of {counted.size} cards were counted; go on, or: shoe inspect --cancel"
        )
    _attest(turn, command, "scan", missing, counted.excess(), counted.out)


def _attest(
    turn: Turn,
    command: Command,
    method: str,
    missing: tuple[str, ...],
    extra: tuple[str, ...],
    counted: int | None,
) -> None:
    person, reason = by(command)
    damaged, replaced = _cards(command, "damaged"), _cards(command, "replaced")
    foreign = tuple(part.strip() for part in command.args.get("foreign", "").split(",") if part.strip())
    wanting = Counter(missing) + Counter(damaged) - Counter(replaced)
    dealer = turn.state.dealer
    assert dealer is not None
    turn.emit(
        ev.InspectionRecorded(
            method=method,
            attested_by=(dealer, person),
            missing=missing,
            extra=extra,
            note=reason,
            foreign=foreign,
            damaged=damaged,
            replaced=replaced,
            counted=counted,
            complete=not wanting,
        )
    )
    turn.answer = f"inspection recorded, attested by {dealer} and {person}"
    found = {"missing": missing, "extra": extra, "foreign": foreign, "damaged": damaged}
    told = "; ".join(f"{name}: {' '.join(cards)}" for name, cards in found.items() if cards)
    if told:
        turn.answer += f"; {told}"
    if extra or foreign:
        turn.answer += "; take the extra and foreign cards out"
    if wanting:
        names = " ".join(wanting.elements())
        turn.answer += (
            f"; the set is not complete ({names}): replace, then: shoe inspect --by-hand --replaced …"
        )


def _cards(command: Command, name: str) -> tuple[str, ...]:
    """Cards by name, as typed: ``KS 8D``. Raises :class:`Refused`."""
    try:
        return tuple(str(Card.parse(text)) for text in command.args.get(name, "").split())
    except ValueError as error:
        raise Refused(f"{name}: {error}") from None
