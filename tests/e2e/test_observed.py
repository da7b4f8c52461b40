"""What is seen of a running table from outside: the log, the read-only address, the flight recording."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from tablectl.cards import DECK
from tablectl.config import load_config
from tablectl.runtime import Runtime
from tests.api.test_app import Bench
from tests.e2e.harness import BARE, TABLE, Rig, free_port, until
from tests.test_runtime import without_server

CARDS = "2C 9D 3H KS 9S 2H KD 3C "


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with Rig("bee-tek", overrides=BARE) as rig:
        text = rig.config.read_text()
        rig.config.write_text(text.replace('"console"', '"json"').replace('"error"', '"info"'))
        rig.start()
        rig.open_table(CARDS * 8)
        rig.play_round(4)
        rig.do("bets open")
        rig.phase("no more bets")
        rig.deal(2)
        rig.wait(lambda s: s["phase"] == "dealing", "two cards lie there")
        yield rig


def test_the_log_tells_a_tables_life_with_its_rounds_and_no_card(rig: Rig) -> None:
    rig.do("hold", text="look")
    lines = until(
        lambda: [line for line in rig.errors().splitlines() if '"table.held"' in line], "it is logged"
    )
    held = json.loads(lines[-1])
    assert (held["round"], held["codes"], held["table"]) == ("1/2", ["called"], TABLE)
    rig.do("release", supervised=True, action="resume")
    events = [json.loads(line) for line in rig.errors().splitlines() if line.startswith("{")]
    told = {event["event"]: event for event in events}
    assert told["round.resulted"]["round"] == "1/1"
    assert told["shoe.started"]["round"] == "1/-"
    sequences = [event["sequence"] for event in events if "sequence" in event]
    assert sequences == sorted(set(sequences))
    faces = re.compile(r"\b(?:" + "|".join(map(str, DECK)) + r")\b")
    assert not faces.search(rig.errors()), "no face is logged"


def test_sigusr1_writes_the_last_messages_beside_the_journal(rig: Rig) -> None:
    rig.daemon.send(signal.SIGUSR1)
    pattern = f"{TABLE}-flight-*.jsonl"
    (path,) = until(lambda: list(rig.folder.glob(pattern)), "it is written")
    until(lambda: "flight recording written" in rig.errors(), "the log names it")
    assert str(path) in rig.errors()
    header, *lines = map(json.loads, path.read_text().splitlines())
    assert header["why"] == "asked for with SIGUSR1"
    assert {"heard", "decided", "link"} <= {line["what"] for line in lines}
    scans = [line for line in lines if line["what"] == "decided" and "arrived" in line["input"]]
    assert [re.findall(r"card  (\w\w)", scan["input"]) for scan in scans[-6:]] == [
        ["2C"], ["9D"], ["3H"], ["KS"], ["9S"], ["2H"],
    ]  # fmt: skip
    assert any("bets open" in line.get("input", "") for line in lines)
    assert not re.search(r"\b1234\b", path.read_text()), "no PIN"
    assert rig.client.state()["phase"] == "dealing", "and play goes on"


def test_a_thread_that_dies_leaves_a_recording() -> None:
    with Rig("bee-tek") as rig:
        runtime = Runtime(load_config(without_server(rig)))
        runtime.start()
        runtime.core.put("no input at all")  # type: ignore[arg-type]
        until(lambda: runtime.incidents.crashed.is_set(), "the crash is noticed")
        (path,) = until(lambda: list(rig.folder.glob(f"{TABLE}-flight-*.jsonl")), "it is written")
        assert "the core thread ended" in path.read_text().splitlines()[0]
        runtime.stop()


# --- the read-only address --------------------------------------------------------------------------------


class Listening(Bench):
    """A table with a read-only address."""

    def __init__(self, port: int) -> None:
        super().__init__("bee-tek", overrides=BARE)
        text = self.config.read_text()
        self.config.write_text(text.replace("[api]\n", f'[api]\nlisten = "127.0.0.1:{port}"\n'))
        self.tcp = port

    def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes, dict[str, str]]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.tcp, timeout=10)) as connection:
            connection.request(method, path, body or None)
            answer = connection.getresponse()
            return answer.status, answer.read(), dict(answer.getheaders())


def test_over_tcp_there_are_metrics_health_the_display_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tablectl.api.read_only.IDLE", 0.3)
    monkeypatch.setattr("tablectl.connections.LOOK", 0.1)
    with Listening(free_port()) as rig:
        code, page, headers = rig.ask("GET", "/metrics")
        assert (code, b"tablectl_info{" in page) == (200, True)
        assert headers["Content-Security-Policy"] == "default-src 'none'"
        assert json.loads(rig.ask("GET", "/healthz")[1])["ok"] is True
        for method in ("GET", "POST", "PUT", "DELETE"):
            for path in ("/v1/state", "/v1/commands", "/v1/events", "/v1/raw", "/v1/delivery/retry"):
                assert rig.ask(method, path)[0] == 404, (method, path)
            for path in ("/metrics", "/healthz", "/", "/v1/display"):
                assert rig.ask(method, path)[0] == (200 if method == "GET" else 405), (method, path)
        assert rig.ask("GET", "/metrics?" + "x" * 20_000)[0] == 400
        silent = [socket.create_connection(("127.0.0.1", rig.tcp), timeout=10) for _ in range(60)]
        silent[0].sendall(b"GET /metrics HTTP/1.1\r\nHost")  # half a request
        begun = time.monotonic()
        assert [sock.recv(10) if _reset(sock) else b"" for sock in silent] == [b""] * 60, "all are cut off"
        assert time.monotonic() - begun < 8
        assert rig.ask("GET", "/metrics")[0] == 200
        for sock in silent:
            sock.close()


def _reset(sock: socket.socket) -> bool:
    """Whether there is something to read; a connection that was cut off has nothing."""
    try:
        return bool(sock.recv(1, socket.MSG_PEEK))
    except ConnectionResetError:
        return False


def test_an_address_that_is_taken_is_an_alert_and_the_table_plays() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, Listening(other.getsockname()[1]) as rig:
        state = rig.wait(lambda s: s["alerts"], "the alert")
        (alert,) = state["alerts"]
        assert alert["alert"] == "read-only-address"
        assert f"127.0.0.1:{rig.tcp} cannot be opened" in alert["message"]
        rig.open_table(CARDS * 2)
        rig.play_round(4)
