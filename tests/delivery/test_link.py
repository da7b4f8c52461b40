"""The game server's link over time: when the pit is told that it stays bad, and when not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tablectl.clock import SECOND, Instant
from tablectl.delivery.lines import ALERT_EVERY, ALERTS
from tablectl.delivery.link import NO_SERVER, UNREACHABLE, ServerLink
from tablectl.delivery.outbox import Link

GOOD, BAD, OTHER = Link(True, ""), Link(False, "connection refused"), Link(False, "no answer within 5 s")
AT_FAULT = Link(False, "the server refuses event 7", trouble=True)


class Bench:
    def __init__(self, configured: bool = True) -> None:
        self.now = 1_000 * SECOND
        self.link = ServerLink(configured, self.clock)

    def clock(self) -> Instant:
        return Instant(self.now, self.now)

    def told(self) -> list[str]:
        troubles = list(self.link.troubles(self.clock()))
        assert {trouble.code for trouble in troubles} <= {"server-unreachable"}
        return [trouble.message for trouble in troubles]


def test_it_is_good_or_says_why_not() -> None:
    bench = Bench()
    assert bench.link.why == "not asked yet"
    bench.link.now_is(GOOD)
    assert bench.link.why is None
    bench.link.now_is(BAD)
    assert bench.link.why == "connection refused"


def test_without_a_game_server_none_is_missed() -> None:
    bench = Bench(configured=False)
    bench.now += 10**6 * SECOND
    assert (bench.link.why, bench.told()) == (NO_SERVER, [])


def test_the_pit_is_told_since_when_why_and_what_it_means() -> None:
    bench = Bench()
    bench.link.now_is(GOOD)
    bench.now = 7_200 * SECOND
    bench.link.now_is(BAD)
    bench.now += UNREACHABLE - 1
    assert bench.told() == []
    bench.now += 1
    (text,) = bench.told()
    assert text == (
        "No good link to the game server since 1970-01-01T02:00:00Z: connection refused. "
        "Betting stays closed where the house wants the link; a hand begun is finished; "
        "results are delivered later."
    )


def test_a_server_that_never_answered_since_the_start_is_missed_too() -> None:
    bench = Bench()
    bench.now += UNREACHABLE
    assert len(bench.told()) == 1


def test_a_server_that_comes_and_goes_is_told_now_and_then_and_in_the_end() -> None:
    """Each time would be an event of the table, all night long."""
    bench = Bench()
    told = []
    for _ in range(60):  # an hour: 35 s away, 25 s there
        bench.link.now_is(BAD)
        for _ in range(35):
            bench.now += SECOND
            told += bench.told()
        bench.link.now_is(GOOD)
        bench.now += 25 * SECOND
        assert bench.told() == []
    assert len({text[:70] for text in told[:5]}) == 1, "the first at once, and as long as it lasts"
    assert ALERTS <= len(set(told)) <= ALERTS + 3600 * SECOND // ALERT_EVERY + 1
    bench.link.now_is(BAD)
    for _ in range(ALERT_EVERY // SECOND):
        bench.now += SECOND
        last = bench.told()
    assert len(last) == 1, "it stays away: that is told"


CHANGES = st.lists(st.tuples(st.sampled_from([GOOD, BAD, OTHER, AT_FAULT]), st.integers(0, 40)), max_size=12)


@given(CHANGES)
def test_told_just_while_it_is_bad_by_itself_for_thirty_seconds(changes: list[tuple[Link, int]]) -> None:
    """Against the plain rule: however the reasons change, no good moment and no other alarm for 30 s."""
    bench = Bench()
    lasted: list[tuple[Link, int]] = [(BAD, 0)]
    for link, seconds in changes:
        bench.link.now_is(link)
        bench.now += seconds * SECOND
        lasted.append((link, seconds))
        bad = 0
        for before, stayed in reversed(lasted):
            if before in (GOOD, AT_FAULT):
                break
            bad += stayed
        assert len(bench.told()) == (bad >= 30 and link in (BAD, OTHER))
