"""``make deb``: a Debian package with everything in it, which is installed with the network off.

The packages of requirements.lock, hashes checked, are unpacked into a virtual environment at /opt/tablectl
for the Python of the Debian it is for (3.11: Debian 12), whatever Python runs here; beside it the units,
rules, account and folders of ``systemd/``, a manual page, bash completion and an example configuration. The
maintainer scripts lie beside this file. Nothing here needs root. From one commit the same bytes come.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from systemd.debian.manual import completion, manual

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

PLACES = {
    "tablectl.service": "usr/lib/systemd/system/tablectl.service",
    "tablectl@.service": "usr/lib/systemd/system/tablectl@.service",
    "tablectl.sysusers": "usr/lib/sysusers.d/tablectl.conf",
    "tablectl.tmpfiles": "usr/lib/tmpfiles.d/tablectl.conf",
    "tablectl.modules-load": "usr/lib/modules-load.d/tablectl.conf",
    "60-tablectl.rules": "usr/lib/udev/rules.d/60-tablectl.rules",
    "91-tablectl-brltty.rules": "usr/lib/udev/rules.d/91-tablectl-brltty.rules",
}
SCRIPTS = ("prerm", "postinst", "postrm")
EXAMPLE = "etc/tablectl/table.toml.example"

MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
PLATFORMS = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")

SOURCES = frozenset({"nkeys"})
"""Locked packages that come as sources only; they are pure Python, and their wheels are made here."""

PROGRAM = """\
#!/opt/tablectl/bin/python3
import sys
from tablectl.cli import main
sys.exit(main())
"""


def main() -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    parser = argparse.ArgumentParser(prog="make deb ARGS=…", description="Build the Debian package.")
    parser.add_argument("--version", default=project["version"], help="the package's version")
    parser.add_argument("--python", default="3.11", help="the Debian's Python: 3.11 (12), 3.13 (13)")
    parser.add_argument("--architecture", default="amd64", choices=sorted(MACHINES))
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="the folder it is written to")
    given = parser.parse_args()
    if shutil.which("dpkg-deb") is None:
        print("make deb needs dpkg-deb (on Debian it is there; elsewhere: the package dpkg)")
        return 2
    with tempfile.TemporaryDirectory(prefix="tablectl-deb-") as folder:
        print(build(Path(folder), project, given.version, given.python, given.architecture, given.to))
    return 0


def build(
    work: Path, project: dict[str, object], version: str, python: str, architecture: str, to: Path
) -> Path:
    """The package, written to the folder ``to``. ``work``: an empty folder."""
    tree = work / "tree"
    environment(work, tree / "opt/tablectl", project, python, MACHINES[architecture])
    for name, place in PLACES.items():
        put(tree / place, (ROOT / "systemd" / name).read_bytes())
    put(tree / EXAMPLE, (ROOT / "config/tablectl.toml").read_bytes())
    put(tree / "usr/share/man/man1/tablectl.1.gz", gzip.compress(manual(version).encode(), mtime=0))
    put(tree / "usr/share/bash-completion/completions/tablectl", completion().encode())
    about = tree / "usr/share/doc/tablectl"
    for document in (ROOT / "docs").glob("*.md"):
        put(about / document.name, document.read_bytes())
    put(about / "copyright", (ROOT / "LICENSE").read_bytes())
    put(about / "changelog.gz", gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), mtime=0))
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/tablectl").symlink_to("/opt/tablectl/bin/tablectl")
    control(tree, version, python, architecture)
    to.mkdir(parents=True, exist_ok=True)
    package = to / f"tablectl_{version}_{architecture}.deb"
    packing = ("dpkg-deb", "--build", "--root-owner-group", "-Zxz", "-z6", str(tree), str(package))
    run(*packing, environment={"SOURCE_DATE_EPOCH": made_on()})
    return package


def made_on() -> str:
    """Unix time of what is packed: of the commit, so that the same sources make the same package."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return given
    try:
        command = ("git", "-C", str(ROOT), "log", "-1", "--format=%ct")
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return str(int((ROOT / "pyproject.toml").stat().st_mtime))  # sources without a history


def environment(work: Path, place: Path, project: dict[str, object], python: str, machine: str) -> None:
    """A virtual environment as ``python -m venv`` would make it on the Debian itself."""
    packages = place / "lib" / f"python{python}" / "site-packages"
    needed = runtime_lock(project, python, machine)
    lock = work / "lock.txt"
    lock.write_text("".join(block for name, block in needed.items() if name not in SOURCES))
    made = work / "wheels"
    run(*pip("wheel", "--no-deps", "--no-build-isolation", "-w", str(made), str(ROOT)))
    sources = {name: block for name, block in needed.items() if name in SOURCES}
    if sources:
        from_sources(work, made, sources)
    abis = [word for name in (f"cp{python.replace('.', '')}", "abi3", "none") for word in ("--abi", name)]
    platforms = [word for name in PLATFORMS for word in ("--platform", f"{name}_{machine}")]
    version = ("--python-version", python, "--implementation", "cp")
    fitting = ("--only-binary", ":all:", *version, *abis, *platforms)
    into = ("--target", str(packages), "--no-deps", "--no-compile")
    run(*pip("install", *into, *fitting, "--require-hashes", "-r", str(lock)))
    # By name: a wheel that is given as a file would leave its path in the package.
    here = ("--no-index", "--find-links", str(made))
    run(*pip("install", *into, *fitting, *here, str(project["name"]), *sources))
    shutil.rmtree(packages / "bin", ignore_errors=True)
    for cache in packages.rglob("__pycache__"):
        shutil.rmtree(cache)
    put(
        place / "pyvenv.cfg",
        f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {python}\n".encode(),
    )
    put(place / "bin/tablectl", PROGRAM.encode(), 0o755)
    (place / "bin" / f"python{python}").symlink_to(f"/usr/bin/python{python}")
    for name in ("python3", "python"):
        (place / "bin" / name).symlink_to(f"python{python}")


