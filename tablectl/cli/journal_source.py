"""Where ``tablectl journal`` reads: through the running daemon, or from the file, under the table's lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

from tablectl.cli.output import Refused, escape
from tablectl.cli.read import word
from tablectl.cli.target import Target
from tablectl.cli.technician import daemon_or_configuration
from tablectl.local import Client

if TYPE_CHECKING:
    from tablectl.config import Config
    from tablectl.journal.reader import JournalReader

WHOLE = 600.0
"""The longest (s) one answer of the daemon may take: a span of a long shoe on a slow machine."""


class Rows(Protocol):
    """What both sources answer; ``query`` as of ``/v1/journal/rows``."""

    def facts(self) -> dict[str, Any]: ...

    def page(self, query: Mapping[str, int]) -> dict[str, Any]: ...

    def verify(self, after: int) -> dict[str, Any]: ...


class FromDaemon:
    """Asked over the local interface."""

    def __init__(self, client: Client) -> None:
        self.client = Client(client.path, WHOLE)

    def facts(self) -> dict[str, Any]:
        """Which journal it is, and where it begins and ends."""
        return self._get("/v1/journal")

    def page(self, query: Mapping[str, int]) -> dict[str, Any]:
        """Some rows, and where to go on."""
        return self._get(f"/v1/journal/rows?{urlencode(query)}")

    def verify(self, after: int) -> dict[str, Any]:
        """One span."""
        return self._get(f"/v1/journal/verify?after={after}")

    def _get(self, resource: str) -> dict[str, Any]:
        code, answer = self.client.get(resource)
        if code != 200:
            raise Refused(f"refused: {word(answer.get('error', f'HTTP {code}'), 600)}")
        return answer


class FromFile:
    """Read here. The lock is held by who made it."""

    def __init__(self, reader: JournalReader) -> None:
        self.reader = reader

    def facts(self) -> dict[str, Any]:
        """Which journal it is, and where it begins and ends."""
        from tablectl.journal.pages import facts

        with _faults():
            return facts(self.reader)

    def page(self, query: Mapping[str, int]) -> dict[str, Any]:
        """Some rows, and where to go on."""
        from tablectl.clock import SECOND
        from tablectl.journal.pages import Wanted, page

        since, until = query.get("since"), query.get("until")
        wanted = Wanted(
            query.get("after", 0),
            query.get("upto"),
            query.get("shoe"),
            query.get("round"),
            public=bool(query.get("public")),
        )
        with _faults():
            if since is not None:
                wanted = replace(wanted, after=max(wanted.after, self.reader.row_at(since * SECOND - 1)))
            if until is not None:
                last = self.reader.row_at(until * SECOND)
                wanted = replace(wanted, upto=last if wanted.upto is None else min(last, wanted.upto))
            return page(self.reader, wanted)

    def verify(self, after: int) -> dict[str, Any]:
        """One span."""
        from tablectl.journal.rows import JournalFault
        from tablectl.journal.verify import verify_span

        try:
            return asdict(verify_span(self.reader, after))
        except JournalFault as fault:
            return {"fault": str(fault), "row": fault.row}


@contextmanager
def _faults() -> Iterator[None]:
    import sqlite3

    from tablectl.journal.rows import JournalFault

    try:
        yield
    except (JournalFault, sqlite3.Error, OSError) as fault:
        raise Refused(f"refused: {escape(fault)}") from None


@contextmanager
def stopped(config: Config) -> Iterator[None]:
    """The table's lock, so that no daemon starts meanwhile. Raises :class:`Refused`."""
    from tablectl.technician import direct

    try:
        with direct.locked(config):
            yield
    except direct.NotOurs as fault:
        raise Refused(f"refused: {escape(fault)}") from None


@contextmanager
def journal_of(target: Target, config_file: str | None) -> Iterator[FromDaemon | FromFile]:
    """The journal of the table: the daemon's, if it runs; else its file."""
    client, config = daemon_or_configuration(target, config_file)
    if client is not None:
        yield FromDaemon(client)
        return
    assert config is not None
    from tablectl.journal.reader import JournalReader

    with stopped(config):
        with _faults():
            reader = JournalReader.open(config.journal_path)
        with closing(reader):
            yield FromFile(reader)
