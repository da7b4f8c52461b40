"""What becomes of keys, answers, silence and two consoles; without a terminal, and with the time as told."""

from __future__ import annotations

from typing import Any

from tablectl.console.dialog import Leave
from tablectl.console.model import REPEATS, SETTLES, Answer, Model, Send
from tablectl.console.screen import Terminal, screen
from tests.console.states import PAD, held, past, state


def pressed(model: Model, keys: str | list[str], now: float = 10.0) -> tuple[Model, Send | Leave | None]:
    sent: Send | Leave | None = None
    for n, key in enumerate(keys.split() if isinstance(keys, str) else keys):
        assert sent is None
        model, sent = model.key(key, now + 0.02 * n)
    return model, sent


def at(phase: str, now: float = 0.0, **changes: Any) -> Model:
    return Model(past=past()).told(state(phase, **changes), now).told(state(phase, **changes), 9.0 + now)


def test_a_command_carries_what_was_on_the_screen() -> None:
    model, sent = pressed(at("idle"), "enter")
    assert isinstance(sent, Send)
    assert sent.body == {
        **{"command": "bets open", "args": {}, "expect": {"version": 512}},
        **{"person": None, "pin": None, "reason": None},
    }
    assert model.sending == "bets open"
    _, sent = pressed(at("complete"), "3")
    assert isinstance(sent, Send)
    assert sent.body["expect"] == {"version": 512, "shoe": 12, "round": 34}
    assert sent.body["args"] == {"outcome": "tie"}


def test_that_all_have_placed_closes_nothing_by_itself_and_the_key_asks_as_always() -> None:
    told = {"shoe": 12, "round": 34, "players": 3, "placed": 3, "all": True}
    model = at("betting", placed=told)
    assert model.sending == "" and model.waited(20.0).sending == ""
    model, sent = pressed(model, "- 1")
    assert isinstance(sent, Send) and sent.name == "bets close"


def test_a_dialog_keeps_what_it_began_with() -> None:
    model, _ = pressed(at("betting"), "-")
    model = model.told(state("betting", version=513), 10.1)
    assert model.changed_since
    _, sent = pressed(model, "1", 10.2)
    assert isinstance(sent, Send) and sent.body["expect"]["version"] == 512  # and the table refuses it


REFUSED, OLD = "this will be refused", "this list is old"


def test_a_question_says_that_it_will_be_refused_only_where_it_will() -> None:
    alerts = [{"alert": "clock", "message": "x", "present": False}]
    told = {"0": "", "0 5": "", "/": "", "* 8": "", "* 8 1": "", "* 9": "", "+ 5": ""}
    told |= {"+": OLD, "*": OLD, "* 1": REFUSED, "+ 4": REFUSED, "4": REFUSED}
    for asked, expected in told.items():
        model, _ = pressed(at("idle", alerts=alerts), asked)
        model = model.told(state("betting", version=513, alerts=alerts), 10.5)
        shown = "\n".join("".join(s.text for s in line) for line in screen(model, Terminal(80, 24), 10.5, ""))
        assert model.dialog is not None and model.changed_since
        assert [words for words in (REFUSED, OLD) if words in shown] == [expected][: bool(expected)], asked
    model, _ = pressed(at("idle"), "0")
    model, sent = pressed(model.told(state("betting", version=513), 10.5), "1", 11.0)
    assert isinstance(sent, Send) and (sent.name, sent.body["expect"]) == ("hold", {})


def test_a_key_whose_meaning_changed_under_the_finger_is_not_taken() -> None:
    model = at("complete").told(state("idle", version=513), 10.0)
    model, sent = pressed(model, "enter", 10.0 + SETTLES / 2)
    assert sent is None and model.message is not None and "OPEN BETTING" in model.message.text
    assert pressed(model, "enter", 10.0 + SETTLES)[1] is None  # the same press, held down
    _, sent = pressed(model, "enter", 10.0 + SETTLES / 2 + REPEATS + 0.01)
    assert isinstance(sent, Send)
    again = at("complete").told(state("idle", version=513), 10.0)
    assert isinstance(pressed(again, "enter", 10.0 + SETTLES)[1], Send)
    # A hold comes while the dealer announces: 1 is a way out now.
    model = at("complete").told(held("overdraw", "complete"), 10.0)
    model, sent = pressed(model, "1", 10.1)
    assert sent is None and model.dialog is None
    # What a key has meant all along is taken at once, and so is the hold.
    model = at("idle").told(state("idle", version=514), 10.0)
    assert isinstance(pressed(model, "enter", 10.0)[1], Send)
    assert pressed(at("idle").told(held("called"), 10.0), "0", 10.0)[0].dialog is not None


