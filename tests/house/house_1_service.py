"""The service under a real systemd: ready, watched, restarted, reloaded, stopped; alone and beside others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tablectl.cards import Card
from tablectl.pins import make_line
from tests.house.machine import Machine
from tests.house.table import BURNING, CONFIG, SHOE, SOCKET, UNIT, HouseTable
from tests.lab.table import BOSS, config

STOP = 5.0
Figure = Callable[[str, float], None]


def test_ready_means_that_it_answers_and_the_status_tells_how_it_is(
    table: HouseTable, measured: Figure
) -> None:
    table.begin()
    machine = table.machine
    for _ in range(5):
        machine.run(f"systemctl stop {UNIT}")
        begun = time.monotonic()
        machine.run(f"systemctl start {UNIT}")
        assert machine.http(SOCKET, "GET", "/v1/state").code == 200, "READY before the socket answers"
    measured("systemctl start, an empty journal", time.monotonic() - begun)
    table.up()
    table.in_play()
    machine.until(
        "the status tells of the hand",
        lambda: re.search(r"table LAB: dealing 1/1; scanner ok; link bad", machine.show(UNIT, "StatusText")),
    )
    table.do("hold")
    machine.until("and of the hold", lambda: "HOLD called" in machine.show(UNIT, "StatusText"))


def test_the_sandbox_scores_as_the_unit_promises(table: HouseTable) -> None:
    table.begin()
    for unit in (UNIT, "tablectl@T07.service"):
        answer = table.machine.run(f"systemd-analyze security --no-pager --threshold=17 {unit}")
        score = re.search(r"exposure level for \S+ ([0-9.]+)", answer.out)
        assert score and float(score[1]) <= 1.7, answer.out
    status = table.machine.out(f"grep -E 'NoNewPrivs|CapEff|Seccomp:' /proc/{table.pid()}/status")
    assert status.split() == ["CapEff:", "0000000000000000", "NoNewPrivs:", "1", "Seccomp:", "2"]


def test_it_comes_up_with_the_machine_and_the_hand_is_as_it_was(table: HouseTable, measured: Figure) -> None:
    table.begin()
    before = table.in_play()
    table.machine.run(f"systemctl enable {UNIT}")
    begun = time.monotonic()
    table.machine.reboot()
    table.machine.until("it runs", lambda: table.machine.show(UNIT, "ActiveState") == "active")
    measured("a reboot, from the order to the table up", time.monotonic() - begun)
    same_hand(table, before)
    assert table.machine.out("systemctl --failed --plain --no-legend | wc -l") == "0"


def same_hand(table: HouseTable, before: dict[str, object]) -> None:
    """The state after a restart: the same round with the same cards, on hold; it can be played to its end."""
    state = table.up()
    for key in ("where", "shoe"):
        assert state[key] == before[key]
    assert isinstance(before["round"], dict)
    assert state["round"]["cards"] == before["round"]["cards"]
    assert [hold["code"] for hold in state["holds"]][:1] == ["restart"]
    table.do("release", boss=True, action="cards-confirmed")
    table.draw(2)
    table.wait("the result is out", lambda s: s["round"] is None)
    assert len(table.told("round.resulted")) == 1


def another(table: HouseTable, pid: str) -> None:
    """Wait until another process is in the place of this one."""
    table.machine.until("another is in its place", lambda: table.pid() not in ("0", pid), 60.0)


# --- the watchdog ----------------------------------------------------------------------------

# Threads in the order in which they are started, but for the reader, which is known by what it waits in;
# what the log says when one does not move.
THREADS = {
    "main": (0, ""),
    "journal": (2, "the journal does not move"),
    "core": (3, "the core does not move"),
    "service": (4, "the service loop does not move"),
    "reader": (None, "the reader does not move"),
}
WAITS_IN = {7, 23, 270, 271, 72, 73}
"""poll and select, as x86-64 and arm64 number them."""


@pytest.mark.parametrize("thread", THREADS)
def test_the_watchdog_bites_when_one_thread_is_frozen(
    thread: str, table: HouseTable, measured: Figure
) -> None:
    table.begin()
    before = table.in_play()
    place, words = THREADS[thread]
    inner = table.pid()
    process = on_the_host(table.machine, inner)
    tasks = sorted(int(task) for task in os.listdir(f"/proc/{process}/task"))
    with frozen(reader_among(process, tasks) if place is None else tasks[place]):
        begun = time.monotonic()
        if thread == "journal":  # it stands still unnoticed until it has something to do
            table.machine.run("timeout 2 tablectl hold lab", check=False)
        another(table, inner)
        measured(f"a frozen thread ({thread}) to the next process", time.monotonic() - begun)
    log = table.log(200)
    assert words in log
    assert "Watchdog timeout" in log
    assert "most recent call first" in log, "where each thread stood"
    table.machine.until("it is up", lambda: table.machine.show(UNIT, "ActiveState") == "active")
    same_hand(table, before)


def reader_among(process: int, tasks: list[int]) -> int:
    """The thread that waits at a device; those of the loop and the pools come and go."""
    for task in reversed(tasks):
        number = Path(f"/proc/{process}/task/{task}/syscall").read_text().split()[0]
        if number.isdigit() and int(number) in WAITS_IN:
            return task
    raise AssertionError("no thread waits at a device")


def on_the_host(machine: Machine, inner: str) -> int:
    """A process of the machine by the number it has outside."""
    space = os.readlink(f"/proc/{machine.first}/ns/pid")
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(path / "ns/pid") == space and f"\t{inner}\n" in _numbers(path):
                return int(path.name)
        except OSError:
            continue
    raise AssertionError(f"there is no process {inner}")


def _numbers(path: Path) -> str:
    (line,) = [x for x in (path / "status").read_text().splitlines(True) if x.startswith("NSpid:")]
    return line


class frozen:
    """A thread held still, from the begin to the end of its process."""

    def __init__(self, thread: int) -> None:
        script = str(Path(__file__).with_name("freeze.py"))
        self._tracer = subprocess.Popen(
            [sys.executable, script, str(thread)], stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> None:
        assert self._tracer.stdout is not None
        assert self._tracer.stdout.readline() == "frozen\n"

    def __exit__(self, *_: object) -> None:
        self._tracer.kill()
        self._tracer.wait()
        assert self._tracer.stdout is not None
        self._tracer.stdout.close()


# --- ends that nobody asked for ----------------------------------------------------------------------------


def test_killed_again_and_again_it_starts_each_time_over_its_left_over_socket(table: HouseTable) -> None:
    table.begin()
    before = table.in_play()
    machine = table.machine
    machine.write("/run/systemd/system/tablectl.service.d/quick.conf", "[Service]\nRestartSec=100ms\n")
    machine.run("systemctl daemon-reload")
    for _ in range(7):  # systemd's own limit would be five starts in ten seconds
        pid = table.pid()
        machine.run(f"kill -9 {pid}")
        assert machine.has(SOCKET), "a socket is left over"
        another(table, pid)
        machine.until("it is up", lambda: machine.show(UNIT, "ActiveState") == "active")
    assert int(machine.show(UNIT, "NRestarts")) >= 7
    same_hand(table, before)


def test_a_configuration_error_is_not_tried_again(table: HouseTable) -> None:
    table.begin()
    machine = table.machine
    machine.run(f"systemctl stop {UNIT}")
    machine.write(CONFIG, SHOE.replace("bee-tek", "no-such"))
    assert machine.run(f"systemctl start {UNIT}", check=False).code != 0
    machine.until("it has failed", lambda: machine.show(UNIT, "ActiveState") == "failed")
    time.sleep(3)  # longer than RestartSec
    assert machine.show(UNIT, "ExecMainStatus") == "78"
    assert machine.show(UNIT, "NRestarts") == "0"
    assert "there is no driver named 'no-such'" in table.log()
    machine.write(CONFIG, SHOE)
    machine.run(f"systemctl start {UNIT}")
    table.up()


SLOW = """\
import time, sys
from pathlib import Path
from tablectl import runtime
from tablectl.config import load_config
from tablectl.daemon import run
real = runtime.replay_journal
def long(journal, still_at_it):
    for _ in range(80):
        still_at_it()
        time.sleep(0.1)
    return real(journal, still_at_it)
