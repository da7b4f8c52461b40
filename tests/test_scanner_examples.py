"""Every driver comes with an example of its section, which says all its keys and which it takes itself."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tablectl.config import load_config
from tablectl.plugins import load_driver
from tablectl.profiles import config_dir
from tablectl.scanner_setup import load_scanner

EXAMPLES = config_dir() / "scanners"
COMMENTED = re.compile(r"# (\w+ = )")
PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
NAMES = sorted(PROJECT["project"]["entry-points"]["tablectl.drivers"])


def section(name: str, *, commented: bool = False) -> str:
    text = (EXAMPLES / f"{name}.toml").read_text(encoding="utf-8")
    if not commented:
        return text
    lines = [COMMENTED.sub(r"\1", line) for line in text.splitlines()]
    given = {line.split(" = ")[0] for line in text.splitlines() if re.match(r"\w+ = ", line)}
    fresh = [line for line in lines if line.split(" = ")[0] not in given or line in text.splitlines()]
    return "\n".join(fresh)


def scanner(folder: Path, text: str) -> tuple[str, dict[str, Any]]:
    path = folder / "T07.toml"
    path.write_text('[table]\nid = "T07"\n' + text)
    driver, settings = load_scanner(load_config(path))
    return driver.name, settings


@pytest.mark.parametrize("name", NAMES)
def test_every_driver_takes_its_own_example(name: str, tmp_path: Path) -> None:
    driver, settings = scanner(tmp_path, section(name))
    assert driver == name
    driver, everything = scanner(
        tmp_path, section(name, commented=True).replace('aim = "off"', 'aim = "strip"')
    )
    assert driver == name
    assert everything.keys() > settings.keys()


@pytest.mark.parametrize("name", NAMES)
def test_the_example_says_every_key_there_is(name: str, tmp_path: Path) -> None:
    """By the driver's own words, when it is given a key it does not know."""
    with pytest.raises(Exception, match="it has ") as caught:
        scanner(tmp_path, section(name) + "no_such_key = 1\n")
    there = set(str(caught.value).split("it has ")[1].split(", "))
    said = tomllib.loads(section(name, commented=True))["scanner"].keys()
    assert said - {"driver", "device"} == there


def test_no_example_without_a_driver() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.toml")} == set(NAMES)


@pytest.mark.parametrize(
    ("driver", "device", "says"),
    [
        ("bee-tek", "tcp://nohost:99999", "tcp://host:port"),
        ("bee-tek", "tcp://", "tcp://host:port"),
        ("bee-tek", "ttyUSB0", "neither a path"),
        ("bee-tek", "usb:0403:6001:A5", "HID scanner"),
        ("hid-pos", "usb:0c2e", "names no USB device"),
        ("hid-pos", "usb:0c2e:0b61", "fits every device"),
        ("hid-keyboard", "tcp://192.0.2.10:4001", "names no USB device"),
    ],
)
def test_a_name_no_device_can_have_is_refused_before_anything_is_opened(
    driver: str, device: str, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        load_driver(driver).check_device(device)
