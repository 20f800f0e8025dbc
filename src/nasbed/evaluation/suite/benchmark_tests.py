"""Tests over benchmarks, and how firm an order of methods is. All values are losses: lower is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.ranks import ranks

Floats = NDArray[np.float64]
PRIOR_STRENGTH = 0.5
"""The weight of the prior's one pseudo-observation of no difference (Benavoli et al. 2017)."""


class SignedRankPosterior(NamedTuple):
    """The probabilities that the first method is better, that both are equivalent, and that the second is better."""

    better: float
    equivalent: float
    worse: float


def cliques(mean_ranks: Sequence[float] | Floats, difference: float) -> list[tuple[int, ...]]:
    """The largest groups of methods whose mean ranks lie less than a critical difference apart, the best first in each:
    the bars of a critical-difference diagram (Demšar 2006, figure 1). A method that differs from all others is in none.

    >>> cliques([1.0, 3.5, 2.0, 2.5], 1.1)
    [(0, 2), (2, 3), (3, 1)]
    """
    order = np.argsort(mean_ranks, kind="stable")
    ordered = np.asarray(mean_ranks, dtype=np.float64)[order]
    ends = [int(np.searchsorted(ordered, rank + difference, side="left")) for rank in ordered]
    groups = []
    furthest = 0
    for first, end in enumerate(ends):
        if end - first > 1 and end > furthest:
            groups.append(tuple(order[first:end].tolist()))
        furthest = max(furthest, end)
    return groups


def leave_one_out(losses: ArrayLike) -> Floats:
    """The mean ranks of methods without each benchmark: ``losses [methods, benchmarks]`` in, ``[benchmarks, methods]``
    out.

    >>> leave_one_out([[1.0, 1.0, 9.0], [2.0, 2.0, 1.0]]).tolist()
    [[1.5, 1.5], [1.5, 1.5], [1.0, 2.0]]
    """
    by_benchmark = ranks(losses)
    count = by_benchmark.shape[1]
    if by_benchmark.ndim != 2 or count < 2:
        raise InvalidOption(f"to leave one out takes losses [methods, 2 benchmarks or more], got {by_benchmark.shape}")
    rest: Floats = (by_benchmark.sum(axis=1, keepdims=True) - by_benchmark).T / (count - 1)
    return rest


def signed_rank_posterior(
    differences: ArrayLike, rng: np.random.Generator, *, rope: float = 0.0, samples: int = 10_000
) -> SignedRankPosterior:
    """The Bayesian signed-rank test of two methods over benchmarks (Benavoli et al. 2017, Time for a
    Change): a Dirichlet process with a prior at no difference.

    Args:
        differences: the first method's loss minus the second's on each benchmark.
        rng: draws from the posterior.
        rope: the region of practical equivalence: smaller differences count as none.
        samples: how many draws.

    >>> signed_rank_posterior([-1.0] * 20, np.random.default_rng(0), rope=0.1)
    SignedRankPosterior(better=1.0, equivalent=0.0, worse=0.0)
    """
    observed = np.asarray(differences, dtype=np.float64).ravel()
    observed = observed[~np.isnan(observed)]
    if not len(observed) or rope < 0 or samples < 1:
        raise InvalidOption(f"the test takes 1 difference or more, a rope from 0 on, got {len(observed)} and {rope}")
    values = np.concatenate([[0.0], observed])
    with np.errstate(invalid="ignore"):
        sums = values[:, None] + values[None, :]
    weights = rng.dirichlet([PRIOR_STRENGTH, *np.ones(len(observed))], size=samples)
    better, worse = (np.einsum("si,ij,sj->s", weights, part, weights) for part in (sums < -2 * rope, sums > 2 * rope))
    shares = np.stack([better, 1 - better - worse, worse])
    highest = shares >= shares.max(axis=0) - 1e-12
    chances = (highest / highest.sum(axis=0)).mean(axis=1)
    return SignedRankPosterior(*map(float, chances))
