"""The guest each scenario gets: the installed controller, just as it was installed, nothing plugged in.

Run by ``make lab`` (:mod:`tests.lab.__main__`) only: its files are named ``lab_*.py``, which the suite of
``make test`` does not collect.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.guest import Guest
from tests.lab.table import Table

INSTALLED = "installed"


@pytest.fixture
def folder() -> Path:
    """Where the guest lies with the controller installed."""
    return Path(os.environ["TABLECTL_LAB_GUEST"])


@pytest.fixture
def guest(folder: Path) -> Iterator[Guest]:
    """A machine with the controller installed and enabled, not started."""
    machine = Guest(folder, INSTALLED)
    yield machine
    machine.forget()


@pytest.fixture
def table(guest: Guest) -> Iterator[Table]:
    """Its table. What the service said is shown when the scenario fails."""
    at = Table(guest)
    yield at
    if guest.running:
        print(at.log(40))
