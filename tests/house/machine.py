"""A Debian of its own with systemd as its first process, in a container: boots in half a second, no network.

The container's files are a layer over the Debian in the cache and vanish with it. What runs inside runs at
the machine's own speed, so times may be measured. Devices and udev are what it cannot show: ``make lab``.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tablectl.local import Client, NotReachable
from tests.house import needs
from tests.lab.guest import Answer, GuestFault

PATIENCE = 30.0


class Machine:
    """One container, from its boot to :meth:`forget`. ``binds``: devices of the host, their names in it.

    ``over``: a layer above the Debian, as :meth:`layer` gives it.
    """

    def __init__(self, binds: Sequence[tuple[str, str]], over: Path | None = None) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="tablectl-house-", dir="/var/tmp"))
        self.name = f"house-{uuid.uuid4().hex[:8]}"
        self._binds = binds
        self._nspawn: subprocess.Popen[bytes] | None = None
        self._init = 0
        for name in ("upper", "work", "root"):
            (self.scratch / name).mkdir()
        below = str(needs.base()) if over is None else f"{over}:{needs.base()}"
        layers = f"lowerdir={below},upperdir={self.scratch}/upper,workdir={self.scratch}/work"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, self.scratch / "root"], check=True)
        try:
            self.boot()
        except BaseException:
            self.forget()
            raise

    # --- power ----------------------------------------------------------------------------------------

    def boot(self) -> None:
        """Switch it on; returns when all that is enabled runs."""
        binds = [f"--bind={outside}:{inside}" for outside, inside in self._binds]
        with (self.scratch / "console.log").open("ab") as log:
            self._nspawn = subprocess.Popen(
                [
                    *(
                        "systemd-nspawn",
                        "--quiet",
                        "--register=no",
                        "--keep-unit",
                        "--boot",
                        "--private-network",
                    ),
                    *(
                        "--console=pipe",
                        f"--machine={self.name}",
                        f"--directory={self.scratch / 'root'}",
                        *binds,
                    ),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            )
        self._init = self.until("it has a first process", self._first)
        # "degraded" is an answer as well; which units failed is for the scenario to ask.
        self.until("it is up", lambda: self.run(UP, check=False).out.strip() in ("running", "degraded"))

    @property
    def first(self) -> int:
        """Its first process, by the number it has outside."""
        return self._init

    def _first(self) -> int:
        assert self._nspawn is not None
        children = Path(f"/proc/{self._nspawn.pid}/task/{self._nspawn.pid}/children").read_text().split()
        for child in children:
            if Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                return int(child)
        return 0

    def reboot(self) -> None:
        """Down in order, and up again from the same disk."""
        self.run("systemctl poweroff --no-block", check=False)
        assert self._nspawn is not None
        self._nspawn.wait(60)
        self.boot()

    def layer(self) -> Path:
        """Switch it off; what was written to its disk."""
        self.run("systemctl poweroff --no-block", check=False)
        assert self._nspawn is not None
        self._nspawn.wait(60)
        return self.scratch / "upper"

    def pull_the_plug(self) -> None:
        """Off, at once."""
        with suppress(ProcessLookupError):
            subprocess.run(["kill", "-9", str(self._init)], check=False, capture_output=True)
        if self._nspawn is not None:
            with suppress(subprocess.TimeoutExpired):
                self._nspawn.wait(20)
            if self._nspawn.poll() is None:
                self._nspawn.kill()
                self._nspawn.wait()

    def forget(self) -> None:
        """Off, and nothing of it left."""
        self.pull_the_plug()
        subprocess.run(["umount", self.scratch / "root"], check=False, capture_output=True)
        shutil.rmtree(self.scratch, ignore_errors=True)

    @property
    def running(self) -> bool:
        return self._nspawn is not None and self._nspawn.poll() is None

    # --- what is done in it ------------------------------------------------------------------------

    def run(self, shell: str, *, stdin: bytes = b"", timeout: float = 120.0, check: bool = True) -> Answer:
        """Run a command as root; output and errors together. ``check``: anything but 0 is a failure."""
        done = subprocess.run(
            ["nsenter", "-t", str(self._init), "-a", "env", "-i", *CLEAN, "sh", "-c", f"cd /root\n{shell}"],
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
        answer = Answer(done.returncode, done.stdout.decode(errors="replace"))
        if check and answer.code:
            raise GuestFault(f"in the machine, {shell!r} ended with {answer.code}:\n{answer.out}")
        return answer

    def out(self, shell: str, *, timeout: float = 120.0) -> str:
        """What a command prints, stripped."""
        return self.run(shell, timeout=timeout).out.strip()

    def has(self, path: str) -> bool:
        return self.run(f"test -e {shlex.quote(path)}", check=False).code == 0

    def write(self, path: str, content: bytes | str) -> None:
        """Write a file; folders on the way are made."""
        quoted = shlex.quote(path)
        content = content.encode() if isinstance(content, str) else content
        self.run(f"mkdir -p $(dirname {quoted}) && cat > {quoted}", stdin=content)

    def outside(self, path: str) -> Path:
        """Where a path of the machine lies for who stands outside."""
        return Path(f"/proc/{self._init}/root{path}")

    def http(self, socket_path: str, method: str, path: str, body: Any = None, **_: str) -> Answer:
        """Ask a daemon in it. ``code`` 0: nobody answers."""
        client = Client(self.outside(socket_path))
        try:
            if method == "POST":
                code, answer = client.post(path, body)
                return Answer(code, json.dumps(answer))
            return Answer(200, json.dumps(client.state()))
        except NotReachable:
            return Answer(0, "")

    def until(self, what: str, true: Callable[[], Any], patience: float = PATIENCE) -> Any:
        """Ask again and again until it is so; its value. Fails, saying ``what`` was waited for."""
        deadline = time.monotonic() + patience
        while True:
            if not self.running:
                raise GuestFault(
                    f"the machine went off: {(self.scratch / 'console.log').read_text()[-2000:]}"
                )
            last = true()
            if last:
                return last
            if time.monotonic() > deadline:
                raise GuestFault(f"not within {patience:.0f} s: {what}; the last answer was {last!r}")
            time.sleep(0.05)

    def show(self, unit: str, name: str) -> str:
        """A property of a unit."""
        return self.out(f"systemctl show {unit} -p {name} --value")


UP = "systemctl is-system-running --wait"
CLEAN = (
    "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/root",
    "LC_ALL=C.UTF-8",
    "DEBIAN_FRONTEND=noninteractive",
)
