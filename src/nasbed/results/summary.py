"""Counts and ranges of a results table."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from nasbed.core.metric import Metric
from nasbed.core.status import STATUSES
from nasbed.results.cache import Cache
from nasbed.results.rows import UNKNOWN
from nasbed.results.store import Results


def summarize(results: Results) -> dict[str, Any]:
    """The summary of a table as JSON values, computed in one pass over its rows."""
    columns = {key: _Column() for key in [*(metric.key for metric in results.about.metrics), "train_time_s"]}
    methods: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    fidelities: Counter[int] = Counter()
    seeds: set[int] = set()
    for rows in results.batches():
        for key, column in columns.items():
            column.add(rows.train_time_s if key == "train_time_s" else rows.values[key])
        methods.update(rows.method.tolist())
        statuses.update(STATUSES[status] for status in rows.status.tolist())
        fidelities.update(rows.fidelity.tolist())
        seeds |= set(np.unique(rows.seed).tolist())
    cache, curves, searches, info = results.cache(), results.curves(), results.searches(), results.about
    counts = cache.counts()
    return {
        "name": info.name,
        "space": info.space,
        "dataset": info.dataset,
        "recipe": info.recipe,
        "rows": results.manifest.rows,
        "architectures": results.manifest.architectures,
        "fidelity_unit": info.fidelity_unit,
        "fidelities": {_label(fidelity): fidelities[fidelity] for fidelity in sorted(fidelities)},
        "repeats": {"fewest": int(counts[counts > 0].min()), "most": int(counts.max())},
        "seeds": len(seeds - {UNKNOWN}),
        "methods": {method or "unknown": count for method, count in sorted(methods.items())},
        "learning_curves": 0 if curves is None else len(curves),
        "curve_epochs": [] if cache.curve_epochs is None else list(cache.curve_epochs.places),
        "searches": 0 if searches is None else len(searches.names),
        "statuses": {status: statuses[status] for status in STATUSES if statuses[status]},
        "columns": {key: column.summary() for key, column in columns.items()},
        "best": {metric.key: _best(metric, cache, results) for metric in info.metrics if metric.key in cache.values},
        "licence": info.licence,
        "citation": info.citation,
        "source": info.source,
        "notes": info.notes,
        "created": results.manifest.created,
        "nasbed_version": results.manifest.nasbed_version,
    }


class _Column:
    def __init__(self) -> None:
        self.low, self.high, self.missing = math.inf, -math.inf, 0

    def add(self, values: np.ndarray) -> None:
        present = values[~np.isnan(values)]
        self.missing += len(values) - len(present)
        if len(present):
            self.low, self.high = min(self.low, float(present.min())), max(self.high, float(present.max()))

    def summary(self) -> dict[str, Any]:
        return {"min": _plain(self.low), "max": _plain(self.high), "missing": self.missing}


def _best(metric: Metric, cache: Cache, results: Results) -> dict[str, Any] | None:
    """The best mean over the repeats that ended well, at any fidelity; one of the architectures where several share
    it."""
    best: tuple[float, int, int] | None = None
    for fidelity in cache.fidelities:
        means = cache.mean(metric.key, fidelity)
        if np.isnan(means).all():
            continue
        row = int(np.nanargmax(means) if metric.direction == "maximize" else np.nanargmin(means))
        if best is None or metric.better(float(means[row]), best[0]):
            best = float(means[row]), fidelity, row
    if best is None:
        return None
    value, fidelity, row = best
    arch = results.space.architectures(np.asarray(cache.codes[row : row + 1]))[0]
    entry = {
        "mean": _plain(value),
        "direction": metric.direction,
        "unit": metric.unit,
        "fidelity": _label(fidelity),
    }
    return entry | {"architecture": results.space.format(arch)}


def _plain(value: float) -> float | str | None:
    """A float as JSON knows it; nothing where no value was seen."""
    if math.isfinite(value):
        return value
    return None if value in (math.inf, -math.inf) else str(value)


def _label(fidelity: int) -> str:
    return "unknown" if fidelity == UNKNOWN else str(fidelity)
