"""Who may act as pit boss: names with hashed PINs, and how wrong PINs slow the next try down.

One line per pit boss, made by ``tablectl pin NAME``::

    anna:scrypt$16384$8$1$<salt>$<hash>

name, scheme, the scrypt cost n, r and p, then salt (16 bytes) and hash (32 bytes) in base64. Empty
lines and lines beginning with ``#`` are left out. Every line has the same cost, so that the time
:meth:`PitBosses.verify` takes (about 75 ms) does not tell whether a name is known; call it neither on
the core thread nor on an event loop.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tablectl.clock import SECOND

N, R, P = 2**14, 8, 1
"""The cost of scrypt."""

SALT_BYTES, HASH_BYTES = 16, 32
PIN_LENGTH = range(4, 65)
"""How many characters a PIN may have."""

UNSET = "unset"
"""What a credential holds where nobody has set it: the same as no file."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}", re.ASCII)
_MOST_TEXT = 65_536
_SCHEME = f"scrypt${N}${R}${P}"


def _hash(pin: str, salt: bytes) -> bytes:
    return hashlib.scrypt(pin.encode(), salt=salt, n=N, r=R, p=P, dklen=HASH_BYTES, maxmem=64 * 2**20)


def check_name(name: str) -> str:
    """``name`` if it can name a pit boss. Raises :class:`ValueError`."""
    if not _NAME.fullmatch(name):
        raise ValueError(
            "a pit boss's name has 1 to 32 of A-Z a-z 0-9 . _ - and begins with a letter or digit"
        )
    return name


def check_pin(pin: str) -> str:
    """``pin`` if it can be one. Raises :class:`ValueError`, without showing it."""
    if len(pin) not in PIN_LENGTH:
        raise ValueError(f"a PIN has {PIN_LENGTH[0]} to {PIN_LENGTH[-1]} characters, not {len(pin)}")
    if not pin.isprintable() or pin != pin.strip():
        raise ValueError("a PIN has no control characters, and no space at either end")
    return pin


def make_line(name: str, pin: str) -> str:
    """The credential line of a pit boss, with a new salt. Raises :class:`ValueError`."""
    salt = secrets.token_bytes(SALT_BYTES)
    parts = (base64.b64encode(part).decode() for part in (salt, _hash(check_pin(pin), salt)))
    return f"{check_name(name)}:{_SCHEME}${'$'.join(parts)}"


@dataclass(frozen=True, slots=True)
class _Entry:
    salt: bytes
    hash: bytes


def _stand_in() -> _Entry:
    """What the PIN of an unknown name is compared with; nothing matches it."""
    return _Entry(secrets.token_bytes(SALT_BYTES), secrets.token_bytes(HASH_BYTES))


