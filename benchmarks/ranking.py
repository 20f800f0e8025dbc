"""Rank-biased overlap of a ranking as long as NAS-Bench-101, against its definition by sets.

Equation 3 of Zero-Cost Benchmarks intersects two sets at every depth: quadratic work. That is timed at 10 000 items and
extrapolated by the square; both give the same number there. Resampling and the choice of p are timed beside it.

Run: OMP_NUM_THREADS=1 python benchmarks/ranking.py (threads of a BLAS only slow the plain resamples down)
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from timing import best_seconds, report

ITEMS, FEW, P = 423_624, 10_000, 0.9999
TABLE, RESAMPLES = 15_625, 1000


def main() -> None:
    from nasbed.evaluation.ranking import (
        item_bootstrap,
        kendall,
        paired_bootstrap,
        persistence_for,
        rbo_normalised,
        spearman,
    )

    rng = np.random.default_rng(0)
    truth, noise, more = rng.normal(size=(3, ITEMS))
    scores, other_scores = truth + noise, truth + more
    short = truth[:FEW], scores[:FEW]
    assert abs(by_sets(*short) - rbo_normalised(*short, p=P)) < 1e-12, "the definition and the program differ"

    direct = best_seconds(lambda: by_sets(*short), repeats=2)
    baseline = direct * (ITEMS / FEW) ** 2
    report(f"RBO of {FEW:,} items by sets", direct)
    report(f"RBO of {FEW:,} items", best_seconds(lambda: rbo_normalised(*short, p=P)), direct)
    report(f"RBO of {ITEMS:,} items by sets, extrapolated", baseline)
    report(f"RBO of {ITEMS:,} items", best_seconds(lambda: rbo_normalised(truth, scores, p=P)), baseline)
    tied = np.round(truth, 3), np.round(scores, 1)
    for ties in ("average", "pessimistic", "index"):
        seconds = best_seconds(lambda: rbo_normalised(*tied, p=P, ties=ties))
        report(f"RBO of {ITEMS:,} items with ties, {ties}", seconds, baseline)

    solved = best_seconds(lambda: persistence_for(1_000_000, top_percent=100, weight=0.5), repeats=2)
    report("p for the top 100 % of 1,000,000 items", solved)

    table = truth[:TABLE], scores[:TABLE]
    plain = partial(spearman)  # which is not the function that the fast path knows
    draw = partial(item_bootstrap, *table)
    slow = best_seconds(lambda: draw(np.random.default_rng(1), measure=plain, resamples=RESAMPLES), repeats=1)
    fast = best_seconds(lambda: draw(np.random.default_rng(1), resamples=RESAMPLES), repeats=2)
    report(f"Spearman of {TABLE:,} items, {RESAMPLES:,} resamples, one by one", slow)
    report(f"Spearman of {TABLE:,} items, {RESAMPLES:,} resamples", fast, slow)
    paired_s = best_seconds(lambda: paired_bootstrap(*table, other_scores[:TABLE], np.random.default_rng(1)), repeats=2)
    report(f"Spearman of two scorings, paired, {RESAMPLES:,} resamples", paired_s, 2 * slow)
    for name, measure in (("Kendall", kendall), ("RBO", partial(rbo_normalised, p=P, ties="index"))):
        seconds = best_seconds(lambda: draw(np.random.default_rng(1), measure=measure), repeats=1)
        report(f"{name} of {TABLE:,} items, {RESAMPLES:,} resamples", seconds)


def by_sets(truth: NDArray[np.float64], scores: NDArray[np.float64]) -> float:
    """Equation 5, word for word."""
    true_order, score_order = np.argsort(-truth).tolist(), np.argsort(-scores).tolist()
    overlap = norm = 0.0
    for depth in range(1, len(true_order) + 1):
        weight = P ** (depth - 1)
        overlap += weight * len(set(true_order[:depth]) & set(score_order[:depth]))
        norm += weight * depth
    return overlap / norm


if __name__ == "__main__":
    main()
