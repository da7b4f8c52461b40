"""The metrics: each one documented, none that tells what the state hides, and all agree on alerts."""

from __future__ import annotations

import http.client
import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from tablectl.api.metrics import METRICS, Metrics
from tablectl.clock import SECOND
from tablectl.config import load_config
from tablectl.health import Condition
from tablectl.runtime import Runtime
from tablectl.table import HOLDS, Phase
from tests.api.test_app import CARDS, Bench, stream
from tests.cli.fake_daemon import tablectl
from tests.e2e.harness import BARE

DOCUMENT = (Path(__file__).parent.parent.parent / "docs" / "metrics.md").read_text()


SCANNER = {
    "up": True, "health": "ok", "bytes": 90, "frames": 8, "cards": 7, "rejects": 2, "outages": 1,
    "last_good_age": 4.5,
}  # fmt: skip


def view(**changes: Any) -> dict[str, Any]:
    """What the state shows of a table, as far as the metrics look at it."""
    return {
        "table": "T07", "epoch": "4f2a91", "test": False, "phase": "idle", "holds": [], "alerts": [],
        "shoe": {"left": 200}, "results": 3, "sequence": 345, "acked": 340,
        "link": {"good": True, "configured": True}, "scanner": SCANNER,
        "journal": {"depth": 1, "state": "ok", "cause": None}, "beeper": {"why": ""},
        "pins": {"locked_out": 0, "lock_outs": 0}, "mirror": {"behind": 12}, "unsettled": ["1/2", "1/3"],
        **changes,
    }  # fmt: skip


def read(text: bytes) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """By another reader of the format: name → labels → value."""
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    families: list[Metric] = list(text_string_to_metric_families(text.decode()))
    for sample in (sample for family in families for sample in family.samples):
        series = found.setdefault(sample.name, {})
        labels = tuple(sorted(sample.labels.items()))
        assert labels not in series, f"{sample.name} {labels} is there twice"
        series[labels] = sample.value
    return found


def of(**changes: Any) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    return read(Metrics(lambda: view(**changes)).text())


def alone(value: float) -> dict[tuple[tuple[str, str], ...], float]:
    return {(): value}


def test_every_metric_of_the_table_and_no_other_is_told_and_documented() -> None:
    told = of(alerts=[{"alert": "beeper", "message": "x"}])
    assert {name for name in told if not name.startswith("process_")} == set(METRICS)
    assert {name for name in told if name.startswith("process_")} == set(
        re.findall(r"`(process_\w+)`", DOCUMENT)
    )
    assert set(re.findall(r"^\| `(tablectl_\w+)[`{]", DOCUMENT, flags=re.MULTILINE)) == set(METRICS)
    page = Metrics(view).text().decode()
    for name, (kind, text) in METRICS.items():
        assert f"# HELP {name} {text}\n" in page
        assert f"# TYPE {name} {'gauge' if kind == 'info' else kind}\n" in page


def test_names_are_as_prometheus_wants_them() -> None:
    for name, (kind, text) in METRICS.items():
        assert re.fullmatch(r"tablectl(_[a-z]+)+", name)
        assert name.endswith("_total") == (kind == "counter")
        assert text.endswith(".") and text.isprintable()


def test_values_are_those_of_the_state() -> None:
    told = of()
    assert [(dict(labels)["table"], dict(labels)["test"]) for labels in told["tablectl_info"]] == [
        ("T07", "false")
    ]
    for name, value in (
        ("held", 0), ("alerts", 0), ("shoe_cards_left", 200), ("rounds_total", 3), ("sequence", 345),
        ("acknowledged_sequence", 340), ("link_good", 1), ("scanner_up", 1), ("scanner_rejects_total", 2),
        ("scanner_bytes_total", 90), ("scanner_frames_total", 8), ("scanner_cards_total", 7),
        ("scanner_outages_total", 1), ("scanner_last_good_age_seconds", 4.5),
        ("journal_queue", 1), ("pin_lockouts", 0), ("mirror_behind_rows", 12), ("rounds_unsettled", 2),
    ):  # fmt: skip
        assert told[f"tablectl_{name}"] == alone(value), name


