"""Counting on both sides: what the journal says was sent, and what the game server holds."""

from __future__ import annotations

import http.client
import json
import shutil
import tempfile
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tablectl.journal import JournalReader

PAGES = 200
"""Most pages that are asked for: a server that always has more has nothing to compare."""
PATH = "/v1/tables/{table}/events"
"""How the reference game server's address ends; it can be asked for what it holds beside that."""


class CannotAsk(Exception):
    """A game server does not tell which results it holds; the text says why."""


def held_by(url: str, table: str) -> dict[str, dict[str, Any]]:
    """As :func:`held_rounds`, of any game server, by its address for events. Raises :class:`CannotAsk`."""
    address = urlsplit(url)
    if address.scheme not in ("http", "https"):
        raise CannotAsk("it is not reached over HTTP")
    if not address.path.endswith((PATH, PATH.replace("{table}", table))):
        raise CannotAsk(f"its address does not end with {PATH}")
    base = address._replace(path=address.path[: address.path.rindex("/v1/tables/")], query="", fragment="")
    try:
        return held_rounds(base.geturl(), table)
    except (OSError, http.client.HTTPException, ValueError) as fault:
        raise CannotAsk(f"GET {PATH.replace('{table}/events', table)}/rounds: {fault}"[:300]) from None
    except (AttributeError, KeyError, TypeError):
        raise CannotAsk("what it answers has not the form of the reference game server") from None


def held_rounds(base: str, table: str) -> dict[str, dict[str, Any]]:
    """Every round a reference game server holds of a table, by ``SHOE/ROUND``."""
    found: dict[str, dict[str, Any]] = {}
    after = "0/0"
    for _ in range(PAGES):
        target = f"{base}/v1/tables/{table}/rounds?after={after}&limit=500"
        with urllib.request.urlopen(target, timeout=10) as response:  # noqa: S310 http or https alone
            page = json.load(response)
        for record in page["rounds"]:
            after = f"{record['shoe']}/{record['round']}"
            found[after] = record
        if not page["more"]:
            return found
    raise ValueError("there is no end to its rounds")


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


def keep(path: Path, sent: dict[str, dict[str, Any]], table: str) -> Path:
    """Copy a closed journal and its results to a folder that stays; the folder."""
    folder = Path(tempfile.mkdtemp(prefix="tablectl-demo-kept-"))
    shutil.copyfile(path, folder / path.name)
    (folder / f"{table}-results.json").write_text(json.dumps(sent, indent=1) + "\n")
    return folder


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
