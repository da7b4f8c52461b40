"""The configuration file: defaults, one line for each fault, secrets from their folder, derived paths."""

from __future__ import annotations

import ast
import base64
import dataclasses
import json
import os
import re
import threading
import tomllib
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest
from pydantic import BaseModel

from tablectl import plugins
from tablectl.beeping import attach, make_beepers
from tablectl.clock import now
from tablectl.config import Config, load_config
from tablectl.journal import Journal, mirror_place
from tablectl.keeping import Keeping
from tablectl.lock import TableLocked
from tablectl.pins import make_line
from tablectl.profiles import ConfigError, config_dir
from tablectl.scanner_setup import is_pseudo_terminal, load_scanner

LEAST = '[table]\nid = "T07"\n[scanner]\ndriver = "angel-eye"\ndevice = "/dev/ttyUSB0"\n'
COMMENTED = re.compile(r"# [a-z_]+ = ")
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)


def load(folder: Path, text: str) -> Config:
    path = folder / "T07.toml"
    path.write_text(text)
    return load_config(path)


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as fault:
        load(folder, text)
    return str(fault.value).splitlines()


def test_the_least_file_and_its_defaults(tmp_path: Path) -> None:
    config = load(tmp_path, LEAST)
    assert config.path == tmp_path / "T07.toml"
    assert config.journal_path == Path("/var/lib/tablectl/T07.db")
    assert config.socket_path == Path("/run/tablectl/T07/tablectl.sock")
    assert config.server_url is None and not config.table.test
    assert config.push_secrets == () and len(config.pit_bosses) == 0
    assert config.beeper.driver == "null"
    assert [text.split(" ")[0] for text in config.missing] == ["server.url", "credential"]


def test_the_shipped_example_loads_and_says_the_defaults(tmp_path: Path) -> None:
    example = load_config(config_dir() / "tablectl.toml")
    least = load(tmp_path, LEAST)
    assert example.model_dump(exclude={"scanner"}) == least.model_dump(exclude={"scanner"})
    driver = plugins.load_driver(example.scanner.driver)
    driver.check(example.scanner.settings)


def test_every_commented_key_of_the_example_is_a_key(tmp_path: Path) -> None:
    text = (config_dir() / "tablectl.toml").read_text()
    on = [line[2:] if COMMENTED.match(line) else line for line in text.splitlines()]
    second_device = next(i for i, line in enumerate(on) if line.startswith('device = "tcp'))
    del on[second_device]
    (tmp_path / "secrets").mkdir()
    config = load(tmp_path, "\n".join(on).replace("/etc/tablectl/secrets", "secrets"))
    assert config.server_url == "https://games.example/v1/tables/T07/events"
    assert config.scanner.settings["repeat_window_ms"] == 1000
    assert config.secrets.folder == tmp_path / "secrets"
    plugins.load_driver(config.scanner.driver).check(config.scanner.settings)


def read_in_the_program() -> set[tuple[str, str]]:
    """Every ``….section.key`` that the program's own text asks for, and ``section.key`` of a local name."""
    found = set()
    for path in (Path(__file__).parent.parent / "tablectl").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                owner = node.value
                found.add((getattr(owner, "attr", getattr(owner, "id", "")), node.attr))
    return found


def test_no_key_does_nothing() -> None:
    """A key that nobody reads is a lie; one with a single lawful value promises nothing."""
    read = read_in_the_program()
    for section, field in Config.model_fields.items():
        assert isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
        for key, value in field.annotation.model_fields.items():
            single = len(get_args(value.annotation)) == 1 and get_origin(value.annotation) is Literal
            assert single or (section, key) in read, f"{section}.{key} is read nowhere"


