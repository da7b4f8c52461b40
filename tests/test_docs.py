"""The documents tell the truth: holds, alerts, commands and links in them are the program's own."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tablectl.cli.root import cli
from tablectl.process.running import _STOPPING
from tablectl.table import HOLDS, WAYS
from tablectl.table.inputs import COMMANDS, SUPERVISED
from tablectl.table.reasons import REASONS, problem

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
OPERATOR = (ROOT / "docs" / "operator.md").read_text()
SHIPPED = sorted(
    [*(ROOT / "config").rglob("*.toml"), *(path for path in (ROOT / "systemd").iterdir() if path.is_file())]
)
INTEGRATION = (ROOT / "docs" / "integration.md").read_text()


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


# --- holds and alerts -----------------------------------------------------------------------------------


def sections() -> dict[str, str]:
    """The text of each ``### `code` `` section of the operator's guide."""
    parts = re.split(r"^### `([a-z0-9-]+)`$|^## .*$", OPERATOR, flags=re.MULTILINE)
    return {parts[i]: parts[i + 1] for i in range(1, len(parts), 2) if parts[i]}


def test_every_hold_and_no_other_has_its_section() -> None:
    assert set(sections()) == set(HOLDS)


@pytest.mark.parametrize("code", HOLDS)
def test_a_hold_is_told_in_the_words_of_the_screen_with_all_its_ways_out(code: str) -> None:
    text = " ".join(sections()[code].split())
    assert HOLDS[code].means.split(".")[0] in text
    for part in ("*You see:*", "*What happened:*", "*Do:*"):
        assert part in text
    for way in HOLDS[code].ways:
        assert f"`{typed(way)}`" in text, f"{way} is not told"


def typed(way: str) -> str:
    """How a way out is typed, without what differs each time: ``release burn``, ``correct``."""
    return " ".join(re.findall(r"^[a-z0-9 -]+(?=:| [A-Z])", WAYS[way])[0].split())


@pytest.mark.parametrize("code", HOLDS)
def test_no_way_is_told_under_a_hold_that_does_not_have_it(code: str) -> None:
    do = sections()[code].partition("*Do:*")[2].partition("```")[0]
    kept = {"accept", "burn"}  # offered under any hold with cards kept
    assert set(re.findall(r"`release ([a-z0-9-]+)`", do)) <= {*HOLDS[code].ways, *kept}


def test_every_way_out_is_in_the_table_of_them() -> None:
    for way in WAYS:
        assert f"\n| `{typed(way)}` |" in OPERATOR


def alerts_raised() -> set[str]:
    """Every constant name that the program gives to an alert."""
    found = set()
    for path in (ROOT / "tablectl").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call):
                continue
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            if name in ("alert", "alarm", "_alarm", "Trouble", "JournalTrouble"):
                found |= {
                    argument.value
                    for argument in call.args
                    if isinstance(argument, ast.Constant)
                    and isinstance(argument.value, str)
                    and re.fullmatch("[a-z]+(-[a-z]+)*", argument.value)
                }
    return found


def test_every_alert_and_no_other_has_its_line() -> None:
    raised = alerts_raised()
    assert {"unshuffled", "disk-slow", "delivery-halted", "scanner-gap"} <= raised
    table = OPERATOR.partition("\n## Alerts\n")[2]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, flags=re.MULTILINE)) == raised


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table after a text of the operator's guide."""
    found = re.search(r"((?:^\|.*\n)+)", OPERATOR.partition(heading)[2], flags=re.MULTILINE)
    assert found, heading
    return [[cell.strip() for cell in row.strip("|\n").split(" | ")] for row in found[1].splitlines()[2:]]


def test_every_reason_is_told_and_in_the_words_of_the_program() -> None:
    assert {row[0].strip("`"): row[1] for row in rows("**Reasons.**")} == REASONS


def test_who_may_do_what_is_what_the_program_allows() -> None:
    said = {row[0]: set(re.findall(r"`([^`]+)`", row[1])) for row in rows("## Who may do what")}
    undone = {kind: kind.value.replace(" undo", " --undo") for kind in COMMANDS}
    assert said["pit boss"] == {undone[kind] for kind in SUPERVISED}
    assert said["dealer"] == {undone[kind] for kind in COMMANDS - SUPERVISED}


