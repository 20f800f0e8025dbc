"""Figures that cost nothing, for tests that look at numbers and pages: to render them takes most of a report's time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import Any

import pytest

SVG = '<svg xmlns="http://www.w3.org/2000/svg" id="figure" width="1" height="1"></svg>'
PLACEHOLDERS: dict[str, Callable[..., Any]] = {
    "vegalite_to_svg": lambda *_, **__: SVG,
    "vegalite_to_png": lambda *_, **__: b"\x89PNG\r\n\x1a\n",
    "vegalite_to_pdf": lambda *_, **__: b"%PDF-",
    "javascript_bundle": lambda *_, **__: "window.vegaEmbed = async () => ({})",
}
"""What stands in for functions of ``vl_convert`` in tests without the marker ``figures``. Charts are still compiled."""


class Rendering:
    """Switches ``vl_convert`` between placeholders and real figures, and Altair between one check of a chart and many."""

    def __init__(self) -> None:
        self.is_real = True
        self.cache: pytest.Cache | None = None
        self._functions: dict[str, Callable[..., Any]] = {}

    def switch(self, *, real: bool) -> None:
        if real == self.is_real:
            return
        import vl_convert
        from altair.utils import schemapi

        schemapi.DEBUG_MODE = real  # whether each part of a chart is checked alone, or the chart once
        if not self._functions:
            self._functions = {name: getattr(vl_convert, name) for name in PLACEHOLDERS}
            self._functions["javascript_bundle"] = self._shared_bundle(vl_convert.javascript_bundle)
        for name, function in (self._functions if real else PLACEHOLDERS).items():
            setattr(vl_convert, name, function)
        if vega := sys.modules.get("nasbed.drawing.vega"):
            vega.runtime.cache_clear()
            vega.runtime_file().unlink(missing_ok=True)
        self.is_real = real

    def _shared_bundle(self, javascript_bundle: Callable[[str], str]) -> Callable[[str], str]:
        """The real bundle, two seconds of work, kept in pytest's cache for the other workers and the next run."""

        @cache
        def bundle(snippet: str) -> str:
            name = f"vega/{version('vl-convert-python')}"
            known: dict[str, str] = self.cache.get(name, {}) if self.cache else {}
            if snippet not in known:
                known |= {snippet: javascript_bundle(snippet)}
                if self.cache:
                    self.cache.set(name, known)
            return known[snippet]

        return bundle
