"""Emulated shoes: the model, the faults, the ports, and whole hands through the real reader and decoder."""

from __future__ import annotations

import itertools
import queue
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tablectl_drivers import angel_eye, bee_tek
from tablectl_drivers.angel_eye_encoder import Encoder
from tablectl_drivers.emulated import angel_eye as emulated_angel_eye
from tablectl_drivers.emulated import bee_tek as emulated_bee_tek
from tablectl_drivers.emulated.faults import FAULTS, Faults, Plug, Say, Step, Unplug, Wait
from tablectl_drivers.emulated.port import PtyPort
from tablectl_drivers.emulated.shoe import OwnHand, Stock
from tablectl_drivers.emulated.tcp_port import TcpPort, parse_listen

from tablectl.cards import DECK, Card, Outcome
from tablectl.emulation import Drawn, EmulatedShoe, Emulator
from tablectl.reader import Reader
from tablectl.scanner import (
    Arrival,
    Arrived,
    Backoff,
    Decoder,
    DeviceEvent,
    Discarded,
    Driver,
    Item,
    Label,
    Reject,
    Scan,
    ScannerLost,
    ScannerRestored,
)
from tests.descriptors import descriptors, settled_descriptors

SECOND = 1_000_000_000
FAST = 20.0
"""The pace of most tests: copies 2.5 ms apart."""


def cards(text: str) -> list[Card]:
    return [Card.parse(word) for word in text.split()]


# --- the cards in the box ---------------------------------------------------------------------------


def test_cards_and_cutting_cards_come_in_order() -> None:
    stock = Stock(cards("AS 2S 3S"), [3, 0, 2, 2])
    out = [stock.draw() for _ in range(7)]
    assert [str(card) for card in out] == ["None", "AS", "2S", "None", "None", "3S", "None"]
    assert stock.empty


def test_cards_are_counted_without_cutting_cards() -> None:
    stock = Stock(cards("AS 2S"), [1])
    assert stock.left == 2
    stock.draw()
    assert stock.cutting_card_next
    stock.put_off(5)
    assert not stock.cutting_card_next
    assert (stock.left, str(stock.draw()), stock.draw()) == (1, "2S", None)


@pytest.mark.parametrize("depth", [-1, 3])
def test_a_cutting_card_outside_the_shoe_is_refused(depth: int) -> None:
    with pytest.raises(ValueError, match="cutting card"):
        Stock(cards("AS 2S"), [depth])


# --- the shoe's own hand ----------------------------------------------------------------------------


def play(values: str) -> tuple[list[str], Outcome]:
    """Deal cards of these point values (0 as a ten) as long as the hand wants any."""
    hand, labels = OwnHand(), []
    for value in values:
        if hand.due() is None:
            break
        labels.append(hand.take(Card({"0": "T", "1": "A"}.get(value, value), "S")).value)
    return labels, hand.outcome()


@pytest.mark.parametrize(
    ("values", "dealt", "outcome"),
    [
        ("8002", "P1 B1 P2 B2", Outcome.PLAYER),  # a natural
        ("080170", "P1 B1 P2 B2", Outcome.BANKER),  # Banker's natural 9
        ("440400", "P1 B1 P2 B2", Outcome.BANKER),  # Banker's natural 8 against 4
        ("600050", "P1 B1 P2 B2 B3", Outcome.PLAYER),  # Player stands, Banker draws on 0
        ("650000", "P1 B1 P2 B2 B3", Outcome.PLAYER),
        ("660000", "P1 B1 P2 B2", Outcome.TIE),  # both stand on 6
        ("670000", "P1 B1 P2 B2", Outcome.BANKER),
        ("030080", "P1 B1 P2 B2 P3", Outcome.PLAYER),  # Banker 3 stands on 8 only
        ("030096", "P1 B1 P2 B2 P3 B3", Outcome.TIE),
        ("030001", "P1 B1 P2 B2 P3 B3", Outcome.BANKER),
        ("040010", "P1 B1 P2 B2 P3", Outcome.BANKER),  # Banker 4 stands on 1
        ("050090", "P1 B1 P2 B2 P3", Outcome.PLAYER),  # Banker 5 stands on 9
        ("060067", "P1 B1 P2 B2 P3 B3", Outcome.PLAYER),  # Banker 6 draws on 6
        ("060050", "P1 B1 P2 B2 P3", Outcome.BANKER),
        ("070060", "P1 B1 P2 B2 P3", Outcome.BANKER),  # Banker 7 stands
    ],
)
def test_hands(values: str, dealt: str, outcome: Outcome) -> None:
    labels, result = play(values)
    assert " ".join(labels) == dealt
    assert result is outcome