def from_sources(work: Path, made: Path, sources: dict[str, str]) -> None:
    """Wheels of ``sources`` in the folder ``made``, by the locked setuptools: nothing comes unchecked."""
    tools, lock = work / "tools", work / "tools.txt"
    lock.write_text(locked()["setuptools"])
    run(*pip("install", "--target", str(tools), "--no-deps", "--require-hashes", "-r", str(lock)))
    lock = work / "sources.txt"
    lock.write_text("".join(sources.values()))
    building = ("--no-deps", "--no-build-isolation", "--no-binary", ",".join(sources), "--use-pep517")
    command = pip("wheel", *building, "--require-hashes", "-w", str(made), "-r", str(lock))
    run(*command, environment={"PYTHONPATH": str(tools)})
    for wheel in made.glob("*.whl"):
        if not wheel.name.endswith("-none-any.whl"):
            raise SystemExit(
                f"{wheel.name} is for this machine's Python only: it cannot be made from sources"
            )


def locked() -> dict[str, str]:
    """The blocks of requirements.lock by name."""
    found = re.split(r"(?m)^(?=\S+==)", (ROOT / "requirements.lock").read_text())
    return {canonicalize_name(re.split(r"[=;\s]", block, maxsplit=1)[0]): block for block in found if block}


def runtime_lock(project: dict[str, object], python: str, machine: str) -> dict[str, str]:
    """Those of them that are not for the project's own tests only, in the order of their names."""
    blocks = locked()
    where = {"python_version": python, "python_full_version": f"{python}.0", "platform_machine": machine}
    where |= {"sys_platform": "linux", "platform_system": "Linux", "implementation_name": "cpython"}
    where |= {"platform_python_implementation": "CPython", "os_name": "posix"}
    extras = project.get("optional-dependencies", {})
    assert isinstance(extras, dict) and isinstance(project["dependencies"], list)
    wanted = [*project["dependencies"], *(d for name, ds in extras.items() if name != "dev" for d in ds)]

    def fitting(lines: list[str], extra: str) -> Iterator[Requirement]:
        for one in map(Requirement, lines):
            if one.marker is None or one.marker.evaluate(where | {"extra": extra}):
                yield one

    todo = [*fitting(wanted, "")]
    done: set[tuple[str, str]] = set()
    while todo:
        one = todo.pop()
        name: str = canonicalize_name(one.name)
        if name not in blocks:
            raise SystemExit(f"{one.name} is not in requirements.lock: make lock")
        for extra in {"", *one.extras} - {extra for known, extra in done if known == name}:
            done.add((name, extra))
            todo += fitting(_requires(one.name), extra)
    return {name: blocks[name] for name in sorted({name for name, _ in done})}


def _requires(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        raise SystemExit(f"{name} is locked but not installed here: rm -r .venv && make setup") from None


def control(tree: Path, version: str, python: str, architecture: str) -> None:
    """What dpkg reads: the description, what may be edited, the sums, the scripts."""
    files = [path for path in sorted(tree.rglob("*")) if path.is_file() and not path.is_symlink()]
    major, minor = python.split(".")
    size = sum(path.stat().st_size for path in files)
    words = {
        "VERSION": version,
        "ARCHITECTURE": architecture,
        "SIZE": str(size // 1024 + 1),
        "PYTHON": python,
        "NEXT_PYTHON": f"{major}.{int(minor) + 1}",
    }
    text = (HERE / "control.in").read_text()
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    sums = "".join(
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}  {path.relative_to(tree)}\n"
        for path in files
    )
    put(tree / "DEBIAN/control", text.encode())
    put(tree / "DEBIAN/conffiles", f"/{EXAMPLE}\n".encode())
    put(tree / "DEBIAN/md5sums", sums.encode())
    for script in SCRIPTS:
        put(tree / "DEBIAN" / script, (HERE / script).read_bytes(), 0o755)
    for path in [tree, *tree.rglob("*")]:  # whatever the umask of who builds
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)


def put(path: Path, data: bytes, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)


def pip(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "pip", words[0], "--quiet", "--disable-pip-version-check", *words[1:])


def run(*command: str, environment: dict[str, str] | None = None) -> None:
    around = os.environ | (environment or {})
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=around)
    if done.returncode:
        tail = "\n".join((done.stderr or done.stdout).splitlines()[-20:])
        raise SystemExit(f"the package could not be built: {' '.join(command[:4])} …\n{tail}")


if __name__ == "__main__":
    raise SystemExit(main())
