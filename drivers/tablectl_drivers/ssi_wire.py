"""Zebra SSI packets on the wire: length, opcode, source, status, data, check sum.  Pure.

``LEN | OPCODE | SOURCE | STATUS | DATA… | CKSUM``: LEN counts itself through DATA; the check sum is the
two's complement of the 16-bit sum of those bytes, high byte first. Nothing marks where a packet begins:
after damage the next one is looked for byte by byte, and a pause ends what was being read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

SCANNER, HOST = 0x00, 0x04
RESENT, CONTINUED = 0x01, 0x02

DECODE_DATA, EVENT, PARAM_SEND, REPLY_REVISION = 0xF3, 0xF6, 0xC6, 0xA4
CAPABILITIES, BATCH_DATA, IMAGE_DATA, VIDEO_DATA = 0xD4, 0xD6, 0xB1, 0xB4
CMD_ACK, CMD_NAK, BEEP = 0xD0, 0xD1, 0xE6
FROM_SCANNER = frozenset(
    (DECODE_DATA, EVENT, PARAM_SEND, REPLY_REVISION, CAPABILITIES, BATCH_DATA, IMAGE_DATA, VIDEO_DATA)
) | {CMD_ACK, CMD_NAK}

NAK_RESEND, NAK_DENIED = 1, 6

HEADER, SUM = 4, 2
NOISE_CAP = 256
"""Bytes outside packets told together at most."""


def packet(opcode: int, data: bytes = b"", source: int = HOST, status: int = 0) -> bytes:
    """A whole packet. Raises :class:`ValueError` if ``data`` is too long for one."""
    body = bytes((HEADER + len(data), opcode, source, status)) + data
    return body + check_sum(body)


def check_sum(body: bytes) -> bytes:
    """The two bytes behind ``body``."""
    return (-sum(body) & 0xFFFF).to_bytes(SUM, "big")


ACK = packet(CMD_ACK)
RESEND = packet(CMD_NAK, bytes((NAK_RESEND,)))
DENIED = packet(CMD_NAK, bytes((NAK_DENIED,)))


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet whose check sum fits."""

    raw: bytes

    @property
    def opcode(self) -> int:
        return self.raw[1]

    @property
    def status(self) -> int:
        return self.raw[3]

    @property
    def data(self) -> bytes:
        return self.raw[HEADER:-SUM]


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes that are no packet."""

    raw: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Spoilt:
    """What looked like a packet is none: told at once, to be asked for again. Its bytes follow."""


class Framer:
    """Bytes to packets of one ``source``, opcodes of ``opcodes`` only. Memory is bounded."""

    def __init__(self, source: int, opcodes: frozenset[int]) -> None:
        self._source = source
        self._opcodes = opcodes
        self._buffer = bytearray()
        self._noise = bytearray()
        self._reason = ""

    def __len__(self) -> int:
        """Bytes held."""
        return len(self._buffer) + len(self._noise)

    def clear(self) -> None:
        """Forget what is half-read."""
        self._buffer.clear()
        self._noise.clear()
        self._reason = ""

    def feed(self, data: bytes) -> Iterator[Packet | Damage | Spoilt]:
        """What has become whole with ``data``."""
        self._buffer += data
        yield from self._parse(over=False)

    def end(self) -> Iterator[Packet | Damage | Spoilt]:
        """A pause: nothing held will be continued."""
        yield from self._parse(over=True)
        yield from self._flush()

    def _parse(self, *, over: bool) -> Iterator[Packet | Damage | Spoilt]:
        buffer = self._buffer
        while buffer:
            whole = buffer[0] + SUM
            if not self._may_begin():
                yield from self._skip("")
            elif len(buffer) >= whole:
                body = bytes(buffer[: whole - SUM])
                if check_sum(body) != bytes(buffer[whole - SUM : whole]):
                    yield from self._skip("check sum does not fit")
                    continue
                yield from self._flush()
                found = Packet(bytes(buffer[:whole]))
                del buffer[:whole]
                yield found
            elif not over:
                return
            else:
                yield from self._skip("packet cut short" if len(buffer) >= HEADER else "")

    def _may_begin(self) -> bool:
        """Whether a packet can begin with what is held, as far as it is there."""
        buffer = self._buffer
        return (
            buffer[0] >= HEADER
            and (len(buffer) < 2 or buffer[1] in self._opcodes)
            and (len(buffer) < 3 or buffer[2] == self._source)
        )

    def _skip(self, reason: str) -> Iterator[Damage | Spoilt]:
        """The first byte begins no packet; ``reason``: though it looked like one."""
        if reason and not self._reason:
            self._reason = reason
            yield Spoilt()
        self._noise.append(self._buffer[0])
        del self._buffer[0]
        if len(self._noise) == NOISE_CAP:
            yield from self._flush()

    def _flush(self) -> Iterator[Damage]:
        raw, reason = bytes(self._noise), self._reason
        self._noise.clear()
        self._reason = ""
        if raw:
            yield Damage(raw, reason or "bytes outside a packet")
