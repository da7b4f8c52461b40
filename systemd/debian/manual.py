"""The manual page and the completion of ``tablectl``, from the very command line they are about.

``python -m systemd.debian.manual`` prints the page (`make man`).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from importlib.metadata import version as installed

import click
from click.shell_completion import BashComplete

from tablectl.cli.root import cli


def completion() -> str:
    """The script for bash. It asks ``tablectl`` itself what can follow."""
    return BashComplete(cli, {}, "tablectl", "_TABLECTL_COMPLETE").source()


def manual(version: str) -> str:
    """``tablectl(1)``: every command with its arguments, options and help."""
    lines = [
        f'.TH TABLECTL 1 "" "tablectl {version}" "Dealer table"',
        ".SH NAME",
        r"tablectl \- controller of a live\-dealer baccarat table",
        ".SH SYNOPSIS",
        r".B tablectl",
        r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]",
        ".SH DESCRIPTION",
        *_help(cli),
        ".SH OPTIONS",
        *_options(cli),
        ".SH COMMANDS",
    ]
    for path, command in sorted(_commands(cli, ())):
        lines += [
            f".SS {_plain(' '.join(path))}",
            *_usage(path, command),
            *_help(command),
            *_options(command),
        ]
    lines += [
        ".SH FILES",
        *_entry("/etc/tablectl/TABLE.toml", "the configuration of a table"),
        *_entry("/etc/tablectl/credentials", "the files push-hmac and pit-bosses, for root only"),
        *_entry("/var/lib/tablectl/TABLE.db", "its journal"),
        *_entry("/run/tablectl/TABLE/tablectl.sock", "where its daemon listens, for the group tablectl"),
        ".SH EXIT STATUS",
        *_entry("0", "done"),
        *_entry("1", "refused; the reason is on standard error and nothing was changed"),
        *_entry("2", "usage"),
        *_entry("3", "the daemon is not reachable"),
        *_entry("78", "(run) the configuration or the journal cannot be used"),
    ]
    return "\n".join(lines) + "\n"


def _commands(group: click.Group, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if command.hidden:
            continue
        here = (*path, name)
        if isinstance(command, click.Group):
            if command.invoke_without_command:
                yield here, command
            yield from _commands(command, here)
        else:
            yield here, command


def _context(command: click.Command) -> click.Context:
    return click.Context(command, info_name=command.name)


def _usage(path: tuple[str, ...], command: click.Command) -> list[str]:
    pieces = " ".join(command.collect_usage_pieces(_context(command)))
    return [f".B {_plain('tablectl ' + ' '.join(path))}", _plain(pieces)] if pieces else []


def _help(command: click.Command) -> list[str]:
    """Paragraphs; one that begins with a backspace character keeps its lines, as click has it."""
    lines = []
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        kept = paragraph.startswith("\b")
        text = paragraph.removeprefix("\b").strip("\n")
        lines += [".PP", *(".nf" for _ in range(kept)), *(_plain(line) for line in text.splitlines())]
        lines += [".fi" for _ in range(kept)]
    return lines


def _options(command: click.Command) -> list[str]:
    lines = []
    context = _context(command)
    for option in command.get_params(context):
        if isinstance(option, click.Option) and (record := option.get_help_record(context)):
            lines += _entry(*record)
    return lines


def _entry(term: str, text: str) -> list[str]:
    return [".TP", f".B {_plain(term)}", _plain(" ".join(text.split())) or r"\&"]


def _plain(text: str) -> str:
    r"""Text that roff shows as it is: no escapes, a minus sign is one, no request at a line's begin."""
    shown = text.replace("\\", r"\e").replace("-", r"\-")
    shown = "".join(char if char.isascii() else rf"\[u{ord(char):04X}]" for char in shown)
    return "\\&" + shown if shown.startswith((".", "'")) else shown


if __name__ == "__main__":
    sys.stdout.write(manual(installed("tablectl")))
