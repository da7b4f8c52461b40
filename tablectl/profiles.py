"""House-rule profiles: TOML files by name or path, validated into :class:`HouseRules`."""

from __future__ import annotations

import dataclasses
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError

from tablectl.house import HouseRules
from tablectl.plain_file import parse_toml, read_file


class ConfigError(Exception):
    """A file, or a key in it, cannot be used. The text names the file, the key path and the way out."""


def config_dir() -> Path:
    """The shipped ``config`` folder: inside the package in a wheel, in the repository in a checkout."""
    shipped = Path(__file__).parent / "_config"
    return shipped if shipped.is_dir() else Path(__file__).parent.parent / "config"


def read_toml(path: Path) -> dict[str, object]:
    """A TOML file as a dict. Raises :class:`ConfigError` naming file, line and fault."""
    try:
        return parse_toml(read_file(path).decode())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None


def explain(path: Path, error: ValidationError, root: type) -> str:
    """Every fault of a file, one a line, each with its key path. ``root``: what the file was to be."""
    lines = []
    for fault in error.errors():
        key = ".".join(str(part) for part in fault["loc"])
        text = fault["msg"].removeprefix("Value error, ")
        if fault["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            text = _unknown(str(fault["loc"][-1]), _keys(root, fault["loc"][:-1]))
        elif key and text.startswith(f"{key}."):
            key = ""  # the text names the whole path itself
        lines.append(f"{path}: {key + ': ' if key else ''}{text}")
    return "\n".join(lines)


def _unknown(key: str, known: list[str]) -> str:
    near = "".join(f"; is it {name}?" for name in get_close_matches(key, known, 1))
    return f"unknown key{near or '; remove it'} (there are {', '.join(known)})"


def _keys(kind: Any, place: tuple[int | str, ...]) -> list[str]:
    """The keys there are at ``place`` under ``kind``, which is a model or a dataclass."""
    for part in place:
        kind = get_args(kind)[1] if get_origin(kind) is dict else get_type_hints(kind)[str(part)]
    if issubclass(kind, BaseModel):
        return list(kind.model_fields)
    return [field.name for field in dataclasses.fields(kind)]


def load_rules(name: str, folders: tuple[Path, ...] = ()) -> HouseRules:
    """The profile ``name`` (or a path ending in ``.toml``), from ``folders`` first, then the shipped ones.

    Raises :class:`ConfigError` when there is none, or when it has a fault.
    """
    if name.endswith(".toml"):
        path = Path(name)
    else:
        places = [folder / f"{name}.toml" for folder in (*folders, config_dir() / "rules")]
        path = next((place for place in places if place.is_file()), places[-1])
        if not path.is_file():
            known = ", ".join(sorted(p.stem for p in path.parent.glob("*.toml")))
            raise ConfigError(f"there are no house rules named {name!r}; shipped: {known}")
    try:
        rules = TypeAdapter(HouseRules).validate_python(read_toml(path))
    except ValidationError as error:
        raise ConfigError(explain(path, error, HouseRules)) from None
    if faults := rules.impossible_stakes:
        raise ConfigError("\n".join(f"{path}: {fault}" for fault in faults))
    return rules
