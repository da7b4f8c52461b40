"""The files of an emulated table, as a house would write its own: configuration, rules, credentials."""

from __future__ import annotations

import base64
import json
import secrets
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tablectl.demo.scripted_dealer import PitBoss
from tablectl.pins import make_line
from tablectl.profiles import config_dir

WINDOW = 20.0
"""Length (s) of the default betting window, which the speed divides."""


def write_config(
    folder: Path,
    *,
    table: str,
    shoe: str,
    device: str,
    url: str,
    secret: str,
    pit_boss: PitBoss,
    speed: float,
    rules: str = "live-casino",
    overrides: dict[str, dict[str, Any]] | None = None,
    settings: Mapping[str, Any] | None = None,
    listen: str | None = None,
) -> Path:
    """Configuration, house rules and credentials of an emulated table, as files like a house's own.

    ``settings``: the other keys of ``[scanner]``, the driver's own. ``listen``: HOST:PORT of its display.
    """
    profile = tomllib.loads((config_dir() / "rules" / f"{rules}.toml").read_text())
    betting = profile.setdefault("betting", {})
    betting["seconds"] = WINDOW / speed
    betting["pip_every"] = max(0.01, 1.0 / speed)
    for section, values in (overrides or {}).items():
        profile.setdefault(section, {}).update(values)
    profile["name"] = f"{rules}-demo"
    (folder / "rules").mkdir(exist_ok=True)
    (folder / "rules" / f"{rules}-demo.toml").write_text(_toml(profile))
    credentials = folder / "credentials"
    credentials.mkdir(mode=0o700, exist_ok=True)
    (credentials / "push-hmac").write_text(secret + "\n")
    (credentials / "pit-bosses").write_text(make_line(pit_boss.name, pit_boss.pin) + "\n")
    path = folder / f"{table}.toml"
    path.write_text(
        _toml(
            {
                "table": {"id": table, "test": True, "rules": str(folder / "rules" / f"{rules}-demo.toml")},
                "scanner": {"driver": shoe, "device": device, **(settings or {})},
                "server": {"kind": "nats" if url.startswith(("nats:", "tls:")) else "http", "url": url},
                "journal": {"path": str(folder / f"{table}.db")},
                "api": {"socket": str(folder / f"{table}.sock")} | ({"listen": listen} if listen else {}),
                "secrets": {"folder": str(credentials)},
                "log": {"format": "console", "level": "error"},
            }
        )
    )
    return path


def _toml(sections: dict[str, Any]) -> str:
    """Enough TOML to write configuration: tables of plain values, nested tables inline-free."""
    lines: list[str] = []

    def write(prefix: str, table: dict[str, Any]) -> None:
        if prefix:
            lines.append(f"[{prefix}]")
        inner = {k: v for k, v in table.items() if isinstance(v, dict)}
        lines.extend(f"{k} = {json.dumps(v)}" for k, v in table.items() if k not in inner)
        for key, value in inner.items():
            write(f"{prefix}.{key}" if prefix else key, value)

    write("", sections)
    return "\n".join(lines) + "\n"


def new_secret() -> str:
    """A fresh signing secret in the Standard Webhooks form."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
