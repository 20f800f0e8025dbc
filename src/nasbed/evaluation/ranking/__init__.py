"""How well scores rank items, by more than one measure: as a whole, near the top, and in what a search would pick.

Every measure takes the true values and the scores of the same items, higher being better in both: negate what is to
be small. A NaN among them is an error. Measures for which equal items matter take a named rule for them.
"""

from nasbed.evaluation.ranking.bootstrap import Difference, item_bootstrap, paired_bootstrap
from nasbed.evaluation.ranking.correlation import kendall, sparse_kendall, spearman
from nasbed.evaluation.ranking.dependent_correlations import Williams, compare_spearman, williams
from nasbed.evaluation.ranking.overlap import (
    overlaps,
    rbo_counted,
    rbo_extrapolated,
    rbo_normalised,
    rbo_truncated,
)
from nasbed.evaluation.ranking.persistence import InnerSum, persistence_for, top_weight
from nasbed.evaluation.ranking.retrieval import best_rank_at, ndcg_at, precision_at, recall_at
from nasbed.evaluation.ranking.ties import Ties
from nasbed.evaluation.ranking.top import Boundary, Measure, in_top, top_count, within_top

__all__ = [
    "Boundary",
    "Difference",
    "InnerSum",
    "Measure",
    "Ties",
    "Williams",
    "best_rank_at",
    "compare_spearman",
    "in_top",
    "item_bootstrap",
    "kendall",
    "ndcg_at",
    "overlaps",
    "paired_bootstrap",
    "persistence_for",
    "precision_at",
    "rbo_counted",
    "rbo_extrapolated",
    "rbo_normalised",
    "rbo_truncated",
    "recall_at",
    "sparse_kendall",
    "spearman",
    "top_count",
    "top_weight",
    "williams",
    "within_top",
]
