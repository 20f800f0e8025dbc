"""TransNAS-Bench-101, macro: how a network narrows and widens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, ParseError, nearest, shorten
from nasbed.spaces.base import Batch, Codes
from nasbed.spaces.encodings import one_hot
from nasbed.spaces.graph import ABSENT, Diagram, Graphs, Node, chain_links
from nasbed.spaces.native_text import NativeTextSpace
from nasbed.spaces.transnas.skeleton import TransNASMacroSkeleton
from nasbed.spaces.transnas.text import CITATION, matched_digits

if TYPE_CHECKING:
    from ConfigSpace import Configuration, ConfigurationSpace

_MODULES = ("normal", "double_channels", "halve_resolution", "double_and_halve")
_LIMITS = {"double the channels": ((2, 4), 3), "halve the resolution": ((3, 4), 4)}  # which types, how many at most
_FEWEST, _MOST = 4, 6
_MACRO_TEXT = re.compile("64-([1-4]{4,6})-basic|([1-4]{4,6})")


class TransNASMacro(NativeTextSpace):
    """Networks of 4 to 6 modules of two ResNet blocks; ``code`` gives the modules' types, then 0 for each one absent.

    Type 1 is normal, 2 doubles the channels, 3 halves the resolution, 4 does both. One to three modules double, one to
    four halve. Two architectures are neighbours if one becomes the other when a module changes its type, is put in
    anywhere or is taken out.

    >>> space = TransNASMacro()
    >>> space.parse("64-4111-basic").code, space.size
    ((4, 1, 1, 1, 0, 0), 3256)
    """

    name = "transnas-macro"
    title = "TransNAS-Bench-101, macro: four to six modules of four types"
    citation = CITATION
    code_length = _MOST
    size = 3256
    skeleton = TransNASMacroSkeleton

    @cached_property
    def _members(self) -> tuple[tuple[int, ...], ...]:
        """Every code, sorted."""
        codes = (
            modules + (0,) * (_MOST - depth)
            for depth in range(_FEWEST, _MOST + 1)
            for modules in product((1, 2, 3, 4), repeat=depth)
            if all(1 <= _count(modules, kinds) <= most for kinds, most in _LIMITS.values())
        )
        return tuple(sorted(codes))

    @cached_property
    def _member_set(self) -> frozenset[tuple[int, ...]]:
        return frozenset(self._members)

    def counts(self) -> dict[str, int]:
        depths = [len(_modules(code)) for code in self._members]
        counts = {f"{depth} modules": depths.count(depth) for depth in range(_FEWEST, _MOST + 1)}
        return {**counts, "total": len(depths)}

    def _enumerate(self) -> Iterator[Architecture]:
        return (Architecture(self.name, code) for code in self._members)

    def sample(self, rng: np.random.Generator) -> Architecture:
        """Uniform over the 3 256 architectures."""
        return Architecture(self.name, self._members[int(rng.integers(len(self._members)))])

    def neighbors(self, arch: Architecture) -> Iterator[Architecture]:
        name, members = self.name, self._member_set
        for code in _edits(_modules(arch.code)):
            if code in members:
                yield Architecture(name, code)

    def _check_code(self, code: tuple[int, ...]) -> None:
        modules = _modules(code)
        if not all(0 <= module <= len(_MODULES) for module in code):
            raise InvalidArchitecture(f"a {self.name} module is of type 1 to 4, or 0 for absent, got {shorten(code)}")
        if any(code[len(modules) :]):
            raise InvalidArchitecture(f"the absent modules (0) of {self.name} come last, got {code}; move the zeros")
        if len(modules) < _FEWEST:
            raise InvalidArchitecture(f"{self.name} has {_FEWEST} to {_MOST} modules, got {code}; add some")
        for effect, (kinds, most) in _LIMITS.items():
            count = _count(modules, kinds)
            if not 1 <= count <= most:
                raise InvalidArchitecture(
                    f"1 to {most} modules of {self.name} {effect} (types {kinds[0]} and {kinds[1]}), "
                    f"got {count} in {''.join(map(str, modules))}; change the type of a module"
                )

    # --- text and foreign forms --------------------------------------------------------------------------------------

    def format(self, arch: Architecture) -> str:
        return f"64-{''.join(map(str, _modules(arch.code)))}-basic"

    def parse(self, text: str) -> Architecture:
        """Reads ``64-4111-basic`` or ``4111``."""
        limits, names = f"{_FEWEST} to {_MOST} digits 1 to 4", ", ".join(_MODULES)
        rule = f"a {self.name} text reads 64-4111-basic or 4111, with {limits} ({names})"
        return self._validate_modules(matched_digits(_MACRO_TEXT, text, rule=rule))

    def _validate_modules(self, modules: tuple[int, ...]) -> Architecture:
        code = modules + (0,) * (_MOST - len(modules))
        self._check_code(code)
        return Architecture(self.name, code)

    def _build_configspace(self) -> ConfigurationSpace:
        """``depth``, the modules that it makes active, and as forbidden clauses the limits on doubling and halving."""
        from ConfigSpace import (
            CategoricalHyperparameter,
            ConfigurationSpace,
            ForbiddenAndConjunction,
            ForbiddenEqualsClause,
            ForbiddenInClause,
            InCondition,
        )

        depths = [str(depth) for depth in range(_FEWEST, _MOST + 1)]
        depth = CategoricalHyperparameter("depth", depths, default_value=depths[0])
        modules = [
            CategoricalHyperparameter(f"module_{i}", _MODULES, default_value=_MODULES[-1 if i == 1 else 0])
            for i in range(1, _MOST + 1)
        ]
        space = ConfigurationSpace(name=self.name)
        space.add(depth, *modules)
        space.add(*(InCondition(modules[i], depth, depths[i - _FEWEST + 1 :]) for i in range(_FEWEST, _MOST)))
        for kinds, most in _LIMITS.values():
            inside = [name for kind, name in enumerate(_MODULES, start=1) if kind in kinds]
            outside = [name for name in _MODULES if name not in inside]
            for too_many in combinations(modules, most + 1):
                space.add(ForbiddenAndConjunction(*(ForbiddenInClause(module, inside) for module in too_many)))
            for value in depths:
                none = [ForbiddenInClause(module, outside) for module in modules[: int(value)]]
                space.add(ForbiddenAndConjunction(ForbiddenEqualsClause(depth, value), *none))
        return space

    def to_config(self, arch: Architecture) -> Configuration:
        from ConfigSpace import Configuration

        modules = _modules(arch.code)
        values = {f"module_{i}": _MODULES[module - 1] for i, module in enumerate(modules, start=1)}
        return Configuration(self.configspace(), values={"depth": str(len(modules)), **values})

    def from_config(self, config: Configuration | Mapping[str, Any]) -> Architecture:
        if not isinstance(config, Mapping):
            raise ParseError(f"a {self.name} configuration is a Configuration or a mapping, got {shorten(config)}")
        values = {str(label): str(value) for label, value in config.items()}
        depth = values.pop("depth", "none")
        if depth not in map(str, range(_FEWEST, _MOST + 1)):
            raise InvalidArchitecture(f"a {self.name} configuration sets depth to 4, 5 or 6, got {shorten(depth)}")
        labels = [f"module_{i}" for i in range(1, int(depth) + 1)]
        if set(values) != set(labels):
            odd = sorted(set(values) ^ set(labels))
            raise InvalidArchitecture(
                f"a {self.name} configuration of depth {depth} sets module_1 to module_{depth}; wrong: {shorten(odd)}"
            )
        for label in labels:
            if values[label] not in _MODULES:
                raise InvalidArchitecture(
                    f"{self.name}'s {label} has no option {shorten(values[label])}; {nearest(values[label], _MODULES)}"
                )
        return self._validate_modules(tuple(_MODULES.index(values[label]) + 1 for label in labels))

    # --- batches -----------------------------------------------------------------------------------------------------

    def _encode_onehot(self, codes: Codes) -> NDArray[np.float32]:
        return one_hot(codes - 1, [len(_MODULES)] * _MOST)

    def _encode_config(self, codes: Codes) -> NDArray[np.float32]:
        depth = ((codes > 0).sum(axis=1, keepdims=True) - _FEWEST) / (_MOST - _FEWEST)
        modules = np.where(codes > 0, (codes - 1) / (len(_MODULES) - 1), np.nan)
        return np.hstack([depth, modules]).astype(np.float32)

    def graphs(self, archs: Batch) -> Graphs:
        """Chains over eight node slots: the input, six modules without the absent ones, the output."""
        codes = self.codes(archs)
        nodes = np.empty((len(codes), _MOST + 2), dtype=np.int8)
        nodes[:, 0], nodes[:, 1:-1], nodes[:, -1] = len(_MODULES), codes - 1, len(_MODULES) + 1
        edges = np.full((len(codes), _MOST + 2, _MOST + 2), ABSENT, dtype=np.int8)
        for slot in range(_MOST):
            edges[codes[:, slot] > 0, slot, slot + 1] = 0
        edges[np.arange(len(codes)), (codes > 0).sum(axis=1), -1] = 0
        return Graphs(nodes, edges, node_names=(*_MODULES, "input", "output"), edge_names=("edge",))

    def diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        """One picture: the modules in a row."""
        modules = _modules(arch.code)
        nodes = (
            Node("input", "input", "input", at=(0, 0)),
            *(Node(f"module_{i}", _MODULES[module - 1], at=(i, 0)) for i, module in enumerate(modules, start=1)),
            Node("output", "output", "output", at=(len(modules) + 1, 0)),
        )
        return (Diagram("TransNAS-Bench-101 network", nodes, chain_links(nodes)),)


def _count(modules: tuple[int, ...], kinds: tuple[int, ...]) -> int:
    return sum(module in kinds for module in modules)


def _modules(code: tuple[int, ...]) -> tuple[int, ...]:
    """The types of the modules present."""
    return code[: code.index(0)] if 0 in code else code


def _edits(modules: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The codes, in the space or not, that one edit of these modules gives, each once.

    A module is removed only at the start of a run of equals, and inserted only where it does not precede an equal one.
    Elsewhere in the run the result would be the same.
    """
    depth = len(modules)
    padding = (0,) * (_MOST - depth)
    for i, current in enumerate(modules):
        for kind in (1, 2, 3, 4):
            if kind != current:
                yield (*modules[:i], kind, *modules[i + 1 :], *padding)
    if depth > _FEWEST:
        for i, current in enumerate(modules):
            if i == 0 or modules[i - 1] != current:
                yield (*modules[:i], *modules[i + 1 :], *padding, 0)
    if depth < _MOST:
        for i in range(depth + 1):
            for kind in (1, 2, 3, 4):
                if i == depth or modules[i] != kind:
                    yield (*modules[:i], kind, *modules[i:], *padding[1:])
