"""A headless Chromium for tests of our pages: what a page says, how it looks, what it asked the network for.

One :class:`Browser` is one Chromium with a profile of its own; :meth:`Browser.tab` opens further pages in
it. Where Chromium or its driver is missing it fails and says what to install: it is never a reason to skip.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

T = TypeVar("T")

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb", "--mute-audio"),
)
TOOLS = {"chromium": "chromium", "chromedriver": "chromium-driver"}
"""Programs and the Debian packages they come in."""
LOOK = 0.05
"""How often (s) a page is looked at while something is waited for."""


class NoBrowser(Exception):
    """Chromium or its driver is not here; the text says how to get it."""


def missing() -> str:
    """What a page test lacks on this machine, with the way to get it; empty: nothing."""
    lacks = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    return f"tests of pages need Chromium: apt-get install {' '.join(lacks)}" if lacks else ""


class Browser:
    """``size``: of the page, in pixels. ``lang``: the language the page is told. ``more``: further flags.

    Raises :class:`NoBrowser`. Everything that does not find what it looks for raises within ``timeout`` s.
    """

    def __init__(
        self,
        size: tuple[int, int] = (1920, 1080),
        *,
        lang: str = "en-US",
        more: tuple[str, ...] = (),
        timeout: float = 15.0,
    ) -> None:
        if lacks := missing():
            raise NoBrowser(lacks)
        self._timeout = timeout
        self._folder = tempfile.TemporaryDirectory(prefix="tablectl-browser-", ignore_cleanup_errors=True)
        options = Options()
        options.binary_location = str(shutil.which("chromium"))
        for flag in (*FLAGS, f"--window-size={size[0]},{size[1]}", f"--lang={lang}", *more):
            options.add_argument(flag)
        options.add_argument(f"--user-data-dir={self._folder.name}")
        options.add_experimental_option("prefs", {"intl.accept_languages": lang})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        # LANGUAGE is what Chromium takes its own language from.
        service = Service(str(shutil.which("chromedriver")), env=os.environ | {"LANGUAGE": lang[:2]})
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.set_page_load_timeout(timeout)
        self._asked: list[str] = []
        self.open("about:blank")
        inside = self.run("return [innerWidth, innerHeight]")
        self._frame = size[0] - inside[0], size[1] - inside[1]
        self.size(size)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End it, and every process of it."""
        self.driver.quit()
        self._folder.cleanup()

    # --- pages -----------------------------------------------------------------------------------------

    def open(self, url: str) -> None:
        """Load a page in the current tab."""
        self.driver.get(url)

    def tab(self, url: str | None = None) -> str:
        """A further page, which is the current one from now on; its handle, for :meth:`show`."""
        self.driver.switch_to.new_window("tab")
        if url is not None:
            self.open(url)
        return self.driver.current_window_handle

    def size(self, size: tuple[int, int]) -> None:
        """Make the page so large, in pixels."""
        self.driver.set_window_size(size[0] + self._frame[0], size[1] + self._frame[1])
        self.wait(lambda: self.run("return [innerWidth, innerHeight]") == list(size), f"the size {size}")

    def window(self, url: str, size: tuple[int, int]) -> str:
        """A further page in a window of its own, which is seen beside the others; its handle."""
        self.driver.switch_to.new_window("window")
        self.driver.set_window_size(*size)
        self.open(url)
        return self.driver.current_window_handle

    def show(self, handle: str) -> None:
        """Make another page the current one."""
        self.driver.switch_to.window(handle)

    @property
    def handle(self) -> str:
        """Of the current page."""
        return self.driver.current_window_handle

    # --- what a page says ------------------------------------------------------------------------------

    def all(self, css: str) -> list[WebElement]:
        """Every element of the page that this CSS selector means."""
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css: str) -> WebElement:
        """The first one; waits until there is one."""
        return self.wait(lambda: next(iter(self.all(css)), None), f"an element {css}")

    def text(self, css: str = "body") -> str:
        """What can be read there: nothing that is hidden."""
        return self._steady(lambda: self.one(css).text.strip())

    def texts(self, css: str) -> list[str]:
        """Of each element, in the page's order."""
        return self._steady(lambda: [one.text.strip() for one in self.all(css)])

    def value(self, css: str, name: str) -> str | None:
        """An attribute or property of the first one."""
        return self._steady(lambda: self.one(css).get_attribute(name))

    def shown(self, css: str) -> bool:
        """Whether one of them can be seen."""
        return self._steady(lambda: any(one.is_displayed() for one in self.all(css)))

    def run(self, script: str, *arguments: Any) -> Any:
        """What JavaScript in the page returns (``return …``); it knows ``arguments``."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, found: Callable[[], T | None], what: str, timeout: float | None = None) -> T:
        """The first true thing that ``found`` returns. Raises :class:`AssertionError` that names ``what``."""
        until = time.monotonic() + (self._timeout if timeout is None else timeout)
        while True:
            try:
                if got := found():
                    return got
            except StaleElementReferenceException:
                pass  # the page was just drawing it anew
            assert time.monotonic() < until, f"the page does not have {what}; it says:\n{self._says()}"
            time.sleep(LOOK)

    def wait_text(self, words: str, css: str = "body", timeout: float | None = None) -> str:
        """Wait until that text is there; all that is said there then."""

        def said() -> str | None:
            text = self.text(css)
            return text if words in text else None

        return self.wait(said, f"{words!r} in {css}", timeout)

    # --- what people do ----------------------------------------------------------------------------------

    def click(self, css: str) -> None:
        """With the mouse."""
        self._steady(lambda: self.one(css).click())

    def keys(self, *keys: str) -> None:
        """Press keys, to whatever has the focus; names of special ones: ``selenium…keys.Keys``.

        Several in one text, of which the first is Shift: it is held while the others are pressed.
        """
        chain = ActionChains(self.driver)
        for key in keys:
            if key[0] == Keys.SHIFT:
                chain.key_down(Keys.SHIFT).send_keys(key[1:]).key_up(Keys.SHIFT)
            else:
                chain.send_keys(key)
        chain.perform()

    def screenshot(self, path: Path) -> Path:
        """The window as a PNG."""
        assert self.driver.save_screenshot(str(path))
        return path

    # --- what it did behind the page ---------------------------------------------------------------------

    def complaints(self) -> list[str]:
        """Errors and warnings on the page's console since the last time it was asked."""
        found: list[dict[str, Any]] = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [one["message"] for one in found if one["level"] in ("SEVERE", "WARNING")]

    def requests(self) -> list[str]:
        """Every address that any page has asked the network for so far."""
        found: list[dict[str, Any]] = self.driver.get_log("performance")  # type: ignore[no-untyped-call]
        for one in found:
            message = json.loads(one["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self._asked.append(message["params"]["request"]["url"])
        # Chromium's own first page, and what was no request at all.
        self._asked = [one for one in self._asked if not one.startswith(("chrome:", "data:", "about:"))]
        return list(self._asked)

    def command(self, name: str, **arguments: Any) -> Any:
        """One of the DevTools protocol, such as ``Emulation.setEmulatedMedia``."""
        return self.driver.execute_cdp_cmd(name, arguments)

    # ------------------------------------------------------------------------------------------------------

    def _steady(self, look: Callable[[], T]) -> T:
        """Look again where the page drew what was looked at anew in between."""
        for _ in range(20):
            try:
                return look()
            except StaleElementReferenceException:
                time.sleep(LOOK)
        return look()

    def _says(self) -> str:
        try:
            return str(self.run("return document.body.innerText"))[:2000]
        except WebDriverException as fault:
            return f"(nothing: {fault.msg})"
