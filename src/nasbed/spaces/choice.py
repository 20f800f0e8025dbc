"""Spaces that are a fixed row of independent choices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, nearest, shorten
from nasbed.spaces.base import Batch, Codes, SearchSpace
from nasbed.spaces.edits import Pairs
from nasbed.spaces.encodings import one_hot
from nasbed.spaces.facts import Choices, Edit
from nasbed.spaces.graph import Diagram
from nasbed.spaces.lookup import single_changes

if TYPE_CHECKING:
    from ConfigSpace import Configuration, ConfigurationSpace


class ChoiceSpace(SearchSpace):
    """A product of categorical choices: ``code[i]`` indexes ``choices[i]``, called ``choice_names[i]``. One edit
    changes one choice."""

    choice_names: tuple[str, ...]
    choices: tuple[tuple[str, ...], ...]

    @property
    def code_length(self) -> int:  # type: ignore[override]
        return len(self.choices)

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.choices))

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        return np.array([len(options) for options in self.choices], dtype=np.int64)

    @cached_property
    def _open(self) -> tuple[int, ...]:
        """The choices with more than one option."""
        return tuple(position for position, size in enumerate(self._sizes) if size > 1)

    @property
    def size(self) -> int:
        return math.prod(len(options) for options in self.choices)

    def _enumerate(self) -> Iterator[Architecture]:
        for code in product(*(range(len(options)) for options in self.choices)):
            yield Architecture(self.name, code)

    def sample(self, rng: np.random.Generator) -> Architecture:
        return Architecture(self.name, tuple(rng.integers(self._counts).tolist()))

    def neighbors(self, arch: Architecture) -> Iterator[Architecture]:
        name, code = self.name, list(arch.code)
        for position, options in enumerate(self.choices):
            current = code[position]
            for choice in range(len(options)):
                if choice != current:
                    code[position] = choice
                    yield Architecture(name, tuple(code))
            code[position] = current

    def edits(self, arch: Architecture) -> Iterator[Edit]:
        before = self.to_options(arch)
        position_of = [position for position, options in enumerate(self.choices) for _ in options[1:]]
        for position, neighbor in zip(position_of, self.neighbors(arch), strict=True):
            name, after = self.choice_names[position], self.choices[position][neighbor.code[position]]
            yield Edit(name, self.choice_title(position), before[position], after, neighbor)

    def choice_title(self, position: int) -> str:
        """A choice in words."""
        return self.choice_names[position].replace("_", " ")

    def edit_diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        """The diagrams with the choice of its name in each node whose id is that of a choice."""
        return tuple(
            replace(
                diagram,
                nodes=tuple(
                    replace(node, choice=node.id) if node.id in self.choice_names else node for node in diagram.nodes
                ),
            )
            for diagram in self.diagrams(arch)
        )

    def mutate(self, arch: Architecture, rng: np.random.Generator) -> Architecture:
        """Another option of a random choice that has several; the architecture itself where none has."""
        if not self._open:
            return arch
        position = self._open[int(rng.integers(len(self._open)))]
        choice = int(rng.integers(len(self.choices[position]) - 1))
        choice += choice >= arch.code[position]
        return Architecture(self.name, (*arch.code[:position], choice, *arch.code[position + 1 :]))

    def _check_code(self, code: tuple[int, ...]) -> None:
        for choice, options, label in zip(code, self.choices, self.choice_names, strict=True):
            if not 0 <= choice < len(options):
                raise InvalidArchitecture(
                    f"{self.name}'s {label} is 0 to {len(options) - 1} ({', '.join(options)}), got {choice}"
                )

    def from_options(self, options: Sequence[object]) -> Architecture:
        """The architecture with these options, given by name or by index, in order."""
        if len(options) != len(self.choices):
            raise InvalidArchitecture(
                f"{self.name} has {len(self.choices)} choices, got {len(options)} in {shorten(list(options))}"
            )
        return Architecture(self.name, tuple(map(self._option_index, range(len(options)), options)))

    def to_options(self, arch: Architecture) -> tuple[str, ...]:
        """The names of the options chosen."""
        return tuple(options[choice] for options, choice in zip(self.choices, arch.code, strict=True))

    def _option_index(self, position: int, option: object) -> int:
        options = self.choices[position]
        if isinstance(option, str):
            if option in options:
                return options.index(option)
            raise InvalidArchitecture(
                f"{self.name}'s {self.choice_names[position]} has no option {shorten(option)}; "
                f"{nearest(option, options)}"
            )
        if isinstance(option, int | np.integer) and not isinstance(option, bool) and 0 <= option < len(options):
            return int(option)
        raise InvalidArchitecture(
            f"{self.name}'s {self.choice_names[position]} is one of {', '.join(options)} or an index below "
            f"{len(options)}, "
            f"got {shorten(option)}"
        )

    def _build_configspace(self) -> ConfigurationSpace:
        from ConfigSpace import CategoricalHyperparameter, ConfigurationSpace

        space = ConfigurationSpace(name=self.name)
        space.add(
            *(
                CategoricalHyperparameter(label, options)
                for label, options in zip(self.choice_names, self.choices, strict=True)
            )
        )
        return space

    def to_config(self, arch: Architecture) -> Configuration:
        from ConfigSpace import Configuration

        return Configuration(
            self.configspace(), values=dict(zip(self.choice_names, self.to_options(arch), strict=True))
        )

    def from_config(self, config: Configuration | Mapping[str, Any]) -> Architecture:
        values = self.config_values(config)
        if set(values) != set(self.choice_names):
            odd = sorted(set(values) ^ set(self.choice_names))
            raise InvalidArchitecture(
                f"a {self.name} configuration sets exactly {len(self.choice_names)} parameters; wrong: {shorten(odd)}"
            )
        return self.from_options([str(values[label]) for label in self.choice_names])

    def choices_of(self, archs: Batch) -> Choices:
        return Choices(self.codes(archs), self.choice_names, self.choices)

    def neighbor_pairs(self, codes: Codes) -> Pairs:
        return [pair for column in range(self.code_length) for pair in single_changes(codes, column)]

    @property
    def encoding_sizes(self) -> tuple[int, ...]:
        return self._sizes

    def encoded_points(self, arch: Architecture) -> NDArray[np.int64]:
        codes = self.codes(list(self.isomorphic_forms(arch)))
        numbers: NDArray[np.int64] = np.ravel_multi_index(tuple(codes.T), self._sizes).astype(np.int64)
        return numbers

    def _encode_onehot(self, codes: Codes) -> NDArray[np.float32]:
        return one_hot(codes, self._sizes)

    def _encode_config(self, codes: Codes) -> NDArray[np.float32]:
        return (codes / np.maximum(self._counts - 1, 1)).astype(np.float32)[:, self._config_order]

    @cached_property
    def _config_order(self) -> list[int]:
        """The choices in the order of the ConfigSpace, which sorts its parameters by name."""
        return [self.choice_names.index(name) for name in self.configspace()]
