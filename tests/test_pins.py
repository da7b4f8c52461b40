"""PIN lines: what they hold, what is refused by line, and how wrong PINs slow the next try down."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.clock import SECOND
from tablectl.pins import DELAYS, FORGOTTEN, MOST_NAMES, Attempts, PitBosses, make_line

ANNA = make_line("anna", "482913")


def test_a_line_verifies_its_own_pin_and_no_other() -> None:
    bosses = PitBosses.parse(f"# pit bosses\n\n{ANNA}\n{make_line('Bo.2', 'correct horse')}\n", "pit-bosses")
    assert bosses.names == ("anna", "Bo.2") and len(bosses) == 2
    assert bosses.verify("anna", "482913")
    assert bosses.verify("Bo.2", "correct horse")
    for name, pin in (
        ("anna", "482914"),
        ("Bo.2", "482913"),
        ("ANNA", "482913"),
        ("", "482913"),
        ("anna", ""),
    ):
        assert not bosses.verify(name, pin)


def test_lines_are_salted_and_show_nothing() -> None:
    assert make_line("anna", "482913") != ANNA
    assert "482913" not in ANNA
    assert ANNA.split("$")[4] not in repr(PitBosses.parse(ANNA, "x"))


def test_an_unknown_name_and_an_impossible_pin_cost_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    bosses = PitBosses.parse(ANNA, "x")
    costs: list[tuple[int, int, int]] = []
    real = hashlib.scrypt

    def counted(password: bytes, *, salt: bytes, n: int, r: int, p: int, dklen: int, maxmem: int) -> bytes:
        costs.append((n, r, p))
        return real(password, salt=salt, n=n, r=r, p=p, dklen=dklen, maxmem=maxmem)

    monkeypatch.setattr(hashlib, "scrypt", counted)
    for name, pin in (
        ("anna", "482913"),
        ("nobody", "482913"),
        ("anna", "x" * 10_000),
        ("anna", "\udc80" * 5),
    ):
        bosses.verify(name, pin)
    assert costs == [(2**14, 8, 1)] * 4


@pytest.mark.parametrize("text", ["", "unset", "unset\n", "\n# nobody\n"])
def test_no_pit_bosses(text: str) -> None:
    assert len(PitBosses.parse(text, "x")) == 0
    assert not PitBosses.parse(text, "x").verify("anna", "482913")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("anna", "tablectl pin NAME"),
        ("an na:" + ANNA.split(":")[1], "a pit boss's name"),
        (":" + ANNA.split(":")[1], "a pit boss's name"),
        ("bo:482913", "tablectl pin bo"),
        (ANNA.replace("anna", "bo").replace("16384", "2"), "scrypt"),
        (ANNA.replace("anna", "bo")[:-4], "damaged"),
        (ANNA.replace("anna", "bo") + "é", "damaged"),
        (ANNA, "anna is in line 1 already"),
    ],
    ids=["no hash", "blank in name", "no name", "plain PIN", "weak", "cut short", "odd letter", "twice"],
)
def test_a_bad_line_is_named_by_number_without_its_hash(line: str, says: str) -> None:
    with pytest.raises(ValueError, match=r"/etc/pit-bosses, line 3: ") as fault:
        PitBosses.parse(f"{ANNA}\n\n{line}\n", "/etc/pit-bosses")
    assert says in str(fault.value)
    assert ANNA.split("$")[5] not in str(fault.value)


def test_every_bad_line_is_told_at_once() -> None:
    with pytest.raises(ValueError) as fault:
        PitBosses.parse("a\nb\n", "f")
    assert [line.split(":")[0] for line in str(fault.value).splitlines()] == ["f, line 1", "f, line 2"]


@pytest.mark.parametrize("pin", ["123", "x" * 65, " 1234", "12\x1b34", "12\n345"])
def test_impossible_pins_are_refused_without_showing_them(pin: str) -> None:
    with pytest.raises(ValueError, match="a PIN has") as fault:
        make_line("anna", pin)
    assert pin not in str(fault.value)


def test_the_wait_grows_to_the_longest_and_ends_with_the_right_pin() -> None:
    attempts, now = Attempts(), 50 * SECOND
    assert attempts.allowed_at("anna") == 0
    waits = []
    for _ in range(len(DELAYS) + 2):
        attempts = attempts.failed("anna", now)
        waits.append(max(0, attempts.allowed_at("anna") - now) // SECOND)
        now = max(now, attempts.allowed_at("anna"))
    assert waits == [0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    assert attempts.allowed_at("bo") == 0
    assert attempts.succeeded("anna").allowed_at("anna") == 0


def test_an_hour_without_a_wrong_pin_is_a_new_beginning_and_not_a_second_less() -> None:
    attempts = Attempts()
    for _ in range(5):
        attempts = attempts.failed("anna", 0)
    assert attempts.failed("anna", FORGOTTEN).allowed_at("anna") == 0
    assert attempts.failed("anna", FORGOTTEN - 1).allowed_at("anna") > FORGOTTEN


def test_a_flood_of_names_is_bounded_and_frees_nobody_who_waits() -> None:
    attempts = Attempts()
    for now in range(9):
        attempts = attempts.failed("anna", now)
    for i in range(2 * MOST_NAMES):
        attempts = attempts.failed(f"nobody{i}", 100 + i)
    assert len(attempts) == MOST_NAMES
    assert attempts.allowed_at("anna") == 8 + DELAYS[8]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 400 * SECOND)), max_size=60),
    st.integers(0, 400 * SECOND),
)
def test_locked_out_is_who_waits_after_five_wrong_pins_in_a_row(
    steps: list[tuple[str, bool, int]], later: int
) -> None:
    attempts, now = Attempts(), 0
    row = dict.fromkeys("abc", 0)
    last = dict.fromkeys("abc", 0)
    for name, right, after in steps:
        now += after
        anew = now - last[name] >= FORGOTTEN
        row[name] = 0 if right else 1 if anew else row[name] + 1
        last[name] = now
        attempts = attempts.succeeded(name) if right else attempts.failed(name, now)
        assert {n: attempts.wrong(n) for n in row} == row
    now += later
    waits = {n for n, count in row.items() if count >= 5 and last[n] + DELAYS[min(count, 12) - 1] > now}
    assert set(attempts.locked_out(now)) == waits


@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans(), st.integers(0, 10**12)), max_size=40))
def test_one_name_never_touches_another(steps: list[tuple[str, bool, int]]) -> None:
    both, alone, now = Attempts(), Attempts(), 0
    for name, right, later in steps:
        now += later
        both = both.succeeded(name) if right else both.failed(name, now)
        if name == "a":
            alone = alone.succeeded(name) if right else alone.failed(name, now)
    assert both.allowed_at("a") == alone.allowed_at("a")
