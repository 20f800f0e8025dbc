"""DARTS: a normal and a reduction cell."""

from nasbed.spaces.darts.costs import DartsSkeleton
from nasbed.spaces.darts.genotype import Genotype
from nasbed.spaces.darts.space import Darts

__all__ = ["Darts", "DartsSkeleton", "Genotype"]
