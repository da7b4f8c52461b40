"""The settings a scanner is used with: files beside the configuration, shipped names, one refusal for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablectl.config import Config, load_config
from tablectl.profiles import ConfigError, config_dir
from tablectl.scanner_setup import load_scanner

LEAST = '[table]\nid = "T07"\n[scanner]\ndriver = "barcode"\ndevice = "/dev/null"\n'


def load(folder: Path, text: str) -> Config:
    path = folder / "T07.toml"
    path.write_text(LEAST + text)
    return load_config(path)


def test_a_relative_path_begins_at_the_folder_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "house.toml").write_text((config_dir() / "cards" / "suit-rank.toml").read_text())
    (elsewhere := tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(elsewhere)
    driver, settings = load_scanner(load(tmp_path, 'cards = "house.toml"\nbaud = 19200\n'))
    assert driver.name == "barcode"
    assert settings == {"cards": str(tmp_path / "house.toml"), "baud": 19200}
    _, settings = load_scanner(load(tmp_path, f'cards = "{tmp_path}/house.toml"'))
    assert settings["cards"] == str(tmp_path / "house.toml")
    _, settings = load_scanner(load(elsewhere, 'cards = "../house.toml"'))
    assert Path(settings["cards"]).samefile(tmp_path / "house.toml")


def test_a_bare_name_is_a_file_of_the_house_or_a_shipped_one(tmp_path: Path) -> None:
    config = load(tmp_path, 'cards = "suit-rank"')
    shipped = config_dir() / "cards" / "suit-rank.toml"
    assert load_scanner(config)[1]["cards"] == str(shipped)
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "suit-rank.toml").write_text(shipped.read_text())
    assert load_scanner(config)[1]["cards"] == str(tmp_path / "cards" / "suit-rank.toml")


def test_a_table_in_the_configuration_itself_stays_as_it_is(tmp_path: Path) -> None:
    text = (config_dir() / "cards" / "suit-rank.toml").read_text().replace("[codes]", "[scanner.cards]")
    _, settings = load_scanner(load(tmp_path, text))
    assert settings["cards"]["1010"] == "AS"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('cards = "none"', r"scanner\.cards: there is no .*cards/none\.toml and none .*suit-rank"),
        ('cards = "cards/none.toml"', r"scanner\.cards: .*cards/none\.toml cannot be read"),
        ('cards = ""', r"scanner\.cards: give the path"),
        ("cards = 7", r"scanner\.cards: give the path"),
        ("", r"scanner\.cards: "),
        ('cards = "suit-rank"\nbauds = 1', r"scanner\.bauds: "),
    ],
)
def test_what_cannot_be_used_is_refused_by_file_and_key(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        load_scanner(load(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path}/T07.toml: ")


def test_a_driver_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    path = tmp_path / "T07.toml"
    path.write_text(LEAST.replace("barcode", "brcode"))
    with pytest.raises(ConfigError, match=r"scanner\.driver: .*brcode.*angel-eye"):
        load_scanner(load_config(path))
