"""Which driver, dialect or parity makes frames of bytes that the configured driver does not understand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tablectl.plugins import DRIVERS, PluginError, load_driver, names
from tablectl.printable import number_of
from tablectl.profiles import config_dir
from tablectl.scanner import DeviceEvent, DeviceKind, Driver, Reject, Scan
from tablectl.technician.capture import Piece, decoded

_SEVEN_BITS = bytes(byte & 0x7F for byte in range(256))


@dataclass(frozen=True, slots=True)
class Fit:
    """``parity``: E or O where the line has seven data bits and a parity bit; else empty.

    ``dialect``: how its settings differ from the configured ones, as they are written.
    """

    driver: str
    frames: int
    cards: int
    rejects: int
    parity: str = ""
    dialect: str = ""

    @property
    def words(self) -> str:
        """For a technician."""
        seven = f'bytesize = 7 and parity = "{self.parity}"' if self.parity else ""
        line = "".join(f", with {one}" for one in (self.dialect, seven) if one)
        counts = f"{number_of(self.frames, 'frame')}, {number_of(self.cards, 'card')}"
        return f"these look like {self.driver}{line}: {counts}"


def counted(driver: Driver, settings: Mapping[str, Any], pieces: Sequence[Piece]) -> Fit:
    """What a driver makes of the bytes."""
    frames = cards = rejects = 0
    for _, item in decoded(pieces, driver.decoder(settings)):
        match item:
            case Reject():
                rejects += 1
            case DeviceEvent(kind=DeviceKind.NOTICE):
                pass
            case Scan(card=card):
                frames += 1
                cards += card is not None
            case _:
                frames += 1
    return Fit(driver.name, frames, cards, rejects)


def fits(heard: Sequence[tuple[int, bytes]], own: str, settings: Mapping[str, Any]) -> list[Fit]:
    """The drivers that understand more than they reject, best first.

    ``own`` only by another dialect or parity.
    """
    pieces = [Piece(at, data) for at, data in heard]
    lines = {"": pieces}
    if parity := _parity(pieces):
        lines[parity] = [Piece(piece.at, piece.data.translate(_SEVEN_BITS)) for piece in pieces]
    found = []
    for name in names(DRIVERS):
        driver = _usable(name)
        if driver is None:
            continue
        wanted = dict(settings) if name == own else _settings(driver, settings)
        if wanted is None:
            continue
        for line, bits in lines.items():
            for spoken, dialect in _spoken(driver, wanted):
                if name == own and spoken == wanted and not line:
                    continue
                fit = replace(counted(driver, spoken, bits), dialect=dialect, parity=line)
                if fit.frames and fit.frames >= fit.rejects:
                    found.append(fit)
                    break
    return sorted(found, key=lambda fit: (-fit.frames, bool(fit.parity), fit.driver))


def _spoken(driver: Driver, wanted: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Settings to try, and what must be written for them: the wanted ones first, then each dialect."""
    yield wanted, ""
    for dialect in driver.dialects:
        if any(wanted.get(key, "") != value for key, value in dialect.items()):
            yield {**wanted, **dialect}, " and ".join(f'{key} = "{value}"' for key, value in dialect.items())


def _usable(name: str) -> Driver | None:
    """A driver for a serial line; None for another, or one that does not load."""
    try:
        driver = load_driver(name)
    except PluginError:
        return None
    return driver if driver.speeds else None


def _settings(driver: Driver, own: Mapping[str, Any]) -> dict[str, Any] | None:
    """Settings a driver accepts with nothing set, or with the configured, or the shipped, card table."""
    tables = [own["cards"]] if "cards" in own else []
    tables.append(str(config_dir() / "cards" / "suit-rank.toml"))
    for settings in ({}, *({"cards": table} for table in tables)):
        try:
            driver.check(settings)
        except ValueError:
            continue
        return settings
    return None


def _parity(pieces: Sequence[Piece]) -> str:
    """E or O, if bit 7 of every byte is the parity of the other seven; else empty."""
    ones = {byte.bit_count() % 2 for piece in pieces for byte in piece.data}
    high = any(byte & 0x80 for piece in pieces for byte in piece.data)
    if not high or len(ones) != 1:
        return ""
    return "O" if 1 in ones else "E"