def test_every_reason_shown_in_the_guide_is_accepted() -> None:
    shown = re.findall(r'--reason "([^"]+)"', OPERATOR)
    assert len(shown) > 40
    assert not [reason for reason in shown if problem(reason)]


def test_every_anchor_of_the_guide_is_a_heading() -> None:
    headings = {
        re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", OPERATOR, flags=re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", OPERATOR)) <= headings


# --- commands ---------------------------------------------------------------------------------------------


def commands_in(text: str) -> Iterator[str]:
    """Every ``tablectl …`` in code: inline, or a line of a block."""
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    inline = re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    for code in [*(line for block in blocks for line in block.splitlines()), *inline]:
        match = re.match(r"(?:[A-Z_]+=\S+ )?(tablectl(?: .*)?)$", " ".join(code.split()))
        if match and match[1] != "tablectl":
            yield match[1]


def commands_in_comments(text: str) -> Iterator[str]:
    """Every ``tablectl …`` of a configuration file or unit: in a comment, or as what is run."""
    for line in text.splitlines():
        comment = line.partition("#")[2]
        yield from re.findall(r"`(tablectl [^`]+)`", comment)
        if whole := re.fullmatch(r"\s+(tablectl .+)", comment):
            yield whole[1]
        if run := re.match(r"Exec\w+=\S*/(tablectl .+)", line):
            yield run[1]


def resolve(line: str) -> None:
    """Walk down to the command that ``line`` names and see that it has the options. AssertionError if not."""
    words = [word for word in shlex.split(line, comments=True)[1:] if word != "…"]
    shell = [at for at, word in enumerate(words) if re.fullmatch(r"[12]?>>?|&", word)]
    words = words[: shell[0]] if shell else words  # where its output goes is the shell's affair
    command: click.Command = cli
    context = click.Context(cli)
    while words and words[0] != "--help":
        if words[0].startswith("--"):
            option = next((p for p in command.params if words[0] in p.opts), None)
            assert option is not None, f"{line}: {command.name} has no {words[0]}"
            takes = isinstance(option, click.Option) and not option.is_flag
            words = words[2:] if takes else words[1:]
        elif isinstance(command, click.Group):
            _, found, words = command.resolve_command(context, words)
            assert found is not None, f"{line}: no such command"
            command = found
        else:
            assert any(isinstance(p, click.Argument) for p in command.params), f"{line}: takes no argument"
            words = words[1:]


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_commands_exist(document: Path) -> None:
    for line in commands_in(document.read_text()):
        try:
            resolve(line)
        except click.UsageError as error:
            pytest.fail(f"{line}: {error.format_message()}")


@pytest.mark.parametrize("path", SHIPPED, ids=name_of)
def test_commands_in_shipped_files_exist(path: Path) -> None:
    for line in commands_in_comments(path.read_text()):
        resolve(line)


def test_commands_in_shipped_files_are_found_at_all() -> None:
    found = {line for path in SHIPPED for line in commands_in_comments(path.read_text())}
    assert {
        "tablectl run",
        "tablectl check --config /etc/tablectl/<table>.toml",
        "tablectl pin NAME",
    } <= found


