"""``tablectl demo --web``, by the two addresses it prints: what both pages said, beside its journal."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from tablectl.demo.play import DEPOSIT
from tablectl.journal import JournalReader
from tests.browser import Browser
from tests.e2e.programs import REPOSITORY
from tests.ends_with import interruptible
from tests.gameserver.test_settled_at_random import net
from tests.web.floor import SIZE, amount

SPEED = "4"
"""Betting is open for five seconds then."""
ROUNDS = 4
COMMAND = "import sys; from tablectl.cli import main; sys.exit(main(sys.argv[1:]))"

_NOTE = """
window.noted = [];
const note = () => {
  const band = document.getElementById("band");
  const cards = (side) =>
    [...document.querySelectorAll(`#${side} .card`)].map((one) => one.dataset.card.split(" ")[1]);
  const now = [document.getElementById("name").textContent, band.className, band.textContent,
    cards("player"), cards("banker"), !document.getElementById("countdown").hidden];
  const last = window.noted.at(-1);
  if (JSON.stringify(now) !== JSON.stringify(last)) window.noted.push(now);
};
// The page draws in one go; the watcher is called when it is done.
const all = {subtree: true, childList: true, attributes: true, characterData: true};
new MutationObserver(note).observe(document.body, all);
note();
"""
"""From now on the page writes down each thing it shows."""


class Demo:
    """The command in a process of its own. ``said``: its lines so far."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.said: list[str] = []
        path = {"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'drivers'}", "TMPDIR": str(folder)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "demo", "--web", "--speed", SPEED],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | path,
            preexec_fn=interruptible,
        )

    def address(self, what: str) -> str:
        """The address printed behind ``what``."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said.append(line)
            if line.startswith(what):
                return line.split()[-1]
        raise AssertionError(self.said)

    def results(self) -> dict[int, dict[str, Any]]:
        """The results in its journal, by their round."""
        (journal,) = self._folder.glob("tablectl-demo-*/DEMO/DEMO.db")
        with contextlib.closing(JournalReader.open(journal)) as reader:
            public = [json.loads(row.public) for row in reader.every_row() if row.public is not None]
        wanted = "tablectl.round.resulted.v1"
        return {one["data"]["round"]: one["data"] for one in public if one["type"] == wanted}

    def interrupt(self) -> tuple[int, str]:
        """Ctrl-C: its exit code, and the rest it says."""
        self._process.send_signal(signal.SIGINT)
        rest, _ = self._process.communicate(timeout=60)
        return self._process.returncode, rest

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()


@pytest.fixture
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    made = Demo(tmp_path_factory.mktemp("d"))  # a short name: a socket's path is in it
    try:
        yield made
    finally:
        made.close()


def test_the_demo_by_its_two_addresses(demo: Demo) -> None:
    display, player = demo.address("table display"), demo.address("player's page")
    with Browser() as browser:
        browser.open(display)
        first = browser.handle
        browser.run(_NOTE)
        seat = browser.window(player, SIZE)
        browser.wait(lambda: amount(browser.text("#balance")) == DEPOSIT, "the deposit")
        bet_on = _bet(browser)
        browser.wait(lambda: len(demo.results()) > ROUNDS, "the rounds", timeout=90.0)
        results = demo.results()
        browser.show(first)
        noted = browser.run("return window.noted")
        assert browser.complaints() == []
        browser.show(seat)
        _check_player(browser, results, bet_on)
        assert browser.complaints() == []
    watched = _check_display(noted, results)
    assert watched >= ROUNDS - 1
    code, rest = demo.interrupt()
    assert code == 0 and "all is well" in rest and " 0 different" in rest


def _bet(browser: Browser) -> int:
    """Ten on the Banker in the next round that opens; which it was."""
    browser.wait_text("Place your bets", "#says", timeout=60.0)
    browser.keys(Keys.NUMPAD2, Keys.SHIFT + Keys.ADD, Keys.ENTER)
    said = browser.wait(lambda: browser.text("#told"), "an answer")
    assert said == "Banker: placed, 10.00 USD"
    return int(browser.text("#round").rpartition("/")[2])


def _check_player(browser: Browser, results: dict[int, dict[str, Any]], bet_on: int) -> None:
    hands = [results[bet_on][side]["cards"] for side in ("player", "banker")]
    won = net("live-casino", "banker", 10_00, *hands)
    assert won is not None
    browser.wait(lambda: amount(browser.text("#balance")) == DEPOSIT + won, f"{won} won")
    (row,) = [one.text for one in browser.all("#history tr")]
    assert row.startswith(f"1/{bet_on} Banker 10.00 USD")


def _check_display(noted: list[list[Any]], results: dict[int, dict[str, Any]]) -> int:
    """Each round seen from its beginning, against the journal; how many those were.

    A round is what was noted from one opening of betting to the next.
    """
    rounds: list[list[list[Any]]] = []
    for one in noted:
        if one[1] == "betting" and (not rounds or rounds[-1][-1][1] != "betting"):
            rounds.append([])
        if rounds:
            rounds[-1].append(one)
    whole = [seen for seen in rounds if seen[-1][1].startswith("result") and "Round" in seen[0][0]]
    for seen in whole:
        number = int(seen[0][0].rpartition("Round ")[2])
        data = results[number]
        kinds = [kind.split()[0] for kind, _ in groupby(one[1] for one in seen)]
        phases = [kind for kind, _ in groupby(kinds)]
        assert phases == ["betting", "closed-bets", "dealing", "result"], (number, phases)
        for name, kind, _, player, banker, counting in seen:
            assert counting == (kind == "betting"), (number, kind)
            assert name.endswith(f"Round {number}") or kind.startswith("result")
            lying = {"player": player, "banker": banker}
            for side, cards in lying.items():
                assert cards == data[side]["cards"][: len(cards)], (number, side)
            if kind in ("betting", "closed-bets"):
                assert not player and not banker
        _, kind, text, player, banker, _ = seen[-1]
        assert kind == f"result {data['outcome']}"
        assert f"{data['player']['total']} : {data['banker']['total']}" in text
        assert [player, banker] == [data["player"]["cards"], data["banker"]["cards"]]
    return len(whole)
