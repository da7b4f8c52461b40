"""What the daemon answers to a command, in German: every text that the table's code can answer with."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import pytest

import tablectl.gate
import tablectl.table
from tablectl.console.german_answers import DONE, REFUSED
from tablectl.console.language import ENGLISH, LANGUAGES
from tablectl.console.line import _told
from tablectl.table.transitions import REFUSALS

GERMAN = LANGUAGES["de"]
HOLE = "\0"
TOLD_BY = {"_again", "_moved", "_so", "_half_scanned", "problem", "round_refusal", "betting_refusal"}
"""Functions that give words of an answer."""
_ENGLISH = re.compile(r"\b(the|is|card|cards|stands|and|to|of|are|not|first|then|again|already|it)\b")
"""No German answer has these, but for what is typed and for what is put in."""
_TYPED = re.compile(
    r"(erst|weiter|dann|danach|oder|Pitboss(en)?|jetzt|eingeben|zählen|frei|kann|es|ihn): [^;]*|'other'"
)


class Texts(ast.NodeVisitor):
    """All that one module can answer, with :data:`HOLE` for what is put in."""

    def __init__(self, tree: ast.Module) -> None:
        self.found: set[str] = set()
        self.constants = self.assigned([one for one in tree.body if isinstance(one, ast.Assign)])
        self.locals: dict[str, list[ast.expr]] = {}
        self.function = ""
        self.visit(tree)

    @staticmethod
    def assigned(body: list[ast.stmt]) -> dict[str, list[ast.expr]]:
        made: dict[str, list[ast.expr]] = {}
        every = (inner for one in body for inner in ast.walk(one))
        for node in (one for one in every if isinstance(one, ast.Assign)):
            for target in node.targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                for name, value in zip(names, values, strict=False):
                    if isinstance(name, ast.Name):
                        made.setdefault(name.id, []).append(value)
        return made

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.function, self.locals = node.name, self.assigned(node.body)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in ("Refused", "NotLetIn") and node.args:
            self.found |= set(self.texts(node.args[0]))
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(one, ast.Attribute) and one.attr == "answer" for one in node.targets):
            self.found |= set(self.texts(node.value))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Attribute) and node.target.attr == "answer":
            self.found |= set(self.texts(node.value))

    def visit_Return(self, node: ast.Return) -> None:
        if self.function in TOLD_BY and node.value is not None:
            self.found |= set(self.texts(node.value))
        self.generic_visit(node)

    def texts(self, node: ast.expr, depth: int = 0) -> list[str]:
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.Constant(value=None):
                return [""]
            case ast.JoinedStr(values=values):
                return ["".join(parts) for parts in itertools.product(*map(self.texts, values))]
            case ast.FormattedValue(value=value):
                return self.texts(value, depth)
            case ast.IfExp(body=body, orelse=orelse):
                return [*self.texts(body), *self.texts(orelse)]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                pairs = itertools.product(self.texts(left), self.texts(right))
                return ["".join(pair) for pair in pairs]
            case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mult()):
                return ["", text]
            case ast.Call(func=ast.Attribute(attr="join"), args=[ast.GeneratorExp(elt=each)]):
                return self.texts(each)
            case ast.Call(func=ast.Name(id=name)) if name in TOLD_BY:
                return [""]
            case ast.Name(id=name) if depth < 3 and name in self.locals | self.constants:
                values = self.locals.get(name) or self.constants[name]
                made = [text for value in values for text in self.texts(value, depth + 1)]
                return made if any(text.strip(HOLE) for text in made) else [HOLE]
            case _:
                return [HOLE]


def templates() -> set[str]:
    folder = Path(str(tablectl.table.__file__)).parent
    found = {f"phase {HOLE}: {text}" for text in REFUSALS.values()}
    for file in (*sorted(folder.glob("*.py")), Path(str(tablectl.gate.__file__))):
        found |= Texts(ast.parse(file.read_text(encoding="utf-8"))).found
    parts = {part for text in found for part in text.split("; ")}
    whole = {part for part in parts if re.search("[a-z]", part) and not part.startswith(", ")}
    return whole - {f"{HOLE} refused: {HOLE}"}


def said(template: str) -> tuple[str, list[str]]:
    """A part with something in each of its places."""
    holes = [f"X{n}" for n in range(template.count(HOLE))]
    pieces = iter([*holes, ""])
    return "".join(piece + next(pieces) for piece in template.split(HOLE)), holes


def test_every_answer_is_known_in_german_and_says_what_was_put_in() -> None:
    all_of_them = templates()
    assert len(all_of_them) > 150
    unknown = sorted(part for part in all_of_them if GERMAN._answer(said(part)[0]) is None)
    assert unknown == []
    for part in all_of_them:
        text, holes = said(part)
        german = GERMAN.answered(text)
        assert all(hole in german for hole in holes), (text, german)
        assert _ENGLISH.search(_TYPED.sub("", german)) is None, german


def test_none_is_there_that_is_never_answered() -> None:
    answered = [said(part)[0] for part in templates()]
    patterns = {key: re.compile("(.+?)".join(map(re.escape, key.split("{}")))) for key in (*DONE, *REFUSED)}
    assert {key for key, one in patterns.items() if not any(map(one.fullmatch, answered))} == OTHERWISE


OTHERWISE = {
    "the table is on hold. {}", "ways out: {}", "there is none at this moment", "first: hold",
    "the table is not on hold", "{} burned, {} still due",
}  # fmt: skip
"""What is put together elsewhere."""


@pytest.mark.parametrize(
    ("answer", "german"),
    [
        ("betting closed, round 1/1", "Einsätze geschlossen, Runde 1/1"),
        ("released: drop; still on hold: integrity", "freigegeben: drop; noch angehalten: integrity"),
        (
            "bets open refused: phase burning: burn cards are due; burn them first",
            "bets open abgelehnt: brennen: Brennkarten sind fällig; die zuerst brennen",
        ),
        (
            "P3 entered; next: Player 4, Banker 7: Player draws",
            "P3 eingegeben; weiter: Spieler 4, Bank 7: Spieler zieht",
        ),
        (
            "insert refused: 8S: a card of this round was burned in round 1/3; if it is that card, again"
            " with --same; if it is another one, with --another",
            "insert abgelehnt: 8S: eine Karte dieser Runde wurde gebrannt in Runde 1/3; ist es diese Karte,"
            " noch einmal mit --same; ist es eine andere, mit --another",
        ),
        (
            "void refused: the table has changed since (state 3, now 5; on hold: called); look again",
            "void abgelehnt: der Tisch hat sich seither geändert (Stand 3, jetzt 5; angehalten: called);"
            " noch einmal hinsehen",
        ),
        ("something new; look again", "something new; noch einmal hinsehen"),
        ("", ""),
    ],
)
def test_an_answer_in_german(answer: str, german: str) -> None:
    assert GERMAN.answered(answer) == german
    assert ENGLISH.answered(answer) == answer


def test_a_refusal_is_told_once() -> None:
    body = {"accepted": False, "answer": "void refused: look again", "kept": False}
    assert _told("void", 409, body, GERMAN).text == "void abgelehnt: noch einmal hinsehen"
    assert (
        _told("void", 403, {"error": "wrong name or PIN"}, GERMAN).text == "abgelehnt: Name oder PIN falsch"
    )
