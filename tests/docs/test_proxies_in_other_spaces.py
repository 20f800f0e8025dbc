"""docs/findings/proxies-in-other-spaces.md has the correlations of the scores that come with the package."""

from __future__ import annotations

import numpy as np

import nasbed
from nasbed.benchmarks import TabularBenchmark
from nasbed.evaluation.proxies import task_of
from nasbed.evaluation.ranking import spearman
from nasbed.proxies import PROXIES
from nasbed.proxies.table import open_scores
from support.documentation import page_text

PAGE = page_text("proxies-in-other-spaces")
TABLES = (
    "nb101-mini-cifar10-16-v1.0",
    "darts-cifar10-16-v2.0",
    "darts-language-v1.0",
    "darts-chesseract-v1.0",
    "fbnet-cifar10-16-v1.0",
)


def table_called(name: str) -> TabularBenchmark:
    table = nasbed.load(name)
    assert isinstance(table, TabularBenchmark)
    return table


def test_correlations_are_those_of_the_scores() -> None:
    """A network without a score is ranked last, as ``nasbed proxies evaluate`` does."""
    tasks = [task_of(open_scores(name), table_called(name)) for name in TABLES]
    assert [len(task) for task in tasks] == [2_532, 300, 1_076, 1_076, 200]
    always_positive, best_lowest = 0, 0.0
    for name in PROXIES.names():
        columns = [task.scores[name].mean(axis=1) for task in tasks]
        values = [
            spearman(task.truth, np.where(np.isnan(scores), -np.inf, scores))
            for task, scores in zip(tasks, columns, strict=True)
        ]
        row = f"| `{name}` | {' | '.join(f'{value:.2f}' for value in values)} |"
        assert row.replace("-", "−") in PAGE
        always_positive += min(values) > 0
        best_lowest = max(best_lowest, min(values))
    assert always_positive == 4 and best_lowest < 0.1, "the page's first sentence"
