"""What a space declares about its architectures beside the set itself, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture

if TYPE_CHECKING:
    from nasbed.spaces.lookup import Rows

NONE = "none"
"""The operation that carries nothing."""

INACTIVE = -1
"""The value of a choice that does not arise."""


@dataclass(frozen=True, slots=True)
class Operations:
    """The operations of a code: ``code[place]`` indexes ``names``, for each of the ``places``.

    ``parameter_free`` names those that carry something without parameters, such as skip connections and pooling.

    >>> Operations((1, 3), ("none", "conv", "skip"), ("skip",)).without_parameters
    (0, 2)
    """

    places: tuple[int, ...]
    names: tuple[str, ...]
    parameter_free: tuple[str, ...]

    @property
    def without_parameters(self) -> tuple[int, ...]:
        """The indices of all operations without parameters, :data:`NONE` included."""
        return tuple(index for index, name in enumerate(self.names) if name == NONE or name in self.parameter_free)


class NamedArchitecture(NamedTuple):
    """An architecture that a paper shows: its text, and what it is."""

    text: str
    title: str


@dataclass(frozen=True, slots=True)
class CellGraph:
    """The cells of a space as one-shot methods see them: an operation on every edge.

    ``kinds`` are the cells that have architectures of their own (normal and reduction in DARTS). All have the same
    ``edges``, pairs (source, target) with those into one node side by side, and the same ``operations``, the candidates
    of every edge.

    >>> graph = CellGraph(("cell",), ((0, 1), (0, 2), (1, 2)), ("skip_connect",))
    >>> graph.shape, graph.incoming, graph.with_none().operations, graph.with_none().real
    ((1, 3, 1), ((0, 1), (1, 3)), ('skip_connect', 'none'), (0,))
    """

    kinds: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    operations: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Kinds, edges and candidates: the shape of everything that weighs operations."""
        return len(self.kinds), len(self.edges), len(self.operations)

    @property
    def incoming(self) -> tuple[tuple[int, int], ...]:
        """For each node with edges into it, the first of these edges and one past the last."""
        targets = [target for _, target in self.edges]
        firsts = [place for place, target in enumerate(targets) if target not in targets[:place]]
        return tuple(zip(firsts, [*firsts[1:], len(targets)], strict=True))

    @property
    def real(self) -> tuple[int, ...]:
        """The candidates that carry something."""
        return tuple(place for place, name in enumerate(self.operations) if name != NONE)

    def with_none(self) -> CellGraph:
        """The same cells with :data:`NONE` among the candidates, at the end unless the space has it."""
        return self if NONE in self.operations else replace(self, operations=(*self.operations, NONE))


@dataclass(frozen=True, slots=True)
class NamedPart:
    """A part of a space that has a name: the architectures that it ``contains``, a function that can be pickled.

    ``suffix`` follows the name of a table in the name of its part. ``size`` is how many architectures it has, in
    canonical form, 0 where that is not known without listing them.
    """

    suffix: str
    contains: Callable[[Architecture], bool]
    size: int = 0


@dataclass(frozen=True, slots=True)
class CrossedList:
    """A list of architectures that crosses two factors: each level of the one meets each level of the other.

    ``draw`` makes the codes of such a list from random numbers. ``levels`` finds, in any codes, the rows that may
    belong to one, with the level of each factor as a row of integers.
    """

    draw: Callable[[np.random.Generator], NDArray[np.int64]]
    levels: Callable[[NDArray[np.int64]], tuple[Rows, NDArray[np.int64], NDArray[np.int64]]]


@dataclass(frozen=True, slots=True)
class Choices:
    """A table as choices. ``values[i, j]`` indexes ``options[j]``, the options of the choice called ``names[j]``; it is
    :data:`INACTIVE` where the choice does not arise."""

    values: NDArray[np.int64]
    names: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of an architecture: the ``choice`` that changes, by its name in :meth:`SearchSpace.edit_diagrams`, what
    it is ``before`` and ``after``, and the architecture that results. ``title`` is the choice in words."""

    choice: str
    title: str
    before: str
    after: str
    arch: Architecture


@dataclass(frozen=True, slots=True)
class OperationChanges:
    """The pairs of rows of a table that differ in one operation.

    ``changes`` are batches of (row before, row after, operation before, operation after); operations index ``names``.
    ``choices`` names the choices that the operations stand in, none where a space has no such names.
    """

    choices: tuple[str, ...]
    names: tuple[str, ...]
    changes: Iterable[tuple[Rows, Rows, Rows, Rows]]
