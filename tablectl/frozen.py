"""Changing frozen values fast: what :func:`dataclasses.replace` does, at a tenth of its cost.

The table makes several new states for every card, and this is most of its work. A frozen class
that is changed often (state, round, shoe) therefore has no slots: its copy is one dict copy, where
slots cost one call per field.
"""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def replace(value: T, **changes: Any) -> T:
    """A copy of a frozen dataclass with some fields changed.

    For dataclasses without slots and without ``__post_init__``. Raises :class:`TypeError` for a
    field that does not exist.
    """
    cls = type(value)
    new = object.__new__(cls)
    fields = new.__dict__
    fields.update(value.__dict__)
    count = len(fields)
    fields.update(changes)
    if len(fields) != count:
        raise TypeError(
            f"{cls.__name__} has no such field: {', '.join(changes.keys() - value.__dict__.keys())}"
        )
    return new
