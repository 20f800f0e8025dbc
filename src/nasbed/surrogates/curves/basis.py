"""Learning curves as a few numbers: a mean curve and the directions in which architectures differ from it most.

NAS-Bench-x11 (Yan et al. 2021) compresses curves in this way, by a singular value decomposition, before it fits a model
to each coefficient. Every fidelity is brought to unit variance first, so that early epochs count as much as late ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile

Floats = NDArray[np.float64]

SHARE = 0.995
"""How much of the variance between architectures the directions hold."""
MOST = 6
"""The most directions, as many as NAS-Bench-x11 takes."""


@dataclass(frozen=True, slots=True)
class CurveBasis:
    """``mean`` and ``std`` of each fidelity, and ``components``, orthonormal rows ``[directions, fidelities]``."""

    mean: tuple[float, ...]
    std: tuple[float, ...]
    components: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, curves: Floats, architecture: NDArray[np.int64]) -> CurveBasis:
        """The basis of trainings ``[n, fidelities]``; directions are those of the means of each architecture."""
        mean, std = curves.mean(axis=0), curves.std(axis=0)
        std = np.where(std > 0, std, 1.0)
        _, owner, count = np.unique(architecture, return_inverse=True, return_counts=True)
        means = np.zeros((len(count), curves.shape[1]))
        np.add.at(means, owner.reshape(-1), (curves - mean) / std)
        means /= count[:, None]
        _, size, directions = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)
        held = np.cumsum(size**2) / max(float((size**2).sum()), np.finfo(np.float64).tiny)
        kept = min(int(np.searchsorted(held, SHARE)) + 1, MOST, len(directions))
        upright = directions * np.where(directions.sum(axis=1) < 0, -1.0, 1.0)[:, None]  # a direction has no sign
        return cls(tuple(mean.tolist()), tuple(std.tolist()), tuple(map(tuple, upright[:kept].tolist())))

    def __len__(self) -> int:
        """How many directions there are."""
        return len(self.components)

    def coefficients(self, curves: Floats) -> Floats:
        """Curves ``[n, fidelities]`` as numbers, ``[n, directions]``."""
        numbers: Floats = ((curves - np.array(self.mean)) / np.array(self.std)) @ np.array(self.components).T
        return numbers

    def values(self, coefficients: Floats, place: int) -> Floats:
        """The metric at one fidelity for the coefficients ``[n, members · directions]`` of several members, ``[n,
        members]``."""
        total = coefficients[:, :: len(self)] * self._weight(0, place)
        for direction in range(1, len(self)):
            total = total + coefficients[:, direction :: len(self)] * self._weight(direction, place)
        return total + self.mean[place]

    def values_of_one(self, coefficients: Sequence[float], place: int) -> list[float]:
        """:meth:`values` of one architecture, bit for bit."""
        values = []
        for start in range(0, len(coefficients), len(self)):
            total = coefficients[start] * self._weight(0, place)
            for direction in range(1, len(self)):
                total += coefficients[start + direction] * self._weight(direction, place)
            values.append(total + self.mean[place])
        return values

    def _weight(self, direction: int, place: int) -> float:
        return self.components[direction][place] * self.std[place]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any], fidelities: int) -> CurveBasis:
        """The inverse of :meth:`to_json`; raises unless all has the length of the fidelities."""
        mean, std = (tuple(float(value) for value in data[key]) for key in ("mean", "std"))
        components = tuple(tuple(float(value) for value in row) for row in data["components"])
        rows = (mean, std, *components)
        if not components or any(len(row) != fidelities or not np.isfinite(row).all() for row in rows):
            raise BadFile(f"a basis of curves has {fidelities} finite numbers in each row, got another one")
        return cls(mean, std, components)
