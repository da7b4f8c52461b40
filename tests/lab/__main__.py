"""``make lab``: what is missing is said, the guest is made, every scenario is played, the transcript is kept.

Arguments go to pytest, for example ``-k serial``; ``--shell`` gives a guest to look into instead. The exit
code is 0 only if every scenario there is, or that was asked for, has passed. A missing prerequisite is 2,
and no scenario is ever skipped.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.lab import image, needs
from tests.lab.cable import Cable
from tests.lab.conftest import INSTALLED
from tests.lab.guest import Guest, GuestFault
from tests.lab.install import install
from tests.lab.qmp import Refused
from tests.lab.scenarios import Transcript, alone, keep, scenarios

HERE = Path(__file__).parent


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


def play() -> int:
    """Make what is not there, play every scenario, tell."""
    image.tidy()
    transcript = Transcript()
    if not image.built():
        print("making the guest, once:", flush=True)
        with transcript.timed("the guest is made (once)"):
            image.build(lambda what: print(f"  {what}", flush=True), boot_once)
    place = Path(tempfile.mkdtemp(prefix="run-", dir=image.folder().parent))
    try:
        print("installing the controller in the guest", flush=True)
        with transcript.timed("the controller is installed from its wheel"):
            installed(image.folder(), place)
        if sys.argv[1:] == ["--shell"]:
            shell(place)
            return 0
        os.environ["TABLECTL_LAB_GUEST"] = str(place)
        code = scenarios("lab", HERE, 900, transcript)
    finally:
        shutil.rmtree(place)
    keep("transcript.txt", transcript.text())
    return code or transcript.bad


if __name__ == "__main__":
    raise SystemExit(alone("lab", needs.missing(built=image.built()), play))
