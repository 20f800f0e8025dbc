"""Space-filling designs: architectures spread more evenly than random ones, as Sobol points or as a Latin hypercube.

A point lies in the unit cube, which has a side for each parameter of the space's ConfigSpace. A categorical parameter
cuts its side into equal bins, a number is the quantile of its prior. Conditions are resolved as the space does: the
coordinate of a parameter that is not active has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, NasbedError, nearest
from nasbed.spaces.base import SearchSpace
from nasbed.spaces.from_configspace.space import FromConfigSpace

SOBOL, LHS = "sobol", "lhs"
DESIGNS = (SOBOL, LHS)
BLOCK = 256
"""The number of Sobol points that are drawn at a time; a power of two, as their balance requires."""
MOST_INVALID = 10_000
"""The number of points in a row without an architecture after which a design gives up."""


class UnitCube:
    """The architectures of a space by the points of the unit cube, one coordinate in [0, 1) a parameter.

    >>> from nasbed.spaces import space
    >>> cube = UnitCube(space("nb201"))
    >>> cube.dimensions, cube.architecture(np.full(6, 0.99)).code
    (6, (4, 4, 4, 4, 4, 4))
    """

    def __init__(self, space: SearchSpace) -> None:
        if space.is_listed:
            raise InvalidOption(f"a space-filling design needs a ConfigSpace, {space.name} is a list; use random draws")
        try:
            config = space.configspace()
        except (NasbedError, NotImplementedError) as error:
            raise InvalidOption(f"a space-filling design needs a ConfigSpace, {space.name} has none: {error}") from None
        self._space = space
        self._parameters = space if isinstance(space, FromConfigSpace) else FromConfigSpace(config, space.name)

    @property
    def dimensions(self) -> int:
        """The number of parameters."""
        return self._parameters.code_length

    def architecture(self, point: NDArray[np.float64]) -> Architecture | None:
        """The architecture at a point; ``None`` where its configuration is not an architecture, as in nb101."""
        configuration = self._parameters.at(point.tolist())
        if configuration is None or self._space is self._parameters:
            return configuration
        try:
            return self._space.from_config(self._parameters.to_native(configuration))
        except InvalidArchitecture:
            return None


def unit_points(
    design: str, dimensions: int, rng: np.random.Generator, *, count: int = BLOCK
) -> Iterator[NDArray[np.float64]]:
    """Points of the unit cube without end.

    ``sobol`` is one scrambled Sobol sequence: of its first 2ᵏ points, each 2ᵏ-th of every side has one. ``lhs`` is one
    Latin hypercube of ``count`` points after the other: each has one point in each ``count``-th of every side.
    """
    from scipy.stats import qmc

    if design not in DESIGNS:
        raise InvalidOption(f"no space-filling design is called {design!r}; {nearest(design, DESIGNS)}")
    if count < 1:
        raise InvalidOption(f"a space-filling design has at least 1 point, got {count}")
    engine = (qmc.Sobol if design == SOBOL else qmc.LatinHypercube)(dimensions, seed=rng)
    while True:
        yield from engine.random(BLOCK if design == SOBOL else count)


def space_filling(
    space: SearchSpace, design: str, rng: np.random.Generator, *, count: int = BLOCK
) -> Iterator[Architecture]:
    """The architectures at :func:`unit_points`, without end. Points without an architecture are skipped.

    Architectures may repeat where several points fall into the same bins. The design is checked at once.

    Args:
        space: Any space with a ConfigSpace.
        design: ``sobol`` or ``lhs``.
        rng: Scrambles the sequence, or draws the hypercube.
        count: The number of points of one Latin hypercube.
    """
    cube = UnitCube(space)
    return _architectures(cube, unit_points(design, cube.dimensions, rng, count=count), space.name)


def _architectures(cube: UnitCube, points: Iterator[NDArray[np.float64]], name: str) -> Iterator[Architecture]:
    invalid = 0
    for point in points:
        arch = cube.architecture(point)
        if arch is not None:
            invalid = 0
            yield arch
        elif (invalid := invalid + 1) >= MOST_INVALID:
            raise InvalidOption(f"{invalid} points in a row are no architecture of {name}; use random draws")
