"""One-shot searches over their epochs, in tables and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from nasbed.core.json_values import plain
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING, fixed, seconds
from nasbed.studies.one_shot.failure import LEAST_EPOCHS
from nasbed.studies.one_shot.study import OneShotStudy, RandomReference, WatchedMethod, WatchedSearch
from nasbed.studies.one_shot.words import RULE, is_behind, judge_lines, outcome

NOTE = (
    "Means over seeds ± their standard deviation (n − 1). In brackets: how many seeds a rule would have stopped. Seeds "
    "that it would not have stopped count with their final value. Rank correlation: Spearman\u2019s between the "
    "supernet\u2019s accuracy and the prediction, over the epochs of a search. It is "
    f"{MISSING} if one of them never changes, or with fewer than {LEAST_EPOCHS} epochs. Epochs of one search are not "
    "independent samples."
)


SEEN = (
    " Data seen: the final prediction of the benchmark itself, which was fitted on what the method evaluated. All "
    "other predictions are by a surrogate that was fitted without it, also those for random architectures that a "
    "method is compared with."
)


def method_table(study: OneShotStudy) -> NumberTable:
    """A row per method, and two for random architectures."""
    unit = f" [{study.metric.unit}]" if study.metric.unit else ""
    seen = study.has_other_judges
    columns = (
        "method",
        "seeds",
        f"final{unit}",
        *([f"final, data seen{unit}"] if seen else []),
        f"best on the way{unit}",
        *(f"stopped by {rule}{unit}" for rule in study.rules),
        f"skips: {', '.join(study.kinds)}",
        "supernet [%]",
        "rank correlation",
    )
    rows = [_method_row(study, method) for method in study.methods]
    references = [method.reference for method in study.methods]
    count = study.reference.count
    std = float(np.mean([reference.std for reference in references]))
    mean_cells = (
        f"{_range([reference.mean for reference in references])} ± {fixed(std, 2)}",
        _with_std(study.reference.mean, study.reference.std),
    )
    best_cells = _range([reference.best for reference in references]), fixed(study.reference.best, 2)
    blank = ("",) * (len(columns) - 3 - seen)
    rows.append((f"random, mean of {count}", "", *mean_cells[: 1 + seen], *blank))
    rows.append((f"random, best of {count}", "", *best_cells[: 1 + seen], *blank))
    note = NOTE + (SEEN if seen else "")
    return NumberTable(columns, tuple(rows), asides=frozenset({len(rows) - 2, len(rows) - 1}), note=note)


def _range(values: Sequence[float]) -> str:
    """What all judges say, or the least and the most."""
    least, most = fixed(min(values), 2), fixed(max(values), 2)
    return least if least == most else f"{least} to {most}"


def _method_row(study: OneShotStudy, method: WatchedMethod) -> tuple[str, ...]:
    searches = method.searches
    diverged = sum(search.status == "diverged" for search in searches)
    finished = [search for search in searches if search.end is not None]
    skips = [_mean([float(search.skips[kind][search.end]) for search in finished]) for kind in study.kinds]
    correlations = [search.correlation for search in searches if math.isfinite(search.correlation)]
    return (
        method.name,
        f"{len(searches)}, {diverged} diverged" if diverged else str(len(searches)),
        _spread([search.final for search in searches]),
        *([_spread([search.benchmark_final for search in searches])] if study.has_other_judges else []),
        _spread([search.prediction[search.best] for search in searches if search.best is not None]),
        *(_stop_text(searches, rule) for rule in study.rules),
        ", ".join(skips),
        _spread([float(search.supernet[search.end]) for search in finished], 1),
        _spread(correlations)
        + (f" ({len(correlations)} of {len(searches)})" if 0 < len(correlations) < len(searches) else ""),
    )


def _stop_text(searches: Sequence[WatchedSearch], rule: str) -> str:
    measured = [search for search in searches if rule in search.stops]
    if not measured:
        return "not measured"
    count = sum(search.stops[rule] is not None for search in measured)
    return f"{_spread([search.at_stop(rule) for search in measured])} ({count} of {len(measured)})"


def search_table(study: OneShotStudy) -> NumberTable:
    """A row per search."""
    unit = f" [{study.metric.unit}]" if study.metric.unit else ""
    columns = (
        "method",
        "seed",
        "epochs",
        "time",
        f"final{unit}",
        *([f"final, data seen{unit}"] if study.has_other_judges else []),
        f"best{unit}, at",
        *(f"stopped by {rule}" for rule in study.rules),
        f"skips: {', '.join(study.kinds)}",
        "supernet [%]",
        "rank correlation",
        "declines",
    )
    rows = []
    for method in study.methods:
        for search in method.searches:
            best = MISSING
            if search.best is not None:
                best = f"{fixed(float(search.prediction[search.best]), 2)}, {search.epochs[search.best]}"
            end = -1 if search.end is None else search.end
            rows.append(
                (
                    method.name,
                    str(search.seed),
                    str(len(search.epochs)) + (f", {search.status}" if search.status != "ok" else ""),
                    seconds(float(search.time_s[-1])),
                    fixed(search.final, 2),
                    *([fixed(search.benchmark_final, 2)] if study.has_other_judges else []),
                    best,
                    *(_stop(search, rule) for rule in study.rules),
                    ", ".join(str(int(column[end])) for column in search.skips.values()),
                    fixed(float(search.supernet[end]), 1),
                    fixed(search.correlation, 2),
                    _declines(search),
                )
            )
    note = (
        "Stopped: the prediction, the epoch that the architecture is of, and, where it is a later one, the epoch after "
        "which the rule stops."
    )
    return NumberTable(columns, tuple(rows), numbers=1, note=note)


def _stop(search: WatchedSearch, rule: str) -> str:
    if rule not in search.stops:
        return "not measured"
    stop = search.stops[rule]
    if stop is None:
        return "never"
    epoch = stop.architecture_epoch
    epochs = f"{epoch}" if epoch == stop.after else f"{epoch}, after {stop.after}"
    return f"{fixed(stop.prediction, 2)}, {epochs}"


def _declines(search: WatchedSearch) -> str:
    words = "no" if search.long_enough else "too short"
    if search.failure is not None:
        words = f"from {search.failure.epoch}, by {search.failure.lost:.2f}"
    if search.worse_than_random:
        return f"{words}; ends worse than random"
    return f"{words}; ends slightly worse than random" if is_behind(search) else words


def _spread(values: Iterable[float], places: int = 2) -> str:
    finite = np.array([value for value in values if math.isfinite(value)], dtype=np.float64)
    if not len(finite):
        return MISSING
    return _with_std(float(finite.mean()), float(finite.std(ddof=1)) if len(finite) > 1 else math.nan, places)


def _mean(values: Sequence[float]) -> str:
    return fixed(float(np.mean(values)), 1) if values else MISSING


def _with_std(mean: float, std: float, places: int = 2) -> str:
    return f"{fixed(mean, places)} ± {fixed(std, places)}" if math.isfinite(std) else fixed(mean, places)


def one_shot_numbers(study: OneShotStudy) -> dict[str, Any]:
    """Every number of the page."""
    numbers: dict[str, Any] = plain(
        {
            "benchmark": study.benchmark,
            "space": study.space,
            "dataset": study.dataset,
            "metric": study.metric.key,
            "unit": study.metric.unit,
            "rules": study.rules,
            "goes_wrong": RULE,
            "random": _reference_numbers(study.reference),
            "judges": judge_lines(study),
            "outcome": outcome(study),
            "methods": [
                {
                    "name": method.name,
                    "dataset": method.dataset,
                    "judge": {
                        "fitted_on_rows": method.judge.rows,
                        "rows_left_out": method.judge.left_out,
                        "may_have_seen_the_data": method.judge.caution or None,
                        "random": _reference_numbers(method.reference),
                    },
                    "failed": len(method.failed),
                    "searches": [_search_numbers(search) for search in method.searches],
                }
                for method in study.methods
            ],
            "left_out": study.left_out,
        }
    )
    return numbers


def _reference_numbers(reference: RandomReference) -> dict[str, Any]:
    return {"architectures": reference.count, "mean": reference.mean, "std": reference.std, "best": reference.best}


def _search_numbers(search: WatchedSearch) -> dict[str, Any]:
    wrong = search.failure
    return {
        "seed": search.seed,
        "status": search.status,
        "reason": search.reason,
        "final": search.final,
        "final_data_seen": search.benchmark_final,
        "final_epoch": None if search.end is None else search.epochs[search.end],
        "best": None if search.best is None else search.prediction[search.best],
        "best_epoch": None if search.best is None else search.epochs[search.best],
        "stops": {
            rule: stop and {"after": stop.after, "taken": stop.architecture_epoch, "prediction": stop.prediction}
            for rule, stop in search.stops.items()
        },
        "rank_correlation": search.correlation,
        "goes_wrong": wrong and {"epoch": wrong.epoch, "lost": wrong.lost, "gained": wrong.gained},
        "behind_random": search.behind_random,
        "worse_than_random": search.worse_than_random,
        "epochs": search.epochs,
        "search_time_s": search.time_s,
        "prediction": search.prediction,
        "prediction_data_seen": search.benchmark_prediction,
        "supernet_accuracy": search.supernet,
        "skips": search.skips,
    }
