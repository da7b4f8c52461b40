"""The built wheel, installed alone: it needs nothing of this checkout, and no package it does not name.

The clean environment sees the wheel, the interpreter's own library, and exactly the packages that the
wheel's metadata asks for (linked from where the tests run): what the wheel forgot is not there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.e2e.programs import REPOSITORY


@dataclass(frozen=True)
class Clean:
    """The environment, and the wheel in it."""

    bin: Path
    home: Path
    wheel: Path

    def run(self, *command: str, code: int = 0) -> str:
        """Run a program of it, far away from the checkout; its standard output."""
        keep = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        done = subprocess.run(
            [str(self.bin / command[0]), *command[1:]],
            capture_output=True,
            text=True,
            cwd=self.home,
            env=keep | {"HOME": str(self.home)},
            timeout=60,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    def python(self, code: str) -> str:
        return self.run("python", "-c", code).strip()


def needed_by(names: Sequence[str]) -> dict[str, Distribution]:
    """These packages and all that they need in turn."""
    found: dict[str, Distribution] = {}
    wanted = [Requirement(name) for name in names]
    while wanted:
        requirement = wanted.pop()
        name = requirement.name.lower().replace("_", "-")
        extras = requirement.extras or {""}
        marker = requirement.marker
        if name in found or (marker and not any(marker.evaluate({"extra": extra}) for extra in extras)):
            continue
        found[name] = distribution(requirement.name)
        wanted += [Requirement(text) for text in found[name].requires or []]
    return found


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Clean:
    folder = tmp_path_factory.mktemp("clean")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder), str(REPOSITORY)]
    subprocess.run([*pip, *build], check=True, timeout=100)
    (wheel,) = folder.glob("tablectl-*.whl")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    binaries = folder / "venv" / "bin"
    install = ["install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*pip, "--python", str(binaries / "python"), *install], check=True, timeout=100)

    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    asked = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    for package in needed_by(asked).values():
        for top in {Path(file).parts[0] for file in package.files or []} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(package.locate_file(top))))
    return Clean(binaries, folder, wheel)


def test_wheel_stands_alone(clean: Clean) -> None:
    where = clean.python(
        "import json, tablectl, tablectl_drivers;"
        "print(json.dumps([tablectl.__file__, *tablectl_drivers.__path__]))"
    )
    assert all(str(clean.home) in path for path in json.loads(where))
    clean.python("import sys; assert not any('editable' in path for path in sys.path)")
    # Packages for development only are really not there.
    clean.run("python", "-c", "import pytest", code=1)


def test_every_module_of_it_can_be_imported(clean: Clean) -> None:
    clean.python(
        "import importlib, pkgutil, tablectl, tablectl_drivers\n"
        "for package in (tablectl, tablectl_drivers):\n"
        "    for found in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        if found.name.endswith('__main__'):\n"
        "            continue\n"
        "        try:\n"
        "            importlib.import_module(found.name)\n"
        "        except ModuleNotFoundError as lacking:  # an extra, which is not installed here\n"
        "            if lacking.name.partition('.')[0] not in ('nats', 'textual', 'rich'):\n"
        "                raise\n"
    )


def test_its_entry_points_load(clean: Clean) -> None:
    names = json.loads(
        clean.python(
            "import json\n"
            "from tablectl.plugins import *\n"
            "from tablectl import plugins as p\n"
            "for name in p.names(p.DRIVERS): p.load_driver(name)\n"
            "for name in p.names(p.EMULATORS): p.load_emulator(name)\n"
            "for name in p.names(p.BEEPERS): p.load_beeper(name)\n"
            "for name in ('serial', 'usb'): p.load_finder(name)\n"
            "print(json.dumps([p.names(g) for g in (p.DRIVERS, p.EMULATORS, p.BEEPERS)]))"
        )
    )
    drivers, emulators, beepers = names
    assert {"angel-eye", "bee-tek", "barcode"} <= set(drivers)
    assert {"angel-eye", "bee-tek"} <= set(emulators)
    assert {"null", "bell", "sound", "pcspkr", "relay", "patlite", "scanner"} <= set(beepers)


def test_its_configuration_is_inside(clean: Clean) -> None:
    with zipfile.ZipFile(clean.wheel) as archive:
        inside = set(archive.namelist())
    shipped = {f.relative_to(REPOSITORY) for f in (REPOSITORY / "config").rglob("*.toml")}
    assert shipped
    assert {f"tablectl/_{path}" for path in shipped} <= inside
    assert "tablectl/py.typed" in inside
    page = {f.name for f in (REPOSITORY / "tablectl" / "display" / "page").iterdir()}
    assert {f"tablectl/display/page/{name}" for name in page | {"index.html"}} <= inside
    assert not {name for name in inside if name.startswith(("tests", "docs"))}
    rules = {path.stem for path in shipped if path.parent.name == "rules"}
    for name in rules:
        assert clean.run("tablectl", "rules", "--rules", name)


def test_its_commands_work(clean: Clean) -> None:
    assert "Usage: tablectl" in clean.run("tablectl", "--help")
    assert clean.run("tablectl", "--version").startswith("tablectl ")
    assert "Banker" in clean.run("tablectl", "rules") or "banker" in clean.run("tablectl", "rules")
    played = json.loads(clean.run("tablectl", "simulate", "--shoes", "3", "--json"))
    assert 60 < played["rounds_per_shoe"] < 90
    assert played["cards_per_second"] > 0