def test_commands_in_the_programs_own_words_exist() -> None:
    """Messages and docstrings: somebody in trouble types what they say."""
    found = 0
    for path in [*(ROOT / "tablectl").rglob("*.py"), *(ROOT / "drivers").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for line in re.findall(r"(?<!`)`{1,2}(tablectl [^`{}<>]+)`", node.value):
                    found += 1
                    try:
                        resolve(line)
                    except click.UsageError as error:
                        pytest.fail(f"{name_of(path)}: {line}: {error.format_message()}")
    assert found > 10


def test_commands_are_found_at_all() -> None:
    lines = list(commands_in((ROOT / "README.md").read_text()))
    assert len(lines) > 25
    assert "tablectl check --config /etc/tablectl/T07.toml" in lines


@pytest.mark.parametrize(
    "line", ["tablectl dance", "tablectl bets dance", "tablectl open --dance", "tablectl open 3"]
)
def test_a_command_that_does_not_exist_is_noticed(line: str) -> None:
    with pytest.raises((click.UsageError, AssertionError)):
        resolve(line)


def test_make_targets_exist() -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    named = {
        word for path in DOCUMENTS for word in re.findall(r"\bmake ([a-z]+)\b(?=[`\s])", path.read_text())
    }
    assert {"demo", "test", "soak", "bench"} <= named & set(targets)


def test_the_technicians_guide_has_every_verdict_and_shows_what_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tablectl.cli import main

    guide = (ROOT / "docs" / "technician.md").read_text()
    source = (ROOT / "tablectl" / "technician" / "verdict.py").read_text()
    codes = set(re.findall(r'Verdict\("([a-z-]+)"', source))
    assert set(re.findall(r"^\| `([a-z-]+)` \|", guide, flags=re.MULTILINE)) == codes
    assert main(["replay", str(ROOT / "tests" / "data" / "recordings" / "angel-eye.capture")]) == 1
    printed = capsys.readouterr().out.splitlines()
    shown = re.search(r"^```\n(5\.039.*?)^```", guide, flags=re.MULTILINE | re.DOTALL)
    assert shown and set(shown[1].splitlines()) <= set(printed)


# --- events and links ---------------------------------------------------------------------------------------


def test_the_integrators_guide_names_every_public_event() -> None:
    from tablectl.events import PUBLIC_TYPES

    missing = [name for name in PUBLIC_TYPES if f"`{name}`" not in INTEGRATION]
    assert not missing


def test_the_events_said_not_to_be_sent_yet_are_the_ones_nobody_makes() -> None:
    from tablectl.events import TYPES

    made = set()
    for path in (ROOT / "tablectl").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call):
                made.add(getattr(call.func, "attr", getattr(call.func, "id", "")))
    sentence = " ".join(INTEGRATION.split()).partition("does not send ")[2].partition(" yet")[0]
    said = set(re.findall(r"`([a-z_.]+)`", sentence))
    assert said == {name for name, kind in TYPES.items() if kind.PUBLIC and kind.__name__ not in made}


def test_the_events_shown_are_ones_the_reference_server_takes() -> None:
    from tablectl.gameserver.messages import read

    shown = re.findall(r"^```json\n(.*?)\n```", INTEGRATION, flags=re.MULTILINE | re.DOTALL)
    assert len(shown) >= 4
    for text in shown:
        (message,) = read(text.encode(), batch=False)
        assert message.type.startswith("tablectl.")


def test_the_reference_servers_address_is_told_as_it_is() -> None:
    from tablectl.gameserver.server import INTAKE_PATH as path

    shown = [ROOT / "README.md", ROOT / "docs" / "integration.md", ROOT / "config" / "tablectl.toml"]
    for document in shown:
        text = document.read_text()
        assert path in text, document
        assert not re.search(r"(?<!/v1)/tables/\{table\}/events", text), document


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_no_relative_link_is_dead(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text()):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{name_of(document)}: {target}"


def test_the_files_of_the_cards_journey_exist() -> None:
    readme = (ROOT / "README.md").read_text()
    paths = re.findall(r"`((?:tablectl|drivers|config|tests|docs|systemd)/[^`\s]*)`", readme)
    assert len(paths) > 15
    for path in paths:
        assert list(ROOT.glob(path.rstrip("/"))), path


THREADS = {"Thread": "name", "ThreadPoolExecutor": "thread_name_prefix"}


def test_every_thread_of_a_table_is_told_and_the_order_in_which_they_stop() -> None:
    told = (ROOT / "docs" / "threads.md").read_text()
    rows = set(re.findall(r"^\| `?([a-z-]+)", told, flags=re.MULTILINE))
    package = ROOT / "tablectl"
    elsewhere = {package / one for one in ("demo", "cli", "console", "gameserver", "conformance")}
    for path in sorted(package.rglob("*.py")):
        if elsewhere & {*path.parents}:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or ast.unparse(node.func).split(".")[-1] not in THREADS:
                continue
            name = next((one.value for one in node.keywords if one.arg in THREADS.values()), None)
            assert name is not None, f"{path.name}:{node.lineno}: a thread without a name"
            (first,) = re.findall(r"^f?['\"]([a-z-]+)", ast.unparse(name))
            assert first in rows, f"{path.name}:{node.lineno}: docs/threads.md does not tell of {first!r}"
    order = ", ".join("journal" if name == "writer" else name for name, _ in _STOPPING)
    assert f"Stopping follows the data: {order};" in told
