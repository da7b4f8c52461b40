"""Which keys do what now: from the table's phase, its holds, and what the table would not refuse anyway.

Every dealer action has one key, the same in every phase, on the number pad: Enter is what comes next, 0
puts the table on hold.  Under a hold the digits are the ways out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

from tablectl.console import flows, pit_boss
from tablectl.console.dialog import PAGE, Changed, Choice, Flow
from tablectl.console.past import Past
from tablectl.console.seen import Seen
from tablectl.table.inputs import COMMANDS, SUPERVISED, Kind
from tablectl.table.state import Phase
from tablectl.table.transitions import move_for

BY_NAME = frozenset({Kind.HOLD, Kind.ACK})
"""The dealer's commands that a pit boss may give by name and PIN."""
MORE_WAYS = "more ways"


@dataclass(frozen=True)
class Key:
    """``means``: what it does, by a name that stays the same as long as it does.

    ``at_once``: taken however short it has meant that. ``main``: it is what comes next.
    """

    key: str
    label: str
    means: str
    make: Callable[[], Flow]
    at_once: bool = False
    main: bool = False


def cap(key: str) -> str:
    """A key as it is written on it."""
    return "Enter" if key == "enter" else key


def phase_of(seen: Seen) -> Phase | None:
    """The phase, where this console knows it."""
    try:
        return Phase(seen.phase)
    except ValueError:
        return None


def lawful(seen: Seen) -> tuple[Kind, ...]:
    """The commands that the table would look at now, in the order of :class:`Kind`."""
    phase = phase_of(seen)
    return () if phase is None else _lawful(phase, seen.held)


@cache
def _lawful(phase: Phase, held: bool) -> tuple[Kind, ...]:
    return tuple(kind for kind in Kind if kind in COMMANDS and move_for(phase, kind, held=held) is not None)


def _dealer(kind: Kind, seen: Seen, past: Past) -> tuple[str, str, Callable[[], Flow]] | None:
    """Key, label and questions of a dealer's command; None where it is idle to give it now."""
    command, w = kind.value, seen.words
    match kind:
        case Kind.OPEN:
            return "enter", w("open the table"), partial(flows.direct, command)
        case Kind.SHOE_NEW:
            ask = w("Is the new shoe shuffled, cut and loaded? Then it is started.")
            return "enter", w("new shoe"), partial(flows.sure, command, ask, w("start the new shoe"))
        case Kind.BETS_OPEN:
            return "enter", w("OPEN BETTING"), partial(flows.direct, command)
        case Kind.TURN if seen.round is not None and seen.round.to_be_turned:
            return "enter", w("cards are turned"), partial(flows.direct, command)
        case Kind.CONFIRM if seen.round is not None and seen.round.outcome is not None:
            said = seen.round.outcome
            label = w("announce {outcome}", outcome=w(_SAYS[said]))
            return "enter", label, partial(flows.direct, command, {"outcome": said})
        case Kind.BETS_CLOSE:
            ask = w("Close betting now, before its time?")
            return "-", w("close betting early"), partial(flows.sure, command, ask, w("no more bets"))
        case Kind.CUT_CARD if seen.shoe is not None and not seen.shoe.cut:
            ask = w("Has the cutting card come out?")
            return "4", w("cutting card"), partial(flows.sure, command, ask, w("the cutting card is out"))
        case Kind.RESCAN:
            return "5", w("scan again"), partial(flows.rescan, seen)
        case Kind.SAME_AGAIN if seen.read_twice:
            ask = w("Were two equal cards drawn? The second is counted.")
            return "6", w("two equal cards"), partial(flows.sure, command, ask, w("count the second card"))
        case Kind.SIGN_IN:
            label = w("change of dealer") if seen.dealer else w("dealer signs in")
            return "7", label, partial(flows.sign_in, seen, past)
        case Kind.SIGN_OUT if seen.dealer:
            ask = w("Does {name} leave the table?", name=seen.dealer)
            return "8", w("dealer leaves"), partial(flows.sure, command, ask, w("sign out"))
        case Kind.BURN_DONE:
            return "9", w("burned unseen"), partial(flows.burn_done, seen)
        case Kind.CLOSE:
            label = w("close the table")
            return "-", label, partial(flows.sure, command, w("Close the table?"), label)
        case _:
            return None


_SAYS = {"player": "PLAYER WINS", "banker": "BANKER WINS", "tie": "TIE"}


def dealer_keys(seen: Seen, past: Past) -> tuple[Key, ...]:
    """The dealer's actions now, hold and alerts besides; Enter is the main one."""
    made: list[Key] = []
    no_dealer = seen.phase in (Phase.NO_SHOE, Phase.SHUFFLE_DUE, Phase.IDLE) and not seen.dealer
    for kind in lawful(seen):
        if kind in SUPERVISED or (found := _dealer(kind, seen, past)) is None:
            continue
        key, label, make = found
        if no_dealer and key == "enter":
            continue  # first somebody signs in
        if no_dealer and kind is Kind.SIGN_IN:
            made.append(Key("enter", label, kind.value, make, main=True))
            continue
        means = f"{kind.value} {seen.round.outcome}" if kind is Kind.CONFIRM and seen.round else kind.value
        made.append(Key(key, label, means, make, main=key == "enter"))
        if kind is Kind.CONFIRM:
            made += [
                Key(
                    number,
                    seen.words(word),
                    f"confirm {said}",
                    partial(flows.direct, kind.value, {"outcome": said}),
                )
                for number, (said, word) in zip("123", _SAYS.items(), strict=True)
            ]
    return tuple(sorted(made, key=lambda one: (not one.main, one.key)))


