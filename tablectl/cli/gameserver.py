"""For a game server's developers: the reference game server, and the conformance kit."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tablectl.cli import output
from tablectl.cli.arguments import TABLE, Pattern, Text, json_option
from tablectl.cli.output import Refused
from tablectl.cli.players import books, give_back, player

if TYPE_CHECKING:
    from tablectl.conformance import Kit

EPOCH = Pattern("epoch", r"[0-9a-f]{6}", "an epoch is six of 0-9 a-f, as the refusal names it")

NO_NATS = (
    "the kit speaks HTTP only. A consumer of the stream is tried with a whole table, "
    'tablectl demo --server nats://HOST:4222, and asked by tablectl check at a table with kind = "nats" '
    "(docs/integration.md, Try yours)"
)

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
@click.option("--nats", type=Text(500), help="Take events from JetStream too: nats://HOST:4222.")
@click.option("--nats-auth-file", type=Text(255), help="A file with the .creds text or the token for it.")
@click.pass_context
def gameserver(
    context: click.Context,
    db: str,
    host: str,
    port: int,
    secret_file: str | None,
    accept_test: bool,
    nats: str | None,
    nats_auth_file: str | None,
) -> int:
    """Run the reference game server, until Ctrl-C or SIGTERM.

    It takes events at /v1/tables/{table}/events: in a controller's configuration that is
    [server] url = "http://127.0.0.1:8480/v1/tables/{table}/events", with {table} written like that.
    What it holds is read at /v1/tables, /v1/tables/T07 and /v1/tables/T07/rounds. With --nats it also
    consumes the JetStream stream of tables.*.events, which it makes where there is none.

    Example:  tablectl gameserver --secret-file push-hmac --accept-test
    """
    if context.invoked_subcommand is not None:
        return 0
    secrets = _secrets(secret_file)
    credential = _read(Path(nats_auth_file)).strip() if nats_auth_file else ""
    if nats is not None:
        _must_be_address("--nats", nats, "nats", "tls")
    import sqlite3

    from tablectl.gameserver.server import run_gameserver

    try:
        run_gameserver(
            Path(db),
            secrets,
            host,
            port,
            accept_test=accept_test,
            nats=nats,
            nats_credential=credential,
            on_ready=lambda server: output.say(server.about),
        )
    except (OSError, UnicodeError) as fault:
        named = f"{fault.filename}: " if isinstance(fault, OSError) and fault.filename else ""
        raise Refused(f"the game server cannot run: {named}{output.in_words(fault)}") from None
    except sqlite3.Error as fault:
        raise Refused(f"{db}: {output.in_words(fault)}") from None
    except ModuleNotFoundError as lacking:
        from tablectl.delivering import NO_LIBRARY

        raise Refused(NO_LIBRARY if "nats" in str(lacking.name) else str(lacking)) from None
    return 0


@gameserver.command("accept")
@click.argument("table", type=TABLE)
@click.argument("epoch", type=EPOCH)
@click.option("--db", type=Text(255), help="The server's database.  [default: as before accept]")
@click.pass_context
def accept(context: click.Context, table: str, epoch: str, db: str | None) -> int:
    """Accept another history of a table: its PC was replaced, or its journal begun anew.

    First make sure that the old controller is off: of two that deal one table, one is a fraud or a
    mistake. What came of the old history stays: accepted again, when its PC is back, it goes on behind its
    last event, and what it sends again is known. The server may run meanwhile.

    Example:  tablectl gameserver accept T07 4f2a91
    """
    import sqlite3

    from tablectl.gameserver.server import accept_epoch

    if db is None:
        assert context.parent is not None
        db = str(context.parent.params["db"])
    try:
        wanted = accept_epoch(Path(db), table, epoch)
    except LookupError as fault:
        raise Refused(str(fault.args[0])) from None
    except (OSError, sqlite3.Error) as fault:
        raise Refused(f"{db}: {output.in_words(fault)}") from None
    output.say(f"table {table} is at history {epoch} from now on; event {wanted} comes next")
    return 0


gameserver.add_command(player)
gameserver.add_command(books)
gameserver.add_command(give_back)


@click.command("conformance")
@click.argument("url", type=Text(500))
@click.option("--secret-file", type=Text(255), help="A file with the signing secret that the server knows.")
@click.option("--table", type=TABLE, help="The test table; else a new one, CONF and random digits.")
@click.option(
    "--betting-url",
    type=Text(500),
    help='Where it tells its window: GET answers {"open": true} or false. Else those checks are left out.',
)
@click.option("--ca", type=Text(255), help="The private authority of the server's certificate, a PEM file.")
@click.option("--only", "only", multiple=True, type=Text(40), help="Only this check; may be repeated.")
@click.option("--real", is_flag=True, help="Do not mark the events as a test. Never where money is settled.")
@json_option
def conformance(
    url: str,
    secret_file: str | None,
    table: str | None,
    betting_url: str | None,
    ca: str | None,
    only: tuple[str, ...],
    real: bool,
    as_json: bool,
) -> int:
    """Try a game server: what it must answer to a controller, and to what is none. Exit code 1: it does not.

    URL is the address of the configuration, with {table}. The server must take test tables; what it then
    holds of the test table is the kit's.

    Example:  tablectl conformance --secret-file push-hmac 'http://127.0.0.1:8480/v1/tables/{table}/events'
    """
    try:
        kit = _kit(url, secret_file, table, betting_url, ca, only, real=real)
    except click.ClickException as why:
        if as_json:
            # Not the address: it may be refused for a password in it.
            output.say_json({"ok": False, "checks": [], "refused": why.format_message()})
        raise
    from tablectl.conformance import run

    findings = []
    for found in run(kit, lambda name: not only or name in only):
        findings.append(found)
        if not as_json:
            output.say(output.escape(f"{found.grade:<5} {found.name}: {found.says}"))
            if found.grade == "skip":
                output.say(output.escape(f"      {found.got}"))
            if found.grade == "FAIL":
                for what in ("sent", "expected", "got"):
                    output.say(output.escape(f"      {what}: {getattr(found, what)}"))
    kit.hang_up()
    good = all(found.grade != "FAIL" for found in findings)
    if as_json:
        checks = [dataclasses.asdict(found) | {"grade": found.grade.lower()} for found in findings]
        output.say_json({"ok": good, "url": url, "table": kit.table, "checks": checks})
    if not good:
        failed = sum(found.grade == "FAIL" for found in findings)
        output.complain(f"{failed} of {len(findings)} checks failed")
    return 0 if good else output.REFUSED


def _kit(
    url: str,
    secret_file: str | None,
    table: str | None,
    betting_url: str | None,
    ca: str | None,
    only: Sequence[str],
    *,
    real: bool,
) -> Kit:
    """What was given, when all of it may be. Raises :class:`click.ClickException`."""
    import secrets
    import ssl

    from tablectl.conformance import EVERY_CHECK, Kit
    from tablectl.plain_file import read_file

    if url.startswith(("nats:", "tls:")):
        raise Refused(NO_NATS)
    _must_be_address("URL", url, "http", "https")
    if betting_url is not None:
        _must_be_address("--betting-url", betting_url, "http", "https")
    if unknown := set(only) - {check.name for check in EVERY_CHECK}:
        raise click.UsageError(f"--only: there is no check {min(unknown)}")
    context = None
    try:
        if ca is not None:
            read_file(Path(ca))  # OpenSSL would wait at a pipe, and read a device without an end
            context = ssl.create_default_context(cafile=ca)
    except (ssl.SSLError, ValueError):
        raise Refused(f"{ca}: no PEM file with certificates") from None
    except OSError as fault:
        raise Refused(f"{ca}: cannot be read: {fault.strerror}") from None
    named = table or f"CONF-{secrets.token_hex(3)}"
    return Kit(url, _secrets(secret_file), named, betting_url, real, context=context)


def _secrets(file: str | None) -> tuple[str, ...]:
    from tablectl.delivery.signing import parse_secrets

    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    path = Path(file) if file else Path(folder) / "push-hmac" if folder else None
    if path is None:
        raise click.UsageError("no signing secret: name its file with --secret-file FILE")
    secrets = tuple(_read(path).split())
    try:
        parse_secrets(secrets)
    except ValueError as fault:
        raise Refused(f"{path}: {fault}") from None
    return secrets


def _read(path: Path) -> str:
    """The text of a small file. Raises :class:`Refused`."""
    from tablectl.plain_file import read_file

    try:
        return read_file(path).decode()
    except OSError as fault:
        raise Refused(f"{path}: cannot be read: {fault.strerror}") from None
    except UnicodeDecodeError:
        raise Refused(f"{path}: it is not text") from None


def _must_be_address(what: str, text: str, *schemes: str) -> None:
    """Raises :class:`click.UsageError` for what a configuration would not take either."""
    from tablectl.config_sections import server_url

    try:
        server_url(text)
    except ValueError as fault:
        raise click.UsageError(f"{what} {fault}") from None
    if not text.startswith(tuple(f"{scheme}://" for scheme in schemes)):
        raise click.UsageError(
            f"{what} is an address that begins with {' or '.join(f'{s}://' for s in schemes)}"
        )


COMMANDS: tuple[click.Command, ...] = (gameserver, conformance)
