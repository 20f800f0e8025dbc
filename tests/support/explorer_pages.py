"""The explorer served in this process, and its page in a browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest


@contextmanager
def serving_explorer(benchmark: str, runs: Sequence[Path] = ()) -> Iterator[str]:
    """The address of an explorer of a benchmark; skipped without what a server needs."""
    uvicorn = pytest.importorskip("uvicorn", reason="needs uvicorn: pip install 'nasbed[explorer]'")
    pytest.importorskip("starlette", reason="needs starlette: pip install 'nasbed[explorer]'")
    from nasbed.explorer.answers import Answers
    from nasbed.explorer.catalogue import Catalogue
    from nasbed.explorer.searches import Searches
    from nasbed.explorer.server import explorer_app
    from nasbed.explorer.serving import listen

    place, catalogue = listen(), Catalogue(benchmark)
    app = explorer_app(Answers(catalogue, Searches(catalogue, runs)), names=place.names, token=place.token)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place.socket]}, daemon=True)
    thread.start()
    try:
        yield place.address
    finally:
        server.should_exit = True
        thread.join()
        place.socket.close()


class Page:
    """The explorer's page as a reader has it. ``benchmark``: what views show that name none."""

    def __init__(self, browser: Any, address: str, *, benchmark: str = "") -> None:
        self.browser = browser
        self.address = address
        self.benchmark = benchmark

    def open(self, view: str = "", *, width: int = 1280, height: int = 900, reduced_motion: bool = True) -> None:
        """Open a view, and wait until an architecture is shown."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        motion = {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [motion]})
        self.browser.get("about:blank")
        named = f"b={quote(self.benchmark)}&{view}" if self.benchmark and not view.startswith("b=") else view
        self.browser.get(f"{self.address}#{named}")
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
