"""What is started or prepared on the machine: daemon, demo, configuration check, PIN lines."""

from __future__ import annotations

import signal
import sys

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
    # Until the daemon listens for them: a reload in the first moments is for what is read now anyway.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
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
    from tablectl.cli.check.everything import check_all

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
    "--speed", type=click.FloatRange(0.1, 10_000), help="1: as at a table. Left out: 50, and 1 with --web."
)
@click.option("--seed", default=1, show_default=True, type=int)
@click.option(
    "--fault", "faults", multiple=True, type=Text(60), help="Of the shoe: NAME or NAME:N, every N-th time."
)
@click.option("--server", type=Text(500), help="Your game server's address, instead of the reference one.")
@click.option("--table", default="DEMO", show_default=True, type=TABLE)
@click.option("--tables", default=1, show_default=True, type=click.IntRange(1, 64))
@click.option("--web", is_flag=True, help="At a table's pace, with a table display and a player's page.")
@json_option
def demo(
    shoe: str,
    shoes: int,
    speed: float | None,
    seed: int,
    faults: tuple[str, ...],
    server: str | None,
    table: str,
    tables: int,
    web: bool,
    as_json: bool,
) -> int:
    """Everything on one machine: emulated shoe, daemon, game server, a scripted dealer.

    Exit code 0 only if every result sent is the result the server holds. With --web two addresses are
    printed, for a browser on this machine.

    Example:  tablectl demo --shoe bee-tek --shoes 2
    """
    if web and as_json:
        raise click.UsageError("--web prints addresses for a person; leave out --json")
    with configuration():
        from tablectl import demo as demonstration

        return demonstration.main(
            shoe=shoe,
            shoes=shoes,
            speed=speed or (1.0 if web else 50.0),
            seed=seed,
            faults=faults,
            server=server,
            table=table,
            tables=tables,
            web=web,
            json_output=as_json,
        )


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


COMMANDS: tuple[click.Command, ...] = (run, demo, check, pin)
