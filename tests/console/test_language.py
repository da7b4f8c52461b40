"""The console in German: nothing is left in English, nothing is cut off, and ASCII is enough for it."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import tablectl.console
import tablectl.table
from tablectl.cards import Outcome
from tablectl.console import big
from tablectl.console.dialog import Choice
from tablectl.console.keys import keys
from tablectl.console.language import ENGLISH, LANGUAGES, Language, by_locale
from tablectl.console.model import Model
from tablectl.console.screen import Terminal, screen
from tablectl.health import Condition
from tablectl.local import _WAYS_OUT
from tablectl.table import Phase
from tablectl.table.holds import HOLDS, WAYS
from tablectl.table.reasons import REASONS
from tablectl.table.words import winner
from tests.console.states import EVIL, Raw, event, every, held, past, result, state

GERMAN = LANGUAGES["de"]
SUITS = str.maketrans("♠♥♦♣", "SHDC")
"""Code page 437 has them where others have control characters."""
HERE = Terminal(80, 24)
SAME = {"ok", "natural", "server", "journal", "hand"}
"""Words that are the same in both."""
_LEFT = re.compile(r"\b(the|is|card|cards|player|draws|stands|shoe|and|to|of|wins)\b", re.IGNORECASE)
"""No German text has these."""


def sources(package: object) -> Iterator[ast.AST]:
    for file in sorted(Path(str(getattr(package, "__file__", ""))).parent.glob("*.py")):
        if not file.name.startswith("german"):
            yield from ast.walk(ast.parse(file.read_text(encoding="utf-8")))


def constants(package: object) -> set[str]:
    return {
        node.value
        for node in sources(package)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def places(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def test_every_text_of_the_console_is_there_in_german_and_none_that_is_not_used() -> None:
    asked = {
        node.args[0].value
        for node in sources(tablectl.console)
        if isinstance(node, ast.Call)
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and (getattr(node.func, "id", "") in ("w", "words") or getattr(node.func, "attr", "") == "words")
    }
    assert len(asked) > 150 and asked - set(GERMAN.texts) == set()
    known = " ".join((*constants(tablectl.console), *constants(tablectl.table), *_WAYS_OUT.values()))
    made = {f"{side} {what}" for side in ("player", "banker") for what in ("pair", "natural")}
    made |= {*map(str, Condition), "Player", "Banker", "Tie", "no usable answer"}
    made |= {"cards face down", "Player stands, Banker draws"}
    assert {text for text in GERMAN.texts if text not in known} <= made
    told = " ".join((*constants(tablectl.table), *_WAYS_OUT.values()))
    assert {text for text in LANGUAGES["en"].texts if text not in told} == set()


def test_a_german_text_is_german_and_has_the_same_places() -> None:
    for english, german in GERMAN.patterns.items():
        assert len(places(german)) == re.compile(english).groups, english
    for english, german in GERMAN.texts.items():
        assert places(german) == places(english), english
        assert (german[-1:] in ".?:") == (english[-1:] in ".?:"), "one ends a sentence, the other does not"
        assert _LEFT.search(re.sub("{.*?}", "", german)) is None, german
        assert german != english or english in SAME


@dataclass(frozen=True)
class Noted(Language):
    """German that notes what it has no text for."""

    missing: tuple[set[str], ...] = (set(),)

    def __call__(self, english: str, /, **values: object) -> str:
        if english and english not in self.texts:
            self.missing[0].add(english)
        return super().__call__(english, **values)


def situations() -> Iterator[tuple[str, Raw]]:
    """Every phase, every hold in its usual one, and what else changes the screen, but for what is absurd."""
    for name, raw in every():
        usual = " in " not in name or name.endswith("in dealing")
        if usual and name not in ("evil", "all wrong", "owed", "scanner down", "alerted", "strange", "empty"):
            yield name, raw
    for placed in (0, 3):
        told = {"shoe": 12, "round": 34, "players": 3, "placed": placed, "all": placed == 3}
        yield f"{placed} placed", state("betting", placed=told)
    for one in ("No More Bets", "Last Hand before shuffle", "Player 9, Banker 7: no more cards", *said()):
        yield one, state("dealing", say=[one])
    yield "absent", state("idle", scanner={"up": False, "why": "x", "health": "absent"})


def said() -> Iterator[str]:
    for outcome in Outcome:
        yield f"{winner(outcome)}: Player 7, Banker 7"
    for side in ("Player", "Banker", "Player stands, Banker"):
        yield f"Player 4, Banker 7: {side} draws"


ASKED = {
    "closed": "*",
    "no shoe": "Enter -",
    "burning": "9 93",
    "idle": "0 7 8 4 *1 *2 *3 *4 *5 *6 *61 *6141 *7 *8 +",
    "betting": "- *11",
    "complete": "5",
    "shuffle due": "*1 *11 *112 *1121 *12 *121 *4",
    "called in dealing": "1 11 111 6 61 618 61811 7 8 81 91 911 93 931 932",
    "face down": "*",
    "counting": "*1",
    "read twice": "6",
}
"""The keys of every question, by the situation in which it is asked."""


def dialogs(name: str, model: Model) -> Iterator[Model]:
    """The model with each question that these keys lead to."""
    for pressed in ASKED.get(name, "").split():
        at = model
        for key in ("enter",) if pressed == "Enter" else pressed:
            at, sent = at.key(key, 1.0)
            assert sent is None, (name, pressed)
        assert at.dialog is not None, (name, pressed)
        yield at


def shown(model: Model, on: Terminal) -> str:
    return "\n".join("".join(span.text for span in line) for line in screen(model, on, 1.0, "03:14:15"))


def model_of(raw: Raw, words: Language) -> Model:
    return Model(past=past(), settles=0.0, words=words).told(raw, 0.0)


def test_nothing_on_any_screen_or_in_any_dialog_is_left_in_english() -> None:
    words = Noted("de", GERMAN.texts, GERMAN.patterns)
    for name, raw in situations():
        model = model_of(raw, words)
        for one in (model, model.gone("x", 0.0), *dialogs(name, model)):
            shown(one, HERE)
    free = {"x", "orbiting", "?", "bo", "anna", "boris", "10"} | {str(n) for n in range(10)}
    assert words.missing[0] - free == set()


@pytest.mark.parametrize("blocks", [True, False], ids=["blocks", "ascii"])
@pytest.mark.parametrize("code", LANGUAGES)
def test_nothing_is_cut_off_on_80_by_24(code: str, blocks: bool) -> None:
    words, on = LANGUAGES[code] if blocks else LANGUAGES[code].ascii(), Terminal(80, 24, blocks)
    for name, raw in situations():
        model = model_of(raw, words)
        text = shown(model, on)
        assert not re.search(r"\w\.\.\.", text), (name, text)
        assert blocks or text.isascii()
        assert text.translate(SUITS).encode("cp437"), "a bare tty has these characters, and few besides"
        assert model.seen is not None
        for key in keys(model.seen, model.past, model.page):
            assert f" {key.key if key.key != 'enter' else 'Enter'}  {key.label}" in text, (name, key, text)
        for one in dialogs(name, model):
            text = shown(one, on)
            assert not re.search(r"\w\.\.\.", text), (name, text)
            assert one.dialog is not None
            asked = one.dialog.asks()
            for number, _, option in one.dialog.options(asked) if isinstance(asked, Choice) else ():
                assert f" {number}  {option}" in text, (name, option, text)


def test_the_words_to_call_are_those_of_the_table_display() -> None:
    page = (Path(tablectl.console.__file__).parents[1] / "display" / "page" / "words.js").read_text("utf-8")
    german = page[page.index("const DE") :]
    for english in ("No More Bets", "Player draws", "Banker draws", "Player wins", "Banker wins"):
        assert f'"{GERMAN.told(english)}"' in german, english
    for english in ("player", "banker", "tie"):
        assert f'"{GERMAN(english)}"' in german, english
    for part in ("LETZTES SPIEL", "VOR DEM MISCHEN"):
        assert part in german and part in GERMAN("LAST HAND BEFORE SHUFFLE")
    called = {
        "No More Bets": "Nichts geht mehr",
        "Player 4, Banker 7: Player draws": "Spieler 4, Bank 7: Spieler zieht",
        "Player 7, Banker 5: Player stands, Banker draws": "Spieler 7, Bank 5: Spieler bleibt, Bank zieht",
        "Player 9, Banker 7: no more cards": "Spieler 9, Bank 7: keine weitere Karte",
        "Player wins: Player 9, Banker 7": "Spieler gewinnt: Spieler 9, Bank 7",
        "Egalité, tie: Player 7, Banker 7": "Égalité, Unentschieden: Spieler 7, Bank 7",
        "Last Hand before shuffle": "Letztes Spiel vor dem Mischen",
        "The shoe reports: jam: 3": "Der Schuh meldet: jam: 3",
        "The table was put on hold. a player objects": "Der Tisch wurde angehalten. a player objects",
        "The number of burn cards is not right. 6 were due, 5 were burned.": (
            "Die Zahl der Brennkarten stimmt nicht. 6 waren fällig, 5 wurden gebrannt."
        ),
        "The shoe says that it is empty; 2 cards are not accounted for.": (
            "Der Schuh sagt, er sei leer; 2 Karten fehlen."
        ),
        "The number of burn cards is not right. 2 to 11 were due, 1 were burned.": (
            "Die Zahl der Brennkarten stimmt nicht. 2 bis 11 waren fällig, 1 wurden gebrannt."
        ),
    }
    for english, said_ in called.items():
        assert GERMAN.told(english) == said_
        assert ENGLISH.told(english) == english
    assert GERMAN.told(EVIL) == EVIL
    assert GERMAN.told("{x} {0} %s") == ENGLISH("{x} {0} %s") == "{x} {0} %s"


def test_why_the_daemon_does_not_answer() -> None:
    assert all(why in GERMAN.texts for why in _WAYS_OUT.values())
    assert GERMAN.told("no answer within 7 s") == "keine Antwort binnen 7 s"
    model = model_of(state("idle"), GERMAN).gone("no usable answer: [Errno 104] x", 0.0)
    assert "VERALTET: keine Antwort seit 1 s; keine brauchbare Antwort: [Errno 104] x" in shown(model, HERE)


def test_a_german_screen() -> None:
    text = shown(model_of(state("dealing", say=["No More Bets"]), GERMAN), Terminal(80, 24))
    for words in ("JETZT: SPIELER ZIEHT", " SPIELER ", " BANK ", "ansagen Nichts geht mehr", "Leser ok"):
        assert words in text
    tall = shown(model_of(state("dealing"), GERMAN), Terminal(80, 28))
    assert all(row.rstrip() in tall for row in big.draw("spieler zieht", blocks=True))
    poor = shown(
        model_of(state("shuffle due", dealer="Jürgen"), GERMAN.ascii()), Terminal(80, 24, blocks=False)
    )
    assert "Croupier Juergen" in poor and "naechs" not in poor and "Tisch schliessen" in poor
    hold = shown(model_of(held("card-early", "betting"), GERMAN), Terminal(80, 24))
    assert "HALT: Eine Karte wurde bei offenen Einsätzen gezogen." in hold
    amended = event("round.amended", shoe=12, round=33, after={"outcome": "tie", "player": {"pair": True}})
    model = model_of(state("idle"), GERMAN).heard_event(amended, 1.0)
    model = model.heard_event(result(34, "banker", ("8S", "6D"), ("9S", "TH"), 4, 9), 1.0)
    text = shown(model, Terminal(80, 24))
    assert "12/34   Bank          4:9" in text and "BERICHTIGT, Paar Spieler" in text


def test_large_letters_of_german_words() -> None:
    for phase in Phase:
        word = GERMAN(phase.value)
        assert big.drawable(word) and len(big.draw(word, blocks=True)[0]) <= 64
        assert big.drawable(GERMAN.ascii()(phase.value))
    for word in ("on hold", "burn {n}"):
        assert big.drawable(GERMAN(word).format(n=6))


def test_all_that_the_table_tells_has_a_german_text() -> None:
    told = [hold.means for hold in HOLDS.values()] + [way.partition(": ")[2] for way in WAYS.values()]
    told += list(REASONS.values())
    by_command = {"a card of an earlier round was read wrong"}
    for text in told:
        action = next((way for way, words in WAYS.items() if words.endswith(text)), "")
        if not WAYS.get(action, "release").startswith("release") and text not in GERMAN.texts:
            by_command.add(text)  # these are shown by what the pit boss's menu calls them
            continue
        assert text in GERMAN.texts, text
    assert len(by_command) < 9


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LANG": "de"}, "de"),
        ({"LANG": "de@euro"}, "de"),
        ({"LANG": "den_XX"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "de_AT.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "de_CH.UTF-8"}, "de"),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": ""}, "de"),
    ],
)
def test_the_language_of_the_environment(environment: Mapping[str, str], code: str) -> None:
    assert by_locale(environment) == code
