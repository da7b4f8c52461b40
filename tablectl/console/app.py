"""The console on a terminal: textual draws the lines of ``screen`` and hands over keys."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tablectl.console.dialog import Leave
from tablectl.console.language import ENGLISH, LANGUAGES, Language
from tablectl.console.line import Line as DaemonLine
from tablectl.console.model import SETTLES, Model, Send
from tablectl.console.paper import Line
from tablectl.console.screen import Terminal, screen
from tablectl.console.stopped import by_the_loop

TICK = 0.2
"""How often (s) the countdown is drawn anew."""

_COLOURED = {
    "plain": "",
    "dim": "bright_black",
    "main": "bold",
    "head": "bold bright_white on blue",
    "stale": "reverse bold bright_yellow",
    "phase": "bold bright_cyan",
    "deal": "bold bright_white",
    "good": "bold bright_green",
    "warn": "bright_yellow",
    "bad": "bold bright_red",
    "next": "bold reverse",
    "held": "bold bright_white on red",
    "alarm": "bold bright_white on red",
    "alert": "reverse bold bright_yellow",
    "say": "bold bright_white",
    "card": "bold bright_white",
    "red": "bold bright_red",
    "due": "bold bright_yellow",
    "player": "bold bright_blue",
    "banker": "bold bright_red",
    "tie": "bold bright_green",
    "playerwon": "bold bright_white on blue",
    "bankerwon": "bold bright_white on red",
    "tiewon": "reverse bold bright_green",
    "gauge": "bright_cyan",
    "key": "reverse",
    "keyhold": "bold bright_white on red",
    "keymain": "reverse bold bright_green",
    "lightgood": "green",
    "dialog": "reverse bold",
}
_PLAIN = {
    **dict.fromkeys(_COLOURED, ""),
    **dict.fromkeys(("main", "phase", "deal", "good", "warn", "bad", "say", "due", "card", "red"), "bold"),
    **dict.fromkeys(("player", "banker", "tie"), "bold"),
    **dict.fromkeys(
        ("head", "stale", "next", "held", "alarm", "alert", "playerwon", "bankerwon", "tiewon"),
        "bold reverse",
    ),
    **dict.fromkeys(("key", "keymain", "keyhold", "dialog"), "reverse"),
}


class Fault(Exception):
    """The console has failed. textual's own report would show local variables, a PIN perhaps among them."""

    def __rich__(self) -> Text:
        """What is printed when the screen is gone."""
        return Text(str(self))


@contextmanager
def _guarded() -> Iterator[None]:
    try:
        yield
    except Exception:  # noqa: BLE001 whatever it is, it is told without what was typed
        where = traceback.format_exc()
        raise Fault(f"{where}The console has failed; the table goes on. Start it again.") from None


class Told(Message):
    """Something came from a thread of the line: what the model becomes by it."""

    def __init__(self, change: Callable[[Model, float], Model]) -> None:
        self.change = change
        super().__init__()


