"""The secrets of a table, as files of a folder: systemd's credentials, or one for tests and demos.

``push-hmac`` holds the signing secret of the game server's link (two while it is changed), ``pit-bosses``
the lines of ``tablectl pin``, ``client-key`` the key of ``[server] client_cert`` where there is one (only
its path is handed on: :mod:`tablectl.delivery.tls`), and so with ``nats-auth``, the ``.creds`` text or the
token of a NATS server. A file that is missing, empty or says ``unset`` is no
secret: the table runs without what needs it, and says so.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from tablectl.delivery.signing import parse_secrets
from tablectl.pins import UNSET, PitBosses
from tablectl.profiles import ConfigError

CLIENT_KEY = "client-key"
NATS_AUTH = "nats-auth"


class _Credentials(BaseSettings):
    """The files of a credential folder, and nothing from the environment."""

    model_config = SettingsConfigDict(extra="ignore", case_sensitive=True)
    push_hmac: str = Field(UNSET, validation_alias="push-hmac")
    pit_bosses: str = Field(UNSET, validation_alias="pit-bosses")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (file_secret_settings,)


def read_credentials(folder: Path) -> tuple[tuple[str, ...], PitBosses]:
    """The two credentials of a folder. Raises :class:`ConfigError`, which never shows a secret."""
    if not folder.is_dir():
        raise ConfigError(f"{folder}: credentials cannot be read: there is no such folder")
    try:
        found = _Credentials(_secrets_dir=folder)
    except (SettingsError, ValidationError) as error:
        cause = error.__cause__
        why = cause.strerror if isinstance(cause, OSError) else "one of them is not plain text"
        raise ConfigError(f"{folder}: credentials cannot be read: {why}") from None
    texts = () if found.push_hmac.strip() in ("", UNSET) else tuple(found.push_hmac.split())
    try:
        if texts:
            parse_secrets(texts)
    except ValueError as error:
        raise ConfigError(f"{folder / 'push-hmac'}: {error}") from None
    try:
        return texts, PitBosses.parse(found.pit_bosses, str(folder / "pit-bosses"))
    except ValueError as error:
        raise ConfigError(str(error)) from None
