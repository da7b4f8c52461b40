"""Tables that several tests of a module share, each for its house rules."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator

import pytest

pytest.register_assert_rewrite("tests.e2e.irregularities")

from tests.e2e.harness import Changes  # noqa: E402
from tests.e2e.irregularities import LONG, Shift  # noqa: E402

Tables = Callable[..., Shift]


@pytest.fixture(scope="module")
def tables() -> Iterator[Tables]:
    """``tables(shoe, rules)``: a running table, the same one for the same rules in a module."""
    running: dict[str, Shift] = {}
    with contextlib.ExitStack() as stack:

        def table(protocol: str, rules: Changes = LONG) -> Shift:
            key = f"{protocol} {json.dumps(rules, sort_keys=True)}"
            if key not in running:
                running[key] = stack.enter_context(Shift(protocol, overrides=rules))
                running[key].start()
            return running[key]

        yield table


@pytest.fixture
def bee(tables: Tables) -> Shift:
    """A shoe that only streams cards; results by themselves."""
    return tables("bee-tek")


@pytest.fixture
def angel(tables: Tables) -> Shift:
    """A shoe that names positions and has a result button."""
    return tables("angel-eye")
