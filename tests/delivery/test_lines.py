"""An hour of trouble stays a short log, and few events of the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import pytest

from tablectl.clock import SECOND, Instant
from tablectl.delivery.actions import Probe, Wait
from tablectl.delivery.answers import Answer, Failed
from tablectl.delivery.job import Job
from tablectl.delivery.lines import ALERT_EVERY, ALERTS, Lines
from tablectl.delivery.outbox import Outbox
from tablectl.delivery.sender import Sender
from tablectl.delivery.telling import COMES_AND_GOES, OVER
from tablectl.journal import JournalReader
from tablectl.journal.rows import Outgoing


@pytest.mark.parametrize("text", [lambda n: "refused", lambda n: f"reason {n % 2}", lambda n: f"reason {n}"])
def test_an_hour_of_failures_is_fewer_than_200_lines_and_counts_what_it_left_out(
    text: Callable[[int], str],
) -> None:
    lines, written, counted = Lines(), 0, 0
    for n in range(3600 * 4):
        left_out = lines.worth(n * SECOND // 4, text(n))
        if left_out is not None:
            written, counted = written + 1, counted + left_out
    assert 50 < written < 200
    assert written + counted + lines.left_out == 3600 * 4


def test_the_first_line_and_a_new_reason_are_written_at_once() -> None:
    lines = Lines()
    assert lines.worth(0, "a") == 0
    assert lines.worth(1, "a") is None
    assert lines.worth(2, "b") == 1


# --- a link that comes and goes ---------------------------------------------------------------------

GOOD, BAD, WORSE, AWAY = Answer(200, {"next": 1}), Answer(401), Answer(404), Failed("refused")
HALTS = Answer(200, {"next": 9})


class Scripted(Sender):
    """Gets its answers told, and no further."""

    address, tls = "", None

    async def _post(self, reader: JournalReader, found: list[Outgoing]) -> Answer | Failed:
        raise NotImplementedError

    async def _close(self) -> None:
        raise NotImplementedError


@dataclass
class Bench:
    """A sender with nothing to send, and what it tells: alarms, what is over, lines of log."""

    now: int = 1_000 * SECOND
    alerts: list[tuple[int, str]] = field(default_factory=list)
    """When, and the text, each time that it changes: these are the table's events."""
    lines: int = 0

    def __post_init__(self) -> None:
        clock = lambda: Instant(self.now, self.now)  # noqa: E731
        job = Job(
            lambda: None,  # type: ignore[arg-type,return-value]
            "T07", "4f2a91", lambda _: None, lambda _: None, self.alarm, on_over=self.over, clock=clock,
        )  # fmt: skip
        self.sender = Scripted(job)
        self.sender._outbox = Outbox.begin(self.now, head=0, acked=0)

    def alarm(self, code: str, text: str) -> None:
        if not self.alerts or self.alerts[-1][1] != text:
            self.alerts.append((self.now, text))

    def over(self, code: str, text: str) -> None:
        if self.alerts and self.alerts[-1][1] != text:
            self.alerts.append((self.now, text))

    def warning(self, *_: object, **__: object) -> None:
        self.lines += 1

    info = error = warning

    def answered(self, answer: Answer | Failed) -> None:
        """The next probe, when it is due, gets this."""
        before = self.sender._outbox
        assert before is not None
        while isinstance(action := before.next_action(self.now), Wait):
            assert action.until is not None
            self.passes(min(SECOND, action.until - self.now))
        assert action == Probe()
        before = before.sending(action, self.now)
        self.sender._outbox = after = before.answered(self.now, answer, 0.5)
        self.sender._report(self.now, before, after)

    def passes(self, time: int) -> None:
        """As the watch of the link, a few times a second."""
        self.now += time
        self.sender._look()


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench()
    monkeypatch.setattr("tablectl.delivery.telling.log", made)
    return made


@pytest.mark.parametrize(
    "answers",
    [[GOOD, BAD], [GOOD, GOOD, GOOD, BAD], [BAD, WORSE], [GOOD, BAD, WORSE, AWAY], [GOOD, AWAY, BAD]],
    ids=lambda answers: " ".join(str(getattr(one, "status", "away")) for one in answers),
)
def test_an_hour_of_coming_and_going_is_few_lines_and_events_and_the_first_and_last_are_told(
    bench: Bench, answers: list[Any]
) -> None:
    begun, left = bench.now, cycle(answers)
    while bench.now < begun + 3600 * SECOND:
        bench.answered(next(left))
    first = next(at for at, text in bench.alerts if text != OVER)
    assert first <= begun + 40 * SECOND, "the first is told at once"
    most = ALERTS + 3600 * SECOND // ALERT_EVERY + 1
    assert ALERTS <= sum(text != OVER for _, text in bench.alerts) <= most
    assert len(bench.alerts) <= 2 * most
    assert bench.lines + len(bench.alerts) < 200, "each alert is a line of its own, too"
    assert bench.lines > 20
    if BAD in answers:
        assert any(text.endswith(COMES_AND_GOES) for _, text in bench.alerts)
    stays = bench.now
    while bench.now < stays + ALERT_EVERY + 60 * SECOND:
        bench.answered(BAD)
    assert "answers 401" in bench.alerts[-1][1], "it stays bad: that is told"
    bench.answered(GOOD)
    assert bench.alerts[-1] == (bench.now, OVER), "it is good: that is told at once"


def test_what_halts_is_told_at_once_however_often_the_link_has_come_and_gone(bench: Bench) -> None:
    for _ in range(50):
        bench.answered(GOOD)
        bench.answered(BAD)
    assert len(bench.alerts) < 50
    bench.answered(HALTS)
    assert bench.alerts[-1][0] == bench.now and "ahead of this journal" in bench.alerts[-1][1]
    bench.passes(2 * ALERT_EVERY)
    assert "ahead of this journal" in bench.alerts[-1][1], "what is behind it is not told any more"
