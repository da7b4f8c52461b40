"""Where the table cannot know whether a card was counted already, the console asks, and orders again."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest

from tablectl.console.language import LANGUAGES
from tablectl.console.line import _told
from tablectl.console.model import Answer, Model, Send
from tablectl.console.screen import Terminal, screen
from tests.console.shoes import RULES
from tests.console.states import LAST_SHOE, held, past
from tests.console.test_model import holds_text, pressed
from tests.console.working import ByKeys, Seat
from tests.e2e.harness import BARE, PIT_BOSS, Rig, running

REFUSED = (
    "insert refused: TH: a card of this round was burned; if it is that card, again with --same; if it is"
    " another one, with --another"
)
ASKED = Answer(False, REFUSED, asks="same")
HELD = held("called", kept=2, shoe=LAST_SHOE)
INSERT = "7 2 0 2 2 2 1 9 8 7 enter"
"""B1, TH, misread, seen on video, bo, and the PIN."""


def shown(model: Model, on: Terminal) -> str:
    return "\n".join("".join(span.text for span in line) for line in screen(model, on, 1.0, "03:14:15"))


def refused(**known: Any) -> tuple[Model, Send]:
    model = Model(past=past(), settles=0.0, **known).told(HELD, 9.0)
    model, sent = pressed(model, INSERT)
    assert isinstance(sent, Send) and sent.body["args"] == {"position": "B1", "card": "TH"}
    return model.answered(ASKED, 11.0), sent


@pytest.mark.parametrize(("key", "said"), [("1", "yes"), ("2", "no")])
def test_it_is_asked_and_the_same_order_goes_out_with_the_answer_and_the_pin(key: str, said: str) -> None:
    model, first = refused()
    assert not holds_text(model, "987")
    model, sent = pressed(model, f"{key} 9 8 7 enter", 12.0)
    assert isinstance(sent, Send)
    assert sent.body == {**first.body, "args": {"position": "B1", "card": "TH", "same": said}}
    done = model.answered(Answer(True, "inserted at B1"), 13.0)
    assert done.dialog is None and done.asked is None and done.again is None


def test_the_question_stands_on_every_screen_in_both_languages() -> None:
    for language, words in LANGUAGES.items():
        for on in (Terminal(80, 24), Terminal(60, 20), Terminal(80, 24, blocks=False)):
            told = _told("insert", 409, {"accepted": False, "answer": REFUSED, "asks": "same"}, words)
            begun, _ = pressed(Model(past=past(), settles=0.0, words=words).told(HELD, 9.0), INSERT)
            text = " ".join(shown(begun.answered(told, 11.0), on).split())
            if language == "en":
                assert "Which card is it?" in text and "a card of this round was burned" in text
            else:
                assert "Welche Karte ist es?" in text and "eine Karte dieser Runde wurde gebrannt" in text
            assert "--same" not in text and " 1 " in text and " 2 " in text


def test_a_wrong_pin_asks_for_the_pin_alone() -> None:
    model, _ = refused()
    model, sent = pressed(model, "2 1 1 1 enter", 12.0)
    assert isinstance(sent, Send)
    model, sent = pressed(
        model.answered(Answer(False, "refused: wrong name or PIN", pin=True), 13.0), "9 8 7 enter", 14.0
    )
    assert isinstance(sent, Send) and (sent.body["args"]["same"], sent.body["pin"]) == ("no", "987")


def test_it_is_left_by_a_key_and_by_time_and_nothing_is_sent() -> None:
    model, _ = refused()
    left, sent = pressed(model, ".", 12.0)
    assert left.dialog is None and sent is None and left.asked is None
    assert model.waited(500.0).dialog is None


def test_what_was_looked_at_is_what_counts_and_not_what_came_meanwhile() -> None:
    model, first = refused()
    model = model.told(HELD | {"version": 600}, 11.5)
    assert model.changed_since
    _, sent = pressed(model, "1 9 8 7 enter", 12.0)
    assert isinstance(sent, Send) and sent.body["expect"] == first.body["expect"]


def test_who_has_gone_on_to_another_question_is_told_and_not_interrupted() -> None:
    model = Model(past=past(), settles=0.0).told(HELD, 9.0)
    model, _ = pressed(model, INSERT)
    model, _ = pressed(model, "0", 10.9)
    other = model.dialog
    model = model.answered(ASKED, 11.0)
    assert model.dialog is other and model.message is not None
    assert "--another" in model.message.text


@pytest.mark.parametrize("asks", [None, "", "colour", 7, ["same"]])
def test_a_daemon_that_asks_nothing_or_something_unknown_is_told_in_its_words(asks: Any) -> None:
    model = Model(past=past(), settles=0.0).told(HELD, 9.0)
    model, _ = pressed(model, INSERT)
    told = _told("insert", 409, {"accepted": False, "answer": REFUSED, "asks": asks}, LANGUAGES["en"])
    model = model.answered(told, 11.0)
    assert model.dialog is None and model.message is not None and "--same" in model.message.text


# --- at a table -----------------------------------------------------------------------------------------


async def approve(keys: ByKeys) -> None:
    """The pit boss's part behind what the command asks."""
    await keys.choose("misread:")
    await keys.choose("nothing more")
    if "another name" in keys.screen:
        await keys.choose(PIT_BOSS.name)
    else:
        await keys.press(*PIT_BOSS.name, "enter")
    await pin(keys)


