"""Every event class by its type name."""

from __future__ import annotations

from tablectl.events import internal, rounds, table, trouble
from tablectl.events.base import Event

TYPES: dict[str, type[Event]] = {
    cls.TYPE: cls
    for module in (table, rounds, trouble, internal)
    for cls in vars(module).values()
    if isinstance(cls, type) and issubclass(cls, Event) and cls is not Event
}
"""Public and private."""

PUBLIC_TYPES = tuple(name for name, cls in TYPES.items() if cls.PUBLIC)
