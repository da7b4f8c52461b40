"""The delivery's policy: every class of answer, and what no sequence of answers may do to it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.clock import SECOND
from tablectl.delivery.actions import Halted, Probe, Send, Wait
from tablectl.delivery.answers import Answer, Failed, retry_after
from tablectl.delivery.outbox import BATCH, Outbox, message_id

T0 = 1_000 * SECOND


def ok(wanted: object) -> Answer:
    return Answer(200, {"next": wanted})


def after(box: Outbox, answer: Answer | Failed, now: int = T0, jitter: float = 0.0) -> Outbox:
    """Do what is to be done and get ``answer`` for it."""
    action = box.next_action(now)
    assert isinstance(action, Send | Probe), action
    return box.sending(action).answered(now, answer, jitter)


def running(head: int = 20, acked: int = 10) -> Outbox:
    """An outbox that has probed and has ``acked`` + 1 … ``head`` to send."""
    return after(Outbox.begin(T0, head=head, acked=acked), ok(acked + 1))


# --- what is sent ------------------------------------------------------------------------------------


def test_a_start_probes_then_sends_what_is_owed_in_batches_of_100() -> None:
    box = Outbox.begin(T0, head=250, acked=10)
    assert box.next_action(T0) == Probe()
    box = after(box, ok(11))
    assert box.next_action(T0) == Send(11, 100)
    box = after(box, ok(111))
    box = after(box, ok(211))
    assert box.next_action(T0) == Send(211, 40)
    box = after(box, ok(251))
    assert box.next_action(T0) == Wait(T0 + 5 * SECOND)
    assert box.next_action(T0 + 5 * SECOND) == Probe()


def test_one_request_is_in_flight_at_a_time() -> None:
    box = running()
    assert box.sending(Send(11, 10)).next_action(T0 + 99 * SECOND) == Wait(None)
    with pytest.raises(ValueError, match="no request"):
        box.answered(T0, ok(1), 0)


def test_a_new_event_is_sent_at_once_when_idle() -> None:
    box = running(10, 10).stored(11, T0)
    assert box.next_action(T0) == Send(11, 1)


# --- 200 {"next": N} ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "acked"),
    [(21, 20), (15, 14), (12, 11), (4, 3), (1, 0)],
    ids=["all taken", "a part", "one", "back", "back to the first"],
)
@pytest.mark.parametrize("status", [200, 409])
def test_the_server_leads(wanted: int, acked: int, status: int) -> None:
    box = after(running(), Answer(status, {"next": wanted}))
    if status == 409 and wanted > 11:
        assert "that takes none" in (box.last_error or "")
        assert (box.acked, box.ages, box.link(T0).good) == (10, running().ages, False)
        assert box.next_action(T0) == Wait(T0 + SECOND // 4)
        return
    assert box.acked == acked
    assert box.last_error is None
    action = box.next_action(T0)
    assert action == (Wait(T0 + 5 * SECOND) if acked == 20 else Send(wanted, 20 - acked))


def test_what_it_says_it_has_behind_the_request_is_sent_all_the_same() -> None:
    """It compares the bytes: a journal that was put back holds other events under those numbers."""
    box = running(200, 10)
    assert after(box, ok(150)).next_action(T0) == Send(111, 90)
    assert after(box, ok(201)).acked == 110


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=40), st.integers(0, 10))
def test_nothing_counts_as_delivered_that_was_not_sent_from_here(
    answers: list[tuple[int, bool]], acked: int
) -> None:
    box, now, shown = Outbox.begin(T0, head=12, acked=acked), T0, set(range(1, acked + 1))
    for wanted, more in answers:
        if more:
            box = box.stored(box.head + 1, now)
        match box.next_action(now):
            case Send() | Probe() as action:
                if isinstance(action, Send):
                    shown |= set(range(action.first, action.last + 1))
                box = box.sending(action).answered(now, ok(wanted), 0.5)
                assert set(range(1, box.acked + 1)) <= shown
            case Wait(until=until):
                now = now + SECOND if until is None else max(now, until)
            case Halted():
                box = box.retried()


def test_no_progress_backs_off() -> None:
    box = after(running(), ok(11))
    assert box.next_action(T0) == Wait(T0 + SECOND // 4)
    assert not box.link(T0).good


@pytest.mark.parametrize("status", [200, 409])
@pytest.mark.parametrize("probing", [True, False])
def test_a_server_that_is_ahead_halts(status: int, probing: bool) -> None:
    box = Outbox.begin(T0, head=20, acked=10) if probing else running()
    box = after(box, Answer(status, {"next": 22}))
    halted = box.next_action(T0 + 999 * SECOND)
    assert isinstance(halted, Halted)
    assert "the server is ahead of this journal" in halted.reason
    assert box.acked == 10
    assert box.link(T0) == (box.link(T0 + 1))
    assert not box.link(T0).good


@pytest.mark.parametrize("wanted", ["11", 11.0, None, True, [11], {}])
def test_no_integer_halts(wanted: object) -> None:
    box = after(running(), ok(wanted))
    assert isinstance(box.next_action(T0), Halted)
    assert box.acked == 10


@pytest.mark.parametrize("wanted", [10**4000, -(10**4000)], ids=["above", "below"])
@pytest.mark.parametrize("sure", [None, 12])
def test_a_number_of_thousands_of_digits_is_cut_in_what_people_read(wanted: int, sure: int | None) -> None:
    """It is an alert, which is an event of the table."""
    box = after(replace(running(), sure=sure), ok(wanted))
    assert box.trouble is not None and box.trouble.halts
    assert len(box.trouble.text) < 200 and "digits)" in box.trouble.text


@pytest.mark.parametrize("wanted", [0, -5])
def test_what_never_was_halts(wanted: int) -> None:
    box = Outbox.begin(T0, head=20, acked=10)
    box = after(after(box, ok(11)), ok(wanted))
    halted = box.next_action(T0)
    assert isinstance(halted, Halted)
    assert f"wants event {wanted}, the first one is 1" in halted.reason


def test_a_probe_moves_the_outbox_back_and_never_forward() -> None:
    begin = Outbox.begin(T0, head=20, acked=10)
    assert after(begin, ok(15)).next_action(T0) == Send(11, 10)
    assert after(begin, ok(3)).next_action(T0) == Send(3, 18)
    assert after(begin, ok(21)).next_action(T0) == Send(11, 10)


def test_a_server_that_goes_back_and_forth_is_not_followed_at_full_speed() -> None:
    box, now, requests = running(20, 10), T0, 0
    while now < T0 + 60 * SECOND:
        match box.next_action(now):
            case Send(first=first) as action:
                requests += 1
                box = box.sending(action).answered(now, ok(first - 1 if first % 2 == 0 else first + 1), 0.5)
            case Wait(until=until):
                assert until is not None
                now = until
            case other:
                raise AssertionError(other)
    assert requests < 40


# --- other answers ---------------------------------------------------------------------------------------

NO_ACK = [
    Answer(200),
    Answer(200, {}),
    Answer(200, []),
    Answer(200, "next"),
    Answer(201, {"next": 21}),
    Answer(204),
    Answer(409),
    *[
        Answer(status, {"next": 21})
        for status in (301, 302, 303, 307, 308, 304, 408, 425, 429, 402, 418, 101)
    ],
    *[Answer(status, {"next": 21}) for status in (500, 501, 502, 503, 504, 599)],
    Failed("no answer within 5 s"),
]


@pytest.mark.parametrize("answer", NO_ACK, ids=str)
def test_what_is_no_acknowledgement_is_tried_again_later(answer: Answer | Failed) -> None:
    box = after(running(), answer)
    assert box.acked == 10
    assert box.trouble is None
    assert not box.link(T0).good
    assert box.next_action(T0) == Wait(T0 + SECOND // 4)
    assert box.next_action(T0 + SECOND // 4) == Send(11, 10)


def test_the_back_off_grows_to_its_cap_with_jitter_and_ends_with_success() -> None:
    box, now, waits = running(), T0, []
    for _ in range(20):
        box = after(box, Answer(503), now, jitter=0.999999)
        action = box.next_action(now)
        assert isinstance(action, Wait)
        assert action.until is not None
        waits.append((action.until - now) / SECOND)
        now = action.until
    assert waits[:5] == pytest.approx([0.5, 1, 2, 4, 8], rel=1e-4)
    assert waits[5:] == pytest.approx([15] * 15, rel=1e-4)
    box = after(box, ok(12), now)
    assert after(box, Answer(503), now).next_action(now) == Wait(now + SECOND // 4)


@pytest.mark.parametrize(("said", "waits"), [(0.0, 0.25), (120.0, 120), (1e9, 300), (1e300, 300)])
def test_retry_after_is_obeyed_and_capped(said: float, waits: float) -> None:
    box = after(running(), Answer(429, retry_after=said))
    assert box.next_action(T0) == Wait(T0 + int(waits * SECOND))


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("1000000000", 1e9),
        ("9" * 5000, 1e12),
        ("Sun, 29 Nov 2026 20:15:03 GMT", 63),
        ("Sun, 29 Nov 2020 20:15:03 GMT", 0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("", None),
        ("Sun, 99 Nov 99999 20:15:03 GMT", None),
        (None, None),
    ],
)
def test_retry_after_is_read(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, 1795983240.0) == seconds


@pytest.mark.parametrize("status", [401, 403, 404, 405, 410, 413, 415])
def test_a_link_at_fault_is_probed_slowly_until_events_are_taken_again(status: int) -> None:
    box = after(running(), Answer(status, words="no such table"))
    assert box.trouble is not None
    assert not box.trouble.halts
    assert str(status) in box.trouble.text
    assert "no such table" in box.trouble.text
    assert box.next_action(T0) == Wait(T0 + 30 * SECOND)
    now = T0 + 30 * SECOND
    assert box.next_action(now) == Probe()
    box = after(box, ok(11), now)
    assert box.trouble is not None  # the probe does not prove that events are taken
    assert not box.link(now).good
    assert box.next_action(now) == Send(11, 10)
    assert after(box, Answer(status), now).next_action(now) == Wait(now + 30 * SECOND)
    box = after(box, ok(21), now)
    assert box.trouble is None
    assert box.link(now).good


def test_a_bad_certificate_is_a_link_at_fault_and_mends_by_a_probe_when_nothing_is_owed() -> None:
    box = after(Outbox.begin(T0, head=3, acked=3), Failed("its certificate has expired", at_fault=True))
    assert box.trouble is not None
    now = T0 + 30 * SECOND
    box = after(box, ok(4), now)
    assert box.trouble is None
    assert box.link(now).good


@pytest.mark.parametrize("status", [400, 422])
def test_a_refused_event_is_found_in_its_batch_and_halts_there(status: int) -> None:
    box, taken = running(120, 0), []
    for _ in range(50):
        action = box.next_action(T0)
        if not isinstance(action, Send):
            break
        if action.first <= 12 <= action.last:
            answer = Answer(status, {"error": "x"}, words="card 53?")
        else:
            taken += list(range(action.first, action.last + 1))
            answer = ok(action.last + 1)
        box = box.sending(action).answered(T0, answer, 0)
    assert taken == list(range(1, 12))
    assert box.next_action(T0) == Halted(
        f'the server refuses event 12: the game server answers {status}: "card 53?"'
    )
    assert not box.link(T0).good
    again = box.retried()
    assert again.next_action(T0) == Probe()
    again = after(again, ok(12))
    assert again.next_action(T0) == Send(12, BATCH)
    assert again.stored(121, T0).head == 121


def test_after_the_search_batches_go_on() -> None:
    box = after(running(300, 0), Answer(422))
    for n in range(1, 101):
        assert box.next_action(T0) == Send(n, 1)
        box = after(box, ok(n + 1))
    assert box.next_action(T0) == Send(101, 100)


def test_only_200_makes_a_link_good_or_ends_its_trouble() -> None:
    """Whatever else carries the right `next`: betting would open at a server that says no."""
    at = T0 + 30 * SECOND
    for by_word in (False, True):
        fresh = replace(Outbox.begin(T0, head=10, acked=10), by_word=by_word)
        for box in (fresh, after(fresh, ok(11)), after(fresh, Answer(401))):
            for status in range(100, 600):
                told = after(box, Answer(status, {"next": 11}), at)
                assert told.link(at).good == (status == 200), status
                assert status == 200 or box.trouble is None or told.trouble is not None, status
                assert status == 200 or told.not_before > at, "backs off"


def test_a_probe_answered_409_moves_the_outbox_back_and_no_more() -> None:
    box = after(Outbox.begin(T0, head=20, acked=10), Answer(409, {"next": 4}))
    assert (box.acked, box.link(T0).good, box.next_action(T0)) == (3, False, Send(4, 17))
    for wanted in range(11, 22):
        box = after(Outbox.begin(T0, head=20, acked=10), Answer(409, {"next": wanted}))
        assert (box.acked, box.probed, box.link(T0).good) == (10, False, False)
        assert f"the empty probe with 409 and wants {wanted}" in (box.last_error or "")
        assert box.next_action(T0) == Wait(T0 + SECOND // 4)


def test_a_refused_probe_is_the_links_fault() -> None:
    box = after(Outbox.begin(T0, head=1, acked=0), Answer(400))
    assert box.trouble is not None
    assert not box.trouble.halts


# --- the link ---------------------------------------------------------------------------------------------


def test_the_link_is_bad_before_the_first_word() -> None:
    assert not Outbox.begin(T0, head=0, acked=0).link(T0).good


def test_the_link_is_good_for_30_seconds_after_the_last_success() -> None:
    box = running(10, 10)
    assert box.link(T0 + 30 * SECOND).good
    assert not box.link(T0 + 30 * SECOND + 1).good
    failed = after(box, Failed("refused"), T0 + 5 * SECOND)
    assert failed.link(T0 + 5 * SECOND).reason == "refused"
    assert after(failed, ok(11), T0 + 6 * SECOND).link(T0 + 6 * SECOND).good


def test_an_idle_link_that_failed_is_probed_by_the_back_off_not_the_slow_step() -> None:
    failed = after(running(10, 10), Failed("refused"), T0 + 5 * SECOND)
    assert failed.next_action(T0 + 5 * SECOND + SECOND // 4) == Probe()


def test_an_event_unacknowledged_for_2_seconds_makes_it_bad() -> None:
    box = running(10, 10).stored(11, T0 + SECOND).stored(12, T0 + 2 * SECOND)
    assert box.link(T0 + 3 * SECOND).good
    assert not box.link(T0 + 3 * SECOND + 1).good
    box = after(box, ok(12), T0 + 3 * SECOND)
    assert box.link(T0 + 4 * SECOND).good
    assert not box.link(T0 + 4 * SECOND + 1).good


def test_what_is_owed_from_before_the_start_is_old() -> None:
    box = running(20, 10)
    assert box.link(T0).reason == "the game server is owed events older than 2 s"
    assert after(box, ok(21)).link(T0).good


def test_what_a_server_lost_is_old_too() -> None:
    box = running(10, 10).stored(11, T0)
    box = after(box, ok(5))
    assert not box.link(T0).good
    assert not after(box, ok(8)).link(T0).good
    assert after(box, ok(11)).link(T0).good


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, SECOND))), st.integers(0, 60), st.data())
def test_the_marks_stay_few_and_never_tell_an_owed_event_younger_than_it_is(
    steps: list[tuple[int, int]], acked: int, data: st.DataObject
) -> None:
    box, now, stored = running(0, 0), T0, dict[int, int]()
    for count, wait in steps * 3:
        now += wait
        for n in range(box.head + 1, box.head + count + 1):
            stored[n] = now
        box = box.stored(box.head + count, now)
    if box.owed and acked:
        box = after(box, ok(min(acked, box.owed, 100) + 1), now)
    assert len(box.ages.marks) <= 23
    if box.owed:
        oldest = stored[box.acked + 1]
        probe = data.draw(st.integers(now, now + 3 * SECOND))
        if probe - oldest > 2 * SECOND:
            assert not box.link(probe).good
        elif probe - oldest < 2 * SECOND - SECOND // 10 and probe - box.ages.marks[0][1] <= 2 * SECOND:
            assert box.link(probe).good


# --- what is kept no more ---------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [1, 4])
def test_a_server_that_asks_for_what_is_kept_no_more_halts_and_moves_nothing(wanted: int) -> None:
    box = after(replace(running(), kept_from=5), ok(wanted))
    assert box.next_action(T0) == Halted(f"the server wants event {wanted}; the oldest kept here is 5")
    assert box.trouble is not None
    assert (box.trouble.wanted, box.trouble.refused, box.acked) == (wanted, None, 10)
    box = replace(box, skips=frozenset({wanted})).retried()
    box = after(box, ok(wanted))
    assert box.next_action(T0) == Send(wanted, 21 - wanted)
    box = after(box, ok(8))
    assert box.next_action(T0) == Send(8, 13)


def test_what_is_kept_is_sent_again() -> None:
    assert after(replace(running(), kept_from=5), ok(5)).next_action(T0) == Send(5, 16)


@pytest.mark.parametrize("status", [400, 422])
def test_the_event_that_is_refused_is_named(status: int) -> None:
    box = after(running(head=11), Answer(status))
    assert box.trouble is not None
    assert (box.trouble.refused, box.trouble.wanted) == (11, None)


answers = st.one_of(
    st.builds(Answer, st.integers(100, 599), st.just({"next": 3}), st.none() | st.floats(0, 1e12)),
    st.builds(Answer, st.sampled_from([200, 409]), st.builds(lambda n: {"next": n}, st.integers(-2, 45))),
    st.builds(Answer, st.just(200), st.none() | st.integers() | st.text()),
    st.builds(Failed, st.just("x"), st.booleans()),
)


# --- a person's order while a try is under way ------------------------------------------------------------


@given(answers, st.booleans(), st.integers(20, 22))
def test_an_order_survives_the_answer_to_what_went_out_before_it(
    answer: Answer | Failed, probing: bool, head: int
) -> None:
    box = Outbox.begin(T0, head=20, acked=10) if probing else running()
    request = box.next_action(T0)
    assert isinstance(request, Send | Probe)
    ordered = box.sending(request).retried().stored(head, T0)
    assert ordered.next_action(T0) == Wait(None), "one request at a time"
    if isinstance(request, Send):
        ordered = ordered.sending(Send(request.first, 3))  # it turned out that fewer fit
    done = ordered.answered(T0, answer, 0.5)
    assert done == replace(ordered, in_flight=None, overtaken=False)
    assert (done.next_action(T0), done.trouble) == (Probe(), None)
    assert after(done, ok(11)).next_action(T0) == Send(11, head - 10)
    assert isinstance(after(done, ok(99)).next_action(T0), Halted), "what is answered behind it counts"


# --- any answers at all -----------------------------------------------------------------------------------


@settings(max_examples=300)
@given(st.integers(0, 40), st.data())
def test_no_answers_make_it_skip_or_spin(head: int, data: st.DataObject) -> None:
    box = Outbox.begin(T0, head=head, acked=data.draw(st.integers(0, head)))
    now, waited = T0, 0
    for answer in data.draw(st.lists(answers, max_size=30)):
        before = box
        match box.next_action(now):
            case Send(first, count) as action:
                assert first == box.acked + 1
                assert 1 <= count <= min(BATCH, box.head - box.acked)
                box = box.sending(action).answered(now, answer, data.draw(st.floats(0, 0.999)))
            case Probe() as action:
                box = box.sending(action).answered(now, answer, 0.5)
            case Wait(until):
                assert until is not None
                assert now < until <= now + 301 * SECOND
                now, waited = until, waited + 1
            case Halted():
                assert box.trouble is not None
                box = box.retried()
        assert 0 <= box.acked <= box.head == before.head
        if box.acked != before.acked:
            assert isinstance(answer, Answer)
            assert answer.status == 200 or box.acked < before.acked
            assert answer.body == {"next": box.acked + 1}
        if box.owed:
            assert box.ages.marks[-1][0] == box.head
            assert [m[0] for m in box.ages.marks] == sorted({m[0] for m in box.ages.marks})
            assert box.ages.marks[0][0] > box.acked
        else:
            assert box.ages.marks == ()
        if box.link(now).good:
            assert not box.owed
            assert box.trouble is None


@given(st.integers(0, 300), st.integers(0, 300), st.integers(1, 130))
def test_an_honest_server_gets_every_event_in_order(head: int, acked: int, takes: int) -> None:
    box, held = Outbox.begin(T0, head=head, acked=min(acked, head)), 0
    for _ in range(2 * head + 5):
        match box.next_action(T0):
            case Send(first, count) as action:
                if first <= held + 1:
                    held = max(held, first + min(takes, count) - 1)
                box = box.sending(action).answered(T0, ok(held + 1), 0)
            case Probe() as action:
                box = box.sending(action).answered(T0, ok(held + 1), 0)
            case _:
                break
    assert held == head == box.acked
    assert box.link(T0).good


def test_message_ids() -> None:
    assert message_id("T07", "4f2a91", []) == "T07-4f2a91-probe"
    assert message_id("T07", "4f2a91", ["a"]) == "a"
    assert message_id("T07", "4f2a91", ["a", "b", "c"]) == "a_c"


def test_a_state_is_a_value() -> None:
    assert replace(running(), failures=0) == running()


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        (Answer(401), True),
        (Answer(404), True),
        (ok(99), True),
        (Answer(503), False),
        (Failed("the game server cannot be reached: Connection refused"), False),
        (Failed("the game server's certificate is refused: expired", at_fault=True), True),
    ],
)
def test_a_bad_link_says_whether_it_has_an_alarm_of_its_own(answer: Answer | Failed, trouble: bool) -> None:
    box = after(running(), answer)
    assert (box.link(T0).good, box.link(T0).trouble) == (False, trouble)
    box = box.retried()
    assert (box.link(T0).good, box.link(T0).trouble) == (False, False), "asked again: nothing is known yet"


# --- after rows were lost -----------------------------------------------------------------------------


def test_a_server_that_may_have_a_lost_event_halts_the_delivery() -> None:
    """Event 11 was sent, and lost here; another one has its number now."""
    box = Outbox.begin(T0, head=10, acked=9, sure=10).stored(12, T0)
    assert isinstance(after(box, ok(12)).next_action(T0), Halted)
    good = after(box, ok(11))
    assert good.next_action(T0) == Send(10, 3)
    assert after(good, ok(13)).acked == 12
    again = after(Outbox.begin(T0, head=12, acked=9, sure=10), ok(12))
    assert isinstance(again.retried().next_action(T0), Probe)
    assert isinstance(after(again.retried(), ok(12)).next_action(T0), Halted)


@pytest.mark.parametrize("parked", [False, True])
def test_what_is_parked_is_not_ordered_to_be_parked(parked: bool) -> None:
    box = Outbox.begin(0, head=9, acked=3, parked=frozenset({4} if parked else ()))
    box = box.sending(Send(4, 1)).answered(0, Answer(422, {"error": "no"}), 0.5)
    assert box.trouble is not None and box.trouble.refused == 4
    assert ("park 4" in box.trouble.way, "is parked already" in box.trouble.way) == (not parked, parked)
