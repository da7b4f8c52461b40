"""Delivery by signed HTTP POST, over one connection."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tablectl.clock import Instant, now
from tablectl.delivery.answers import Answer, Failed
from tablectl.delivery.outbox import Link
from tablectl.delivery.sender import Sender
from tablectl.delivery.signing import message_id, parse_secrets
from tablectl.delivery.tls import Tls, TlsFiles
from tablectl.delivery.transport import Transport
from tablectl.journal import JournalReader
from tablectl.journal_rows import Outgoing


class HttpDelivery(Sender):
    """Posts to ``url`` (``{table}`` is expanded), signed with ``secrets``; the rest as of :class:`Sender`.

    ``deadline``: seconds for one whole try. Raises :class:`ValueError` for a bad address or secret.
    """

    def __init__(
        self,
        url: str,
        secrets: Sequence[str],
        reader_factory: Callable[[], JournalReader],
        table: str,
        epoch: str,
        *,
        on_link: Callable[[Link], None],
        on_acked: Callable[[int], None],
        on_alarm: Callable[[str, str], None],
        deadline: float = 5.0,
        tls: TlsFiles = TlsFiles(),  # noqa: B008 frozen
        warn_days: int = 14,
        clock: Callable[[], Instant] = now,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(
            reader_factory,
            table,
            epoch,
            on_link=on_link,
            on_acked=on_acked,
            on_alarm=on_alarm,
            warn_days=warn_days,
            clock=clock,
            jitter=jitter,
        )
        self._transport = Transport(url, table, deadline, tls, clock)
        self._keys = parse_secrets(secrets)

    @property
    def address(self) -> str:
        return str(self._transport.url.with_query(None))

    @property
    def tls(self) -> Tls | None:
        return self._transport.tls

    async def _post(self, reader: JournalReader, found: list[Outgoing]) -> Answer | Failed:
        named = message_id(self._table, self._epoch, [one.id for one in found])
        return await self._transport.post(self._keys, named, [one.body for one in found])

    async def _close(self) -> None:
        await self._transport.close()
