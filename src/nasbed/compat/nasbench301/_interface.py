"""What :func:`~nasbed.compat.nasbench301.api.load_ensemble` returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from nasbed.compat.nasbench301.representations import find_converter
from nasbed.core.architecture import Architecture


class SurrogateAPI(ABC):
    """An ensemble of surrogates behind the published methods."""

    is_runtime: bool = False
    """Whether it predicts a training time in seconds, not an accuracy in percent."""

    def convert_representation(self, config: Any, representation: str) -> dict[str, Any]:
        """The configuration as a dictionary with the parameters of the architecture."""
        return find_converter(representation).convert(config)

    def predict(self, config: Any, representation: str, with_noise: bool = True) -> float:
        """The prediction for a Genotype (``representation="genotype"``) or a ConfigSpace configuration, or the
        dictionary of one (``"configspace"``); with another draw of noise each time, or without."""
        arch = find_converter(representation).architecture(config)
        return self._draw(arch) if with_noise else self._mean(arch)

    @abstractmethod
    def _mean(self, arch: Architecture) -> float:
        """The prediction without noise."""

    @abstractmethod
    def _draw(self, arch: Architecture) -> float:
        """The prediction with the next draw of noise."""
