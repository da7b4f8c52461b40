"""docs/drivers.md is true: its driver, taken out of the page, is installed, held to the contract, played."""

from __future__ import annotations

import importlib
import inspect
import queue
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tablectl.cards import Card
from tablectl.cli.check.everything import check_all
from tablectl.plugins import load_driver, load_emulator
from tablectl.reader import Reader
from tablectl.scanner import Arrival, Arrived, DeviceEvent, Scan, ScannerRestored
from tests.api.test_app import Bench
from tests.drivers import contract, test_contract
from tests.e2e.harness import BARE
from tests.recordings import golden_lines, read, single_bytes
from tests.test_imports import DRIVERS_MAY_USE, ROOT, under

PAGE = (ROOT / "docs" / "drivers.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w./-]+)`\n\n```[a-z]+\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL))
NAME = "acme-shoe"
SUITE = "from tests.drivers.test_contract import"
OWED = sorted(
    name
    for name, test in vars(test_contract).items()
    if name.startswith("test_") and "name" in inspect.signature(test).parameters
)
"""The tests of the contract suite that run on a driver by name."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The page's package, installed as any other: its files and its metadata on ``sys.path``."""
    folder = tmp_path_factory.mktemp("acme")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    project = tomllib.loads(FILES["pyproject.toml"])["project"]
    metadata = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    (metadata / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in points.items())
            for group, points in project["entry-points"].items()
        )
    )
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    yield folder
    sys.path.remove(str(folder))
    for module in [name for name in sys.modules if name.partition(".")[0] == "tablectl_acme"]:
        del sys.modules[module]


@pytest.fixture
def subject(package: Path, monkeypatch: pytest.MonkeyPatch) -> contract.Subject:
    """The driver as the page's own test names it to the suite."""
    monkeypatch.setitem(contract.SUBJECTS, NAME, None)  # so that it is gone again afterwards
    exec(compile(FILES["test_acme.py"].partition(SUITE)[0], "test_acme.py", "exec"), {})
    made = contract.SUBJECTS[NAME]
    assert isinstance(made, contract.Subject)
    return made


def test_the_page_has_every_file_of_the_package() -> None:
    assert set(FILES) == {
        "tablectl_acme/__init__.py",
        "tablectl_acme/emulated.py",
        "pyproject.toml",
        "T07.toml",
        "test_acme.py",
        "acme-shoe.capture",
        "acme-shoe.golden",
    }


def test_the_driver_imports_only_what_a_driver_may(package: Path) -> None:
    for path in (package / "tablectl_acme").glob("*.py"):
        for line in re.findall(r"^from (tablectl\.\S+) import", path.read_text(), flags=re.MULTILINE):
            assert under(line, DRIVERS_MAY_USE), line


def test_the_code_passes_the_projects_own_lint(package: Path) -> None:
    ruff = Path(sys.executable).with_name("ruff")
    command = [
        str(ruff),
        "check",
        "--no-cache",
        "--ignore",
        "I",
        "--config",
        str(ROOT / "pyproject.toml"),
        str(package),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_lines_shown_are_what_the_driver_reads(subject: contract.Subject) -> None:
    shown = re.findall(r"^(#\d \S+)", PAGE, flags=re.MULTILINE)
    assert len(shown) == 2
    items = contract.feed(subject.decoder(), "".join(f"{line}\n" for line in shown).encode())
    assert contract.scans(items) == [Card.parse("8S")] and len(items) == 1


@pytest.mark.parametrize(
    "check", [name for name in OWED if name != "test_the_driver_object_keeps_its_promises"]
)
def test_the_contract_suite_holds_it_to(check: str, subject: contract.Subject) -> None:
    getattr(test_contract, check)(name=NAME)


def test_the_driver_object_keeps_its_promises(subject: contract.Subject) -> None:
    test_contract.test_the_driver_object_keeps_its_promises(name=NAME, driver=load_driver(NAME))


def test_its_cards_come_through_the_reader_on_a_real_port(package: Path, tmp_path: Path) -> None:
    arrivals: queue.SimpleQueue[Arrival] = queue.SimpleQueue()
    shoe = load_emulator(NAME).make(link=str(tmp_path / "shoe"), speed=20.0)
    reader = Reader(load_driver(NAME), shoe.device, {}, arrivals.put, settle=10_000_000)
    reader.start()
    assert isinstance(arrivals.get(timeout=15), ScannerRestored)
    shoe.load([Card.parse(card) for card in ["8S", "8S", "KD"]], [2])
    for _ in range(4):
        shoe.draw()
    told: list[Any] = [arrivals.get(timeout=15) for _ in range(4)]
    assert all(isinstance(one, Arrived) for one in told)
    names = [
        str(one.item.card) if isinstance(one.item, Scan) else one.item.kind.value
        for one in told
        if isinstance(one.item, Scan | DeviceEvent)
    ]
    assert names == ["8S", "8S", "cut-card", "KD"]
    shoe.flush()
    assert reader.stop()
    shoe.close()
    assert arrivals.empty(), "copies are no cards"


def test_the_recording_shown_decodes_to_the_golden_file_shown(package: Path) -> None:
    recording = read(package / "acme-shoe.capture")
    golden = FILES["acme-shoe.golden"].splitlines()
    assert golden_lines(recording) == golden_lines(recording, single_bytes(recording.pieces)) == golden


def test_the_configuration_shown_passes_check_and_a_slip_in_it_is_named(package: Path) -> None:
    def grades(path: Path) -> dict[str, tuple[str, str]]:
        return {one.what: (one.grade, one.text) for one in check_all(lambda: path, config_only=True)}

    path = package / "T07.toml"
    grade, text = grades(path)["driver"]
    assert (grade, text) == ("ok", f"{NAME}: {load_driver(NAME).about}")
    slip = package / "slip.toml"
    slip.write_text(path.read_text().replace('"strict"', '"yes"'))
    grade, text = grades(slip)["driver"]
    assert grade == "FAIL" and "scanner.check_sum: 'yes' is not one of strict, off" in text


def test_a_whole_table_plays_a_round_on_it(package: Path) -> None:
    with Bench(NAME, overrides=BARE) as table:
        table.open_table("2C 9D 3H KS")
        table.play_round(4)
        assert table.runtime.state.last_scan == "result"


def test_the_command_of_the_page_runs(package: Path) -> None:
    command = re.search(r"`PYTHONPATH=\S+ (pytest [^`]+)`", PAGE)
    assert command is not None
    done = subprocess.run(
        [sys.executable, "-m", *command[1].split(), "-p", "no:cacheprovider"],
        cwd=package,
        env={"PYTHONPATH": f"{package}:{ROOT}:{ROOT / 'drivers'}", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(OWED) - 1} passed" in done.stdout, done.stdout
