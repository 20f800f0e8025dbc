"""The pages of a fit and of a tuning: what they say is what was measured, and a browser can draw it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nasbed.core.execution import SerialEngine
from nasbed.experiments.tuning import tune
from nasbed.reports.fit.data import LEVELS, figure_rows, fit_data
from nasbed.reports.fit.page import write_fit_report
from nasbed.reports.tuning import write_tuning_report
from nasbed.surrogates.artefact import Artefact
from support.browsers import complaints, open_browser, show
from support.pages import check_page
from support.surrogates import evaluations, small_surrogate, write_evaluations

TEST = evaluations(150, 2, seed=9)


@pytest.fixture(scope="module")
def artefact(tmp_path_factory: pytest.TempPathFactory) -> Artefact:
    return small_surrogate(tmp_path_factory.mktemp("reported"))


def test_fit_data_counts_what_intervals_hold(artefact: Artefact) -> None:
    """Shares rise with the level, and the bins together are the whole."""
    data = fit_data(artefact, TEST)
    assert sorted(data.coverage) == list(data.coverage)
    assert len(data.coverage) == len(data.raw_coverage) == len(LEVELS)
    assert sum(bin.count for bin in data.bins) == len(TEST)
    mean = sum(bin.coverage * bin.count for bin in data.bins) / len(TEST)
    assert mean == pytest.approx(data.coverage[LEVELS.index(0.9)])
    assert np.array_equal(data.runtime_s, TEST.cost_s)
    of_one = fit_data(artefact, TEST, runtime_method="rs")
    assert len(of_one.runtime_s) == (TEST.method == "rs").sum()
    unknown = replace(TEST, cost_s=np.full(len(TEST), np.nan))
    assert len(fit_data(artefact, unknown).runtime_s) == 0


def test_figure_rows_say_what_is_beyond_bounds(artefact: Artefact) -> None:
    odd = replace(artefact.manifest, figures={"r2": 0.5, "raw_kl": None, "others_r2": 0.25})
    assert figure_rows(odd, {"time": 1.0}) == [
        ("R²", "0.5000"),
        ("… before calibration", "beyond all bounds"),
        ("other methods: R²", "0.2500"),
        ("time", "1 s"),
    ]


@pytest.mark.browser
def test_pages_are_drawn_by_a_browser(artefact: Artefact, tmp_path: Path) -> None:
    table = write_evaluations(tmp_path / "table", count=150)
    tuned = tune("rf", table, trials=4, out=tmp_path, settings={"features": "onehot"}, engine=SerialEngine())
    write_fit_report(tmp_path / "fit.html", artefact, TEST, command="nasbed fit <table>")
    write_tuning_report(tmp_path / "tuning.html", tuned, next_command="nasbed fit")
    with open_browser(tmp_path / "profile") as browser:
        for name, charts in (("fit", 5), ("tuning", 1 + 5)):
            page = tmp_path / f"{name}.html"
            check_page(page)
            show(browser, page)
            assert browser.find_elements("css selector", ".chart svg .role-mark path")
            assert len(browser.find_elements("css selector", ".chart svg")) == charts
            assert complaints(browser) == []
            assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert re.search(r"nasbed fit &lt;table&gt;", (tmp_path / "fit.html").read_text())
