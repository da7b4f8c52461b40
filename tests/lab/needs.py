"""What the laboratory needs of the machine it runs on.  What is missing is named, with the way to get it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

SUITE = "bookworm"
"""The guest's Debian: 12, with Python 3.11, the oldest the controller runs on."""

TOOLS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
}
FILES = {
    "/usr/share/seabios/bios-256k.bin": "seabios",
    "/usr/share/keyrings/debian-archive-keyring.gpg": "debian-archive-keyring",
}
ROOM = 4 << 30
"""Bytes the images take while they are made."""


def cache() -> Path:
    """Where images are kept: never in the tree."""
    if named := os.environ.get("TABLECTL_LAB_CACHE"):
        return Path(named).absolute()
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "tablectl-lab"


def sources(folder: Path = Path("/etc/apt")) -> list[str]:
    """The machine's own apt sources for the guest's Debian, as ``deb`` lines of component ``main``."""
    if mirror := os.environ.get("TABLECTL_LAB_MIRROR"):
        return [f"deb {mirror} {SUITE} main"]
    found = []
    for path in (folder / "sources.list", *sorted((folder / "sources.list.d").glob("*"))):
        if path.is_file() and path.suffix in (".list", ".sources"):
            text = path.read_text(encoding="utf-8", errors="replace")
            found += _stanzas(text) if path.suffix == ".sources" else _lines(text)
    wanted = re.compile(rf"{SUITE}(-(updates|security|proposed-updates))?")
    return [f"deb {uri} {suite} main" for uri, suite in dict.fromkeys(found) if wanted.fullmatch(suite)]


def _lines(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)\s.*\bmain\b", text, re.MULTILINE)


def _stanzas(text: str) -> list[tuple[str, str]]:
    found = []
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^(\w[\w-]*):\s*(.*)$", stanza, re.MULTILINE))
        if "main" in fields.get("Components", "").split() and "deb" in fields.get("Types", "").split():
            found += [
                (u, s) for u in fields.get("URIs", "").split() for s in fields.get("Suites", "").split()
            ]
    return found


def missing(built: bool) -> list[str]:
    """What is not there, in words. ``built``: the images lie in the cache, so nothing need be made."""
    tools = [tool for tool in TOOLS if not built or tool.startswith("qemu-system")]
    packages = [TOOLS[tool] for tool in tools if shutil.which(tool) is None and not _sbin(tool)]
    if os.geteuid() and not built and shutil.which("newuidmap") is None:
        packages.append("uidmap")  # a system is made without root in a user namespace
    packages += [package for path, package in FILES.items() if not Path(path).exists()]
    faults = []
    if packages:
        faults.append(f"not installed: {', '.join(packages)}\n    apt-get install {' '.join(packages)}")
    if not built and not any(f" {SUITE} " in line for line in sources()):
        faults.append(
            f"no apt source of this machine has Debian {SUITE}\n"
            "    TABLECTL_LAB_MIRROR=ADDRESS make lab    (the address of a Debian mirror)"
        )
    place = cache()
    while not place.exists():
        place = place.parent
    if not built and shutil.disk_usage(place).free < ROOM:
        faults.append(
            f"less than {ROOM >> 30} GiB free at {cache()}\n"
            "    TABLECTL_LAB_CACHE=FOLDER make lab    (a folder with room)"
        )
    return faults


def _sbin(tool: str) -> bool:
    return any((Path(folder) / tool).exists() for folder in ("/usr/sbin", "/sbin"))
