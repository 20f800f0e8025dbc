"""``nasbed.suite``: the same runs as one comparison after the other, kept in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nasbed
from nasbed.benchmarks.suites import Suite, SuiteEntry
from nasbed.experiments.suites import SuiteRuns

NAMES = ("nb201-addnist-v1.0", "nb201-chesseract-v1.0")
TITLE = "Two <b>datasets</b>"


class Sampler(nasbed.Optimizer):
    """Random search, as a user writes it."""

    def ask(self, n: int = 1) -> list[nasbed.Proposal]:
        return [nasbed.Proposal(self.space.sample(self.rng)) for _ in range(n)]

    def tell(self, observations: object) -> None:
        pass


@pytest.fixture(scope="module")
def runs() -> SuiteRuns:
    two = Suite(TITLE, tuple(map(SuiteEntry, NAMES)), budget="20ev", seeds=2)
    return nasbed.suite(two, ["ls", Sampler], progress=False)


def test_suite_makes_the_runs_of_a_comparison_on_each_benchmark(runs: SuiteRuns) -> None:
    for name, part in zip(NAMES, runs.benchmarks, strict=True):
        alone = nasbed.compare(name, ["ls", Sampler], seeds=2, budget="20ev", progress=False)
        for one, other in zip(part.runs.runs, alone.runs, strict=True):
            assert (one.method, one.seed) == (other.method, other.seed)
            np.testing.assert_array_equal(one.value, other.value)


def test_suite_has_a_summary_a_page_and_a_card(runs: SuiteRuns, tmp_path: Path) -> None:
    assert set(runs.summary().standings()) == {"ls", "Sampler"}
    page = runs.write_report(str(tmp_path / "page"))
    assert {"report.html", "numbers.json", "table.csv", "table.tex"} <= {path.name for path in page.parent.iterdir()}
    card = runs._repr_html_()
    assert card is not None and NAMES[1] in card and "Sampler" in card
    assert "<b>datasets" not in card and "&lt;b&gt;datasets" in card


def test_suite_is_a_frame_with_the_benchmark_of_each_evaluation(runs: SuiteRuns) -> None:
    pytest.importorskip("pandas", reason="data frames need pandas")
    frame = runs.to_pandas()
    assert len(frame) == 2 * 2 * 2 * 20 and set(frame["benchmark"]) == {part.name for part in runs.benchmarks}
