"""What all sides of the delivery agree on stands in one place; what a peer says is short and printable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tablectl
from tablectl.delivery.form import EVENT_ID, words_of
from tablectl.events import event_id

PACKAGE = Path(tablectl.__file__).parent
FORM = "delivery/form.py"
ONCE = {
    r"application/cloudevents": FORM,
    r"\(\?P<sequence>": FORM,
    r"^ANSWER_BYTES =": FORM,
    r"BEGIN NATS USER JWT": "delivery/nats_connection.py",
}
"""Pieces of the source, and where alone they stand."""


@pytest.mark.parametrize(("piece", "there"), ONCE.items())
def test_what_all_agree_on_is_written_once(piece: str, there: str) -> None:
    where = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(piece, path.read_text(encoding="utf-8"), re.M)
    ]
    assert where == [there]


def test_the_form_fits_the_ids_that_are_made() -> None:
    parts = EVENT_ID.fullmatch(event_id("T-07", "4f2a91", 12) + "-p")
    assert parts is not None
    assert parts.groupdict() == {
        "table": "T-07",
        "epoch": "4f2a91",
        "sequence": "000000000012",
        "instead": "-p",
    }


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"error": "no \x1b[31msuch\u202e bet\n"}, "no [31msuch bet"),
        ({"detail": "x" * 999}, "x" * 200),
        ({"error": 5}, ""),
        ({"next": 1}, ""),
        (["error"], ""),
        (None, ""),
    ],
)
def test_the_words_of_a_peer_are_made_harmless(answer: object, words: str) -> None:
    assert words_of(answer) == words
