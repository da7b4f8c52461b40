"""Names that no device can have are refused before anything is opened, whatever driver or beeper it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tablectl.beeping import make_beepers
from tablectl.config import Config, load_config
from tablectl.plugins import DRIVERS, load_driver, names
from tablectl.profiles import ConfigError
from tablectl.scanner_setup import load_scanner

HID = ("hid-keyboard", "hid-pos")
GOOD = {
    False: (
        "/dev/ttyUSB0",
        "/dev/serial/by-id/usb-FTDI_A5",
        "tcp://192.0.2.10:4001",
        "tcp://[fe80::1%eth0]:1",
    ),
    True: ("usb:0c2e:0b61:1811 3B", "usb:0c2e:0b61@1-1.2", "/dev/pts/3", "/tmp/a scanner"),
}
NOBODY = {
    False: """
        tcp://:4001  tcp://h:0  tcp://h:65536  tcp://h:-1  tcp://h:1_0  tcp://h:٤  tcp://h:  tcp://a b:1
        tcp:// a:1  tcp://h: 1  tcp://h:1?x  tcp://h:1#x  tcp://h:1/x  tcp://u@h:1  tcp://192.168.1:4001
        tcp://192.168.1.999:4001  tcp://1:1  tcp://...:1  tcp://[::g]:1  ttyUSB0  /dev/
        /dev/hidraw0  /dev/input/event3  /dev/bus/usb/001/004  usb:0c2e:0b61@1-1.2
    """,
    True: """
        /dev/hidraw0  /dev/input/event3  /dev/ttyUSB0  /dev/tablectl/scanner  /dev/  tcp://192.0.2.10:4001
        usb:0c2e:0b61  usb:0c2e:0b61@  usb:0c2e:0b61@1-1.2 x  usb: c2e:0b61:1
    """,
}
UNSEEN = st.sampled_from(["\0", "\n", "\t", "\x1b", "\x7f", "\x85", "\u00a0", "\u200b", "\u2028", "\ufeff"])


@pytest.mark.parametrize("driver", names(DRIVERS))
def test_a_name_that_can_be_is_taken_and_one_that_cannot_is_refused_with_the_key(driver: str) -> None:
    check = load_driver(driver).check_device
    for name in GOOD[driver in HID]:
        check(name)
    for name in re.split(r"\s{2,}", NOBODY[driver in HID].strip()):
        with pytest.raises(ValueError, match=r"^device: ") as fault:
            check(name)
        assert "usb:" in str(fault.value) or "tcp://" in str(fault.value), "the way out"


@pytest.mark.parametrize("driver", names(DRIVERS))
@given(st.integers(0, 3), st.integers(0, 60), UNSEEN)
@example(0, 0, " ")
@example(0, 99, " ")
@example(2, 99, " ")
def test_what_nobody_sees_is_in_no_name(driver: str, which: int, at: int, unseen: str) -> None:
    name = GOOD[driver in HID][which]
    bad = name[:at] + unseen + name[at:]
    with pytest.raises(ValueError, match=r"^device: ") as fault:
        load_driver(driver).check_device(bad)
    assert str(fault.value).isprintable()


def configured(folder: Path, scanner: str, more: str = "") -> Config:
    path = folder / "T07.toml"
    path.write_text(f'[table]\nid = "T07"\n[scanner]\n{scanner}\n{more}\n')
    return load_config(path)


@pytest.mark.parametrize(
    "device", ["/dev/ttyUSB0 ", " /dev/ttyUSB0", "/dev/tty\\u0000", "tcp://a b:1", "/dev/hidraw0"]
)
def test_the_configuration_names_file_and_key(tmp_path: Path, device: str) -> None:
    with pytest.raises(ConfigError, match=r"T07\.toml: (not valid TOML: )?scanner\.device: "):
        load_scanner(configured(tmp_path, f'driver = "bee-tek"\ndevice = "{device}"'))


@pytest.mark.parametrize(
    ("beeper", "key", "good", "bad"),
    [
        ("relay", "device", "/dev/ttyUSB1", ("/dev/hidraw0", "ttyUSB1", "tcp://192.0.2.10:1")),
        ("pcspkr", "device", "/dev/input/by-path/x", ("pcspkr",)),
        ("patlite", "device", "usb:191a:6001:A5", ("/dev/hidraw0", "usb:191a:6001")),
        ("sound", "device", "default", ("",)),
        ("sound", "player", "aplay", ("",)),
        ("bell", "terminal", "/dev/tty1", ("tty1",)),
    ],
)
def test_and_so_it_is_with_a_beepers_device(
    tmp_path: Path, beeper: str, key: str, good: str, bad: tuple[str, ...]
) -> None:
    def load(name: str) -> None:
        text = f'[beeper]\ndriver = "{beeper}"\n{key} = "{name}"'
        make_beepers(configured(tmp_path, 'driver = "bee-tek"\ndevice = "/dev/ttyUSB0"', text))

    load(good)
    for name in (*bad, f"{good} ", f" {good}", f"{good}\\n", f"{good[:3]}\\u200b{good[3:]}"):
        with pytest.raises(ConfigError, match=rf"T07\.toml: beeper\.{key}: ") as fault:
            load(name)
        assert str(fault.value).isprintable()
