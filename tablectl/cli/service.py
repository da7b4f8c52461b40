"""What is started or prepared on the machine: daemon, demo, game server, configuration check, PIN lines."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from tablectl.cli import output
from tablectl.cli.arguments import NAME, TABLE, Text, json_option, read_pin
from tablectl.cli.configuration import config_option, config_path, configuration
from tablectl.cli.output import Refused


@click.command("run")
@config_option
def run(config_file: str | None) -> int:
    """Run the daemon of one table, as systemd starts it. Exit code 78: the configuration cannot be used.

    Example:  tablectl run --config /etc/tablectl/T07.toml
    """
    with configuration(running=True):
        from tablectl.config import load_config

        config = load_config(config_path(config_file))
        from tablectl import daemon

        return daemon.run(config)


@click.command("check")
@config_option
@click.option("--config-only", is_flag=True, help="Look at the files only, not at devices and servers.")
@json_option
def check(config_file: str | None, config_only: bool, as_json: bool) -> int:
    """Find out whether the table could play: one line for each thing; exit code 1 if it could not.

    Example:  tablectl check --config /etc/tablectl/T07.toml
    """
    from tablectl.cli.check import check_all

    findings = check_all(lambda: config_path(config_file), config_only)
    good = all(finding.grade != "FAIL" for finding in findings)
    if as_json:
        lines = [{"what": f.what, "grade": f.grade.lower(), "text": f.text} for f in findings]
        output.say_json({"ok": good, "findings": lines})
    else:
        for finding in findings:
            output.say(f"{finding.grade:<5} {finding.what}: {output.escape(finding.text)}")
    if not good:
        output.complain("the table could not play")
    return 0 if good else output.REFUSED


@click.command("demo")
@click.option(
    "--shoe", default="angel-eye", show_default=True, type=Text(40), help="Protocol of the emulated shoe."
)
@click.option("--shoes", default=1, show_default=True, type=click.IntRange(1, 1000))
@click.option(
    "--speed", default=50.0, show_default=True, type=click.FloatRange(0.1, 10_000), help="1: as at a table."
)
@click.option("--seed", default=1, show_default=True, type=int)
@click.option(
    "--fault", "faults", multiple=True, type=Text(60), help="Of the shoe: NAME or NAME:N, every N-th time."
)
@click.option("--server", type=Text(500), help="Your game server's address, instead of the reference one.")
@click.option("--table", default="DEMO", show_default=True, type=TABLE)
@click.option("--tables", default=1, show_default=True, type=click.IntRange(1, 64))
@json_option
def demo(
    shoe: str,
    shoes: int,
    speed: float,
    seed: int,
    faults: tuple[str, ...],
    server: str | None,
    table: str,
    tables: int,
    as_json: bool,
) -> int:
    """Everything on one machine: emulated shoe, daemon, game server, a scripted dealer.

    Exit code 0 only if every result sent is the result the server holds.

    Example:  tablectl demo --shoe bee-tek --shoes 2
    """
    with configuration():
        from tablectl import demo as demonstration

        return demonstration.main(
            shoe=shoe,
            shoes=shoes,
            speed=speed,
            seed=seed,
            faults=faults,
            server=server,
            table=table,
            tables=tables,
            json_output=as_json,
        )


@click.command("gameserver")
@click.option("--db", default="gameserver.db", show_default=True, type=Text(255), help="Its database.")
@click.option("--host", default="127.0.0.1", show_default=True, type=Text(255))
@click.option("--port", default=8480, show_default=True, type=click.IntRange(0, 65535))
@click.option(
    "--secret-file",
    type=Text(255),
    help="A file with the signing secret, or two; else the credential push-hmac of systemd.",
)
@click.option("--accept-test", is_flag=True, help="Take events of test tables.")
def gameserver(db: str, host: str, port: int, secret_file: str | None, accept_test: bool) -> int:
    """Run the reference game server, until Ctrl-C or SIGTERM.

    It takes events at /v1/tables/{table}/events: in a controller's configuration that is
    [server] url = "http://127.0.0.1:8480/v1/tables/{table}/events", with {table} written like that.
    What it holds is read at /v1/tables, /v1/tables/T07 and /v1/tables/T07/rounds.

    Example:  tablectl gameserver --secret-file push-hmac --accept-test
    """
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


@click.command("pin")
@click.argument("name", type=NAME)
@click.option("--pin-stdin", is_flag=True, help="Read the PIN from standard input; else it is asked for.")
def pin(name: str, pin_stdin: bool) -> int:
    """Make a pit boss's line for the credential pit-bosses.

    Example:  tablectl pin anna >> pit-bosses
    """
    from tablectl.pins import make_line

    given = read_pin(pin_stdin or not _asks(), f"New PIN of {name}: ")
    if not pin_stdin and _asks() and read_pin(False, "The same again: ") != given:
        raise Refused("the two differ; nothing was made")
    try:
        line = make_line(name, given)
    except ValueError as fault:
        raise Refused(str(fault)) from None
    output.say(line)
    return 0


def _asks() -> bool:
    """Whether a person sits there: a PIN piped in is read without being asked for."""
    return sys.stdin is not None and sys.stdin.isatty()


COMMANDS: tuple[click.Command, ...] = (run, demo, check, gameserver, pin)
