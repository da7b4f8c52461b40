"""For a game server's developers: the reference game server, and the conformance kit."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tablectl.cli import output
from tablectl.cli.arguments import TABLE, Pattern, Text
from tablectl.cli.output import Refused

EPOCH = Pattern("epoch", r"[0-9a-f]{6}", "an epoch is six of 0-9 a-f, as the refusal names it")

_db = click.option("--db", default="gameserver.db", show_default=True, type=Text(255), help="Its database.")


@click.group("gameserver", invoke_without_command=True)
@_db
@click.option("--host", default="127.0.0.1", show_default=True, type=Text(255))
@click.option("--port", default=8480, show_default=True, type=click.IntRange(0, 65535))
@click.option(
    "--secret-file",
    type=Text(255),
    help="A file with the signing secret, or two; else the credential push-hmac of systemd.",
)
@click.option("--accept-test", is_flag=True, help="Take events of test tables.")
@click.pass_context
def gameserver(
    context: click.Context, db: str, host: str, port: int, secret_file: str | None, accept_test: bool
) -> int:
    """Run the reference game server, until Ctrl-C or SIGTERM.

    It takes events at /v1/tables/{table}/events: in a controller's configuration that is
    [server] url = "http://127.0.0.1:8480/v1/tables/{table}/events", with {table} written like that.
    What it holds is read at /v1/tables, /v1/tables/T07 and /v1/tables/T07/rounds.

    Example:  tablectl gameserver --secret-file push-hmac --accept-test
    """
    if context.invoked_subcommand is not None:
        return 0
    secrets = _secrets(secret_file)
    from tablectl.gameserver.server import run_gameserver

    try:
        run_gameserver(
            Path(db),
            secrets,
            host,
            port,
            accept_test=accept_test,
            on_ready=lambda server: output.say(server.about),
        )
    except OSError as fault:
        raise Refused(f"the game server cannot run: {fault}") from None
    return 0


@gameserver.command("accept")
@click.argument("table", type=TABLE)
@click.argument("epoch", type=EPOCH)
@_db
def accept(table: str, epoch: str, db: str) -> int:
    """Accept another history of a table: its PC was replaced, or its journal begun anew.

    First make sure that the old controller is off: of two that deal one table, one is a fraud or a
    mistake. What came of the old history stays. The server may run meanwhile.

    Example:  tablectl gameserver accept T07 4f2a91
    """
    import sqlite3

    from tablectl.gameserver.server import accept_epoch

    try:
        wanted = accept_epoch(Path(db), table, epoch)
    except (LookupError, FileNotFoundError) as fault:
        raise Refused(str(fault.args[0])) from None
    except sqlite3.Error as fault:
        raise Refused(f"{db}: {fault}") from None
    output.say(f"table {table} is at history {epoch} from now on; event {wanted} comes next")
    return 0


def _secrets(file: str | None) -> tuple[str, ...]:
    from tablectl.delivery.signing import parse_secrets

    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    path = Path(file) if file else Path(folder) / "push-hmac" if folder else None
    if path is None:
        raise Refused("no signing secret: name its file with --secret-file FILE")
    try:
        secrets = tuple(path.read_text()[:10_000].split())
        parse_secrets(secrets)
    except OSError as fault:
        raise Refused(f"{path}: cannot be read: {fault.strerror}") from None
    except ValueError as fault:
        why = "it is not text" if isinstance(fault, UnicodeDecodeError) else fault
        raise Refused(f"{path}: {why}") from None
    return secrets


COMMANDS: tuple[click.Command, ...] = (gameserver,)
