"""The dashboard and the alarms for Prometheus and Grafana name what is there, and each alarm is explained."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tablectl.api.metrics import METRICS

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs" / "metrics.md").read_text()
ALERTS = (ROOT / "config" / "prometheus" / "alerts.yml").read_text()
DASHBOARD: dict[str, Any] = json.loads((ROOT / "config" / "grafana" / "tablectl.json").read_text())

EXPRESSIONS = [
    *re.findall(r"^ +expr: (.+)$", ALERTS, flags=re.MULTILINE),
    *(target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]),
]

WORDS = {
    "and", "or", "on", "by", "unless", "sum", "rate", "increase", "changes", "job", "instance", "table",
    "code", "health", "state",
}  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_name_is_a_metric(expression: str) -> None:
    bare = re.sub(r"\"[^\"]*\"|\[\d+[smh]\]", "", expression)
    names = set(re.findall(r"[a-z_]{2,}", bare)) - WORDS
    assert names, "it asks for something"
    process = set(re.findall(r"`(process_\w+)`", DOCUMENT))
    assert names - process - {"up"} <= set(METRICS)


def test_values_of_labels_are_lawful_ones() -> None:
    for label, value in re.findall(r"(\w+)!?=\"(\w+)\"", " ".join(EXPRESSIONS)):
        assert (label, value) in {("job", "tablectl"), ("health", "ok"), ("state", "ok")}


def test_every_alarm_is_explained_and_only_they() -> None:
    named = re.findall(r"alert: (\w+)", ALERTS)
    assert len(set(named)) == len(named) == ALERTS.count("annotations: {summary: ")
    assert re.findall(r"^\| `(Tablectl\w+)`", DOCUMENT, flags=re.MULTILINE) == named


def test_panels_do_not_overlap_and_every_one_has_a_title() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + i, at["y"] + j) for i in range(at["w"]) for j in range(at["h"])}
        assert panel["title"] and not cells & taken
        taken |= cells
    assert max(x for x, _ in taken) == 23
