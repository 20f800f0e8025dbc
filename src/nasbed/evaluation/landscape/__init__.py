"""What a table says about its space as a whole: the statistics of NAS-Bench-101's section 3, for any space.

Pure functions on arrays. Missing values are NaN and take no part.
"""

from nasbed.core.former_names import former
from nasbed.evaluation.landscape.distribution import (
    Ecdf,
    GroupMeans,
    ecdf,
    mean_by,
    repeat_noise,
)
from nasbed.evaluation.landscape.locality import (
    Autocorrelation,
    neighbor_graph,
    random_walk_autocorrelation,
    space_walk_autocorrelation,
)
from nasbed.evaluation.landscape.optimum import FitnessDistance, edit_distances, fitness_distance_correlation
from nasbed.evaluation.landscape.relations import (
    BinnedMean,
    binned_mean,
    pareto_front,
    pearson,
    rank_correlations,
    spearman,
)
from nasbed.evaluation.landscape.replacement import Replacement, operation_replacement
from nasbed.evaluation.landscape.violin import ValueGroup, value_groups
from nasbed.evaluation.landscape.volume import Volume, volume_by_distance

__all__ = [
    "Autocorrelation",
    "BinnedMean",
    "Ecdf",
    "FitnessDistance",
    "GroupMeans",
    "Replacement",
    "ValueGroup",
    "Volume",
    "binned_mean",
    "ecdf",
    "edit_distances",
    "fitness_distance_correlation",
    "mean_by",
    "neighbor_graph",
    "operation_replacement",
    "pareto_front",
    "pearson",
    "random_walk_autocorrelation",
    "rank_correlations",
    "repeat_noise",
    "space_walk_autocorrelation",
    "spearman",
    "value_groups",
    "volume_by_distance",
]

__getattr__ = former(__name__, {"Binned": "nasbed.evaluation.landscape:BinnedMean"}, until="0.3")
