"""A credential that comes late: waited for, told of once when it cannot be used, taken when it is good."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tablectl.late_credentials import come
from tablectl.profiles import ConfigError


class Log:
    def __init__(self) -> None:
        self.reasons: list[str] = []

    def warning(self, text: str, *, reason: str) -> None:
        self.reasons.append(reason)


async def test_it_is_looked_for_until_it_is_there_and_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablectl.late_credentials.LOOK", 0)
    found: Iterator[str | ConfigError] = iter(
        ["", ConfigError("bad"), ConfigError("bad"), ConfigError("worse"), "", "whsec_x"]
    )

    def read() -> str:
        one = next(found)
        if isinstance(one, ConfigError):
            raise one
        return one

    log = Log()
    assert await come(read, log) == "whsec_x"
    assert log.reasons == ["bad", "worse"]


async def test_a_look_that_hangs_keeps_no_process_and_one_that_fails_ends_no_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tablectl.late_credentials.LOOK", 0)
    threads: list[threading.Thread] = []

    def read() -> str:
        threads.append(threading.current_thread())
        if len(threads) == 1:
            raise PermissionError("not now")
        return "whsec_x"

    log = Log()
    assert await come(read, log) == "whsec_x"
    assert log.reasons == ["not now"]
    assert all(thread.daemon for thread in threads), "nobody waits for these at the end of the process"
