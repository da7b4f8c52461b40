"""Why a pit boss acts: one code of a list, and words.

A reason is written ``CODE`` or ``CODE: words`` (``misread: seen on video``). The code is for whoever counts
what goes wrong at a table, the words are for whoever looks at this one case.
"""

from __future__ import annotations

REASONS = {
    "routine": "part of the procedure: opening, closing, shuffle, change of shift",
    "misread": "the scanner read a card wrong, or not at all",
    "missed": "a card was drawn that the scanner did not see",
    "twice": "one card was read twice",
    "dealing": "the dealer's error: a card early, in excess, out of order, exposed",
    "announcement": "the wrong result was announced or entered",
    "dispute": "a player or the game server objected; settled on the cards or on video",
    "cards": "a card is missing, extra, foreign, damaged or marked; the shuffle is in doubt",
    "device": "shoe, scanner, cable or power failed",
    "system": "controller, network, game server or disk failed",
    "security": "game protection",
    "training": "a test or a lesson",
    "other": "none of these: words are needed",
}
"""Every code and what it is for."""


def problem(reason: str) -> str | None:
    """What is wrong with a reason, in words with the way out, or None."""
    code, _, words = (part.strip() for part in reason.partition(":"))
    if code not in REASONS:
        known = ", ".join(REASONS)
        return f"a reason begins with one of {known}; then, if you like, words: dealing: seen on video"
    if code == "other" and not words:
        return "the reason 'other' needs words: other: WORDS"
    return None
