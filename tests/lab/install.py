"""Installs the controller in the guest as a house would: its wheel, and the files of ``systemd/``."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.lab.guest import Guest
from tests.lab.image import ROOT

PLACES = {
    "tablectl.service": "/etc/systemd/system/tablectl.service",
    "tablectl@.service": "/etc/systemd/system/tablectl@.service",
    "tablectl.sysusers": "/etc/sysusers.d/tablectl.conf",
    "tablectl.tmpfiles": "/etc/tmpfiles.d/tablectl.conf",
    "tablectl.modules-load": "/etc/modules-load.d/tablectl.conf",
    "60-tablectl.rules": "/etc/udev/rules.d/60-tablectl.rules",
    "91-tablectl-brltty.rules": "/etc/udev/rules.d/91-tablectl-brltty.rules",
}


TRIGGERED = " ".join(f"--subsystem-match={name}" for name in ("usb", "usb-serial", "tty", "input"))
PIP = (sys.executable, "-m", "pip")


def wheel(folder: Path) -> Path:
    """The project's wheel, built from this tree."""
    done = subprocess.run(
        [*PIP, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, ROOT],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"the wheel could not be built:\n{done.stderr}")
    (path,) = folder.glob("*.whl")
    return path


def install(guest: Guest) -> None:
    """As a technician would, off line: the packages it needs are in the guest already."""
    with tempfile.TemporaryDirectory() as folder:
        path = wheel(Path(folder))
        guest.write(f"/root/{path.name}", path.read_bytes())
    guest.run(f"/opt/tablectl/bin/pip install --quiet --no-index --no-deps /root/{path.name}", timeout=300)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, place in PLACES.items():
            archive.add(ROOT / "systemd" / name, place, filter=_roots_own)
    guest.run("tar -xf - -C /", stdin=packed.getvalue())
    guest.run(
        "systemd-sysusers && systemd-tmpfiles --create && systemctl restart systemd-modules-load"
        " && udevadm control --reload && systemctl daemon-reload && systemctl enable tablectl.service"
    )
    guest.run(f"udevadm trigger --action=add {TRIGGERED} && udevadm settle --timeout=60")
    # The first start of a Python program compiles it: not in every scenario anew.
    guest.run("/opt/tablectl/bin/python -m compileall -q /opt/tablectl/lib", timeout=600, check=False)
    guest.run("/opt/tablectl/bin/tablectl --version")
    guest.run("sync")


def _roots_own(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mode = 0o644
    return entry
