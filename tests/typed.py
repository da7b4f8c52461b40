"""What somebody types, taken apart as the program does before it does anything."""

from __future__ import annotations

import shlex

import click

from tablectl.cli.root import cli


def typed(line: str) -> list[str]:
    """Parse a line as the program would, with every option and argument checked; the names of its commands.

    Raises :class:`click.UsageError` for a line that the program would refuse before doing anything.
    """
    words = shlex.split(line)
    assert words[0] == "tablectl", line
    shell = [at for at, word in enumerate(words) if word in (">", ">>", "|", "2>", "&")]
    words = words[1 : shell[0] if shell else None]
    context = cli.make_context("tablectl", words)
    names: list[str] = []
    while isinstance(context.command, click.Group):
        rest = [*context._protected_args, *context.args]
        if not rest and context.command.invoke_without_command:
            break
        name, command, rest = context.command.resolve_command(context, rest)
        assert name is not None and command is not None, line
        names.append(name)
        context = command.make_context(name, rest, parent=context)
    return names
