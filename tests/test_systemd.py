"""The service's files: one unit in two shapes, and nothing in them that the daemon does not do."""

from __future__ import annotations

import inspect
import re
import shutil
import socket
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from systemd.debian import build, manual
from tablectl.cli.root import cli
from tablectl.daemon import CONFIG_ERROR
from tablectl.plugins import DRIVERS, load_driver, names

FOLDER = Path(__file__).parent.parent / "systemd"


def settings(name: str) -> list[str]:
    """The lines of a unit without comments."""
    return [line for line in (FOLDER / name).read_text().splitlines() if line and not line.startswith("#")]


def test_the_template_is_the_unit_with_the_tables_name_in_it() -> None:
    one, many = settings("tablectl.service"), settings("tablectl@.service")
    differ = [(a, b) for a, b in zip(one, many, strict=True) if a != b]
    assert differ
    for single, template in differ:
        assert "%i" in template
        plain = re.sub(r" --config /etc/tablectl/%i\.toml|, table %i|/%i", "", template)
        assert plain == single


def test_a_configuration_error_is_not_tried_again() -> None:
    assert f"RestartPreventExitStatus={CONFIG_ERROR}" in settings("tablectl.service")


def test_a_missing_credential_does_not_fail_the_start() -> None:
    lines = settings("tablectl.service")
    loaded = {line.split("=")[1].split(":")[0] for line in lines if line.startswith("LoadCredential=")}
    assert loaded == {"push-hmac", "pit-bosses", "client-key", "nats-auth"}
    for name in loaded:
        assert f"SetCredential={name}:unset" in lines


def test_the_scanner_does_not_stop_the_service() -> None:
    assert not any(line.startswith(("BindsTo=", "Requires=")) for line in settings("tablectl.service"))


def test_a_reload_is_a_signal_and_no_start_limit_ends_a_table() -> None:
    for name in ("tablectl.service", "tablectl@.service"):
        lines = settings(name)
        assert "ExecReload=/bin/kill -HUP $MAINPID" in lines
        assert {"Type=notify", "Restart=always", "StartLimitIntervalSec=0", "WatchdogSec=10s"} <= set(lines)


def test_a_stop_takes_no_other_tables_socket_away() -> None:
    for name, folder in (("tablectl.service", "tablectl"), ("tablectl@.service", "tablectl/%i")):
        assert {f"RuntimeDirectory={folder}", "RuntimeDirectoryPreserve=yes"} <= set(settings(name))


@pytest.mark.parametrize("name", ["tablectl.service", "tablectl@.service"])
def test_the_journal_is_the_services_alone_and_the_socket_the_groups(name: str) -> None:
    """Whoever may read a file of the journal may lock it, and knows what nobody may know."""
    lines = settings(name)
    assert {"UMask=0077", "StateDirectoryMode=0700", "RuntimeDirectoryMode=0750", "LimitCORE=0"} <= set(lines)
    assert "d /var/lib/tablectl 0700 tablectl tablectl" in settings("tablectl.tmpfiles")


