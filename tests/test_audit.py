"""What the audit of the dependencies says of the report it gets."""

from __future__ import annotations

from typing import Any

from tests.data_tools.audit import UNREACHED, verdict

GOOD = {"name": "click", "version": "8.1.0", "vulns": []}
HOLE = {
    "name": "yarl",
    "version": "1.0",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"], "aliases": []}],
}
SKIPPED = {"name": "aiohttp", "skip_reason": "not found"}


def of(*packages: Any) -> tuple[int, list[str]]:
    return verdict({"dependencies": list(packages), "fixes": []})


def test_a_known_hole_fails_and_names_the_release_that_mends_it() -> None:
    assert of(GOOD, HOLE, SKIPPED) == (1, ["yarl 1.0: PYSEC-1, mended in 1.1"])


def test_what_could_not_be_asked_about_is_never_good() -> None:
    code, (line,) = of(GOOD, SKIPPED)
    assert (code, "1 packages; 1 asked about" in line) == (UNREACHED, True)


def test_nothing_known_is_good() -> None:
    assert of(GOOD, GOOD) == (0, ["2 packages, no known hole"])
