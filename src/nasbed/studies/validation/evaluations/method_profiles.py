"""What each search method evaluated: how good, and how deep (appendices C.4 and C.5, figures 7 and 10)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.evaluation.landscape import Ecdf, ecdf
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.evaluations.cell_depths import varied_depths
from nasbed.studies.validation.leave_out import search_methods

POINTS = 150
"""The most steps of a distribution on the page and in ``numbers.json``."""


@dataclass(frozen=True, slots=True)
class MethodProfile:
    """The architectures that one method evaluated, each once by its mean over the method's own evaluations.

    ``depth_shares`` has, by cell, the share of them that has each depth of :class:`MethodProfiles`.
    """

    method: str
    distribution: Ecdf
    best: float
    depth_shares: dict[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class MethodProfiles:
    """The profiles, the method with the best median first, and the depths of cells that differ in depth."""

    profiles: tuple[MethodProfile, ...]
    depths: dict[str, tuple[int, ...]]

    def mean_depth(self, profile: MethodProfile, cell: str) -> float:
        """The mean depth of a cell among the architectures of a method."""
        return float(np.dot(self.depths[cell], profile.depth_shares[cell]))


def check_profiles(data: ValidationData) -> None:
    """Raise unless a table names a search method."""
    if not search_methods(data):
        raise InvalidOption(f"profiles of methods need at least 1, {data.name} names 0")


def method_profiles(data: ValidationData) -> MethodProfiles:
    """The profile of each search method of a table."""
    check_profiles(data)
    codes, _ = data.architectures()
    depth_of = varied_depths(data.space, codes)
    depths = {cell: np.unique(values) for cell, values in depth_of.items()}
    numbers = np.unique(data.rows.architecture)
    sign = 1.0 if data.metric.direction == "maximize" else -1.0
    profiles = []
    for method in search_methods(data):
        rows = data.rows.take(data.rows.method == method)
        own, owner = np.unique(rows.architecture, return_inverse=True)
        means = np.bincount(owner, rows.y) / np.bincount(owner)
        places = np.searchsorted(numbers, own)
        shares = {
            cell: tuple(float((values[places] == depth).mean()) for depth in depths[cell])
            for cell, values in depth_of.items()
        }
        best = float(sign * (sign * means).max())
        profiles.append(MethodProfile(method, ecdf(means).thinned(POINTS), best, shares))
    profiles.sort(key=lambda profile: -sign * profile.distribution.quantile(0.5))
    return MethodProfiles(tuple(profiles), {cell: tuple(values.tolist()) for cell, values in depths.items()})
