"""The house's table of scanner codes: which text on a card means which card.

Codes are compared as raw bytes and never read as numbers: ``int()`` would take ``+1010``,
``1_010`` and full-width digits for ``1010``. An unknown code is no card; there is no default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tablectl.cards import DECK, Card
from tablectl.plain_file import parse_toml, read_file

CODE_CAP = 128
"""Most bytes of a code."""


class CardTable:
    """Codes to cards, many to one. Build it with :func:`load_cards`."""

    def __init__(self, codes: Mapping[bytes, Card]) -> None:
        self._codes = dict(codes)

    def __getitem__(self, code: bytes) -> Card | None:
        """The card of ``code``, or None."""
        return self._codes.get(code)

    def code(self, card: Card) -> bytes:
        """The first code of ``card``: what an emulated scanner reads off it."""
        return next(code for code, of in self._codes.items() if of == card)

    def codes(self, card: Card) -> tuple[bytes, ...]:
        """All codes of ``card``, in the order of the table."""
        return tuple(code for code, of in self._codes.items() if of == card)


ANY_CODE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
ANY_CODE_WORDS = "a code is printable ASCII without blanks at its ends"


def load_cards(
    cards: object, lawful: re.Pattern[str] = ANY_CODE, lawful_words: str = ANY_CODE_WORDS
) -> CardTable:
    """The table a setting ``cards`` means: the path of a TOML file with a table ``[codes]``, or such a table.

    A line is ``code = "card"``, for example ``1010 = "AS"``. Raises :class:`ValueError` naming
    the code (and in a file its line) for a code given twice, a card that does not exist, and a
    card without a code. ``lawful`` is what such a scanner can send at all, ``lawful_words`` say so.
    """
    if isinstance(cards, Mapping):
        return _table(cards, "cards", "", lawful, lawful_words)
    if not isinstance(cards, str) or not cards:
        raise ValueError("cards: give the path of a card table, or a table of code = card")
    try:
        text = read_file(Path(cards)).decode()
    except OSError as error:
        raise ValueError(f"cards: {cards} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"cards: {cards} cannot be read: {error}") from None
    try:
        document = parse_toml(text)
    except ValueError as error:
        raise ValueError(f"cards: {cards}: {_explain(error, text)}") from None
    codes = document.get("codes")
    if not isinstance(codes, dict) or len(document) != 1:
        raise ValueError(f"cards: {cards}: the file holds one table, [codes], and nothing else")
    return _table(codes, f"cards: {cards}", text, lawful, lawful_words)


def _explain(error: ValueError, text: str) -> str:
    # "Cannot overwrite a value" is how the parser says that a code stands there twice.
    found = re.search(r"at line (\d+)", str(error))
    if not found:
        return str(error)
    line = text.splitlines()[int(found[1]) - 1].strip()
    twice = "; this code stands for a card already" if "overwrite" in str(error) else ""
    return f"{error}: {line}{twice}"


def _table(
    codes: Mapping[Any, Any], where: str, text: str, lawful: re.Pattern[str], lawful_words: str
) -> CardTable:
    table: dict[bytes, Card] = {}
    for code, name in codes.items():
        place = f"{where}{_line_of(code, text)}: code {code!r}"
        if not isinstance(code, str) or not 1 <= len(code) <= CODE_CAP:
            raise ValueError(f"{place}: a code is a text of 1 to {CODE_CAP} characters")
        if not lawful.fullmatch(code):
            raise ValueError(f"{place}: {lawful_words}")
        try:
            table[code.encode("ascii")] = Card.parse(name)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
    if missing := [str(card) for card in DECK if card not in table.values()]:
        raise ValueError(f"{where}: no code for {' '.join(missing)}")
    return CardTable(table)


def _line_of(code: object, text: str) -> str:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.partition("=")[0].strip().strip("\"'") == code:
            return f" line {number}"
    return ""
