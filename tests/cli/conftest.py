"""The fake daemon as a fixture."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tablectl.cli import main
from tests.cli.fake_daemon import FakeDaemon

Typed = Callable[..., tuple[int, str, str]]
"""Words of a command line: exit code, output, errors."""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Where the command line looks for tables."""
    return tmp_path


@pytest.fixture
def daemon(run: Path) -> Iterator[FakeDaemon]:
    """Table T07."""
    fake = FakeDaemon(run / "T07" / "tablectl.sock")
    yield fake
    fake.close()


@pytest.fixture
def typed(
    daemon: FakeDaemon, run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typed:
    """Type a line: exit code, output, errors. The PIN is at standard input."""
    monkeypatch.setenv("TABLECTL_RUN", str(run))
    for name in ("TABLECTL_PIT_BOSS", "TABLECTL_SOCKET"):
        monkeypatch.delenv(name, raising=False)

    def type_(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO("482913\n"))
        code = main(words)
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return type_
