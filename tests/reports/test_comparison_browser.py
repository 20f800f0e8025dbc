"""The page of a comparison as a reader has it: opened from disk in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nasbed.reports.comparison.page import write_comparison
from support.browsers import complaints, open_browser, show
from support.runs import Formula, three_methods
from support.tables import TEST

CURVES = "[data-figure=figure-time] .mark-line.role-mark path"
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comparison")
    write_comparison(folder, three_methods(), Formula.with_parameters(TEST), rng=np.random.default_rng(0))
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with open_browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def colour(browser: Any, selector: str, name: str) -> list[int]:
    """A computed colour as red, green and blue."""
    script = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    text = browser.execute_script(script, selector, name)
    return [int(part) for part in text[text.index("(") + 1 : -1].split(",")[:3]]


def test_page_draws_every_figure_without_complaint(browser: Any, page: Path) -> None:
    show(browser, page)
    assert complaints(browser) == []
    charts = browser.find_elements("css selector", ".chart")
    assert len(charts) == 5 + 3
    for chart in charts:
        assert chart.find_elements("css selector", "svg .role-mark path"), chart.get_attribute("data-figure")
    assert len(browser.find_elements("css selector", CURVES)) == 3


def test_page_fetches_nothing(browser: Any, page: Path) -> None:
    show(browser, page)
    assert browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)") == []


def test_legend_hides_and_shows_a_method_in_all_figures(browser: Any, page: Path) -> None:
    show(browser, page)
    button = browser.find_element("css selector", ".legend button[data-method=re]")
    button.click()
    browser.find_element("css selector", "html[data-shown='2']")
    assert button.get_attribute("aria-pressed") == "false"
    for name in ("time", "evaluations", "ecdf", "ranks", "tradeoff"):
        curves = f"[data-figure=figure-{name}] .mark-line.role-mark path"
        assert len(browser.find_elements("css selector", curves)) == 2, name
    assert not browser.find_element("css selector", "[data-panel=re]").is_displayed()
    button.click()
    browser.find_element("css selector", "html[data-shown='3']")
    assert len(browser.find_elements("css selector", CURVES)) == 3
    assert browser.find_element("css selector", "[data-panel=re]").is_displayed()


def test_pointer_reads_values(browser: Any, page: Path) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    show(browser, page)
    chart = browser.find_element("css selector", "[data-figure=figure-time]")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    ActionChains(browser).move_to_element(chart).move_by_offset(5, 5).perform()
    tip = browser.find_element("css selector", ".tip:not([hidden])")
    assert "median" in tip.text and any(method in tip.text for method in ("rs", "re", "ls"))


@pytest.mark.parametrize("width", [320, 390, 768, 1200])
def test_page_never_scrolls_sideways(width: int, browser: Any, page: Path) -> None:
    show(browser, page, width=width)
    script = "return [document.documentElement.scrollWidth, document.body.scrollWidth, window.innerWidth]"
    across, body, window = browser.execute_script(script)
    assert window == width and max(across, body) <= window


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_page_follows_the_colour_scheme(scheme: str, dark: bool, browser: Any, page: Path) -> None:
    show(browser, page, scheme=scheme)
    paper = colour(browser, "html", "backgroundColor")
    assert (max(paper) < 60) if dark else (min(paper) > 240)
    for text in ("body", "dt"):
        assert abs(sum(colour(browser, text, "color")) - sum(paper)) > 300
    assert abs(sum(colour(browser, ".chart .role-axis-label text", "fill")) - sum(paper)) > 300