def test_the_rule_against_exact_counts() -> None:
    """All six-card draws by point value from eight decks; the totals are the published ones."""
    of_value = [128] + [32] * 9
    shapes: Counter[int] = Counter()
    wins: Counter[Outcome] = Counter()
    drawn = [Card("T", "S"), *cards("AS 2S 3S 4S 5S 6S 7S 8S 9S")]
    for first in itertools.product(range(10), repeat=4):
        ways, left = 1, list(of_value)
        for value in first:
            ways *= left[value]
            left[value] -= 1
        base = OwnHand()
        for value in first:
            base.take(drawn[value])
        if base.due() is None:
            wins[base.outcome()] += ways * 412 * 411
            shapes[4] += ways * 412 * 411
            continue
        for fifth in range(10):
            five = OwnHand()
            for value in (*first, fifth):
                label = five.take(drawn[value])
            ways5 = ways * left[fifth]
            if five.due() is None:
                wins[five.outcome()] += ways5 * 411
                shapes[5] += ways5 * 411
                continue
            left[fifth] -= 1
            before = five._points(Label.B1, Label.B2)
            player = five._points(Label.P1, Label.P2, Label.P3)
            assert (label, five.due()) == (Label.P3, Label.B3)
            for sixth in range(10):
                banker = (before + sixth) % 10
                result = (
                    Outcome.TIE if player == banker else Outcome.PLAYER if player > banker else Outcome.BANKER
                )
                wins[result] += ways5 * left[sixth]
                shapes[6] += ways5 * left[sixth]
            left[fifth] += 1
    assert wins == {
        Outcome.BANKER: 2_292_252_566_437_888,
        Outcome.PLAYER: 2_230_518_282_592_256,
        Outcome.TIE: 475_627_426_473_216,
    }
    assert shapes == {4: 1_893_735_611_458_560, 5: 1_516_734_808_780_800, 6: 1_587_927_855_264_000}


def test_pairs_are_of_rank() -> None:
    hand = OwnHand()
    for card in cards("TS KD TH QD"):
        hand.take(card)
    assert hand.pair(Label.P1, Label.P2)
    assert not hand.pair(Label.B1, Label.B2)
    assert not OwnHand().pair(Label.P1, Label.P2)
    with pytest.raises(ValueError, match="complete"):
        done = OwnHand()
        for card in cards("8S 2D TH QD 4S"):
            done.take(card)


# --- faults -----------------------------------------------------------------------------------------

FRAME = Encoder().card(Label.P1, Card.parse("8S"))


def said(steps: list[Step]) -> bytes:
    return b"".join(step.data for step in steps if isinstance(step, Say))


@pytest.mark.parametrize("bad", ["", "rain", "drop:", "drop:0", "drop:x", "drop:-3", "drop:nan", "drop:inf"])
def test_a_fault_that_is_none_is_named(bad: str) -> None:
    with pytest.raises(ValueError, match="fault"):
        Faults([bad])


def test_without_faults_three_copies_at_the_pace() -> None:
    assert Faults().on_the_wire(FRAME, 3, 0.05) == [
        Say(FRAME),
        Wait(0.05),
        Say(FRAME),
        Wait(0.05),
        Say(FRAME),
    ]


def test_every_nth_time_on_average() -> None:
    plan = Faults(["drop:7"], seed=1)
    assert 850 < sum(plan.strikes("drop") for _ in range(7000)) < 1150
    assert not any(plan.strikes("split") for _ in range(100))
    always = Faults(["drop:1"])
    assert all(always.strikes("drop") for _ in range(100))


