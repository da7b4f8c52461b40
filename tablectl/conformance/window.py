"""The server's own end of betting. It shows only where the server tells whether wagers are taken now."""

from __future__ import annotations

import hashlib
import json
import time

from tablectl.conformance.kit import Check, Failed, Kit, Skipped
from tablectl.conformance.rounds import Round, next_round, tell_at_once

LATE = 0.5
"""Seconds that a server may take to close."""


def _next_round(kit: Kit) -> Round:
    if kit.betting_url is None:
        raise Skipped('needs --betting-url: an address that answers GET with {"open": true} or false')
    return next_round(kit)


def _open(kit: Kit, *, seconds: float, closes_in: float) -> str:
    event = _next_round(kit).opened(seconds=seconds, closes_in=closes_in)
    sent = f"betting.opened with {seconds:g} seconds, closes_at in {closes_in:g} s"
    kit.takes([kit.event(kit.next, event)], sent)
    return sent


def _is(kit: Kit, wanted: bool, sent: str) -> None:
    assert kit.betting_url is not None
    got = kit.exchange("GET", kit.betting_url, None, {})
    try:
        value = json.loads(got.text)
    except (ValueError, RecursionError):
        value = None
    told = value.get("open") if isinstance(value, dict) else None
    if got.status != 200 or told is not wanted:
        raise Failed(sent, f'200 {{"open": {json.dumps(wanted)}}}', str(got))


def _stays_open_until(kit: Kit, end: float, sent: str, *, words: bool = True) -> None:
    """Open shortly before ``end`` (monotonic), closed shortly after."""
    while (left := end - LATE - time.monotonic()) > 0:
        time.sleep(min(left, 2.0))
        if words:
            kit.must(kit.probe(), f"{sent}, then a probe", {200}, kit.next)
    _is(kit, True, f"{sent}, {LATE:g} s before its end")
    time.sleep(max(0.0, end + LATE - time.monotonic()))
    _is(kit, False, f"{sent}, {LATE:g} s after its end")


def _by_word(kit: Kit) -> None:
    sent = _open(kit, seconds=60, closes_in=60)
    _is(kit, True, sent)
    closed = Round(kit.shoe, kit.round).closed()
    kit.takes([kit.event(kit.next, closed)], "betting.closed")
    _is(kit, False, f"{sent}, betting.closed")


def _by_seconds(kit: Kit) -> None:
    sent = _open(kit, seconds=2 * LATE, closes_in=60)
    _stays_open_until(kit, time.monotonic() + 2 * LATE, sent)


def _by_wall(kit: Kit) -> None:
    sent = _open(kit, seconds=60, closes_in=2 * LATE)
    _stays_open_until(kit, time.monotonic() + 2 * LATE, sent)


def _too_late(kit: Kit) -> None:
    sent = _open(kit, seconds=60, closes_in=-1)
    _is(kit, False, sent)


def _replayed(kit: Kit) -> None:
    one = _next_round(kit)
    events = [one.opened(seconds=60, closes_in=60), one.closed()]
    bodies = tell_at_once(kit, [*events], "betting.opened and betting.closed in one batch")
    _is(kit, False, "betting.opened and betting.closed in one batch")
    kit.takes(bodies[:1], "that betting.opened again", wanted=kit.next)
    _is(kit, False, "betting.opened again, behind its betting.closed")


def _forge(kit: Kit, sent: str) -> None:
    """What comes from anybody but the table."""
    wrong = [hashlib.sha256(key).digest() for key in kit.keys]
    unsigned, others = {400, 401}, {401}
    for got, what, statuses in (
        (kit.post([], single=False, spoil=_bare), "a probe without a signature", unsigned),
        (kit.post(kit.events(1), spoil=_bare), "an event without a signature", unsigned),
        (kit.post([], single=False, keys=wrong), "a probe signed with another secret", others),
        (kit.post(kit.events(1), keys=wrong), "an event signed with another secret", others),
        (kit.post([], single=False, later=-600), "a probe signed ten minutes ago", others),
        (kit.post([], single=False, epoch=kit.other_epoch), "a probe of another epoch", {403}),
    ):
        kit.must(got, f"{sent}, {what}", statuses, None)


def _bare(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if not name.startswith("webhook-")}


def _by_silence(kit: Kit) -> None:
    sent = _open(kit, seconds=120, closes_in=120)
    time.sleep(kit.silence / 2)
    kit.must(kit.probe(), f"{sent}, then a probe", {200}, kit.next)
    end = time.monotonic() + kit.silence
    time.sleep(kit.silence / 2)
    _forge(kit, sent)
    _stays_open_until(kit, end, f"{sent}, then nothing but forged requests", words=False)
    kit.must(kit.probe(), f"{sent}, silence, then a probe", {200}, kit.next)
    _is(kit, False, f"{sent}, silence, then a probe")


WINDOW_CHECKS: tuple[Check, ...] = (
    Check("window-word", "betting.closed closes the window", _by_word),
    Check("window-seconds", "its own monotonic clock closes the window after `seconds`", _by_seconds),
    Check("window-closes-at", "its wall clock closes the window at `closes_at`", _by_wall),
    Check("window-late", "a betting.opened after its closes_at opens nothing", _too_late),
    Check("window-replay", "a betting.opened that comes again opens nothing again", _replayed),
    Check(
        "window-silence",
        "15 s without a word from the table close the window; a probe is a word, a forged request is none",
        _by_silence,
    ),
)
