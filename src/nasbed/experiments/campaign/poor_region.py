"""The known-poor region of a space: architectures with many operations that have no parameters.

Surrogate NAS Benchmarks (appendix C.5) finds that many such operations make a poor network, whichever cell they are in,
and expects a surrogate to know that. Neither a random search nor a good one goes there often: twelve or
more of a random DARTS architecture's sixteen operations are free of parameters in one case of a hundred.
"""

from __future__ import annotations

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.spaces.base import SearchSpace
from nasbed.spaces.facts import Operations


def operations_of(space: SearchSpace) -> Operations:
    """The operations of a space that has some without parameters; raises for another."""
    operations = space.operations
    if operations is None or not operations.without_parameters:
        raise InvalidOption(
            f"a known-poor region needs operations without parameters, {space.name} declares none; omit the share poor"
        )
    return operations


def sample_poor(space: SearchSpace, rng: np.random.Generator) -> Architecture:
    """A random architecture with at least half of its operations free of parameters. Each number from half to all is
    equally likely, at random places. The space draws the rest."""
    operations = operations_of(space)
    places, poor = operations.places, operations.without_parameters
    code = list(space.sample(rng).code)
    count = int(rng.integers((len(places) + 1) // 2, len(places) + 1))
    positions = set(rng.permutation(len(places))[:count].tolist())
    good = [index for index in range(len(operations.names)) if index not in poor]
    for position, place in enumerate(places):
        options = poor if position in positions else good
        code[place] = options[int(rng.integers(len(options)))]
    return Architecture(space.name, tuple(code))
