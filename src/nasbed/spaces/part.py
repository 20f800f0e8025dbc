"""A part of a space: the architectures that satisfy a condition, as a space of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, shorten
from nasbed.spaces.base import Batch, Codes, SearchSpace
from nasbed.spaces.edits import Pairs
from nasbed.spaces.facts import Choices, Edit, NamedArchitecture, OperationChanges
from nasbed.spaces.graph import Diagram, Graphs

if TYPE_CHECKING:
    from ConfigSpace import Configuration, ConfigurationSpace

TRIES = 1000
"""How many mutants may lie outside before the neighbours inside are listed."""


class SpacePart(SearchSpace):
    """Whoever searches it samples, mutates and meets neighbours inside only: what lies outside is drawn again.

    Architectures keep the name, code and encodings of the ``parent``, so that its table answers for them; ``part`` is
    what messages call this. The ConfigSpace is the parent's: a configuration may describe an architecture outside,
    which :meth:`from_config` refuses.
    """

    def __init__(self, parent: SearchSpace, part: str, contains: Callable[[Architecture], bool]) -> None:
        self.parent = parent
        self.part = part
        self.contains = contains
        self.name, self.title, self.citation = parent.name, f"{parent.title}; the part {part}", parent.citation
        self.code_length = parent.code_length
        self.skeleton, self.published_skeletons = parent.skeleton, parent.published_skeletons
        self.operations, self.cell_graph = parent.operations, parent.cell_graph
        self.shape_properties, self.is_listed = parent.shape_properties, parent.is_listed

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") or attribute == "parent":
            raise AttributeError(attribute)
        return getattr(self.parent, attribute)

    @property
    def encodings(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.parent.encodings

    @property
    def named(self) -> Mapping[str, NamedArchitecture]:  # type: ignore[override]
        """Those of the whole space that lie inside."""
        return {name: each for name, each in self.parent.named.items() if self.contains(self.parent.parse(each.text))}

    @cached_property
    def size(self) -> int:
        return sum(1 for _ in self.enumerate())

    def enumerate(self) -> Iterator[Architecture]:
        return filter(self.contains, self.parent.enumerate())

    def codes_up_to(self, limit: str) -> Codes:
        return self.codes(list(filter(self.contains, self.architectures(self.parent.codes_up_to(limit)))))

    def sample(self, rng: np.random.Generator) -> Architecture:
        while not self.contains(arch := self.parent.sample(rng)):
            pass
        return arch

    def neighbors(self, arch: Architecture) -> Iterator[Architecture]:
        return filter(self.contains, self.parent.neighbors(arch))

    def edits(self, arch: Architecture) -> Iterator[Edit]:
        return (edit for edit in self.parent.edits(arch) if self.contains(edit.arch))

    def mutate(self, arch: Architecture, rng: np.random.Generator) -> Architecture:
        for _ in range(TRIES):
            mutant = self.parent.mutate(arch, rng)
            if self.contains(mutant):
                return mutant
        return super().mutate(arch, rng)

    def canonical(self, arch: Architecture) -> Architecture:
        return self.parent.canonical(arch)

    def canonical_codes(self, archs: Batch) -> Codes:
        return self.parent.canonical_codes(archs)

    def isomorphic_forms(self, arch: Architecture) -> Iterator[Architecture]:
        return self.parent.isomorphic_forms(arch)

    def _check_code(self, code: tuple[int, ...]) -> None:
        self.parent._check_code(code)
        self._inside(Architecture(self.name, code))

    def _inside(self, arch: Architecture) -> Architecture:
        if not self.contains(arch):
            raise InvalidArchitecture(f"{shorten(self.format(arch))} is outside {self.part}; sample again")
        return arch

    def format(self, arch: Architecture) -> str:
        return self.parent.format(arch)

    def parse(self, text: str) -> Architecture:
        return self._inside(self.parent.parse(text))

    def to_native(self, arch: Architecture) -> Any:
        return self.parent.to_native(arch)

    def from_native(self, obj: Any) -> Architecture:
        return self._inside(self.parent.from_native(obj))

    def definition(self) -> dict[str, Any] | None:
        return self.parent.definition()

    def _build_configspace(self) -> ConfigurationSpace:
        return self.parent.configspace()

    def to_config(self, arch: Architecture) -> Configuration:
        return self.parent.to_config(arch)

    def from_config(self, config: Configuration | Mapping[str, Any]) -> Architecture:
        return self._inside(self.parent.from_config(config))

    def encode(self, archs: Batch, how: str = "onehot") -> NDArray[np.float32]:
        return self.parent.encode(archs, how)

    def properties(self, archs: Batch) -> dict[str, NDArray[Any]]:
        return self.parent.properties(archs)

    def costs(self, archs: Batch, skeleton: Any = None) -> NDArray[np.int64]:
        return self.parent.costs(archs, skeleton)

    def operations_present(self, archs: Batch) -> NDArray[np.bool_]:
        return self.parent.operations_present(archs)

    def choices_of(self, archs: Batch) -> Choices:
        return self.parent.choices_of(archs)

    def neighbor_pairs(self, codes: Codes) -> Pairs:
        return self.parent.neighbor_pairs(codes)

    def edit_distances(self, codes: Codes, arch: Architecture) -> NDArray[np.int64]:
        return self.parent.edit_distances(codes, arch)

    def operation_changes(self, codes: Codes) -> Iterable[OperationChanges]:
        return self.parent.operation_changes(codes)

    def function_codes(self, archs: Batch) -> Codes:
        return self.parent.function_codes(archs)

    def graphs(self, archs: Batch) -> Graphs:
        return self.parent.graphs(archs)

    def diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        return self.parent.diagrams(arch)

    def edit_diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        return self.parent.edit_diagrams(arch)
