"""Counting on both sides: what the journal says was sent, and what the game server holds."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

from tablectl.journal import JournalReader


def held_rounds(base: str, table: str) -> dict[str, dict[str, Any]]:
    """Every round a reference game server holds of a table, by ``SHOE/ROUND``."""
    found: dict[str, dict[str, Any]] = {}
    after = "0/0"
    while True:
        target = f"{base}/v1/tables/{table}/rounds?after={after}&limit=500"
        with urllib.request.urlopen(target, timeout=10) as response:  # noqa: S310 our own loopback server
            page = json.load(response)
        for record in page["rounds"]:
            after = f"{record['shoe']}/{record['round']}"
            found[after] = record
        if not page["more"]:
            return found


def sent_rounds(path: Path) -> dict[str, dict[str, Any]]:
    """The last word on every round in a journal: its result, amended result or void."""
    reader = JournalReader.open(path)
    try:
        found: dict[str, dict[str, Any]] = {}
        for row in reader.every_row():
            if row.public is None:
                continue
            event = json.loads(row.public)
            kind, data = event["type"], event["data"]
            if kind in ("tablectl.round.resulted.v1", "tablectl.round.voided.v1"):
                found[f"{data['shoe']}/{data['round']}"] = {"type": kind, **data}
            elif kind == "tablectl.round.amended.v1":
                found[f"{data['shoe']}/{data['round']}"] = {"type": kind, **data["after"]}
        return found
    finally:
        reader.close()


def differences(sent: dict[str, dict[str, Any]], held: dict[str, dict[str, Any]]) -> list[str]:
    """What a game server holds otherwise than the journal says, in words; empty when nothing."""
    found = [f"{name}: not at the server" for name in sent if name not in held]
    found += [f"{name}: not in the journal" for name in held if name not in sent]
    for name in sent.keys() & held.keys():
        ours, theirs = dict(sent[name]), held[name]
        state = ours.pop("type").removeprefix("tablectl.round.").removesuffix(".v1")
        if theirs["state"] != state or theirs["result"] != ours:
            found.append(f"{name}: {state} {ours} here, {theirs['state']} {theirs['result']} there")
    return found
