"""The secrets of a table, as files of a folder: systemd's credentials, or one for tests and demos.

``push-hmac`` holds the signing secret of the game server's link (two while it is changed), ``pit-bosses``
the lines of ``tablectl pin``, ``client-key`` the key of ``[server] client_cert`` where there is one (only
its path is handed on: :mod:`tablectl.delivery.tls`), and so with ``nats-auth``, the ``.creds`` text or the
token of a NATS server. A file that is missing, empty or says ``unset`` is no
secret: the table runs without what needs it, and says so.
"""

from __future__ import annotations

from pathlib import Path

from tablectl.delivery.signing import parse_secrets
from tablectl.pins import UNSET, PitBosses
from tablectl.plain_file import read_file
from tablectl.profiles import ConfigError

PUSH_HMAC = "push-hmac"
CLIENT_KEY = "client-key"
NATS_AUTH = "nats-auth"
MOST_BYTES = 64 << 10
"""Of one of them: four hundred pit bosses."""


def _text(path: Path) -> str:
    """What a credential's file says. Raises :class:`ConfigError`."""
    try:
        return read_file(path, MOST_BYTES).decode()
    except FileNotFoundError:
        if not path.is_symlink():
            return UNSET
        why = "it leads to a file that is not there"
    except OSError as error:
        why = error.strerror or type(error).__name__
    except UnicodeDecodeError:
        why = "it is not plain text"
    raise ConfigError(f"{path}: this credential cannot be read: {why}")


def why_none(path: Path) -> str:
    """Of a credential that is no secret: why, in words behind its name. Raises :class:`ConfigError`."""
    if not path.exists():
        return "is gone"
    return "is empty" if not _text(path).strip() else f"says {UNSET}"


def read_credentials(folder: Path) -> tuple[tuple[str, ...], PitBosses]:
    """The two credentials of a folder. Raises :class:`ConfigError`, which never shows a secret."""
    if not folder.is_dir():
        raise ConfigError(f"{folder}: credentials cannot be read: there is no such folder")
    push, bosses = _text(folder / PUSH_HMAC).strip(), _text(folder / "pit-bosses")
    texts = () if push in ("", UNSET) else tuple(push.split())
    try:
        if texts:
            parse_secrets(texts)
    except ValueError as error:
        raise ConfigError(f"{folder / PUSH_HMAC}: {error}") from None
    try:
        return texts, PitBosses.parse(bosses, str(folder / "pit-bosses"))
    except ValueError as error:
        raise ConfigError(str(error)) from None
