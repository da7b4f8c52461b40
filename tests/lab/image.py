"""Makes the guest: a Debian with the controller's packages, from nothing but packages.

Two things come out, in a folder of the cache that is named by a hash of the recipe: a disk with its
kernel, and on it a snapshot of the guest just booted (``booted``).  Every scenario begins at a
snapshot, which takes two seconds where a boot without KVM takes forty.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

from tests.lab import needs
from tests.lab.guest import Guest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

PACKAGES = (
    *("systemd", "systemd-sysv", "udev", "dbus", "kmod", "linux-image-amd64"),
    *("python3", "python3-venv", "usbutils", "procps"),
)
MODULES = ("virtio_pci", "virtio_blk", "ext4", "crc32c_generic")
"""What the first stage of a boot needs to find the disk."""

SIZE = "2G"
MONTH = 30 * 86400.0

AGENT_UNIT = """\
[Unit]
Description=Does what the laboratory's host asks
[Service]
ExecStart=/usr/bin/python3 /opt/lab/guest_agent.py
Restart=always
RestartSec=1
[Install]
WantedBy=multi-user.target
"""

# How brltty's own rules (where a distribution has them) claim an adapter: by the PRODUCT of the USB
# device, in a file sorted late, through a unit that systemd is to start. Here the unit leaves a mark.
CLAIM_RULE = """\
SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ENV{PRODUCT}=="403/6001/*", ENV{BRLTTY_BRAILLE_DRIVER}="at", \
TAG+="systemd", ENV{SYSTEMD_WANTS}+="brltty-device@.service"
"""
CLAIM_UNIT = """\
[Unit]
Description=Stands for brltty, which takes serial adapters for braille displays
[Service]
Type=oneshot
ExecStart=/usr/bin/touch /run/claimed-by-brltty
"""

FILES = {
    "/opt/lab/guest_agent.py": (HERE / "guest_agent.py").read_text(),
    "/etc/systemd/system/lab-agent.service": AGENT_UNIT,
    "/etc/udev/rules.d/90-brltty-usb-generic.rules": CLAIM_RULE,
    "/etc/systemd/system/brltty-device@.service": CLAIM_UNIT,
    "/etc/hostname": "tablehost\n",
    "/etc/fstab": "LABEL=root / ext4 defaults,noatime 0 1\n",
    "/etc/machine-id": "",
}
ENABLED = ("lab-agent.service",)
MASKED = (
    *("apt-daily.timer", "apt-daily-upgrade.timer", "e2scrub_all.timer", "fstrim.timer"),
    "dpkg-db-backup.timer",
    *("getty@tty1.service", "serial-getty@ttyS0.service", "systemd-timesyncd.service"),
)  # fmt: skip


def dependencies() -> list[str]:
    """What the controller's wheel will ask for; installed beforehand, they are the slow part."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return list(project["dependencies"])


def recipe() -> str:
    """Names the images: another recipe, or another QEMU, which cannot go on with this one's, makes others."""
    parts = [
        repr((needs.SUITE, PACKAGES, MODULES, SIZE, ENABLED, MASKED, sorted(FILES.items()), dependencies())),
        *(inspect.getsource(step) for step in (build, _wheelhouse, _rootfs, Guest.command)),
        (ROOT / "requirements.lock").read_text(),
        _qemu(),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _qemu() -> str:
    if shutil.which("qemu-system-x86_64") is None:
        return ""
    return subprocess.run(
        ["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=True
    ).stdout


def folder() -> Path:
    return needs.cache() / recipe()


def built() -> bool:
    return (folder() / "disk.qcow2").exists()


def tidy() -> None:
    """Remove what interrupted runs left, and images not used for a month. No other run is under way."""
    for path in needs.cache().iterdir():
        old = path != folder() and time.time() - path.stat().st_mtime > MONTH
        if path.is_dir() and (old or path.name.startswith(("making-", "run-"))):
            if (path / "root").exists():
                _helper("rm", "-rf", str(path / "root"))
            shutil.rmtree(path)
    if built():
        os.utime(folder())


def build(say: Callable[[str], None], boot_once: Callable[[Path], None]) -> Path:
    """The folder with the guest; made if it is not there. ``boot_once`` makes the first snapshot in it."""
    done = folder()
    if built():
        return done
    done.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="making-", dir=done.parent))
    # Without root, who makes the system is another user to the machine, and must be able to write here.
    work.chmod(0o755 if os.geteuid() == 0 else 0o777)
    say("packages of the controller (hashes checked)")
    _wheelhouse(work / "wheels")
    say("a Debian system from packages")
    _rootfs(work)
    say("the disk")
    _helper("mke2fs", "-q", "-t", "ext4", "-L", "root", "-O", "^has_journal", "-d", str(work / "root"),
            str(work / "root.img"), SIZE)  # fmt: skip
    for kind in ("vmlinuz", "initrd.img"):
        (newest,) = (work / "root/boot").glob(f"{kind}-*")
        shutil.copyfile(newest, work / kind)
    _helper("rm", "-rf", str(work / "root"))
    say("the first boot")
    disk = work / "disk.qcow2"
    _run("qemu-img", "create", "-q", "-f", "qcow2", "-b", "root.img", "-F", "raw", str(disk))
    boot_once(work)
    work.chmod(0o755)
    work.rename(done)
    return done


