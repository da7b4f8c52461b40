"""The shipped JSON Schemas: current, without private fields, and true of every event that is sent."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import pytest

from tablectl.clock import Instant
from tablectl.events import PUBLIC_TYPES, TYPES, public_body
from tablectl.schemas import FOLDER, schemas, write
from tests.table.playing import Play, Recorded, house
from tests.table.test_holds import CASES

MADE = schemas()


def test_the_schemas_on_disk_are_those_of_the_events() -> None:
    on_disk = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert set(on_disk) == set(MADE), "run: make schemas"
    changed = [name for name, text in MADE.items() if on_disk[name] != text]
    assert changed == [], (
        f"{changed} differ from the event classes. A v1 type only gains optional fields: if that is what"
        " happened, run `make schemas`; anything else needs a new version of the type."
    )


def test_one_schema_for_every_public_type_and_one_for_the_envelope() -> None:
    assert set(MADE) == {f"{name}.v1.json" for name in PUBLIC_TYPES} | {
        "envelope.v1.json",
        "asyncapi.json",
    }


@pytest.mark.parametrize("name", PUBLIC_TYPES)
def test_no_private_field_is_in_a_schema(name: str) -> None:
    schema = json.loads(MADE[f"{name}.v1.json"])
    private = {f.name for f in dataclasses.fields(TYPES[name]) if f.metadata.get("private")}
    assert not private & set(schema["properties"])
    public = {f.name.removesuffix("_") for f in dataclasses.fields(TYPES[name])} - private
    assert set(schema["properties"]) == public
    assert "shoe" not in schema.get("required", []), "shoe and round are absent outside of them"


def test_writing_takes_away_what_no_event_has(tmp_path: Any) -> None:
    (tmp_path / "gone.v1.json").write_text("{}")
    assert write(tmp_path) == len(MADE)
    assert {path.name for path in tmp_path.iterdir()} == set(MADE)


# --- a small check of the few words these schemas use ----------------------------------------------------

PYTHON: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def faults(value: Any, schema: dict[str, Any], root: dict[str, Any], where: str = "data") -> list[str]:
    """Why ``value`` is not what ``schema`` says."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", maxsplit=1)[1]]
    found = []
    kind = schema.get("type")
    if kind and (not isinstance(value, PYTHON[kind]) or (kind != "boolean" and isinstance(value, bool))):
        return [f"{where}: {value!r} is no {kind}"]
    if "const" in schema and value != schema["const"]:
        found.append(f"{where}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is none of {schema['enum']}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{where}: {value!r} does not match {schema['pattern']}")
    if isinstance(value, list):
        for i, part in enumerate(value):
            found += faults(part, schema.get("items", {}), root, f"{where}[{i}]")
    if isinstance(value, dict):
        found += [f"{where}: {name} is missing" for name in schema.get("required", ()) if name not in value]
        known = schema.get("properties")
        for name, part in value.items():
            if known is not None and name not in known:
                found.append(f"{where}: {name} is not in the schema")
            other = schema.get("additionalProperties")
            inner = (known or {}).get(name) or (other if isinstance(other, dict) else {})
            found += faults(part, inner, root, f"{where}.{name}")
    return found


@pytest.mark.parametrize("profile", ["live-casino", "classic", "commission-free", "atlantic-city"])
def test_every_event_of_a_shoe_is_as_its_schema_says(profile: str) -> None:
    simulation = Recorded(house(profile), "schemas")
    simulation.play_shoe()
    assert_all_valid(simulation.events)


def test_every_event_of_trouble_is_as_its_schema_says() -> None:
    for way, _, ways in CASES.values():
        play: Play = way()
        for action in ways:
            if action not in ("void", "shoe end", "rescan hand"):
                play.take(action)
                break
        assert_all_valid(play.events)


def assert_all_valid(events: list[Any]) -> None:
    envelope = json.loads(MADE["envelope.v1.json"])
    public = [event for event in events if event.PUBLIC]
    for sequence, event in enumerate(public, start=1):
        at, test = Instant(1, 2_000_000), sequence % 2 == 0
        body = public_body(event, table="T07", epoch="4f2a91", sequence=sequence, at=at, test=test)
        sent = json.loads(body)
        assert faults(sent, envelope, envelope, "event") == []
        schema = json.loads(MADE[f"{sent['type'].removeprefix('tablectl.')}.json"])
        assert faults(sent["data"], schema, schema) == []


def test_the_small_check_sees_faults() -> None:
    schema = json.loads(MADE["betting.opened.v1.json"])
    assert faults({"shoe": "1", "seconds": 20.0}, schema, schema) == [
        "data: closes_at is missing",
        "data.shoe: '1' is no integer",
    ]
