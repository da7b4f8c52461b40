"""Opening a device, and why it may not be used although it is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tablectl.scanner import Driver, Link, LinkRefused


@dataclass(frozen=True, slots=True)
class Opening:
    """How one device is opened.

    ``refused`` tells why the device at a path may not be used here; None: it may. ``pinned``: the identity
    that the configuration demands; its product text may be left out.
    """

    driver: Driver
    device: str
    settings: Mapping[str, Any]
    refused: Callable[[str], str | None] = lambda _: None
    pinned: str | None = None

    def link(self) -> Link:
        """An open link to the device. Raises :class:`~tablectl.scanner.LinkFault` or OSError."""
        self._may_open(self.device)
        link = self.driver.open(self.device, self.settings)
        try:
            # Once more by what was really opened: the name may lead elsewhere by now.
            self._may_open(f"/proc/self/fd/{link.fileno()}")
            self._is_pinned(link)
        except BaseException:
            link.close()
            raise
        return link

    def _may_open(self, path: str) -> None:
        why = self.refused(path)
        if why is not None:
            raise LinkRefused(f"{self.device}: {why}")

    def _is_pinned(self, link: Link) -> None:
        pin = self.pinned
        if pin is None or link.identity == pin or link.identity.startswith(f"{pin} "):
            return
        raise LinkRefused(
            f"{self.device} is another scanner: {link.identity}, at {link.where}. The configuration demands"
            f" {pin}: put that one back, or write the new one's name into [scanner] identity"
        )
