"""``make lab``: what is missing is said, the guest is made, every scenario is played, the transcript is kept.

Arguments go to pytest, for example ``-k serial``; ``--shell`` gives a guest to look into instead. The exit
code is 0 only if every scenario there is, or that was asked for, has passed. A missing prerequisite is 2,
and no scenario is ever skipped.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.lab import image, needs
from tests.lab.cable import Cable
from tests.lab.conftest import INSTALLED
from tests.lab.guest import Guest, GuestFault
from tests.lab.install import install
from tests.lab.qmp import Refused

HERE = Path(__file__).parent


class Transcript:
    """Writes down each scenario with its seconds and its end; also whether any was skipped."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.bad = 0
        self.begun = time.monotonic()
        self._seconds: dict[str, float] = {}
        self._failed: dict[str, str] = {}

    def step(self, what: str, seconds: float, ended: str = "ok") -> None:
        self.bad += ended != "ok"
        self.lines.append(f"{seconds:7.1f} s  {ended:7} {what}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid
        self._seconds[name] = self._seconds.get(name, 0.0) + report.duration
        if report.outcome != "passed":
            self._failed[name] = report.outcome
        if report.when == "teardown":
            what = name.rpartition("::")[2].removeprefix("test_").replace("_", " ")
            self.step(what, self._seconds[name], self._failed.get(name, "ok"))

    def text(self) -> str:
        total = time.monotonic() - self.begun
        end = f"{total:7.1f} s  {'all is well' if not self.bad else f'{self.bad} not ok'}"
        return "\n".join(["the laboratory, " + time.strftime("%Y-%m-%d %H:%M"), *self.lines, end]) + "\n"


def boot_once(folder: Path) -> None:
    """The first boot of a new image; what it has become is kept."""
    guest = Guest(folder, keep=True)
    try:
        guest.run("systemctl is-system-running --wait", timeout=300)
        guest.save("booted")
    finally:
        guest.forget()


def installed(made: Path, place: Path) -> None:
    """A guest in ``place`` with the controller of this tree installed."""
    for name in ("vmlinuz", "initrd.img", "root.img"):
        (place / name).symlink_to(made / name)
    shutil.copyfile(made / "disk.qcow2", place / "disk.qcow2")
    guest = Guest(place, "booted", keep=True)
    try:
        install(guest)
        guest.save(INSTALLED)
    finally:
        guest.forget()


def shell(place: Path) -> None:
    """The guest by hand: what is typed runs in it."""
    guest = Guest(place, INSTALLED)
    cables: list[Cable] = []
    try:
        while True:
            line = input("guest# ").strip()
            try:
                match line.split():
                    case []:
                        pass
                    case [":shoe"]:
                        cables.append(guest.plug_ftdi(f"shoe{len(cables)}", serial="A50285BI"))
                    case [":say", *data] if cables:
                        cables[-1].send(bytes.fromhex("".join(data)))
                    case [word, *_] if word.startswith(":"):
                        guest.qmp.monitor(line[1:])
                    case _:
                        print(guest.run(line, timeout=600, check=False).out, end="")
            except (Refused, GuestFault, ValueError) as fault:
                print(fault)
    except (EOFError, KeyboardInterrupt):
        print()
    finally:
        guest.forget()


def main() -> int:
    faults = needs.missing(built=image.built())
    if faults:
        print("make lab cannot run on this machine:")
        print(*(f"  {fault}" for fault in faults), sep="\n")
        return 2
    needs.cache().mkdir(parents=True, exist_ok=True)
    with (needs.cache() / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"another make lab runs with {needs.cache()}; wait for it, or set TABLECTL_LAB_CACHE")
            return 2
        image.tidy()
        return play()


def play() -> int:
    """Make what is not there, play every scenario, tell."""
    transcript = Transcript()

    def timed(what: str, begun: float) -> None:
        transcript.step(what, time.monotonic() - begun)

    if not image.built():
        print("making the guest, once:", flush=True)
        begun = time.monotonic()
        image.build(lambda what: print(f"  {what}", flush=True), boot_once)
        timed("the guest is made (once)", begun)
    place = Path(tempfile.mkdtemp(prefix="run-", dir=image.folder().parent))
    try:
        print("installing the controller in the guest", flush=True)
        begun = time.monotonic()
        installed(image.folder(), place)
        timed("the controller is installed from its wheel", begun)
        if sys.argv[1:] == ["--shell"]:
            shell(place)
            return 0
        os.environ["TABLECTL_LAB_GUEST"] = str(place)
        options = ["-o", "python_files=lab_*.py", "--rootdir", str(image.ROOT), "-p", "no:cacheprovider"]
        options += ["-n", "0", "--timeout", "900", "-q", "--no-header"]
        code = pytest.main([*options, str(HERE), *sys.argv[1:]], plugins=[transcript])
    finally:
        shutil.rmtree(place)
    print(transcript.text())
    (needs.cache() / "transcript.txt").write_text(transcript.text())
    print(f"kept as {needs.cache() / 'transcript.txt'}")
    return int(code) or transcript.bad


if __name__ == "__main__":
    raise SystemExit(main())
