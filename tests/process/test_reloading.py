"""SIGHUP: what is taken over at once, what with the next shoe, what only with a restart, what never."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tablectl.config import Config, load_config
from tablectl.daemon import Reloads
from tablectl.demo.files import new_secret
from tablectl.house import HouseRules
from tablectl.late_credentials import handed_over_once
from tablectl.logs import setup_logging
from tablectl.pins import make_line
from tablectl.plain_file import MOST_BYTES
from tablectl.process.notify import MOST, short, status
from tablectl.process.reloading import PIT, PUSH, RULES, TAKEN, Changes, differences, effective
from tablectl.profiles import ConfigError
from tests.api.test_app import CARDS, Bench
from tests.e2e.harness import BARE, QUICK, Rig, free_port, running, until
from tests.e2e.programs import Forked, run_code

# --- which keys ---------------------------------------------------------------------------------------------

FULL: dict[str, dict[str, Any]] = {
    "table": {"id": "T07", "test": False, "rules": "live-casino"},
    "scanner": {"driver": "angel-eye", "device": "/dev/shoe", "identity": "usb:1:2:3", "bcc": "strict"},
    "health": {"mute_after": 60.0, "faulty_rejects": 10, "faulty_share": 0.2, "faulty_within": 60.0},
    "server": {"url": "https://games.example/{table}", "timeout": 5.0},
    "beeper": {"driver": "relay", "device": "/dev/relay", "channel": 1},
    "journal": {"path": "/var/lib/tablectl/T07.db"},
    "api": {"socket": "/run/tablectl/T07/tablectl.sock"},
    "display": {"language": "de", "predictions": True},
    "log": {"format": "json", "level": "info"},
}
OTHERS: dict[str, Any] = {
    "table.id": "T08",
    "table.test": True,
    "table.rules": "classic",
    "scanner.driver": "bee-tek",
    "scanner.device": "/dev/other",
    "scanner.identity": "usb:1:2:4",
    "scanner.bcc": "lax",
    "health.mute_after": 61.0,
    "health.faulty_rejects": 11,
    "health.faulty_share": 0.3,
    "health.faulty_within": 61.0,
    "server.url": "https://other.example/{table}",
    "server.timeout": 6.0,
    "beeper.driver": "null",
    "beeper.device": "/dev/other",
    "beeper.channel": 2,
    "journal.path": "/var/lib/tablectl/other.db",
    "api.socket": "/run/tablectl/other.sock",
    "display.language": "en",
    "display.predictions": False,
    "log.format": "console",
    "log.level": "debug",
}
ONLY_WITH_A_RESTART = {"table.id", "table.test", "log.format"} | {
    key for key in OTHERS if key.startswith(("scanner.", "journal.", "api.", "display."))
}


def made(tmp_path: Path, changed: dict[str, Any] | None = None) -> Config:
    text = ""
    for section, values in FULL.items():
        text += f"[{section}]\n"
        for key, value in values.items():
            value = (changed or {}).get(f"{section}.{key}", value)
            if value is not None:
                text += f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}\n"
    path = tmp_path / "T07.toml"
    path.write_text(text)
    return load_config(path)


def test_every_key_of_the_example_above_is_one_of_the_configuration() -> None:
    assert {key.partition(".")[0] for key in OTHERS} == set(Config.model_fields) - {"secrets"}
    assert set(Config.model_fields) > TAKEN


@pytest.mark.parametrize("key", OTHERS)
def test_a_changed_key_is_taken_over_or_named_for_a_restart(key: str, tmp_path: Path) -> None:
    old, new = made(tmp_path), made(tmp_path, {key: OTHERS[key]})
    now = effective(old, new)
    assert (now.journal_path, now.backups_path) == (old.journal_path, old.backups_path)
    taken, later = list(differences(old, now)), list(differences(now, new))
    assert (taken, later) == (([], [key]) if key in ONLY_WITH_A_RESTART else ([key], []))
    assert not list(differences(old, old))


@pytest.mark.parametrize(
    ("old", "new"), [("https://games.example/{table}", None), (None, "https://x.example")]
)
def test_whether_there_is_a_server_at_all_is_settled_at_the_start(
    old: str | None, new: str | None, tmp_path: Path
) -> None:
    before = made(tmp_path, {"server.url": old})
    after = made(tmp_path, {"server.url": new, "server.timeout": 9.0})
    now = effective(before, after)
    assert now.server == before.server
    assert now.house_rules().betting.link_required == before.house_rules().betting.link_required
    assert set(differences(now, after)) >= {"server.timeout", "server.url"}
    assert not list(differences(before, now))


def test_a_profile_changed_under_its_name_and_new_secrets_are_seen_and_not_shown(tmp_path: Path) -> None:
    with Rig("bee-tek") as rig:
        old = load_config(rig.config)
        secret = new_secret()
        edit(rig.folder / "rules/live-casino-demo.toml", "pips = 0", "pips = 1")
        (rig.folder / "credentials/push-hmac").write_text(secret)
        (rig.folder / "credentials/pit-bosses").write_text(make_line("other", "4321"))
        new = load_config(rig.config)
        found = list(differences(old, effective(old, new)))
        assert found == [RULES, PUSH, PIT]
        assert str(Changes(tuple(found))) == (
            "taken over: table.rules (from the next shoe on), credential push-hmac, credential pit-bosses"
        )


def test_whether_credentials_can_change_at_all_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    assert not handed_over_once(made(tmp_path))
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert handed_over_once(made(tmp_path))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text, text
    path.write_text(text.replace(old, new))


# --- a running table ------------------------------------------------------------------------------------


@contextlib.contextmanager
def table() -> Iterator[Bench]:
    with Bench("bee-tek", overrides=BARE) as bench:
        yield bench


def cut(path: Path, begin: str, end: str) -> None:
    text = path.read_text()
    path.write_text(text[: text.index(begin)] + text[text.index(end) :])


def rules_of(bench: Bench) -> HouseRules:
    rules = bench.runtime.state.rules
    assert rules is not None
    return rules


def test_house_rules_change_with_the_next_shoe_and_not_in_the_hand_nor_the_shoe() -> None:
    with table() as bench:
        bench.open_table(CARDS * 8)
        bench.do("bets open")
        bench.phase("no more bets")
        bench.deal(2)  # in mid-hand
        edit(bench.folder / "rules/live-casino-demo.toml", 'banker = "0.95"', 'banker = "0.9"')
        before = rules_of(bench).digest
        changes = bench.runtime.reload(load_config(bench.config))
        assert changes == Changes((RULES,))
        assert rules_of(bench).digest == before
        bench.deal(2)
        bench.finish()
        bench.play_round()
        assert rules_of(bench).digest == before
        bench.do("shoe end", supervised=True)
        bench.new_shoe(CARDS * 8)
        assert rules_of(bench).payouts.banker == "0.9"
        assert bench.runtime.reload(load_config(bench.config)) == Changes()


def test_a_broken_file_changes_nothing_and_is_an_alert() -> None:
    with table() as bench:
        good = bench.config.read_text()
        log = Lines()
        reloads = Reloads(bench.runtime, bench.config, lambda level: None, log)
        around = bench.runtime.core.around
        for bad in (
            good.replace('id = "E2E"', 'id = "E2E"\nid = "twice"'),
            good.replace('id = "E2E"', 'id = "E3E"'),
            good.replace('driver = "bee-tek"', 'driver = "no-such"'),
            good.replace("test = true", "test = false"),
            good + '[beeper]\ndriver = "relay"\nchannel = 99\n',
            good + '[beeper]\ndriver = "no-such"\n',
            good + "[health]\nmute_after = 1e9\n",
            "\0",
        ):
            bench.config.write_text(bad)
            reload(reloads)
            assert log.last[0] == "error", bad
            assert reloads.said.startswith("; reload refused: ")
            assert bench.runtime.core.around is around
        for make in (os.mkfifo, os.mkdir):
            bench.config.unlink()
            make(bench.config)
            reload(reloads)
            assert "is no file" in reloads.said
        os.rmdir(bench.config)
        bench.config.write_bytes(b"#" * (MOST_BYTES + 1))
        reload(reloads)
        assert "is it the right file?" in reloads.said
        (alert,) = bench.wait(lambda s: s["alerts"], "the alert")["alerts"]
        assert alert["alert"] == "reload"
        assert "the old one stays" in alert["message"]
        assert "\n" not in alert["message"]
        assert len(alert["message"]) < MOST + 100
        bench.config.write_text(good + "[health]\nmute_after = 77.0\n")
        reload(reloads)
        assert log.last[0] == "info"
        assert log.last[2]["changes"] == "taken over: health.mute_after"
        assert reloads.said == ""


def test_what_needs_a_restart_is_said_each_time_until_then() -> None:
    with table() as bench:
        log = Lines()
        levels: list[str] = []
        reloads = Reloads(bench.runtime, bench.config, levels.append, log)
        edit(bench.config, f"{bench.folder}/E2E.sock", f"{bench.folder}/other.sock")
        edit(bench.config, 'level = "error"', 'level = "debug"')
        for taken in ("taken over: log.level", "nothing new to take over"):
            reload(reloads)
            assert log.last[2]["changes"] == f"{taken}; only with a restart: api.socket"
            assert reloads.said == "; only with a restart: api.socket"
        assert levels == ["debug", "debug"]
        assert bench.client.state()["phase"] == "closed", "the old socket"


class Lines:
    """A log that keeps its last line."""

    def __init__(self) -> None:
        self.last: tuple[str, str, dict[str, Any]] = ("", "", {})

    def info(self, event: str, **facts: Any) -> None:
        self.last = ("info", event, facts)

    def error(self, event: str, **facts: Any) -> None:
        self.last = ("error", event, facts)


def reload(reloads: Reloads) -> None:
    reloads.ask()
    reloads.go_on()
    assert reloads._thread is not None
    reloads._thread.join(10)
    assert not reloads._thread.is_alive()


def test_another_beeper_sounds_after_a_reload(tmp_path: Path) -> None:
    with table() as bench:
        bell = bench.folder / "bell"
        bell.touch()
        with bench.config.open("a") as config:
            config.write(f'[beeper]\ndriver = "bell"\nterminal = "{bell}"\n')
        changes = bench.runtime.reload(load_config(bench.config))
        assert "beeper.driver" in changes.taken
        assert bench.runtime.signals.try_out("close") == {"bell": None}
        assert b"\a" in bell.read_bytes()
        text = bench.config.read_text()
        bench.config.write_text(text[: text.index("[beeper]")])
        bench.runtime.reload(load_config(bench.config))
        assert bench.runtime.signals.try_out("close") == {"null": None}


def test_a_loop_that_does_not_come_to_it_in_time_takes_nothing_then_or_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with table() as bench:
        runtime, log, answers = bench.runtime, Lines(), threading.Event()
        reloads = Reloads(runtime, bench.config, lambda level: None, log)
        taken: list[object] = []
        monkeypatch.setattr(runtime._delivering, "take", lambda *_: taken.append(1))
        monkeypatch.setattr(runtime.signals, "become", lambda *_: taken.append(2))
        monkeypatch.setattr(runtime.outside.gate, "admit", lambda *_: taken.append(3))
        around, limits = runtime.core.around, runtime.scanner._limits
        edit(bench.folder / "rules/live-casino-demo.toml", 'banker = "0.95"', 'banker = "0.9"')
        (bench.folder / "credentials/pit-bosses").write_text(make_line("other", "4321"))
        with bench.config.open("a") as config:
            config.write("[health]\nmute_after = 5.0\n")
            config.write(f'[beeper]\ndriver = "bell"\nterminal = "{bench.folder}/bell"\n')
        monkeypatch.setattr("tablectl.process.reloading.PATIENCE", 0.05)
        runtime.service.loop.call_soon_threadsafe(answers.wait, 20)
        reload(reloads)
        assert log.last[0] == "error" and "nothing was taken over" in reloads.said
        answers.set()
        drain(bench)
        assert not taken and runtime.core.around is around and runtime.scanner._limits == limits
        monkeypatch.setattr("tablectl.process.reloading.PATIENCE", 5.0)
        found = runtime.reload(load_config(bench.config)).taken  # and now all of it, as if for the first time
        assert {RULES, PIT, "health.mute_after", "beeper.driver"} <= set(found) and taken == [3, 1, 2]


def test_what_a_reload_says_is_true_however_close_the_end_of_its_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with table() as bench:
        for patience in [0.0, 0.0001, 0.0003, 0.001] * 5:
            monkeypatch.setattr("tablectl.process.reloading.PATIENCE", patience)
            before = bench.runtime._reloading.running.health.mute_after
            new = load_config(bench.config)
            new = new.model_copy(update={"health": new.health.model_copy(update={"mute_after": before + 1})})
            try:
                bench.runtime.reload(new)
            except ConfigError:
                now = before
            else:
                now = before + 1
            drain(bench)
            assert bench.runtime.scanner._limits.mute_after == now * 1_000_000_000
            assert bench.runtime._reloading.running.health.mute_after == now


def test_a_file_that_is_not_read_to_its_end_is_not_called_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with table() as bench:
        log, answers, real = Lines(), threading.Event(), load_config

        def hangs(path: Path) -> Config:
            assert answers.wait(20)
            return real(path)

        monkeypatch.setattr("tablectl.daemon.load_config", hangs)
        monkeypatch.setattr("tablectl.daemon.HANGS", 0)
        reloads = Reloads(bench.runtime, bench.config, lambda level: None, log)
        for _ in range(3):
            reloads.ask()
            reloads.go_on()
        assert "until then the old one stays" in log.last[1] and reloads.said == "; reload waits for its file"
        (alert,) = bench.wait(lambda s: s["alerts"], "the alert")["alerts"]
        assert (alert["alert"], "refused" in alert["message"]) == ("reload", False)
        answers.set()
        assert reloads._thread is not None
        reloads._thread.join(10)
        assert log.last[0] == "info" and reloads.said == "", "it was taken over after all"


def drain(bench: Bench) -> None:
    """Wait until the service loop has done all it had to do."""
    passed = threading.Event()
    bench.runtime.service.loop.call_soon_threadsafe(passed.set)
    assert passed.wait(10)


def test_another_scanner_limit_counts_from_the_next_look() -> None:
    with table() as bench:
        watch = bench.runtime.scanner
        with bench.config.open("a") as config:
            config.write("[health]\nmute_after = 5.0\n")
        bench.runtime.reload(load_config(bench.config))
        bench.runtime.watch()
        assert watch._watch.limits.mute_after == 5_000_000_000


def test_pit_bosses_of_a_folder_are_others_after_a_reload() -> None:
    with table() as bench:
        (bench.folder / "credentials/pit-bosses").write_text(make_line("other", "4321"))
        assert bench.runtime.reload(load_config(bench.config)) == Changes((PIT,))
        code, answer = bench.command("shoe end", supervised=True)
        assert code != 200, "the old one"
        body = bench.body("shoe inspect", person="other", pin="4321", reason="training: test")
        assert bench.post(body)[0] != 401, answer


def test_delivery_goes_on_at_another_address_with_another_secret() -> None:
    with running("bee-tek", overrides=BARE) as rig:
        rig.open_table(CARDS * 8)
        rig.play_round()
        rig.settle()
        rig.server.end()
        rig.play_round()  # owed while nobody answers
        old, rig.port = rig.port, free_port()
        rig.secret = new_secret()
        (rig.folder / "credentials/push-hmac").write_text(rig.secret)
        edit(rig.config, f":{old}/", f":{rig.port}/")
        rig.start_server()
        rig.daemon.send(signal.SIGHUP)
        rig.wait(lambda s: s["link"]["good"], "the link is good again")
        rig.play_round()
        rig.settle()
        rig.check_everything()


def test_a_secret_that_is_gone_is_refused_and_the_old_address_stays() -> None:
    with running("bee-tek", overrides=BARE) as rig:
        secret = rig.folder / "credentials/push-hmac"
        edit(rig.config, f":{rig.port}/", f":{free_port()}/")
        for content, why in ((" \n", "is empty"), ("unset", "says unset"), (None, "is gone")):
            secret.unlink() if content is None else secret.write_text(content)
            rig.daemon.send(signal.SIGHUP)
            said = f"push-hmac {why}"
            shown = rig.wait(lambda s, said=said: said in str(s["alerts"]), said)  # type: ignore[misc]
            (alert,) = shown["alerts"]
            assert alert["alert"] == "reload"
        assert f":{rig.port}/" in rig.client.get("/v1/delivery")[1]["url"]


# --- the process --------------------------------------------------------------------------------------------


def test_systemd_is_told_of_ready_reload_status_and_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    with Rig("bee-tek", overrides=QUICK) as rig, told(rig, monkeypatch) as heard:
        cut(rig.config, "[server]", "[journal]")
        rig.start_daemon()
        until(lambda: heard.count("READY=1"), "it is ready")
        assert heard.index("STATUS=reading the journal") < heard.index("READY=1")
        assert any(line.startswith("STATUS=table E2E: closed; scanner ") for line in heard)
        until(lambda: heard.count("WATCHDOG=1"), "the watchdog is fed")
        good = rig.config.read_text()
        rig.config.write_text("x = 1\ny = 2\n")
        rig.daemon.send(signal.SIGHUP)
        until(lambda: heard.count("READY=1") == 2, "the reload is over")
        begun = heard.index("RELOADING=1")
        assert heard[begun + 1].startswith("MONOTONIC_USEC=")
        until(lambda: [line for line in heard if "reload refused" in line], "the status tells")
        assert "\\x" not in rig.errors() and ": x: " in rig.errors() and "; " in rig.errors()
        rig.config.write_text(good)
        rig.daemon.send(signal.SIGHUP)
        until(lambda: heard.count("READY=1") == 3, "the reload is over")
        rig.do("open")
        until(lambda: "STATUS=table E2E: no shoe; scanner ok" in " ".join(heard), "the status is new")
        assert "reload refused" not in [line for line in heard if line.startswith("STATUS=")][-1]
        rig.daemon.end()
        assert heard.count("STOPPING=1") == 1
        assert rig.errors().count("is not reloaded") == 1
        lines = [line for line in rig.errors().splitlines() if "reloaded" in line or "in_time" in line]
        assert lines and all(re.search(r'table"?[=:] ?"?E2E', line) for line in lines), lines


SLOW_REPLAY = """
import sys, time
from pathlib import Path
from tablectl import runtime
from tablectl.config import load_config
from tablectl.daemon import run
def replays(journal, still_at_it):
    while True:
        still_at_it()
        time.sleep(0.02)
