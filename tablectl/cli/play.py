"""``tablectl play``: a scripted dealer with an emulated shoe at a test table whose daemon runs."""

from __future__ import annotations

from typing import Any

import click

from tablectl.cli import output
from tablectl.cli.arguments import NAME, Text, json_option, read_pin
from tablectl.cli.configuration import config_option, config_path, configuration
from tablectl.cli.output import Refused, escape
from tablectl.printable import number_of


@click.command("play")
@click.option("--rounds", default=1, show_default=True, type=click.IntRange(1, 100_000))
@click.option(
    "--pace", default=0.8, show_default=True, type=click.FloatRange(0, 60), help="Seconds from card to card."
)
@click.option("--seed", default=1, show_default=True, type=int, help="Order of the cards, and of faults.")
@click.option(
    "--fault", "faults", multiple=True, type=Text(60), help="Of the shoe: NAME or NAME:N, every N-th time."
)
@click.option("--as", "person", type=NAME, help="A pit boss, for what only one may do; the PIN is asked for.")
@click.option("--pin-stdin", is_flag=True, help="Read the PIN from standard input.")
@json_option
@config_option
def play(
    rounds: int,
    pace: float,
    seed: int,
    faults: tuple[str, ...],
    person: str | None,
    pin_stdin: bool,
    as_json: bool,
    config_file: str | None,
) -> int:
    """A scripted dealer works a test table whose daemon runs, with the shoe that its configuration names.

    The emulated shoe is made where the daemon looks for it, in place of `tablectl emulate`, and is gone
    when the play ends; the shoe in play stays open. With --as a pit boss counts the cards before the first
    shoe, ends a shoe that was in other hands, and takes the ways out of holds; without, it ends there.
    With --json each event is a line as the table tells it, and the last line counts what was done.

    Example:  tablectl play --config T01.toml --rounds 3 --as bo
    """
    with configuration():
        from tablectl.config import load_config
        from tablectl.demo.running_table import CannotPlay
        from tablectl.demo.running_table import play as deal
        from tablectl.demo.screen import Screen
        from tablectl.demo.scripted_dealer import PitBoss

        config = load_config(config_path(config_file))
        pit_boss = PitBoss(person, read_pin(pin_stdin, f"PIN of {person}: ")) if person is not None else None
        screen = Screen(quiet=False, many=False)

        def told(event: dict[str, Any]) -> None:
            if as_json:
                output.say_json(event)
            else:
                screen.event(config.table.id, event)

        try:
            dealer = deal(
                config,
                told,
                rounds=rounds,
                pace=pace,
                seed=seed,
                faults=faults,
                pit_boss=pit_boss,
            )
        except CannotPlay as why:
            raise Refused(f"refused: {escape(why)}") from None
    done = dealer.ledger
    if as_json:
        output.say_json({"rounds": done.rounds, "voids": done.voids, "cards": done.cards})
    else:
        cards = number_of(done.cards, "card")
        output.say(f"{number_of(done.rounds, 'round')} ({done.voids} void), {cards} drawn")
    return 0 if done.rounds >= rounds else output.REFUSED


COMMANDS: tuple[click.Command, ...] = (play,)