def test_one_seed_is_one_story() -> None:
    def story(seed: int) -> list[list[Step]]:
        plan = Faults(list(FAULTS), seed)
        return [plan.on_the_wire(FRAME, 3, 0.05) for _ in range(200)]

    assert story(4) == story(4)
    assert story(4) != story(5)


@given(st.integers(0, 10_000))
def test_what_each_fault_does_to_the_bytes(seed: int) -> None:
    def once(name: str, copies: int = 3) -> list[Step]:
        return Faults([f"{name}:1"], seed).on_the_wire(FRAME, copies, 0.05)

    assert said(once("split")) == 3 * FRAME
    assert len([step for step in once("split") if isinstance(step, Wait)]) >= 5
    assert said(once("duplicate")) in [n * FRAME for n in (4, 5, 6)]
    assert said(once("drop")) == 2 * FRAME
    assert once("drop", copies=1) == []
    garbled = said(once("garble"))
    assert garbled != 3 * FRAME
    assert garbled.count(FRAME) >= 2
    alone = said(once("garble", copies=1))
    assert len(alone) == len(FRAME)
    assert said(once("stall")) == 3 * FRAME
    assert max(step.seconds for step in once("stall") if isinstance(step, Wait)) >= 0.2
    cut = once("hang-up")
    assert [step for step in cut if isinstance(step, Unplug | Plug)] == [Unplug(), Plug()]
    assert 2 * len(FRAME) < len(said(cut)) < 3 * len(FRAME)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(["split", "duplicate", "garble", "drop", "stall"]), max_size=5),
    st.integers(0, 10_000),
)
def test_an_angel_eye_survives_any_damage_to_one_copy(names: list[str], seed: int) -> None:
    """Three copies and a check sum: each event is decoded once, in order, whatever happens to one copy."""
    # One lost, one damaged and one torn apart by a pause: then no copy is whole, and the card is lost.
    assume(not {"drop", "garble", "stall"} <= set(names))
    plan = Faults([f"{name}:2" for name in names], seed)
    encoder = Encoder()
    decoder: Decoder = angel_eye.DRIVER.decoder({})
    deck = DECK[:20]
    labels = itertools.cycle([Label.P1, Label.B1, Label.P2, Label.B2])
    seen: list[Item] = []
    now = 10 * SECOND
    for card in deck:
        for step in plan.on_the_wire(encoder.card(next(labels), card), 3, 0.05):
            match step:
                case Wait(seconds, _):
                    now += round(seconds * SECOND)
                case Say(data):
                    seen += decoder.feed(data, now).items
        now += SECOND // 5
    assert [item.card for item in seen if isinstance(item, Scan)] == list(deck)


# --- ports ------------------------------------------------------------------------------------------


def test_a_pty_keeps_its_link_over_unplugging_and_leaves_nothing(tmp_path: Path) -> None:
    before = settled_descriptors()
    link = tmp_path / "shoe"
    port = PtyPort(str(link))
    assert port.device == str(link)
    assert link.resolve().parent == Path("/dev/pts")
    port.hang_up()
    port.hang_up()
    assert not link.is_symlink()
    port.say([Say(b"lost")])
    port.flush()
    port.plug_in()
    port.plug_in()
    assert link.resolve().parent == Path("/dev/pts")
    port.close()
    port.close()
    assert list(tmp_path.iterdir()) == []
    assert descriptors() == before


def test_a_pty_without_a_link_makes_its_own() -> None:
    port = PtyPort()
    folder = Path(port.device).parent
    assert Path(port.device).resolve().exists()
    port.close()
    assert not folder.exists()


def test_a_pty_replaces_a_stale_link_but_no_file(tmp_path: Path) -> None:
    link = tmp_path / "shoe"
    link.symlink_to(tmp_path / "gone")
    port = PtyPort(str(link))
    assert link.resolve().parent == Path("/dev/pts")
    port.close()
    link.write_text("mine")
    with pytest.raises(FileExistsError):
        PtyPort(str(link))
    assert link.read_text() == "mine"


def test_a_pty_nobody_reads_neither_blocks_nor_dies(tmp_path: Path) -> None:
    port = PtyPort(str(tmp_path / "shoe"))
    began = time.monotonic()
    port.say([Say(bytes(1000))] * 500)
    port.flush()
    assert time.monotonic() - began < 3
    assert port._writer.is_alive()
    port.close()


