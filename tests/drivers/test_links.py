"""Links on real pseudo-terminals and sockets, and on a port object that fails in every known way."""

from __future__ import annotations

import errno
import os
import select
import socket
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
import serial
from pytest_mock import MockerFixture
from tablectl_drivers import links, links_serial, links_tcp
from tablectl_drivers.links import LINK_KEYS, SerialDefaults, check_device, check_link, open_link

from tablectl.scanner import Link, LinkFault
from tests.descriptors import descriptors, settled_descriptors

DEFAULTS = SerialDefaults(baud=9600)

GONE: list[BaseException] = [
    serial.SerialException("device reports readiness to read but returned no data"),
    serial.SerialException(errno.EIO, "read failed"),
    OSError(errno.EIO, "Input/output error"),
    OSError(errno.ENXIO, "No such device or address"),
    OSError(errno.ENODEV, "No such device"),
    OSError(errno.EBADF, "Bad file descriptor"),
    termios.error(errno.EIO, "Input/output error"),
    ValueError("I/O operation on closed file"),
    TypeError("'NoneType' object cannot be interpreted as an integer"),
]


@pytest.fixture
def pty() -> Iterator[tuple[int, str]]:
    master, slave = os.openpty()
    tty.setraw(slave)
    path = os.ttyname(slave)
    os.close(slave)
    yield master, path
    with suppress(OSError):
        os.close(master)


def read_until(link: Link, length: int) -> bytes:
    """Wait for the descriptor like the reader thread does, and read."""
    data = b""
    poller = select.poll()
    poller.register(link.fileno(), select.POLLIN)
    while len(data) < length:
        assert poller.poll(2000), f"only {data!r} came"
        data += link.read()
    return data


# --- settings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "bad"),
    [
        ("baud", "9600"),
        ("baud", True),
        ("baud", 0),
        ("baud", 9600.0),
        ("bytesize", 9),
        ("parity", "n"),
        ("stopbits", 3),
        ("stopbits", True),
        ("dtr", 1),
        ("rts", "no"),
    ],
)
def test_a_bad_setting_is_named(key: str, bad: object) -> None:
    with pytest.raises(ValueError, match=f"^{key}: "):
        check_link({key: bad})
    with pytest.raises(LinkFault, match=key):
        open_link("/dev/null", {key: bad}, defaults=DEFAULTS)


def test_good_settings_and_keys_of_others_pass() -> None:
    check_link(
        {"baud": 4800, "bytesize": 7, "parity": "E", "stopbits": 1.5, "dtr": False, "rts": True, "bcc": 1}
    )
    assert {"baud", "bytesize", "parity", "stopbits", "dtr", "rts"} == LINK_KEYS


@pytest.mark.parametrize(
    "bad",
    ["", "ttyUSB0", "COM3", "tcp://", "tcp://h", "tcp://h:0", "tcp://h:70000", "tcp://h:1/x", "tcp://u@h:1"],
)
def test_a_device_that_is_no_device_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="device"):
        check_device(bad)


def test_addresses() -> None:
    assert links_tcp.parse_address("tcp://10.0.0.7:4001") == ("10.0.0.7", 4001)
    assert links_tcp.parse_address("tcp://[::1]:4001") == ("::1", 4001)
    check_device("/dev/serial/by-id/usb-x")


# --- a serial port ----------------------------------------------------------------------------------


def test_bytes_pass_raw_both_ways(pty: tuple[int, str]) -> None:
    master, path = pty
    link = open_link(path, {"baud": 4800}, defaults=DEFAULTS)
    everything = bytes(range(256))
    os.write(master, everything)
    assert read_until(link, 256) == everything
    assert link.read() == b""
    link.write(everything)
    assert os.read(master, 512) == everything
    assert link.identity == path
    link.close()


def test_nothing_is_echoed_and_a_break_flushes_nothing(pty: tuple[int, str]) -> None:
    master, path = pty
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
    cooked = termios.tcgetattr(fd)
    cooked[0] |= termios.BRKINT | termios.ICRNL | termios.IXON
    cooked[3] |= termios.ECHO | termios.ICANON | termios.ISIG
    termios.tcsetattr(fd, termios.TCSANOW, cooked)
    link = open_link(path, {}, defaults=DEFAULTS)
    attributes = termios.tcgetattr(link.fileno())
    assert not attributes[0] & (termios.BRKINT | termios.ICRNL | termios.IXON)
    assert not attributes[3] & (termios.ECHO | termios.ICANON | termios.ISIG)
    os.write(master, b"8S\r\x03")
    assert read_until(link, 4) == b"8S\r\x03"
    assert not select.select([master], [], [], 0)[0]
    link.close()
    os.close(fd)


