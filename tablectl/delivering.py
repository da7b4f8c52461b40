"""Delivery as a configuration has it: from the start, or once the secret that was missing has come."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tablectl.config import Config, ConfigError
from tablectl.delivery.http import HttpDelivery
from tablectl.delivery.outbox import Link
from tablectl.delivery.sender import Sender
from tablectl.journal import JournalReader
from tablectl.late_credentials import come
from tablectl.service import Service

if TYPE_CHECKING:
    from tablectl.delivery.nats import NatsDelivery

NO_LIBRARY = "nats needs the package nats-py, which comes with: pip install 'tablectl[nats]'"


class Delivering:
    """Who sends the events of one journal (``epoch``), if anybody does.

    ``on_link``, ``on_acked``, ``on_alarm``: as of :class:`~tablectl.delivery.sender.Sender`.
    """

    def __init__(
        self,
        config: Config,
        epoch: str,
        *,
        on_link: Callable[[Link], None],
        on_acked: Callable[[int], None],
        on_alarm: Callable[[str, str], None],
        log: Any,
    ) -> None:
        self._config = config
        self._epoch = epoch
        self._on_link = on_link
        self._on_acked = on_acked
        self._on_alarm = on_alarm
        self._log = log
        self.sender: Sender | None = None
        """None without a game server, and while the signing secret is missing."""

    def add_to(self, service: Service) -> None:
        """Have it run on the service loop, before that starts."""
        if self._config.server.url is None:
            return
        if self._config.push_secrets or self._config.server.kind == "nats":
            self.sender = self._make(self._config.push_secrets)
            service.add(self.sender.run)
            return
        self._log.warning("nothing is delivered: the credential push-hmac is missing")
        self._on_link(Link(False, "the credential push-hmac is missing"))
        service.add(self._later)

    async def _later(self) -> None:
        self.sender = self._make(await come(lambda: self._config.credentials_now()[0], self._log))
        await self.sender.run()

    def _make(self, secrets: tuple[str, ...]) -> Sender:
        config = self._config
        assert config.server.url is not None
        shared: dict[str, Any] = {
            "reader_factory": lambda: JournalReader.open(config.journal_path),
            "table": config.table.id,
            "epoch": self._epoch,
            "on_link": self._on_link,
            "on_acked": self._on_acked,
            "on_alarm": self._on_alarm,
            "deadline": config.server.timeout,
            "tls": config.tls,
            "warn_days": config.server.certificate_days,
        }
        if config.server.kind == "http":
            return HttpDelivery(config.server.url, secrets, **shared)
        return nats_sender(config.path)(config.server.url, credential=config.nats_credential, **shared)

    def rekey(self, secrets: tuple[str, ...]) -> None:
        """The signing secrets have changed: sign with these from the next try on. On the service loop."""
        if self.sender is not None:
            self.sender.rekey(secrets)


def nats_sender(path: Path) -> type[NatsDelivery]:
    """Delivery over NATS, whose library is an extra. Raises :class:`ConfigError`, naming ``path``."""
    try:
        from tablectl.delivery.nats import NatsDelivery
    except ModuleNotFoundError as lacking:
        if (lacking.name or "").partition(".")[0] != "nats":
            raise
        raise ConfigError(f"{path}: server.kind: {NO_LIBRARY}") from None
    return NatsDelivery
