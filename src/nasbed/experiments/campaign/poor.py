"""The known-poor region of a space: architectures with many operations that have no parameters.

Surrogate NAS Benchmarks (appendix C.5) finds that many such operations make a poor network, whichever cell they are in,
and expects a surrogate to know that. Neither a random search nor a good one goes there often: twelve or
more of a random DARTS architecture's sixteen operations are free of parameters in one case of a hundred.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.spaces.base import SearchSpace


@dataclass(frozen=True, slots=True)
class Operations:
    """Where the operations of a code are, how many kinds there are, and which of them have no parameters."""

    places: tuple[int, ...]
    kinds: int
    free: tuple[int, ...]

    def count(self, arch: Architecture) -> int:
        """How many operations of an architecture have no parameters."""
        return sum(arch.code[place] in self.free for place in self.places)


OPERATIONS: dict[str, Operations] = {
    "darts": Operations(tuple(range(1, 32, 2)), 7, (0, 1, 2)),  # max and average pooling, skip
    "nb101": Operations((1, 2, 3, 4, 5), 3, (2,)),  # max pooling
    "nb201": Operations(tuple(range(6)), 5, (0, 1, 4)),  # none, skip, average pooling
    "transnas-micro": Operations(tuple(range(6)), 4, (0, 1)),  # none, skip
    "fbnet": Operations(tuple(range(22)), 9, (8,)),  # skip
}
"""By the name of the space. A space of your own can be added."""


def operations_of(space: SearchSpace) -> Operations:
    if space.name not in OPERATIONS:
        raise InvalidOption(
            f"a known-poor region is known of {', '.join(OPERATIONS)}, got {space.name}; leave the share poor out"
        )
    return OPERATIONS[space.name]


def sample_poor(space: SearchSpace, rng: np.random.Generator) -> Architecture:
    """A random architecture of which at least half the operations have no parameters: any number from half to all of
    them is as likely, at random places; all else is as the space draws it."""
    known = operations_of(space)
    code = list(space.sample(rng).code)
    least = (len(known.places) + 1) // 2
    count = int(rng.integers(least, len(known.places) + 1))
    free = set(rng.permutation(len(known.places))[:count].tolist())
    others = [kind for kind in range(known.kinds) if kind not in known.free]
    for index, place in enumerate(known.places):
        options = known.free if index in free else others
        code[place] = options[int(rng.integers(len(options)))]
    return Architecture(space.name, tuple(code))
