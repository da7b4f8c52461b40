"""The part of the AsyncAPI document about NATS JetStream: the stream, and the question beside it.

The bindings of NATS have no properties of their own for what JetStream adds; the headers tell it.
"""

from __future__ import annotations

from typing import Any

from tablectl.delivery.form import SINGLE_TYPE


def ref(path: str) -> dict[str, str]:
    """A reference within the document."""
    return {"$ref": f"#/{path}"}


SCHEMAS: dict[str, Any] = {
    "streamed": {
        "type": "object",
        "description": "Of a message in the stream. Nothing is signed: NATS sees to who may publish.",
        "properties": {
            "ce-type": {
                "type": "string",
                "pattern": r"^tablectl\.[a-z_.]+\.v1$",
                "description": "The event's type.",
            },
            "Nats-Msg-Id": {
                "type": "string",
                "pattern": r"^[A-Za-z0-9_-]{1,16}-[0-9a-f]{6}-[0-9]{12}(-[ps])?(~[0-9]+)?$",
                "description": "The event's id; sent again later, it has ~ and a number behind it.",
            },
            "Nats-Expected-Last-Subject-Sequence": {
                "type": "string",
                "pattern": "^[0-9]+$",
                "description": "The fence: the place of the message before it in the subject; 0: none.",
            },
        },
        "required": ["ce-type", "Nats-Msg-Id", "Nats-Expected-Last-Subject-Sequence"],
    },
    "asked": {
        "type": "object",
        "description": "How far this table stands.",
        "properties": {
            "epoch": {
                "type": "string",
                "pattern": "^([0-9a-f]{6})?$",
                "description": "Its history; empty: it has none yet and only asks.",
            },
            "stream": {"type": "string", "description": "The stream that it publishes to."},
            "stored": {"type": "integer", "description": "The place of its newest message there; 0: none."},
            "acked": {"type": "integer", "description": "Its newest event there; 0: none."},
        },
        "required": ["epoch", "stream", "stored", "acked"],
    },
    "word": {
        "type": "object",
        "description": "Betting opens by this answer alone, not by the stream's acknowledgement.",
        "properties": {
            "next": {"type": "integer", "minimum": 1},
            "epoch": {"type": "string", "description": "The history to which the table is pinned."},
            "resend": {
                "type": "boolean",
                "description": "Everything up to `stored` was looked at; `next` was not there.",
            },
            "status": {
                "type": "integer",
                "description": "As over HTTP: 422 refuses event `next`, 403 the history.",
            },
            "error": {"type": "string", "description": "Words for people."},
            "placed": ref("components/schemas/placed"),
        },
    },
}

MESSAGES: dict[str, Any] = {
    "nats.event": {
        "name": "event",
        "title": "One event, byte for byte as over HTTP",
        "contentType": SINGLE_TYPE,
        "headers": ref("components/schemas/streamed"),
        "payload": ref("components/schemas/event"),
    },
    "nats.question": {
        "name": "question",
        "title": "How far were my events taken?",
        "contentType": "application/json",
        "payload": ref("components/schemas/asked"),
    },
    "nats.word": {
        "name": "word",
        "title": "The event wanted next, or why not",
        "contentType": "application/json",
        "payload": ref("components/schemas/word"),
    },
}

TABLE = {"table": {"description": "The table's id, 1 to 16 of A-Z a-z 0-9 _ -"}}
SERVERS: dict[str, Any] = {
    "jetStream": {
        "host": "nats.example:4222",
        "protocol": "nats",
        "description": "Instead of HTTP: a NATS server with JetStream, whose stream takes tables.*.events.",
    },
}
CHANNELS: dict[str, Any] = {
    "stream": {
        "address": "tables.{table}.events",
        "title": "Events of one table in the stream",
        "servers": [ref("servers/jetStream")],
        "parameters": TABLE,
        "messages": {"event": ref("components/messages/nats.event")},
    },
    "link": {
        "address": "tables.{table}.link",
        "title": "What one table asks of the game server that consumes the stream",
        "servers": [ref("servers/jetStream")],
        "parameters": TABLE,
        "messages": {"question": ref("components/messages/nats.question")},
    },
    "words": {
        "address": None,
        "title": "The game server's answers, to the reply subject of each question",
        "servers": [ref("servers/jetStream")],
        "messages": {"word": ref("components/messages/nats.word")},
    },
}
_BINDINGS = {"nats": {"bindingVersion": "0.1.0"}}
OPERATIONS: dict[str, Any] = {
    "publish": {
        "action": "send",
        "title": "Publish events in sequence; the stream refuses who does not know the newest",
        "channel": ref("channels/stream"),
        "messages": [ref("channels/stream/messages/event")],
        "bindings": _BINDINGS,
    },
    "ask": {
        "action": "send",
        "title": "Ask at the start, every five seconds, each second while owed or betting",
        "channel": ref("channels/link"),
        "messages": [ref("channels/link/messages/question")],
        "bindings": _BINDINGS,
        "reply": {
            "channel": ref("channels/words"),
            "messages": [ref("channels/words/messages/word")],
        },
    },
}
