"""Whatever a configuration names, and whatever is there: an answer at once, in words; a daemon ends by 78."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from tablectl_drivers.card_codes import load_cards

from tablectl.cli import main
from tablectl.config import load_config
from tablectl.credentials import read_credentials
from tablectl.delivery.nats_connection import _read as read_nats
from tablectl.delivery.nats_words import Fault
from tablectl.delivery.tls import Tls, TlsFiles, TlsUnusable
from tablectl.plain_file import parse_toml, read_file
from tablectl.profiles import ConfigError, load_rules
from tablectl.technician.inlining import inlined

ROOT = Path(__file__).parent.parent


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(path))


NO_FILES: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "folder": os.mkdir,
    "without an end": lambda path: path.symlink_to("/dev/zero"),
    "terminal": lambda path: path.symlink_to("/dev/ptmx"),
    "socket": bound,
    "leads nowhere": lambda path: path.symlink_to("nowhere"),
    "to itself": lambda path: path.symlink_to(path.name),
    "too long": lambda path: path.write_bytes(b"#" * ((1 << 20) + 1)),
}


def _credential(name: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        (path.parent / name).unlink(missing_ok=True)
        path.rename(path.parent / name)
        return read_credentials(path.parent)

    return read


READERS: dict[str, Callable[[Path], object]] = {
    "configuration": load_config,
    "rules": lambda path: load_rules(str(path)),
    "card table": lambda path: load_cards(str(path)),
    "ca": lambda path: Tls(TlsFiles(path)),
    "certificate": lambda path: Tls(TlsFiles(None, path, path)),
    "push-hmac": _credential("push-hmac"),
    "pit-bosses": _credential("pit-bosses"),
    "nats-auth": read_nats,
}


@pytest.mark.timeout(5)
@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, reader: str, kind: str) -> None:
    path = tmp_path / "x.toml"
    NO_FILES[kind](path)
    if (reader, kind) == ("nats-auth", "leads nowhere"):
        assert read_nats(path) == "", "as one that is not there"
        return
    with pytest.raises((ConfigError, ValueError, TlsUnusable, Fault)) as caught:
        READERS[reader](path)
    assert str(tmp_path) in str(caught.value)
    words = {
        "leads nowhere": "No such file|that is not there",
        "to itself": "symbolic links|that is not there",
        "too long": "longer",
    }
    if reader != "nats-auth":
        assert re.search(words.get(kind, "is no file"), str(caught.value)), caught.value


def test_what_is_in_a_recordings_settings_stays_a_path_when_it_is_no_file(tmp_path: Path) -> None:
    for kind, make in NO_FILES.items():
        path = tmp_path / kind
        make(path)
        assert inlined({"cards": str(path)}, ("cards",)) == {"cards": str(path)}
    assert inlined({"cards": "a\0b"}, ("cards",)) == {"cards": "a\0b"}


HARD = {
    "lists": "a = " + "[" * 20_000,
    "closed lists": "a = " + "[" * 60 + "]" * 60,
    "tables": "a = " + "{a=" * 20_000,
    "dotted": ".".join("a" * 300_000) + " = 1",
    "dotted tables": (f"[{'.'.join('a' * 500)}]\n") * 1_000,
    "digits": "a = " + "9" * 5_000,
    "many bits": "a = 0x" + "f" * 5_000,
    "65 bits": "a = 9223372036854775808",
    "NUL": '[table]\nid = "a\\u0000b"',
    "NUL in a name": '"a\\u0000b" = 1',
    "raw NUL": "a = \0",
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_toml_made_to_hurt_is_a_fault_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(ValueError):
        parse_toml(text)
    for reader in ("configuration", "rules", "card table"):
        with pytest.raises((ConfigError, ValueError), match=r"x\.toml") as caught:
            READERS[reader](path)
        assert len(str(caught.value)) < 1_000
    for command, code in (("run", 78), ("check", 1)):
        assert main([command, "--config", str(path)]) == code
        told = "".join(capsys.readouterr())
        assert "Traceback" not in told and "x.toml" in told


def test_what_is_a_file_is_read_to_its_last_byte(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"x" * 100)
    assert read_file(path, 100) == b"x" * 100
    with pytest.raises(OSError, match="longer than 99 bytes"):
        read_file(path, 99)
    (tmp_path / "link").symlink_to(path)
    assert read_file(tmp_path / "link") == b"x" * 100
    with pytest.raises(OSError, match="is no name of a file"):
        read_file(Path("a\0b"))
    assert parse_toml("a.b.c = [[-9223372036854775808]]") == {"a": {"b": {"c": [[-(1 << 63)]]}}}


ELSEWHERE = {
    "tablectl/cli/gameserver.py": "named on the command line, and may be a pipe of the shell's",
    "tablectl/demo/files.py": "shipped with the program",
    "tablectl/technician/devices.py": "shipped with the program",
    "tablectl/display/page_files.py": "shipped with the program",
    "tablectl/lock.py": "the kernel's own",
    "tablectl/technician/machine.py": "the kernel's own",
    "tablectl/cli/check/device.py": "the kernel's own",
    "drivers/tablectl_drivers/links_serial.py": "the kernel's own",
    "tablectl/plain_file.py": "",
}


def test_files_of_a_configuration_are_read_in_one_way_only() -> None:
    for path in sorted([*(ROOT / "tablectl").rglob("*.py"), *(ROOT / "drivers").rglob("*.py")]):
        name = str(path.relative_to(ROOT))
        if name not in ELSEWHERE:
            assert not re.search(r"\.read_(text|bytes)\(|tomllib\.load", path.read_text()), name
    for name in (
        "delivery/tls.py",
        "delivery/nats_connection.py",
        "credentials.py",
        "config.py",
        "profiles.py",
    ):
        assert not re.search(r"\bopen\(", (ROOT / "tablectl" / name).read_text()), name
