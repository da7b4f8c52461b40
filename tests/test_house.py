"""The house rules: what ships, and that a bad file is refused with file, key path and reason."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from tablectl.house import BETS, HouseRules, Limits, Payouts
from tablectl.profiles import ConfigError, config_dir, load_rules

PROFILES = ("live-casino", "classic", "commission-free", "atlantic-city")


def test_the_four_profiles_ship() -> None:
    assert {path.stem for path in (config_dir() / "rules").glob("*.toml")} == set(PROFILES)
    assert all(load_rules(name).name == name for name in PROFILES)


def test_live_casino_is_as_the_house_plays_it() -> None:
    rules = load_rules("live-casino")
    assert (rules.burn.after_shuffle, rules.burn.dealer_change, rules.burn.error) == (6, 1, 3)
    assert (rules.shoe.decks, rules.shoe.cutting_card, rules.shoe.hands_after_cut) == (8, 52, 0)
    assert (rules.betting.seconds, rules.betting.pips, rules.betting.link_required) == (20.0, 5, True)
    assert (rules.payouts.banker, rules.payouts.on_tie) == ("0.95", "returned")
    assert rules.payouts.combinations == ("2-way", "3-way")
    assert rules.limits.currency == "USD" and rules.limits.bets["player"].max == "400"
    assert (rules.limits.bets["tie"].min, rules.limits.bets["tie"].max) == ("5", "50")
    assert rules.limits.max_winnings == {"player": "400", "banker": "380", "tie": "400"}


def test_the_other_houses_differ_where_they_should() -> None:
    classic, free, city = (load_rules(name) for name in PROFILES[1:])
    assert (classic.dealing.deal, classic.payouts.on_tie, classic.payouts.side_bets) == (
        "face-down",
        "stands",
        (),
    )
    assert (free.payouts.banker, free.payouts.banker_six, free.payouts.on_tie) == ("1", "0.5", "stands")
    assert (city.burn.by, city.shoe.share, city.shoe.share_card) == ("first-card", "0.89", 371)
    assert (city.limits.currency, city.limits.below_minimum) == ("EUR", "raise")
    assert city.limits.chips == ("1", "5", "25", "100", "500")


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_survives_the_journal(name: str) -> None:
    rules = load_rules(name)
    again = HouseRules.from_dict(json.loads(json.dumps(rules.as_dict())))
    assert again == rules and again.digest == rules.digest


def test_any_other_rule_has_another_digest() -> None:
    digests = {load_rules(name).digest for name in PROFILES}
    rules = load_rules("live-casino")
    digests.add(dataclasses.replace(rules, payouts=Payouts(tie="9")).digest)
    assert len(digests) == 5


BAD = [
    ('name = "x"\nwrong = 1', ["wrong: unknown key; remove it (there are name, burn, shoe, betting"]),
    ("", ["name: "]),
    ('name = "x"\n[burn]\nafter_shufle = 6', ["burn.after_shufle: unknown key; is it after_shuffle?"]),
    ('name = "x"\n[burn]\nafter_shuffle = 21', ["burn.after_shuffle: 0 to 20 cards, not 21"]),
    ('name = "x"\n[burn]\nby = "all"', ["burn.by: ", "'first-card'"]),
    ('name = "x"\n[shoe]\ndecks = 0', ["shoe.decks: 1 to 16 decks"]),
    ('name = "x"\n[shoe]\ndecks = "many"', ["shoe.decks: "]),
    ('name = "x"\n[shoe]\ncutting_card = 416', ["shoe.cutting_card: "]),
    ('name = "x"\n[shoe]\nhands_after_cut = 2', ["shoe.hands_after_cut: 0 or 1"]),
    ('name = "x"\n[shoe]\nshare = 0.89', ["shoe.share: ", "string"]),
    ('name = "x"\n[shoe]\nshare = "89"', ["shoe.share: between 0 and 1"]),
    ('name = "x"\n[betting]\nseconds = nan', ["betting.seconds: "]),
    ('name = "x"\n[betting]\nseconds = -1', ["betting.seconds: "]),
    ('name = "x"\n[betting]\nopens = "sometimes"', ["betting.opens: ", "'automatic'"]),
    ('name = "x"\n[dealing]\nunread_seconds = 0', ["dealing.unread_seconds: "]),
    ('name = "x"\n[payouts]\nbanker = "-1"', ["payouts.banker: a decimal in quotes"]),
    ('name = "x"\n[payouts]\nbanker = "0_95"', ["payouts.banker: a decimal in quotes"]),
    ('name = "x"\n[payouts]\nbanker = "1e3"', ["payouts.banker: a decimal in quotes"]),
    ('name = "x"\n[payouts]\ntie = "NaN"', ["payouts.tie: a decimal in quotes"]),
    ('name = "x"\n[payouts]\nside_bets = ["lucky"]', ["payouts.side_bets.0: "]),
    ('name = "x"\n[payouts]\nside_bets = []\ncombinations = ["2-way"]', ["payouts.combinations: "]),
    ('name = "x"\n[limits]\ncurrency = "usd"', ["limits.currency: three capital letters"]),
    ('name = "x"\n[shoe]\nx = 1', ["shoe.x: unknown key; remove it (there are decks, cutting_card"]),
    ('name = "x"\n[betting]\nx = 1', ["betting.x: unknown key; remove it (there are seconds, pips"]),
    ('name = "x"\n[dealing]\nx = 1', ["dealing.x: unknown key; remove it (there are confirm, deal"]),
    ('name = "x"\n[payouts]\ntye = "8"', ["payouts.tye: unknown key; is it tie? (there are player, banker"]),
    ('name = "x"\n[limits]\nx = 1', ["limits.x: unknown key; remove it (there are currency, bets"]),
    (
        'name = "x"\n[limits.bets]\nplayer = { min = "1", max = "5", mux = "6" }',
        ["limits.bets.player.mux: unknown key; is it max? (there are min, max)"],
    ),
    (
        'name = "x"\n[limits.bets]\nplayer = { min = "10", max = "5" }',
        ["limits.bets.player: max: min (10) or more"],
    ),
    ('name = "x"\n[limits.bets]\ntie = { min = "0", max = "0.0" }', ["limits.bets.tie.max: more than 0"]),
    (
        'name = "x"\n[payouts]\ncombinations = ["2-way", "3-way"]\n[limits.bets]\n'
        'tie = { min = "51", max = "60" }\nbanker_pair = { min = "5", max = "50" }',
        ["payouts.combinations: no stake on 3-way fits", "a min of 51, another a max of 50"],
    ),
    ('name = "x"\n[limits.bets]\ndragon = { min = "1", max = "5" }', ["limits.bets: one of player"]),
    ('name = "x"\n[limits.max_winnings]\ntie = "x"', ["limits.max_winnings.tie: a decimal"]),
]


@pytest.mark.parametrize(("text", "told"), BAD, ids=[told[0] for _, told in BAD])
def test_a_bad_file_is_named_with_key_and_reason(tmp_path: Path, text: str, told: list[str]) -> None:
    path = tmp_path / "house.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_rules(str(path))
    message = str(refused.value)
    assert message.startswith(f"{path}: {told[0]}")
    assert all(part in message for part in told)


def test_what_a_profile_leaves_out_is_as_in_live_casino_but_for_what_is_each_houses_own(
    tmp_path: Path,
) -> None:
    path = tmp_path / "desk.toml"
    path.write_text('name = "live-casino"')
    live, bare = load_rules("live-casino"), load_rules(str(path))
    assert bare.limits == Limits() and bare.payouts.combinations == ()
    assert bare.unlimited == BETS and not live.unlimited
    own = dataclasses.replace(live.payouts, combinations=())
    assert dataclasses.replace(live, limits=Limits(), payouts=own) == bare


def test_every_key_of_a_profile_is_explained_in_live_casino() -> None:
    text = (config_dir() / "rules" / "live-casino.toml").read_text()
    keys = {
        key
        for section in load_rules("live-casino").as_dict().values()
        if section != "live-casino"
        for key in section
    }
    assert not {key for key in keys if key not in text}


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text('name = "x"\nwrong = 1\n[burn]\nerror = 99\n[shoe]\ndecks = 0\n')
    with pytest.raises(ConfigError) as refused:
        load_rules(str(path))
    assert len(str(refused.value).splitlines()) == 3


def test_a_file_that_is_no_toml_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text("name = ")
    with pytest.raises(ConfigError, match=r"house\.toml: not valid TOML: "):
        load_rules(str(path))
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not valid TOML"):
        load_rules(str(path))
    with pytest.raises(ConfigError, match=r"away\.toml: cannot be read: No such file"):
        load_rules(str(tmp_path / "away.toml"))
    with pytest.raises(ConfigError, match=r"no house rules named 'away'; shipped: atlantic-city, classic"):
        load_rules("away")


def test_a_houses_own_folder_comes_first(tmp_path: Path) -> None:
    (tmp_path / "classic.toml").write_text('name = "classic"\n[shoe]\ndecks = 6\n')
    assert load_rules("classic", (tmp_path,)).shoe.decks == 6
    assert load_rules("live-casino", (tmp_path,)).shoe.decks == 8
