"""Settings of a driver with the files they name put in their place: a recording is whole by itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tablectl.plain_file import parse_toml, read_file


def inlined(settings: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    """``settings`` with what is in the TOML files that ``paths`` (:attr:`Driver.paths`) name.

    A file of one table stands for that table (``[codes]`` of a card table). What cannot be read stays a path.
    """
    made = dict(settings)
    for key in paths:
        if isinstance(made.get(key), str):
            made[key] = _content(made[key])
    # TOML knows dates, a recording's JSON does not; no driver has such a setting.
    plain: dict[str, Any] = json.loads(json.dumps(made, default=str))
    return plain


def _content(path: str) -> Any:
    try:
        document = parse_toml(read_file(Path(path)).decode())
    except (OSError, ValueError):
        return path
    tables = [value for value in document.values() if isinstance(value, dict)]
    return tables[0] if len(document) == 1 and tables else document
