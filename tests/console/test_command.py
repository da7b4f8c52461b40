"""`tablectl console` before there is a screen: what is missing, and what the terminal can show."""

from __future__ import annotations

import sys

import pytest

from tablectl.cli import main
from tablectl.cli.console import knows_blocks


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "tablectl.console.app", raising=False)
    monkeypatch.setitem(sys.modules, "textual", None)
    assert main(["console", "--socket", "/nonexistent"]) == 1
    assert capsys.readouterr().err == (
        "the console needs the package textual: pip install 'tablectl[console]'\n"
    )


def test_without_a_terminal_it_does_not_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["console", "--socket", "/nonexistent"]) == 1
    assert "needs a terminal" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("environment", "blocks"),
    [
        ({}, False),
        ({"LANG": "C"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),  # so Python makes it where it finds LANG=C
        ({"LANG": "de_DE.UTF-8"}, True),
        ({"LANG": "de_DE.utf8"}, True),
        ({"LANG": "de_DE.ISO-8859-1"}, False),
        ({"LANG": "C.UTF-8"}, True),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "C"}, False),
        ({"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, True),
        ({"LANG": "en_US.UTF-8", "LC_CTYPE": "POSIX"}, False),
    ],
)
def test_what_the_locale_says_of_the_terminal(environment: dict[str, str], blocks: bool) -> None:
    assert knows_blocks(environment) is blocks
