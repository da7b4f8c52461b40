"""Delivery as a configuration has it: from the start, or once the secret that was missing has come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tablectl.config import Config
from tablectl.delivery.http import HttpDelivery
from tablectl.delivery.job import Job
from tablectl.delivery.link import NO_SERVER
from tablectl.delivery.outbox import Link
from tablectl.delivery.sender import Sender
from tablectl.delivery.standing import not_begun
from tablectl.journal import JournalReader
from tablectl.late_credentials import come, handed_over_once
from tablectl.profiles import ConfigError
from tablectl.service import Service

if TYPE_CHECKING:
    from tablectl.delivery.nats import NatsDelivery

UNSIGNED = "the credential push-hmac is missing"
SIGN = "A technician puts it in place (docs/install.md); it is taken up by itself as soon as it is there."
SIGN_ONCE = (
    "A technician puts it in place (docs/install.md) and restarts the service between two rounds: systemd "
    "hands credentials over at the start only."
)
NOT_BEGUN = "delivery has not begun: the journal is not read yet"
NO_LIBRARY = "nats needs the package nats-py, which comes with: pip install 'tablectl[nats]'"


class Delivering:
    """Who sends the events of one journal (``epoch``), if anybody does.

    ``on_link``, ``on_acked``, ``on_alarm``, ``on_over``: as of :class:`~tablectl.delivery.sender.Job`.
    """

    def __init__(
        self,
        config: Config,
        epoch: str,
        *,
        on_link: Callable[[Link], None],
        on_acked: Callable[[int], None],
        on_alarm: Callable[[str, str], None],
        on_over: Callable[[str, str], None] = lambda *_: None,
        log: Any,
    ) -> None:
        self._config = config
        self._epoch = epoch
        self._on_link = on_link
        self._on_acked = on_acked
        self._on_alarm = on_alarm
        self._on_over = on_over
        self._log = log
        self.sender: Sender | None = None
        """None without a game server, and while the signing secret is missing."""
        self._sending: asyncio.Task[None] | None = None

    def add_to(self, service: Service) -> None:
        """Have it run on the service loop, before that starts."""
        if self._config.server.url is None:
            return
        if _may_send(self._config):
            self.sender = self._make(self._config, self._config.push_secrets)
        else:
            self._log.warning(f"nothing is delivered: {UNSIGNED}")
            self._on_link(Link(False, UNSIGNED))
        service.add(self._run)

    def status(self, newest: int, acked: int) -> dict[str, Any]:
        """How it stands, from the start on. ``newest``, ``acked``: events stored, and those acknowledged."""
        found = None if self.sender is None else self.sender.status()
        if found is not None:
            return found
        url = self._config.server_url
        if url is None:
            return not_begun(None, NO_SERVER, newest, acked)
        address = urlsplit(url)._replace(query="").geturl()
        if self.sender is None:
            way_out = SIGN_ONCE if handed_over_once(self._config) else SIGN
            return not_begun(address, UNSIGNED, newest, acked, way_out=way_out)
        return not_begun(address, NOT_BEGUN, newest, acked)

    def prepared(self, config: Config) -> Sender | None:
        """Who would send by ``config``; None without server or secret. Raises :class:`ConfigError`."""
        if config.server.url is None or not _may_send(config):
            return None
        try:
            return self._make(config, config.push_secrets)
        except ValueError as fault:
            raise ConfigError(f"{config.path}: server: {fault}") from None

    def take(self, config: Config, sender: Sender | None) -> None:
        """In the loop: send by ``config`` from now on, through ``sender`` if there is a new one.

        What was under way is broken off and sent again, byte for byte; the server knows it by its id.
        """
        self._config = config
        if sender is None:
            return
        self.sender = sender
        self._on_link(Link(False, "its settings were changed a moment ago"))
        sending, self._sending = self._sending, None
        if sending is not None:  # once: a second time would break off how it closes
            sending.cancel()

    async def _run(self) -> None:
        if self.sender is None:
            secrets = await come(lambda: self._config.credentials_now()[0], self._log)
            self.sender = self.sender or self._make(self._config, secrets)
        while True:
            sender = self.sender
            self._sending = sending = asyncio.create_task(sender.run())
            with suppress(asyncio.CancelledError):
                await sending
            if sender is self.sender or _ends():
                break
        sending.result()  # raises what ended it

    def _make(self, config: Config, secrets: tuple[str, ...]) -> Sender:
        assert config.server.url is not None
        job = Job(
            lambda: JournalReader.open(config.journal_path),
            config.table.id,
            self._epoch,
            self._on_link,
            self._on_acked,
            self._on_alarm,
            deadline=config.server.timeout,
            tls=config.tls,
            warn_days=config.server.certificate_days,
            on_over=self._on_over,
        )
        if config.server.kind == "http":
            return HttpDelivery(config.server.url, secrets, job)
        return nats_sender(config.path)(config.server.url, job, config.nats_credential)


def _may_send(config: Config) -> bool:
    """Whether nothing is missing: over NATS nothing is signed."""
    return bool(config.push_secrets) or config.server.kind == "nats"


def nats_sender(path: Path) -> type[NatsDelivery]:
    """Delivery over NATS, whose library is an extra. Raises :class:`ConfigError`, naming ``path``."""
    try:
        from tablectl.delivery.nats import NatsDelivery
    except ModuleNotFoundError as lacking:
        if (lacking.name or "").partition(".")[0] != "nats":
            raise
        raise ConfigError(f"{path}: server.kind: {NO_LIBRARY}") from None
    return NatsDelivery


def _ends() -> bool:
    """Whether the job itself was told to end, and not only what it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
