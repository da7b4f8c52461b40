"""``make audit``: every locked package asked about in the public advisory database.

Exit code 0: nothing known. 1: a known hole, named with the release that mends it. 3: the database could not
be reached for some of them, which says nothing about them; with ``--lenient`` that is said, and is no fault.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LOCK = Path(__file__).parents[2] / "requirements.lock"

UNREACHED = 3


def verdict(report: dict[str, Any]) -> tuple[int, list[str]]:
    """Exit code, and what to say, of ``pip-audit``'s report."""
    lines, unknown = [], []
    for package in report["dependencies"]:
        if "skip_reason" in package:
            unknown.append(package["name"])
            continue
        for hole in package["vulns"]:
            mended = ", ".join(hole["fix_versions"]) or "no release yet"
            lines.append(f"{package['name']} {package['version']}: {hole['id']}, mended in {mended}")
    if lines:
        return 1, lines
    asked = len(report["dependencies"]) - len(unknown)
    if unknown:
        return UNREACHED, [
            f"NOT AUDITED: {len(unknown)} packages; {asked} asked about (is the database there?)"
        ]
    return 0, [f"{asked} packages, no known hole"]


def main() -> int:
    """Ask, and say what came of it."""
    command = [sys.executable, "-m", "pip_audit", "--require-hashes", "--disable-pip", "--format", "json"]
    done = subprocess.run(
        [*command, "-r", str(LOCK)], capture_output=True, text=True, timeout=300, check=False
    )
    try:
        code, lines = verdict(json.loads(done.stdout))
    except ValueError:
        code, lines = UNREACHED, [f"NOT AUDITED: {done.stderr.strip()[-500:]}"]
    print("\n".join(lines))
    return 0 if code == UNREACHED and "--lenient" in sys.argv[1:] else code


if __name__ == "__main__":
    sys.exit(main())
