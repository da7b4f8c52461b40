"""A machine with the package installed, and a table with an emulated shoe on its device ``/dev/shoe0``.

Run by ``make house`` (:mod:`tests.house.__main__`) only: its files are named ``house_*.py``, which the suite
of ``make test`` does not collect.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.house.machine import Machine
from tests.house.table import HouseTable, shoe


@pytest.fixture(scope="session")
def package() -> Path:
    """The package of this tree."""
    return Path(os.environ["TABLECTL_HOUSE_DEB"])


@pytest.fixture(scope="session")
def installed(package: Path, measured: Callable[[str, float], None]) -> Iterator[Path]:
    """What the package's installation wrote to a machine's disk."""
    machine = Machine([])
    try:
        machine.write(f"/root/{package.name}", package.read_bytes())
        begun = time.monotonic()
        machine.run("apt-get install --yes ./tablectl_*.deb")
        measured("apt-get install of the package, network off", time.monotonic() - begun)
        yield machine.layer()
    finally:
        machine.forget()


@pytest.fixture(scope="session")
def measured() -> Callable[[str, float], None]:
    """Writes a figure into the transcript."""

    def note(what: str, seconds: float) -> None:
        with Path(os.environ["TABLECTL_HOUSE_FIGURES"]).open("a") as figures:
            figures.write(f"{seconds:7.2f} s          {what}\n")

    return note


@pytest.fixture
def bare() -> Iterator[HouseTable]:
    """A Debian just made, in which nothing of the project is; the shoe is plugged in."""
    with _table(None) as table:
        yield table


@pytest.fixture
def table(installed: Path) -> Iterator[HouseTable]:
    """The package is installed; nothing is configured."""
    with _table(installed) as table:
        yield table


@contextmanager
def _table(over: Path | None) -> Iterator[HouseTable]:
    with shoe() as (emulated, device):
        machine = Machine([(device, "/dev/shoe0")], over)
        table = HouseTable(machine, emulated)
        try:
            yield table
        finally:
            if machine.running:
                print(table.log(40))  # shown when the scenario fails
            machine.forget()
