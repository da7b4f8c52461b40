"""A pseudo-terminal and a driver of pipes for the tests named after the field's faults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tablectl_drivers import usb_devices
from tablectl_drivers.emulated.usb_bus import FakeBus

from tests.ptys import Pty, a_pty
from tests.reader.test_thread import World


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[Pty]:
    """A port with a name that outlives unplugging."""
    with a_pty(tmp_path / "shoe") as made:
        yield made


@pytest.fixture
def world() -> World:
    """A driver whose links fail as one wants."""
    return World()


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> FakeBus:
    """A USB bus that is not there, under the real pyusb; idle time passes fifty times as fast."""
    made = FakeBus(hurry=50)
    monkeypatch.setattr(usb_devices, "backend", lambda: made)
    return made