@pytest.mark.parametrize("section", ["", *Config.model_fields])
def test_an_unknown_key_is_told_with_its_section_and_the_keys_there_are(tmp_path: Path, section: str) -> None:
    """In every section; a driver's or a beeper's own keys are told once it is loaded."""
    least = tomllib.loads(LEAST)
    least.setdefault(section, {})["no_such_key"] = 1
    known: set[str] = set(Config.model_fields)
    if section:
        model = Config.model_fields[section].annotation
        assert isinstance(model, type) and issubclass(model, BaseModel)
        known = set(model.model_fields)
    else:
        least["no_such_key"] = least.pop("")
    if section == "scanner":
        known = {"bcc", "burn_frames", "baud"}  # and more
    elif section == "beeper":
        known = {"patterns", "device", "player"}
        least["beeper"]["driver"] = "sound"
    text = "".join(
        f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        for name, keys in least.items()
    )
    with pytest.raises(ConfigError) as fault:
        config = load(tmp_path, text)
        make_beepers(config)
        load_scanner(config)
    (line,) = str(fault.value).splitlines()
    path, _, told = line.partition(": ")
    assert path == str(tmp_path / "T07.toml")
    assert told.startswith(f"{section}.no_such_key: " if section else "no_such_key: ")
    assert known <= set(re.findall(r"\w+", told.partition(": ")[2]))


def test_a_slip_of_the_pen_is_told_with_the_nearest_key(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, LEAST + "[health]\nmute_aftr = 5\n")
    assert "health.mute_aftr: unknown key; is it mute_after? (there are mute_after, faulty_rejects" in line
    (line,) = faults(tmp_path, LEAST + "[helth]\n")
    assert "helth: unknown key; is it health? (there are table, scanner" in line


def test_the_language_of_old_files_is_named_as_unknown(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, LEAST.replace('id = "T07"', 'id = "T07"\nlanguage = "en"'))
    assert "table.language" in line and "unknown key" in line


def test_the_example_names_the_drivers_there_are() -> None:
    text = (config_dir() / "tablectl.toml").read_text()
    for section, group in (("scanner", plugins.DRIVERS), ("beeper", plugins.BEEPERS)):
        line = re.search(rf"^\[{section}\]\ndriver = .*# (.*)$", text, flags=re.MULTILINE)
        assert line is not None
        named = {choice.split(":")[0].split(",")[0].strip() for choice in line[1].split("|")}
        assert named == set(plugins.names(group))


def test_other_keys_of_scanner_and_beeper_are_the_drivers(tmp_path: Path) -> None:
    config = load(
        tmp_path, LEAST + 'baud = 9600\nsettings = 1\n[beeper]\ndriver = "bell"\nterminal = "/dev/tty1"\n'
    )
    assert config.scanner.settings == {"baud": 9600, "settings": 1}
    assert config.beeper.settings == {"terminal": "/dev/tty1"}
    assert config.beeper.each == {"beeper": config.beeper}


def test_several_beepers_have_a_table_each(tmp_path: Path) -> None:
    several = """
        [beeper]
        driver = "several"
        [beeper.lamp]
        driver = "relay"
        device = "/dev/x"
        [beeper.speaker]
        driver = "sound"
        [beeper.speaker.patterns]
        pip = []
    """
    each = load(tmp_path, LEAST + several).beeper.each
    assert {key: (one.driver, one.settings) for key, one in each.items()} == {
        "beeper.lamp": ("relay", {"device": "/dev/x"}),
        "beeper.speaker": ("sound", {"patterns": {"pip": []}}),
    }


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ("", 'beeper: driver = "several" needs 1 to 4 tables such as [beeper.lamp]'),
        ("a = {}\nb = {}\nc = {}\nd = {}\ne = {}", "needs 1 to 4 tables"),
        ('device = "/dev/x"', "beeper: device: with driver"),
        ("[beeper.lamp]", "beeper: lamp: with driver"),
        ('[beeper.lamp]\ndriver = "several"', "lamp.driver: several beepers are named one by one"),
    ],
)
def test_what_is_wrong_with_several_beepers_is_told(tmp_path: Path, section: str, says: str) -> None:
    (line,) = faults(tmp_path, f'{LEAST}\n[beeper]\ndriver = "several"\n{section}\n')
    assert says in line


def test_a_bad_setting_of_a_beeper_is_told_with_its_whole_key(tmp_path: Path) -> None:
    text = '[beeper]\ndriver = "several"\n[beeper.lamp]\ndriver = "bell"\npatterns = { pip = 99 }\n'
    with pytest.raises(
        ConfigError, match=r"T07\.toml: beeper\.lamp\.patterns\.pip: 99 is no number of rings"
    ):
        make_beepers(load(tmp_path, LEAST + text))
    text = '[beeper]\ndriver = "bell"\npatterns = { pip = 99 }\n'
    with pytest.raises(ConfigError, match=r"T07\.toml: beeper\.patterns\.pip: 99"):
        make_beepers(load(tmp_path, LEAST + text))