def test_a_close_while_much_is_to_be_said_is_quick(tmp_path: Path) -> None:
    port = PtyPort(str(tmp_path / "shoe"))
    port.say([Say(b"x"), Wait(60)] * 100)
    began = time.monotonic()
    port.close()
    port.flush()
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("bad", ["", "x", "-1", "70000", ":4001", "h:"])
def test_a_listen_that_is_none_is_named(bad: str) -> None:
    with pytest.raises(ValueError, match="listen"):
        parse_listen(bad)


def test_listen() -> None:
    assert parse_listen(4001) == ("127.0.0.1", 4001)
    assert parse_listen("0.0.0.0:4001") == ("0.0.0.0", 4001)


def connect(device: str, seconds: float = 3) -> socket.socket:
    host, _, number = device.removeprefix("tcp://").rpartition(":")
    end = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection((host, int(number)), 1)
        except ConnectionRefusedError:
            assert time.monotonic() < end
            time.sleep(0.01)


def test_a_tcp_port_serves_one_reader_after_the_other() -> None:
    before = settled_descriptors()
    port = TcpPort(0)
    for _ in range(3):
        peer = connect(port.device)
        _wait_until_refused(port.device)
        port.say([Say(b"8S")])
        assert peer.recv(10) == b"8S"
        peer.close()
    peer = connect(port.device)
    _wait_until_refused(port.device)
    port.hang_up()
    assert peer.recv(10) == b""
    peer.close()
    _wait_until_refused(port.device)
    port.plug_in()
    connect(port.device).close()
    port.close()
    port.close()
    assert descriptors() == before


def _wait_until_refused(device: str) -> None:
    end = time.monotonic() + 3
    host, _, number = device.removeprefix("tcp://").rpartition(":")
    while time.monotonic() < end:
        try:
            socket.create_connection((host, int(number)), 1).close()
        except (ConnectionRefusedError, ConnectionResetError):
            return
        time.sleep(0.01)
    raise AssertionError("a second reader was let in")


# --- whole shoes through the real reader and decoder ------------------------------------------------


class Rig:
    """An emulated shoe with a reader on it."""

    def __init__(self, shoe: EmulatedShoe, driver: Driver, settings: Mapping[str, Any] | None = None) -> None:
        self.shoe = shoe
        self.arrivals: queue.SimpleQueue[Arrival] = queue.SimpleQueue()
        self.crashes: list[BaseException] = []
        self.reader = Reader(
            driver,
            shoe.device,
            settings or {},
            self.arrivals.put,
            settle=20_000_000,
            on_crash=self.crashes.append,
        )
        self.reader.presence.backoff = Backoff(first=20_000_000)
        self.reader.start()
        self.wait_for(ScannerRestored)

    def wait_for(self, kind: type[Arrival]) -> list[Arrival]:
        passed: list[Arrival] = []
        while not passed or not isinstance(passed[-1], kind):
            passed.append(self.arrivals.get(timeout=5))
        return passed

    def heard(self) -> list[Arrival]:
        """All that arrived once the shoe has fallen silent and the reader has caught up."""
        self.shoe.flush()
        passed = []
        with suppress(queue.Empty):
            while True:
                passed.append(self.arrivals.get(timeout=0.1))
        return passed

    def items(self) -> list[Item]:
        heard = self.heard()
        assert all(isinstance(one, Arrived) for one in heard), heard
        return [one.item for one in heard if isinstance(one, Arrived)]

    def close(self) -> None:
        assert self.reader.stop()
        self.shoe.close()
        assert self.crashes == []


Setup = Callable[..., Rig]


@pytest.fixture
def eye() -> Iterator[Setup]:
    yield from _rigs(emulated_angel_eye.EMULATOR, angel_eye.DRIVER)


@pytest.fixture
def bee() -> Iterator[Setup]:
    yield from _rigs(emulated_bee_tek.EMULATOR, bee_tek.DRIVER)


