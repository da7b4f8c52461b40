"""An hour of trouble stays a short log."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tablectl.clock import SECOND
from tablectl.delivery.lines import Lines


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
