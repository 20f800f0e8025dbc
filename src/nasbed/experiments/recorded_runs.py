"""Searches that were run for real to collect a table, as runs."""

from __future__ import annotations

import numpy as np

from nasbed.core.status import OK
from nasbed.experiments.runs import Run
from nasbed.results.rows import concatenate
from nasbed.results.searches import RecordedSearches
from nasbed.results.store import Results
from nasbed.surrogates.examples import validation_metric


def recorded_runs(results: Results) -> list[Run]:
    """The recorded searches of a table, each as the run that a benchmark would have given; none if it has none.

    The seed of a run is the number of its search. Evaluations stand in the order in which they ended; where they were
    not timed, in the order of the proposals.
    """
    searches = results.searches()
    if searches is None:
        return []
    rows = concatenate(list(results.batches()))
    keys = zip(map(tuple, rows.codes.tolist()), rows.fidelity.tolist(), rows.seed.tolist(), strict=True)
    row_of = {key: row for row, key in enumerate(keys)}
    objective = validation_metric(results)
    others = [metric for metric in results.about.metrics if metric != objective and metric.split != "test"]
    runs = []
    for method, number, search in searches.each():
        order = np.argsort(search.end_s, kind="stable")
        at = np.array([row_of[key] for key in _keys(search)], dtype=np.int64)[order]
        ok = rows.status[at] == OK
        runs.append(
            Run(
                method=method,
                seed=number,
                codes=rows.codes[at],
                fidelity=rows.fidelity[at],
                value=np.where(ok, rows.values[objective.key][at], np.nan),
                status=rows.status[at],
                start_s=search.start_s[order],
                end_s=search.end_s[order],
                others={metric.key: rows.values[metric.key][at] for metric in others},
            )
        )
    return runs


def _keys(search: RecordedSearches) -> list[tuple[tuple[int, ...], int, int]]:
    codes = map(tuple, search.codes.tolist())
    return list(zip(codes, search.fidelity.tolist(), search.seed.tolist(), strict=True))