def test_a_key_that_is_held_down_does_one_thing_however_long_it_is_held() -> None:
    model, sent = pressed(at("complete"), "enter", 10.0)
    assert isinstance(sent, Send) and sent.name == "confirm"
    model = model.answered(Answer(True, "ok"), 10.1).told(state("idle", version=513), 10.1)
    for first in (0.26, 0.5, 0.66, 1.0):  # until it comes again by itself, and then so fast
        held_down = model
        for now in (10.0 + first, *(10.0 + first + n / 25 for n in range(1, 200))):
            held_down, sent = held_down.key("enter", now)
            assert sent is None
        assert held_down.message is not None and "held down" in held_down.message.text
        held_down = held_down.told(state("idle", version=513), 19.0)
        assert isinstance(pressed(held_down, "enter", 20.2)[1], Send)  # let go, and pressed
    # Refused: it is not sent again and again.
    model, _ = pressed(at("idle"), "enter", 10.0)
    model = model.answered(Answer(False, "no link"), 10.1)
    assert pressed(model, "enter", 10.6)[1] is None
    # In a list: the name, and not the hand as well.
    model, sent = pressed(pressed(at("idle"), "7", 10.0)[0], "1", 12.0)
    model, sent = pressed(model, "1", 12.5)
    assert sent is None and model.dialog is not None
    assert isinstance(pressed(model, "1", 14.0)[1], Send)
    # A key between tells that it was let go; a hold is never kept waiting.
    model, _ = pressed(at("betting"), "-", 10.0)
    model, sent = pressed(model, "1", 10.2)
    assert isinstance(sent, Send)
    model, _ = pressed(model, "0", 10.3)
    assert isinstance(pressed(model, "1", 10.4)[1], Send)


def test_a_text_that_is_pasted_gives_no_command() -> None:
    for text in ("-1", "71", "41", "* 2 3 enter 1 1 1 9 8 7 enter"):
        model, keys = at("betting" if text[0] == "-" else "idle"), text.split() if " " in text else text
        for n, key in enumerate(keys):
            model, sent = model.key(key, 10.0 + n / 10_000)
            assert sent is None, text
    # Letters that were held up on their way are taken, and what was typed is sent by a key of its own.
    model, _ = pressed(at("idle"), "7 2 b o enter", 10.0)
    model, sent = pressed(model, "1", 10.0)
    assert sent is None and model.dialog is not None
    _, sent = pressed(model, "2", 10.3)
    assert isinstance(sent, Send) and sent.body["args"] == {"name": "bo", "pickup": "right"}


def test_without_the_daemon_nothing_is_sent_and_nothing_is_kept_for_later() -> None:
    model = at("idle").gone("down", 10.0)
    model, sent = pressed(model, "enter", 12.0)
    assert sent is None and model.message is not None
    assert model.message.text == "NOT SENT: bets open; no answer for 2 s; down"
    assert model.seconds_left(12.0) is None
    model = model.gone("still down", 15.0)
    assert model.stale(15.0) == "no answer for 5 s; still down"
    model = model.told(state("idle"), 20.0)
    assert model.stale(20.0) == "" and model.message is not None
    assert model.message.text.startswith("The daemon is back, after 10 s")
    assert pressed(at("idle"), "enter", 30.0)[1] is None  # 21 s of silence


def test_one_command_at_a_time_but_a_hold_always() -> None:
    model, _ = pressed(at("idle"), "enter")
    model, sent = pressed(model, "4 1")
    assert sent is None and model.message is not None and "wait for bets open" in model.message.text
    model, sent = pressed(model, "0 2")
    assert isinstance(sent, Send)
    assert (sent.body["args"], sent.body["expect"]) == ({"because": "card-missed"}, {})
    model = model.answered(Answer(True, "on hold"), 11.0)
    assert model.sending == "" and model.message is not None and model.message.kind == "good"


def test_a_pin_is_sent_once_and_kept_nowhere() -> None:
    model = Model(past=past()).told(held("called"), 0.0).told(held("called"), 9.0)
    model, sent = pressed(model, "1 2 2 1 9 8 7 6 enter")
    assert isinstance(sent, Send)
    assert sent.body["pin"] == "9876" and sent.body["person"] == "bo"
    assert sent.body["reason"] == "misread: seen on video" and sent.body["command"] == "release"
    assert "9876" not in repr(model) and "9876" not in repr(sent)
    assert not holds_text(model, "9876")
    wrong = model.answered(Answer(False, "refused: wrong name or PIN", pin=True), 11.0)
    assert wrong.dialog is not None and wrong.message is not None
    model, sent = pressed(wrong, "1 2 3 4 enter", 12.0)  # the PIN is asked again, all else stays
    assert isinstance(sent, Send) and sent.body["pin"] == "1234" and sent.body["person"] == "bo"
    done = model.answered(Answer(True, "released"), 13.0)
    assert done.dialog is None and done.again is None


