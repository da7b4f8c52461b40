"""How the delivery stands is told in the same form at every moment of its life."""

from __future__ import annotations

from typing import Any

import structlog

from tablectl.clock import SECOND
from tablectl.config import load_config
from tablectl.delivering import NOT_BEGUN, Delivering
from tablectl.delivery.outbox import Outbox
from tablectl.delivery.standing import not_begun, standing
from tests.e2e.harness import BARE, Rig


def nothing(*_: Any) -> None:
    """Nobody listens."""


def test_the_keys_are_the_same_before_and_after_it_begins() -> None:
    box = Outbox.begin(1_000 * SECOND, head=7, acked=3)
    running = standing("https://x/", box.link(1_000 * SECOND), box, None, [5, 2])
    assert running.keys() == not_begun(None, "why", 7, 3).keys()
    assert (running["owed"], running["parked"], running["halted"]) == (4, [2, 5], False)


def test_a_sender_that_has_not_read_the_journal_says_so() -> None:
    with Rig("bee-tek", overrides=BARE) as rig:
        rig.config.write_text(rig.config.read_text().replace("/events", "/events?key=hidden"))
        config = load_config(rig.config)
        one = Delivering(
            config, "4f2a91", on_link=nothing, on_acked=nothing, on_alarm=nothing, log=structlog.get_logger()
        )
        one.sender = one.prepared(config)
        found = one.status(7, 3)
        assert "hidden" in str(config.server_url)
        assert (found["why"], found["owed"], found["trouble"]) == (NOT_BEGUN, 4, None)
        assert found["url"] == str(one.sender and one.sender.address)
        assert "hidden" not in str(found)
