"""The laboratory's own rules: it names what it lacks, skips nothing, and is no part of `make test`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from systemd.debian import build
from tests import browser
from tests.house import needs as house_needs
from tests.lab import image, install, needs
from tests.lab.scenarios import Transcript

HERE = Path(__file__).parent


def test_the_suite_does_not_collect_it() -> None:
    names = [path.name for path in (HERE / "lab").glob("*.py")]
    assert [name for name in names if name.startswith("lab_")]
    assert not [name for name in names if name.startswith("test_") or name.endswith("_test.py")]


def test_apt_sources_are_the_machines_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TABLECTL_LAB_MIRROR", raising=False)
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(
        "# deb http://off.example/debian bookworm main\n"
        "deb [arch=amd64] http://a.example/debian bookworm main contrib\n"
        "deb http://a.example/debian trixie main\n"
        "deb http://b.example/other nodistro main\n"
    )
    (tmp_path / "sources.list.d/debian.sources").write_text(
        "Types: deb\n# a comment\nURIs: http://c.example/debian\nSuites: bookworm bookworm-updates\n"
        "Components: main\n\nTypes: deb-src\nURIs: http://d.example/debian\nSuites: bookworm\n"
        "Components: main\n"
    )
    (tmp_path / "sources.list.d/kept.save").write_text("deb http://e.example/debian bookworm main\n")
    assert needs.sources(tmp_path) == [
        "deb http://a.example/debian bookworm main",
        "deb http://c.example/debian bookworm main",
        "deb http://c.example/debian bookworm-updates main",
    ]
    monkeypatch.setenv("TABLECTL_LAB_MIRROR", "http://f.example/debian")
    assert needs.sources(tmp_path) == ["deb http://f.example/debian bookworm main"]


def test_what_is_missing_is_named_with_the_way_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(needs, "TOOLS", {"no-such-tool": "its-package"})
    monkeypatch.setattr(needs, "FILES", {str(tmp_path / "firmware"): "its-firmware"})
    monkeypatch.setattr(needs, "ROOM", 1 << 60)
    monkeypatch.setattr(needs, "sources", lambda: [])
    text = "\n".join(needs.missing(built=False))
    assert "apt-get install its-package its-firmware" in text
    assert "TABLECTL_LAB_MIRROR=" in text
    assert "TABLECTL_LAB_CACHE=" in text


def test_what_is_installed_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "TOOLS", {"sh": "dash"})
    monkeypatch.setattr(needs, "FILES", {})
    monkeypatch.setattr(needs, "ROOM", 0)
    monkeypatch.setattr(needs, "sources", lambda: ["deb http://a.example/debian bookworm main"])
    assert needs.missing(built=False) == []


@pytest.mark.parametrize(("outcome", "bad"), [("passed", 0), ("failed", 1), ("skipped", 1)])
def test_a_scenario_that_was_skipped_has_not_passed(outcome: str, bad: int) -> None:
    told = Transcript()
    for when, ended in (("setup", outcome), ("teardown", "passed")):
        report = SimpleNamespace(nodeid="lab_2_serial.py::test_a_b", duration=1.0, when=when, outcome=ended)
        told.pytest_runtest_logreport(report)  # type: ignore[arg-type]
    assert told.bad == bad
    assert "a b" in told.text()


def test_every_file_of_systemd_is_installed() -> None:
    there = {path.name for path in (image.ROOT / "systemd").iterdir() if path.is_file()}
    assert set(install.PLACES) == there
    assert set(build.PLACES) == there
    for name, place in install.PLACES.items():
        assert Path(place).name == Path(build.PLACES[name]).name


def test_the_house_is_not_collected_either_and_names_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [path.name for path in (HERE / "house").glob("*.py")]
    assert [name for name in names if name.startswith("house_")]
    assert not [name for name in names if name.startswith("test_") or name.endswith("_test.py")]
    monkeypatch.setattr(house_needs, "TOOLS", {"no-such-tool": "its-package"})
    monkeypatch.setattr(house_needs, "sources", lambda: [])
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    text = "\n".join(house_needs.missing(built=False))
    for said in ("sudo make house", "apt-get install its-package", "TABLECTL_LAB_MIRROR="):
        assert said in text


def test_tests_in_a_browser_are_not_collected_either_and_name_what_they_lack(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [path.name for path in (HERE / "web").glob("*.py")]
    assert [name for name in names if name.startswith("web_")]
    assert not [name for name in names if name.startswith("test_") or name.endswith("_test.py")]
    monkeypatch.setattr("tests.browser.shutil.which", lambda tool: None)
    assert "apt-get install chromium chromium-driver" in browser.missing()