def ways(seen: Seen, past: Past) -> tuple[tuple[str, str, Callable[[], Flow]], ...]:
    """The ways out of a hold: the action, what stands on the screen, and what it asks."""
    made = []
    for action, told in seen.ways:
        by_command = pit_boss.COMMANDS.get(action)
        does = told.partition(": ")[2] or told
        if by_command is not None and not told.startswith("release "):
            does = by_command[0]
        does = seen.words(does)
        if told.startswith("release "):
            make: Callable[[], Flow] = partial(pit_boss.release, action, does, seen, past)
        elif action == "rescan hand":
            make = partial(flows.direct, "rescan", {"what": "hand"})
        elif action == "turn":
            make = partial(flows.direct, "turn")
        elif action == "burn done":
            make = partial(flows.burn_done, seen)
        elif by_command is not None:
            make = partial(by_command[1], seen, past)
        else:  # of a newer daemon: it is for the table to decide
            make = partial(pit_boss.release, action, does, seen, past)
        made.append((action, does, make))
    return tuple(made)


def way_keys(seen: Seen, past: Past, page: int) -> tuple[Key, ...]:
    """The digits under a hold. ``page``: where there are more ways than digits."""
    found = ways(seen, past)
    if len(found) <= PAGE:
        shown = found
    else:
        begin = page % way_pages(seen) * (PAGE - 1)
        shown = found[begin : begin + PAGE - 1]
    made = [
        Key(str(n), f"{action}: {does}", f"way {action}", make)
        for n, (action, does, make) in enumerate(shown, start=1)
    ]
    if len(found) > PAGE:
        made.append(Key("9", seen.words("more ways out ..."), MORE_WAYS, _turned, at_once=True))
    return tuple(made)


def _turned() -> Flow:
    raise AssertionError("a page is turned, nothing is asked")
    yield


def way_pages(seen: Seen) -> int:
    """Pages of ways out."""
    return 1 if len(seen.ways) <= PAGE else -(-len(seen.ways) // (PAGE - 1))


def keys(seen: Seen, past: Past, page: int = 0) -> tuple[Key, ...]:
    """Every key that does something now."""
    made: list[Key] = []
    w = seen.words
    if seen.held:
        made += way_keys(seen, past, page)
    else:
        made += dealer_keys(seen, past)
    if Kind.HOLD in lawful(seen):
        made.append(Key("0", w("HOLD"), "hold", partial(flows.hold, w), at_once=True))
    if any(not one.present for one in seen.alerts):
        made.append(Key("/", w("alert seen"), "alerts", partial(flows.acknowledge, seen), at_once=True))
    made.append(Key("*", w("pit boss"), "pit boss", partial(menu, pit_boss_menu, seen, past), at_once=True))
    made.append(Key("+", w("more"), "more", partial(menu, dealer_menu, seen, past), at_once=True))
    return tuple(made)


Menu = tuple[str, tuple[tuple[str, str, Callable[[], Flow]], ...]]


def menu(made: Callable[[Seen, Past], Menu], seen: Seen, past: Past) -> Flow:
    """Choose one, and go on with what that asks."""
    title, found = made(seen, past)
    options = tuple((name, label) for name, label, _ in found)
    chosen = yield Choice(title, options, changed=Changed.EITHER)
    make = next(make for name, _, make in found if name == chosen)
    return (yield from make())


def pit_boss_menu(seen: Seen, past: Past) -> Menu:
    """Every command of the pit boss that the table would look at now."""
    return seen.words("Pit boss"), tuple(_pit_boss_entries(seen, past))


def _idle(kind: Kind, seen: Seen) -> bool:
    """Whether there is nothing that a pit boss's command could do."""
    match kind:
        case Kind.CUT_UNDO:
            return not (seen.shoe and seen.shoe.cut)
        case Kind.SHOE_UNDO:
            return seen.shoe is not None and bool(seen.shoe.out or seen.shoe.rounds)
        case Kind.ACK:
            return all(one.present for one in seen.alerts)
        case _:
            return False


def _pit_boss_entries(seen: Seen, past: Past) -> Iterator[tuple[str, str, Callable[[], Flow]]]:
    now = lawful(seen)
    supervised = [kind for kind in now if kind in SUPERVISED and not _idle(kind, seen)]
    for kind in (*supervised, *(kind for kind in now if kind in BY_NAME and not _idle(kind, seen))):
        if (found := pit_boss.COMMANDS.get(kind.value)) is not None:
            label, asks = found
            yield kind.value, f"{kind.value}: {seen.words(label)}", partial(asks, seen, past)


def dealer_menu(seen: Seen, past: Past) -> Menu:
    """Every command of the dealer that the table would look at now, and the way out of the console."""
    entries: list[tuple[str, str, Callable[[], Flow]]] = []
    for kind in lawful(seen):
        if kind not in SUPERVISED and (found := _dealer(kind, seen, past)) is not None:
            entries.append((kind.value, found[1], found[2]))
    w = seen.words
    return w("Dealer"), (*entries, ("leave", w("leave the console"), partial(flows.leave, w)))
