"""A pseudo-terminal and a driver of pipes for the tests named after the field's faults."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_reader import Pty, World


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[Pty]:
    """A port with a name that outlives unplugging."""
    made = Pty(tmp_path)
    yield made
    if made.master >= 0:
        os.close(made.master)


@pytest.fixture
def world() -> World:
    """A driver whose links fail as one wants."""
    return World()