@dataclass(frozen=True, slots=True)
class PitBosses:
    """The pit bosses of a table. Neither ``repr`` nor an error shows a hash."""

    _entries: Mapping[str, _Entry] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    _unknown: _Entry = field(default_factory=_stand_in, repr=False, compare=False)

    @classmethod
    def parse(cls, text: str, source: str) -> PitBosses:
        """The pit bosses in ``text``; none when it is empty or ``unset``.

        Raises :class:`ValueError` with one line for each fault, naming ``source`` and the line's number.
        """
        if text.strip() == UNSET:
            return cls()
        if len(text) > _MOST_TEXT:
            raise ValueError(f"{source}: longer than {_MOST_TEXT} characters; is it the right file?")
        entries: dict[str, _Entry] = {}
        lines: dict[str, int] = {}
        faults = []
        for number, line in enumerate(text.splitlines(), start=1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            try:
                name, entry = _parse_line(line.strip())
                if name in entries:
                    raise ValueError(f"{name} is in line {lines[name]} already; remove one")
            except ValueError as fault:
                faults.append(f"{source}, line {number}: {fault}")
                continue
            entries[name], lines[name] = entry, number
        if faults:
            raise ValueError("\n".join(faults))
        return cls(MappingProxyType(entries))

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of the file."""
        return tuple(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def verify(self, name: str, pin: str) -> bool:
        """Whether ``pin`` is the PIN of ``name``. Takes as long for an unknown name or an impossible PIN."""
        entry = self._entries.get(name, self._unknown)
        try:
            given = _hash(check_pin(pin), entry.salt)
            possible = True
        except (ValueError, UnicodeEncodeError):
            given, possible = _hash("", entry.salt), False
        equal = hmac.compare_digest(given, entry.hash)
        return equal and possible and name in self._entries


def _parse_line(line: str) -> tuple[str, _Entry]:
    name, colon, rest = line.partition(":")
    if not colon:
        raise ValueError("is not NAME:HASH; make the line with: tablectl pin NAME")
    name = check_name(name.strip())
    values = rest.strip().split("$")
    if len(values) != 6 or "$".join(values[:4]) != _SCHEME:
        raise ValueError(f"the hash of {name} is not {_SCHEME}$SALT$HASH; make it with: tablectl pin {name}")
    try:
        salt, digest = (base64.b64decode(part.encode("ascii"), validate=True) for part in values[4:])
    except (binascii.Error, UnicodeEncodeError):
        salt = digest = b""
    if len(salt) != SALT_BYTES or len(digest) != HASH_BYTES:
        raise ValueError(f"the hash of {name} is damaged; make it anew with: tablectl pin {name}")
    return name, _Entry(salt, digest)


# --- wrong PINs ------------------------------------------------------------------------------------------

DELAYS = tuple(s * SECOND for s in (0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300))
"""How long (ns) after the first, second, … wrong PIN in a row the name has to wait; then always the last."""

LOCK_OUT = 5
"""From so many wrong PINs in a row on, a wait of 4 s and longer, the pit is told."""

FORGOTTEN = 3600 * SECOND
"""After so long (ns) without a wrong PIN a name begins anew: no faster than the longest delay allows."""

MOST_NAMES = 256
"""Names remembered. One more replaces the one with the fewest wrong PINs, the oldest of these."""


@dataclass(frozen=True, slots=True)
class _Wrong:
    count: int
    last: int


@dataclass(frozen=True, slots=True)
class Attempts:
    """Wrong PINs by name; pure. Times are CLOCK_BOOTTIME in ns.

    Ask :meth:`allowed_at` first. Note :meth:`failed` *before* the PIN is verified and
    :meth:`succeeded` when it was right: then tries that run side by side are counted as well.
    """

    _wrong: Mapping[str, _Wrong] = field(default_factory=lambda: MappingProxyType({}))

    def allowed_at(self, name: str) -> int:
        """From when on ``name`` may try (again); 0 when nothing is held against it."""
        wrong = self._wrong.get(name)
        if wrong is None:
            return 0
        delay = DELAYS[min(wrong.count, len(DELAYS)) - 1]
        return wrong.last + delay if delay else 0

    def wrong(self, name: str) -> int:
        """How many wrong PINs in a row are held against ``name``."""
        return self._wrong[name].count if name in self._wrong else 0

    def locked_out(self, now: int) -> tuple[str, ...]:
        """The names that wait at ``now`` after :data:`LOCK_OUT` wrong PINs or more."""
        return tuple(
            name
            for name, wrong in self._wrong.items()
            if wrong.count >= LOCK_OUT and self.allowed_at(name) > now
        )

    def failed(self, name: str, now: int) -> Attempts:
        """The state after one more wrong PIN of ``name`` at ``now``."""
        before = self._wrong.get(name)
        anew = before is None or now - before.last >= FORGOTTEN
        count = 1 if before is None or anew else before.count + 1
        wrong = {n: w for n, w in self._wrong.items() if n != name}
        if len(wrong) >= MOST_NAMES:
            del wrong[min(wrong, key=lambda n: (wrong[n].count, wrong[n].last))]
        return Attempts(MappingProxyType(wrong | {name: _Wrong(count, now)}))

    def succeeded(self, name: str) -> Attempts:
        """The state after the right PIN: nothing is held against ``name`` any more."""
        return Attempts(MappingProxyType({n: w for n, w in self._wrong.items() if n != name}))

    def __len__(self) -> int:
        return len(self._wrong)
