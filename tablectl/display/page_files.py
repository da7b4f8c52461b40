"""The display's own files, read once: a page needs nothing from anywhere else."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "page"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}

HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}
"""Of every file: the page runs its own code, and asks nobody but this table."""


@dataclass(frozen=True, slots=True)
class PageFile:
    """``path``: where a browser asks for it."""

    path: str
    body: bytes
    content_type: str


def page_files() -> tuple[list[PageFile], str]:
    """All files, and what names this edition of them: a page of another one loads itself anew."""
    digest = hashlib.sha256()
    found = []
    for file in sorted(_FOLDER.iterdir()):
        if file.suffix not in _TYPES:
            continue
        body = file.read_bytes()
        digest.update(file.name.encode() + b"\0" + body)
        path = "/" if file.name == "index.html" else f"/display/{file.name}"
        found.append(PageFile(path, body, _TYPES[file.suffix]))
    return found, digest.hexdigest()[:12]
