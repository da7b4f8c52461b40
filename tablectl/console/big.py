"""Large letters, read across a pit: five rows of pixels a letter.

On a terminal with block elements two pixels share a cell, and a letter is three lines high; on one with
ASCII only a pixel is a cell, and it is five.
"""

from __future__ import annotations

_LETTERS = {
    "A": "010 101 111 101 101",
    "B": "110 101 110 101 110",
    "C": "011 100 100 100 011",
    "D": "110 101 101 101 110",
    "E": "111 100 110 100 111",
    "F": "111 100 110 100 100",
    "G": "0111 1000 1011 1001 0111",
    "H": "101 101 111 101 101",
    "I": "1 1 1 1 1",
    "J": "001 001 001 101 010",
    "K": "101 101 110 101 101",
    "L": "100 100 100 100 111",
    "M": "10001 11011 10101 10001 10001",
    "N": "1001 1101 1011 1001 1001",
    "O": "010 101 101 101 010",
    "P": "110 101 110 100 100",
    "Q": "0100 1010 1010 1010 0101",
    "R": "110 101 110 101 101",
    "S": "011 100 010 001 110",
    "T": "111 010 010 010 010",
    "U": "101 101 101 101 111",
    "V": "101 101 101 101 010",
    "W": "10001 10001 10101 11011 10001",
    "X": "101 101 010 101 101",
    "Y": "101 101 010 010 010",
    "Z": "111 001 010 100 111",
    "Ä": "101 010 101 111 101",
    "Ö": "101 000 111 101 111",
    "Ü": "101 000 101 101 111",
    "0": "111 101 101 101 111",
    "1": "010 110 010 010 111",
    "2": "111 001 111 100 111",
    "3": "111 001 111 001 111",
    "4": "101 101 111 001 001",
    "5": "111 100 111 001 111",
    "6": "111 100 111 101 111",
    "7": "111 001 001 001 001",
    "8": "111 101 111 101 111",
    "9": "111 101 111 001 111",
    "'": "1 1 0 0 0",
    ":": "0 1 0 1 0",
    ",": "0 0 0 1 1",
    ".": "0 0 0 0 1",
    "-": "000 000 111 000 000",
    "?": "110 001 010 000 010",
    " ": "00 00 00 00 00",
}
_HALVES = {"00": " ", "10": "▀", "01": "▄", "11": "█"}


def rows(*, blocks: bool) -> int:
    """How many lines a text takes."""
    return 3 if blocks else 5


def drawable(text: str) -> bool:
    """Whether there is a letter for each."""
    return set(text.upper()) <= set(_LETTERS)


def draw(text: str, *, blocks: bool) -> list[str]:
    """The lines of a text, equally long; a letter there is none for is a ``?``."""
    letters = [_LETTERS.get(char, _LETTERS["?"]).split() for char in text.upper()]
    pixels = ["0".join(letter[row] for letter in letters) for row in range(5)]
    if not blocks:
        return [line.replace("0", " ").replace("1", "#") for line in pixels]
    pixels.append("0" * len(pixels[0]))
    return [
        "".join(_HALVES[top + bottom] for top, bottom in zip(pixels[row], pixels[row + 1], strict=True))
        for row in (0, 2, 4)
    ]
