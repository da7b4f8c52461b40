"""What a delivery is given, and whom it tells what."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tablectl.clock import Instant, now
from tablectl.delivery.outbox import Link
from tablectl.delivery.tls import TlsFiles
from tablectl.journal import JournalReader


@dataclass(frozen=True, slots=True)
class Job:
    """What is delivered, and whom it is told.

    ``reader_factory`` opens this delivery's own reader of the journal of ``table`` and ``epoch``.
    ``on_link(link)`` is called at every change, ``on_acked(sequence)`` after every answer that moved it (the
    caller saves it), ``on_alarm(code, text)`` when trouble begins, ``on_over(code, text)`` when the link
    is good again: all in the loop, and they must be quick.
    ``deadline``: seconds for one whole try. ``warn_days``: before a certificate ends. ``jitter``: 0 to 1.
    """

    reader_factory: Callable[[], JournalReader]
    table: str
    epoch: str
    on_link: Callable[[Link], None]
    on_acked: Callable[[int], None]
    on_alarm: Callable[[str, str], None]
    deadline: float = 5.0
    tls: TlsFiles = TlsFiles()  # noqa: RUF009 frozen
    warn_days: int = 14
    on_over: Callable[[str, str], None] = lambda *_: None
    clock: Callable[[], Instant] = now
    jitter: Callable[[], float] = random.random
