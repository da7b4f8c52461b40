"""``make house``: the package installed, run, upgraded and removed under a real systemd, at full speed.

Arguments go to pytest, for example ``-k watchdog``. The exit code is 0 only if every scenario there is, or
that was asked for, has passed. A missing prerequisite is 2, and no scenario is ever skipped.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.house import base, needs
from tests.lab.__main__ import Transcript
from tests.lab.image import ROOT

HERE = Path(__file__).parent


def main() -> int:
    faults = needs.missing(built=base.built())
    if faults:
        print("make house cannot run on this machine:")
        print(*(f"  {fault}" for fault in faults), sep="\n")
        return 2
    needs.cache().mkdir(parents=True, exist_ok=True)
    with (needs.cache() / "house.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"another make house runs with {needs.cache()}; wait for it, or set TABLECTL_LAB_CACHE")
            return 2
        return play()


def play() -> int:
    """Make what is not there, play every scenario, tell."""
    transcript = Transcript()
    if not base.built():
        print("making the Debian, once", flush=True)
        begun = time.monotonic()
        base.build()
        transcript.step("the Debian is made (once)", time.monotonic() - begun)
    with tempfile.TemporaryDirectory(prefix="tablectl-house-") as folder:
        print("building the package", flush=True)
        begun = time.monotonic()
        command = [sys.executable, "-m", "systemd.debian.build", "--to", folder]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout + done.stderr)
            return 1
        transcript.step("the package is built", time.monotonic() - begun)
        figures = Path(folder) / "figures.txt"
        figures.touch()
        os.environ["TABLECTL_HOUSE_DEB"] = done.stdout.strip()
        os.environ["TABLECTL_HOUSE_FIGURES"] = str(figures)
        options = ["-o", "python_files=house_*.py", "--rootdir", str(ROOT), "-p", "no:cacheprovider"]
        options += ["-n", "0", "--timeout", "300", "-q", "--no-header"]
        code = pytest.main([*options, str(HERE), *sys.argv[1:]], plugins=[transcript])
        text = transcript.text() + figures.read_text()
    print(text)
    (needs.cache() / "house-transcript.txt").write_text(text)
    print(f"kept as {needs.cache() / 'house-transcript.txt'}")
    return int(code) or transcript.bad


if __name__ == "__main__":
    raise SystemExit(main())
