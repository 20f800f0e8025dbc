"""Numbers on axes read as they are: no prefix that is a unit of something else, thousands apart."""

from __future__ import annotations

import re
from pathlib import Path

import altair as alt
import numpy as np
import pytest

import nasbed
from nasbed import Metric
from nasbed.drawing.anytime_figures import Axes, panel
from nasbed.drawing.figures import save_figures
from nasbed.drawing.marks import Chart, inline, log_ticks
from nasbed.drawing.palette import looks
from nasbed.evaluation.anytime import Anytime
from nasbed.reports.comparison.data import MethodCurve
from nasbed.reports.comparison.figures import curves_figure

ACCURACY = Metric("accuracy", split="test", unit="%")
PLAIN = re.compile(r"[−-]?\d{1,3}(,\d{3})*(\.\d+)?")
SOURCES = sorted(
    path for part in ("drawing", "reports", "studies") for path in (Path(nasbed.__file__).parent / part).rglob("*.py")
)


def labels(chart: Chart, folder: Path) -> list[str]:
    save_figures({"chart": chart}, folder, ["svg"])
    svg = (folder / "chart.svg").read_text()
    groups = re.findall(r'role-axis-label"[^>]*>(.*?)</g>', svg, flags=re.DOTALL)
    return [text for group in groups for text in re.findall(r">([^<]+)</text>", group)]


@pytest.mark.figures
@pytest.mark.parametrize(("first_s", "last_s"), [(0.004, 0.3), (0.01, 12.0), (50.0, 9e6), (1e5, 4e9)])
def test_times_are_plain_numbers(first_s: float, last_s: float, tmp_path: Path) -> None:
    times = np.geomspace(first_s, last_s, 30)
    regrets = np.geomspace(2000.0, 0.002, 30)
    curve = Anytime(times, regrets, regrets / 1.5, regrets * 1.5)
    compared = MethodCurve("rs", times, regrets / 1.5, regrets, regrets * 1.5)
    charts = [
        panel({"rs": curve}, Axes.over([curve], ACCURACY), width=360, height=250),
        curves_figure([compared], looks(["rs"]), x="simulated time [s]", y="regret", on_page=False),
    ]
    for chart in charts:
        texts = labels(chart, tmp_path)
        assert len(texts) >= 6
        for text in texts:
            assert PLAIN.fullmatch(text), text
            assert float(text.replace(",", "").replace("−", "-")) > 0


def test_log_ticks_lie_on_the_axis() -> None:
    for low, high in ((1, 1e6), (0.3, 0.9), (7, 8), (2e-5, 3e-2), (1, 1.01)):
        assert all(low <= tick <= high for tick in log_ticks(low, high))
    assert len(log_ticks(0.004, 0.3)) >= 4


@pytest.mark.figures
def test_prefixed_format_would_be_seen(tmp_path: Path) -> None:
    chart = alt.Chart(inline([{"x": 0.01}, {"x": 0.04}])).mark_point().encode(alt.X("x:Q").axis(format="~s"))
    assert any(text.endswith("m") for text in labels(chart, tmp_path))


def test_no_axis_has_a_format_with_prefixes() -> None:
    prefixed = [path.name for path in SOURCES if re.search(r"""format=["'][^"']*[sp]["']""", path.read_text())]
    assert prefixed == []
