"""Patterns as a site writes them: one notation, every fault named by its key with the way out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tablectl_drivers.beepers import bell, null, patlite, patterns, pcspkr, relay, scanner, sound

from tablectl.scanner import PATTERNS

MODULES = {
    "bell": (bell, {}),
    "sound": (sound, {}),
    "pcspkr": (pcspkr, {}),
    "relay": (relay, {"device": "/dev/x"}),
    "patlite": (patlite, {"device": "usb:191a:6001:S1"}),
    "scanner": (scanner, {}),
}
each = pytest.mark.parametrize("name", sorted(MODULES))
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


def make(name: str, given_: object) -> Any:
    module, settings = MODULES[name]
    return module.make(settings | {"patterns": given_})


@each
def test_the_beepers_own_patterns_are_lawful_and_whole(name: str) -> None:
    usual = getattr(MODULES[name][0], "USUAL", patterns.USUAL_TONES)
    assert set(usual) == set(PATTERNS)


@each
def test_every_pattern_may_be_silent(name: str) -> None:
    make(name, {pattern: [] for pattern in PATTERNS})


@each
def test_an_unknown_pattern_is_named_with_those_there_are(name: str) -> None:
    with pytest.raises(ValueError, match=r"^patterns\.fanfare: .*pip, close, accept, reject, hold"):
        make(name, {"fanfare": []})


@each
@pytest.mark.parametrize("wrong", [3, "beep", [1]])
def test_patterns_are_a_table(name: str, wrong: object) -> None:
    with pytest.raises(ValueError, match=r"^patterns: .*\[beeper.patterns\]"):
        make(name, wrong)


@each
@given(value=anything)
def test_whatever_is_written_is_taken_or_refused_by_key(name: str, value: object) -> None:
    try:
        make(name, {"pip": value})
    except ValueError as fault:
        assert str(fault).startswith("patterns.pip: ")


def test_null_has_none() -> None:
    with pytest.raises(ValueError, match=r"^patterns: "):
        null.make({"patterns": {}})


@given(st.lists(st.tuples(st.just(0) | st.integers(20, 15_000), st.integers(1, 90)), min_size=1, max_size=32))
def test_tones_are_taken_as_they_are_written(steps: list[tuple[int, int]]) -> None:
    assert patterns.tones([list(step) for step in steps]) == tuple(steps)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("x", "no list of tones"),
        ([880, 500], "no list of tones"),
        ([[880]], "no list of tones"),
        ([[880, 1.5]], "no list of tones"),
        ([[880, True]], "no list of tones"),
        ([[-1, 10]], "no list of tones"),
        ([[19, 10]], "cannot be heard"),
        ([[15_001, 10]], "cannot be heard"),
        ([[880, 0]], "0 ms"),
        ([[880, 2000], [0, 1001]], "3001 ms"),
        ([[880, 1]] * 33, "33 steps"),
    ],
)
def test_wrong_tones_are_told(value: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        patterns.tones(value)


@pytest.mark.parametrize(
    ("value", "told"),
    [(5, "no list of times"), (["x"], "no list of times"), ([3001], "3001"), ([1, 0], "0 ms")],
)
def test_wrong_times_are_told(value: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        patterns.on_off(value)
    assert patterns.on_off([3000]) == (3000,)


@pytest.mark.parametrize("value", [-1, 10, True, 1.0, "1"])
def test_wrong_rings_are_told(value: object) -> None:
    with pytest.raises(ValueError, match="0 to 9"):
        patterns.rings(value)
    assert patterns.rings(9) == 9


@pytest.mark.parametrize(
    "value", [b"\x07", "7", "0x07", "07  07", "07 07 ", "zz", "07" * 5, "07 " * 64 + "07", 7]
)
def test_wrong_bytes_are_told(value: object) -> None:
    with pytest.raises(ValueError, match="in hex"):
        patterns.hex_bytes(value)


@given(st.binary(max_size=64))
def test_bytes_are_those_written(data: bytes) -> None:
    assert patterns.hex_bytes(data.hex(" ")) == data


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("red", "no table"),
        ({"light": "red"}, "ms"),
        ({"light": "red", "ms": 0}, "ms"),
        ({"light": "red", "ms": 3001}, "ms"),
        ({"light": "pink", "ms": 1}, "light 'pink' is not one of off, red"),
        ({"light": "red", "ms": 1, "blink": 2}, "blink 2 is not one of on, blink-2"),
        ({"buzzer": "loud", "ms": 1}, "buzzer"),
        ({"buzzer": "low", "ms": 1, "count": 16}, "count"),
        ({"buzzer": "low", "ms": 1, "volume": 11}, "volume"),
        ({"ms": 5}, "neither"),
        ({"light": "red", "ms": 1, "colour": "red"}, "there is no colour"),
    ],
)
def test_a_wrong_show_of_the_lamp_is_told(value: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        patlite.show(value)


@pytest.mark.parametrize(
    ("value", "frame"),
    [
        ({"light": "red", "ms": 1}, "00 00 00 00 11 00 00 00"),
        ({"light": "white", "blink": "blink-7", "ms": 1}, "00 00 00 00 77 00 00 00"),
        ({"buzzer": "call", "count": 2, "volume": 5, "ms": 1}, "00 00 23 05 00 00 00 00"),
        ({"light": "blue", "buzzer": "high", "ms": 1}, "00 00 05 0A 41 00 00 00"),
        ({"light": "green", "buzzer": "continuous", "count": 15, "ms": 1}, "00 00 F1 0A 21 00 00 00"),
    ],
)
def test_the_lamps_bytes(value: object, frame: str) -> None:
    assert patlite.show(value).frame() == bytes.fromhex(frame)
    assert patlite.DARK.frame() == bytes(8)