runtime.replay_journal = long
sys.exit(run(load_config(Path(sys.argv[1]))))
"""


def slow_replay(table: HouseTable) -> None:
    """From now on a start takes eight seconds, of the three that systemd would wait."""
    table.machine.write("/opt/slow.py", SLOW)
    table.machine.write(
        "/run/systemd/system/tablectl.service.d/slow.conf",
        "[Service]\nTimeoutStartSec=3s\nExecStart=\n"
        f"ExecStart=/opt/tablectl/bin/python3 /opt/slow.py {CONFIG}\n",
    )
    table.machine.run("systemctl daemon-reload")


def test_a_long_replay_is_given_the_time_it_asks_for(table: HouseTable) -> None:
    table.begin()
    table.machine.run(f"systemctl stop {UNIT}")
    slow_replay(table)
    begun = time.monotonic()
    table.machine.run(f"systemctl start {UNIT}")
    assert time.monotonic() - begun > 8.0
    assert table.machine.show(UNIT, "NRestarts") == "0"


# --- stopping ----------------------------------------------------------------------------


def test_it_stops_within_five_seconds_in_every_phase(table: HouseTable, measured: Figure) -> None:
    machine = table.machine
    table.begin()
    machine.write("/etc/tablectl/rules/lab.toml", BURNING)
    machine.run(f"systemctl restart {UNIT}")
    worst = 0.0

    def stop_here(phase: str) -> None:
        nonlocal worst
        assert table.state()["phase"] == phase
        begun = time.monotonic()
        machine.run(f"systemctl stop {UNIT}")
        took = time.monotonic() - begun
        worst = max(worst, took)
        assert took < STOP, f"{phase}: {took:.1f} s"
        assert machine.show(UNIT, "Result") == "success"
        assert not machine.has(SOCKET)
        machine.run(f"systemctl start {UNIT}")
        if table.up()["holds"]:
            table.do("release", boss=True, action="cards-confirmed")

    table.up()
    stop_here("closed")
    table.do("open")
    table.do("sign-in", name="Dora", pickup="left")
    stop_here("no shoe")
    table.emulated.load(_cards("2S 3H 4D 5C 6S 7H 2C 9D 3H KS"), [])
    table.do("shoe new")
    stop_here("burning")
    for _ in range(6):
        table.emulated.draw(burn=True)
    table.wait("burned", lambda s: s["phase"] == "idle")
    stop_here("idle")
    table.do("bets open")
    stop_here("betting")
    stop_here("no more bets")
    table.draw(2)
    stop_here("dealing")
    table.do("hold")
    begun = time.monotonic()
    machine.run(f"systemctl stop {UNIT}")
    assert time.monotonic() - begun < STOP
    slow_replay(table)
    machine.run(f"systemctl start --no-block {UNIT}")
    machine.until("it replays", lambda: "reading the journal" in machine.show(UNIT, "StatusText"))
    begun = time.monotonic()
    machine.run(f"systemctl stop {UNIT}")
    worst = max(worst, took := time.monotonic() - begun)
    assert took < STOP, f"while it replays: {took:.1f} s"
    measured("systemctl stop, the slowest phase", worst)


def _cards(text: str) -> list[Card]:
    return [Card.parse(card) for card in text.split()]


# --- reload ----------------------------------------------------------------------------


def test_reload_good_and_broken(table: HouseTable) -> None:
    table.begin()
    table.in_play()
    machine = table.machine
    pid = table.pid()

    def reload() -> None:
        machine.run(f"systemctl reload {UNIT}")

    machine.write(CONFIG, SHOE + "[health]\nmute_after = 0\n")
    reload()
    table.says("is not reloaded, the old one stays")
    table.wait("the alert", lambda s: [a for a in s["alerts"] if a["alert"] == "reload"])
    machine.until("it is over", lambda: machine.show(UNIT, "ActiveState") == "active")
    assert "health.mute_after" in machine.show(UNIT, "StatusText")
    # A good one, in mid-hand, with other rules and another socket.
    machine.write(
        CONFIG, SHOE + '[health]\nmute_after = 99.0\n[api]\nsocket = "/run/tablectl/LAB/other.sock"\n'
    )
    rules = machine.out("cat /etc/tablectl/rules/lab.toml")
    machine.write("/etc/tablectl/rules/lab.toml", rules + '\n[payouts]\nbanker = "0.9"\n')
    reload()
    table.says("taken over: health.mute_after, table.rules (from the next shoe on)")
    machine.until(
        "what waits is told",
        lambda: machine.show(UNIT, "StatusText").endswith("only with a restart: api.socket"),
    )
    assert "as systemd handed them over" in table.log()
    table.draw(2)
    table.wait("the result is out", lambda s: s["round"] is None)
    (result,) = table.told("round.resulted")
    assert result["bets"]["banker"].get("odds", "0.95") == "0.95"
    table.do("shoe end", boss=True)
    table.do("shoe new")
    assert table.told("shoe.started")[-1]["rules"]["payouts"]["banker"] == "0.9"
    assert table.pid() == pid, "nothing was restarted"


# --- secrets ----------------------------------------------------------------------------


def test_secrets_come_from_systemd_and_nobody_else_reads_them(table: HouseTable) -> None:
    machine = table.machine
    secret = "whsec_" + "QUJD" * 11 + "QUI="
    machine.write("/etc/tablectl/credentials/push-hmac", secret + "\n")
    machine.run("chmod 600 /etc/tablectl/credentials/push-hmac")
    table.begin(SHOE + '[server]\nurl = "http://127.0.0.1:9/{table}"\n')
    assert machine.run("setpriv --reuid=tablectl --clear-groups cat /etc/tablectl/credentials/push-hmac",
                       check=False).code != 0  # fmt: skip
    pid = table.pid()
    assert secret not in machine.run(f"cat /proc/{pid}/environ /proc/{pid}/cmdline").out
    assert secret not in machine.run(f"journalctl -u {UNIT} --no-pager").out
    assert machine.out(f"tr '\\0' '\\n' < /proc/{pid}/environ | grep -c CREDENTIALS_DIRECTORY") == "1"
    # New ones: not with a reload, which says so, but with a restart.
    machine.write("/etc/tablectl/credentials/pit-bosses", make_line(BOSS, "9876") + "\n")
    machine.run(f"systemctl reload {UNIT}")
    table.says("as systemd handed them over at the start")
    table.open()
    table.do("shoe end", boss=True)  # with the old PIN
    machine.run(f"systemctl restart {UNIT}")
    table.up()
    with pytest.raises(AssertionError, match="PIN"):
        table.do("device swap", boss=True)


def test_without_its_secrets_it_is_up_and_says_what_it_lacks(table: HouseTable) -> None:
    machine = table.machine
    machine.write(CONFIG, SHOE.replace('rules = "lab"\n', ""))
    machine.run(f"systemctl start {UNIT}")
    table.says("the credential pit-bosses is missing")


# --- a dealer's account ---------------------------------------------------------------------------


DEALER = """
import fcntl, os, pathlib, sys
got = []
for path in map(pathlib.Path, sys.argv[1:]):
    for how in ("read", "flock", "lockf"):
        try:
            with path.open("rb") as file:
                if how == "read":
                    file.read(1)
                else:
                    getattr(fcntl, how)(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            got.append(str(path))
        except PermissionError:
            pass
        except OSError as error:
            got.append(f"{path}: {error}")
print(" ".join(got) or "none")
"""


def test_a_dealer_reads_and_locks_no_file_and_has_the_socket(table: HouseTable) -> None:
    """He is in the group: it is for the socket. What an older version left open is closed at the start."""
    machine = table.machine
    machine.run("useradd -G tablectl looker")
    table.begin()
    table.in_play()
    machine.run("tablectl journal backup")
    for again in (False, True):
        if again:
            machine.run("chmod -R g+rX /var/lib/tablectl")
            machine.run(f"systemctl restart {UNIT}")
            table.up()
        files = machine.out("find /var/lib/tablectl -type f").split()
        assert {"LAB.db", "LAB.db-wal", "LAB.db-shm", "LAB.lock"} <= {Path(one).name for one in files}
        who = "setpriv --reuid=looker --regid=looker --init-groups"
        asked = machine.run(f"{who} python3 - {' '.join(files)}", stdin=DEALER.encode())
        assert asked.out.strip() == "none"
        assert machine.run(f"{who} ls /var/lib/tablectl", check=False).code != 0
        machine.run(f"{who} tablectl status")


# --- several tables ----------------------------------------------------------------------------


def test_several_tables_on_one_machine_know_nothing_of_each_other(table: HouseTable) -> None:
    machine = table.machine
    nowhere = config("angel-eye", "/dev/serial/by-id/usb-none-if00-port0").replace('rules = "lab"\n', "")
    for name in ("T1", "T2"):
        machine.write(f"/etc/tablectl/{name}.toml", nowhere.replace('"LAB"', f'"{name}"'))
        machine.run(f"systemctl start tablectl@{name}")
    assert machine.run("tablectl status", check=False).code == 1, "which one?"
    for name in ("T1", "T2"):
        machine.run(f"tablectl --table {name} status")
        assert (
            machine.out(f"stat -c '%U:%G %a' /run/tablectl/{name}/tablectl.sock") == "tablectl:tablectl 660"
        )
    for left, stopped in (("T2", "T1"), ("T1", "T2")):
        machine.run(f"systemctl stop tablectl@{stopped}")
        assert not machine.has(f"/run/tablectl/{stopped}/tablectl.sock")
        machine.run(f"tablectl --table {left} status")
        machine.run("tablectl status")
        machine.run(f"systemctl start tablectl@{stopped}")
    # The single unit beside them: what it takes away at its stop must not be theirs.
    machine.write(
        "/run/systemd/system/tablectl.service.d/which.conf",
        f"[Service]\nEnvironment=TABLECTL_CONFIG={CONFIG}\n",
    )
    machine.run("systemctl daemon-reload")
    table.begin()
    machine.run(f"systemctl restart {UNIT}; systemctl stop {UNIT}")
    for name in ("T1", "T2"):
        machine.run(f"tablectl --table {name} status")
    assert machine.out("ls /var/lib/tablectl/*.db").split() == [
        f"/var/lib/tablectl/{name}.db" for name in ("LAB", "T1", "T2")
    ]
