"""Looking at a table: its state now, and its events as they come."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import click

from tablectl.cli import output
from tablectl.cli.arguments import json_option, reaches_daemon
from tablectl.cli.output import Refused, escape
from tablectl.cli.read import State, mapping, word
from tablectl.cli.target import Target
from tablectl.local import Client, NoStream, NotReachable

RETRY_SECONDS = 1.0
MOST_TRIES = 30
"""How often in a row a broken stream is taken up again."""
LATELY = 5.0
"""A history that was known again so lately (s) is the same still."""
ANEW = 100
"""Another history is followed from so many events back on: what came while nobody listened is among them."""


@click.command("status")
@json_option
@reaches_daemon
def status(target: Target, as_json: bool) -> int:
    """Show the table as it is now.

    Example:  tablectl status --table T07
    """
    code, state = Client(target.path()).get("/v1/state")
    if code != 200:
        raise Refused(f"refused: {word(state.get('error', f'HTTP {code}'))}")
    if target.table and state.get("table") != target.table:
        raise Refused(f"{escape(target.path())} is table {word(state.get('table'))}, not {target.table}")
    if as_json:
        output.say_json(state)
    else:
        for line in State(state).lines():
            output.say(line)
    return 0


@click.command("watch")
@click.option(
    "--after", type=click.IntRange(0, 10**12 - 1), help="Begin behind this sequence; 0: from the first."
)
@json_option
@reaches_daemon
def watch(target: Target, after: int | None, as_json: bool) -> int:
    """Show each event as it comes, until Ctrl-C; a stream that breaks is taken up where it broke.

    Where an older journal was put back meanwhile, or a new history begun, that is said on standard error, and
    its newest 100 events are shown first.

    Example:  tablectl watch --after 0 --json
    """
    client = Client(target.path())
    following, tries, begun = _Following(client, after), 0, False
    while True:
        try:
            for event in following.events():
                begun, tries = True, 0
                _show(event, as_json)
                if output.reader_gone():
                    return 0
            begun = True
        except KeyboardInterrupt:
            return 0
        except NotReachable as fault:
            if isinstance(fault, NoStream) and fault.status in (409, 500):
                raise Refused(f"refused: {word(fault.answer.get('error'), 600)}") from None
            if not begun or tries >= MOST_TRIES:
                raise
            if tries == 0:
                output.complain(f"{escape(fault)}; trying again")
        tries += 1
        if tries > MOST_TRIES:
            raise NotReachable(f"{escape(client.path)}: the daemon ends every event stream at once")
        try:
            time.sleep(RETRY_SECONDS)
        except KeyboardInterrupt:
            return 0


class _Following:
    """Where a follower stands: behind event ``after`` (None: it begins now), whose text was ``seen``."""

    def __init__(self, client: Client, after: int | None) -> None:
        self._client = client
        self._after = after
        self._seen = ""
        self._known_at = -LATELY
        """When (s) a stream brought that one again: if it broke at once, what comes behind is asked for."""

    def events(self) -> Iterator[Mapping[str, Any]]:
        """What comes behind, until the stream ends. Raises :class:`NotReachable`."""
        after, known = self._after, not self._seen or time.monotonic() - self._known_at < LATELY
        if after is not None and not known:
            after -= 1  # once more the one that was seen last: by it the history is known
        try:
            for text in self._client.events("/v1/events" + ("" if after is None else f"?after={after}")):
                if not known:
                    if text != self._seen:
                        return self._begin_anew()
                    known, self._known_at = True, time.monotonic()
                    continue
                event = _event(text)
                number = _sequence(event)
                if number is not None:
                    self._after, self._seen = number, text
                yield event
        except NoStream as refused:
            if refused.status != 409 or not self._seen:
                raise
            self._begin_anew()

    def _begin_anew(self) -> None:
        state = self._client.state()
        newest = state.get("sequence")
        self._after = max(0, newest - ANEW) if isinstance(newest, int) else 0
        self._seen = ""
        output.complain(
            f"{escape(self._client.path)}: another history than the one followed, "
            f"{word(state.get('epoch'), 20)}: an older journal was put back, or a new one begun; it goes on "
            f"behind its event {self._after}"
        )


def _event(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"unreadable": text[:1000]}


def _sequence(event: Mapping[str, Any]) -> int | None:
    text = event.get("sequence")
    if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 12:
        return int(text) or None
    return None


def _show(event: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        output.say_json(event)
        return
    if "unreadable" in event:
        output.say(f"unreadable: {word(event['unreadable'])}")
        return
    kind = word(event.get("type"), 80).removeprefix("tablectl.").removesuffix(".v1")
    where = word(event.get("subject"), 60).removeprefix("shoe/").replace("/round/", "/")
    data = mapping(event.get("data"))
    rest = "  ".join(
        f"{word(key, 40)}={word(_short(value), 200)}"
        for key, value in list(data.items())[:20]
        if key not in ("shoe", "round")
    )
    number = word(event.get("sequence"), 20).lstrip("0") or "0"
    output.say(f"{word(event.get('time'), 40)}  {number}  {where}  {kind}  {rest}".rstrip())


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


COMMANDS: tuple[click.Command, ...] = (status, watch)
