"""An emulated shoe in the hands of whoever types: draws, burns, buttons and cables, by line."""

from __future__ import annotations

import json
import random
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from tablectl.cli import output
from tablectl.cli.arguments import Text
from tablectl.cli.configuration import configuration
from tablectl.cli.output import REFUSED, Refused, escape
from tablectl.printable import number_of

if TYPE_CHECKING:
    from tablectl.emulation import EmulatedShoe

DECKS = 8
BEHIND_CUTTING_CARD = 52
MOST_LINE = 10_000
LONGEST_WAIT = 3600.0

HELP = """draw | burn | result [player|banker|tie] | standby | force-end | lock | unlock | restart
load SEED | load CARD... (cut: the cutting card) | hang-up | plug-in | wait SECONDS | quit"""


class _Quit(Exception):
    """The line said so."""


@click.command("emulate")
@click.argument("protocol", type=Text(40))
@click.option("--link", type=Text(255), help="Path of the link to the pseudo-terminal (else a new one).")
@click.option("--listen", type=click.IntRange(0, 65535), help="A TCP port instead of a pseudo-terminal.")
@click.option("--fault", "faults", multiple=True, type=Text(60), help="NAME or NAME:N, every N-th time.")
@click.option("--seed", type=int, default=1, show_default=True, help="Order of the cards, and of faults.")
@click.option("--speed", type=click.FloatRange(0.01, 10_000), default=1.0, show_default=True)
@click.option("--script", type=Text(255), help="Read the lines from this file, not from standard input.")
def emulate(
    protocol: str,
    link: str | None,
    listen: int | None,
    faults: tuple[str, ...],
    seed: int,
    speed: float,
    script: str | None,
) -> int:
    """An emulated shoe that speaks PROTOCOL on the wire, for any program to open.

    \b
    First line printed: the device to open; then, a line each, what else [scanner] needs to read it.
    One line of input for each thing a hand does:
      draw | burn | result [player|banker|tie] | standby | force-end | lock | unlock | restart
      load SEED | load CARD... (cut: the cutting card) | hang-up | plug-in | wait SECONDS | quit

    Example:  tablectl emulate angel-eye --link /tmp/shoe
    """
    if link is not None and listen is not None:
        raise click.UsageError("--link or --listen, not both")
    from tablectl.plain_file import must_be_file
    from tablectl.plugins import load_driver, load_emulator
    from tablectl.scanner_setup import resolve_paths

    with configuration():
        emulator, driver = load_emulator(protocol), load_driver(protocol)
    settings = emulator.settings_at(speed)
    try:
        if script is not None:
            must_be_file(Path(script))  # what comes through a pipe is taken from standard input
        # Open as long as the shoe is.
        lines = Path(script).open(encoding="utf-8", errors="replace") if script else sys.stdin  # noqa: SIM115
        shoe = emulator.make(
            link=link,
            listen=listen,
            speed=speed,
            faults=faults,
            seed=seed,
            settings=resolve_paths(driver, settings, Path()),
        )
    except OSError as fault:
        name = link if fault.filename2 else fault.filename  # two names: a link is made
        raise Refused(f"refused: {f'{escape(name)}: ' if name else ''}{output.in_words(fault)}") from None
    except ValueError as fault:
        raise Refused(f"refused: {fault}") from None
    try:
        signal.signal(signal.SIGTERM, _stop)
        _load(shoe, [str(seed)])
        output.say(f"device {escape(shoe.device)}")
        for key, value in settings.items():
            output.say(f"setting {key} = {json.dumps(value)}")
        return _play(shoe, _read(lines or (), script))
    except (KeyboardInterrupt, _Quit):
        return 0
    finally:
        shoe.close()


def _stop(*_: object) -> NoReturn:
    raise _Quit


def _read(lines: Iterable[str], name: str | None) -> Iterator[str]:
    try:
        yield from lines
    except OSError as fault:  # the kernel has files that open and cannot be read
        raise Refused(f"refused: {escape(name or 'standard input')}: {output.in_words(fault)}") from None


def _play(shoe: EmulatedShoe, lines: Iterable[str]) -> int:
    """Carry out lines until they end; 1 if one of them was no command."""
    code = 0
    for line in lines:
        words = line[:MOST_LINE].split()
        if not words or words[0].startswith("#"):
            continue
        try:
            if said := carry_out(shoe, words):
                output.say(said)
        except ValueError as fault:
            output.complain(f"{escape(' '.join(words)[:60])}: {fault}")
            code = REFUSED
    shoe.flush()
    return code


def carry_out(shoe: EmulatedShoe, words: list[str]) -> str:
    """One line; what came of it, in words. Raises :class:`ValueError` for a line that is no command."""
    from tablectl.cards import Outcome

    match words:
        case ["draw"]:
            return _drawn(shoe, burn=False)
        case ["burn"]:
            return _drawn(shoe, burn=True)
        case ["result"]:
            shoe.press_result()
        case ["result", ("player" | "banker" | "tie") as outcome]:
            shoe.press_result(Outcome(outcome))
        case ["standby"]:
            shoe.standby()
        case ["force-end"]:
            shoe.force_end()
        case ["lock" | "unlock"]:
            shoe.lock(words[0] == "lock")
        case ["restart"]:
            shoe.restart()
        case ["hang-up"]:
            shoe.hang_up()
        case ["plug-in"]:
            shoe.plug_in()
        case ["load", *what] if what:
            return _load(shoe, what)
        case ["wait", seconds]:
            shoe.flush()
            time.sleep(_seconds(seconds))
        case ["quit"]:
            shoe.flush()
            raise _Quit
        case _:
            raise ValueError(f"is no command; there are:\n{HELP}")
    return ""


def _drawn(shoe: EmulatedShoe, burn: bool) -> str:
    drawn = shoe.draw(burn=burn)
    if drawn is None:
        return "the shoe is empty"
    return "cutting card" if drawn.cutting_card else str(drawn.card)


def _load(shoe: EmulatedShoe, what: list[str]) -> str:
    """Eight shuffled decks by seed, the cutting card in its place; or the cards named."""
    from tablectl.cards import DECK, Card

    if len(what) == 1 and what[0].lstrip("-").isdecimal():
        cards = list(DECK * DECKS)
        random.Random(int(what[0])).shuffle(cards)  # noqa: S311 - an emulated shoe, no secret
        shoe.load(cards, [len(cards) - BEHIND_CUTTING_CARD])
        return number_of(shoe.left, "card")
    cards, cuts = [], []
    for name in what:
        if name == "cut":
            cuts.append(len(cards))
        else:
            cards.append(Card.parse(name))
    shoe.load(cards, cuts)
    return number_of(shoe.left, "card")


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= LONGEST_WAIT:
        raise ValueError(f"seconds are 0 to {LONGEST_WAIT:g}")
    return seconds


COMMANDS: tuple[click.Command, ...] = (emulate,)
