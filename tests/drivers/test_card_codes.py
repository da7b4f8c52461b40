"""The card table: many codes to a card, one card to a code, and a fault is named by line and code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tablectl_drivers.card_codes import load_cards

from tablectl.cards import DECK, Card
from tests.drivers.contract import CODES

SHIPPED = Path(__file__).parents[2] / "config" / "cards" / "suit-rank.toml"


def test_the_shipped_table_is_the_public_one() -> None:
    table = load_cards(str(SHIPPED))
    for code, name in CODES.items():
        assert table[code.encode()] == Card.parse(name)
        assert table.code(Card.parse(name)) == code.encode()
    for code, name in (("1010", "AS"), ("2020", "2H"), ("3130", "KC"), ("1080", "8S"), ("4130", "KD")):
        assert str(table[code.encode()]) == name
    codes = [f"{number:04}".encode() for number in range(10_000)]
    assert sum(table[code] is not None for code in codes) == len(DECK)


def test_a_table_in_the_settings_and_many_codes_for_a_card() -> None:
    table = load_cards({**CODES, "0011AA22BB": "AS", "0011AA22BC": "AS"})
    assert table[b"0011AA22BB"] == table[b"0011AA22BC"] == table[b"1010"] == Card.parse("AS")
    assert table.code(Card.parse("AS")) == b"1010"
    assert table[b"0011AA22BD"] is None


def shipped_with(*changes: tuple[str, str]) -> str:
    text = SHIPPED.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


BAD_FILES = {
    "a code for two cards": (shipped_with(('4130 = "KD"', '4130 = "KD"\n1010 = "KD"')), r"line 70.*1010 = "),
    "a code twice, once in quotes": (
        shipped_with(('4130 = "KD"', '4130 = "KD"\n"1010" = "AS"')),
        "line 70.*1010",
    ),
    "unknown card": (shipped_with(('"8S"', '"8X"')), r"line 19: code '1080': '8X' is not a card"),
    "unknown card, ten": (shipped_with(('"TS"', '"10S"')), "line 21: code '1100'"),
    "card of no text": (shipped_with(('"8S"', "8")), "line 19: code '1080'"),
    "missing cards": (shipped_with(('1080 = "8S"\n', ""), ('4130 = "KD"\n', "")), "no code for 8S KD"),
    "code with blanks": (shipped_with(("1080", '" 1080"')), "code ' 1080'"),
    "code not ASCII": (shipped_with(("1080", '"１０８０"')), "code '１０８０'"),
    "empty code": (shipped_with(("1080", '""')), "code ''"),
    "no table": ("", r"\[codes\]"),
    "another table": (shipped_with() + "\n[more]\n", r"\[codes\]"),
    "not TOML": ("[codes]\n1010 = AS\n", "line 2.*1010 = AS"),
}


@pytest.mark.parametrize(("text", "told"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_file_is_refused_by_line_and_code(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "house.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=told) as caught:
        load_cards(str(path))
    assert str(caught.value).startswith(f"cards: {path}")


@pytest.mark.parametrize("cards", [None, 7, "", [], "/does/not/exist.toml"])
def test_what_is_no_table_is_refused(cards: Any) -> None:
    with pytest.raises(ValueError, match="cards: "):
        load_cards(cards)


def test_a_bad_table_in_the_settings_is_refused() -> None:
    wrong: dict[Any, str]
    for wrong, told in (({"1010": "XX"}, "1010"), ({1010: "AS"}, "1010"), ({"1010": "2S"}, "no code for AS")):
        with pytest.raises(ValueError, match=told):
            load_cards(dict(CODES) | wrong)


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="cannot be read"):
        load_cards(str(path))
