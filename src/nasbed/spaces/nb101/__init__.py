"""NAS-Bench-101: cells of up to seven vertices, their hash, their classes, their costs."""

from nasbed.spaces.nb101.costs import NB101Skeleton
from nasbed.spaces.nb101.space import NB101

__all__ = ["NB101", "NB101Skeleton"]
