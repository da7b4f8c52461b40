"""Every HTTP status with every kind of body, against the contract's classes (section 3) written down anew."""

from __future__ import annotations

import pytest

from tablectl.clock import SECOND
from tablectl.delivery.actions import Probe, Send
from tablectl.delivery.ages import Ages
from tablectl.delivery.answers import Answer, Failed, Kind, classify
from tablectl.delivery.outbox import Outbox

T0 = 1_000 * SECOND

AGAIN = {408, 425, 429, *range(500, 600)}
LINK = {401, 403, 404, 405, 410, 413, 415}
EVENT = {400, 422}
LEADS = {200, 409}
"""The classes of the contract; any other status acknowledges nothing and is tried again."""

NUMBERS: tuple[object, ...] = (1, 7, 0, -3, 10**30)
NO_NUMBERS: tuple[object, ...] = ("7", 7.0, 7.5, True, False, None, [], {}, [7])
NO_OBJECTS: tuple[object, ...] = (None, [], 7, "next", True, {}, {"Next": 7}, {"error": "x"}, [{"next": 7}])


def expected(status: int, body: object) -> Kind:
    """The class of an answer, by the contract's sentences."""
    if status in LEADS and isinstance(body, dict) and "next" in body:
        return Kind.NEXT if type(body["next"]) is int else Kind.HALT
    if status in LINK:
        return Kind.LINK
    if status in EVENT:
        return Kind.EVENT
    return Kind.LATER


BODIES = (*({"next": value} for value in (*NUMBERS, *NO_NUMBERS)), *NO_OBJECTS)


@pytest.mark.parametrize("status", range(100, 600))
def test_every_status_with_every_body(status: int) -> None:
    for body in BODIES:
        for wait in (None, 0.0, 120.0, 1e12):
            verdict = classify(Answer(status, body, wait, "its words"))
            assert verdict.kind is expected(status, body), (body, wait)
            assert verdict.retry_after == (wait if status in AGAIN else None)
            assert verdict.way or verdict.kind not in (Kind.LINK, Kind.HALT), "a way out"
            if verdict.kind is Kind.NEXT:
                assert isinstance(body, dict)
                assert verdict.next == body["next"]
            else:
                assert f"answers {status}" in verdict.text
            if status in LINK | EVENT:
                assert '"its words"' in verdict.text


@pytest.mark.parametrize("at_fault", [False, True])
def test_no_answer(at_fault: bool) -> None:
    assert classify(Failed("x", at_fault)).kind is (Kind.LINK if at_fault else Kind.LATER)


HEAD, ACKED = 20, 10
SENT = Send(ACKED + 1, 10)


@pytest.mark.parametrize("status", [200, 409])
@pytest.mark.parametrize("request_", [SENT, Send(ACKED + 1, 4), Probe()])
@pytest.mark.parametrize("kept_from", [1, 5, 11])
def test_every_next_for_a_request(status: int, request_: Send | Probe, kept_from: int) -> None:
    """first…last with head the newest stored: the contract's list, number by number."""
    for wanted in range(-2, HEAD + 4):
        box = Outbox(HEAD, ACKED, ACKED, Ages(((HEAD, T0),)), probed=True, kept_from=kept_from)
        after = box.sending(request_).answered(T0, Answer(status, {"next": wanted}), 0.0)
        halted = after.trouble is not None and after.trouble.halts
        first = ACKED + 1
        if wanted > HEAD + 1:
            assert halted and "ahead of this journal" in (after.last_error or "")
        elif wanted < 1 or wanted < kept_from:
            assert halted
            assert after.trouble is not None
            assert after.trouble.wanted == (wanted if wanted >= 1 else None)
        elif (isinstance(request_, Send) and wanted == first) or (status == 409 and wanted >= first):
            assert (halted, after.acked, after.failures) == (False, ACKED, 1)
            assert after.not_before > T0 and not after.link(T0).good
        else:
            # Forward only as far as it was shown the bytes: it compares them.
            shown = request_.last if isinstance(request_, Send) else ACKED
            assert (halted, after.acked, after.last_error) == (False, min(wanted - 1, shown), None)
        if halted:
            assert after.trouble is not None and after.trouble.way, "a way out"
            assert after.acked == ACKED
