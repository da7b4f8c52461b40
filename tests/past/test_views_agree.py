"""A table played at random, its rounds often set right, beside all that tells of it from its events.

Display, roads, shoe report, recall, explain, console and game server read the events each in its own way.
Here they are held against the state of the table, and against the final results alone: what was published
last of each round. What is done is in :mod:`tests.table.steps`; what people set right comes more often here.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tablectl import events as ev
from tablectl.cards import DECK, Card, Position
from tablectl.clock import Instant
from tablectl.console.past import MOST_ROUNDS, Ended
from tablectl.console.past import Past as Console
from tablectl.display.model import About, boards_key, boards_part, shoe_shown, table_part
from tablectl.display.rounds import Played, settled_rounds
from tablectl.gameserver.messages import Message
from tablectl.gameserver.results import settle
from tablectl.gameserver.store import RoundRecord
from tablectl.journal.rows import Row
from tablectl.past.explain import explain
from tablectl.past.round_view import round_view
from tablectl.past.shoe_report import shoe_report
from tablectl.rules import deal, next_position
from tablectl.shoe import Shoe
from tablectl.table import Decision, Kind, Phase, State, evolve
from tablectl.table.inputs import Input
from tablectl.views import state_view
from tests.past_rows import entries_of, rows_of
from tests.table import steps
from tests.table.model import HOUSES, Watched
from tests.table.playing import Play, past_round

SOAK = "TABLECTL_SOAK" in os.environ
ABOUT = About("T07")
WHERE = tuple[int, int]


class Shown(Watched):
    """The table and the cards of the model test, with no bookkeeper: those who tell are tried here.

    ``final``: how each round stands, the last word of the events; None: void.
    """

    def __init__(self, house: str) -> None:
        super().__init__(*HOUSES[house])
        self.final: dict[WHERE, dict[str, Any] | None] = {}
        self.amended: set[WHERE] = set()
        self.begun: list[WHERE] = []
        self.started: list[ev.ShoeStarted] = []
        self.shoes: dict[int, Shoe] = {}
        """Each shoe as the table had it last."""
        self.open = False
        self._told = 0
        self._kept: tuple[tuple[object, ...] | None, Played | None] = (None, None)

    def give(self, given: Input, now: Instant | None = None) -> Decision:
        state = self.state
        done = Play.give(self, given, now)
        self.true = None
        self._shuffle(done.events)
        for event in done.events:
            if isinstance(event, ev.ShoeEnded):
                assert state.shoe is not None and event.rounds == state.shoe.rounds
                assert event.dealt + len(event.burned) == state.shoe.out
                assert (event.left, event.burned) == (state.shoe.left, state.shoe.burned)
            state = evolve(state, event)
            if state.shoe is not None:
                self.shoes[state.shoe.number] = state.shoe
            self._note(event)
        return done

    def _note(self, event: ev.Event) -> None:
        where = (event.shoe or 0, event.round or 0)
        match event:
            case ev.TableOpened() | ev.TableClosed():
                self.open = isinstance(event, ev.TableOpened)
            case ev.ShoeStarted():
                self.started.append(event)
            case ev.ShoeEnded(withdrawn=True):
                self.started.pop()
            case ev.BettingOpened() | ev.FreeHandOrdered():
                self.begun.append(where)
            case ev.RoundResulted():
                self.final[where] = ev.public_data(event)
            case ev.RoundAmended():
                self.final[where] = ev.public_data(event)["after"]
                self.amended.add(where)
            case ev.RoundVoided():
                self.final[where] = None
            case _:
                pass

    def of_shoe(self, shoe: int) -> list[ev.Event]:
        return [event for event in self.events if event.shoe == shoe]

    # --- after each step --------------------------------------------------------------------------------

    def agrees(self) -> None:
        """All that is told of the table while it is played."""
        self._display()
        self._state()
        new = self.events[self._told :]
        self._told = len(self.events)
        if any(isinstance(event, TELLING) for event in new):
            for shoe in {event.shoe for event in new if event.shoe in self.shoes}:
                self.report(int(shoe or 0))

    def _display(self) -> None:
        here = self.started[-1] if self.started and self.open else None
        shoe = here and here.shoe
        rounds = sorted(where for where in self.final if where[0] == shoe)
        key = boards_key(self.state)
        rebuilt = self._played(self.state)
        if key != self._kept[0]:
            self._kept = key, rebuilt
        live = self._kept[1]
        assert live == rebuilt, "what was kept of the rounds is not what the events say"
        told = table_part(self.state, ABOUT, live)
        assert told["shoe"] == shoe, f"shoe {told['shoe']} is shown, {shoe} was played last"
        assert self.state.newest_shoe == (self.started[-1].shoe if self.started else 0)
        last = rounds[-1] if rounds else None
        if self.state.round is not None or self.state.phase in (Phase.CLOSED, Phase.NO_SHOE):
            last = None
        result = told["result"]
        assert (result and (shoe, result["round"])) == last, "another round is shown as the last one"
        if last is not None:
            stands = self.final[last]
            assert result["outcome"] == (stands and stands["outcome"])
            assert result["amended"] == (stands is not None and last in self.amended)
            for side in ("player", "banker"):
                assert told[side]["cards"] == ([] if stands is None else [*stands[side]["cards"]])
        wanted = Played(
            settled_rounds(as_resulted(self.final[where], where) for where in rounds),
            int(((here and here.adopted) or {}).get("rounds", 0)),
        )
        assert boards_part(live or Played(), predictions=True) == boards_part(wanted, predictions=True)

    def _played(self, state: State) -> Played:
        """As the feed reads it of the journal."""
        shoe = shoe_shown(state)
        own = [] if shoe is None else self.of_shoe(shoe)
        adopted = next((e.adopted or {} for e in own if isinstance(e, ev.ShoeStarted)), {})
        return Played(settled_rounds(own), int(adopted.get("rounds", 0)))

    def _state(self) -> None:
        view = state_view(self.state, self.now())
        if (settled := view["settled"]) is not None:
            where = settled["where"]
            stands = self.final[where_of(where)]
            assert ("void" if stands is None else stands["outcome"]) in settled["what"].split(", ")[0]
        if (shoe := view["shoe"]) is not None:
            kept = len(view["kept"]) + view["reserved"]
            report = shoe_report(self.of_shoe(shoe["number"]), over=False)
            assert {name: report[name] for name in ("out", "left")} == {
                name: shoe[name] for name in ("out", "left")
            }
            assert report["kept"] >= kept

    def report(self, number: int) -> None:
        """The report on a shoe, in play or over."""
        shoe = self.shoes[number]
        over = self.state.shoe is None or self.state.shoe.number != number
        report = shoe_report(self.of_shoe(number), over=over)
        adopted = int((report["adopted"] or {}).get("out", 0))
        parts = report["dealt"] + report["burned"] + report["kept"]
        assert parts + adopted == report["out"] and report["left"] == max(0, report["cards"] - report["out"])
        own = {where: stands for where, stands in self.final.items() if where[0] == number}
        assert report["results"] == dict(Counter(one["outcome"] for one in own.values() if one is not None))
        assert report["void"] == sum(one is None for one in own.values())
        assert report["amended"] == sum(where in self.amended for where in own)
        assert report["rounds"] == sum(where[0] == number for where in self.begun)
        hands = [card for one in own.values() if one for side in SIDES for card in one[side]["cards"]]
        if not over:
            assert (report["out"], report["burned"]) == (shoe.out, len(shoe.burned))
            assert "faces" not in report
            return
        ended = next(e for e in self.events if isinstance(e, ev.ShoeEnded) and e.shoe == number)
        later = self.events[self.events.index(ended) :]
        if not any(isinstance(event, ev.RoundAmended) and event.shoe == number for event in later):
            assert (report["dealt"] + report["kept"] + adopted, report["burned"], report["left"]) == (
                ended.dealt, len(ended.burned), ended.left,
            )  # fmt: skip
            assert report["faces"]["burned"] == [FACES.get(face, face) for face in ended.burned]
        dealt = Counter(report["faces"]["dealt_by_rank"])
        assert Counter(card[0] for card in hands) <= dealt, "a card of a hand is told as burned or kept"
        if not report["unknown"]:
            assert sum(report["faces"]["left"].values()) >= report["left"]

    # --- at the end -------------------------------------------------------------------------------------

    def told_later(self) -> None:
        """All that is made of the journal when the play is over: nothing of it knows the state."""
        rows = rows_of(self.events)
        state = State()
        for entry, event in zip(entries_of(rows), self.events, strict=True):
            assert entry.event == event
            state = evolve(state, entry.event)
        assert state == self.state and self._played(state) == self._played(self.state)
        for number in self.shoes:
            self.report(number)
        for where in self.begun:
            self._looked_back(where, rows)
        self._console()
        self._game_server()

    def _looked_back(self, where: WHERE, rows: list[Row]) -> None:
        name = f"{where[0]}/{where[1]}"
        own = [row for row, e in zip(rows, self.events, strict=True) if (e.shoe, e.round) == where]
        over = self.state.shoe is None or self.state.shoe.number != where[0]
        view = round_view(own, shoe_over=over)
        stands = self.final.get(where)
        assert (view["void"] is not None) == (where in self.final and stands is None), name
        assert bool(view["amendments"]) == (where in self.amended), name
        past = past_round(self.events, name)
        assert past is None or past.revision == (past.result.revision if past.result else 0)
        if stands is not None:
            newest = view["amendments"][-1]["after"] if view["amendments"] else view["result"]
            assert [newest[side] for side in SIDES] == [stands[side] for side in SIDES]
            assert view["hand"] == laid(stands), name
        if where not in self.final:
            return
        start = next(row for row, e in zip(rows, self.events, strict=True) if is_start(e, where[0]))
        told = explain(entries_of([start])[0], entries_of(own), lambda raw: None, over=over)
        assert told["findings"] == [], f"{name}: {told['findings']}"
        if stands is not None:
            assert all(told["derived"][key] == stands[key] for key in ("outcome", "player", "banker", "bets"))

    def _console(self) -> None:
        """Whenever it was begun: the newest round is on top, and of each the last word."""
        heard = [self._message(event) for event in self.events if event.PUBLIC]
        for since in (0, len(heard) // 2, len(heard) - 4):
            past = Console()
            for message in heard[max(0, since) :]:
                past = past.heard(message)
            places = [where_of(one.where) for one in past.rounds]
            assert places == sorted(places, reverse=True), "an earlier round is told as the last one"
            assert not since or len(places) <= len(self.final)
            for one, where in zip(past.rounds, places, strict=True):
                assert console_words(one) == console_words_of(self.final[where])
            if since == 0:
                assert len(places) == min(MOST_ROUNDS, len(self.final))

    def _game_server(self) -> None:
        held: dict[WHERE, RoundRecord] = {}
        for event in self.events:
            if event.PUBLIC and event.shoe and event.round:
                where = (event.shoe, event.round)
                plain = self._message(event)
                message = Message("x", "T", "e", 1, plain["type"], True, plain["data"], b"")
                if (made := settle(message, held.get(where))) is not None:
                    held[where] = made
        assert held.keys() == self.final.keys()
        for where, record in held.items():
            stands = self.final[where]
            assert (record.state == "voided") == (stands is None)
            if stands is not None:
                assert [record.result[side]["cards"] for side in SIDES] == [
                    [*stands[side]["cards"]] for side in SIDES
                ]

    def _message(self, event: ev.Event) -> dict[str, Any]:
        body = ev.public_body(event, table="T", epoch="e", sequence=1, at=self.now(), test=True)
        plain: dict[str, Any] = json.loads(body)
        return plain


SIDES = ("player", "banker")
FACES = {"unread": "?", "unseen": "?"}
TELLING = (
    ev.RoundAmended, ev.RoundVoided, ev.ShoeEnded, ev.HandCorrected, ev.CardsReserved, ev.CardDropped,
    ev.RoundResulted,
)  # fmt: skip


def is_start(event: ev.Event, shoe: int) -> bool:
    return isinstance(event, ev.ShoeStarted) and event.shoe == shoe


def where_of(text: str) -> WHERE:
    shoe, number = map(int, text.split("/"))
    return shoe, number


def laid(result: dict[str, Any]) -> dict[str, str]:
    hands = {side: list(result[side]["cards"]) for side in SIDES}
    return {
        place.value: hands[place.side.value][int(place.value[1]) - 1]
        for place in Position
        if int(place.value[1]) <= len(hands[place.side.value])
    }


def as_resulted(stands: dict[str, Any] | None, where: WHERE) -> ev.Event:
    here: Any = {"shoe": where[0], "round": where[1]}
    if stands is None:
        return ev.RoundVoided(reason="", cards={}, approved_by="", **here)
    hands: Any = {side: ev.HandResult(**stands[side]) for side in SIDES}
    return ev.RoundResulted(outcome=stands["outcome"], bets={}, free=stands["free"], **hands, **here)


def console_words(one: Ended) -> tuple[Any, ...]:
    return one.what.lower(), one.player, one.banker


def console_words_of(stands: dict[str, Any] | None) -> tuple[Any, ...]:
    if stands is None:
        return "void", (), ()
    return stands["outcome"], *(tuple(stands[side]["cards"]) for side in SIDES)


# --- what people set right -----------------------------------------------------------------------------


def put_right(play: Watched, a: int, b: int) -> None:
    """A card of a settled round was read wrong: as it truly was, cards drawn since belonged to it."""
    assert isinstance(play, Shown)
    settled = sorted(where for where, stands in play.final.items() if stands is not None)
    if not settled:
        steps.do_round(play, a, b)
        return
    where = settled[-1] if a % 3 else settled[b % len(settled)]
    name = f"{where[0]}/{where[1]}"
    before = laid(play.final[where] or {})
    after = _with_more(play, name, before, b)
    if after is None:
        after = before | {"P1": before["P1"][0] + "SHDC"[b % 4]}
    play.command(Kind.AMEND, round=name, **{at: card for at, card in after.items() if before.get(at) != card})


def _with_more(play: Shown, name: str, before: dict[str, str], b: int) -> dict[str, str] | None:
    """The hand with another card in its first four, and behind it those that lie about."""
    if len(before) == 6:
        return None
    hand = list(map(Card.parse, before.values()))
    shoe, state = play.shoes[where_of(name)[0]], play.state
    burned = [Card.parse(face) for face in shoe.burned[-2:] if face not in FACES]
    about: list[list[Card]] = [[one.card for one in state.loose if one.card], [*state.reserved]]
    about = [lie for lie in (*about, burned, burned[-1:], [DECK[b % 52]]) if lie]
    lie = about[b % len(about)]
    for count in (2, 1):
        more = lie[: min(count, 6 - len(hand))]
        for at in range(4):
            for face in range(52):
                tried = [*hand[:at], DECK[(face + b) % 52], *hand[at + 1 :], *more]
                placed, rest = deal(tuple(tried))
                player, banker = ([c.points for p, c in placed.items() if p.value[0] == s] for s in "PB")
                if not rest and len(placed) > len(hand) and next_position(player, banker) is None:
                    return {place.value: str(card) for place, card in placed.items()}
    return None


def void_settled(play: Watched, a: int, b: int) -> None:
    assert isinstance(play, Shown)
    settled = sorted(where for where, stands in play.final.items() if stands is not None)
    if settled:
        shoe, number = settled[-1] if a % 2 else settled[b % len(settled)]
        play.command(Kind.VOID, round=f"{shoe}/{number}")


def withdraw(play: Watched, a: int, b: int) -> None:
    """A shoe is ended and another begun, which is taken back; so it goes with a cutting card."""
    if play.state.shoe is not None and a % 2:
        play.command(Kind.CUT_CARD)
        if b % 3:
            play.command(Kind.CUT_UNDO)
        return
    if play.state.shoe is not None and play.state.round is None:
        play.command(Kind.SHOE_END)
    play.command(Kind.INSPECT, method="by-hand")
    play.command(Kind.SHOE_NEW)
    if b % 4:
        play.command(Kind.SHOE_UNDO)


OPS: tuple[Callable[[Watched, int, int], None], ...] = (
    *(steps.do_next,) * 3,
    *(steps.do_round,) * 8,
    *(steps.do_way,) * 6,
    *(steps.do_truth,) * 3,
    *(steps.do_card,) * 4,
    *(put_right,) * 6,
    *(void_settled,) * 2,
    *(withdraw,) * 2,
    *(steps.do_boss,) * 2,
    steps.do_twice,
    steps.do_unread,
    steps.do_misread,
    steps.do_edge,
    steps.do_people,
    steps.do_labelled,
    steps.do_missed,
    steps.do_shoe,
)


def play(seed: int) -> Shown:
    """Play an example by its number. Whatever does not agree raises, with the example's name."""
    chance = random.Random(seed)
    house = chance.choice(sorted(HOUSES))
    table = Shown(house)
    done: list[str] = []
    try:
        steps.begin(table, chance.randrange(4))
        table.agrees()
        for _ in range(chance.randint(25, 60)):
            step = chance.choice(OPS)
            done.append(step.__name__)
            step(table, chance.randrange(256), chance.randrange(256))
            table.agrees()
        table.told_later()
    except Exception as error:
        error.add_note(f"play({seed}): {house}, {' '.join(done)}")
        raise
    return table


@pytest.mark.soak
@pytest.mark.timeout(1800 if SOAK else 120)
def test_all_that_tells_of_a_table_agrees_with_it() -> None:
    met: Counter[str] = Counter()
    for seed in range(1_000 if SOAK else 100):
        if not SOAK and seed >= 10 and met["uses burned"] and met["withdrawn"]:
            break
        table = play(seed)
        met.update(f"uses {place}" for e in table.of(ev.RoundAmended) for place in e.uses)
        met.update("withdrawn" for e in table.of(ev.ShoeEnded) if e.withdrawn)
    assert met["uses burned"] and met["withdrawn"]
    if SOAK:
        assert met["uses kept"] and met["uses reserved"]
