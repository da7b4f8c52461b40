"""How hypothesis searches: the same examples at every `make test`, fresh ones at every `make soak`."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("test", derandomize=True)
settings.register_profile("soak", print_blob=True)
settings.load_profile("soak" if "TABLECTL_SOAK" in os.environ else "test")
