"""The tours: every line can be typed, every key exists; in a soak somebody walks them at a real table."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tablectl.cards import Card
from tablectl.cli.emulate import HELP
from tablectl.console import keys
from tests.e2e.programs import REPOSITORY
from tests.tour.page import TOURS, AtShoe, Paste, Pressed, Step, Typed, steps
from tests.tour.walk import journey, missing, walk
from tests.typed import typed

PAGES = sorted(path.stem for path in TOURS.glob("*.md"))
ROLES = [name for name in PAGES if name != "README"]


def lines_of(found: list[Step]) -> Iterator[str]:
    """Every ``tablectl …`` in what is typed or pasted, alone."""
    for step in found:
        text = step.line if isinstance(step, Typed) else step.text if isinstance(step, Paste) else ""
        for line in re.sub(r"<<'END'\n.*?\nEND\n", "\n", text, flags=re.DOTALL).splitlines():
            for part in re.split(r" \| |; |\$\(| && ", line):
                if match := re.match(r"(?:timeout \d+ |[A-Z_]+=\S+ )*(tablectl .*?)\)?$", part.strip()):
                    yield re.sub(r"\s+(2?>>? \S+|2>&1|&)", "", match[1])


def constants() -> set[str]:
    """Every short text in the table of the console's keys."""
    tree = ast.parse(Path(keys.__file__).read_text())
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


@pytest.mark.parametrize("name", PAGES)
def test_every_line_of_a_tour_can_be_typed(name: str) -> None:
    found = list(lines_of(steps((TOURS / f"{name}.md").read_text())))
    assert len(found) >= 8
    for line in found:
        try:
            typed(line)
        except click.UsageError as error:
            pytest.fail(f"{line}: {error.format_message()}")


@pytest.mark.parametrize("name", PAGES)
def test_every_key_of_a_tour_exists_and_the_shoe_knows_what_it_is_told(name: str) -> None:
    there = {key for key in constants() if len(key) == 1 or key == "enter"}
    assert {"enter", "0", "4", "7", "8", "-", "*", "+"} <= there
    commands = set(re.findall(r"(?:^|\| )([a-z-]+)", HELP, flags=re.MULTILINE))
    for step in steps((TOURS / f"{name}.md").read_text()):
        if isinstance(step, Pressed) and step.keys:
            assert step.seen, f"{step.keys}: what is seen?"
            for key in step.keys:
                named = not (key.isascii() and key.isalnum()) or key in ("Enter", "Esc")
                assert not named or key.lower() in there, key
        told = step.shoe if isinstance(step, Pressed) else step.lines if isinstance(step, AtShoe) else ()
        for line in told:
            word, *cards = line.split()
            assert word in commands, line
            assert not [card for card in cards if card != "cut" and Card.parse(card) is None]


def test_every_role_has_its_tour_and_each_leads_on_to_the_reference() -> None:
    index = (TOURS / "README.md").read_text()
    assert ROLES == ["dealer", "integrator", "pit-boss", "technician"]
    for name in ROLES:
        assert f"({name}.md)" in index
        assert len(journey(name)) > 20


def test_what_is_printed_is_compared_loosely_and_still_compared() -> None:
    printed = "round 3/4, dealing\nlink good\nrow 17 hash 00ffaa11 of /var/x/T07.db\n"
    assert missing(["round 1/1, dealing", "...", "row 9 hash 12345678 of /tmp/T07.db"], printed) is None
    assert missing(["round 1/1, ..."], printed) is None
    assert missing(["link bad"], printed) == "link bad"
    assert missing(["link good", "round 1/1, dealing"], printed) == "round 1/1, dealing"
    with pytest.raises(click.UsageError):
        typed(next(lines_of(steps("```console\n$ timeout 2 tablectl open --dance | cat\n```\n"))))


_WALKER = """
import sys, time
from pathlib import Path
from tests.tour.walk import Walk
one = Walk(Path(sys.argv[1]))
one.shell.run("echo wait 60 > lines")
one.shell.run("(trap '' HUP; exec tablectl emulate angel-eye --script lines > device) & echo $! > pid")
one.shell.run("until grep device device; do sleep 0.05; done")
print("walks", flush=True)
time.sleep(60)
"""


def test_what_a_walk_started_ends_with_it_when_it_is_killed(tmp_path: Path) -> None:
    path = {"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'drivers'}"}
    words = [sys.executable, "-c", _WALKER, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=os.environ | path) as walker:
        assert walker.stdout is not None and walker.stdout.readline() == b"walks\n"
        started = os.pidfd_open(int((tmp_path / "pid").read_text()))
        try:
            assert not select.select([started], [], [], 0)[0]
            walker.kill()
            assert select.select([started], [], [], 5)[0], "it outlives the walk"
        finally:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(started, signal.SIGKILL)
            os.close(started)


if "TABLECTL_SOAK" in os.environ:

    @pytest.mark.soak
    @pytest.mark.timeout(600)
    @pytest.mark.parametrize("name", ROLES)
    def test_somebody_walks_the_tour(name: str) -> None:
        walk(name)
