"""Many open displays, in a process of their own: ``python -m tests.bench.pages PORT COUNT``.

Each is a connection that reads everything, as a browser's does. Prints a line once all have had their first
model; at the end of standard input it prints what they got (JSON) and ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

ASK = b"GET /v1/display/events HTTP/1.1\r\nHost: table\r\n\r\n"


class Page(asyncio.Protocol):
    """One display. ``late``: ms from the table's sending to here, of each model."""

    def __init__(self) -> None:
        self.tables = 0
        self.bytes = 0
        self.late: list[float] = []
        self.lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(ASK)

    def data_received(self, data: bytes) -> None:
        self.bytes += len(data)
        models = data.count(b"event: table")
        self.tables += models
        if models and (at := data.find(b"event: now\ndata: ")) >= 0:
            sent = int(data[at + 17 :].split(b"\n", 1)[0])
            self.late.append(time.clock_gettime(time.CLOCK_BOOTTIME) * 1000 - sent)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True


async def main(port: int, count: int) -> None:
    """Open them, wait for the end of the input, tell."""
    loop = asyncio.get_running_loop()
    pages = [(await loop.create_connection(Page, "127.0.0.1", port))[1] for _ in range(count)]
    while not all(page.tables for page in pages):
        await asyncio.sleep(0.01)
    for page in pages:
        page.tables, page.bytes, page.late = 0, 0, []
    print("open", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    told = {
        "models": min(page.tables for page in pages),
        "bytes": max(page.bytes for page in pages),
        "late_ms": sorted(one for page in pages for one in page.late),
        "lost": sum(page.lost for page in pages),
    }
    print(json.dumps(told), flush=True)


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