WITHOUT = frozenset({"nkeys"})
"""Locked packages of an extra that come as sources only: the guest does without."""


def _wheelhouse(place: Path) -> None:
    """The locked packages as the guest's Python (3.11) takes them, whatever Python runs here."""
    locked = re.split(r"(?m)^(?=\S+==)", (ROOT / "requirements.lock").read_text())
    lock = place.parent / "lock.txt"
    lock.write_text("".join(block for block in locked if block.partition("==")[0] not in WITHOUT))
    platforms = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
    _run(
        *(sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(place)),
        *("--require-hashes", "--no-deps", "--only-binary", ":all:", "--python-version", "3.11"),
        *("--implementation", "cp", "--abi", "cp311", "--abi", "abi3", "--abi", "none"),
        *(word for name in platforms for word in ("--platform", name)),
        *("-r", str(lock)),
    )


def _rootfs(work: Path) -> None:
    files = work / "files"
    for path, text in FILES.items():
        place = files / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    modules = "\\n".join(MODULES)
    quoted = " ".join(f"'{name}'" for name in dependencies())
    hooks = [
        # Before the kernel is installed: its first stage holds only what this machine has.
        "--essential-hook=mkdir -p $1/etc/initramfs-tools/conf.d $1/usr/share/initramfs-tools/modules.d",
        '--essential-hook=printf "MODULES=list\\nCOMPRESS=gzip\\n" > $1/etc/initramfs-tools/conf.d/lab',
        f'--essential-hook=printf "{modules}\\n" > $1/usr/share/initramfs-tools/modules.d/lab',
        f"--customize-hook=copy-in {work}/wheels /opt",
        "--customize-hook=chroot $1 python3 -m venv /opt/tablectl",
        "--customize-hook=chroot $1 /opt/tablectl/bin/pip install --quiet --no-index --find-links /opt/wheels"
        f" {quoted}",
        "--customize-hook=rm -rf $1/opt/wheels",
        f"--customize-hook=cp -r {files}/. $1/",
        f"--customize-hook=chroot $1 systemctl enable {' '.join(ENABLED)}",
        f"--customize-hook=chroot $1 systemctl mask {' '.join(MASKED)}",
        "--customize-hook=chroot $1 passwd -d root",
    ]
    slim = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("man", "doc", "locale")]
    _run(
        *(
            "mmdebstrap",
            "--quiet",
            "--variant=minbase",
            f"--include={','.join(PACKAGES)}",
            "--format=directory",
        ),
        *('--aptopt=Acquire::Languages "none"', *slim, *hooks),
        *(needs.SUITE, str(work / "root"), *needs.sources()),
    )


def _helper(*command: str) -> None:
    """A command on the guest's files, as their owner: root, or in a user namespace what stands for it."""
    _run(*(() if os.geteuid() == 0 else ("mmdebstrap", "--unshare-helper")), *command)


def _run(*command: str) -> None:
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | {"PATH": path})
    except subprocess.CalledProcessError as fault:
        tail = "\n".join((fault.stderr or fault.stdout).splitlines()[-25:])
        raise SystemExit(f"the laboratory could not be built: {command[0]}\n{tail}") from fault
