"""The rank correlation and the error of predictions by the depth of cells (appendix E.7, figure 17)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.spaces.base import Codes
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.evaluations.cell_depths import cell_depths
from nasbed.studies.validation.scoring import score
from nasbed.surrogates.base import Floats

FEWEST = 10
"""The least number of evaluations of one depth for a correlation."""


@dataclass(frozen=True, slots=True)
class Topology:
    """Figures within each depth, by model; NaN where there are too few evaluations.

    ``sparse_kendall`` is the rank correlation, ``mae`` the mean absolute error, and ``bias`` the mean of prediction
    minus evaluation.
    """

    depths: tuple[int, ...]
    counts: tuple[int, ...]
    sparse_kendall: dict[str, tuple[float, ...]]
    mae: dict[str, tuple[float, ...]]
    bias: dict[str, tuple[float, ...]]


def topology(data: ValidationData, codes: Codes, truth: Floats, predicted: Mapping[str, Floats]) -> Topology:
    """Group evaluations by cell depth; raises where all have the same, or the space has no graphs."""
    depth = cell_depths(data.space, codes)
    depths, counts = np.unique(depth, return_counts=True)
    if len(depths) < 2:
        raise InvalidOption(f"the architectures of {data.name} all have the depth {depths[0] if len(depths) else '-'}")
    correlations, errors, biases = {}, {}, {}
    for label, mean in predicted.items():
        figures = [_figures(truth[depth == level], mean[depth == level], data.metric) for level in depths]
        correlations[label], errors[label], biases[label] = zip(*figures, strict=True)
    return Topology(tuple(depths.tolist()), tuple(counts.tolist()), correlations, errors, biases)


def _figures(truth: Floats, predicted: Floats, metric: Metric) -> tuple[float, float, float]:
    """Sparse Kendall, mean absolute error and bias of the evaluations of one depth."""
    if len(truth) < FEWEST:
        return float("nan"), float("nan"), float("nan")
    scores = score(truth, predicted, metric)
    return scores.sparse_kendall, scores.mae, float((predicted - truth).mean())
