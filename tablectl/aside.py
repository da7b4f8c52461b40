"""Blocking calls beside the event loop, in threads nobody waits for at the end.

The loop's own pool is joined when the process stops: a name server that does not answer, or a disk
that hangs, would hold up the stop for minutes.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from aiohttp.abc import AbstractResolver, ResolveResult

T = TypeVar("T")


async def aside(call: Callable[..., T], *args: Any) -> T:
    """``call(*args)`` in a daemon thread. When cancelled, the thread is left to itself."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(value)  # type: ignore[arg-type]

    def work() -> None:
        value, error = None, None
        try:
            value = call(*args)
        except BaseException as raised:  # noqa: BLE001 it is raised again where it is awaited
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has gone meanwhile
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name="aside", daemon=True).start()
    return await done


class Resolver(AbstractResolver):
    """Looks up names by the system's resolver, :func:`aside`."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await aside(
            lambda: socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, family=family, flags=socket.AI_ADDRCONFIG
            )
        )
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=port,
                family=kind,
                proto=proto,
                flags=int(socket.AI_NUMERICHOST | socket.AI_NUMERICSERV),
            )
            for kind, _, proto, _, address in found
        ]

    async def close(self) -> None:
        """Nothing is held."""
