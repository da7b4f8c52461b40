"""Counting open descriptors, for tests that show that none is left behind."""

from __future__ import annotations

import gc
import os


def descriptors() -> int:
    """Open descriptors of this process now."""
    return len(os.listdir("/proc/self/fd"))


def settled_descriptors() -> int:
    """The same at a test's beginning, once what earlier tests dropped is really closed."""
    gc.collect()
    return descriptors()
