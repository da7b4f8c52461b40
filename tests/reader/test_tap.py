"""The technician's tap: bounded, in order, never in the reader's way; with a shoe in play a pit boss's."""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tablectl.api.raw import MOST_LISTENERS, RAW
from tablectl.cards import Card
from tablectl.clock import SECOND, Instant
from tablectl.events import CommandRecorded
from tablectl.local import NoStream
from tablectl.reader.tap import QUEUE, Entry, RawTap
from tablectl.scanner import Arrived, Discarded, Label, Reject, Scan, ScannerLost, ScannerRestored
from tablectl.technician.inlining import inlined
from tests.api.test_app import CARDS, Bench
from tests.e2e.harness import BARE, PIT_BOSS

# --- the hub --------------------------------------------------------------------------------------------


def at(seconds: float) -> Instant:
    return Instant(round(seconds * SECOND), 0)


def test_what_the_reader_hears_is_told_in_order_with_times_since_the_listener_came() -> None:
    tap, woken = RawTap(), []
    tap.heard(b"before", at(1))
    tap.arrived(ScannerRestored("usb 0403:6001 A5", at(1)))
    listener = tap.add(2 * SECOND, lambda: woken.append(1))
    tap.heard(b"\x05\x31", at(2.5))
    tap.arrived(Arrived(Scan(Card.parse("8S"), Label.P1, b"\x05"), at(2.5)))
    tap.arrived(Discarded(Reject(b"\x31", "noise"), at(2.5)))
    tap.arrived(ScannerLost("pulled", at(3)))
    tap.arrived(ScannerRestored("usb 0403:6001 A5", at(4), "/dev/ttyUSB1"))
    assert listener.take() == [
        {"kind": "bytes", "hex": "05 31", "at": SECOND // 2},
        {
            "kind": "item",
            "item": {"kind": "card", "card": "8S", "label": "P1", "raw": "05"},
            "at": SECOND // 2,
        },
        {
            "kind": "item",
            "item": {"kind": "reject", "text": "noise", "raw": "31"},
            "discarded": True,
            "at": SECOND // 2,
        },
        {"kind": "lost", "text": "pulled", "at": SECOND},
        {"kind": "restored", "text": "usb 0403:6001 A5", "where": "/dev/ttyUSB1", "at": 2 * SECOND},
    ]
    assert woken == [1], "woken once for all that waits"
    tap.remove(listener)
    tap.heard(b"after", at(4))
    assert listener.take() == []


def test_a_listener_that_does_not_listen_loses_a_number_that_is_told_and_costs_nobody_else() -> None:
    tap = RawTap()
    slow, quick = tap.add(0, lambda: None), tap.add(0, lambda: None)
    heard: list[Entry] = []
    for number in range(QUEUE + 7):
        tap.heard(number.to_bytes(2), at(1))
        heard += quick.take()
    assert [entry["hex"] for entry in heard] == [n.to_bytes(2).hex(" ").upper() for n in range(QUEUE + 7)]
    taken = slow.take()
    assert len(taken) == QUEUE + 1
    assert taken[-1] == {"kind": "dropped", "count": 7}
    tap.heard(b"\x01", at(2))
    assert [entry["kind"] for entry in slow.take()] == ["bytes"], "told once"


def test_settings_carry_the_files_they_name(tmp_path: Path) -> None:
    (tmp_path / "cards.toml").write_text('[codes]\n1010 = "AS"\n')
    (tmp_path / "two.toml").write_text("[a]\nx = 1\n[b]\ny = 2\n")
    settings = {
        "cards": str(tmp_path / "cards.toml"),
        "two": str(tmp_path / "two.toml"),
        "gone": "/no",
        "n": 1,
    }
    assert inlined(settings, ("cards", "two", "gone", "other")) == {
        "cards": {"1010": "AS"},
        "two": {"a": {"x": 1}, "b": {"y": 2}},
        "gone": "/no",
        "n": 1,
    }
    assert inlined(settings, ()) == settings


# --- /v1/raw ---------------------------------------------------------------------------------------------


@pytest.fixture
def bench() -> Iterator[Bench]:
    with Bench("bee-tek", overrides=BARE) as rig:
        yield rig


def listen(rig: Bench, body: dict[str, Any] | None = None) -> Generator[Entry, None, None]:
    for text in rig.client.events("/v1/raw", body):
        yield json.loads(text)


def asked(**changes: Any) -> dict[str, Any]:
    body = {"id": uuid.uuid4().hex, "person": PIT_BOSS.name, "pin": PIT_BOSS.pin, "reason": "training: test"}
    return body | changes


def of_kind(stream: Iterator[Entry], kind: str) -> Entry:
    return next(entry for entry in stream if entry["kind"] == kind)


def test_without_a_shoe_anybody_looks_and_sees_header_counters_bytes_and_items(bench: Bench) -> None:
    bench.shoe.load([Card.parse(card) for card in CARDS.split()])
    with contextlib.closing(listen(bench)) as stream:
        header = next(stream)
        assert header["kind"] == "header" and header["shoe"] is None and header["table"] == "E2E"
        assert (header["driver"], header["device"]) == ("bee-tek", bench.shoe.device)
        assert header["settings"] == {} and header["identity"]
        assert bench.shoe.draw() is not None
        assert "3C 43 61 72 64 3A 32 43" in of_kind(stream, "bytes")["hex"]  # <Card:2C
        item = of_kind(stream, "item")
        assert item["item"]["card"] == "2C"
        assert item["at"] > 0
        state = of_kind(stream, "state")
        assert state["connected"] and state["bytes"] > 0 and state["frames"] == 1 and state["rejects"] == 0


def test_a_shoe_in_play_takes_a_pit_boss_and_is_written_down(bench: Bench) -> None:
    bench.open_table(CARDS)
    with pytest.raises(NoStream) as refused:
        next(listen(bench))
    assert refused.value.status == 403
    assert "a pit boss asks" in refused.value.answer["error"]
    for body, status in (
        (asked(pin="0000"), 403),
        (asked(pin=None), 403),
        (asked(reason="because"), 400),
        (asked(reason=None), 400),
    ):
        with pytest.raises(NoStream) as refused:
            next(listen(bench, body))
        assert refused.value.status == status, refused.value.answer
    with contextlib.closing(listen(bench, asked())) as stream:
        assert next(stream)["shoe"] == 1
        bench.bets()
        bench.deal(1)
        assert of_kind(stream, "item")["item"]["card"] == "2C"
    written = [
        (event.accepted, event.args, event.person, event.answer)
        for event in bench.journal_events()
        if isinstance(event, CommandRecorded) and event.command == RAW
    ]
    shown = "the scanner's bytes are shown, shoe 1 in play"
    assert written[-1] == (True, {"shoe": "1"}, PIT_BOSS.name, shown)
    assert [accepted for accepted, *_ in written] == [False, False, True]


def test_a_free_tap_ends_when_a_shoe_comes_into_play(bench: Bench) -> None:
    with contextlib.closing(listen(bench)) as stream:
        next(stream)
        bench.open_table(CARDS)
        bench.bets()
        assert bench.shoe.draw() is not None
        rest = list(stream)
        assert rest[-1]["kind"] == "end"
        assert all("3C 43 61 72 64" not in entry.get("hex", "") for entry in rest), "no card was shown"
    bench.wait(lambda _: len(bench.runtime._tap) == 0, "nobody listens")


def test_only_a_few_listen(bench: Bench) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(MOST_LISTENERS):
            stream = stack.enter_context(contextlib.closing(listen(bench)))
            next(stream)
        with pytest.raises(NoStream) as refused:
            next(listen(bench))
        assert refused.value.status == 503
    bench.wait(lambda _: len(bench.runtime._tap) == 0, "they are gone")
    next(listen(bench))
