"""The numbers of a landscape, for ``numbers.json``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from nasbed.core.json_values import plain
from nasbed.studies.landscape.study import LandscapeStudy

QUANTILES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)


def landscape_numbers(study: LandscapeStudy) -> dict[str, Any]:
    """All numbers of the report of a landscape."""
    numbers = {
        "table": study.name,
        "space": study.space,
        "architectures": study.architectures,
        "space_size": study.space_size,
        "metric": study.metric.key,
        "unit": study.metric.unit,
        "direction": study.metric.direction,
        "fidelity": study.fidelity,
        "best": {"architecture": study.best, "value": study.best_value},
        "quantiles": {
            metric.key: {str(level): distribution.quantile(level) for level in QUANTILES}
            for metric, distribution in study.distributions.items()
        },
        "noise": {
            "metric": study.noise_metric.key,
            "median_by_fidelity": {
                fidelity: distribution.quantile(0.5) for fidelity, distribution in study.noise.items()
            },
        },
        "validation_test_pearson": study.validation_test_correlation,
        "replacements": [
            {
                "where": replacement.where,
                "operations": replacement.operations,
                "counts": replacement.counts,
                "change": replacement.change,
                "change_standard_error": replacement.change_error,
                "relative_time": replacement.relative_time,
            }
            for replacement in study.replacements
        ],
        "shapes": {
            name: {
                "labels": shape.labels,
                "metric": asdict(shape.metric),
                "train_time_s": None if shape.time_s is None else asdict(shape.time_s),
            }
            for name, shape in study.shapes.items()
        },
        "walks": {
            name: {
                "correlations": walk.correlations,
                "standard_errors": walk.standard_errors,
                "noise_lag": walk.noise_lag,
                "walked": walk.reachable,
                "isolated": walk.isolated,
                "measured": walk.total,
            }
            for name, walk in study.walks.items()
        },
        "distance": {
            "fitness_distance_correlation": study.distance.correlation,
            "by_distance": asdict(study.distance.by_distance),
        },
        "fidelity_spearman": {"fidelities": study.fidelities, "correlations": study.fidelity_correlations},
    }
    if study.peak is not None:
        peak = study.peak
        numbers["volume"] = {
            "metric": peak.metric.key,
            "best": {"architecture": peak.best, "value": peak.best_value, "standard_error": peak.standard_error},
            "others_as_good": peak.others if peak.near_as_good is not None else None,
            "encodings_by_distance_to_the_best": peak.near_best.counts,
            "encodings_by_distance_to_all_as_good": None if peak.near_as_good is None else peak.near_as_good.counts,
        }
    if study.costs is not None:
        numbers["costs_spearman"] = {"columns": study.costs.names, "correlations": study.costs.correlations}
        numbers["pareto_front"] = {"columns": ("train_time_s", study.metric.key), "rows": study.costs.front}
        numbers["named"] = {"columns": ("train_time_s", study.metric.key), "rows": dict(study.costs.named)}
    json_values: dict[str, Any] = plain(numbers)
    return json_values