def test_no_beeper_writes_to_the_scanners_port(tmp_path: Path) -> None:
    (tmp_path / "relay").symlink_to("/dev/null")
    text = LEAST.replace(re.findall(r'device = "(.*)"', LEAST)[0], "/dev/null")
    with pytest.raises(ConfigError, match=r"beeper\.device: /dev/null is the scanner"):
        make_beepers(load(tmp_path, f'{text}\n[beeper]\ndriver = "relay"\ndevice = "{tmp_path}/relay"\n'))


def test_the_scanners_own_beeper_needs_a_scanner_that_has_one(tmp_path: Path) -> None:
    config = load(tmp_path, LEAST + '[beeper]\ndriver = "several"\n[beeper.own]\ndriver = "scanner"\n')
    made = make_beepers(config)
    driver = plugins.load_driver("angel-eye")
    with pytest.raises(ConfigError, match=r"beeper\.own\.driver: this scanner has no beep of its own"):
        attach(config, made, driver, {}, lambda data: True)
    said: list[bytes] = []
    beeping = dataclasses.replace(driver, beep=lambda settings, pattern: settings["x"] + pattern.encode())

    def say(data: bytes) -> bool:
        said.append(data)
        return True

    attach(config, made, beeping, {"x": b"!"}, say)
    made["beeper.own"].play("pip")
    assert said == [b"!pip"]


def test_each_fault_is_one_line_with_file_and_key_path(tmp_path: Path) -> None:
    lines = faults(
        tmp_path,
        '[table]\nid = "T 07"\ntest = "yes"\nrulez = "x"\n[scanner]\ndriver = "angel-eye"\n'
        "[server]\ntimeout = 0\n[unknown]\n[log]\nlevel = 3\n",
    )
    keys = [line.removeprefix(f"{tmp_path}/T07.toml: ").split(": ")[0] for line in lines]
    assert sorted(keys) == [
        "log.level", "scanner.device", "server.timeout", "table.id", "table.rulez", "table.test", "unknown",
    ]  # fmt: skip
    assert any("unknown key" in line and "table.rulez" in line for line in lines)


@pytest.mark.parametrize("table", ["", "a b", "x" * 17, "../etc", "T07\n", "é"])
def test_table_ids(tmp_path: Path, table: str) -> None:
    escaped = table.replace("\n", "\\n")
    assert "table.id" in faults(tmp_path, LEAST.replace('"T07"', f'"{escaped}"'))[0]


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ('[server]\nurl = "games.example"', "server.url"),
        ('[server]\nurl = "ftp://games.example/"', "server.url"),
        ('[server]\nurl = "https://me:pw@games.example/"', "server.url"),
        ('[server]\nkind = "carrier pigeon"', "server.kind"),
        ('[server]\nca = "ca.pem"', "server"),
        ('[server]\nurl = "http://x/"\nclient_cert = "T07.pem"', "server"),
        ('[server]\nurl = "https://x/"\nca = ""', "server.ca"),
        ("[server]\ncertificate_days = 0", "server.certificate_days"),
        ("[server]\ntimeout = 1e9", "server.timeout"),
        (f'[api]\nsocket = "/run/{"x" * 110}"', "api.socket"),
        ('[journal]\npath = ""', "journal.path"),
        ("[journal]\npath = 5", "journal.path"),
        ('[secrets]\nfolder = "not-there"', "secrets.folder"),
        ('[beeper]\ndriver = ""', "beeper.driver"),
        ("[table]\n", "not valid TOML"),
    ],
)
def test_bad_values_by_key_path(tmp_path: Path, section: str, key: str) -> None:
    (line,) = faults(tmp_path, f"{LEAST}\n{section}\n")
    assert line.startswith(f"{tmp_path}/T07.toml: ") and key in line
    assert "pw@" not in line


