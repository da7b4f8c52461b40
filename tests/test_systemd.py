"""The service's files: one unit in two shapes, and nothing in them that the daemon does not do."""

from __future__ import annotations

import re
from pathlib import Path

from tablectl.daemon import CONFIG_ERROR

FOLDER = Path(__file__).parent.parent / "systemd"


def settings(name: str) -> list[str]:
    """The lines of a unit without comments."""
    return [line for line in (FOLDER / name).read_text().splitlines() if line and not line.startswith("#")]


def test_the_template_is_the_unit_with_the_tables_name_in_it() -> None:
    one, many = settings("tablectl.service"), settings("tablectl@.service")
    differ = [(a, b) for a, b in zip(one, many, strict=True) if a != b]
    assert differ
    for single, template in differ:
        assert "%i" in template
        plain = re.sub(r" --config /etc/tablectl/%i\.toml|, table %i|/%i", "", template)
        assert plain == single


def test_a_configuration_error_is_not_tried_again() -> None:
    assert f"RestartPreventExitStatus={CONFIG_ERROR}" in settings("tablectl.service")


def test_a_missing_credential_does_not_fail_the_start() -> None:
    lines = settings("tablectl.service")
    loaded = {line.split("=")[1].split(":")[0] for line in lines if line.startswith("LoadCredential=")}
    assert loaded == {"push-hmac", "pit-bosses"}
    for name in loaded:
        assert f"SetCredential={name}:unset" in lines


def test_the_scanner_does_not_stop_the_service() -> None:
    assert not any(line.startswith(("BindsTo=", "Requires=")) for line in settings("tablectl.service"))