def test_an_upgrade_closes_what_was_open_to_the_group_and_follows_no_name(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.touch()
    folder = tmp_path / "lib"
    (folder / "backups").mkdir(parents=True)
    made = [folder / "T07.db", folder / "T07.db-shm", folder / "backups" / "T07-abc-1.db"]
    for one in (*made, outside):
        one.touch()
        one.chmod(0o640)
    (folder / "backups").chmod(0o750)
    (folder / "link").symlink_to(outside)
    postinst = (FOLDER / "debian" / "postinst").read_text().replace("\\\n", "")
    (line,) = re.findall(r"^runuser -u tablectl -- (find .*) \|\| true$", postinst, re.MULTILINE)
    subprocess.run(["sh", "-ec", line.replace("/var/lib/tablectl", str(folder))], check=True)
    assert [one.stat().st_mode & 0o777 for one in made] == [0o600] * 3
    assert [one.stat().st_mode & 0o777 for one in (folder / "backups", outside)] == [0o700, 0o640]


HARDENING = """
CapabilityBoundingSet= AmbientCapabilities= NoNewPrivileges=yes DevicePolicy=closed ProtectSystem=strict
ProtectHome=yes PrivateTmp=yes PrivateMounts=yes ProtectProc=invisible ProcSubset=pid ProtectClock=yes
ProtectControlGroups=yes ProtectHostname=yes ProtectKernelLogs=yes ProtectKernelModules=yes
ProtectKernelTunables=yes LockPersonality=yes MemoryDenyWriteExecute=yes RestrictNamespaces=yes
RestrictRealtime=yes RestrictSUIDSGID=yes RemoveIPC=yes SystemCallArchitectures=native
SystemCallFilter=@system-service
"""


@pytest.mark.parametrize("name", ["tablectl.service", "tablectl@.service"])
def test_the_sandbox_is_as_tight_as_promised(name: str) -> None:
    """1.7 at most. The score itself is systemd's; where there is none, the settings that make it are held
    here, and the score in the container (tests/house)."""
    assert set(HARDENING.split()) <= set(settings(name))
    if (tool := shutil.which("systemd-analyze")) is None:
        return
    told = subprocess.run(
        [tool, "security", "--offline=true", "--no-pager", str(FOLDER / name)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"exposure level for \S+ ([0-9.]+)", told.stdout)
    assert found, told.stdout[-300:]
    assert float(found[1]) <= 1.7


# --- the package: its parts here, itself in the container (tests/house) -----------------------------------


@pytest.mark.parametrize("script", build.SCRIPTS)
def test_maintainer_scripts_are_plain_and_keep_the_money(script: str) -> None:
    path = FOLDER / "debian" / script
    text = path.read_text()
    assert text.startswith("#!/bin/sh\n")
    assert "\nset -e\n" in text
    subprocess.run(["sh", "-n", path], check=True)
    for line in text.splitlines():
        if "rm " in line:
            assert "/var/lib/tablectl" not in line
            assert "/etc/tablectl" not in line


def test_the_package_has_what_is_locked_and_nothing_for_tests_only() -> None:
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text())["project"]
    lock = build.runtime_lock(project, "3.11", "x86_64")
    names = set(lock)
    for wanted in project["dependencies"]:
        assert re.split(r"[<>=]", wanted)[0] in names
    assert {"multidict", "pydantic-core"} <= names, "what those need"
    assert {"nkeys", "pynacl", "cffi"} <= names, "what a NATS credential needs"
    assert not {"pytest", "mypy", "hatchling", "ruff", "hypothesis", "setuptools"} & names
    assert all("--hash=sha256:" in block for block in lock.values())
    assert names >= build.SOURCES


def test_the_manual_has_every_command_with_its_options() -> None:
    page = manual.manual("1.2.3")
    for path, command in manual._commands(cli, ()):
        assert f".SS {manual._plain(' '.join(path))}\n" in page
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert manual._plain(option.opts[0]) in page
        example = inspect.cleandoc(command.help or "").partition("Example:  ")[2]
        for line in example.splitlines():
            assert manual._plain(line.strip()) in page, line
    assert page.isascii(), "roff without preconv warns at anything else"
    filled = True
    for line in page.splitlines():
        filled = (filled or line == ".fi") and line != ".nf"
        assert not (filled and line.startswith(" ")), line
        assert line[:1] not in ("'", ".") or re.match(r"\.(TH|SH|SS|PP|TP|B|nf|fi)\b", line), line


def test_text_is_shown_as_it_is() -> None:
    assert manual._plain(".so /etc/passwd") == r"\&.so /etc/passwd"
    assert manual._plain(r"a\n--b") == r"a\en\-\-b"


# --- udev rules: their form here, what they do in the laboratory (tests/lab/lab_3_udev.py) ---------------

RULES = ("60-tablectl.rules", "91-tablectl-brltty.rules")
_PAIR = re.compile(r'([A-Z_]+)(\{[^}]+\})?\s*(==|!=|\+=|-=|:=|=)\s*"((?:[^"\\]|\\.)*)"\s*(?:,\s*|$)')
MATCHES = {"ACTION", "KERNEL", "SUBSYSTEM", "SUBSYSTEMS", "DRIVER", "DRIVERS", "ATTR", "ATTRS", "ENV", "TEST"}
ASSIGNS = {"ENV", "ATTR", "SYMLINK", "GROUP", "MODE", "GOTO", "LABEL", "IMPORT"}


def rules(name: str) -> list[list[tuple[str, str, str, str]]]:
    """Each rule as key, what is in braces, operator, value. Fails on what is not of that form."""
    found = []
    for line in "\n".join(settings(name)).replace("\\\n", "").splitlines():
        pairs, at = [], 0
        while at < len(line):
            match = _PAIR.match(line, at)
            assert match, f"{name}: not a rule from {line[at:]!r} on"
            pairs.append((match[1], (match[2] or "").strip("{}"), match[3], match[4]))
            at = match.end()
        found.append(pairs)
    return found


@pytest.mark.parametrize("name", RULES)
def test_udev_rules_are_well_formed(name: str) -> None:
    for rule in rules(name):
        for key, inner, operator, value in rule:
            assert key in (MATCHES if operator in ("==", "!=") else ASSIGNS), (name, rule)
            assert operator in ("==", "!=", "=", "+="), (name, rule)
            assert (key in ("ENV", "ATTR", "ATTRS", "IMPORT")) == bool(inner), (name, rule)
            assert (operator == "+=") == (key == "SYMLINK"), f"{name}: {key} adds to what others set: {rule}"
            assert key not in ("RUN", "PROGRAM"), f"{name}: nothing is run: {value}"


def test_udev_jumps_go_forward_to_a_label_that_is_there() -> None:
    jumps: dict[str, int] = {}
    labels: dict[str, int] = {}
    for number, rule in enumerate(rules("60-tablectl.rules")):
        for key, _, _, value in rule:
            if key == "GOTO":
                jumps.setdefault(value, number)
            elif key == "LABEL":
                assert value not in labels, value
                labels[value] = number
    assert jumps.keys() == labels.keys()
    last = {
        value: n
        for n, rule in enumerate(rules("60-tablectl.rules"))
        for key, _, _, value in rule
        if key == "GOTO"
    }
    assert all(last[label] < labels[label] for label in labels), "udev knows no way back"


def listed(vendor: str, product: str) -> str:
    """What the list of the rules makes of a USB device: serial, device, or nothing."""
    got = ""
    for rule in rules("60-tablectl.rules"):
        asked = {
            inner: value.split("|")
            for key, inner, operator, value in rule
            if operator == "==" and key == "ENV"
        }
        told = [
            value
            for key, inner, operator, value in rule
            if (key, inner, operator) == ("ENV", "TABLECTL", "=")
        ]
        if told and vendor in asked["ID_VENDOR_ID"] and product in asked.get("ID_MODEL_ID", [product]):
            got = told[0]
    return got


def test_every_device_that_a_driver_offers_to_read_is_in_the_list() -> None:
    offered = {one for name in names(DRIVERS) for one in load_driver(name).usb_ids}
    assert len(offered) > 10
    rules_text = (FOLDER / "60-tablectl.rules").read_text()
    for one in offered:
        vendor, product = one.split(":")
        assert re.search(rf'ID_VENDOR_ID.*["|]{vendor}["|]', rules_text), one
        assert product == "*" or listed(vendor, product), one


@pytest.mark.parametrize(
    ("vendor", "product", "what"),
    [
        ("0403", "6001", "serial"),
        ("067b", "2303", "serial"),
        ("10c4", "ea60", "serial"),
        ("1a86", "7523", "serial"),
        ("0c2e", "0b61", "device"),
        ("23d0", "0001", "device"),
        ("05e0", "1200", "device"),
        ("05f9", "221c", "device"),
        ("1eab", "8203", "device"),
        ("191a", "6001", "device"),
        ("046d", "c31c", ""),  # an ordinary keyboard
        ("0627", "0001", ""),
        ("12d1", "1506", ""),  # a modem
        ("0403", "f06e", ""),  # something else with an FTDI chip
    ],
)
def test_udev_rules_touch_scanners_and_nothing_else(vendor: str, product: str, what: str) -> None:
    assert listed(vendor, product) == what


def test_udev_rules_decide_nothing_before_the_list() -> None:
    """Every assignment but the marks themselves and the speaker's comes after unlisted devices have left."""
    found = rules("60-tablectl.rules")
    gone = next(n for n, rule in enumerate(found) if rule[0][:3] == ("ENV", "TABLECTL", "=="))
    for rule in found[:gone]:
        assigned = {key for key, inner, operator, _ in rule if operator != "==" and inner != "TABLECTL"}
        assert assigned <= {"GOTO", "LABEL", "IMPORT"}, rule


def test_udev_groups_are_those_of_the_service() -> None:
    (groups,) = [
        line.split("=")[1].split() for line in settings("tablectl.service") if line.startswith("Supp")
    ]
    given = {value for rule in rules("60-tablectl.rules") for key, _, _, value in rule if key == "GROUP"}
    assert given
    assert given <= set(groups)


# --- before an upgrade or a removal ------------------------------------------------------------------------

BETWEEN, IN_PLAY = '{"phase": "complete", "round": null}', '{"phase": "dealing", "round": {"number": 1}}'


class Machine:
    """What the script asks of a machine: units with the table each plays, sockets, and their answers."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("run/systemd/system", "run/tablectl", "bin", "opt/lib"):
            (root / folder).mkdir(parents=True)
        self.program("tablectl", f'cat "$2.json" 2>/dev/null || exec sleep 20 <{root}/hangs || exit 3\n')
        self.program(
            "systemctl",
            f'case "$1" in\n'
            f'show) cat "{root}/status.$4" ;;\n'
            f'stop) shift; echo "$@" >> {root}/stopped ;;\n'
            f'list-units) for state in activating active; do case "$4" in *$state*)\n'
            f"    cat {root}/$state 2>/dev/null ;; esac; done ;;\n"
            f"esac\n",
        )

    def program(self, name: str, text: str) -> None:
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}")
        path.chmod(0o755)

    def unit(self, name: str, state: str = "active", status: str = "") -> None:
        with (self.root / state).open("a") as file:
            file.write(f"{name} loaded {state} x Dealer-table\n")
        (self.root / f"status.{name}").write_text(status and f"{status}\n")

    def socket(self, table: str, answer: str | None = None) -> None:
        path = self.root / "run/tablectl" / table / "tablectl.sock"
        path.parent.mkdir()
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
        if answer is not None:
            path.with_name("tablectl.sock.json").write_text(answer)

    def upgrades(self, **environment: str) -> tuple[str, list[str]]:
        """What the script said, and the units it stopped."""
        text = (FOLDER / "debian/prerm").read_text()
        moved = {"/run/": "/run/", "/opt/tablectl/bin/": "/bin/", "/opt/tablectl/lib": "/opt/lib"}
        for old, new in moved.items():
            text = text.replace(old, f"{self.root}{new}")
        text = text.replace("timeout 10", "timeout 0.3")
        paths = {"PATH": f"{self.root}/bin:/usr/bin:/bin"}
        done = subprocess.run(
            ["/bin/sh", "-c", text, "prerm", "upgrade"],
            env=paths | environment,
            capture_output=True,
            text=True,
        )
        stopped = self.root / "stopped"
        units = stopped.read_text().split() if stopped.exists() else []
        assert (done.returncode == 0) == (done.stderr == ""), done.stderr
        assert done.returncode == 0 or not units
        return done.stderr, units


@pytest.fixture
def machine() -> Iterator[Machine]:
    with tempfile.TemporaryDirectory() as folder:  # a socket's path is short
        yield Machine(Path(folder))


ONE, T07 = "tablectl.service", "tablectl@T07.service"


def test_between_two_rounds_everything_that_runs_stops(machine: Machine) -> None:
    machine.unit(ONE, status="table T01: complete 1/2; scanner ok")
    machine.unit(T07, status="table T07: closed; scanner ok")
    machine.unit("tablectl@T08.service", "activating", "waiting for the journal's disk")
    machine.socket("T01", BETWEEN)
    machine.socket("T07", BETWEEN)
    machine.socket("T09")  # left over by a daemon that was killed; nobody listens, and no unit runs
    assert machine.upgrades() == ("", ["tablectl@T08.service", ONE, T07])


def test_in_a_round_nothing_stops_unless_somebody_says_so(machine: Machine) -> None:
    machine.unit(T07, status="table T07: dealing 1/2")
    machine.socket("T07", IN_PLAY)
    said, _ = machine.upgrades()
    assert "table T07 is in the middle of a round; nothing was changed" in said
    assert machine.upgrades(TABLECTL_ANYWAY="1") == ("", [T07])


@pytest.mark.parametrize("how", ["hangs", "refuses", "no socket", "says nothing"])
@pytest.mark.parametrize("unit", [ONE, T07])
def test_one_that_runs_and_does_not_tell_is_not_stopped_silently(
    machine: Machine, how: str, unit: str
) -> None:
    machine.unit(unit, status="" if how == "says nothing" else "table T07: dealing 1/2")
    machine.unit("tablectl@T08.service", status="table T08: closed")
    machine.socket("T08", BETWEEN)
    if how == "hangs":
        (machine.root / "hangs").touch()
    if how != "no socket":
        machine.socket("T07", BETWEEN if how == "says nothing" else None)
    said, _ = machine.upgrades()
    assert f"{unit} runs and does not tell whether a round is in play; nothing was changed" in said
    assert "TABLECTL_ANYWAY=1" in said
    _, stopped = machine.upgrades(TABLECTL_ANYWAY="1")
    assert set(stopped) == {unit, "tablectl@T08.service"}
