"""A map of the architectures in the plane, by rank, method and depth (appendices C.4 to C.7, figures 11 to 13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from nasbed.core.errors import InvalidOption
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.evaluations.cell_depths import varied_depths
from nasbed.surrogates.base import Floats

MOST_POINTS = 2000
PERPLEXITY = 30.0


@dataclass(frozen=True, slots=True)
class Embedding:
    """t-SNE of one-hot encodings.

    ``rank`` is the rank of the mean among all architectures of the table, 0 the best and 1 the worst. ``by_method`` is
    true for the points that a method evaluated. ``depth`` has the depths of cells that differ in depth.
    """

    points: Floats  # [n, 2]
    by_method: dict[str, NDArray[np.bool_]]
    rank: Floats
    architectures: int
    depth: dict[str, NDArray[np.int64]]


def tsne(data: ValidationData, *, points: int = MOST_POINTS, seed: int = 0) -> Embedding:
    """A random sample of the architectures as points; near ones have much in common. The seed decides everything."""
    from sklearn.manifold import TSNE

    codes, mean = data.architectures()
    if len(codes) < 5:
        raise InvalidOption(f"a map needs at least 5 architectures, {data.name} has {len(codes)}")
    sign = -1.0 if data.metric.direction == "maximize" else 1.0
    rank = (rankdata(sign * mean) - 1) / max(len(mean) - 1, 1)
    sample = np.sort(np.random.default_rng(seed).permutation(len(codes))[: min(points, MOST_POINTS)])
    encoded = np.nan_to_num(data.space.encode(codes[sample], "onehot"))
    if not np.ptp(encoded, axis=0).any():
        raise InvalidOption(f"a map needs architectures that differ, those of {data.name} do not")
    perplexity = min(PERPLEXITY, (len(sample) - 1) / 3)
    model = TSNE(perplexity=perplexity, init="random", random_state=seed, n_jobs=1)
    numbers = np.unique(data.rows.architecture)[sample]
    visited = {name: np.isin(numbers, data.rows.architecture[data.rows.method == name]) for name in data.methods}
    points_in_plane = model.fit_transform(encoded).astype(np.float64)
    depth = varied_depths(data.space, codes[sample])
    return Embedding(points_in_plane, visited, rank[sample], len(codes), depth)
