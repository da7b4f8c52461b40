"""``make house``: the package installed, run, upgraded and removed under a real systemd, at full speed.

Arguments go to pytest, for example ``-k watchdog``. The exit code is 0 only if every scenario there is, or
that was asked for, has passed. A missing prerequisite is 2, and no scenario is ever skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.house import base, needs
from tests.lab.image import ROOT
from tests.lab.scenarios import Transcript, alone, keep, scenarios

HERE = Path(__file__).parent


def play() -> int:
    """Make what is not there, play every scenario, tell."""
    transcript = Transcript()
    if not base.built():
        print("making the Debian, once", flush=True)
        with transcript.timed("the Debian is made (once)"):
            base.build()
    with tempfile.TemporaryDirectory(prefix="tablectl-house-") as folder:
        print("building the package", flush=True)
        command = [sys.executable, "-m", "systemd.debian.build", "--to", folder]
        with transcript.timed("the package is built"):
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout + done.stderr)
            return 1
        figures = Path(folder) / "figures.txt"
        figures.touch()
        os.environ["TABLECTL_HOUSE_DEB"] = done.stdout.strip()
        os.environ["TABLECTL_HOUSE_FIGURES"] = str(figures)
        code = scenarios("house", HERE, 300, transcript)
        text = transcript.text() + figures.read_text()
    keep("house-transcript.txt", text)
    return code or transcript.bad


if __name__ == "__main__":
    raise SystemExit(alone("house", needs.missing(built=base.built()), play))
