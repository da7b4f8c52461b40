"""The way out of each trouble of the delivery: what an alarm adds, for who reads it at 3 a.m.

What is the matter stands in the trouble's own text; here is who does what about it. Nothing is lost while
nobody does anything, and nothing here is done by itself but the slow asking of a link at fault.
"""

from __future__ import annotations

_WHO = "--as NAME --reason system"

RETRY = f"tablectl delivery retry {_WHO}"

AGAIN = "It is tried again by itself every 30 s."

MENDED = f"It must be mended at the game server; then: {RETRY}"

_NEW_HISTORY = (
    "If there is none: begin a new history, which the game server's people must accept "
    '(docs/journal.md, "Replace the PC").'
)

AHEAD = (
    "Does another PC play this table? Switch the wrong one off. Was this journal put back? Stop the service "
    f"and restore a newer copy, the mirror best: tablectl journal restore FILE. {_NEW_HISTORY}"
)
"""The other side has what this journal has not, or has something else."""

LOST = (
    "Stop the service and restore a copy that has the lost events, the mirror best: "
    f"tablectl journal restore FILE. {_NEW_HISTORY}"
)

URL = "Compare [server] url with the address that the game server's people gave."

CERTIFICATE = (
    "Mend what is named: the certificate at the game server, [server] ca or client_cert, or the clock of "
    "this machine; these are taken up without a restart, a new credential client-key with the next start."
)

NATS_AUTH = "Compare the credential nats-auth with what the NATS server's people gave."

LINK = {
    401: "Compare the credential push-hmac with the server's secret, and the clocks of both machines.",
    403: "Its own words, where it gives any, say why. Of another history: is this the right PC, and the only "
    "one that plays this table? Then the game server's people must accept its history. Of test "
    "events: a test table ([table] test = true) plays at a game server for tests only; for real play it "
    'begins a new history, with test = false (docs/install.md, "From trial to real play").',
    404: URL,
    405: URL,
    410: URL,
    413: "The game server, or what stands before it, must take requests of 512 KiB.",
    415: URL,
}
"""By the HTTP status."""


def accepted(epoch: str) -> str:
    """Another history is in the stream."""
    return (
        "Does another PC play this table? Switch the wrong one off. If this one is right, a person must "
        f"accept its history {epoch} at the game server first; then: {RETRY}"
    )


def refused(sequence: int) -> str:
    """One event is refused."""
    return (
        f"Have it mended at the game server; then: {RETRY}; or, if it cannot be mended: "
        f"tablectl delivery park {sequence} {_WHO}; a round that it ends is then unsettled until it is "
        "voided or amended"
    )


PARKED = (
    f"It is parked already, and what goes out in its place is refused too. {MENDED}. Over NATS, where the "
    "game server has lost its data or is another one: its people empty what it holds of this table, and this "
    'table\'s subject in the stream; then the same (docs/integration.md, "Parked")'
)


def gone(wanted: int, kept_from: int) -> str:
    """A part of the history is kept no more."""
    lost = f"event {wanted}" if wanted == kept_from - 1 else f"the events {wanted} to {kept_from - 1}"
    return (
        f"Can its data be put back there? Do, then: {RETRY}; or, if not: tablectl delivery start-at "
        f"{kept_from} {_WHO}; it then never gets {lost}, and gets all later ones"
    )
