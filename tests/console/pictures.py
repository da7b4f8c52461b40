"""The pictures of docs/console.md: ``python -m tests.console.pictures docs/pictures``, without a daemon."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from pathlib import Path
from unittest.mock import patch

from tablectl.console.app import Console
from tablectl.console.language import LANGUAGES
from tablectl.console.model import Model
from tests.console.states import LAST_SHOE, Raw, held, past, round_, state

DOWN = "nobody listens there: it is down; systemctl status 'tablectl@*' says why"
FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)

PLACED = {"shoe": 12, "round": 71, "players": 3, "placed": 2, "all": False}

Shot = tuple[str, Raw, str, tuple[int, int], bool]

SHOTS: tuple[Shot, ...] = (
    (
        "console-betting",
        state("betting", shoe=LAST_SHOE, where="12/71", round=round_("betting", number=71), placed=PLACED),
        "",
        (80, 24),
        True,
    ),
    ("console-dealing", state("dealing", say=["Player 4, Banker 7: Player draws"]), "", (80, 24), True),
    ("console-hold", held("card-missed", kept=0), "", (80, 24), True),
    ("console-correct", held("called", kept=0), "c4", (80, 24), True),
    ("console-pin", held("called", kept=0), "r121987", (80, 24), True),
    ("console-stale", state("complete"), "!", (80, 24), True),
    ("console-ascii", state("complete", round=round_("complete")), "", (80, 24), False),
    ("console-german", state("dealing", say=["Player 4, Banker 7: Player draws"]), "", (80, 24), True),
    ("console-tall", state("dealing", say=["Player 4, Banker 7: Player draws"]), "", (120, 36), True),
)


async def draw(folder: Path, shot: Shot) -> None:
    """One picture."""
    name, raw, keys, size, rich = shot
    with patch("tablectl.console.app.DaemonLine.start"), patch("time.strftime", return_value="03:14:15"):
        words = LANGUAGES["de" if name.endswith("german") else "en"]
        app = Console("/run/tablectl/T07/tablectl.sock", blocks=rich, colours=rich, words=words, settles=0.0)
        async with app.run_test(size=size) as pilot:
            now = time.monotonic()
            app.model = Model(past=past(raw["round"]["number"]), settles=0.0, words=words).told(
                raw | {"test": False}, now
            )
            for key in keys:
                press(app, key)
            await pilot.pause(0.3)
            svg = FONT.sub("", app.export_screenshot(title=f"tablectl console: {raw['table']}"))
    (folder / f"{name}.svg").write_text(svg.replace("Fira Code", "DejaVu Sans Mono"), encoding="utf-8")


def press(app: Console, key: str) -> None:
    """A key; ``c`` and ``r``: whatever key corrects or resumes; ``!``: the daemon goes."""
    from tablectl.console.keys import keys

    seen = app.model.seen
    assert seen is not None
    if key == "!":
        app.model = app.model.gone(DOWN, time.monotonic() - 12)
        return
    means = {"c": "way correct", "r": "way resume"}.get(key)
    if means is not None:
        key = next(one.key for one in keys(seen, app.model.past) if one.means == means)
    app.press(key, time.monotonic())


def main(folder: Path) -> None:
    """All of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for shot in SHOTS:
        asyncio.run(draw(folder, shot))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
