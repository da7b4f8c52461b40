"""Delivery by signed HTTP POST, over one connection."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.delivery.answers import Answer, Failed
from tablectl.delivery.job import Job
from tablectl.delivery.outbox import message_id
from tablectl.delivery.sender import Sender
from tablectl.delivery.signing import parse_secrets
from tablectl.delivery.tls import Tls
from tablectl.delivery.transport import Transport
from tablectl.journal import JournalReader
from tablectl.journal.rows import Outgoing


class HttpDelivery(Sender):
    """Posts to ``url`` (``{table}`` is expanded), signed with ``secrets``.

    Raises :class:`ValueError` for a bad address or secret.
    """

    def __init__(self, url: str, secrets: Sequence[str], job: Job) -> None:
        super().__init__(job)
        self._transport = Transport(url, job.table, job.deadline, job.tls, job.clock)
        self._keys = parse_secrets(secrets)

    @property
    def address(self) -> str:
        return str(self._transport.url.with_query(None))

    @property
    def tls(self) -> Tls | None:
        return self._transport.tls

    async def _post(self, reader: JournalReader, found: list[Outgoing]) -> Answer | Failed:
        named = message_id(self._job.table, self._job.epoch, [one.id for one in found])
        return await self._transport.post(self._keys, named, [one.body for one in found])

    async def _close(self) -> None:
        await self._transport.close()