runtime.replay_journal = replays
raise SystemExit(run(load_config(Path(sys.argv[1]))))
"""


def test_a_long_replay_asks_for_more_time_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    with Rig("bee-tek", overrides=QUICK) as rig, told(rig, monkeypatch) as heard:
        rig.daemon = Forked(run_code, lambda: (SLOW_REPLAY, str(rig.config)), rig.folder / "daemon.log")
        rig.daemon.start()
        until(lambda: heard.count("EXTEND_TIMEOUT_USEC=30000000") > 3, "it asks for more time")
        code, took = rig.daemon.end()
        assert (code, took < 2.0) == (0, True), took
        assert not heard.count("READY=1")
        assert "Traceback" not in rig.errors()


@contextlib.contextmanager
def told(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What the daemon tells systemd, line by line."""
    heard: Any = _Heard(str(rig.folder / "notify"))
    monkeypatch.setenv("NOTIFY_SOCKET", heard.path)
    try:
        yield heard
    finally:
        heard.sock.close()


class _Heard(list[str]):
    """Grows when it is looked at."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(path)
        self.sock.setblocking(False)

    def _more(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                self.extend(self.sock.recv(65536).decode().splitlines())

    def count(self, value: str) -> int:
        self._more()
        return super().count(value)

    def __iter__(self) -> Iterator[str]:
        self._more()
        return super().__iter__()


# --- words ----------------------------------------------------------------------------------------------


def test_the_status_is_one_short_line_whatever_comes() -> None:
    view = {
        "phase": "dealing",
        "where": "12/34",
        "holds": [{"code": "unread"}, {"code": "device-lost"}],
        "scanner": {"health": "absent"},
        "journal": {"why": ""},
        "link": {"good": False, "why": "line one\nSTATUS=forged\x1b[2J" + "x" * 500},
    }
    line = status(view)
    assert line.startswith(
        "dealing 12/34; HOLD unread, device-lost; scanner absent; link bad (line one; STATUS"
    )
    assert line.isprintable()
    assert len(line) <= MOST
    assert status(view | {"where": "3/-", "holds": [], "link": {"good": True, "why": ""}}) == (
        "dealing 3; scanner absent; link good"
    )
    assert short("a" * 61) == "a" * 59 + "…"


def test_a_reload_changes_the_level_of_loggers_in_use(capfd: pytest.CaptureFixture[str]) -> None:
    import structlog

    set_level = setup_logging("json", "warning")
    try:
        log = structlog.get_logger("tablectl").bind(table="T07")
        log.info("one")
        set_level("debug")
        log.debug("two")
        set_level("error")
        log.warning("three")
        err = capfd.readouterr().err
        assert ["two" in err, "one" in err, "three" in err] == [True, False, False]
    finally:
        structlog.reset_defaults()
