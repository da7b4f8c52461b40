"""The AsyncAPI document: current, of the right structure (AsyncAPI 3.0), and true of what is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tablectl.clock import Instant
from tablectl.delivery.nats_line import Line
from tablectl.delivery.tls import TlsFiles
from tablectl.events import PUBLIC_TYPES, HistorySkipped, public_body
from tablectl.gameserver import stream
from tablectl.schemas import FOLDER, schemas
from tests.gameserver.posting import amended, resulted
from tests.table.playing import Recorded, house
from tests.test_schemas import faults

DOCUMENT: dict[str, Any] = json.loads(schemas()["asyncapi.json"])

NAME = re.compile(r"[\w.\-]+")
_ABOUT = {"title", "description", "tags", "externalDocs"}
_MORE = _ABOUT | {"summary", "bindings"}
FIELDS = {
    "root": {"asyncapi", "id", "info", "servers", "defaultContentType", "channels", "operations"}
    | {"components"},
    "info": _ABOUT | {"version", "termsOfService", "contact", "license"},
    "server": _MORE | {"host", "protocol", "protocolVersion", "pathname", "variables", "security"},
    "channel": _MORE | {"address", "messages", "servers", "parameters"},
    "operation": _MORE | {"action", "channel", "security", "traits", "messages", "reply"},
    "message": _MORE | {"headers", "payload", "correlationId", "contentType", "name", "examples", "traits"},
}
"""The fields that each object of the specification may have."""


def at(pointer: str) -> Any:
    """What a reference leads to."""
    value: Any = DOCUMENT
    assert pointer.startswith("#/")
    for part in pointer[2:].split("/"):
        value = value[part]
    return value


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def test_it_is_the_one_that_ships() -> None:
    assert json.loads((FOLDER / "asyncapi.json").read_text()) == DOCUMENT, "run: make schemas"


def test_its_structure_is_that_of_asyncapi_3() -> None:
    assert DOCUMENT["asyncapi"] == "3.0.0"
    assert set(DOCUMENT) <= FIELDS["root"] and {"asyncapi", "info"} <= set(DOCUMENT)
    assert set(DOCUMENT["info"]) <= FIELDS["info"] and {"title", "version"} <= set(DOCUMENT["info"])
    for server in DOCUMENT["servers"].values():
        assert set(server) <= FIELDS["server"] and {"host", "protocol"} <= set(server)
    assert [server["protocol"] for server in DOCUMENT["servers"].values()] == ["https", "nats"]
    for channel in DOCUMENT["channels"].values():
        assert set(channel) <= FIELDS["channel"]
        wanted = re.findall(r"{(\w+)}", channel["address"] or "")
        assert list(channel.get("parameters", {})) == wanted
        assert all(set(one) == {"$ref"} for one in channel["messages"].values())
    for message in DOCUMENT["components"]["messages"].values():
        assert set(message) <= FIELDS["message"] and "payload" in message
    for group in ("channels", "operations"):
        assert all(NAME.fullmatch(name) for name in DOCUMENT[group])
    for part in DOCUMENT["components"].values():
        assert all(NAME.fullmatch(name) for name in part)


def test_an_operations_messages_are_those_of_its_channel() -> None:
    for operation in DOCUMENT["operations"].values():
        assert set(operation) <= FIELDS["operation"] and operation["action"] in ("send", "receive")
        (server,) = at(operation["channel"]["$ref"])["servers"]
        assert list(operation["bindings"]) == [{"https": "http"}.get(p := at(server["$ref"])["protocol"], p)]
        for side in filter(None, (operation, operation.get("reply"))):
            channel = side["channel"]["$ref"]
            assert channel.startswith("#/channels/")
            assert all(one["$ref"].startswith(f"{channel}/messages/") for one in side["messages"])


def test_every_reference_leads_somewhere_and_every_type_is_a_message() -> None:
    found = list(references(DOCUMENT))
    assert len(found) > 3 * len(PUBLIC_TYPES)
    for pointer in found:
        assert at(pointer) is not None
    assert set(PUBLIC_TYPES) < set(DOCUMENT["channels"]["events"]["messages"])


def test_the_subjects_are_those_of_the_code() -> None:
    line = Line("nats://127.0.0.1:1", "T07", TlsFiles(), None)
    channels = DOCUMENT["channels"]
    assert channels["stream"]["address"].replace("{table}", "T07") == line.events
    assert channels["link"]["address"].replace("{table}", "T07") == line.link
    assert channels["stream"]["address"].replace("{table}", "*") == stream.SUBJECT
    assert channels["link"]["address"].replace("{table}", "*") == stream.LINK


def test_what_is_sent_is_as_the_document_says() -> None:
    simulation = Recorded(house("live-casino"), "asyncapi")
    simulation.play_shoe()
    told = [*simulation.events, amended(7, revision=2), resulted(7), HistorySkipped(from_=1, to=9)]
    root = {"$defs": DOCUMENT["components"]["schemas"]}
    for sequence, event in enumerate((event for event in told if event.PUBLIC), start=1):
        sent = json.loads(
            public_body(event, table="T07", epoch="4f2a91", sequence=sequence, at=Instant(1, 2), test=True)
        )
        envelope, own = DOCUMENT["components"]["messages"][event.TYPE]["payload"]["allOf"]
        assert faults(sent, at(envelope["$ref"]), root) == []
        assert sent["type"] == own["properties"]["type"]["const"]
        assert faults(sent["data"], own["properties"]["data"], root) == []