def test_line_settings_reach_the_port(mocker: MockerFixture, pty: tuple[int, str]) -> None:
    # A pseudo-terminal forgets parity, so what is asked of it is looked at.
    asked = mocker.spy(termios, "tcsetattr")
    settings = {"parity": "E", "stopbits": 2, "bytesize": 7}
    link = open_link(pty[1], settings, defaults=SerialDefaults(baud=4800))
    attributes = asked.call_args_list[0].args[2]
    assert attributes[4:6] == [termios.B4800, termios.B4800]
    assert attributes[2] & termios.PARENB
    assert not attributes[2] & termios.PARODD
    assert attributes[2] & termios.CSTOPB
    assert attributes[2] & termios.CSIZE == termios.CS7
    link.close()


def test_dtr_and_rts_are_set_before_the_port_opens(mocker: MockerFixture, pty: tuple[int, str]) -> None:
    seen: list[tuple[bool, bool]] = []

    def opening(self: serial.Serial) -> None:
        seen.append((self.dtr, self.rts))
        raise OSError(errno.ENOENT, "enough seen")

    mocker.patch.object(serial.Serial, "open", opening)
    with pytest.raises(LinkFault):
        open_link(pty[1], {"dtr": False, "rts": False}, defaults=DEFAULTS)
    assert seen == [(False, False)]


def test_a_second_reader_is_refused_and_the_first_goes_on(pty: tuple[int, str]) -> None:
    master, path = pty
    first = open_link(path, {}, defaults=DEFAULTS)
    with pytest.raises(LinkFault, match="only one may read"):
        open_link(path, {}, defaults=DEFAULTS)
    other = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys\nfrom tablectl_drivers.links import *\n"
            "open_link(sys.argv[1], {}, defaults=SerialDefaults(baud=9600))",
            path,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert other.returncode != 0
    assert "only one may read" in other.stderr
    os.write(master, b"8S")
    assert read_until(first, 2) == b"8S"
    first.close()
    open_link(path, {}, defaults=DEFAULTS).close()


def test_hardware_is_claimed_for_ourselves_and_a_pty_stays_openable(
    mocker: MockerFixture, pty: tuple[int, str]
) -> None:
    ioctl = mocker.patch("tablectl_drivers.links_serial.fcntl.ioctl")
    fd = os.open(pty[1], os.O_RDWR | os.O_NOCTTY)
    links_serial._claim(fd)
    assert ioctl.call_count == 0
    mocker.patch("tablectl_drivers.links_serial.os.major", return_value=188)  # ttyUSB
    links_serial._claim(fd)
    ioctl.assert_called_once_with(fd, termios.TIOCEXCL)
    os.close(fd)


def test_the_cable_pulled_from_a_real_port(pty: tuple[int, str]) -> None:
    master, path = pty
    link = open_link(path, {}, defaults=DEFAULTS)
    os.close(master)
    assert select.select([link.fileno()], [], [], 2)[0]
    assert link.read() == b""  # ready, and nothing there: the reader believes it a few times at most
    with pytest.raises(LinkFault, match="scanner lost"):
        link.write(b"x")
    link.close()
    link.close()


@pytest.mark.parametrize("fault", GONE, ids=repr)
@pytest.mark.parametrize("call", ["read", "write", "fileno", "close"])
def test_unplugged_in_any_way_at_any_call_is_lost(
    call: str, fault: BaseException, mocker: MockerFixture, pty: tuple[int, str]
) -> None:
    before = settled_descriptors()
    link = open_link(pty[1], {}, defaults=DEFAULTS)
    fd = link.fileno()
    if call == "read":
        mocker.patch("tablectl_drivers.links_serial.os.read", side_effect=fault)
    else:
        mocker.patch.object(serial.Serial, call, side_effect=fault)
    tries: dict[str, Callable[[], object]] = {
        "read": link.read,
        "write": lambda: link.write(b"x"),
        "fileno": link.fileno,
    }
    if call in tries:
        with pytest.raises(LinkFault, match="scanner lost"):
            tries[call]()
    link.close()
    link.close()
    mocker.stopall()
    if call == "close":
        os.close(fd)  # the close that did not happen
    assert descriptors() == before