@pytest.mark.parametrize("condition", Condition)
def test_just_one_condition_of_the_scanner_is_the_present_one(condition: Condition) -> None:
    told = of(scanner={**SCANNER, "health": condition.value, "last_good_age": None})
    series = told["tablectl_scanner_health"]
    assert len(series) == len(Condition)
    assert [labels for labels, value in series.items() if value] == [(("health", condition.value),)]
    assert "tablectl_scanner_last_good_age_seconds" not in told, "nothing came yet"


@pytest.mark.parametrize("state", ["ok", "slow", "failing"])
@pytest.mark.parametrize("cause", [None, "full", "readonly", "locked", "failing"])
def test_just_one_state_of_the_disk_and_its_cause_are_the_present_ones(state: str, cause: str | None) -> None:
    told = of(journal={"depth": 0, "state": state, "cause": cause}, beeper={"why": "it is gone"})
    causes = told["tablectl_journal_cause"]
    assert [labels for labels, value in causes.items() if value] == ([(("cause", cause),)] if cause else [])
    assert len(causes) == 4
    series = told["tablectl_journal_state"]
    assert [labels for labels, value in series.items() if value] == [(("state", state),)]
    assert told["tablectl_beeper_up"] == alone(0)


@pytest.mark.parametrize("phase", [phase.value for phase in Phase])
def test_just_one_phase_is_the_present_one(phase: str) -> None:
    told = of(phase=phase)["tablectl_phase"]
    assert len(told) == len(Phase)
    assert [labels for labels, value in told.items() if value] == [(("phase", phase),)]


@pytest.mark.parametrize("code", HOLDS)
def test_every_hold_code_is_there_and_those_in_force_are_one(code: str) -> None:
    told = of(holds=[{"code": code, "message": ""}, {"code": "called", "message": ""}])
    assert told["tablectl_held"] == alone(1)
    assert {dict(labels)["code"] for labels in told["tablectl_hold"]} == set(HOLDS)
    assert {dict(labels)["code"] for labels, value in told["tablectl_hold"].items() if value} == {
        code,
        "called",
    }


def test_without_a_game_server_nothing_is_owed() -> None:
    """Not 0 of it acknowledged over a bad link: that is an alarm, for ever."""
    told = of(sequence=3, acked=0, link={"good": False, "configured": False})
    assert "tablectl_acknowledged_sequence" not in told and "tablectl_link_good" not in told
    assert told["tablectl_sequence"] == alone(3)
    told = of(sequence=3, acked=0, link={"good": False, "configured": True})
    assert told["tablectl_acknowledged_sequence"] == told["tablectl_link_good"] == alone(0)


def test_without_a_shoe_no_cards_are_counted() -> None:
    assert "tablectl_shoe_cards_left" not in of(shoe=None)


def test_no_text_and_no_odd_name_makes_a_series() -> None:
    alerts = [{"alert": name, "message": f"text {name}"} for name in ("beeper", 'x"}\n', "a b", "A" * 9)]
    told = of(alerts=alerts)
    assert list(told["tablectl_alert"]) == [(("alert", "beeper"),)]
    assert told["tablectl_alerts"] == alone(4), "but they are counted"
    many = [{"alert": "a" * n, "message": ""} for n in range(1, 1000)]
    assert len(of(alerts=many)["tablectl_alert"]) <= 100


# --- a running table ------------------------------------------------------------------------------------


def page_of(rig: Bench) -> tuple[str, dict[str, dict[tuple[tuple[str, str], ...], float]]]:
    """Content type, and the page."""
    sock = stream(rig.socket_path)
    try:
        sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        response = http.client.HTTPResponse(sock)
        response.begin()
        assert response.status == 200
        return response.headers["Content-Type"], read(response.read())
    finally:
        sock.close()


def test_the_page_says_what_it_is_and_counts_rounds() -> None:
    with Bench("bee-tek", overrides=BARE) as rig:
        rig.open_table(CARDS)
        kind, before = page_of(rig)
        assert kind.startswith("text/plain; version=")
        rig.play_round(4)
        _, after = page_of(rig)
        rounds = [page["tablectl_rounds_total"][()] for page in (before, after)]
        assert rounds == [0, 1]
        cards = [page["tablectl_shoe_cards_left"][()] for page in (before, after)]
        assert cards[0] - cards[1] == 4
        state = rig.client.state()
        assert after["tablectl_sequence"] == alone(state["sequence"])
        assert after["tablectl_phase"][(("phase", state["phase"]),)] == 1


