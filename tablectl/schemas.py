"""The JSON Schemas of the public events, generated from the event classes: ``python -m tablectl.schemas``.

One file per event type describes its ``data``, one the CloudEvents envelope around it, and
``asyncapi.json`` all of it (:mod:`tablectl.asyncapi`). They ship
with the package (``tablectl/schema/``), so that a game server can be written and checked against
them. A ``v1`` type only gains optional fields: anything else needs a new version.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from tablectl.asyncapi import document
from tablectl.events import PUBLIC_TYPES, TYPES, Event

FOLDER = Path(__file__).parent / "schema"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def data_schema(cls: type[Event]) -> dict[str, Any]:
    """The schema of the ``data`` of one public event class; private fields are not in it."""
    schema = TypeAdapter(cls).json_schema()
    name = f"tablectl.{cls.TYPE}.v1"
    private = {f.name for f in dataclasses.fields(cls) if f.metadata.get("private")}
    _outward(schema, cls, private)
    for part in schema.get("$defs", {}).values():
        _outward(part, None, set())
    schema.pop("title", None)
    return {"$schema": _DIALECT, "$id": name, "title": name, **schema}


def _outward(schema: dict[str, Any], cls: type[Event] | None, private: set[str]) -> None:
    """Say what is really sent: what is None is left out, all else is there."""
    properties = {name.removesuffix("_"): part for name, part in schema.get("properties", {}).items()}
    if not properties:
        return
    schema["properties"] = {
        name: _without_null(part) for name, part in properties.items() if name not in private
    }
    absent = {name for name, part in properties.items() if "default" in part and part["default"] is None}
    required = [name for name in schema["properties"] if name not in absent]
    schema.pop("required", None)
    if required:
        schema["required"] = required
    if cls is not None and (cls.__doc__ or "").startswith(f"{cls.__name__}("):
        schema.pop("description", None)  # dataclass's own signature tells nothing


def _without_null(part: dict[str, Any]) -> dict[str, Any]:
    part = {key: value for key, value in part.items() if key not in ("default", "title")}
    choices = [choice for choice in part.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        del part["anyOf"]
        part |= choices[0]
    return part


def envelope_schema() -> dict[str, Any]:
    """The schema of the CloudEvents 1.0 envelope (contract, section 2)."""
    text = {"type": "string"}
    properties: dict[str, Any] = {
        "specversion": {"const": "1.0"},
        "id": {**text, "pattern": "^[A-Za-z0-9_-]{1,16}-[0-9a-f]+-[0-9]{12,}(-[ps])?$"},
        "source": {**text, "pattern": "^/tables/[A-Za-z0-9_-]{1,16}$"},
        "type": {"enum": [f"tablectl.{name}.v1" for name in PUBLIC_TYPES]},
        "subject": {**text, "pattern": "^(table|shoe/[0-9]+(/round/[0-9]+)?)$"},
        "time": {**text, "format": "date-time"},
        "sequence": {**text, "pattern": "^[0-9]{12,}$"},
        "epoch": {**text, "pattern": "^[0-9a-f]+$"},
        "datacontenttype": {"const": "application/json"},
        "tabletest": {"const": True, "description": "The table is a test table; absent at a real one."},
        "data": {"type": "object"},
    }
    return {
        "$schema": _DIALECT,
        "$id": "tablectl.envelope.v1",
        "title": "tablectl.envelope.v1",
        "description": "The envelope of every event. Unknown types and fields are to be ignored.",
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name != "tabletest"],
    }


def schemas() -> dict[str, str]:
    """Every file by its name, as it is to stand in :data:`FOLDER`."""
    data, envelope = {name: data_schema(TYPES[name]) for name in PUBLIC_TYPES}, envelope_schema()
    made = {f"{name}.v1.json": schema for name, schema in data.items()}
    made["envelope.v1.json"] = envelope
    made["asyncapi.json"] = document(envelope, data)
    return {
        name: json.dumps(schema, indent=2, ensure_ascii=False).replace("``", "`") + "\n"
        for name, schema in made.items()
    }


def write(folder: Path = FOLDER) -> int:
    """Write every schema to ``folder``, and take away files that no event has any more; how many."""
    folder.mkdir(exist_ok=True)
    made = schemas()
    for old in folder.glob("*.json"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    return len(made)


if __name__ == "__main__":
    sys.stdout.write(f"{write()} schemas written to {FOLDER}\n")
