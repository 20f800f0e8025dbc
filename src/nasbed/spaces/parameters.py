"""The parameters of a space's ConfigSpace, one by one, for tools that choose a value for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ConfigSpace import CategoricalHyperparameter, Constant, OrdinalHyperparameter, UniformIntegerHyperparameter
from ConfigSpace.types import NotSet

from nasbed.core.errors import InvalidArchitecture

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: the ``options`` of a choice, none for a range. It is active where all ``conditions`` hold."""

    index: int
    name: str
    options: tuple[Any, ...]
    conditions: tuple[Any, ...]
    source: Any  # ConfigSpace's own, of a class for each kind

    @property
    def ordered(self) -> bool:
        """Whether its values have an order: a range, or options that are a sequence."""
        return not self.options or isinstance(self.source, OrdinalHyperparameter)

    @property
    def is_integer(self) -> bool:
        """Whether it is a range of whole numbers."""
        return isinstance(self.source, UniformIntegerHyperparameter)

    @property
    def is_logarithmic(self) -> bool:
        """Whether it is a range on a logarithmic scale."""
        return bool(getattr(self.source, "log", False))

    @property
    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest value of a range, both included."""
        return self.source.lower, self.source.upper

    def value(self, number: float) -> Any:
        """The option of this number, or the value at this position of the range."""
        if self.options:
            return self.options[int(number)]
        return min(max(self.source.to_value(number), self.source.lower), self.source.upper)


def parameters_of(source: ConfigurationSpace) -> tuple[Parameter, ...]:
    """All parameters in the order of the ConfigSpace, where a parameter comes after those that its conditions name."""
    return tuple(
        Parameter(index, name, _options(parameter), tuple(source.parent_conditions_of[name]), parameter)
        for index, (name, parameter) in enumerate(source.items())
    )


def chosen_values(parameters: Sequence[Parameter], choose: Callable[[Parameter], Any]) -> dict[str, Any]:
    """The configuration with the values that ``choose`` returns. It is called for active parameters only."""
    values: dict[str, Any] = {}
    for parameter in parameters:
        active = all(condition.satisfied_by_value(values) for condition in parameter.conditions)
        values[parameter.name] = choose(parameter) if active else NotSet
    return {name: value for name, value in values.items() if value is not NotSet}


def values_by_name(values: Mapping[str, Any], space_name: str) -> Callable[[Parameter], Any]:
    """What chooses the value that a mapping has for a parameter; raises where it has none for an active one."""

    def choose(parameter: Parameter) -> Any:
        if parameter.name not in values:
            raise InvalidArchitecture(
                f"the choices for {space_name} have a value for each active parameter, got none for {parameter.name}; "
                "add it"
            )
        return values[parameter.name]

    return choose


def _options(source: Any) -> tuple[Any, ...]:
    if isinstance(source, CategoricalHyperparameter):
        return tuple(source.choices)
    if isinstance(source, OrdinalHyperparameter):
        return tuple(source.sequence)
    return (source.value,) if isinstance(source, Constant) else ()
