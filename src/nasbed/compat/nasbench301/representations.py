"""The two forms in which a script gives an architecture: a Genotype or a configuration of the published ConfigSpace."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from nasbed.compat.nasbench301._fixed_settings import FIXED_SETTINGS
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, shorten
from nasbed.spaces import space
from nasbed.spaces.darts.cell import OPERATIONS
from nasbed.spaces.darts.genotype import Genotype

OPS = list(OPERATIONS)


class UnsupportedRepresentation(InvalidOption, NotImplementedError):
    """A representation that is neither a genotype nor a configuration."""


class BaseConverter(ABC):
    """Reads one representation."""

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def architecture(self, config: Any) -> Architecture:
        """The architecture that is meant; raises where none is."""

    def convert(self, config: Any) -> dict[str, Any]:
        """The configuration as a dictionary with the parameters of the architecture."""
        return dict(space("darts").to_config(self.architecture(config)))


class GenotypeConverter(BaseConverter):
    """Reads anything with the fields of a Genotype."""

    def __init__(self, name: str = "genotype") -> None:
        super().__init__(name)

    def architecture(self, config: Any) -> Architecture:
        return space("darts").from_native(config)


class ConfigspaceInstanceConverter(BaseConverter):
    """Reads a configuration of the published ConfigSpace, or the dictionary of one. Training settings in it are
    ignored: the published models do not depend on them."""

    def __init__(self, name: str = "configspace") -> None:
        super().__init__(name)

    def architecture(self, config: Any) -> Architecture:
        darts = space("darts")
        values = darts.config_values(config)
        return darts.from_config({name: value for name, value in values.items() if name not in FIXED_SETTINGS})


CONVERTER_DICT: Mapping[str, type[GenotypeConverter | ConfigspaceInstanceConverter]] = {
    "configspace": ConfigspaceInstanceConverter,
    "genotype": GenotypeConverter,
}


def convert_genotype_to_config(arch: Any) -> dict[str, Any]:
    """A Genotype as the dictionary of its configuration."""
    return GenotypeConverter().convert(arch)


def find_converter(representation: str) -> BaseConverter:
    """The converter of a representation."""
    if representation not in CONVERTER_DICT:
        raise UnsupportedRepresentation(
            f"a representation is one of {', '.join(sorted(CONVERTER_DICT, reverse=True))}, got "
            f"{shorten(representation)}; pass one of them"
        )
    return CONVERTER_DICT[representation]()


__all__ = [
    "CONVERTER_DICT",
    "OPS",
    "BaseConverter",
    "ConfigspaceInstanceConverter",
    "Genotype",
    "GenotypeConverter",
    "UnsupportedRepresentation",
    "convert_genotype_to_config",
    "find_converter",
]