class Paper(Widget):
    """The whole terminal, line by line; only lines that changed are drawn anew."""

    DEFAULT_CSS = "Paper { width: 100%; height: 100%; }"

    def __init__(self, colours: bool) -> None:
        super().__init__()
        palette = _COLOURED if colours else _PLAIN
        self._styles = {name: Style.parse(words) for name, words in palette.items()}
        self.lines: list[Line] = []

    def show(self, lines: list[Line]) -> None:
        """These lines are on the paper from now on."""
        before, self.lines = self.lines, lines
        if len(before) != len(lines):
            self.refresh()
            return
        for y, (old, new) in enumerate(zip(before, lines, strict=True)):
            if old != new:
                self.refresh(Region(0, y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        """One line as textual wants it."""
        line = self.lines[y] if y < len(self.lines) else ()
        return Strip([Segment(text, self._styles.get(style, Style.null())) for text, style in line])


class Console(App[None]):
    """``settles``: see :data:`tablectl.console.model.SETTLES`. ``there()``: whether the terminal still is."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "leave", "leave", priority=True),
        Binding("ctrl+c", "leave", "leave", priority=True),
    ]
    CSS = "Screen { background: ansi_default; color: ansi_default; overflow: hidden; }"

    def __init__(
        self,
        path: str,
        *,
        table: str | None = None,
        blocks: bool = True,
        colours: bool = True,
        words: Language = ENGLISH,
        settles: float = SETTLES,
        there: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(ansi_color=True)
        self._there = there
        self._to_be_drawn = False
        self._unhooked: Callable[[], None] = lambda: None
        self.title = "tablectl console"
        words = words if blocks else words.ascii()
        self.model = Model(settles=settles, lost_at=time.monotonic(), words=words)
        self._blocks = blocks
        self._paper = Paper(colours)
        self._line = DaemonLine(
            path,
            table=table,
            words=words,
            told=lambda state: self._post(lambda model, now: model.told(state, now)),
            gone=lambda why: self._post(lambda model, now: model.gone(why, now)),
            heard=lambda event: self._post(lambda model, now: model.heard_event(event, now)),
            answered=lambda answer: self._post(lambda model, now: model.answered(answer, now)),
        )

    def compose(self) -> ComposeResult:
        """One widget is all."""
        yield self._paper

    def on_mount(self) -> None:
        """Begin to follow the table."""
        self.set_interval(TICK, self._tick)
        if not self.is_headless:
            self._unhooked = by_the_loop(self, sys.stdin.fileno())
        self._line.start()
        self._draw()

    def on_unmount(self) -> None:
        """The threads end by themselves."""
        self._line.stop()
        self._unhooked()

    def _tick(self) -> None:
        """A console whose terminal is gone would wait for keys for ever."""
        if self._there():
            self.model = self.model.waited(time.monotonic())
            self._draw()
        else:
            self.exit()

    def _post(self, change: Callable[[Model, float], Model]) -> None:
        self.post_message(Told(change))

    def on_told(self, message: Told) -> None:
        """The model goes on."""
        with _guarded():
            held = self.model.seen is not None and self.model.seen.held
            self.model = message.change(self.model, time.monotonic())
            if self.model.seen is not None and self.model.seen.held and not held:
                self.bell()
        if not self._to_be_drawn:  # once for all that came: at the start the events of a whole shoe do
            self._to_be_drawn = True
            self.call_later(self._draw)

    def on_key(self, event: events.Key) -> None:
        """A key, by the letter it types or by its name."""
        event.stop()
        event.prevent_default()
        typed = event.character
        printed = typed is not None and len(typed) == 1 and typed.isprintable()
        # When it came, not when there was time for it: by that a burst is told from fingers, and a key that
        # was pressed before its meaning changed from one pressed after.
        self.press(typed if typed is not None and printed else event.key, event.time)

    def press(self, key: str, at: float) -> None:
        """What a key does that was pressed ``at`` that moment (monotonic s)."""
        with _guarded():
            self.model, wanted = self.model.key(key, at)
        match wanted:
            case Send():
                self._line.send(wanted)
            case Leave():
                self.exit()
            case None:
                pass
        self._draw()

    def on_resize(self, _: events.Resize) -> None:
        """Another size, another layout; the app's own size is another only after this."""
        self.call_after_refresh(self._draw)

    def text(self) -> str:
        """What stands on the screen, as plain lines."""
        return "\n".join("".join(span.text for span in line) for line in self._paper.lines)

    def action_leave(self) -> None:
        """The console ends; the table goes on."""
        self.exit()

    def _draw(self) -> None:
        self._to_be_drawn = False
        on = Terminal(self.size.width, self.size.height, self._blocks)
        with _guarded():
            self._paper.show(screen(self.model, on, time.monotonic(), time.strftime("%H:%M:%S")))


def run(path: str, table: str | None, *, blocks: bool, colours: bool, language: str = "en") -> int:
    """Show the console until it is left, or its terminal is gone: the exit code."""
    terminal = sys.stdin.fileno()
    for name in ("COLUMNS", "LINES"):  # what a shell exported would be taken for the size for ever
        os.environ.pop(name, None)

    def there() -> bool:
        return os.isatty(terminal) and not ended

    ended: list[int] = []
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: ended.append(number))  # the terminal is given back in order
    words = LANGUAGES[language]
    app = Console(path, table=table, blocks=blocks, colours=colours, words=words, there=there)
    app.run(mouse=False)
    if not os.isatty(terminal):  # gone: what is still to be written goes nowhere, and is no failure of ours
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
    return app.return_code or 0