def test_a_close_that_fails_leaks_nothing_and_closes_no_reused_number(
    mocker: MockerFixture, pty: tuple[int, str]
) -> None:
    before = settled_descriptors()
    link = open_link(pty[1], {}, defaults=DEFAULTS)
    fd, real_close = link.fileno(), os.close

    def failing(number: int) -> None:
        real_close(number)
        if number == fd:
            raise OSError(errno.EIO, "Input/output error")

    mocker.patch("serial.serialposix.os.close", failing)
    link.close()
    mocker.stopall()
    assert descriptors() == before
    reused = os.open("/dev/null", os.O_RDONLY)
    assert reused == fd
    link.close()
    del link
    os.fstat(reused)
    os.close(reused)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOENT, "cable"),
        (errno.ENODEV, "cable"),
        (errno.EACCES, "dialout.*udev"),
        (errno.EPERM, "dialout"),
        (errno.EBUSY, "another reader"),
        (errno.EINVAL, "cannot be opened"),
    ],
)
def test_a_port_that_does_not_open_says_the_way_out(
    number: int, words: str, mocker: MockerFixture, pty: tuple[int, str]
) -> None:
    before = settled_descriptors()
    mocker.patch("serial.serialposix.os.open", side_effect=OSError(number, os.strerror(number)))
    with pytest.raises(LinkFault, match=words) as told:
        open_link(pty[1], {}, defaults=DEFAULTS)
    assert pty[1] in str(told.value)
    assert descriptors() == before


@pytest.mark.parametrize("fault", GONE, ids=repr)
def test_unplugged_while_it_opens(fault: BaseException, mocker: MockerFixture, pty: tuple[int, str]) -> None:
    before = settled_descriptors()
    mocker.patch("serial.serialposix.termios.tcgetattr", side_effect=fault)
    with pytest.raises(LinkFault):
        open_link(pty[1], {}, defaults=DEFAULTS)
    mocker.stopall()
    mocker.patch("tablectl_drivers.links_serial.termios.tcsetattr", side_effect=fault)
    with pytest.raises(LinkFault):
        open_link(pty[1], {}, defaults=DEFAULTS)
    mocker.stopall()
    assert descriptors() == before


def test_things_that_are_no_serial_port(tmp_path: Path) -> None:
    plain = tmp_path / "file"
    plain.write_bytes(b"")
    for path in (plain, tmp_path, Path("/dev/null")):
        with pytest.raises(LinkFault, match=str(path)):
            open_link(str(path), {}, defaults=DEFAULTS)
    with pytest.raises(LinkFault, match="no scanner at"):
        open_link(str(tmp_path / "gone"), {}, defaults=DEFAULTS)


@pytest.mark.soak
def test_descriptors_stay_flat(pty: tuple[int, str]) -> None:
    count = 1000 if "TABLECTL_SOAK" in os.environ else 50
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
    before = settled_descriptors()
    for _ in range(count):
        open_link(pty[1], {}, defaults=DEFAULTS).close()
        open_link(address, {}, defaults=DEFAULTS).close()
        listener.accept()[0].close()
    assert descriptors() == before
    listener.close()


# --- by which name ----------------------------------------------------------------------------------


def port(device: str, location: str, number: str | None = None, pid: int | None = 0x7523) -> SimpleNamespace:
    vid = 0x1A86 if pid is not None else None
    return SimpleNamespace(device=device, vid=vid, pid=pid, serial_number=number, location=location)


@pytest.fixture(params=["by-id", "by-serial"])
def by_id(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, str]:
    folder = tmp_path / str(request.param)
    folder.mkdir()
    target = tmp_path / "ttyUSB1"
    target.touch()
    link = folder / "usb-1a86_USB_Serial-if00-port0"
    link.symlink_to(target)
    return str(link), str(target)


def test_two_adapters_with_one_name_are_not_guessed_at(by_id: tuple[str, str]) -> None:
    link, target = by_id
    with pytest.raises(LinkFault, match=r"ambiguous.*ttyUSB0.*by-path"):
        links_serial.refuse_ambiguous(link, lambda: [port("/dev/ttyUSB0", "1-1"), port(target, "1-2")])