def alerts_everywhere(rig: Bench) -> list[set[str]]:
    """The open alerts as state, health, metrics, ``status`` and ``alerts`` tell them."""
    page = page_of(rig)[1]
    named = {dict(labels)["alert"] for labels in page.get("tablectl_alert", {})}
    assert page["tablectl_alerts"] == alone(len(named))
    status, listed = (
        tablectl(command, "--socket", str(rig.socket_path)).stdout for command in ("status", "alerts")
    )
    return [
        {alert["alert"] for alert in rig.client.state()["alerts"]},
        set(rig.client.get("/healthz")[1]["alerts"]),
        named,
        set(re.findall(r"^alert ([a-z-]+): ", status, flags=re.MULTILINE)),
        set(re.findall(r"^alert ([a-z-]+)$", listed, flags=re.MULTILINE)),
    ]


def test_a_lock_out_is_an_alert_everywhere_until_a_named_person_acknowledges_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tablectl.pins.DELAYS", (0, 0, 0, 0, 60 * SECOND))
    with Bench("bee-tek", overrides=BARE) as rig:
        guess = {"command": "void", "person": "mallory", "reason": "x", "expect": {"version": 0}}
        for n in range(5):
            assert alerts_everywhere(rig) == [set()] * 5 or n > 1  # twice will do
            status, answer = rig.post({"id": uuid.uuid4().hex, **guess, "pin": f"{n:04d}"})
            assert (status, answer["error"]) == (403, "wrong name or PIN")
        rig.wait(lambda s: s["alerts"], "the alert")
        assert alerts_everywhere(rig) == [{"pin-lockout"}] * 5
        assert page_of(rig)[1]["tablectl_pin_lockouts"] == alone(1)
        assert page_of(rig)[1]["tablectl_pin_lockouts_begun_total"] == alone(1), "a short wait is not missed"
        (alert,) = rig.client.state()["alerts"]
        assert re.fullmatch(
            r"5 wrong PINs in a row for unknown names, from uid \d+ of this machine; "
            r"the next try is allowed in (59|60) s\.",
            alert["message"],
        )
        status, answer = rig.post({"id": "late", **guess, "pin": "9999"})
        assert status == 403 and 0 < answer["retry_after"] <= 60
        assert len(rig.client.state()["alerts"]) == 1

        rig.do("ack", supervised=True, alert="pin-lockout")
        assert alerts_everywhere(rig) == [set()] * 5
        assert page_of(rig)[1]["tablectl_pin_lockouts"] == alone(1), "seen, and still locked out"
        events = [json.dumps(body) for body in rig.public()]
        assert sum("tablectl.alert.raised.v1" in body for body in events) == 1


def test_a_lock_out_that_lasts_over_a_restart_is_told_again_and_one_that_is_open_is_not_doubled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tablectl.pins.DELAYS", (0, 0, 0, 0, 600 * SECOND))
    with Bench("bee-tek", overrides=BARE) as rig:

        def raised() -> int:
            return sum(event["type"] == "tablectl.alert.raised.v1" for event in rig.public())

        def restart() -> None:
            assert rig.runtime.stop()
            rig.runtime = Runtime(load_config(rig.config))
            rig.runtime.start()
            rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")

        for n in range(5):
            body = {"command": "void", "person": "mallory", "reason": "x", "expect": {"version": 0}}
            rig.post({"id": f"g{n}", **body, "pin": f"{n:04d}"})
        rig.wait(lambda s: s["alerts"], "the alert")
        restart()
        assert raised() == 1
        rig.do("ack", supervised=True, alert="pin-lockout")
        restart()
        rig.wait(lambda s: s["alerts"], "the alert")
        assert raised() == 2
        assert page_of(rig)[1]["tablectl_pin_lockouts"] == alone(1)
