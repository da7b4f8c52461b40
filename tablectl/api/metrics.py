"""What a table tells Prometheus: ``GET /metrics``, made anew for each scrape from what ``/v1/state`` shows.

Nothing is counted here and nothing is global: a metric cannot differ from the state, nor tell what the state
hides.  Every metric is a line of :data:`METRICS`; ``docs/metrics.md`` explains them.  Labels take only values
the program itself knows, so that nothing a peer sends makes a new series.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, get_args

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from tablectl import __version__
from tablectl.health import Condition
from tablectl.journal.disk import Cause
from tablectl.journal.writer import DiskState
from tablectl.table import HOLDS, Phase

Kind = Literal["info", "gauge", "counter"]

METRICS: dict[str, tuple[Kind, str]] = {
    "tablectl_info": ("info", "Which table this is, and what runs it."),
    "tablectl_phase": ("gauge", "1 for the phase the table is in, 0 for the others."),
    "tablectl_held": ("gauge", "1 while a hold lies over the phase."),
    "tablectl_hold": ("gauge", "1 for each hold in force, 0 for the other codes."),
    "tablectl_alert": ("gauge", "1 for each alert nobody has acknowledged."),
    "tablectl_alerts": ("gauge", "How many alerts nobody has acknowledged."),
    "tablectl_shoe_cards_left": ("gauge", "Cards left in the shoe; absent without a shoe."),
    "tablectl_rounds_total": ("counter", "Results announced since the daemon started."),
    "tablectl_sequence": ("gauge", "The newest event for the game server."),
    "tablectl_acknowledged_sequence": ("gauge", "The newest event the game server has; absent without one."),
    "tablectl_link_good": ("gauge", "1 while the game server's link is good; absent without one."),
    "tablectl_scanner_up": ("gauge", "1 while the scanner is connected and ready."),
    "tablectl_scanner_health": ("gauge", "1 for how the scanner is, 0 for the other conditions."),
    "tablectl_scanner_last_good_age_seconds": ("gauge", "Time since its last message."),
    "tablectl_scanner_bytes_total": ("counter", "Bytes the scanner sent, since the daemon started."),
    "tablectl_scanner_frames_total": ("counter", "Messages made of them, since then."),
    "tablectl_scanner_cards_total": ("counter", "Cards among the messages, since then."),
    "tablectl_scanner_rejects_total": ("counter", "Messages that could not be read, since then."),
    "tablectl_scanner_outages_total": ("counter", "How often the scanner went away, since then."),
    "tablectl_journal_queue": ("gauge", "Rows that wait for the disk."),
    "tablectl_journal_state": ("gauge", "1 for how the journal's disk is, 0 for the other states."),
    "tablectl_journal_cause": ("gauge", "1 for why the journal cannot be written, 0 for the other causes."),
    "tablectl_mirror_behind_rows": ("gauge", "Rows that the mirror lacks; absent without a mirror."),
    "tablectl_rounds_unsettled": ("gauge", "Rounds that the game server refused to settle, and nobody yet."),
    "tablectl_beeper_up": ("gauge", "1 while the beeper can be heard, as far as it tells."),
    "tablectl_pin_lockouts": ("gauge", "Names that wait after five or more wrong PINs in a row."),
    "tablectl_pin_lockouts_begun_total": (
        "counter",
        "How often a name had to wait so, since the daemon started.",
    ),
}
"""Every metric, by the name it is scraped by: kind and help."""

MOST_ALERTS = 100
"""Series of open alerts; the program has fewer."""

_ALERT = re.compile(r"[a-z]+(-[a-z]+)*", re.ASCII)

Labels = Mapping[str, str]


class StateCollector(Collector):
    """``view`` gives what ``/v1/state`` would show now."""

    def __init__(self, view: Callable[[], dict[str, Any]]) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        """Every metric as it is now."""
        samples: dict[str, list[tuple[Labels, float]]] = {}
        for name, labels, value in _samples(self._view()):
            samples.setdefault(name, []).append((labels, value))
        for name, (kind, text) in METRICS.items():
            metric = _family(kind, name, text)
            for labels, value in samples.pop(name, []):
                metric.add_sample(name, dict(labels), value)
            yield metric
        assert not samples, f"not in the table of metrics: {', '.join(samples)}"


def _family(kind: Kind, name: str, text: str) -> Metric:
    match kind:
        case "info":
            return InfoMetricFamily(name.removesuffix("_info"), text)
        case "counter":
            return CounterMetricFamily(name.removesuffix("_total"), text)
        case "gauge":
            return GaugeMetricFamily(name, text)


def _samples(view: dict[str, Any]) -> Iterator[tuple[str, Labels, float]]:
    about = {"version": __version__, "table": view["table"], "epoch": view["epoch"]}
    yield "tablectl_info", {**about, "test": "true" if view["test"] else "false"}, 1
    for phase in Phase:
        yield "tablectl_phase", {"phase": phase.value}, phase.value == view["phase"]
    held = {hold["code"] for hold in view["holds"]}
    yield "tablectl_held", {}, bool(held)
    for code in HOLDS:
        yield "tablectl_hold", {"code": code}, code in held
    alerts = [alert["alert"] for alert in view["alerts"]]
    for alert in alerts[:MOST_ALERTS]:
        if _ALERT.fullmatch(alert):
            yield "tablectl_alert", {"alert": alert}, 1
    yield "tablectl_alerts", {}, len(alerts)
    if view["shoe"] is not None:
        yield "tablectl_shoe_cards_left", {}, view["shoe"]["left"]
    yield "tablectl_rounds_total", {}, view["results"]
    yield "tablectl_sequence", {}, view["sequence"]
    if view["link"]["configured"]:  # where nobody takes events none are owed
        yield "tablectl_acknowledged_sequence", {}, view["acked"]
        yield "tablectl_link_good", {}, view["link"]["good"]
    scanner = view["scanner"]
    yield "tablectl_scanner_up", {}, scanner["up"]
    for condition in Condition:
        yield "tablectl_scanner_health", {"health": condition.value}, condition.value == scanner["health"]
    if scanner["last_good_age"] is not None:
        yield "tablectl_scanner_last_good_age_seconds", {}, scanner["last_good_age"]
    for name in ("bytes", "frames", "cards", "rejects", "outages"):
        yield f"tablectl_scanner_{name}_total", {}, scanner[name]
    yield "tablectl_journal_queue", {}, view["journal"]["depth"]
    for state in get_args(DiskState):
        yield "tablectl_journal_state", {"state": state}, state == view["journal"]["state"]
    for cause in get_args(Cause):
        yield "tablectl_journal_cause", {"cause": cause}, cause == view["journal"]["cause"]
    if view["mirror"] is not None:
        yield "tablectl_mirror_behind_rows", {}, view["mirror"]["behind"]
    yield "tablectl_rounds_unsettled", {}, len(view["unsettled"])
    yield "tablectl_beeper_up", {}, not view["beeper"]["why"]
    yield "tablectl_pin_lockouts", {}, view["pins"]["locked_out"]
    yield "tablectl_pin_lockouts_begun_total", {}, view["pins"]["lock_outs"]


class Metrics:
    """The page of metrics. ``view``: as for :class:`StateCollector`."""

    def __init__(self, view: Callable[[], dict[str, Any]]) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(StateCollector(view))
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        """In Prometheus' text format."""
        return generate_latest(self._registry)

    async def answer(self, _: web.Request) -> web.Response:
        """``GET /metrics``. The type is told: Prometheus 3 takes no page without it."""
        return web.Response(body=self.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})
