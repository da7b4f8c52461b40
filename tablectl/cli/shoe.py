"""The shoe and its cards: new, counted, adopted, ended, the cutting card, and another scanner.

What the dealer may say, the pit boss takes back: `cut-card --undo`, `shoe new --undo`.
"""

from __future__ import annotations

import click

from tablectl.cli.arguments import Text
from tablectl.cli.cards import CARDS
from tablectl.cli.order import Given, Order, pit_boss_options, undo_options
from tablectl.cli.past import shoe_report
from tablectl.cli.send import carry_out


@click.command("cut-card")
@undo_options
def cut_card(given: Given, undo: bool) -> int:
    """The cutting card has come out. With --undo, until the next card: it has not.

    \b
    Example:  tablectl cut-card
              tablectl cut-card --undo --state 512 --as bo --reason "announcement: pressed by mistake"
    """
    if undo:
        return carry_out(given, Order("cut-card undo", words=["cut-card", "--undo"]))
    return carry_out(given, Order("cut-card", words=["cut-card"]))


@click.group("shoe")
def shoe() -> None:
    """The shoe: new, inspect, adopt, end.

    Example:  tablectl shoe new
    """


@shoe.command("new")
@click.option("--note", type=Text(200), help="Which set of cards, who cut.")
@undo_options
def shoe_new(given: Given, undo: bool, note: str | None) -> int:
    """Start a new shoe. With --undo, until a card is scanned: it was not started.

    \b
    Example:  tablectl shoe new --note "set 4, cut by seat 3"
              tablectl shoe new --undo --state 512 --as bo --reason "announcement: not yet shuffled"
    """
    if undo:
        if note is not None:
            raise click.UsageError("--note goes with a new shoe, not with --undo")
        return carry_out(given, Order("shoe new undo", words=["shoe", "new", "--undo"]))
    return carry_out(given, Order("shoe new", {} if note is None else {"note": note}, ["shoe", "new"]))


_METHODS = {
    ("--by-hand",): "by-hand",
    ("--scan",): "scan",
    ("--done",): "scan-done",
    ("--scan", "--done"): "scan-done",
    ("--cancel",): "scan-cancel",
    ("--scan", "--cancel"): "scan-cancel",
}
_FINDINGS = {
    "by-hand": ("missing", "extra", "foreign", "damaged", "replaced"),
    "scan-done": ("foreign", "damaged", "replaced"),
}
"""What may be said with each: a count by the scanner finds by itself what is missing and extra."""


@shoe.command("inspect")
@click.option("--by-hand", is_flag=True, help="Counted by hand: record it.")
@click.option("--scan", is_flag=True, help="Begin a count by the scanner: pass every card through it.")
@click.option("--done", is_flag=True, help="The count by the scanner is over: record it.")
@click.option("--cancel", is_flag=True, help="Break the count by the scanner off.")
@click.option("--missing", type=CARDS, help='Cards that were not there: "KS 8D".')
@click.option("--extra", type=CARDS, help="Cards too many.")
@click.option("--foreign", type=Text(200), help="Cards of another set, in your words.")
@click.option("--damaged", type=CARDS, help="Marked or damaged cards.")
@click.option("--replaced", type=CARDS, help="Cards replaced by new ones.")
@pit_boss_options
def shoe_inspect(
    given: Given, by_hand: bool, scan: bool, done: bool, cancel: bool, **found: str | None
) -> int:
    """Count the cards, by hand or by the scanner; dealer and pit boss attest it.

    By the scanner: --scan begins, `tablectl status` shows how far it is, --done records it. What is missing
    or extra the scanner finds by itself. Cards are rank and suit: 8S, TH (10H is the same).

    \b
    Example:  tablectl shoe inspect --by-hand --state 7 --as bo --reason "routine: complete"
              tablectl shoe inspect --by-hand --missing KS --replaced KS --state 7 --as bo --reason cards
              tablectl shoe inspect --scan --state 7 --as bo --reason routine
              tablectl shoe inspect --done --state 7 --as bo --reason routine
    """
    flags = {"--by-hand": by_hand, "--scan": scan, "--done": done, "--cancel": cancel}
    method = _METHODS.get(tuple(flag for flag, given_ in flags.items() if given_))
    if method is None:
        raise click.UsageError("one of --by-hand, --scan, --done or --cancel is needed")
    args = {name: text for name, text in found.items() if text is not None}
    for name in args:
        if name not in _FINDINGS.get(method, ()):
            raise click.UsageError(f"--{name} does not go with {_typed(method)}")
    words = ["shoe", "inspect", _typed(method)]
    for name, text in args.items():
        words += [f"--{name}", text]
    return carry_out(given, Order("shoe inspect", {"method": method, **args}, words))


def _typed(method: str) -> str:
    """The option that names the method."""
    return "--" + method.removeprefix("scan-")


@shoe.command("adopt")
@click.option("--number", type=click.IntRange(1, 999_999_999), required=True, help="The shoe's number.")
@click.option("--out", type=click.IntRange(0, 832), required=True, help="Cards out of it, burned ones too.")
@click.option("--rounds", type=click.IntRange(0, 832), required=True, help="Rounds played from it.")
@click.option("--last-hand", is_flag=True, help="The coming hand is its last.")
@pit_boss_options
def shoe_adopt(given: Given, number: int, out: int, rounds: int, last_hand: bool) -> int:
    """Take over a shoe in mid-shoe from another controller; from then on its cards are only counted.

    Example:  tablectl shoe adopt --number 12 --out 216 --rounds 34 --state 7 --as bo --reason system
    """
    args = {
        "number": str(number),
        "out": str(out),
        "rounds": str(rounds),
        "last_hand": "yes" if last_hand else "",
    }
    words = ["shoe", "adopt", "--number", str(number), "--out", str(out), "--rounds", str(rounds)]
    return carry_out(given, Order("shoe adopt", args, words + (["--last-hand"] if last_hand else [])))


@shoe.command("end")
@pit_boss_options
def shoe_end(given: Given) -> int:
    """Take the shoe out of play; a round in play becomes void.

    Example:  tablectl shoe end --state 512 --as bo --reason "cards: worn"
    """
    return carry_out(given, Order("shoe end", words=["shoe", "end"]))


@click.group("device")
def device() -> None:
    """The scanner: swap.

    Example:  tablectl device swap --state 512 --as bo --reason "device: shoe 3 is dead"
    """


@device.command("swap")
@pit_boss_options
def device_swap(given: Given) -> int:
    """Another shoe or scanner goes on with the same cards.

    Example:  tablectl device swap --state 512 --as bo --reason "device: shoe 3 is dead"
    """
    return carry_out(given, Order("device swap", words=["device", "swap"]))


shoe.add_command(shoe_report, "report")

COMMANDS: tuple[click.Command, ...] = (shoe, cut_card, device)