def test_adapters_that_can_be_told_apart_are_opened(by_id: tuple[str, str]) -> None:
    link, target = by_id
    refuse = links_serial.refuse_ambiguous
    refuse(link, lambda: [port(target, "1-2")])
    refuse(link, lambda: [port("/dev/ttyUSB0", "1-1", "A1"), port(target, "1-2", "A2")])
    refuse(link, lambda: [port("/dev/ttyUSB0", "1-1", pid=0x2303), port(target, "1-2")])
    refuse(link, lambda: [port("/dev/ttyS0", "", pid=None), port(target, "1-2")])
    # Two ports of one adapter: the interface tells them apart, in the name too.
    refuse(link, lambda: [port("/dev/ttyUSB0", "1-2:1.1", "A2"), port(target, "1-2:1.0", "A2")])
    # Named by its socket or directly: no guess is made.
    refuse(target, lambda: [port("/dev/ttyUSB0", "1-1"), port(target, "1-2")])


def usb(device: str, number: str | None, socket: str = "1.2", **more: object) -> SimpleNamespace:
    """A port as pyserial's list tells it, of an adapter at a hub's second socket."""
    path = f"/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1/1-{socket}"
    values = {
        **{"device": device, "vid": 0x0403, "pid": 0x6001, "serial_number": number},
        **{"location": f"1-{socket}", "product": "FT232R USB UART", "usb_device_path": path},
    }
    return SimpleNamespace(**values | more)


def name(*ports: SimpleNamespace, real: str = "/dev/ttyUSB1") -> str:
    return links_serial.identify("/dev/shoe", real, lambda: ports)


def test_an_adapter_is_known_by_its_number_wherever_it_hangs() -> None:
    known = "usb:0403:6001:A50285BI (FT232R USB UART)"
    assert name(usb("/dev/ttyUSB1", "A50285BI")) == known
    assert name(usb("/dev/ttyUSB0", "B"), usb("/dev/ttyUSB1", "A50285BI", "4")) == known
    assert name(usb("/dev/ttyUSB7", "A50285BI"), real="/dev/ttyUSB7") == known
    assert name(usb("/dev/ttyUSB1", "B")) != known


@pytest.mark.parametrize("number", [None, "", " "])
def test_an_adapter_without_a_number_is_known_by_its_socket(number: str | None) -> None:
    known = "usb:0403:6001@0000:00:14.0-usb-0:1.2 (FT232R USB UART)"
    assert name(usb("/dev/ttyUSB1", number)) == known
    second_bus = "/sys/devices/pci0000:00/0000:00:14.0/usb3/3-1/3-1.2"
    assert name(usb("/dev/ttyUSB1", number, usb_device_path=second_bus)) == known, "buses are renumbered"
    other = "/sys/devices/pci0000:00/0000:05:00.0/usb1/1-1/1-1.2"
    assert name(usb("/dev/ttyUSB1", number, usb_device_path=other)) != known
    assert name(usb("/dev/ttyUSB1", number, "1.3")) != known


def test_the_ports_of_one_adapter_are_told_apart(tmp_path: Path) -> None:
    first = usb("/dev/ttyUSB1", "A1", location="1-2:1.0")
    second = usb("/dev/ttyUSB1", "A1", location="1-2:1.1")
    assert (name(first), name(second)) == (
        "usb:0403:6001:A1,if0 (FT232R USB UART)",
        "usb:0403:6001:A1,if1 (FT232R USB UART)",
    )
    (tmp_path / "port_number").write_text("3\n")
    assert name(usb("/dev/ttyUSB1", "A1", device_path=str(tmp_path))).startswith("usb:0403:6001:A1,port3 ")


def test_texts_of_a_device_that_are_no_texts() -> None:
    given = usb("/dev/ttyUSB1", "A\x1b[2J\n", product=None)
    assert name(given) == "usb:0403:6001:A?[2J"
    assert len(name(usb("/dev/ttyUSB1", "A", product="x" * 5000))) < 100


def test_what_is_no_adapter_is_known_by_its_name() -> None:
    assert name(port("/dev/ttyUSB1", "", pid=None)) == "/dev/shoe"
    assert name() == "/dev/shoe"