def holds_text(thing: object, text: str, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a text is anywhere in an object."""
    if isinstance(thing, str):
        return text in thing
    if id(thing) in seen:
        return False
    seen |= {id(thing)}
    parts = list(thing.values()) if isinstance(thing, dict) else []
    parts += list(thing) if isinstance(thing, tuple | list) else []
    parts += [getattr(thing, name) for name in getattr(thing, "__dataclass_fields__", ())]
    return any(holds_text(part, text, seen) for part in parts)


def test_what_is_left_open_is_closed_with_what_was_typed() -> None:
    model = Model(past=past()).told(held("called"), 0.0).told(held("called"), 9.0)
    model, _ = pressed(model, "1 2 2 1 9 8 7")
    assert model.waited(100.0).dialog is not None
    after = model.waited(100.2)
    assert after.dialog is None and after.message is not None and "nothing was sent" in after.message.text
    assert not holds_text(after, "987")
    assert at("idle").waited(1e6).message is None


def test_the_table_is_put_on_hold_out_of_any_list() -> None:
    for keys in ("+", "*", "7", "4", "* 1", "- "):
        model, sent = pressed(at("idle"), f"{keys} 0 2")
        assert isinstance(sent, Send) and sent.body["command"] == "hold", keys
        assert model.dialog is None
    assert pressed(at("burning"), "9 1 0")[0].dialog is not None  # a number is typed


def test_one_step_back_and_out_by_keys_of_the_pad() -> None:
    model, _ = pressed(at("idle"), "7 1")
    assert model.dialog is not None and model.dialog.answers
    model, _ = pressed(model, ".")
    assert model.dialog is not None and model.dialog.answers == ()
    model, _ = pressed(model, ".")
    assert model.dialog is None
    model, _ = pressed(at("burning"), "9 1 2 . .")
    assert model.dialog is not None  # rubbed out
    assert pressed(model, ".")[0].dialog is None
    model, _ = pressed(at("burning"), "9 4 4 enter")
    assert model.dialog is not None and model.dialog.wrong == "a number from 1 to 30"
    model, _ = pressed(at("idle"), ["7", "2", "4", "7", "enter"])
    assert model.dialog is not None and model.dialog.answers == ("\n", "47")
    assert pressed(at("idle"), "7 2 enter")[0].dialog is not None  # Enter on nothing: back to the names


def test_an_answer_of_people_and_a_strange_one_are_told() -> None:
    model = at("idle").answered(Answer(False, "refused: \x1b[2J\nlook"), 10.0)
    assert model.message is not None and model.message.text == "refused: \\x1b[2J\\x0alook"
    assert not model.message.over(69.0) and model.message.over(71.0)


def test_another_journal_is_another_past() -> None:
    model = at("idle")
    assert model.past.rounds
    assert model.told(state("idle", epoch="other"), 10.0).past.rounds == ()
    assert model.told(state("idle"), 10.0).past == model.past
    later = model.told(state("idle", sequence=900), 10.0)
    assert later.past == model.past
    assert later.told(state("idle", sequence=899), 10.0).past.rounds == (), "an older journal was put back"


def test_leaving_by_the_pad_and_before_there_is_a_table() -> None:
    model, _ = pressed(at("closed"), "+")
    assert model.dialog is not None
    model, wanted = pressed(model, "2 1")
    assert isinstance(wanted, Leave)
    assert isinstance(pressed(Model(), ".")[1], Leave) and pressed(Model(), "enter")[1] is None


def test_a_number_pad_by_whatever_name_the_terminal_gives_its_keys() -> None:
    for name in ("add", "multiply"):
        assert pressed(at("idle"), [name])[0].dialog is not None
    assert pressed(at("betting"), ["subtract"])[0].dialog is not None
    assert pressed(at("betting"), ["subtract", "decimal"])[0].dialog is None
    assert pressed(at("betting"), ["subtract", "separator"])[0].dialog is None
    model, _ = pressed(at("idle"), ["4", "up"])
    assert model.message is not None and "NumLock" in model.message.text and model.dialog is not None


def test_no_key_at_any_time_is_an_error() -> None:
    odd = (*PAD, *"aQ\x7fé日", "f1", "up", "tab", "ctrl+m", "backspace", "escape", "divide", "")
    for phase in ("closed", "idle", "betting", "complete"):
        for first in PAD:
            model, _ = at(phase).key(first, 10.0)
            for second in odd:
                model.key(second, 10.0)
