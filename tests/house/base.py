"""Makes the Debian that the containers stand on: as it comes from packages, nothing of this project in it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from tests.house import needs
from tests.lab.needs import SUITE, sources

PACKAGES = (
    "systemd",
    "systemd-sysv",
    "udev",
    "dbus",
    "kmod",
    "procps",
    "adduser",
    "python3",
    "bash-completion",
)
"""What Debian's installer puts on every PC, as far as it matters here."""

MASKED = (
    *("apt-daily.timer", "apt-daily-upgrade.timer", "e2scrub_all.timer", "fstrim.timer"),
    *("dpkg-db-backup.timer", "systemd-timesyncd.service", "console-getty.service"),
)


def recipe() -> str:
    return hashlib.sha256(repr((SUITE, PACKAGES, MASKED)).encode()).hexdigest()[:16]


def built() -> bool:
    mark = needs.base() / "etc/tablectl-house"
    return mark.exists() and mark.read_text() == recipe()


def build() -> None:
    """Make it, or make it anew when the recipe has changed."""
    place = needs.base()
    work = place.with_name("house-making")
    for old in (work, place):
        shutil.rmtree(old, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [
            *("mmdebstrap", "--quiet", "--variant=minbase", "--format=directory", "--mode=root"),
            f"--include={','.join(PACKAGES)}",
            *('--aptopt=Acquire::Languages "none"', "--dpkgopt=path-exclude=/usr/share/locale/*"),
            f"--customize-hook=chroot $1 systemctl mask {' '.join(MASKED)}",
            '--customize-hook=printf tablehost > "$1/etc/hostname"',
            '--customize-hook=: > "$1/etc/machine-id"',
            f'--customize-hook=printf {recipe()} > "$1/etc/tablectl-house"',
            *(SUITE, str(work), *sources()),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit("the Debian could not be made:\n" + "\n".join(done.stderr.splitlines()[-25:]))
    Path(work).rename(place)
