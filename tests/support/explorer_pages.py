"""The explorer's page in a browser."""

from __future__ import annotations

from itertools import count
from typing import Any
from urllib.parse import quote


class Page:
    """The explorer's page as a reader has it. ``benchmark``: what views show that name none."""

    def __init__(self, browser: Any, address: str, *, benchmark: str = "") -> None:
        self.browser = browser
        self.address = address
        self.benchmark = benchmark
        self._visits = count()

    def open(self, view: str = "", *, width: int = 1280, height: int = 900, reduced_motion: bool = True) -> None:
        """Open a view, and wait until an architecture is shown."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        motion = {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [motion]})
        named = f"b={quote(self.benchmark)}&{view}" if self.benchmark and not view.startswith("b=") else view
        self.browser.get(f"{self.address}?{next(self._visits)}#{named}")  # a new query: a new page
        self.find("html[data-shown] #architecture[data-ready]")
        self.find("#plot[data-chosen]")
        self.paint()

    def paint(self) -> None:
        """Wait until what was changed so far is on the screen."""
        self.browser.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => setTimeout(done))")

    def find(self, selector: str) -> Any:
        """The first element that matches, as soon as there is one."""
        return self.browser.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return list(self.browser.find_elements("css selector", selector))

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        """Type keys where the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    def wait_for(self, text: str) -> None:
        """Wait until an architecture and its edits are shown."""
        self.find(f"#architecture[data-ready='{text}']")
        self.paint()

    @property
    def text(self) -> str:
        """The architecture that is shown."""
        return str(self.find("#architecture").get_attribute("data-ready"))

    @property
    def value(self) -> str:
        """Its objective, as it is written."""
        return str(self.find("#value").text)

    def chosen(self) -> int:
        """How many points are in the filters and the brush."""
        return int(self.find("#plot").get_attribute("data-chosen"))
