"""``tablectl check`` at a table that delivers over NATS: server, stream and game server, in that order."""

from __future__ import annotations

import asyncio

from tablectl.cli.check.findings import FAIL, OK, SECONDS, WARN, Finding
from tablectl.config import Config
from tablectl.profiles import ConfigError


def nats_finding(config: Config, epoch: str | None) -> Finding:
    """What is the matter first on the way, or that all of it answers. ``epoch`` None: there is none yet."""
    from tablectl.delivering import nats_sender

    grade = FAIL if config.house_rules().betting.link_required else WARN
    try:
        nats_sender(config.path)
    except ConfigError as fault:
        return Finding("game server", FAIL, str(fault))
    from tablectl.delivery.nats_words import Fault

    url = config.server.url
    try:
        asyncio.run(_look(config, epoch))
    except Fault as fault:
        return Finding("game server", grade, f"{url}: {fault}")
    except TimeoutError:
        return Finding("game server", grade, f"{url}: no answer within {SECONDS:g} s")
    return Finding("game server", OK, f"{url}: the stream and the game server behind it answer")


async def _look(config: Config, epoch: str | None) -> None:
    from tablectl.delivery.nats_line import Line
    from tablectl.delivery.nats_words import Fault

    assert config.server.url is not None
    line = Line(config.server.url, config.table.id, config.tls, config.nats_credential)
    try:
        async with asyncio.timeout(SECONDS):
            await line.last()
            # Without a journal for no history: one that is made up could be accepted later.
            asked = {"epoch": epoch or "", "stream": line.stream, "stored": 0, "acked": 0}
            said = await line.ask(asked)
            status = said.get("status", 200)
            if type(said.get("next")) is not int or "error" in said or status != 200:
                words = said.get("error", f"status {status!r:.20}, it gives no reason")
                raise Fault(f"the game server refuses: {words!s:.200}")
    finally:
        await line.close()
