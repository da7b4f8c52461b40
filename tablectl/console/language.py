"""The console's language: each text by its English one.  Pure.

English is what stands in the code and what the daemon tells; another language is a module with tables
(:mod:`tablectl.console.german`). What a person wrote, and what is not known, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from tablectl.console import german, german_answers, german_table
from tablectl.console.paper import poor
from tablectl.table.holds import HOLDS

_MEANS = tuple(hold.means for hold in HOLDS.values())


@dataclass(frozen=True)
class Language:
    """``texts``: by the English text. ``patterns``: for those of the daemon that have something in them;
    ``answers``: for each part of what it answers to a command, with ``{}`` for that."""

    code: str
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    patterns: Mapping[str, str] = field(default_factory=dict, repr=False)
    answers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __call__(self, english: str, /, **values: object) -> str:
        """A text of the console's, with these values in its places ``{name}``."""
        found = self.texts.get(english, english)
        return found.format(**values) if values else found

    def told(self, text: str) -> str:
        """A text that the daemon told: what the dealer calls, a hold's message; each part that is known.

        Parts end with a colon and a space, and a hold's message begins with what its code means.
        """
        if text in self.texts:
            return self(text)
        for means in _MEANS:
            if text.startswith(f"{means} "):
                return f"{self(means)} {self.told(text.removeprefix(f'{means} '))}"
        return ": ".join(map(self._part, text.split(": ")))

    def answered(self, text: str) -> str:
        """What the daemon answered to a command; each part that is known. Parts end with a semicolon."""
        if not self.answers:
            return text
        if refused := re.fullmatch(r"([a-z -]+) refused: (.*)", text, re.DOTALL):
            return self("{command} refused: {why}", command=refused[1], why=self.answered(refused[2]))
        return "; ".join(self._answer(part) or self.told(part) for part in text.split("; "))

    def _answer(self, text: str) -> str | None:
        if text in self.answers:
            return self.answers[text]
        for pattern, words in self._answers:
            if found := pattern.fullmatch(text):
                return words.format(*(self._answer(hole) or self.told(hole) for hole in found.groups()))
        return None

    @cached_property
    def _answers(self) -> list[tuple[re.Pattern[str], str]]:
        """The most of words first."""
        found = sorted((key for key in self.answers if "{}" in key), key=len, reverse=True)
        return [
            (re.compile("(.+?)".join(map(re.escape, key.split("{}")))), self.answers[key]) for key in found
        ]

    def _part(self, text: str) -> str:
        for pattern, words in self.patterns.items():
            if found := re.fullmatch(pattern, text):
                return words.format(*map(self, found.groups()))
        return self(text)

    def ascii(self) -> Language:
        """The same for a terminal with ASCII only: as wide as it will be shown."""
        tables = {"texts": self.texts, "patterns": self.patterns, "answers": self.answers}
        return replace(
            self,
            **{name: {key: poor(of[key]) for key in of} for name, of in tables.items()},  # type: ignore[arg-type]
        )


SHORT = {
    "part of the procedure: opening, closing, shuffle, change of shift": "procedure: opening, shuffle, shift",
    "the dealer's error: a card early, in excess, out of order, exposed": "the dealer's error with a card",
    "a player or the game server objected; settled on the cards or on video": (
        "an objection; settled on the cards or on video"
    ),
    "a card is missing, extra, foreign, damaged or marked; the shuffle is in doubt": (
        "missing, extra, foreign, damaged; or the shuffle is in doubt"
    ),
    "one card was read twice, the repeat is taken out of hand and count": (
        "one card was read twice, the repeat does not count"
    ),
    "scan all cards on the table again, in the order they were drawn": (
        "scan all cards of the hand again, as they were drawn"
    ),
    "The cards cannot be right. Was one read wrong? Else take the shoe out of play and count it.": (
        "The cards cannot be right. One read wrong? Else end the shoe and count."
    ),
}
"""What is too long for 80 columns as it is told elsewhere."""

ENGLISH = Language("en", SHORT)
GERMAN = Language("de", {**german_table.TOLD, **german.OWN}, german_table.PATTERNS, german_answers.ANSWERS)
LANGUAGES = {"en": ENGLISH, "de": GERMAN}


def by_locale(environment: Mapping[str, str]) -> str:
    """The language that the environment asks for, if there is one, else English."""
    said = next((found for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (found := environment.get(name))), "")
    code = re.split("[_.@]", said.lower())[0]
    return code if code in LANGUAGES else "en"