def test_no_file_and_no_toml(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml: cannot be read"):
        load_config(tmp_path / "nowhere.toml")
    assert "not valid TOML" in faults(tmp_path, "[table\n")[0]
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\0")
    with pytest.raises(ConfigError, match="not valid TOML"):
        load_config(tmp_path / "binary.toml")


def test_house_rules_by_name_beside_the_file_and_by_path(tmp_path: Path) -> None:
    server = '[server]\nurl = "http://127.0.0.1:8480/t"\n'
    assert load(tmp_path, LEAST + server).house_rules().betting.link_required
    assert not load(tmp_path, LEAST).house_rules().betting.link_required
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "ours.toml").write_text('name = "ours"\n[burn]\nerror = 2\n')
    for rules in ("ours", "rules/ours.toml"):
        text = LEAST.replace('id = "T07"', f'id = "T07"\nrules = "{rules}"')
        assert load(tmp_path, text).house_rules().burn.error == 2
    (line,) = faults(tmp_path, LEAST.replace('id = "T07"', 'id = "T07"\nrules = "theirs"'))
    assert "table.rules" in line and "live-casino" in line
    (tmp_path / "rules" / "ours.toml").write_text('name = "ours"\n[burn]\nerror = 99\n')
    (line,) = faults(tmp_path, LEAST.replace('id = "T07"', 'id = "T07"\nrules = "ours"'))
    assert "rules/ours.toml" in line and "burn.error" in line


def test_credentials_from_the_folder_of_the_file_or_of_systemd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("given", "systemd"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pit-bosses").write_text(make_line(name, "482913") + "\n")
        (tmp_path / name / "push-hmac").write_text(f"{SECRET}\n{SECRET}\n")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "systemd"))
    config = load(tmp_path, LEAST)
    assert config.push_secrets == (SECRET, SECRET)
    assert config.pit_bosses.verify("systemd", "482913")
    config = load(tmp_path, LEAST + '[secrets]\nfolder = "given"\n')
    assert config.pit_bosses.names == ("given",)
    assert SECRET not in repr(config)


@pytest.mark.parametrize("content", [None, "", "unset", " unset\n"])
def test_a_credential_that_is_not_set_is_said(tmp_path: Path, content: str | None) -> None:
    (tmp_path / "s").mkdir()
    if content is not None:
        (tmp_path / "s" / "push-hmac").write_text(content)
        (tmp_path / "s" / "pit-bosses").write_text(content)
    config = load(tmp_path, LEAST + '[server]\nurl = "http://[::1]:1/"\n[secrets]\nfolder = "s"\n')
    assert config.push_secrets == ()
    assert [text.split(" is")[0] for text in config.missing] == [
        "credential push-hmac",
        "credential pit-bosses",
    ]


def test_the_environment_is_no_credential(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s").mkdir()
    monkeypatch.setenv("push-hmac", SECRET)
    monkeypatch.setenv("PUSH_HMAC", SECRET)
    assert load(tmp_path, LEAST + '[secrets]\nfolder = "s"\n').push_secrets == ()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("push-hmac", b"a plain passphrase"),
        ("push-hmac", b"whsec_c2hvcnQ="),
        ("push-hmac", b"\xff\xfe"),
        ("push-hmac", f"{SECRET} {SECRET} {SECRET}".encode()),
        ("pit-bosses", b"anna:1234"),
    ],
)
def test_a_bad_credential_is_named_and_not_shown(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / name).write_bytes(content)
    (line,) = faults(tmp_path, LEAST + '[secrets]\nfolder = "s"\n')
    assert str(tmp_path / "s") in line
    assert "passphrase" not in line and "1234" not in line and SECRET not in line


def test_a_pseudo_terminal_is_known_by_any_name(tmp_path: Path) -> None:
    master, slave = os.openpty()
    try:
        name = os.ttyname(slave)
        link = tmp_path / "ttyUSB0"
        link.symlink_to(name)
        (tmp_path / "second").symlink_to(link)
        assert is_pseudo_terminal(name) and is_pseudo_terminal(str(link))
        assert is_pseudo_terminal(str(tmp_path / "second"))
    finally:
        os.close(master)
        os.close(slave)
    for device in ("/dev/null", str(tmp_path), "tcp://127.0.0.1:4001", "/dev/nowhere", "a\0b", ""):
        assert not is_pseudo_terminal(device)


