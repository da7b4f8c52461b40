"""Which daemon a command is for: its socket, by option, by table, from the environment, or the only one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tablectl.cli.output import Refused
from tablectl.local import NotReachable

RUN_FOLDER = "/run/tablectl"
"""Every daemon has a folder here, named by its table; ``TABLECTL_RUN`` names another place."""


def _run_folder() -> Path:
    return Path(os.environ.get("TABLECTL_RUN") or RUN_FOLDER)


@dataclass(frozen=True, slots=True)
class Target:
    """What was said about the table: by id, by socket, both, or nothing."""

    table: str | None = None
    socket: str | None = None

    def merged(self, table: str | None, socket: str | None) -> Target:
        """This one, said before the command, with what is said behind it."""
        return Target(table or self.table, socket or self.socket)

    def path(self) -> str:
        """The socket. Raises :class:`Refused` where several tables run and none is named."""
        if self.socket:
            return self.socket
        if self.table:
            return str(_run_folder() / self.table / "tablectl.sock")
        if os.environ.get("TABLECTL_SOCKET"):
            return os.environ["TABLECTL_SOCKET"]
        sockets = sorted(_run_folder().glob("*/tablectl.sock"))
        if not sockets:
            raise NotReachable(
                f"no table runs here: there is no {_run_folder()}/*/tablectl.sock; "
                "start one (systemctl start tablectl@TABLE), or name its socket with --socket PATH"
            )
        if len(sockets) > 1:
            tables = ", ".join(socket.parent.name for socket in sockets)
            raise Refused(f"several tables run here: {tables}; say which with --table ID")
        return str(sockets[0])

    def options(self) -> list[str]:
        """The options that name it again, for a command line to repeat."""
        table = ["--table", self.table] if self.table else []
        return table + (["--socket", self.socket] if self.socket else [])
