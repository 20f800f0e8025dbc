"""Architectures as configurations of ConfigSpace, the form that libraries for hyperparameters share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import ParseError, shorten

if TYPE_CHECKING:
    from ConfigSpace import Configuration, ConfigurationSpace

    from nasbed.spaces.parameters import Parameter


class ConfigForm(ABC):
    """What a search space can do with configurations. A space says how it is built as a ConfigSpace, and how
    architectures become configurations and back; all else follows."""

    name: str

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Architecture:
        """A random architecture; uniform over the encoded space unless the space says otherwise."""

    @cached_property
    def _configspace(self) -> ConfigurationSpace:
        return self._build_configspace()

    def __getstate__(self) -> dict[str, Any]:
        """Without the ConfigSpace, which a copy builds anew: a process that receives it need not import the package."""
        return {name: value for name, value in vars(self).items() if name != "_configspace"}

    def configspace(self) -> ConfigurationSpace:
        """The space as a ConfigSpace object, for tools that speak that. The same object each time: copy it before
        changing it."""
        return self._configspace

    def definition(self) -> dict[str, Any] | None:
        """The definition that a table stores so that this space can be restored elsewhere. It is empty for a space with
        a registered name, and the ConfigSpace's own dictionary for one made from a ConfigSpace."""
        return None

    @abstractmethod
    def _build_configspace(self) -> ConfigurationSpace: ...

    @abstractmethod
    def to_config(self, arch: Architecture) -> Configuration:
        """The architecture as a configuration of :meth:`configspace`."""

    @abstractmethod
    def from_config(self, config: Configuration | Mapping[str, Any]) -> Architecture:
        """The architecture that a configuration describes; raises where the configuration is not an architecture."""

    def config_parameters(self) -> tuple[Parameter, ...]:
        """The parameters of :meth:`configspace`, one by one, for tools with their own kind of parameters."""
        from nasbed.spaces.parameters import parameters_of

        return parameters_of(self.configspace())

    def sample_config(self, rng: np.random.Generator) -> dict[str, Any]:
        """A random architecture, drawn as by :meth:`sample`, as a dictionary with its active parameters alone.

        Every such configuration is an architecture, unlike a draw from :meth:`configspace`. Its values are plain Python
        ones, for libraries that store them.
        """
        config = self.to_config(self.sample(rng))
        return {name: value.item() if isinstance(value, np.generic) else value for name, value in config.items()}

    def from_choices(self, choose: Callable[[Parameter], Any] | Mapping[str, Any]) -> Architecture:
        """The architecture with the values that ``choose`` returns for each active parameter of the ConfigSpace, or has
        for it by name. Those of inactive parameters are not looked at, for libraries without conditions.

        A parameter is asked for after those that decide whether it is active. Raises as :meth:`from_config` does where
        the values are not an architecture.

        >>> import nasbed
        >>> tiny = nasbed.space("nb201")
        >>> tiny.format(tiny.from_choices(lambda parameter: parameter.options[0]))
        '|none~0|+|none~0|none~1|+|none~0|none~1|none~2|'
        """
        from nasbed.spaces.parameters import chosen_values, values_by_name

        choose = values_by_name(choose, self.name) if isinstance(choose, Mapping) else choose
        return self.from_config(chosen_values(self.config_parameters(), choose))

    def config_values(self, config: Configuration | Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that a configuration sets, by name."""
        try:
            values = dict(config)
        except (TypeError, ValueError):
            values = {}
        if not values or not all(isinstance(name, str) for name in values):
            raise ParseError(f"a configuration maps parameter names to values, got {shorten(config)}")
        return values
