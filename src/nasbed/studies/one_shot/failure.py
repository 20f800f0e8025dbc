"""The rule by which a one-shot search goes wrong: the prediction falls while the supernet's accuracy rises.

The rule compares a search with itself. One that never found anything does not decline either, so where it ends is
compared with random architectures beside it (:class:`~nasbed.studies.one_shot.study.WatchedSearch`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nasbed.evaluation.ranking.columns import Floats
from nasbed.evaluation.ranking.correlation import spearman

LEAST_EPOCHS = 3
"""The fewest epochs for a rank correlation."""
WINDOW = 5
"""Epochs per window: the best window is compared with the last one to decide whether a search goes wrong."""
LOSS = 0.5
"""The smallest loss that counts as going wrong, in standard deviations of random architectures."""


@dataclass(frozen=True, slots=True)
class Failure:
    """From ``epoch`` to the end the prediction gets worse by ``lost``, while the supernet's accuracy rises by
    ``gained``. Both are differences of means over windows."""

    epoch: int
    lost: float
    gained: float


def agreement(supernet: Floats, prediction: Floats) -> float:
    """Spearman's rank correlation over epochs; NaN for fewer than three, or if one of them never changes.

    >>> round(agreement(np.array([10.0, 20.0, 30.0]), np.array([3.0, 1.0, 2.0])), 6)
    -0.5
    """
    return spearman(supernet, prediction) if len(supernet) >= LEAST_EPOCHS else float("nan")


def failure(prediction: Floats, supernet: Floats, *, spread: float) -> Failure | None:
    """Where the prediction declines while the supernet improves; ``None`` where it does not, or cannot be said.

    Of the windows of ``WINDOW`` epochs that end before the last one begins, the one with the best mean is compared with
    the last. A search goes wrong if three things hold. Every prediction of the last window is worse than every one of
    the best. Their means differ by ``LOSS`` · ``spread`` or more. The mean accuracy of the supernet rises. Any sequence
    is worse in the end than at its best: 0.4 % of independent predictions meet these conditions in 10 epochs, 3 % in 50
    and 7 % in 100.

    >>> failure(np.repeat([62.0, 58.0], 5), np.repeat([30.0, 50.0], 5), spread=2.0)
    Failure(epoch=5, lost=4.0, gained=20.0)
    """
    finite = np.flatnonzero(np.isfinite(prediction))
    if len(finite) < 2 * WINDOW:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(prediction[finite], WINDOW)
    accuracies = np.lib.stride_tricks.sliding_window_view(supernet[finite], WINDOW).mean(axis=1)
    best = int(np.argmax(windows[:-WINDOW].mean(axis=1)))
    lost, gained = float(windows[best].mean() - windows[-1].mean()), float(accuracies[-1] - accuracies[best])
    if windows[-1].max() >= windows[best].min() or lost < LOSS * spread or gained <= 0:
        return None
    return Failure(int(finite[best + WINDOW - 1]) + 1, lost, gained)