def _rigs(emulator: Emulator, driver: Driver) -> Iterator[Setup]:
    made: list[Rig] = []

    def setup(**options: Any) -> Rig:
        made.append(Rig(emulator.make(**{"speed": FAST, **options}), driver))
        return made[-1]

    yield setup
    for rig in made:
        rig.close()


def words(items: list[Item]) -> str:
    told = []
    for item in items:
        match item:
            case Scan(card, label, _):
                told.append(f"{label or 'card'}={card}")
            case DeviceEvent(kind=kind, number=number, outcome=outcome):
                told.append(":".join(str(one) for one in (kind, outcome, number) if one is not None))
            case Reject():
                told.append("reject")
    return " ".join(told)


@pytest.mark.parametrize("wire", ["pty", "tcp"])
def test_a_hand_of_an_angel_eye(wire: str, eye: Setup) -> None:
    rig = eye(**({"listen": 0} if wire == "tcp" else {}))
    rig.shoe.load(cards("2S 3D 2H 3C 9S 8D 4S"), [5])
    drawn = [rig.shoe.draw() for _ in range(6)]
    assert drawn[0] == Drawn(Card.parse("2S"))
    assert drawn[5] == Drawn(None)
    drawn.append(rig.shoe.draw())
    rig.shoe.press_result()
    rig.shoe.standby()
    assert words(rig.items()) == (
        "started P1=2S B1=3D P2=2H B2=3C P3=9S cut-card error:2 overdraw=8D error-cleared:2"
        " verdict:banker standby"
    )
    assert rig.shoe.left == 1


def test_the_verdict_names_pairs_and_may_be_false(eye: Setup) -> None:
    rig = eye()
    rig.shoe.load(cards("2S 3D 2H 4C 9S"))
    for _ in range(5):
        rig.shoe.draw()
    rig.shoe.press_result()
    rig.shoe.press_result(Outcome.TIE)
    verdicts = [item for item in rig.items() if isinstance(item, DeviceEvent) and item.outcome]
    assert [(one.outcome, one.player_pair, one.banker_pair) for one in verdicts] == [
        (Outcome.BANKER, True, False),
        (Outcome.TIE, True, False),
    ]


def test_buttons_and_keys_of_an_angel_eye(eye: Setup) -> None:
    rig = eye()
    shoe = rig.shoe
    shoe.load(cards("4S 5S 6S 7S 8S 9S"))
    shoe.draw()
    shoe.press_result()
    shoe.force_end()
    shoe.standby()
    shoe.lock(True)
    shoe.draw()
    shoe.lock(False)
    shoe.draw()
    shoe.restart()
    shoe.draw()
    assert words(rig.items()) == (
        "started P1=4S error:3 error-cleared:3 forced-end standby"
        " locked outside=5S unlocked P1=6S started P1=7S"
    )


def test_a_void_hand_is_forgotten_at_standby(eye: Setup) -> None:
    rig = eye()
    rig.shoe.load(cards("4S 5S 6S 7S"))
    rig.shoe.draw()
    rig.shoe.draw()
    rig.shoe.standby()
    rig.shoe.draw()
    assert words(rig.items()) == "started P1=4S B1=5S standby P1=6S"


def test_an_empty_shoe_gives_nothing(eye: Setup, bee: Setup) -> None:
    for rig in (eye(), bee()):
        rig.heard()
        assert rig.shoe.draw() is None
        assert rig.items() == []


@pytest.mark.parametrize(
    ("frames", "told"),
    [
        ("burn", "burn-count=KS burn-count:10 burn=7S burn=8S P1=9S"),
        ("game", "P1=KS B1=7S P2=8S B2=9S"),
        ("outside", "outside=KS outside=7S outside=8S P1=9S"),
    ],
)
def test_burn_labels(frames: str, told: str, eye: Setup) -> None:
    rig = eye(burn_frames=frames)
    rig.shoe.load(cards("KS 7S 8S 9S"))
    for _ in range(3):
        rig.shoe.draw(burn=True)
    rig.shoe.draw()
    assert words(rig.items()) == f"started {told}"


