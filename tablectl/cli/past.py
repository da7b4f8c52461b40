"""Looking back: past rounds card by card, a result derived again, and what became of a shoe."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import click

from tablectl.cli import output
from tablectl.cli.arguments import (
    NAME,
    ROUND,
    ReasonOption,
    ReasonType,
    Text,
    json_option,
    reaches_daemon,
    read_pin,
)
from tablectl.cli.export import write_export
from tablectl.cli.new_file import STDOUT
from tablectl.cli.output import REFUSED, Refused
from tablectl.cli.past_lines import explain_lines, round_lines, shoe_lines
from tablectl.cli.read import mapping, sequence, word
from tablectl.cli.target import Target
from tablectl.local import Client, Interrupted

MOST_ROUNDS = 500


class _Which(click.ParamType[str]):
    """A number of rounds, or one round."""

    name = "n|shoe/round"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        number = text.isascii() and text.isdigit() and len(text) <= 6 and 1 <= int(text) <= MOST_ROUNDS
        if not number and not ROUND.matches(text):
            self.fail(f"a number from 1 to {MOST_ROUNDS}, or SHOE/ROUND such as 12/34, is needed", param, ctx)
        return text


class Moment(click.ParamType[int]):
    """A time of day or a date with it, by this machine's clock, as Unix seconds."""

    name = "hh:mm"

    _DAY = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?", re.ASCII)
    _DATE = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?", re.ASCII)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return moment(str(value), datetime.fromtimestamp(time.time()))
        except ValueError:
            self.fail(
                "a time such as 21:40, 21:40:30 or 2026-11-29T21:40 is needed, by this machine's clock",
                param,
                ctx,
            )

    @classmethod
    def matches(cls, text: str) -> bool:
        """Whether it is a time of day."""
        return cls._DAY.fullmatch(text) is not None

    @classmethod
    def is_date(cls, text: str) -> bool:
        """Whether it is a date with a time."""
        return cls._DATE.fullmatch(text) is not None


def moment(text: str, here: datetime) -> int:
    """Unix seconds of a local time: of a time of day the latest one up to ``here``.

    Raises :class:`ValueError` for anything else.
    """
    if Moment.is_date(text):
        return int(datetime.fromisoformat(text).timestamp())
    if not Moment.matches(text):
        raise ValueError(text)
    hour, minute, second = (int(part) for part in (text + ":00").split(":")[:3])
    then = here.replace(hour=hour, minute=minute, second=second, microsecond=0)
    if then > here:
        then -= timedelta(days=1)
    return int(then.timestamp())


@click.command("recall")
@click.argument("which", metavar="[N | SHOE/ROUND]", type=_Which(), required=False)
@click.option("--last", type=click.IntRange(1, MOST_ROUNDS), help="The last so many rounds, as N.")
@click.option(
    "--at",
    type=Moment(),
    metavar="HH:MM",
    help="The round of that time, or the last before it: 21:40, 21:40:30, 2026-11-29T21:40.",
)
@click.option(
    "--export",
    type=Text(255),
    metavar="FILE",
    help="Write it to a new file: JSON, or CSV if *.csv; -: standard output.",
)
@click.option("--reveal", is_flag=True, help="Every face of one round; a pit boss asks, it is written down.")
@click.option("--as", "person", type=NAME, envvar="TABLECTL_PIT_BOSS", help="With --reveal: the pit boss.")
@click.option("--reason", cls=ReasonOption, type=ReasonType(200))
@click.option("--pin-stdin", is_flag=True, help="With --reveal: read the PIN from standard input.")
@json_option
@reaches_daemon
def recall(
    target: Target,
    which: str | None,
    last: int | None,
    at: int | None,
    export: str | None,
    reveal: bool,
    person: str | None,
    reason: str | None,
    pin_stdin: bool,
    as_json: bool,
) -> int:
    """Show the last N rounds (10), one round, or the round of a time, card by card.

    Burn cards, and cards kept with a hold, are shown only after the shoe has ended. --export makes a
    file that only you can read, and never replaces one.

    \b
    Example:  tablectl recall 12/34
              tablectl recall --at 21:40 --export dispute.csv
              tablectl recall 12/34 --reveal --as bo --reason "dispute: seat 3"
    """
    if sum(given is not None for given in (which, last, at)) > 1:
        raise click.UsageError("give one of N, SHOE/ROUND, --last and --at")
    client = Client(target.path())
    if reveal:
        if which is None or "/" not in which:
            raise click.UsageError("--reveal shows one round: name it, SHOE/ROUND")
        if person is None or reason is None:
            raise click.UsageError("--reveal is a pit boss's: --as NAME and --reason TEXT are needed")
        answer = _revealed(client, which, person, reason, read_pin(pin_stdin, f"PIN of {person}: "))
    else:
        answer = _asked(client, _resource(which, last, at))
    rounds = [mapping(r) for r in sequence(answer.get("rounds"))] if "rounds" in answer else [answer]
    if export is not None:
        count = write_export(export, answer, rounds)
        (output.complain if export == STDOUT else output.say)(f"written to {output.escape(export)}: {count}")
        return 0
    if as_json:
        output.say_json(answer)
        return 0
    for past in rounds:
        for line in round_lines(past):
            output.say(line)
    if not rounds:
        output.say("no round was played yet" if at is None else "no round was played before that time")
    return 0