async def pin(keys: ByKeys) -> None:
    await keys.sees("PIN of pit")
    await keys.press(*PIT_BOSS.pin, "enter")


def test_the_daemon_says_so_again_for_the_same_id_also_after_a_restart() -> None:
    with running("bee-tek", overrides=BARE | {"betting": {"seconds": 0.2}}) as rig:
        rig.open_table("2C 9D 3H KS 7S 5C")
        rig.bets()
        rig.deal(4)
        rig.deal(1)
        rig.do("release", supervised=True, action="burn")
        body: dict[str, Any] = {
            "id": uuid.uuid4().hex,
            "command": "amend",
            "args": {"round": "1/1", "B1": "7D", "P3": "7H"},
            "person": PIT_BOSS.name,
            "pin": PIT_BOSS.pin,
            "reason": "misread",
            "expect": {"version": rig.client.state()["version"]},
        }
        status, answer = rig.client.post("/v1/commands", body)
        assert (status, answer.get("asks")) == (409, "same"), answer
        assert "--another" in answer["answer"]
        assert rig.client.post("/v1/commands", body) == (status, answer)
        assert rig.daemon.end()[0] == 0
        rig.start_daemon()
        assert rig.client.post("/v1/commands", body) == (status, answer)
        said = body | {"id": uuid.uuid4().hex, "args": body["args"] | {"same": "yes"}}
        status, answer = rig.client.post("/v1/commands", said)
        assert status == 200 and "asks" not in answer
        assert rig.client.state()["shoe"]["out"] == 5


@pytest.mark.parametrize(("label", "out"), [("that card", 5), ("another card", 6)])
async def test_at_a_table_the_card_is_counted_as_it_was_said(label: str, out: int) -> None:
    """B1 was read as a natural nine and was a seven; the Player's third was burned, read as 7S, and is 7H."""
    with Rig("bee-tek", overrides=BARE | RULES) as rig:
        await asyncio.to_thread(rig.start)
        await asyncio.to_thread(rig.open_table, "2C 9D 3H KS 7S 5C")
        await asyncio.to_thread(rig.do, "bets open")
        await asyncio.to_thread(rig.do, "bets close")
        await asyncio.to_thread(rig.deal, 5)
        app = Seat(str(rig.socket_path), settles=0.0)
        async with app.run_test(size=(80, 24)) as pilot:
            keys = ByKeys(app, pilot)
            await keys.sees("burn: ")
            await keys.pit_boss("release", "burn")
            await keys.dealer("hold")
            await keys.sees("insert: ")
            await keys.pit_boss("correct", "B1", "7D")
            await keys.choose("insert:")
            await keys.choose("P3")
            await keys.press("7", "2")
            await approve(keys)
            await keys.sees("Which card is it?")
            assert rig.client.state()["shoe"]["out"] == 5
            await keys.choose(label)
            await pin(keys)
            await keys.answered()
        after = rig.client.state()
        assert after["shoe"]["out"] == out and after["round"]["cards"]["P3"] == "7H"