def test_more_burn_cards_than_the_protocol_has_places_for(eye: Setup) -> None:
    rig = eye(speed=200)
    rig.shoe.load(DECK[:15])
    for _ in range(15):
        rig.shoe.draw(burn=True)
    scans = [item for item in rig.items() if isinstance(item, Scan)]
    assert [scan.card for scan in scans] == list(DECK[:15])


def test_a_bee_tek_streams_cards_and_nothing_else(bee: Setup) -> None:
    rig = bee()
    shoe = rig.shoe
    shoe.load(cards("2S 2S TH 3C 9S"), [2])
    drawn = [shoe.draw(burn=i == 0) for i in range(6)]
    shoe.press_result()
    shoe.force_end()
    shoe.lock(True)
    shoe.standby()
    shoe.restart()
    assert drawn[2] == Drawn(None)
    assert words(rig.items()) == "card=2S card=2S card=TH card=3C card=9S"


def test_a_bee_tek_in_game_mode(bee: Setup) -> None:
    rig = bee(mode="Game")
    rig.shoe.load(cards("2S 2S TH"))
    for _ in range(3):
        rig.shoe.draw()
    assert words(rig.items()) == "card=2S card=2S card=TH"


def test_drawing_returns_at_once_and_copies_keep_their_pace(eye: Setup) -> None:
    rig = eye(speed=1)
    rig.shoe.load(cards("2S 3S 4S 5S 6S 7S 8S 9S"))
    rig.heard()
    returned: list[float] = []
    while min(returned, default=1.0) > 0.05:  # on a busy machine one may take longer, not each
        assert len(returned) < 4
        began = time.monotonic()
        rig.shoe.draw()
        rig.shoe.draw()
        returned.append(time.monotonic() - began)
        rig.shoe.flush()
        assert time.monotonic() - began > 0.19


@pytest.mark.parametrize("bad", [{"speed": 0}, {"speed": -1}, {"faults": ["rain"]}, {"listen": "x"}])
@pytest.mark.parametrize("emulator", [emulated_angel_eye.EMULATOR, emulated_bee_tek.EMULATOR])
def test_what_cannot_be_made_leaves_nothing(emulator: Emulator, bad: dict[str, Any], tmp_path: Path) -> None:
    before = settled_descriptors()
    with pytest.raises(ValueError):
        emulator.make(**bad)
    with pytest.raises(ValueError, match="not both"):
        emulator.make(link=str(tmp_path / "x"), listen=0)
    assert descriptors() == before


def test_a_setting_the_shoe_does_not_have_leaves_no_port(tmp_path: Path) -> None:
    before = settled_descriptors()
    for make in (
        lambda: emulated_angel_eye.make(link=str(tmp_path / "x"), bcc="none"),
        lambda: emulated_angel_eye.make(link=str(tmp_path / "x"), burn_frames="none"),
        lambda: emulated_bee_tek.make(link=str(tmp_path / "x"), mode="none"),
    ):
        with pytest.raises(ValueError, match="none"):
            make()
    assert descriptors() == before
    assert list(tmp_path.iterdir()) == []


def test_emulators_are_found_by_name() -> None:
    found = {one.name: one.load() for one in entry_points(group="tablectl.emulators")}
    for name in ("angel-eye", "bee-tek"):
        assert isinstance(found[name], Emulator)
        assert found[name].name == name


# --- the same with faults ---------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["split", "duplicate", "garble", "drop", "stall"])
def test_an_angel_eye_with_a_fault_loses_no_card(fault: str, eye: Setup) -> None:
    rig = eye(faults=[f"{fault}:2"], seed=3, speed=50)
    shoe = rig.shoe
    shoe.load(DECK)
    rig.heard()
    for card in DECK[:12]:
        assert shoe.draw(burn=True) == Drawn(card)
    scans = [item.card for item in rig.items() if isinstance(item, Scan)]
    assert scans == list(DECK[:12])


@pytest.mark.parametrize("fault", ["split", "stall"])
def test_a_bee_tek_with_a_slow_line_loses_no_card(fault: str, bee: Setup) -> None:
    rig = bee(faults=[f"{fault}:2"], seed=3, speed=50)
    rig.shoe.load(DECK)
    for _ in range(12):
        rig.shoe.draw()
    assert [item.card for item in rig.items() if isinstance(item, Scan)] == list(DECK[:12])


