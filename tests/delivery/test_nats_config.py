"""``[server] kind = "nats"``: what may stand in a configuration, and what is told without the library."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tablectl.config import Config, make_config
from tablectl.delivering import nats_sender
from tablectl.profiles import ConfigError


def config(tmp_path: Path, **server: object) -> Config:
    (tmp_path / "secrets").mkdir(exist_ok=True)
    made = {
        "table": {"id": "T07", "test": True},
        "scanner": {"driver": "angel-eye", "device": "/dev/null"},
        "server": server,
        "secrets": {"folder": "secrets"},
    }
    return make_config(made, tmp_path / "T07.toml")


def test_it_needs_no_signing_secret_and_names_its_own_credential(tmp_path: Path) -> None:
    found = config(tmp_path, kind="nats", url="tls://a.example:4222,tls://b.example")
    assert not any("push-hmac" in text for text in found.missing)
    assert found.nats_credential == tmp_path / "secrets" / "nats-auth"
    assert found.server.addresses == ["tls://a.example:4222", "tls://b.example"]


@pytest.mark.parametrize(
    ("kind", "url", "told"),
    [
        ("nats", "https://games.example/x", "a url begins with nats:// or tls://"),
        ("nats", "nats://a,https://b", "a url begins with nats:// or tls://"),
        ("http", "nats://a", "a url begins with http:// or https://"),
        ("nats", "nats://user:word@a", "carries a user name or password"),
        ("nats", "nats://a, nats://b", "is no address"),
        ("nats", "nats://", "is no address"),
        ("kafka", "nats://a", "server.kind"),
    ],
)
def test_what_does_not_fit_is_told(tmp_path: Path, kind: str, url: str, told: str) -> None:
    with pytest.raises(ConfigError, match=r"T07\.toml: server") as found:
        config(tmp_path, kind=kind, url=url)
    assert told in str(found.value)


def test_certificates_need_encryption(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="https:// or tls://"):
        config(tmp_path, kind="nats", url="nats://a", ca="ca.pem")
    assert config(tmp_path, kind="nats", url="tls://a", ca="ca.pem").tls.ca == tmp_path / "ca.pem"


def test_without_the_library_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.startswith("tablectl.delivery.nats"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nats", None)
    with pytest.raises(ConfigError, match=r"T07\.toml: server\.kind: .* pip install 'tablectl\[nats\]'"):
        nats_sender(Path("T07.toml"))
