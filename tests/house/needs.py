"""What ``make house`` needs of the machine it runs on.  What is missing is named, with the way to get it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.lab.needs import FILES, SUITE, cache, sources

__all__ = ["base", "cache", "missing"]

TOOLS = {
    "systemd-nspawn": "systemd-container",
    "mmdebstrap": "mmdebstrap",
    "nsenter": "util-linux",
    "dpkg-deb": "dpkg",
}


def missing(built: bool) -> list[str]:
    """What is not there, in words. ``built``: the Debian lies in the cache, so none need be made."""
    faults = []
    if os.geteuid() != 0:
        faults.append("not root: a container with its own systemd takes that\n    sudo make house")
    packages = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    packages += [package for path, package in FILES.items() if "keyring" in path and not Path(path).exists()]
    if packages:
        faults.append(f"not installed: {', '.join(packages)}\n    apt-get install {' '.join(packages)}")
    if not Path("/sys/fs/cgroup/cgroup.controllers").exists() and not _hybrid():
        faults.append("no unified cgroup hierarchy at /sys/fs/cgroup: a kernel booted with cgroup v1 only")
    if not built and not any(f" {SUITE} " in line for line in sources()):
        faults.append(
            f"no apt source of this machine has Debian {SUITE}\n"
            "    TABLECTL_LAB_MIRROR=ADDRESS make house    (the address of a Debian mirror)"
        )
    return faults


def _hybrid() -> bool:
    return "cgroup2" in Path("/proc/filesystems").read_text()


def base() -> Path:
    """Where the Debian is kept."""
    return cache() / "house"
