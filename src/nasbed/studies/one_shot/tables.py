"""One-shot searches over their epochs, in words and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from nasbed.core.json_values import plain
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING, fixed, listed, seconds
from nasbed.studies.one_shot.failure import LEAST_EPOCHS, LOSS, WINDOW
from nasbed.studies.one_shot.study import OneShotStudy, WatchedMethod, WatchedSearch

RULE = (
    f"A search goes wrong if three things hold for its last {WINDOW} epochs and its best {WINDOW} consecutive epochs "
    "before. Every late prediction is worse than every earlier one. The means differ by at least "
    f"{LOSS:g} standard deviations of random architectures. The supernet\u2019s mean accuracy rises. The rule needs at "
    f"least {2 * WINDOW} epochs. A single search may meet it by luck, more easily if its architectures stay for long. "
    f"A search ends worse than random if its final prediction is at least {LOSS:g} of these standard deviations behind "
    "the mean of random architectures."
)
NOTE = (
    "Means over seeds ± their standard deviation (n − 1). In brackets: how many seeds a rule would have stopped. Seeds "
    "that it would not have stopped count with their final value. Rank correlation: Spearman\u2019s between the "
    "supernet\u2019s accuracy and the prediction, over the epochs of a search. It is "
    f"{MISSING} if one of them never changes, or with fewer than {LEAST_EPOCHS} epochs. Epochs of one search are not "
    "independent samples."
)


def method_table(study: OneShotStudy) -> NumberTable:
    """A row per method, and two for random architectures."""
    unit = f" [{study.metric.unit}]" if study.metric.unit else ""
    columns = (
        "method",
        "seeds",
        f"final{unit}",
        f"best on the way{unit}",
        *(f"stopped by {rule}{unit}" for rule in study.rules),
        f"skips: {', '.join(study.kinds)}",
        "supernet [%]",
        "rank correlation",
    )
    rows = [_method_row(study, method) for method in study.methods]
    blank = ("",) * (len(columns) - 3)
    count = study.reference.count
    rows.append((f"random, mean of {count}", "", _with_std(study.reference.mean, study.reference.std), *blank))
    rows.append((f"random, best of {count}", "", fixed(study.reference.best, 2), *blank))
    return NumberTable(columns, tuple(rows), asides=frozenset({len(rows) - 2, len(rows) - 1}), note=NOTE)


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
        f"best{unit}, at",
        *(f"stopped by {rule}" for rule in study.rules),
        f"skips: {', '.join(study.kinds)}",
        "supernet [%]",
        "rank correlation",
        "goes wrong",
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
                    best,
                    *(_stop(search, rule) for rule in study.rules),
                    ", ".join(str(int(column[end])) for column in search.skips.values()),
                    fixed(float(search.supernet[end]), 1),
                    fixed(search.correlation, 2),
                    _wrong(study, search),
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


def _wrong(study: OneShotStudy, search: WatchedSearch) -> str:
    if search.failure is not None:
        return f"from {search.failure.epoch}, by {search.failure.lost:.2f}"
    words = "no" if search.long_enough else "too short"
    return f"{words}, ends worse than random" if study.worse_than_random(search) else words


def outcome(study: OneShotStudy) -> list[str]:
    """The result in words: a paragraph about the random architectures, then one per method."""
    unit = f" {study.metric.unit}" if study.metric.unit else ""
    of = f" on {study.dataset}" if study.dataset else ""
    quantity = "the mean measured" if study.measured else "the mean predicted"
    begin = (
        f"{study.benchmark} gives {quantity} {study.metric.key.replace('_', ' ')}{of}. Of {study.reference.count} "
        f"{study.reference.description} the mean is {study.reference.mean:.2f}{unit}, the standard deviation "
        f"{study.reference.std:.2f} and the best {study.reference.best:.2f}{unit}."
    )
    other_datasets = sorted({method.dataset for method in study.methods} - {study.dataset})
    if study.dataset and other_datasets:
        begin += f" The searches ran on {listed(other_datasets)}, where the order of architectures may differ."
    return [begin, *(_method_words(study, method) for method in study.methods)]


def _method_words(study: OneShotStudy, method: WatchedMethod) -> str:
    unit = f" {study.metric.unit}" if study.metric.unit else ""
    finals = [search.final for search in method.searches if math.isfinite(search.final)]
    count = len(method.searches)
    parts = []
    if finals:
        mean = float(np.mean(finals))
        seeds = f"the mean of {len(finals)} seeds" if len(finals) > 1 else f"seed {method.searches[0].seed} alone"
        best = np.mean([search.prediction[search.best] for search in method.searches if search.best is not None])
        parts.append(
            f"{method.name} ends at {mean:.2f}{unit} ({seeds}), "
            f"{_comparison_text(study, mean, study.reference.mean)} the "
            f"mean of random architectures and {_comparison_text(study, mean, float(best))} the best on the way."
        )
    else:
        parts.append(f"{method.name} ends without an architecture.")
    parts.append(failure_words(study, method))
    for rule in study.rules:
        stopped = [
            search for search in method.searches if search.stops.get(rule) is not None and math.isfinite(search.final)
        ]
        if stopped:
            change = float(np.mean([search.at_stop(rule) - search.final for search in stopped]))
            parts.append(
                f"Stopped by {rule}, {len(stopped)} of {count} would have ended early, {_change(study, change)}."
            )
    parts += [
        f"Seed {search.seed} diverged after epoch {search.epochs[-1]}: {search.reason}."
        for search in method.searches
        if search.status == "diverged"
    ]
    return " ".join(parts)


def failure_words(study: OneShotStudy, method: WatchedMethod) -> str:
    """Whether and how a method goes wrong by the rule; where it does not, whether it ends worse than random."""
    failed = [(search, search.failure) for search in method.searches if search.failure is not None]
    long_enough = [search for search in method.searches if search.long_enough]
    if not long_enough:
        return f"The rule for going wrong needs at least {2 * WINDOW} epochs."
    behind = [search for search in long_enough if search.failure is None and study.worse_than_random(search)]
    if not failed and not behind:
        return "No search goes wrong." if len(long_enough) > 1 else "It does not go wrong."
    if not failed:
        if len(long_enough) == 1:
            return f"By the rule it does not decline, but it {_behind_words(study, behind)}."
        return (
            f"By the rule no search declines, but {len(behind)} of {len(long_enough)} {_behind_words(study, behind)}."
        )
    lost = float(np.mean([wrong.lost for _, wrong in failed]))
    gained = float(np.mean([wrong.gained for _, wrong in failed]))
    places = sorted({wrong.epoch for _, wrong in failed})
    several = len(failed) > 1
    worse = "falls" if study.metric.direction == "maximize" else "rises"
    return (
        f"{len(failed)} of {len(long_enough)} go{'' if several else 'es'} wrong (seed{'s' if several else ''} "
        f"{listed([str(search.seed) for search, _ in failed])}): from epoch {' or '.join(map(str, places))} on the "
        f"prediction {worse} by {lost:.2f}{_points(study)}{' in the mean' if several else ''} while the "
        f"supernet\u2019s accuracy rises by {gained:.1f} points."
        + (f" Of the others, {len(behind)} {_behind_words(study, behind)}." if behind else "")
    )


def _behind_words(study: OneShotStudy, behind: Sequence[WatchedSearch]) -> str:
    """The predicate of a sentence: by how much searches end worse than random architectures, and their seeds."""
    several = len(behind) > 1
    points = float(np.mean([study.behind_random(search) for search in behind]))
    return (
        f"end{'' if several else 's'} {points:.2f}{_points(study)}"
        f"{' in the mean' if several else ''} worse than the mean of {study.reference.description} "
        f"(seed{'s' if several else ''} {listed([str(search.seed) for search in behind])})"
    )


def _comparison_text(study: OneShotStudy, value: float, reference: float) -> str:
    difference = value - reference
    if abs(difference) < 0.005:
        return "level with"
    return f"{abs(difference):.2f}{_points(study)} {'above' if difference > 0 else 'below'}"


def _change(study: OneShotStudy, change: float) -> str:
    return (
        "with the same prediction"
        if abs(change) < 0.005
        else f"which changes the prediction by {change:+.2f}{_points(study)}"
    )


def _points(study: OneShotStudy) -> str:
    return " points" if study.metric.unit == "%" else f" {study.metric.unit}" if study.metric.unit else ""


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
            "random": {
                "architectures": study.reference.count,
                "mean": study.reference.mean,
                "std": study.reference.std,
                "best": study.reference.best,
            },
            "outcome": outcome(study),
            "methods": [
                {
                    "name": method.name,
                    "dataset": method.dataset,
                    "failed": len(method.failed),
                    "searches": [_search_numbers(study, search) for search in method.searches],
                }
                for method in study.methods
            ],
            "left_out": study.left_out,
        }
    )
    return numbers


def _search_numbers(study: OneShotStudy, search: WatchedSearch) -> dict[str, Any]:
    wrong = search.failure
    return {
        "seed": search.seed,
        "status": search.status,
        "reason": search.reason,
        "final": search.final,
        "final_epoch": None if search.end is None else search.epochs[search.end],
        "best": None if search.best is None else search.prediction[search.best],
        "best_epoch": None if search.best is None else search.epochs[search.best],
        "stops": {
            rule: stop and {"after": stop.after, "taken": stop.architecture_epoch, "prediction": stop.prediction}
            for rule, stop in search.stops.items()
        },
        "rank_correlation": search.correlation,
        "goes_wrong": wrong and {"epoch": wrong.epoch, "lost": wrong.lost, "gained": wrong.gained},
        "behind_random": study.behind_random(search),
        "worse_than_random": study.worse_than_random(search),
        "epochs": search.epochs,
        "search_time_s": search.time_s,
        "prediction": search.prediction,
        "supernet_accuracy": search.supernet,
        "skips": search.skips,
    }