@pytest.mark.parametrize(
    "fault", [TypeError("int() argument must be a string, not 'NoneType'"), OSError(errno.ENODEV, "gone")]
)
def test_a_device_unplugged_while_all_are_listed_is_no_crash(
    fault: Exception, by_id: tuple[str, str], pty: tuple[int, str], mocker: MockerFixture
) -> None:
    """pyserial reads each port's numbers from files that may be gone by then."""

    def ports() -> list[SimpleNamespace]:
        raise fault

    with pytest.raises(LinkFault, match="tried again"):
        links_serial.refuse_ambiguous(by_id[0], ports)
    before = settled_descriptors()
    mocker.patch.object(links_serial, "identify", lambda device, real: links_serial._adapters(ports))
    with pytest.raises(LinkFault, match="tried again"):
        open_link(pty[1], {}, defaults=DEFAULTS)
    assert descriptors() == before


def test_a_port_knows_its_name_and_where_that_leads(pty: tuple[int, str], tmp_path: Path) -> None:
    link = tmp_path / "shoe"
    link.symlink_to(pty[1])
    opened = open_link(str(link), {}, defaults=DEFAULTS)
    assert (opened.identity, opened.where) == (str(link), pty[1])
    opened.close()


# --- a TCP serial server ----------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[tuple[socket.socket, str]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(2)
        yield listener, f"tcp://127.0.0.1:{listener.getsockname()[1]}"


def test_tcp_passes_bytes_and_probes_the_cable(server: tuple[socket.socket, str]) -> None:
    listener, address = server
    link = open_link(address, {"baud": 4800}, defaults=DEFAULTS)
    peer, _ = listener.accept()
    assert link.read() == b""
    peer.sendall(bytes(range(256)))
    assert read_until(link, 256) == bytes(range(256))
    link.write(b"\x06")
    assert peer.recv(10) == b"\x06"
    assert link.read() == b""
    opened = socket.socket(fileno=os.dup(link.fileno()))
    with opened:
        assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_USER_TIMEOUT)
        assert [opened.getsockopt(socket.IPPROTO_TCP, option) for option in options] == [30, 10, 3, 60_000]
    assert link.identity == address
    assert link.where == address.removeprefix("tcp://")
    link.close()
    link.close()
    peer.close()


@pytest.mark.parametrize("hard", [False, True])
def test_tcp_closed_by_the_server_is_lost(hard: bool, server: tuple[socket.socket, str]) -> None:
    listener, address = server
    link = open_link(address, {}, defaults=DEFAULTS)
    peer, _ = listener.accept()
    if hard:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    peer.close()
    assert select.select([link.fileno()], [], [], 2)[0]
    with pytest.raises(LinkFault, match="scanner lost"):
        link.read()
    link.close()


def test_tcp_used_after_close_is_a_link_fault(server: tuple[socket.socket, str]) -> None:
    link = open_link(server[1], {}, defaults=DEFAULTS)
    link.close()
    with pytest.raises(LinkFault):
        link.read()
    with pytest.raises(LinkFault):
        link.write(b"x")


def test_a_refused_connection_names_the_other_reader() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        with pytest.raises(LinkFault, match="refused: another reader may be connected"):
            open_link(f"tcp://127.0.0.1:{reserved.getsockname()[1]}", {}, defaults=DEFAULTS)


def test_tcp_that_does_not_answer_is_given_up_in_bounded_time(mocker: MockerFixture) -> None:
    mocker.patch.object(links_tcp, "CONNECT_SECONDS", 0.2)
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        where = full.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:  # fill the queue: the next handshake is not answered
            one.setblocking(False)
            one.connect_ex(where)
        began = time.monotonic()
        with pytest.raises(LinkFault, match="does not answer"):
            open_link(f"tcp://127.0.0.1:{where[1]}", {}, defaults=DEFAULTS)
        assert time.monotonic() - began < 2
        for one in waiting:
            one.close()


def test_a_connection_with_oneself_is_no_server(mocker: MockerFixture) -> None:
    me = socket.socket()
    me.bind(("127.0.0.1", 0))
    me.connect(me.getsockname())
    mocker.patch("tablectl_drivers.links_tcp.socket.create_connection", return_value=me)
    with pytest.raises(LinkFault, match="refused"):
        links.open_link("tcp://127.0.0.1:4001", {}, defaults=DEFAULTS)
    assert me.fileno() == -1


def test_an_unknown_host_is_named(mocker: MockerFixture) -> None:
    mocker.patch(
        "tablectl_drivers.links_tcp.socket.create_connection", side_effect=socket.gaierror(-2, "unknown")
    )
    with pytest.raises(LinkFault, match="no such host"):
        open_link("tcp://shoe-7:4001", {}, defaults=DEFAULTS)
