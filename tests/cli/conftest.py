"""The fake daemon as a fixture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.fake_daemon import FakeDaemon


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
