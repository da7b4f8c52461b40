"""``journal backup`` and ``journal restore``: copies of a journal, made and put back."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from tablectl.cli import output
from tablectl.cli.arguments import Text, json_option, reaches_daemon
from tablectl.cli.configuration import config_option
from tablectl.cli.journal_source import stopped
from tablectl.cli.output import Refused, escape
from tablectl.cli.read import word
from tablectl.cli.target import Target
from tablectl.local import Client

LOOK = 0.5
"""How often (s) it is asked whether the daemon's backup is done."""


@click.command("backup")
@click.option("--to", "folder", type=Text(255), help="The folder, while the daemon is stopped.")
@config_option
@json_option
@reaches_daemon
def backup(target: Target, folder: str | None, config_file: str | None, as_json: bool) -> int:
    """Make a verified copy, also while the table plays; the daemon puts it into [journal] backups.

    Example:  tablectl journal backup
    """
    from tablectl.cli.technician import daemon_or_configuration

    client, config = daemon_or_configuration(target, config_file)
    if client is not None:
        if folder is not None:
            raise Refused("refused: the daemon runs, and puts it into the folder [journal] backups; no --to")
        made = _made_by(client)
    else:
        assert config is not None
        made = _made_here(config, folder)
    if as_json:
        output.say_json(made)
        return 0
    rows, events = word(made.get("row"), 20), word(made.get("sequence"), 20)
    output.say(f"{word(made.get('file'), 500)}: rows up to {rows}, events up to {events}, verified")
    output.say("copy it to another machine; tablectl journal restore FILE puts it back")
    return 0


def _made_by(client: Client) -> dict[str, Any]:
    code, answer = client.post("/v1/journal/backup", {})
    if code != 200:
        raise Refused(f"refused: {word(answer.get('error', f'HTTP {code}'))}")
    while answer.get("running") is True:
        time.sleep(LOOK)
        _, answer = client.get("/v1/journal/backup")
    if "file" not in answer:
        raise Refused(f"refused: {word(answer.get('error', 'no backup was made'), 500)}")
    return answer


def _made_here(config: Any, folder: str | None) -> dict[str, Any]:
    import sqlite3
    from contextlib import closing

    from tablectl.journal.backup import backup as make
    from tablectl.journal.reader import JournalReader
    from tablectl.journal.rows import JournalFault

    with stopped(config):
        try:
            with closing(JournalReader.open(config.journal_path)) as reader:
                file, copied = make(reader, Path(folder) if folder else config.backups_path)
        except (JournalFault, OSError, sqlite3.Error) as fault:
            raise Refused(f"refused: {escape(fault)}") from None
    return {"file": str(file), "row": copied.row, "sequence": copied.sequence, "acked": copied.acked}


@click.command("restore")
@click.argument("file", type=Text(500))
@click.option("--older", is_flag=True, help="Also if the journal in place has rows that FILE lacks.")
@config_option
@reaches_daemon
def restore(target: Target, file: str, older: bool, config_file: str | None) -> int:
    """Put a backup or a mirror in the journal's place. The daemon must be stopped; what was there is kept.

    Example:  tablectl journal restore /mnt/mirror/tablectl/T07.db
    """
    from tablectl.cli.technician import daemon_or_configuration
    from tablectl.journal.backup import NotRestored
    from tablectl.journal.backup import restore as put_back

    client, config = daemon_or_configuration(target, config_file)
    if client is not None:
        raise Refused("refused: the daemon runs; stop it first (systemctl stop 'tablectl@TABLE')")
    assert config is not None
    with stopped(config):
        try:
            said = put_back(Path(file), config.journal_path, config.table.id, older=older)
        except NotRestored as why:
            raise Refused(f"refused: {escape(why)}") from None
        except OSError as fault:
            raise Refused(f"refused: {escape(fault)}") from None
    for line in said:
        output.say(escape(line))
    return 0
