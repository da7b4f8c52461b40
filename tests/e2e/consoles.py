"""Two consoles at one table: both send at the same moment, each over a connection of its own."""

from __future__ import annotations

import threading
import uuid
from dataclasses import dataclass, field
from typing import Any

from tablectl.local import Client
from tests.e2e.harness import PIT_BOSS, SOAK, Rig

TIMES = 40 if SOAK else 3


@dataclass(frozen=True)
class Order:
    """What one console sends."""

    command: str
    args: dict[str, str] = field(default_factory=dict)
    supervised: bool = True


def at_once(table: Rig, *orders: Order) -> list[dict[str, Any]]:
    """All see the same table and send at the same moment: the answers, in the order of ``orders``."""
    expect = {"version": table.client.state()["version"]}
    barrier = threading.Barrier(len(orders))
    answers: list[dict[str, Any]] = [{} for _ in orders]

    def send(at: int, order: Order) -> None:
        client = Client(table.socket_path)
        body: dict[str, Any] = {
            "id": uuid.uuid4().hex,
            "command": order.command,
            "args": order.args,
            "expect": expect,
        }
        if order.supervised:
            body |= {"person": PIT_BOSS.name, "pin": PIT_BOSS.pin, "reason": "training: race"}
        barrier.wait()
        status, answer = client.post("/v1/commands", body)
        answers[at] = {"status": status, **answer}

    threads = [threading.Thread(target=send, args=given) for given in enumerate(orders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def one_won(answers: list[dict[str, Any]], *says: str) -> int:
    """The winner's place; the other was refused, with the table's new state and these words."""
    accepted = [at for at, answer in enumerate(answers) if answer["status"] == 200]
    assert len(accepted) == 1, answers
    loser = answers[1 - accepted[0]]
    assert loser["status"] == 409 and "the table has changed since (state " in loser["answer"], loser
    for text in says:
        assert text in loser["answer"], loser
    return accepted[0]
