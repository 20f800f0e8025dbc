"""Any ConfigSpace as a search space, so that a benchmark can be made for any new space."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, ParseError, TooLarge, nearest, shorten
from nasbed.spaces.base import Batch, Codes, SearchSpace
from nasbed.spaces.encodings import one_hot
from nasbed.spaces.from_configspace.conditions import COUNT_STEPS, INACTIVE, Rules, any_holds, count
from nasbed.spaces.from_configspace.hyperparameters import Choice, Hyperparameter, Ordinal, hyperparameter
from nasbed.spaces.from_configspace.neighborhoods import Neighborhoods
from nasbed.spaces.graph import ABSENT, Diagram, Graphs, Node

if TYPE_CHECKING:
    from ConfigSpace import Configuration, ConfigurationSpace

SAMPLE_TRIES = 10_000
"""How many draws may break a forbidden clause before :meth:`FromConfigSpace.sample` gives up."""

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_ROOT = "configuration"
_MOST_LABELS = 127


def space_from_configspace(cs: ConfigurationSpace, name: str) -> FromConfigSpace:
    """A search space over the configurations of ``cs``, which is copied and never changed. It is not registered.

    >>> from ConfigSpace import ConfigurationSpace
    >>> space = space_from_configspace(ConfigurationSpace({"op": ["conv", "pool"], "width": (1, 4)}), "mine")
    >>> space.size, space.parse('{"op": "pool", "width": 3}').code
    (8, (1, 2))
    """
    return FromConfigSpace(cs, name)


def space_from_definition(definition: Mapping[str, Any], name: str) -> FromConfigSpace:
    """The space whose :meth:`FromConfigSpace.definition` this is."""
    from ConfigSpace import ConfigurationSpace

    try:
        return FromConfigSpace(ConfigurationSpace.from_serialized_dict(dict(definition)), name)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ParseError(f"the definition of the space {name} cannot be read: {shorten(str(error))}") from None


class FromConfigSpace(SearchSpace):
    """The valid configurations of a ConfigSpace.

    ``code`` has one integer for each hyperparameter, in the ConfigSpace's own order. For a categorical, ordinal or
    constant it is the index of the value; for an integer, the value minus the lower bound. For a float it is the number
    of doubles between the lower bound and the value, so that 0.1 stays 0.1. It is ``INACTIVE`` where the condition does
    not hold. Floats that are drawn or stepped to are rounded to the 13 decimal places that ConfigSpace keeps.
    """

    citation = ""

    def __init__(self, cs: ConfigurationSpace, name: str) -> None:
        from ConfigSpace import ConfigurationSpace

        if not isinstance(cs, ConfigurationSpace):
            raise InvalidOption(f"a space is made from a ConfigurationSpace, got {type(cs).__name__} {shorten(cs)}")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidOption(f"a space's name has letters, digits, '-', '_' and '.', got {shorten(name)}")
        if not len(cs):
            raise InvalidOption(
                f"a space has at least one hyperparameter, the ConfigSpace for {name} has none; add one"
            )
        self.name = name
        self.title = f"{cs.name or 'a ConfigSpace'} ({len(cs)} hyperparameters)"
        self.code_length = len(cs)
        self._source = copy.deepcopy(cs)
        self.hyperparameters: tuple[Hyperparameter, ...] = tuple(map(hyperparameter, self._source.values()))
        self._positions = {parameter.name: position for position, parameter in enumerate(self.hyperparameters)}
        self._rules = Rules(self._source, self.hyperparameters)
        self._neighborhoods = Neighborhoods(self.hyperparameters, self._rules)
        self._forbidden = tuple(rule.holds for rule in self._rules.forbidden)
        self._steps = tuple(
            (parameter.draw, rule.holds if rule else None)
            for parameter, rule in zip(self.hyperparameters, self._rules.conditions, strict=True)
        )

    def definition(self) -> dict[str, Any]:
        serialized: dict[str, Any] = json.loads(json.dumps(self._source.to_serialized_dict()))
        return serialized

    def __reduce__(self) -> tuple[Any, ...]:
        return FromConfigSpace, (self._source, self.name)

    # --- the space ---------------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """How many valid configurations there are, exactly, conditions and forbidden clauses honoured.

        Raises :class:`~nasbed.core.errors.TooLarge` where there is no such number: with a float among the
        hyperparameters, or with rules so entangled that counting would look at more than ``COUNT_STEPS`` partial
        configurations.
        """
        return self._size

    @cached_property
    def _size(self) -> int:
        for parameter in self.hyperparameters:
            if not parameter.countable:
                raise TooLarge(
                    f"a space with a float has no exact size, {self.name} has {parameter.name}; sample, or make it an "
                    "ordinal"
                )
        number = count(self._rules, self.hyperparameters)
        if number is None:
            raise TooLarge(
                f"a space is counted in up to {COUNT_STEPS:,} steps, the rules of {self.name} take more; use sample"
            )
        return number

    def _enumerate(self) -> Iterator[Architecture]:
        rules, last = self._rules, self.code_length - 1
        due = [
            tuple(rule.holds for rule in rules.forbidden if max(rule.reads) == index)
            for index in range(self.code_length)
        ]
        code = [INACTIVE] * self.code_length
        pending = [iter(range(self.hyperparameters[0].size))]
        while pending:
            index = len(pending) - 1
            for value in pending[index]:
                code[index] = value
                if any_holds(due[index], code):
                    continue
                if index < last:
                    active = rules.active(index + 1, code)
                    pending.append(iter(range(self.hyperparameters[index + 1].size) if active else (INACTIVE,)))
                    break
                yield Architecture(self.name, tuple(code))
            else:
                pending.pop()

    # --- moving in it ------------------------------------------------------------------------------------------------

    def sample(self, rng: np.random.Generator) -> Architecture:
        """Each active hyperparameter from its prior; a draw that breaks a forbidden clause is redrawn as a whole."""
        for _ in range(SAMPLE_TRIES):
            arch = self.at(rng.random(self.code_length).tolist())
            if arch is not None:
                return arch
        raise InvalidOption(
            f"a sample keeps all forbidden clauses, {SAMPLE_TRIES:,} draws from {self.name} did not; "
            "turn the clauses into conditions or narrower ranges"
        )

    def at(self, point: Sequence[float]) -> Architecture | None:
        """The configuration at a point of the unit cube; ``None`` where a forbidden clause holds.

        Each coordinate in [0, 1) is a quantile of its hyperparameter's prior, without effect where that is inactive.
        """
        code: list[int] = []
        for (draw, condition), quantile in zip(self._steps, point, strict=True):
            code.append(draw(quantile) if condition is None or condition(code) else INACTIVE)
        return None if any_holds(self._forbidden, code) else Architecture(self.name, tuple(code))

    def neighbors(self, arch: Architecture) -> Iterator[Architecture]:
        """Every valid configuration one edit away.

        An edit gives one active hyperparameter another value (categorical), the next or previous value (ordinal,
        integer), or moves it by 1/16 of its (log-)range (float). All others that are active before and after stay.
        Hyperparameters that are active only before or only after may have any values, if they have at most
        ``COMPLETIONS`` settings together. Where they have more, they all must be at their defaults. So being a
        neighbour is mutual. With floats, it is so up to rounding, and a float that an edit switches on starts at its
        default, whatever it was when it was switched off.
        """
        for code in self._neighborhoods.around(arch.code):
            yield Architecture(self.name, code)

    def mutate(self, arch: Architecture, rng: np.random.Generator) -> Architecture:
        """One active hyperparameter, any with equal chance, redrawn to another value.

        Categoricals take any other value, the rest a Gaussian step of 0.2 of the (log-)range, reflected at the bounds;
        what this switches on is drawn from its prior. Where forbidden clauses leave no such way, a random neighbour;
        and where there is none, as in a space of one point, ``arch`` itself.
        """
        return Architecture(self.name, self._neighborhoods.mutated(arch.code, rng))

    # --- checking ----------------------------------------------------------------------------------------------------

    def _check_code(self, code: tuple[int, ...]) -> None:
        for position, (value, parameter) in enumerate(zip(code, self.hyperparameters, strict=True)):
            rule = self._rules.conditions[position]
            if value != INACTIVE and not 0 <= value <= parameter.last:
                raise InvalidArchitecture(
                    f"{self.name}'s {parameter.name} has codes 0 to {parameter.last}, {INACTIVE} where inactive, got "
                    f"{value}; make them with parse or from_native"
                )
            if rule is not None and not rule.holds(code):
                if value != INACTIVE:
                    raise InvalidArchitecture(
                        f"{self.name}'s {parameter.name} is inactive ({rule.text}), got "
                        f"{shorten(parameter.value(value))}; drop it"
                    )
            elif value == INACTIVE:
                condition = f" ({rule.text})" if rule else ""
                raise InvalidArchitecture(
                    f"{self.name}'s {parameter.name} is active{condition}, got no value; set it: {parameter.describe()}"
                )
        for rule in self._rules.forbidden:
            if rule.holds(code):
                read = [self.hyperparameters[index] for index in sorted(rule.reads) if code[index] != INACTIVE]
                values = {parameter.name: parameter.value(code[self._positions[parameter.name]]) for parameter in read}
                raise InvalidArchitecture(
                    f"{self.name} forbids {rule.text}, got {shorten(values)}; change one of these"
                )

    # --- text and foreign forms --------------------------------------------------------------------------------------

    def format(self, arch: Architecture) -> str:
        """A JSON object of the active hyperparameters, in the ConfigSpace's order."""
        return json.dumps(self.to_native(arch))

    def parse(self, text: str) -> Architecture:
        try:
            values = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant)
        except (ValueError, TypeError, RecursionError) as error:
            raise ParseError(f"a {self.name} architecture is a JSON object, got {shorten(text)}: {error}") from None
        if not isinstance(values, dict):
            raise ParseError(f'a {self.name} architecture reads {{"name": value, …}} in JSON, got {shorten(text)}')
        return self.from_native(values)

    def to_native(self, arch: Architecture) -> dict[str, Any]:
        """The values of the active hyperparameters, as plain Python."""
        return {
            parameter.name: parameter.value(value)
            for parameter, value in zip(self.hyperparameters, arch.code, strict=True)
            if value != INACTIVE
        }

    def from_native(self, obj: Mapping[str, Any]) -> Architecture:
        """The architecture with these values, which may be numpy scalars; what is inactive is left out."""
        if not isinstance(obj, Mapping):
            raise InvalidArchitecture(
                f"{self.name} takes a mapping of names to values, got {type(obj).__name__} {shorten(obj)}"
            )
        code = [INACTIVE] * self.code_length
        for name, value in dict(obj).items():
            position = self._positions.get(name)
            if position is None:
                raise InvalidArchitecture(
                    f"{self.name} has no hyperparameter {shorten(name)}; {nearest(str(name), self._positions)}"
                )
            code[position] = self.hyperparameters[position].code(value)
        arch = Architecture(self.name, tuple(code))
        self.validate(arch)
        return arch

    def _build_configspace(self) -> ConfigurationSpace:
        return self._source

    def to_config(self, arch: Architecture) -> Configuration:
        """The configuration with exactly these values; from its vector, ConfigSpace would compute floats again."""
        from ConfigSpace import Configuration

        values = self.to_native(arch)
        vector = [self._source[name].to_vector(values[name]) if name in values else np.nan for name in self._positions]
        config = Configuration(self.configspace(), vector=np.array(vector, dtype=np.float64))
        config._values = values
        return config

    def from_config(self, config: Configuration | Mapping[str, Any]) -> Architecture:
        return self.from_native(config)

    # --- batches -----------------------------------------------------------------------------------------------------

    def _encode_onehot(self, codes: Codes) -> NDArray[np.float32]:
        """A categorical or constant is a block of indicators, all zero where it is inactive. The others are a position
        in [0, 1], 0 where inactive; one with a condition has, before it, a flag whether it is active."""
        blocks: list[NDArray[Any]] = []
        for parameter, rule, column in zip(self.hyperparameters, self._rules.conditions, codes.T, strict=True):
            if isinstance(parameter, Choice) and not isinstance(parameter, Ordinal):
                blocks.append(one_hot(column[:, None], [parameter.size]))
                continue
            active = column != INACTIVE
            if rule is not None:
                blocks.append(active[:, None])
            blocks.append(np.where(active, parameter.units(np.maximum(column, 0)), 0)[:, None])
        return np.concatenate(blocks, axis=1, dtype=np.float32)

    def _encode_config(self, codes: Codes) -> NDArray[np.float32]:
        """The place of each value in [0, 1] on its own scale, index by ``size - 1`` where it is a choice."""
        columns = [
            np.where(column == INACTIVE, np.nan, parameter.units(np.maximum(column, 0)))
            for parameter, column in zip(self.hyperparameters, codes.T, strict=True)
        ]
        return np.stack(columns, axis=1).astype(np.float32)

    def graphs(self, archs: Batch) -> Graphs:
        """The tree of choices: a node ``name=value`` for each active hyperparameter, below the active parents of its
        condition, or below a root node where there are none.

        A space has this view if nothing is lost in it, that is if it has no numbers and at most 126 values in all.
        """
        for parameter in self.hyperparameters:
            if not isinstance(parameter, Choice):
                raise InvalidOption(
                    f"a graph's nodes have labels, not numbers, {self.name} has {parameter.name}; use encode"
                )
        names = [
            f"{parameter.name}={parameter.value(code)}"
            for parameter in self.hyperparameters
            for code in range(parameter.size)
        ]
        if len(names) >= _MOST_LABELS:
            raise InvalidOption(
                f"graphs have up to {_MOST_LABELS} node labels, {self.name} needs {len(names) + 1}; use encode"
            )
        codes = self.codes(archs)
        active = codes != INACTIVE
        first = 1 + np.cumsum([0, *(parameter.size for parameter in self.hyperparameters[:-1])])
        nodes = np.zeros((len(codes), self.code_length + 1), dtype=np.int8)
        nodes[:, 1:] = np.where(active, codes + first, ABSENT)
        edges = np.full((len(codes), self.code_length + 1, self.code_length + 1), ABSENT, dtype=np.int8)
        for child, parents in enumerate(self._rules.parents):
            orphan = active[:, child].copy()
            for parent in parents:
                linked = active[:, child] & active[:, parent]
                edges[linked, parent + 1, child + 1] = 0
                orphan &= ~linked
            edges[orphan, 0, child + 1] = 0
        return Graphs(nodes, edges, (_ROOT, *names), ("condition",))

    def diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        values = self.to_native(arch)
        nodes = tuple(Node(name, f"{name}={value}") for name, value in values.items())
        edges = tuple(
            (self.hyperparameters[parent].name, self.hyperparameters[child].name)
            for child, parents in enumerate(self._rules.parents)
            for parent in parents
            if arch.code[child] != INACTIVE != arch.code[parent]
        )
        return (Diagram(self.name, nodes, edges),)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} is given more than once")
    return values


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a number")