def test_a_card_dropped_by_a_bee_tek_is_gone(bee: Setup) -> None:
    rig = bee(faults=["drop:1"])
    rig.shoe.load(DECK)
    assert rig.shoe.draw() == Drawn(DECK[0])
    assert rig.items() == []


def test_a_card_garbled_by_a_bee_tek_is_never_another_card(bee: Setup) -> None:
    rig = bee(faults=["garble:1"], seed=9, speed=50)
    rig.shoe.load(DECK)
    for _ in range(40):
        rig.shoe.draw()
    items = rig.items()
    scans = [item.card for item in items if isinstance(item, Scan)]
    assert any(isinstance(item, Reject) for item in items)
    left: Iterator[Card | None] = iter(DECK)
    assert all(card in left for card in scans)  # in order: only some are missing


def test_an_unreadable_card(eye: Setup, bee: Setup) -> None:
    rig = eye(faults=["unreadable:1"])
    rig.shoe.load(cards("8S 2S"))
    assert rig.shoe.draw() == Drawn(Card.parse("8S"))
    rig.shoe.draw()
    assert words(rig.items()) == "started P1=None error:1 error-cleared:1 B1=None error:1"
    rig = bee(faults=["unreadable:1"])
    rig.shoe.load(cards("8S"))
    rig.shoe.draw()
    scans = [item for item in rig.items() if isinstance(item, Scan)]
    assert [scan.card for scan in scans] == [None]


def test_the_cutting_card_comes_out_in_mid_hand(bee: Setup) -> None:
    for seed in range(8):
        rig = bee(faults=["cut-mid-hand:1"], seed=seed, speed=500)
        rig.shoe.load(DECK[:12], [4])
        out = []
        for _ in range(3):
            out += [rig.shoe.draw() for _ in range(4)]
            rig.shoe.standby()
        assert out.index(Drawn(None)) in (5, 6, 7)


def test_the_cable_out_in_mid_frame(eye: Setup) -> None:
    rig = eye(faults=["hang-up:1"], speed=50)
    rig.shoe.load(DECK)
    passed = rig.wait_for(ScannerLost)
    passed += rig.wait_for(ScannerRestored)
    assert sum(isinstance(one, ScannerLost) for one in passed) == 1


@pytest.mark.parametrize("wire", ["pty", "tcp"])
def test_the_cable_out_and_in_again(wire: str, eye: Setup) -> None:
    rig = eye(**({"listen": 0} if wire == "tcp" else {}))
    rig.shoe.load(cards("2S 3S 4S"))
    rig.shoe.draw()
    heard = rig.wait_for(Arrived) + rig.wait_for(Arrived)  # what is in the cable goes with it
    assert words([one.item for one in heard if isinstance(one, Arrived)]) == "started P1=2S"
    rig.shoe.hang_up()
    assert len(rig.wait_for(ScannerLost)) == 1
    rig.shoe.draw()  # into the void
    rig.shoe.flush()
    rig.shoe.plug_in()
    assert len(rig.wait_for(ScannerRestored)) == 1
    rig.shoe.draw()
    assert "P2=4S" in words(rig.items())


def test_what_a_killed_reader_left_is_not_played_by_the_next(eye: Setup) -> None:
    rig = eye()
    rig.shoe.load(cards("2S 3S"))
    rig.heard()
    assert rig.reader.stop()
    rig.shoe.draw()
    rig.shoe.flush()
    again: queue.SimpleQueue[Arrival] = queue.SimpleQueue()
    reader = Reader(angel_eye.DRIVER, rig.shoe.device, {}, again.put, settle=20_000_000)
    reader.start()
    first = again.get(timeout=15)
    while isinstance(first, Discarded):
        first = again.get(timeout=15)
    assert isinstance(first, ScannerRestored)
    rig.shoe.draw()
    arrived = again.get(timeout=15)
    while isinstance(arrived, Arrived) and not isinstance(arrived.item, Scan):
        arrived = again.get(timeout=15)
    assert isinstance(arrived, Arrived)
    assert isinstance(arrived.item, Scan)
    assert arrived.item.label is Label.B1
    assert reader.stop()
