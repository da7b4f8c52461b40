"""The commands that need no daemon: rules, simulate, pin, run, check, gameserver, emulate; and every help."""

from __future__ import annotations

import base64
import inspect
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import termios
import time
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import click
import pytest

from tablectl.cli import game
from tablectl.cli.check.everything import check_all
from tablectl.cli.check.journal import history
from tablectl.cli.output import escape
from tablectl.cli.root import cli
from tablectl.config import load_config
from tablectl.gameserver.store import Held, Store
from tablectl.journal import still as journal_still
from tablectl.journal.reader import JournalReader
from tablectl.pins import PitBosses
from tests.api.test_app import Bench
from tests.cli.fake_daemon import tablectl
from tests.e2e.harness import BARE, free_port
from tests.typed import typed

LEAST = '[table]\nid = "T07"\ntest = true\n[scanner]\ndriver = "angel-eye"\ndevice = "/dev/null"\n'
SECRET = "whsec_" + base64.b64encode(bytes(32)).decode()


def commands(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    found: list[tuple[tuple[str, ...], click.Command]] = []
    for name, command in group.commands.items():
        found.append(((*path, name), command))
        if isinstance(command, click.Group):
            found += commands(command, (*path, name))
    return found


@pytest.mark.parametrize("path", [path for path, _ in commands(cli)], ids=" ".join)
def test_every_command_has_a_help_with_an_example(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    cli.main([*path, "--help"], prog_name="tablectl", standalone_mode=False)
    shown = capsys.readouterr().out
    words = [word for word in path if word != "order"]
    lines = examples(shown)
    assert lines, "its help has no example"
    for line in lines:
        parsed = typed(line)
        assert parsed[: len(words)] == words or words[0] == "burn" == parsed[0], line
    text = inspect.cleandoc(command_at(path).help or "").partition("Example:")[2]
    assert "\n\n" not in text.strip(), "the examples are the last paragraph"


def command_at(path: tuple[str, ...]) -> click.Command:
    return dict(commands(cli))[path]


def examples(shown: str) -> list[str]:
    """The lines of a help that show a command, a wrapped one is put together."""
    paragraph = shown.partition("Example:")[2].partition("\n\n")[0]
    joined = re.sub(r"\n *(?!tablectl )", " ", re.sub(r"\n +tablectl ", "\ntablectl ", paragraph))
    return [line.strip() for line in joined.splitlines() if line.strip()]


@pytest.mark.parametrize(
    "line",
    [
        "tablectl correct B2 8S",
        "tablectl correct B2 1S --state 1 --as bo --reason cards",
        "tablectl sign-in anna",
        "tablectl bets",
        "tablectl gameserver accept T07 nothex",
        "tablectl burn done many",
    ],
)
def test_an_example_that_would_be_refused_is_noticed(line: str) -> None:
    with pytest.raises(click.UsageError):
        typed(line)


def _does(command: click.Command) -> bool:
    """Whether it does something by itself, and does not only hold other commands."""
    return not isinstance(command, click.Group) or command.invoke_without_command


def test_there_are_the_commands_of_the_contract() -> None:
    there = {" ".join(path) for path, command in commands(cli) if _does(command)}
    wanted = """run, demo, simulate, rules, check, status, watch, recall, emulate, gameserver, pin, open,
        delivery status, delivery retry, delivery park, delivery start-at, conformance,
        close, sign-in, sign-out, bets open, bets close, cut-card, shoe new, shoe inspect, burn done, turn,
        confirm, rescan, hold, ack, release, correct, insert, move, enter, void, amend, burn-error,
        hand free, shoe end, shoe adopt, device swap"""
    assert there >= {name.strip() for name in wanted.split(",")}


def test_verify_prints_the_exact_counts_and_edges() -> None:
    done = tablectl("rules", "--verify")
    assert (done.returncode, done.stderr) == (0, "")
    for text in (
        "4,998,398,275,503,360",
        "Banker 2,292,252,566,437,888 · Player 2,230,518,282,592,256 · Tie 475,627,426,473,216",
        "Banker wins with 6: 269,232,304,455,680",
        "four cards 1,893,735,611,458,560 · five 1,516,734,808,780,800 · six 1,587,927,855,264,000",
        "1.057906 %", "1.235081 %", "14.359629 %", "1.458104 %", "10.361446 %",
    ):  # fmt: skip
        assert text in done.stdout


def test_verify_fails_when_one_count_differs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tablectl import rules

    monkeypatch.setattr(rules, "EXPECTED_8_DECKS", rules.EXPECTED_8_DECKS | {"tie": 1})
    assert game._verify(False) == 1
    shown = capsys.readouterr()
    assert "WRONG: tie is 475,627,426,473,216, expected 1" in shown.err
    assert "Every count" not in shown.out


def test_rules_show_the_profile_and_the_drawing_table() -> None:
    done = tablectl("rules", "--rules", "commission-free")
    assert (
        "banker_six = 0.5" in done.stdout and "Banker 6                S S S S S S D D S S  S" in done.stdout
    )
    assert json.loads(tablectl("rules", "--json").stdout)["rules"]["payouts"]["tie"] == "8"
    assert "no limits on player, banker, tie: any stake is taken" in done.stdout
    assert "no limits" not in tablectl("rules").stdout
    done = tablectl("rules", "--rules", "nope")
    assert done.returncode == 1 and "atlantic-city" in done.stderr


def test_simulate_gives_its_figures_by_name() -> None:
    report = json.loads(tablectl("simulate", "--shoes", "3", "--seed", "5", "--json").stdout)
    assert 60 < report["rounds_per_shoe"] < 85 and report["cards_per_second"] > 0
    assert abs(sum(report["outcomes"].values()) - 1) < 1e-5 and set(report["cards_per_hand"]) == {
        "4",
        "5",
        "6",
    }
    again = json.loads(tablectl("simulate", "--shoes", "3", "--seed", "5", "--json").stdout)
    assert again["outcomes"] == report["outcomes"]
    assert "rounds a shoe: mean" in tablectl("simulate", "--shoes", "1").stdout


def test_pin_makes_a_line_that_verifies() -> None:
    done = tablectl("pin", "bo", "--pin-stdin", stdin="482913\n")
    assert done.returncode == 0 and done.stderr == ""
    assert PitBosses.parse(done.stdout, "x").verify("bo", "482913")
    assert tablectl("pin", "bo", stdin="482913\n").stdout.startswith("bo:scrypt$16384$8$1$")
    for name, pin, code in (("b:o", "482913\n", 2), ("bo", "12\n", 1), ("bo", "", 1)):
        done = tablectl("pin", name, "--pin-stdin", stdin=pin)
        assert (done.returncode, done.stdout) == (code, "") and "482913" not in done.stderr


def test_run_is_exit_78_with_every_fault_of_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "T07.toml"
    path.write_text('[table]\nid = "T 07"\nx = 1\n')
    done = tablectl("run", "--config", str(path))
    assert done.returncode == 78
    assert all(f"{path}: {key}: " in done.stderr for key in ("table.id", "table.x", "scanner"))
    assert tablectl("run", "--config", str(tmp_path / "none.toml")).returncode == 78


def test_check_says_what_is_missing_by_key_path(tmp_path: Path) -> None:
    path = tmp_path / "T07.toml"
    path.write_text(LEAST + 'bbc = "strict"\n[beeper]\ndriver = "gong"\n[journal]\npath = "not/there.db"\n')
    done = tablectl("check", "--config", str(path))
    assert done.returncode == 1 and "could not play" in done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith("FAIL  driver:") and "scanner.bbc" in line for line in lines)
    assert any(line.startswith("FAIL  beeper:") and "gong" in line for line in lines)
    assert any(line.startswith("FAIL  journal:") for line in lines)
    assert any(line.startswith("FAIL  credentials:") and "pit-bosses" in line for line in lines)
    path.write_text(LEAST.replace("T07", "T 07"))
    done = tablectl("check", "--config-only", "--config", str(path))
    assert done.returncode == 1 and f"FAIL  configuration: {path}: table.id" in done.stdout


def test_check_is_content_with_a_table_that_could_play(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "pit-bosses").write_text(tablectl("pin", "bo", "--pin-stdin", stdin="482913\n").stdout)
    path = tmp_path / "T07.toml"
    master, slave = os.openpty()
    try:
        least = LEAST.replace("/dev/null", os.ttyname(slave))
        path.write_text(least + '[journal]\npath = "T07.db"\n[secrets]\nfolder = "s"\n')
        done = tablectl("check", "--config", str(path), "--json")
    finally:
        os.close(master)
        os.close(slave)
    report = json.loads(done.stdout)
    assert [f for f in report["findings"] if f["grade"] == "fail"] == [] and done.returncode == 0
    assert not (tmp_path / "T07.db").exists()


@pytest.mark.parametrize("device", ["/dev/null", "/etc/passwd", "/tmp"])
def test_check_knows_what_is_no_serial_port(tmp_path: Path, device: str) -> None:
    path = tmp_path / "T07.toml"
    path.write_text(LEAST.replace("/dev/null", device))
    done = tablectl("check", "--config", str(path))
    assert f"FAIL  device: {device} is no serial port" in done.stdout and done.returncode == 1


def test_check_tells_a_device_and_a_server_that_are_not_there(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    (tmp_path / "push-hmac").write_text(SECRET)
    path = tmp_path / "T07.toml"
    server = f'[server]\nurl = "http://127.0.0.1:{port}/t"\n'
    path.write_text(
        LEAST.replace("/dev/null", f"tcp://127.0.0.1:{port}") + server + '[secrets]\nfolder = "."\n'
    )
    done = tablectl("check", "--config", str(path))
    assert f"FAIL  device: tcp://127.0.0.1:{port}" in done.stdout
    assert f"FAIL  game server: http://127.0.0.1:{port}/t" in done.stdout
    assert SECRET not in done.stdout


@pytest.mark.parametrize("answers", [True, False])
def test_while_a_daemon_runs_no_part_of_check_opens_its_journal(
    answers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon is asked instead; one that does not answer is still the only one to open it."""
    opened: list[Path] = []
    real = journal_still.reading

    def open_it(path: Path) -> AbstractContextManager[JournalReader]:
        opened.append(path)
        return real(path)

    with Bench("bee-tek", overrides=BARE) as rig:
        monkeypatch.setattr(journal_still, "reading", open_it)
        config, epoch = rig.folder / "check.toml", rig.runtime.journal.epoch
        mirror = f'[journal]\nmirror = "{rig.folder}/mirror.db"\n'
        config.write_text(
            f'[server]\nurl = "http://127.0.0.1:{free_port()}/x"\n'
            + rig.config.read_text().replace("[journal]\n", mirror)
        )
        shutil.copy(rig.journal_path, rig.folder / "mirror.db")
        if not answers:
            rig.socket_path.unlink()
        check_all(lambda: config, config_only=False)
        assert opened == []
        assert history(load_config(config)) == (epoch if answers else None)
        assert rig.runtime.stop()
        assert history(load_config(config)) == epoch, "of a stopped one the file tells"
        assert opened == [rig.journal_path]


def test_a_pseudo_terminal_needs_a_test_table(tmp_path: Path) -> None:
    master, slave = os.openpty()
    try:
        (tmp_path / "shoe").symlink_to(os.ttyname(slave))
        path = tmp_path / "T07.toml"
        path.write_text(LEAST.replace("/dev/null", str(tmp_path / "shoe")).replace("test = true", ""))
        done = tablectl("check", "--config", str(path))
        assert "FAIL  device:" in done.stdout and "table.test" in done.stdout
    finally:
        os.close(master)
        os.close(slave)


def test_gameserver_wants_a_secret_that_is_one(tmp_path: Path) -> None:
    assert tablectl("gameserver").returncode == 2
    bad = tmp_path / "secret"
    bad.write_text("whsec_short")
    done = tablectl("gameserver", "--secret-file", str(bad))
    assert done.returncode == 1 and "short" not in done.stderr.replace(str(bad), "")
    assert "cannot be read" in tablectl("gameserver", "--secret-file", str(tmp_path / "no")).stderr


def test_gameserver_accept_is_for_histories_that_came(tmp_path: Path) -> None:
    db = tmp_path / "g.db"
    none = tablectl("gameserver", "accept", "T07", "bbbbbb", "--db", str(db))
    assert none.returncode == 1 and "no game server's database" in none.stderr
    store = Store(db)
    store.pin("T07", "aaaaaa", 12)
    store.refuse_epoch("T07", "bbbbbb")
    never = tablectl("gameserver", "accept", "T07", "cccccc", "--db", str(db))
    assert (never.returncode, "known are bbbbbb" in never.stderr) == (1, True)
    assert tablectl("gameserver", "accept", "T07", "x", "--db", str(db)).returncode == 2
    done = tablectl("gameserver", "accept", "T07", "bbbbbb", "--db", str(db))
    assert done.stdout == "table T07 is at history bbbbbb from now on; event 1 comes next\n"
    assert store.held("T07") == Held("T07", "bbbbbb", 1)
    store.close()


def test_players_and_books(tmp_path: Path) -> None:
    db = str(tmp_path / "g.db")
    assert "no game server's database" in tablectl("gameserver", "books", "--db", db).stderr
    made = tablectl("gameserver", "--db", db, "player", "anna", "--deposit", "12.50", "--currency", "EUR")
    assert made.stdout.startswith("player anna has 12.50 EUR; token: ") and made.returncode == 0
    assert "account in EUR" in tablectl("gameserver", "player", "anna", "--db", db).stderr
    assert "no amount" in tablectl("gameserver", "player", "bob", "--deposit", "1e9", "--db", db).stderr
    told = tablectl("gameserver", "books", "--db", db)
    assert told.returncode == 0 and told.stdout.endswith("player/anna\nthe books agree\n")
    store = Store(tmp_path / "g.db")
    nothing = tablectl("gameserver", "give-back", "T07", "1/1", "--db", db, "--history", "4f2a91")
    assert nothing.returncode == 1 and "nothing lies on round 1/1" in nothing.stderr
    store.sql("UPDATE accounts SET balance = balance + 1 WHERE name = 'cashier'")
    store.close()
    bad = tablectl("gameserver", "books", "--db", db, "--json")
    assert bad.returncode == 1 and json.loads(bad.stdout)["ok"] is False and "sum to 1" in bad.stderr


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """`tablectl gameserver` as a person starts it, on a free port; the lines it printed at its start."""
    (tmp_path / "push-hmac").write_text(SECRET)
    words = ["--db", str(tmp_path / "g.db"), "--secret-file", str(tmp_path / "push-hmac"), "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tablectl.cli", "gameserver", *words, *getattr(request, "param", ())],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield [process.stdout.readline().rstrip("\n") for _ in range(3)]
    process.terminate()
    process.communicate(timeout=10)
    assert process.returncode == 0


def checked(tmp_path: Path, url: str) -> list[str]:
    """What `tablectl check` says of the game server at ``url``."""
    path = tmp_path / "T07.toml"
    rest = '[secrets]\nfolder = "."\n[journal]\npath = "T07.db"\n'
    path.write_text(f'{LEAST}[server]\nurl = "{url}"\n{rest}')
    lines = tablectl("check", "--config", str(path)).stdout.splitlines()
    return [line for line in lines if "game server:" in line]


@pytest.mark.parametrize(
    ("server", "test"), [((), "refused"), (("--accept-test",), "accepted")], indirect=["server"]
)
def test_gameserver_says_what_a_controller_needs_and_takes_it_there(
    server: list[str], test: str, tmp_path: Path
) -> None:
    address, configure, tests = server
    base = address.removeprefix("game server at ")
    assert base.startswith("http://127.0.0.1:") and not base.endswith(":0")
    url = f"{base}/v1/tables/{{table}}/events"
    assert configure == f'a controller\'s configuration: [server] url = "{url}"'
    assert tests.startswith(f"events of test tables: {test}")
    good, unknown = checked(tmp_path, url)
    assert good.startswith("ok    game server: ") and good.endswith("answers a signed empty request")
    assert unknown.startswith("warn  game server: ") and "test table" in unknown
    assert "/v1/tables/{table}/events" in tablectl("gameserver", "--help").stdout


def test_check_asks_for_the_journals_own_history_and_gives_the_servers_words(
    server: list[str], tmp_path: Path
) -> None:
    from tablectl.delivery.signing import parse_secrets, sign
    from tablectl.journal import Journal

    base = server[0].removeprefix("game server at ")
    assert checked(tmp_path, base + "/elsewhere/{table}") == [
        f"FAIL  game server: {base}/elsewhere/T07: HTTP 404: it gives no reason"
    ]
    journal = Journal.open(tmp_path / "T07.db", "T07")
    journal.close()
    url = base + "/v1/tables/T07/events"
    body = json.dumps(
        {
            "specversion": "1.0", "id": "T07-0a0b0c-000000000001", "source": "/tables/T07",
            "type": "tablectl.table.closed.v1", "time": "2026-11-30T02:12:29.184984Z",
            "sequence": "000000000001", "epoch": "0a0b0c", "datacontenttype": "application/json", "data": {},
        }
    ).encode()  # fmt: skip
    headers = sign(parse_secrets((SECRET,)), "T07-0a0b0c-000000000001", int(time.time()), body)
    headers["Content-Type"] = "application/cloudevents+json"
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as response:
        assert response.status == 200
    (line,) = checked(tmp_path, url)
    assert line.startswith(f"FAIL  game server: {url}: HTTP 403: table T07 is pinned to history 0a0b0c")
    assert journal.epoch in line


@pytest.mark.parametrize(("format_", "logged"), [("console", 0), ("json", 1)])
def test_a_refusal_to_start_is_one_sentence_and_for_machines_a_line_of_log(
    tmp_path: Path, format_: str, logged: int
) -> None:
    path = tmp_path / "T07.toml"
    (tmp_path / "T07.db").write_text("no journal")
    rest = f'[journal]\npath = "T07.db"\n[api]\nsocket = "s"\n[log]\nformat = "{format_}"\n'
    path.write_text(LEAST + rest)
    done = tablectl("run", "--config", str(path))
    lines = done.stderr.splitlines()
    assert done.returncode == 78 and len(lines) == 1 + logged
    assert lines[-1].startswith("tablectl: ") and "T07.db: not a journal" in lines[-1]


def test_emulate_speaks_on_a_pseudo_terminal_what_it_is_told(tmp_path: Path) -> None:
    link = tmp_path / "shoe"
    process = subprocess.Popen(
        [sys.executable, "-m", "tablectl.cli", "emulate", "bee-tek", "--link", str(link), "--speed", "100"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    assert process.stdout.readline() == f"device {link}\n"
    port = os.open(link, os.O_RDWR | os.O_NOCTTY)
    raw = termios.tcgetattr(port)
    assert not raw[3] & termios.ECHO
    process.stdin.write("# a comment\nload 8S cut TH\ndraw\n")
    process.stdin.flush()
    assert process.stdout.readline() == "2 cards\n"
    assert process.stdout.readline() == "8S\n"
    assert os.read(port, 100)
    os.close(port)
    out, errors = process.communicate(
        "draw\ndraw\nburn\nnonsense\x1b\nload 8X\nwait nan\nquit\ndraw\n", timeout=20
    )
    assert out.splitlines() == ["cutting card", "TH", "the shoe is empty"]
    assert "nonsense\\x1b: is no command" in errors and "8X" in errors and "\x1b" not in errors
    assert not link.is_symlink()


def test_emulate_says_what_else_a_configuration_needs(tmp_path: Path) -> None:
    """What it prints, put into a configuration, is one that the check is content with."""
    script = tmp_path / "script"
    for protocol, setting in (("barcode", 'cards = "suit-rank"'), ("rfid", "again_minutes = 10")):
        script.write_text("load 8S cut TH\ndraw\ndraw\n")
        done = tablectl("emulate", protocol, "--link", str(tmp_path / "shoe"), "--script", str(script))
        assert (done.returncode, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        said = [line.removeprefix("setting ") for line in lines if line.startswith("setting ")]
        assert setting in said
        assert lines[0] == f"device {tmp_path / 'shoe'}" and lines[-3:] == ["2 cards", "8S", "cutting card"]
        path = tmp_path / "T07.toml"
        path.write_text(LEAST.replace("angel-eye", protocol) + "\n".join(said) + "\n")
        done = tablectl("check", "--config-only", "--config", str(path))
        assert f"ok    driver: {protocol}" in done.stdout


def test_emulate_plays_a_script_and_fails_on_a_line_it_does_not_know(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("load 7\ndraw\nhang-up\nplug-in\nrestart\nstandby\nresult tie\nwait 0\n")
    done = tablectl("emulate", "angel-eye", "--speed", "1000", "--script", str(script))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1] == "416 cards"
    script.write_text("drwa\n")
    assert tablectl("emulate", "angel-eye", "--script", str(script)).returncode == 1
    for words in (["nope"], ["angel-eye", "--fault", "nope"], ["angel-eye", "--script", "/none"]):
        done = tablectl("emulate", *words)
        assert done.returncode == 1 and done.stderr and "Traceback" not in done.stderr
    assert tablectl("emulate", "angel-eye", "--link", "x", "--listen", "1").returncode == 2


def test_escape() -> None:
    assert escape("a\x1b\n\x9b\u202e\ud800é·") == "a\\x1b\\x0a\\x9b\\u202e\\ud800é·"


def test_the_version() -> None:
    assert tablectl("--version").stdout.startswith("tablectl ")
