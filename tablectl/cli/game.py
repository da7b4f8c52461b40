"""The game without a table: house rules, the drawing table and its exact proof, and simulated shoes."""

from __future__ import annotations

from typing import Any

import click

from tablectl.cli import output
from tablectl.cli.arguments import Text, json_option
from tablectl.cli.configuration import configuration
from tablectl.cli.output import REFUSED
from tablectl.printable import number_of

rules_option = click.option(
    "--rules",
    "profile",
    type=Text(255),
    default="live-casino",
    show_default=True,
    help="House rules by name, or the path of a .toml file.",
)


@click.command("rules")
@rules_option
@click.option("--verify", is_flag=True, help="Enumerate all draws with the code that decides at the table.")
@json_option
def rules(profile: str, verify: bool, as_json: bool) -> int:
    """Show house rules and the drawing table, or prove the drawing table by exact enumeration.

    What a file of house rules leaves out is as in live-casino, but for limits, most winnings and the
    combinations 2-Way and 3-Way: there are none unless [limits] and [payouts] say so.

    \b
    Example:  tablectl rules --rules commission-free
              tablectl rules --verify
    """
    if verify:
        return _verify(as_json)
    from tablectl.profiles import load_rules
    from tablectl.rules import banker_matrix, player_row

    with configuration():
        loaded = load_rules(profile)
    house = loaded.as_dict()
    matrix = banker_matrix()
    if as_json:
        drawing = {
            "player": player_row(),
            "banker": [
                {"total": t, "third_card_0_to_9": cells, "player_stood": stood} for t, cells, stood in matrix
            ],
        }
        output.say_json({"rules": house, "drawing": drawing})
        return 0
    output.say(f"house rules {output.escape(house.pop('name'))}")
    for section, values in house.items():
        output.say(f"\n[{section}]")
        for key, value in values.items():
            output.say(f"{key} = {output.escape(_plain(value))}")
    if loaded.unlimited:
        output.say(
            f"no limits on {', '.join(loaded.unlimited)}: any stake is taken, from the smallest coin up"
        )
    output.say("\nDrawing table (D draws, S stands)")
    output.say("Player's first two cards  0 1 2 3 4 5 6 7")
    output.say(f"  Player                  {' '.join(player_row())}")
    output.say("  8 or 9 in two cards of either hand: nobody draws")
    output.say("Player's third card       0 1 2 3 4 5 6 7 8 9  none")
    for total, cells, stood in matrix:
        output.say(f"  Banker {total}                {' '.join(cells)}  {stood}")
    return 0


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items()) or "none"
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _verify(as_json: bool) -> int:
    from tablectl.rules import EXPECTED_8_DECKS, counts, prove

    proof = prove()
    found = counts(proof)
    edges = {name: f"{float(edge) * 100:.6f}" for name, edge in proof.edges().items()}
    wrong = [name for name in EXPECTED_8_DECKS if found[name] != EXPECTED_8_DECKS[name]]
    if as_json:
        output.say_json({"counts": found, "edges_percent": edges, "agrees": not wrong, "wrong": wrong})
    else:
        n = {name: f"{count:,}" for name, count in found.items()}
        output.say(f"All ordered six-card draws from 8 decks: {n['draws']}")
        output.say(f"Banker {n['banker']} · Player {n['player']} · Tie {n['tie']}")
        output.say(f"Banker wins with 6: {n['banker six']}")
        output.say(f"four cards {n['4 cards']} · five {n['5 cards']} · six {n['6 cards']}")
        output.say("House edges, from these counts:")
        for name, percent in edges.items():
            output.say(f"  {name}: {percent} %")
        if not wrong:
            output.say("Every count is the expected one.")
    for name in wrong:
        output.complain(f"WRONG: {name} is {found[name]:,}, expected {EXPECTED_8_DECKS[name]:,}")
    return REFUSED if wrong else 0


@click.command("simulate")
@click.option("--shoes", type=click.IntRange(1, 1_000_000), default=100, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed deals the same shoes.")
@rules_option
@json_option
def simulate(shoes: int, seed: int, profile: str, as_json: bool) -> int:
    """Play whole shoes at full speed through the code that decides at the table.

    Example:  tablectl simulate --shoes 1000 --json
    """
    from tablectl.profiles import load_rules
    from tablectl.simulate import simulate as play

    with configuration():
        house = load_rules(profile)
    report = play(house, shoes, seed).report()
    if as_json:
        output.say_json(report | {"rules": house.name, "seed": seed})
        return 0
    low, high = report["rounds_per_shoe_range"]
    dealt = f"{number_of(shoes, 'shoe')}, {report['rounds']:,} rounds"
    output.say(f"{dealt}, rules {output.escape(house.name)}, seed {seed}")
    output.say(
        f"rounds a shoe: mean {report['rounds_per_shoe']:.2f}, sd {report['rounds_per_shoe_sd']:.2f}, "
        f"from {low} to {high}"
    )
    for title, key in (("outcomes", "outcomes"), ("cards a hand", "cards_per_hand")):
        output.say(f"{title}: " + ", ".join(f"{name} {share:.4%}" for name, share in report[key].items()))
    output.say(f"{report['cards']:,} cards, {report['cards_per_second'] or 0:,} a second")
    return 0


COMMANDS: tuple[click.Command, ...] = (rules, simulate)
