"""What a decoded item is, on one line and as JSON: the same in `scan`, `replay`, taps and goldens.  Pure."""

from __future__ import annotations

from typing import Any

from tablectl.scanner import DeviceEvent, Item, Reject, Scan

MOST_RAW = 256
"""Bytes of an item that are shown; how many more there are is said."""

MOST_CODE = 40
"""Bytes of an unknown code that are shown."""


def hex_of(data: bytes) -> str:
    """``05 31 44``: pairs in capitals, blanks between."""
    return data.hex(" ").upper()


def item_words(item: Item) -> str:
    """One line: kind, card and label or text, and the bytes in brackets."""
    kind, said = _kind(item), _said(item)
    shown = hex_of(item.raw[:MOST_RAW])
    more = f" … {len(item.raw) - MOST_RAW} more" if len(item.raw) > MOST_RAW else ""
    return "  ".join(part for part in (kind, said, f"[{shown}{more}]") if part)


def item_json(item: Item) -> dict[str, Any]:
    """The same for a program; what an item does not have is left out."""
    made: dict[str, Any] = {"kind": _kind(item), "raw": hex_of(item.raw)}
    match item:
        case Scan(card=card, label=label):
            made["card"] = None if card is None else str(card)
            if label:
                made["label"] = label.value
        case DeviceEvent():
            if item.card is not None:
                made["card"] = str(item.card)
            if item.outcome is not None:
                made["outcome"] = item.outcome.value
            if item.number is not None:
                made["number"] = item.number
            if item.text:
                made["text"] = item.text
        case Reject(reason=reason, framed=framed, code=code, lost=lost):
            made["text"] = reason
            if framed:
                made["framed"] = True
            if lost:
                made["lost"] = True
            if code:
                made["code"] = repr(code[:MOST_CODE])[2:-1]
    return made


def _kind(item: Item) -> str:
    match item:
        case Scan():
            return "card"
        case DeviceEvent(kind=kind):
            return kind.value
        case Reject():
            return "reject"


def _said(item: Item) -> str:
    match item:
        case Scan(card=card, label=label):
            return f"{card or '?'} {label.value}".rstrip()
        case Reject(reason=reason):
            return reason
        case DeviceEvent():
            parts = [
                str(item.card or ""),
                item.outcome.value if item.outcome else "",
                "player-pair" if item.player_pair else "",
                "banker-pair" if item.banker_pair else "",
                "" if item.number is None else str(item.number),
                item.text,
            ]
            return " ".join(part for part in parts if part)
