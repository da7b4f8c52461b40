"""What this machine does to a scanner besides: who holds it, who may open it, who would grab it.

Read from /proc and /sys, as far as this user may look there; every function takes the place to look in.
"""

from __future__ import annotations

import grp
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from sys import byteorder

PROC, SYS = Path("/proc"), Path("/sys")

GRABBERS = {
    "ModemManager": "ModemManager is running: it talks to serial adapters it does not know, unless the udev "
    "rules that come with tablectl are installed (or: systemctl disable --now ModemManager)",
    "brltty": "brltty is running: it takes CH340 and CP210x adapters for Braille displays, unless the udev "
    "rules that come with tablectl are installed (or: apt-get remove brltty)",
}

LATENCY_MS = 1
"""What the udev rules set an FTDI adapter's timer to; 16 is its default."""


@dataclass(frozen=True, slots=True)
class Holders:
    """``processes``: pid and name of those that have a device open. ``hidden``: some could not be seen."""

    processes: tuple[tuple[int, str], ...]
    hidden: bool

    @property
    def words(self) -> str:
        """``minicom (pid 812)``; empty: nobody that could be seen."""
        return ", ".join(f"{name} (pid {pid})" for pid, name in self.processes)


def _pids(proc: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from (path for path in proc.iterdir() if path.name.isdigit())


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text(errors="replace").strip()
    except OSError:
        return "?"


def holders(node: str, proc: Path = PROC) -> Holders:
    """Who has the device ``node`` open, this process apart."""
    real = os.path.realpath(node)
    found, hidden = [], False
    for process in _pids(proc):
        if process.name == str(os.getpid()):
            continue
        try:
            descriptors = list((process / "fd").iterdir())
        except PermissionError:
            hidden = True
            continue
        except OSError:
            continue  # it has ended
        for descriptor in descriptors:
            with suppress(OSError):
                if str(descriptor.readlink()) == real:
                    found.append((int(process.name), _name(process)))
                    break
    return Holders(tuple(sorted(found)), hidden)


def is_tty(node: str, sys: Path = SYS) -> bool:
    """Whether ``node`` is a terminal line of the system: no pseudo-terminal, no file."""
    return (sys / "class" / "tty" / Path(os.path.realpath(node)).name).exists()


def grabbers(proc: Path = PROC) -> list[str]:
    """What runs here that takes serial adapters for something else, a sentence each."""
    running = {_name(process) for process in _pids(proc)}
    return [text for name, text in GRABBERS.items() if name in running]


def may_open(node: str) -> str | None:
    """Why this user may not open ``node``, and the way out; None: it may."""
    if os.access(node, os.R_OK | os.W_OK):
        return None
    try:
        status = Path(node).stat()
        group = grp.getgrgid(status.st_gid).gr_name
    except (OSError, KeyError):
        group = "dialout"
        mode = 0o660
    else:
        mode = status.st_mode
    if group == "root" or not mode & stat.S_IWGRP:
        return (
            f"{node}: this user may not open it, nor any group but root; install the udev rules that come "
            "with tablectl, then plug it in again"
        )
    return (
        f"{node}: this user may not open it; it is the group {group}'s: usermod -aG {group} USER, then sign "
        "in anew (the daemon: SupplementaryGroups in its unit)"
    )


def latency_ms(node: str, sys: Path = SYS) -> int | None:
    """The latency timer of an FTDI adapter in ms; None: it has none."""
    try:
        text = (
            sys / "class" / "tty" / Path(os.path.realpath(node)).name / "device" / "latency_timer"
        ).read_text()
        return int(text)
    except (OSError, ValueError):
        return None


def line_troubles(node: str, proc: Path = PROC, sys: Path = SYS) -> list[str]:
    """What is to be told of a serial port that is there."""
    troubles = []
    if (why := may_open(node)) is not None:
        troubles.append(why)
    latency = latency_ms(node, sys)
    if latency is not None and latency > LATENCY_MS:
        troubles.append(
            f"its latency timer is {latency} ms: cards come that much later; the udev rules that come with "
            f"tablectl set {LATENCY_MS}"
        )
    return troubles


_ESTABLISHED = "01"


def connected_ports(host: IPv4Address | IPv6Address, proc: Path = PROC) -> frozenset[int]:
    """The ports of ``host`` to which something on this machine is connected now."""
    wanted = {_kernel_form(host)}
    if host.version == 4:
        wanted.add(_kernel_form(IPv6Address(f"::ffff:{host}")))
    found = set()
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (proc / "net" / name).read_text().splitlines()[1:]:
                fields = line.split()
                address, _, port = fields[2].partition(":") if len(fields) > 3 else ("", "", "")
                if address in wanted and fields[3] == _ESTABLISHED:
                    found.add(int(port, 16))
    return frozenset(found)


def _kernel_form(host: IPv4Address | IPv6Address) -> str:
    """As /proc/net/tcp has it: words of four bytes in the machine's own order."""
    packed = host.packed
    words = [packed[i : i + 4] for i in range(0, len(packed), 4)]
    return "".join(f"{int.from_bytes(word, byteorder):08X}" for word in words)
