"""The bootstrap of the headline measures over architectures, of all proxies on the same resamples.

The numbers equal those of :func:`nasbed.evaluation.ranking.paired_bootstrap`, which computes one pair at a time. Here a
resample is ranked once by the truth and once by each column of scores. All measures follow from these ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption, shorten
from nasbed.evaluation.proxies.measures import HEADLINES, Yardstick
from nasbed.evaluation.ranking import spearman, top_count
from nasbed.evaluation.ranking.columns import Floats, Integers

Blocks = NDArray[np.uint16] | NDArray[np.uint32]


def resampled_headlines(
    truth: Floats, columns: Sequence[Floats], yardstick: Yardstick, rng: np.random.Generator, *, resamples: int
) -> Floats:
    """The headline measures of each column of scores on each resample, [headlines, columns, resamples].

    Copies of an architecture stay in one order in all rankings, and other equal ones in the random order of the draw.

    Args:
        truth: The true values.
        columns: The scores, one column for each proxy and seed.
        yardstick: How the scores are measured.
        rng: Draws the resamples.
        resamples: The number of resamples.
    """
    if resamples < 1:
        raise InvalidOption(f"an interval takes 1 resample or more, got {shorten(resamples)}")
    items = len(truth)
    by_truth, by_score = _blocks(truth), [_blocks(column) for column in columns]
    overlap = _Overlap(yardstick.p, items) if "rbo" not in yardstick.missing else None
    top = top_count(items, yardstick.top_percent) if "top_spearman" not in yardstick.missing else 0
    values = np.full((len(HEADLINES), len(columns), resamples), np.nan)
    for number in range(resamples):
        sample = rng.integers(items, size=items)
        true = by_truth[sample]
        ranks, centred = _ranks(true), _centre_ranks(true)
        best = np.flatnonzero(ranks <= top)
        for place, blocks in enumerate(by_score):
            scored = blocks[sample]
            values[0, place, number] = _correlation(centred, _centre_ranks(scored))
            if top:
                values[1, place, number] = spearman(true[best], scored[best])
            if overlap is not None:
                values[2, place, number] = overlap(ranks, _ranks(scored))
    return values


class _Overlap:
    """Normalised rank-biased overlap from ranks. An item that both rankings hold from depth r on adds the weights of
    r and all deeper depths."""

    def __init__(self, p: float, items: int) -> None:
        weights = np.exp(np.arange(items) * np.log(p))
        self.from_depth = np.concatenate([[0.0], np.cumsum(weights[::-1])[::-1]])
        self.most = float(self.from_depth.sum())

    def __call__(self, ranks: Integers, other_ranks: Integers) -> float:
        return float(self.from_depth[np.maximum(ranks, other_ranks)].sum()) / self.most


def _blocks(values: Floats) -> Blocks:
    """The number of each value among the different ones, the lowest first; small integers are sorted in linear time."""
    numbers = np.unique(values, return_inverse=True)[1]
    return numbers.astype(np.uint16) if len(values) <= 1 << 16 else numbers.astype(np.uint32)


def _ranks(blocks: Blocks) -> Integers:
    """1 for the highest, equal ones as they come."""
    ranks = np.empty(len(blocks), dtype=np.int64)
    ranks[np.argsort(blocks.max() - blocks, kind="stable")] = np.arange(1, len(blocks) + 1)
    return ranks


def _centre_ranks(blocks: Blocks) -> Floats:
    """Mean ranks of equal ones, less the mean of all ranks."""
    sizes = np.bincount(blocks)
    middles: Floats = np.cumsum(sizes) - (sizes + len(blocks)) / 2
    return middles[blocks]


def _correlation(x: Floats, y: Floats) -> float:
    spread = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float(np.clip((x * y).sum() / spread, -1.0, 1.0)) if spread else float("nan")
