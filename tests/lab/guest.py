"""The guest as a scenario sees it: a machine that runs commands, and into which devices are plugged."""

from __future__ import annotations

import base64
import json
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.lab.cable import Cable
from tests.lab.qmp import Qmp, Refused

PATIENCE = 90.0
"""Seconds within which anything that is to happen in a guest without KVM has happened."""

BOOT_PATIENCE = 400.0


class GuestFault(AssertionError):
    """The guest did not do what it should; the text has what it said."""


class Answer(NamedTuple):
    code: int
    out: str


class Guest:
    """QEMU, from a power-on or a snapshot to :meth:`stop`.

    ``folder`` holds disk, kernel and first stage (:mod:`tests.lab.image`). Nothing written to the disk
    outlives the guest except a snapshot, and that only with ``keep``.
    """

    def __init__(self, folder: Path, snapshot: str | None = None, *, keep: bool = False) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="tablectl-lab-"))
        self.sound = self.scratch / "speaker.wav"
        self._numbers = iter(range(1, 1 << 30))
        disk = folder / "disk.qcow2"
        if not keep:
            # Not -snapshot: snapshots are loaded from the file given, so the file itself is copied.
            disk = Path(shutil.copyfile(disk, folder / f"{self.scratch.name}.qcow2"))
        self._disk = None if keep else disk
        self._agent: socket.socket | None = None
        self._process = subprocess.Popen(
            self.command(folder, disk, snapshot), stderr=(self.scratch / "qemu.log").open("wb")
        )
        try:
            self.qmp = Qmp(self._waited(self.scratch / "qmp.sock"))
            self._agent = socket.socket(socket.AF_UNIX)
            self._agent.connect(str(self.scratch / "agent.sock"))
            self._lines = self._agent.makefile("rb")
            self.until(
                "the guest answers",
                lambda: self.run("true", timeout=20, check=False).code == 0,
                patience=PATIENCE if snapshot else BOOT_PATIENCE,
            )
            self.run(f"date -s @{time.time():.0f}")
        except BaseException:
            self.forget()
            raise

    def command(self, folder: Path, disk: Path, snapshot: str | None) -> list[str]:
        """The machine. A snapshot fits only the machine it was made on."""
        socket_of = f"{self.scratch}/%s.sock,server=on,wait=off"
        return [
            *("qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "512"),
            *("-machine", "q35,pcspk-audiodev=speaker", "-display", "none", "-nodefaults"),
            *("-audiodev", f"wav,id=speaker,path={self.sound},out.frequency=44100"),
            *("-kernel", str(folder / "vmlinuz"), "-initrd", str(folder / "initrd.img"), "-append"),
            "root=/dev/vda rw console=ttyS0 quiet net.ifnames=0 mitigations=off",
            *("-drive", f"file={disk},if=virtio,format=qcow2,cache=unsafe"),
            *("-chardev", f"file,id=console,path={self.scratch}/console.log", "-serial", "chardev:console"),
            *("-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,path={socket_of % 'agent'}"),
            *("-device", "virtserialport,chardev=agent,name=tablectl.lab"),
            *("-qmp", f"unix:{socket_of % 'qmp'}", "-device", "qemu-xhci,id=xhci"),
            *(("-loadvm", snapshot) if snapshot else ()),
        ]

    def _waited(self, path: Path) -> Path:
        deadline = time.monotonic() + 30
        while not path.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise GuestFault(f"QEMU did not start:\n{(self.scratch / 'qemu.log').read_text()}")
            time.sleep(0.02)
        return path

    # --- what is done in it ---------------------------------------------------------------------

    def _request(self, request: dict[str, Any], timeout: float) -> Answer:
        assert self._agent is not None
        number = next(self._numbers)
        self._agent.settimeout(timeout + 15)
        answer: dict[str, Any] = {}
        try:
            self._agent.sendall(json.dumps(request | {"id": number}).encode() + b"\n")
            for line in self._lines:
                # What is left of the answer to a request given up on may come first.
                with suppress(ValueError):
                    answer = json.loads(line)
                if answer.get("id") == number:
                    return Answer(answer["code"], base64.b64decode(answer["out"]).decode(errors="replace"))
        except TimeoutError:
            self._lines = self._agent.makefile("rb")
            return Answer(124, "")
        raise GuestFault("the guest has ended")

    def run(self, shell: str, *, stdin: bytes = b"", timeout: float = PATIENCE, check: bool = True) -> Answer:
        """Run a command as root; output and errors together. ``check``: anything but 0 is a failure."""
        sent = base64.b64encode(stdin).decode()
        answer = self._request({"run": shell, "stdin": sent, "timeout": timeout}, timeout)
        if check and answer.code:
            raise GuestFault(f"in the guest, {shell!r} ended with {answer.code}:\n{answer.out}")
        return answer

    def out(self, shell: str, *, timeout: float = PATIENCE) -> str:
        """What a command prints, stripped."""
        return self.run(shell, timeout=timeout).out.strip()

    def has(self, path: str) -> bool:
        """Whether there is such a file or device."""
        return self.run(f"test -e {shlex.quote(path)}", check=False).code == 0

    def write(self, path: str, content: bytes | str) -> None:
        """Write a file; folders on the way are made."""
        quoted = shlex.quote(path)
        content = content.encode() if isinstance(content, str) else content
        self.run(f"mkdir -p $(dirname {quoted}) && cat > {quoted}", stdin=content)

    def http(self, socket_path: str, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Ask a daemon in the guest. ``code`` 0: nobody answers."""
        text = "" if body is None else json.dumps(body)
        return self._request({"http": [socket_path, method, path, headers, text]}, PATIENCE)

    def until(self, what: str, true: Callable[[], Any], patience: float = PATIENCE) -> Any:
        """Ask again and again until it is so; its value. Fails, saying ``what`` was waited for."""
        deadline = time.monotonic() + patience
        last: Any = None
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise GuestFault(f"QEMU ended: {(self.scratch / 'qemu.log').read_text()}")
            last = true()
            if last:
                return last
            time.sleep(0.2)
        raise GuestFault(f"not within {patience:.0f} s: {what}; the last answer was {last!r}")

    # --- what is plugged into it ----------------------------------------------------------------

    def plug_ftdi(self, name: str, *, serial: str | None = None, socket: str | None = None) -> Cable:
        """An FTDI adapter, with the shoe's end of its cable. ``socket``: the USB socket's number."""
        path = self.scratch / f"{name}.sock"
        address = {"type": "unix", "data": {"path": str(path)}}
        backend = {"type": "socket", "data": {"addr": address, "server": True, "wait": False}}
        self.qmp("chardev-add", id=name, backend=backend)
        cable = Cable(path)
        # Plugged in or not is the adapter's matter, whatever its cable leads to.
        self._plug(name, driver="usb-serial", chardev=name, serial=serial, port=socket, always_plugged="on")
        return cable

    def plug_keyboard(self, name: str = "keyboard") -> None:
        """An ordinary keyboard, such as a dealer's console has."""
        self._plug(name, driver="usb-kbd", serial="KEYS")

    def _plug(self, name: str, driver: str, **options: Any) -> None:
        given = {key.replace("_", "-"): value for key, value in options.items() if value is not None}
        self.qmp("device_add", driver=driver, id=name, bus="xhci.0", **given)

    def unplug(self, name: str) -> None:
        """Pull the cable."""
        self.qmp("device_del", id=name)

    def drop_backend(self, name: str) -> None:
        """Forget the cable of an adapter that was unplugged, so that its name can be used again."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.qmp("chardev-remove", id=name)
                return
            except Refused:  # the device is still going
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    # --- its beginning and its end --------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether it was not switched off."""
        return self._process.poll() is None

    def save(self, snapshot: str) -> None:
        """Keep the guest as it is now. Not with an adapter plugged in: QEMU cannot save one."""
        self.qmp.monitor(f"savevm {snapshot}")

    def reboot(self) -> None:
        """Restart it, and wait until it answers again: a whole boot, half a minute and more."""
        before = self.out("cat /proc/sys/kernel/random/boot_id")
        self.run("systemd-run --quiet --on-active=0 systemctl reboot")
        self.until(
            "the guest is up again",
            lambda: (
                self.run("cat /proc/sys/kernel/random/boot_id", timeout=5, check=False).out.strip()
                not in ("", before)
            ),
            patience=BOOT_PATIENCE,
        )

    def stop(self) -> None:
        """Power off, like a plug pulled. The recording of its speaker is complete after it."""
        with suppress(AttributeError, OSError, Refused):
            self.qmp("quit")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(15)
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        if self._agent is not None:
            self._agent.close()
        if self._disk is not None:
            self._disk.unlink(missing_ok=True)

    def forget(self) -> None:
        """Stop it and remove what it left: console, recording."""
        self.stop()
        shutil.rmtree(self.scratch, ignore_errors=True)