def _resource(which: str | None, last: int | None, at: int | None) -> str:
    if at is not None:
        return f"/v1/rounds?at={max(0, at)}"
    if which is not None and "/" in which:
        return f"/v1/rounds/{which}"
    return f"/v1/rounds?last={which or last or 10}"


def _asked(client: Client, resource: str) -> dict[str, Any]:
    code, answer = client.get(resource)
    if code != 200:
        raise Refused(f"refused: {word(answer.get('error', f'HTTP {code}'), 600)}")
    return answer


def _revealed(client: Client, which: str, person: str, reason: str, pin: str) -> dict[str, Any]:
    """The round with every face. Asked once more where no answer came: under its id it is one request."""
    shoe, number = which.split("/")
    who = {"id": secrets.token_hex(16), "person": person, "pin": pin, "reason": reason}
    body = {**who, "shoe": int(shoe), "round": int(number)}
    try:
        code, answer = client.post("/v1/reveal", body)
    except Interrupted:
        code, answer = client.post("/v1/reveal", body)
    revealed = answer.get("revealed")
    if code != 200 or not isinstance(revealed, dict):
        raise Refused(_refusal(code, answer))
    return revealed


def _refusal(code: int, answer: Mapping[str, Any]) -> str:
    why = word(answer.get("answer") or answer.get("error") or f"HTTP {code}")
    after = answer.get("retry_after")
    if isinstance(after, int | float) and after > 0:
        why += f"; try again in {after:.0f} s"
    return why if "refused: " in why[:30] else f"refused: {why}"


@click.command("explain")
@click.argument("which", metavar="SHOE/ROUND", type=ROUND)
@json_option
@reaches_daemon
def explain(target: Target, which: str, as_json: bool) -> int:
    """Derive a published result again from the journal rows that caused it; 1 if it does not agree.

    Example:  tablectl explain 12/34
    """
    answer = _asked(Client(target.path()), f"/v1/rounds/{which}/explain")
    agrees = answer.get("agrees") is True
    if as_json:
        output.say_json(answer)
    else:
        for line in explain_lines(answer):
            output.say(line)
    return 0 if agrees else REFUSED


@click.command("report")
@click.argument("number", metavar="[SHOE]", type=click.IntRange(1, 999_999_999), required=False)
@json_option
@reaches_daemon
def shoe_report(target: Target, number: int | None, as_json: bool) -> int:
    """What became of a shoe: dealt, burned, kept, left, rounds, holds; this one or the last.

    While it is in play only how many: the faces are told after its end.

    Example:  tablectl shoe report 12
    """
    answer = _asked(Client(target.path()), f"/v1/shoes/{number or 'last'}/report")
    if as_json:
        output.say_json(answer)
        return 0
    for line in shoe_lines(answer):
        output.say(line)
    return 0


COMMANDS: tuple[click.Command, ...] = (recall, explain)
