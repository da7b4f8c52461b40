"""Plays a short, eventful shoe and the beginning of another; writes the journal down for later versions.

``python -m tests.data_tools.golden tests/data/golden/0.1.0.jsonl`` plays on an emulated Angel Eye shoe, with
daemon and game server as processes of their own. See ``tests/data/golden/README.md``.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tablectl import __version__
from tablectl.journal import JournalReader
from tablectl.journal.rows import Row, chained, decode_row, genesis
from tablectl.table import State, evolve
from tests.e2e.harness import QUICK, Rig, running

BURNED = "4D 9C KS 2H 7S JD"
ROUNDS = (
    "9S 2H KD 3C",  # a natural
    "2C 9D 3H KS 5H",  # a card in excess behind it, burned
    "QC",  # burned after the change of dealer
    "KD 2S",  # void in mid-hand
    "KC 6S 7C AD",  # held by the dealer, resumed
    "5D 3S KH AC 6C TD",  # over a restart; six cards
    "KH 3D 6H AS 4C",  # the cutting card comes in this hand
)
EVERY = 20
"""Rows between two states whose facts are written down; the last row's are always."""
SECOND_SHOE = "8D 8C TS 4H 2S QD 7H 7D JC AC 3C 5S"


def play(rig: Rig) -> None:
    """From the opening of the table into the second shoe's second hand, which is left in the middle."""
    cards = " ".join((BURNED, *ROUNDS))
    before_last = len(cards.split()) - len(ROUNDS[-1].split())
    rig.do("open")
    rig.do("sign-in", name="Dora", pickup="left")
    rig.do("shoe inspect", supervised=True, method="by-hand")
    rig.new_shoe(cards, (before_last + 2,))
    burn(rig, 6)

    rig.play_round(4)
    rig.bets()
    rig.deal(5)
    rig.wait(lambda s: s["holds"], "a card in excess holds the table")
    rig.do("release", supervised=True, action="burn")
    rig.phase("complete")
    rig.do("confirm")
    rig.shoe.standby()

    rig.do("sign-in", name="Boris", pickup="right")
    burn(rig, 1)
    rig.bets()
    rig.deal(2)
    rig.do("void", supervised=True)
    rig.shoe.force_end()
    rig.shoe.standby()

    rig.bets()
    rig.deal(2)
    rig.do("hold", text="a card fell on the floor")
    rig.do("release", supervised=True, action="resume")
    rig.deal(2)
    rig.finish()

    rig.bets()
    rig.deal(3)
    assert rig.daemon.end()[0] == 0
    rig.start_daemon()
    rig.wait(lambda s: s["scanner"]["up"] and s["link"]["good"], "all is there again")
    rig.do("release", supervised=True, action="cards-confirmed")
    rig.deal(3)
    rig.finish()

    rig.bets()
    rig.deal(2)
    assert (drawn := rig.shoe.draw()) is not None and drawn.cutting_card
    rig.wait(lambda s: s["shoe"]["cut"], "the cutting card is seen")
    rig.deal(3)
    rig.finish()
    rig.phase("shuffle due")
    for alert in rig.client.state()["alerts"]:
        rig.do("ack", alert=alert["alert"])

    rig.do("shoe inspect", supervised=True, method="by-hand")
    rig.new_shoe(SECOND_SHOE)
    burn(rig, 6)
    rig.play_round(4)
    rig.bets()
    rig.deal(2)
    rig.settle()


def burn(rig: Rig, cards: int) -> None:
    """Burn so many cards, one after another."""
    rig.phase("burning")
    for _ in range(cards):
        before = rig.client.state()
        assert rig.shoe.draw(burn=True) is not None
        rig.wait(functools.partial(_out_more, before["shoe"]["out"]), "a burn card is seen")


def _out_more(out: int, state: dict[str, Any]) -> bool:
    return bool(state["shoe"]["out"] > out)


# --- writing down, reading back ---------------------------------------------------------------------------


def line_of(row: Row) -> dict[str, Any]:
    """A row as plain JSON values."""
    return {
        "row": row.row,
        "sequence": row.sequence,
        "public": None if row.public is None else row.public.decode(),
        "private": row.private.decode(),
        "raw": row.raw.hex(),
    }


def row_of(line: dict[str, Any]) -> Row:
    """What :func:`line_of` gave, as a row again."""
    public = line["public"]
    return Row(
        row=line["row"],
        sequence=line["sequence"],
        public=None if public is None else public.encode(),
        private=line["private"].encode(),
        raw=bytes.fromhex(line["raw"]),
    )


def facts(state: State) -> dict[str, Any]:
    """A state in few words."""
    return {
        "phase": state.phase.value,
        "where": state.where,
        "rounds": state.shoe.rounds if state.shoe else None,
        "shoe_out": state.shoe.out if state.shoe else None,
        "shoes": state.shoes,
        "round_cards": {p.value: str(card) for p, card in state.round.cards.items()} if state.round else None,
        "dealer": state.dealer,
        "holds": [hold.code for hold in state.holds],
        "row": state.row,
        "sequence": state.sequence,
        "version": state.version,
    }


def fold(rows: Iterable[Row]) -> Iterator[State]:
    """The state after each row."""
    state = State()
    for row in rows:
        state = evolve(state, decode_row(row)[0])
        yield state


def last_hash(rows: Iterable[Row], table: str, epoch: str) -> str:
    """The hash of the last row, of a chain made anew."""
    link = genesis(table, epoch)
    for row in rows:
        link = chained(link, row)
    return link.hex()


def main(target: Path) -> None:
    """Play and write ``target``: a line about the journal, a line a row, a line of what they lead to."""
    with running("angel-eye", overrides=QUICK) as rig:
        play(rig)
        assert rig.daemon.end()[0] == 0
        rig.check_everything()
        reader = JournalReader.open(rig.journal_path)
        rows = list(reader.every_row())
        about = {
            "tablectl": __version__,
            "table": reader.table,
            "epoch": reader.epoch,
            "hash": last_hash(rows, reader.table, reader.epoch),
        }
        reader.close()
    states = list(fold(rows))
    marks = [facts(state) for state in (*states[EVERY - 1 : -1 : EVERY], states[-1])]
    lines = [{"journal": about}, *map(line_of, rows), {"facts": marks}]
    target.write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
