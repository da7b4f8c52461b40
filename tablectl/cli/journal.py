"""The journal: verify, export, show, backup, restore."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
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
from tablectl.cli.configuration import config_option
from tablectl.cli.journal_copies import backup, restore
from tablectl.cli.journal_export import write_events
from tablectl.cli.journal_source import FromDaemon, FromFile, Rows, journal_of
from tablectl.cli.new_file import STDOUT
from tablectl.cli.output import REFUSED, Refused, escape
from tablectl.cli.past import Moment
from tablectl.cli.read import count_of, mapping, sequence, word
from tablectl.cli.target import Target
from tablectl.printable import number_of

SHOWN = 500
"""Most rows that are revealed in one go."""

WAY_OUT = (
    "the rows before it are right. {first} the mirror or a backup:",
    "tablectl journal restore FILE. Keep this file for who has to find out why: a failing disk, or a hand",
)


@click.group("journal")
def journal() -> None:
    """The journal: verify, export, show, backup, restore.

    While the daemon runs they go through it; else the file is read, and no daemon starts meanwhile.

    Example:  tablectl journal verify
    """


@journal.command("verify")
@config_option
@json_option
@reaches_daemon
def verify(target: Target, config_file: str | None, as_json: bool) -> int:
    """Check every row's hash, and that the rows lead from each shoe to the next; name the first bad one.

    Example:  tablectl journal verify
    """
    with journal_of(target, config_file) as source:
        facts = source.facts()
        after, spans, replayed = 0, 0, 0
        while True:
            span = source.verify(after)
            if "fault" in span:
                return _bad(source, span, as_json)
            after, spans, replayed = int(span["last"]), spans + 1, replayed + int(span["replayed"])
            if span.get("finished") is True:
                break
        gone = int(facts["first_row"]) - 1
    found = {"good": True, "row": after, "sequence": span["sequence"], "hash": span["hash"]}
    found |= {"first_row": gone + 1, "replayed": replayed, "epoch": facts["epoch"]}
    if as_json:
        output.say_json(found)
        return 0
    which = f"table {word(facts['table'])}, epoch {word(facts['epoch'])}"
    begin = f" (rows up to {gone} were removed as too old)" if gone else ""
    output.say(f"{which}: rows {gone + 1} to {after}{begin}")
    did = f"{number_of(replayed, 'row')} replayed, {number_of(spans, 'span')} from shoe to shoe"
    output.say(f"every hash fits, every index too; {did}")
    if span["hash"]:
        output.say(f"last hash {word(span['hash'], 64)}")
    return 0


def _bad(source: Rows, span: Mapping[str, Any], as_json: bool) -> int:
    if as_json:
        output.say_json({"good": False, "row": span.get("row"), "why": span.get("fault")})
        return REFUSED
    output.say(f"BAD: {word(span.get('fault'), 600)}")
    runs = isinstance(source, FromDaemon)
    for line in WAY_OUT:
        output.say(line.format(first="Stop the daemon after this shoe, and restore" if runs else "Restore"))
    return REFUSED


@journal.command("export")
@click.argument("file", type=Text(500))
@click.option("--shoe", type=click.IntRange(1, 999_999_999), help="Of one shoe.")
@click.option("--round", "which", type=ROUND, help="Of one round.")
@click.option("--from", "first", type=click.IntRange(1, 10**12), help="From this row on.")
@click.option("--to", "last", type=click.IntRange(1, 10**12), help="Up to this row.")
@click.option("--since", type=Moment(), help="From this time on.")
@click.option("--until", type=Moment(), help="Up to this time.")
@config_option
@reaches_daemon
def export(
    target: Target,
    file: str,
    shoe: int | None,
    which: str | None,
    first: int | None,
    last: int | None,
    since: int | None,
    until: int | None,
    config_file: str | None,
) -> int:
    """Write the published events to a new FILE: .csv for a spreadsheet, else one JSON event a line.

    They are what the game server got, byte for byte; burn faces are not in them. FILE - is standard output.

    \b
    Example:  tablectl journal export shift.csv --since 2026-11-29T18:00
              tablectl journal export - --round 12/34 | less
    """
    query = _query(shoe, which, first, last, since, until) | {"public": 1}
    with journal_of(target, config_file) as source:
        pages = ([mapping(r) for r in page] for page in _pages(source, query))
        named = f"round {which}" if which is not None else f"shoe {shoe}" if shoe is not None else ""
        told = write_events(file, pages, named)
    (output.complain if file == STDOUT else output.say)(f"written to {escape(file)}: {told}")
    return 0


def _query(
    shoe: int | None,
    which: str | None,
    first: int | None,
    last: int | None,
    since: int | None,
    until: int | None,
) -> dict[str, int]:
    if shoe is not None and which is not None:
        raise click.UsageError("give one of --shoe and --round")
    number = None
    if which is not None:
        shoe, number = map(int, which.split("/"))
    given = {"after": None if first is None else first - 1, "upto": last, "shoe": shoe, "round": number}
    given |= {"since": since, "until": until}
    return {name: value for name, value in given.items() if value is not None}


def _pages(source: Rows, query: Mapping[str, int]) -> Iterator[list[Any]]:
    after: Any = query.get("after", 0)
    while after is not None:
        page = source.page({**query, "after": int(after)})
        yield list(sequence(page.get("rows")))
        after = page.get("after")


@journal.command("show")
@click.argument("rows", metavar="[ROW[-ROW]]", type=Text(40), required=False)
@click.option("--round", "which", type=ROUND, help="The rows of one round.")
@click.option("--reveal", is_flag=True, help="All that is in them: a pit boss's, with --as and --reason.")
@click.option("--as", "person", type=NAME, envvar="TABLECTL_PIT_BOSS", help="The pit boss who asks.")
@click.option("--reason", cls=ReasonOption, type=ReasonType(200))
@click.option("--pin-stdin", is_flag=True, help="Read the PIN from standard input.")
@config_option
@json_option
@reaches_daemon
def show(
    target: Target,
    rows: str | None,
    which: str | None,
    reveal: bool,
    person: str | None,
    reason: str | None,
    pin_stdin: bool,
    config_file: str | None,
    as_json: bool,
) -> int:
    """Show rows as they stand in the journal: one, some, a round's, or what the journal is.

    Of the shoe in play the private part is hidden; --reveal shows it to a pit boss, and that is written down.

    \b
    Example:  tablectl journal show
              tablectl journal show 120-140
              tablectl journal show 120-140 --reveal --as bo --reason "dispute: seat 3"
    """
    span = None if rows is None else _span(rows)
    with journal_of(target, config_file) as source:
        if reveal:
            if span is None or person is None or reason is None:
                raise click.UsageError("--reveal needs ROW-ROW, --as NAME and --reason TEXT")
            found: Iterable[Any] = _revealed(source, span, person, reason, pin_stdin)
        elif span is None and which is None:
            facts = source.facts()
            for line in [json.dumps(facts)] if as_json else _fact_lines(facts):
                output.say(line)
            return 0
        else:
            first, last = span or (None, None)
            found = (r for p in _pages(source, _query(None, which, first, last, None, None)) for r in p)
        count = 0
        for row in map(mapping, found):
            output.say_json(dict(row)) if as_json else output.say(_row_line(row))
            count += 1
    if not count:
        raise Refused("refused: there are no such rows")
    return 0


def _span(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    try:
        numbers = int(first), int(last or first)
    except ValueError:
        numbers = 0, 0
    if not 1 <= numbers[0] <= numbers[1] < 10**12:
        raise click.UsageError("rows are written ROW or ROW-ROW: 120-140")
    return numbers


def _revealed(
    source: FromDaemon | FromFile, span: tuple[int, int], person: str, reason: str, pin_stdin: bool
) -> list[Any]:
    if isinstance(source, FromFile):
        raise Refused("refused: hidden faces are shown by the daemon alone, which asks for the PIN; start it")
    if span[1] - span[0] >= SHOWN:
        raise Refused(f"refused: at most {SHOWN} rows in one go")
    pin = read_pin(pin_stdin, f"PIN of {person}: ")
    body = {"id": secrets.token_hex(16), "person": person, "pin": pin, "reason": reason}
    code, answer = source.client.post("/v1/journal/reveal", body | {"after": span[0] - 1, "upto": span[1]})
    if code != 200:
        raise Refused(f"refused: {word(answer.get('answer') or answer.get('error') or f'HTTP {code}')}")
    return list(sequence(answer.get("rows")))


def _fact_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    def said(key: str) -> str:
        return word(facts.get(key), 40)

    yield f"table {said('table')}, epoch {said('epoch')}, schema {said('schema')}, {said('bytes')} bytes"
    yield f"rows {said('first_row')} to {said('row')}"
    yield f"events {said('first_sequence')} to {said('sequence')}, acknowledged up to {said('acked')}"
    mirror = facts.get("mirror")
    if isinstance(mirror, dict):
        why = word(mirror.get("error"), 800)
        behind = count_of(mirror.get("behind"), "row")
        yield f"mirror {word(mirror.get('path'), 255)}: {behind} behind" + (f"; {why}" if why else "")


def _row_line(row: Mapping[str, Any]) -> str:
    where = f"{row.get('shoe') or '-'}/{row.get('round') or '-'}"
    event = "private" if row.get("sequence") is None else f"event {row.get('sequence')}"
    text = f"{row.get('row')}  {row.get('time')}  {event}  {row.get('type')}  {where}"
    if isinstance(row.get("event"), str):
        text += f"  {json.dumps(mapping(json.loads(str(row['event'])).get('data')))}"
    if row.get("hidden"):
        text += "  (the rest is hidden while the shoe is in play)"
    else:
        text += f"  {json.dumps(row.get('private'))}"
        text += f"  bytes {row.get('raw')}" if row.get("raw") else ""
    return word(text, 4000)


journal.add_command(backup)
journal.add_command(restore)

COMMANDS: tuple[click.Command, ...] = (journal,)
