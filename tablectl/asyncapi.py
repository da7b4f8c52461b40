"""The contract with a game server as an AsyncAPI 3 document, made from the event classes.

Written beside the JSON Schemas by ``python -m tablectl.schemas``. It describes the controller: what it sends,
how, and what it wants for an answer. The words behind it are in docs/integration.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tablectl import asyncapi_nats as nats
from tablectl.asyncapi_nats import ref
from tablectl.delivery.form import BATCH_TYPE, SINGLE_TYPE
from tablectl.delivery.placed import MOST

VERSION = "1.0.0"
"""Of the contract, not of the program."""

_NEXT = {
    "type": "object",
    "description": "The sequence that is wanted next, once everything before it is stored for good.",
    "properties": {
        "next": {"type": "integer", "minimum": 1},
        "placed": ref("components/schemas/placed"),
    },
    "required": ["next"],
}
_PLACED = {
    "type": "object",
    "description": "Optional, while your betting is open: how many have placed, for the dealer to see.",
    "properties": {
        "shoe": {"type": "integer", "minimum": 1, "maximum": MOST},
        "round": {"type": "integer", "minimum": 1, "maximum": MOST},
        "players": {
            "type": "integer",
            "minimum": 0,
            "maximum": MOST,
            "description": "Players at the table.",
        },
        "placed": {
            "type": "integer",
            "minimum": 0,
            "maximum": MOST,
            "description": "Those of them who have placed in this round, or want no bet more in it.",
        },
    },
    "required": ["shoe", "round", "players", "placed"],
}
_HEADERS = {
    "type": "object",
    "description": "Standard Webhooks; made anew at every try.",
    "properties": {
        "webhook-id": {
            "type": "string",
            "description": "The event's id; of a batch FIRST_LAST, of a probe TABLE-EPOCH-probe.",
        },
        "webhook-timestamp": {"type": "string", "description": "Unix seconds of this try."},
        "webhook-signature": {
            "type": "string",
            "description": "One or more, a blank between: v1, + base64 of HMAC-SHA-256 of ID.TIMESTAMP.BODY",
        },
    },
    "required": ["webhook-id", "webhook-timestamp", "webhook-signature"],
}
_REFUSALS = (
    "Any other answer: 408, 425, 429, 5xx and none in time are tried again; 401, 403, 404, 405, 410, 413 and "
    "415 put the link at fault; 400 and 422 refuse the event and halt the sequence."
)


def document(envelope: Mapping[str, Any], data: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The document. ``data``: the schema of each event's data by its name, ``round.resulted``."""
    schemas: dict[str, Any] = {
        "envelope": _plain(envelope),
        "next": _NEXT,
        "placed": _PLACED,
        "signed": _HEADERS,
    }
    messages: dict[str, Any] = {}
    for name, schema in data.items():
        schemas |= {part: _plain(definition) for part, definition in schema.get("$defs", {}).items()}
        schemas[name] = _plain(schema)
        messages[name] = _message(name, schema)
    schemas["event"] = {"anyOf": [ref(f"components/messages/{name}/payload") for name in messages]}
    messages["batch"] = {
        "name": "batch",
        "title": "Up to 100 events in sequence, when the table catches up; [] is the probe",
        "contentType": BATCH_TYPE,
        "headers": ref("components/schemas/signed"),
        "payload": {"type": "array", "maxItems": 100, "items": ref("components/schemas/event")},
    }
    answers = {
        "next": {
            "name": "next",
            "title": "200, or 409 to go back",
            "contentType": "application/json",
            "payload": ref("components/schemas/next"),
        }
    }
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "tablectl: events of a baccarat table",
            "version": VERSION,
            "description": "One gap-free sequence per table, at least once, in order. " + _REFUSALS,
        },
        "defaultContentType": SINGLE_TYPE,
        "servers": {
            "gameServer": {
                "host": "games.example",
                "protocol": "https",
                "description": "Yours. Any address; {table} in it is expanded.",
            },
            **nats.SERVERS,
        },
        "channels": {
            "events": {
                "address": "/v1/tables/{table}/events",
                "title": "Events of one table",
                "servers": [ref("servers/gameServer")],
                "parameters": nats.TABLE,
                "messages": {name: ref(f"components/messages/{name}") for name in messages},
            },
            "answers": {
                "address": None,
                "title": "The answer to each request",
                "servers": [ref("servers/gameServer")],
                "messages": {name: ref(f"components/messages/answer.{name}") for name in answers},
            },
            **nats.CHANNELS,
        },
        "operations": {
            "deliver": {
                "action": "send",
                "title": "Deliver events, one request at a time",
                "channel": ref("channels/events"),
                "messages": [ref(f"channels/events/messages/{name}") for name in messages],
                "bindings": {"http": {"method": "POST", "bindingVersion": "0.3.0"}},
                "reply": {
                    "channel": ref("channels/answers"),
                    "messages": [ref(f"channels/answers/messages/{name}") for name in answers],
                },
            },
            **nats.OPERATIONS,
        },
        "components": {
            "messages": messages
            | {f"answer.{name}": answer for name, answer in answers.items()}
            | nats.MESSAGES,
            "schemas": schemas | nats.SCHEMAS,
        },
    }


def _message(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    full = f"tablectl.{name}.v1"
    made = {
        "name": full,
        "title": full,
        "headers": ref("components/schemas/signed"),
        "payload": {
            "allOf": [
                ref("components/schemas/envelope"),
                {
                    "type": "object",
                    "properties": {"type": {"const": full}, "data": ref(f"components/schemas/{name}")},
                },
            ]
        },
    }
    return made | ({"summary": schema["description"]} if "description" in schema else {})


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema as a part of the document: its definitions stand beside it."""
    bare = {key: value for key, value in schema.items() if key not in ("$schema", "$id", "$defs")}
    made: dict[str, Any] = json.loads(json.dumps(bare).replace("#/$defs/", "#/components/schemas/"))
    return made
