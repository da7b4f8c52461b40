"""Whatever a person names on the command line, a file or an address: an answer at once, in one line."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest

from tablectl.cli import main
from tablectl.cli.check.everything import check_all
from tests.test_plain_file import NO_FILES

SECRET = "whsec_" + base64.b64encode(bytes(32)).decode()
URL = "http://127.0.0.1:9/{table}"
CONFIG = (
    '[table]\nid = "T07"\ntest = true\n[scanner]\ndriver = "angel-eye"\ndevice = "tcp://127.0.0.1:9"\n'
    '[journal]\npath = "T07.db"\n[api]\nsocket = "none"\n'
)
CONFIGURED = ("--config", "{folder}/T07.toml")
KINDS: dict[str, Callable[[Path], object]] = {
    **NO_FILES,
    "opens and cannot be read": lambda path: path.symlink_to("/proc/self/mem"),
    "no text": lambda path: path.write_bytes(bytes(range(256)) * 9),
}

FILES = {
    "conformance --secret-file": ("conformance", URL, "--secret-file", "{path}"),
    "conformance --ca": ("conformance", URL, "--secret-file", "{folder}/secret", "--ca", "{path}"),
    "gameserver --secret-file": ("gameserver", "--port", "0", "--secret-file", "{path}"),
    "gameserver --nats-auth-file": (
        *("gameserver", "--secret-file", "{folder}/secret", "--db", "{folder}/g.db", "--port", "0"),
        *("--nats", "nats://127.0.0.1:9", "--nats-auth-file", "{path}"),
    ),
    "gameserver --db": ("gameserver", "--secret-file", "{folder}/secret", "--port", "0", "--db", "{path}"),
    "gameserver accept --db": ("gameserver", "accept", "T07", "aaaaaa", "--db", "{path}"),
    "replay": ("replay", "{path}"),
    "rules": ("rules", "--rules", "{path}"),
    "emulate --script": ("emulate", "angel-eye", "--script", "{path}"),
    "journal restore": ("journal", "restore", "{path}", *CONFIGURED),
    "journal show --config": ("journal", "show", "--config", "{path}"),
}
"""Each command that opens what a person names to read it, or to write on in it."""
NO_FAULT = {("gameserver --db", "leads nowhere"), ("emulate --script", "too long")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "T07.toml").write_text(CONFIG)
    monkeypatch.setenv("TABLECTL_RUN", str(tmp_path / "run"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command that must be refused says."""
    code, shown = main(words), capsys.readouterr()
    said = shown.out + shown.err
    assert code in (1, 2), shown
    assert "Traceback" not in said
    return said


@pytest.mark.timeout(5)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", FILES)
def test_what_is_no_such_file_is_refused_at_once(
    folder: Path, command: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if (command, kind) in NO_FAULT:
        return
    path = folder / "x.toml"
    KINDS[kind](path)
    words = [word.format(folder=folder, path=path, table="{table}") for word in FILES[command]]
    said = refused(capsys, *words)
    plays = kind in ("no text", "opens and cannot be read") and command.startswith("emulate")
    assert (str(path) in said and len(said.splitlines()) == 1) or plays, said
    assert "[Errno" not in said, said


BAD_ADDRESSES = (
    "http://127.0.0.1:99999/{table}", "http://127.0.0.1:0/{table}", "http://127.0.0.1:x/{table}",
    "http://[::1/x", "http://[::zz]/x", "http://", "http:///x", "//host/x", "host", "ftp://host/x",
    "http://a b/x", f"http://{'a' * 64}.example/x", "http://.example/x", "http://host/{}",
    "http://host/{tabel}", "http://host/{table", "http://host/x}", "http://host/{TABLE}",
    "http://bo:secret@host/x", "http://host/%7Btable%7D", "http://host/%7btable%7d",
)  # fmt: skip


@pytest.mark.timeout(5)
@pytest.mark.parametrize("address", BAD_ADDRESSES)
def test_what_is_no_address_is_refused_at_once(
    folder: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = ("--secret-file", str(folder / "secret"))
    said = refused(capsys, "conformance", address, *secret)
    assert "URL" in said and "secret@" not in said
    assert "--betting-url" in refused(capsys, "conformance", URL, "--betting-url", address, *secret)
    config = folder / "T07.toml"
    config.write_text(f"{CONFIG}[server]\nurl = '{address}'\n")
    assert f"{config}: server.url: " in refused(capsys, "check", "--config-only", "--config", str(config))
    refused(capsys, "demo", "--server", address)


PLAIN = {
    "http://127.0.0.1:9/x": False, "http://127.9.9.9/x": False, "http://[::1]/x": False,
    "http://localhost/x": False,
    "http://LOCALHOST./x": False, "http://games.localhost/x": False, "https://192.0.2.1/x": False,
    "http://192.0.2.1/x": True, "http://[2001:db8::1]/x": True, "http://localhost.invalid/x": True,
    "http://games.invalid/x": True, "http://0.0.0.0/x": True, "http://127.0.0.1.invalid/x": True,
    "nats://127.0.0.1:9,nats://localhost": False, "nats://localhost,nats://192.0.2.1": True,
    "tls://localhost,nats://192.0.2.1": True, "tls://192.0.2.1": False,
}  # fmt: skip


@pytest.mark.parametrize("address", PLAIN)
def test_an_address_in_the_clear_on_another_machine_is_told(folder: Path, address: str) -> None:
    kind = "http" if address.startswith("http") else "nats"
    (folder / "T07.toml").write_text(f'{CONFIG}[server]\nkind = "{kind}"\nurl = "{address}"\n')
    found = check_all(lambda: folder / "T07.toml", config_only=True)
    told = [one.grade for one in found if "not encrypted" in one.text]
    assert told == ["warn"] * PLAIN[address]


def test_a_table_without_limits_is_told_and_could_play(folder: Path) -> None:
    assert not [f for f in check_all(lambda: folder / "T07.toml", config_only=True) if f.what == "limits"]
    (folder / "house.toml").write_text('name = "x"\n[limits.bets]\nplayer = { min = "10", max = "400" }\n')
    (folder / "T07.toml").write_text(CONFIG.replace("[table]\n", f'[table]\nrules = "{folder}/house.toml"\n'))
    (told,) = [f for f in check_all(lambda: folder / "T07.toml", config_only=True) if f.what == "limits"]
    assert told.grade == "warn"
    assert told.text.startswith("none on banker, tie, player_pair, banker_pair: any stake is taken")


@pytest.mark.parametrize("address", ["nats://h:4222", "tls://h:4222,tls://i:4222"])
def test_the_kit_says_what_a_nats_consumer_is_tried_with(
    folder: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, "conformance", address, "--secret-file", str(folder / "secret"))
    assert "HTTP only" in said and "tablectl demo --server nats://" in said and "tablectl check" in said


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "address",
    ["nats://h:99999", "nats://[::1", "http://h", "h:4222", "nats://", "nats://h,", "nats://bo:pw@h"],
)
def test_what_is_no_nats_server_is_refused_at_once(
    folder: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(
        capsys, "gameserver", "--secret-file", str(folder / "secret"), "--port", "0", "--nats", address
    )
    assert "--nats" in said


@pytest.mark.timeout(5)
@pytest.mark.parametrize("host", ["a" * 64, "a b", "no.such.host.invalid", "999.1.1.1"])
def test_a_host_that_is_none_is_refused_at_once(
    folder: Path, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(capsys, "gameserver", "--secret-file", str(folder / "secret"), "--port", "0", "--host", host)
