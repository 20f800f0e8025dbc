"""Whether methods, proxies or anything else that is judged have the same order wherever they are judged."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import kendalltau

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.ranks import ranks

Floats = NDArray[np.float64]


def concordance(losses: ArrayLike) -> float:
    """Kendall's coefficient of concordance of ``losses [things, judges]``: 1 where all judges have one order, 0 where
    their orders have nothing in common. Equal losses share their mean rank. NaN where no judge tells things apart.

    >>> concordance([[1.0, 2.0, 0.1], [3.0, 4.0, 0.2], [5.0, 6.0, 0.3]])
    1.0
    """
    by_judge = ranks(losses)
    things, judges = by_judge.shape
    if things < 2 or judges < 2:
        raise InvalidOption(f"an order takes 2 things and 2 judges or more, got {things} and {judges}")
    sums = by_judge.sum(axis=1)
    spread = float(((sums - sums.mean()) ** 2).sum())
    counts = [np.unique(column, return_counts=True)[1] for column in by_judge.T]
    ties = sum(float((count**3 - count).sum()) for count in counts)
    most = judges**2 * (things**3 - things) - judges * ties
    return 12 * spread / most if most else float("nan")


def order_agreement(losses: ArrayLike) -> Floats:
    """Kendall's tau between the orders that every two judges give: ``losses [things, judges]`` in,
    ``[judges, judges]`` out. A judge that tells nothing apart has NaN.

    >>> order_agreement([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    columns = ranks(losses).T
    tau = np.diag([1.0 if np.ptp(column) else np.nan for column in columns])
    for i, j in combinations(range(len(columns)), 2):
        tau[i, j] = tau[j, i] = _tau(columns[i], columns[j])
    return tau


def agreement_over_seeds(losses: ArrayLike, rng: np.random.Generator, *, splits: int = 100) -> Floats:
    """How far a judge's order is its own: Kendall's tau between the orders of mean losses of two halves of the seeds,
    the mean over random halves. ``losses [things, judges, seeds]`` in, a number a judge out.

    The order of all seeds is steadier than that of half of them, so these numbers are a little low.
    """
    table = np.asarray(losses, dtype=np.float64)
    if table.ndim != 3 or table.shape[2] < 2:
        raise InvalidOption(f"halves of seeds take losses [things, judges, 2 seeds or more], got shape {table.shape}")
    half = table.shape[2] // 2
    taus = np.empty((splits, table.shape[1]))
    for split in range(splits):
        order = rng.permutation(table.shape[2])
        first, second = (ranks(table[..., part].mean(axis=2)) for part in (order[:half], order[half : 2 * half]))
        taus[split] = [_tau(first[:, judge], second[:, judge]) for judge in range(table.shape[1])]
    means: Floats = taus.mean(axis=0)
    return means


def _tau(first: Floats, second: Floats) -> float:
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(kendalltau(first, second).statistic)
