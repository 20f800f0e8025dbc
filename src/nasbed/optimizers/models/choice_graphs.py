"""A space's ConfigSpace parameters as graphs, and its architectures as vertices of their Cartesian product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from ConfigSpace import CategoricalHyperparameter, Constant, OrdinalHyperparameter
from ConfigSpace.hyperparameters import IntegerHyperparameter
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.spaces.base import SearchSpace

Floats = NDArray[np.float64]
Vertices = NDArray[np.int64]

NUMBER_LEVELS = 17
"""How many levels stand for an integer with more values than that and for a float: steps of 1/16 of the range."""


@dataclass(frozen=True)
class ChoiceGraph:
    """The options of one parameter: a path where they have an order, else all joined with each other.

    With ``gap`` the last of the ``size`` vertices stands for being inactive, and is joined with all others.
    """

    size: int
    path: bool = False
    gap: bool = False

    @cached_property
    def laplacian(self) -> Floats:
        edges = np.eye(self.size, k=1) + np.eye(self.size, k=-1) if self.path else 1 - np.eye(self.size)
        if self.gap:
            edges[-1, :-1] = edges[:-1, -1] = 1
        return np.asarray(np.diag(edges.sum(axis=0)) - edges)

    @cached_property
    def spectrum(self) -> tuple[Floats, Floats]:
        """Eigenvalues, ascending, and eigenvectors of the Laplacian: the graph's frequencies and Fourier basis."""
        frequencies, basis = np.linalg.eigh(self.laplacian)
        return np.maximum(frequencies, 0), basis

    def kernel(self, beta: float) -> Floats:
        """``exp(-beta · laplacian)``, scaled to a mean of 1 on the diagonal.

        >>> ChoiceGraph(2).kernel(0.5).round(4).tolist()
        [[1.0, 0.4621], [0.4621, 1.0]]
        """
        if not self.path:
            far = np.exp(-self.size * beta)
            alike = (1 - far) / (1 + (self.size - 1) * far)
            return np.asarray(alike + (1 - alike) * np.eye(self.size))
        frequencies, basis = self.spectrum
        weights = np.exp(-beta * frequencies)
        return np.asarray((basis * (weights / weights.mean())) @ basis.T)


class ChoiceGraphs:
    """The graphs of all parameters that have a choice, and the vertices of architectures.

    Categoricals are complete graphs. Ordinals and integers are paths; so are floats and wide integers, by
    ``NUMBER_LEVELS`` levels of equal width on their own scale. A parameter with a condition has one more vertex.
    """

    def __init__(self, space: SearchSpace) -> None:
        self._space = space
        source = space.configspace()
        self._columns: list[int] = []
        self._borders: list[Floats] = []
        graphs = []
        for column, (name, parameter) in enumerate(source.items()):
            levels = _places(parameter)
            gap = bool(source.parent_conditions_of[name])
            size = len(levels) + gap
            if size > 1:
                self._columns.append(column)
                self._borders.append((levels[1:] + levels[:-1]) / 2)
                graphs.append(ChoiceGraph(size, path=not isinstance(parameter, CategoricalHyperparameter), gap=gap))
        self.graphs = tuple(graphs)

    def vertices(self, archs: Sequence[Architecture]) -> Vertices:
        """The vertex of each architecture in each graph, ``[n, graphs]``."""
        places = self._space.encode(archs, "config").astype(np.float64)
        rows = np.zeros((len(archs), len(self.graphs)), dtype=np.int64)
        for index, (column, borders) in enumerate(zip(self._columns, self._borders, strict=True)):
            column_places = places[:, column]
            rows[:, index] = np.where(
                np.isnan(column_places), len(borders) + 1, np.searchsorted(borders, column_places)
            )
        return rows


def _places(parameter: Any) -> Floats:
    """Where in [0, 1] the encoding ``config`` has a parameter's levels, ascending."""
    if isinstance(parameter, Constant):
        return np.zeros(1)
    if isinstance(parameter, CategoricalHyperparameter):
        return np.linspace(0, 1, len(parameter.choices))
    if isinstance(parameter, OrdinalHyperparameter):
        return np.linspace(0, 1, len(parameter.sequence))
    if isinstance(parameter, IntegerHyperparameter) and parameter.size <= NUMBER_LEVELS:
        values = np.arange(parameter.lower, parameter.upper + 1)
        return np.asarray(parameter.to_vector(values), dtype=np.float64)
    return np.linspace(0, 1, NUMBER_LEVELS)
