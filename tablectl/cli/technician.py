"""Where a technician's command gets a scanner's bytes: through the running daemon, or off the port."""

from __future__ import annotations

import functools
import json
import os
import secrets
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from tablectl.cli import output
from tablectl.cli.arguments import NAME, ReasonOption, ReasonType, reaches_daemon, read_pin
from tablectl.cli.configuration import FOLDER, config_option, config_path, configuration
from tablectl.cli.output import Refused
from tablectl.cli.read import word
from tablectl.cli.target import Target
from tablectl.local import Client, Interrupted, NoStream, NotReachable

if TYPE_CHECKING:
    from tablectl.config import Config
    from tablectl.reader.tap import Entry


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks, for a tap while a shoe is in play."""

    person: str | None
    reason: str | None
    pin_stdin: bool

    def body(self) -> dict[str, str] | None:
        """What is posted; None: nobody in particular asks. Raises :class:`click.UsageError`."""
        if self.reason is None:
            return None
        if self.person is None:
            raise click.UsageError("--reason is a pit boss's: --as NAME is needed too")
        pin = read_pin(self.pin_stdin, f"PIN of {self.person}: ")
        return {"id": secrets.token_hex(16), "person": self.person, "pin": pin, "reason": self.reason}


def taps(function: Callable[..., int]) -> Callable[..., Any]:
    """Give a command the daemon it is for, ``config_file`` and ``asking``."""

    @config_option
    @click.option("--as", "person", type=NAME, envvar="TABLECTL_PIT_BOSS", help="The pit boss who asks.")
    @click.option("--reason", cls=ReasonOption, type=ReasonType(200))
    @click.option("--pin-stdin", is_flag=True, help="Read the PIN from standard input.")
    @functools.wraps(function)
    def command(*args: Any, person: str | None, reason: str | None, pin_stdin: bool, **others: Any) -> int:
        # A name may stand in the environment; who gives no reason does not ask as a pit boss.
        asking = Asking(person if reason is not None else None, reason, pin_stdin)
        return function(*args, asking=asking, **others)

    return reaches_daemon(command)


@dataclass(frozen=True, slots=True)
class Heard:
    """``entries``: the records of the tap. ``config``: where the port is opened here, else None.

    ``trial``: where they come through the daemon, the records of a trial of other line speeds.
    """

    entries: Generator[Entry, None, None]
    config: Config | None
    trial: Callable[[], Generator[Entry, None, None]] | None = None


@contextmanager
def listening(target: Target, config_file: str | None, asking: Asking) -> Iterator[Heard]:
    """The records of the table's scanner. The daemon's, if it runs; else the port is opened here.

    Raises :class:`Refused` and :class:`NotReachable`.
    """
    client, config = daemon_or_configuration(target, config_file)
    if client is not None:
        body = asking.body()

        def trial() -> Generator[Entry, None, None]:
            return _through(client, "/v1/raw/speeds", {**(body or {}), "id": secrets.token_hex(16)})

        yield Heard(_through(client, "/v1/raw", body), None, trial)
        return
    assert config is not None
    from tablectl.scanner_setup import load_scanner
    from tablectl.technician import direct

    with configuration():
        driver, settings = load_scanner(config)
    try:
        with direct.locked(config):
            output.complain(
                f"the daemon of table {config.table.id} is not running: "
                f"{output.escape(config.scanner.device)} is opened here, under the table's lock; "
                "the daemon cannot start meanwhile, and cards drawn now are counted by nobody"
            )
            yield Heard(direct.records(config, driver, settings), config)
    except direct.NotOurs as fault:
        raise Refused(f"refused: {output.escape(fault)}") from None


def daemon_or_configuration(target: Target, config_file: str | None) -> tuple[Client | None, Config | None]:
    """The daemon that answers, or else the configuration to do it by without one.

    Raises :class:`NotReachable` and :class:`Refused`.
    """
    why: NotReachable | None = None
    if config_file is None:
        try:
            return _there(Client(target.path())), None
        except Interrupted:
            raise
        except NotReachable as fault:
            why = fault
        if target.socket or (target.table is None and os.environ.get("TABLECTL_SOCKET")):
            raise why
        if target.table is not None:
            config_file = str(FOLDER / f"{target.table}.toml")
    from tablectl.config import load_config
    from tablectl.profiles import ConfigError

    try:
        config = load_config(config_path(config_file))
    except ConfigError as fault:
        if why is not None:
            raise NotReachable(f"{why}; nor is it known what to open here: {fault}") from None
        raise Refused(output.escape(fault)) from None
    if target.table is not None and target.table != config.table.id:
        raise Refused(f"{config.path} is table {config.table.id}, not {target.table}")
    try:
        return _there(Client(config.socket_path)), None
    except Interrupted:
        raise
    except NotReachable:
        return None, config


def _there(client: Client) -> Client:
    client.get("/v1/state")
    return client


def _through(client: Client, resource: str, body: Mapping[str, str] | None) -> Generator[Entry, None, None]:
    try:
        for text in client.events(resource, body):
            yield _entry(text)
    except NoStream as refusal:
        why = word(refusal.answer.get("error") or f"HTTP {refusal.status}")
        after = refusal.answer.get("retry_after")
        more = f"; try again in {after:.0f} s" if isinstance(after, int | float) and after > 0 else ""
        raise Refused(f"refused: {why}{more}") from None


def _entry(text: str) -> Entry:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