def test_plugins_by_name_and_what_there_is_instead() -> None:
    assert plugins.load_driver("bee-tek").name == "bee-tek"
    assert plugins.load_emulator("angel-eye").name == "angel-eye"
    assert callable(plugins.load_beeper("null"))
    for load_one in (plugins.load_driver, plugins.load_emulator):
        with pytest.raises(plugins.PluginError, match=r"named 'nope'; there are: .*angel-eye, .*bee-tek"):
            load_one("nope")
    with pytest.raises(plugins.PluginError, match=r"no beeper named 'x'; there are: bell, null, patlite, "):
        plugins.load_beeper("x")


@pytest.mark.parametrize(
    "kind", ["folder", "pipe", "symlink", "hard link", "itself", "log", "by the back door", "lock"]
)
def test_a_mirror_is_a_file_of_its_own(tmp_path: Path, kind: str) -> None:
    """Whatever leads there; and what is no file is never opened: a pipe would wait for ever."""
    journal, place = tmp_path / "T07.db", tmp_path / "mirror.db"
    journal.write_bytes(b"x")
    match kind:
        case "folder":
            place.mkdir()
        case "pipe":
            os.mkfifo(place)
        case "symlink":
            place.symlink_to(journal)
        case "hard link":
            place.hardlink_to(journal)
        case "itself":
            place = tmp_path / "." / "T07.db"
        case "log":
            (tmp_path / "same").symlink_to(tmp_path)
            place = tmp_path / "same" / "T07.db-wal"  # not there yet
        case "by the back door":  # what is made anew beside the mirror is the journal
            journal = tmp_path / "mirror.db.new"
        case _:
            place = tmp_path / "T07.lock"
    (line,) = faults(tmp_path, LEAST + f'[journal]\npath = "{journal}"\nmirror = "{place}"\n')
    assert line.startswith(f"{tmp_path / 'T07.toml'}: journal.mirror: ")
    for fine in ("other.db", "T07.db.mirror", "gone/T07.db"):
        load(tmp_path, LEAST + f'[journal]\npath = "{journal}"\nmirror = "{tmp_path / fine}"\n')


def test_a_medium_that_does_not_answer_holds_up_no_start(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = threading.Event()
    monkeypatch.setattr(mirror_place, "PATIENCE", 0.01)
    monkeypatch.setattr(mirror_place, "why_unfit", lambda *_: str(answers.wait(5)))
    assert mirror_place.unfit(Path("/mirror"), Path("/journal")) == ""
    answers.set()


@pytest.mark.parametrize("how", ["the file", "its folder", "not there yet", "relative"])
def test_a_journal_by_a_link_is_the_file_it_leads_to_with_one_lock(tmp_path: Path, how: str) -> None:
    """SQLite keeps its log beside the file: a lock beside the link would let a second daemon write it."""
    real, other = tmp_path / "real" / "T07.db", tmp_path / "other"
    real.parent.mkdir()
    if how == "its folder":
        other.symlink_to(real.parent)
    else:
        other.mkdir()
        (other / "T07.db").symlink_to("../real/T07.db" if how == "relative" else real)
    first = load(tmp_path, f'{LEAST}[journal]\npath = "{real}"\n')
    if how != "not there yet":
        Journal.open(real, "T07").close()
    second = load(tmp_path, f'{LEAST}[journal]\npath = "{other / "T07.db"}"\n')
    assert second.journal_path == first.journal_path == real
    assert second.backups_path == real.parent / "backups"
    keeping = Keeping(first, lambda: None, now)
    with pytest.raises(TableLocked, match="is held by process"):
        Keeping(second, lambda: None, now)
    keeping.close(5)


def test_a_journal_by_a_link_that_leads_nowhere_is_named_with_file_and_key(tmp_path: Path) -> None:
    (tmp_path / "a.db").symlink_to(tmp_path / "b.db")
    (tmp_path / "b.db").symlink_to(tmp_path / "a.db")
    (line,) = faults(tmp_path, LEAST + '[journal]\npath = "a.db"\n')
    assert line.startswith(f"{tmp_path / 'T07.toml'}: journal.path: ")
