"""A one-shot method as a plug-in would have it, with settings of its own, in the space nb201. Needs torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nasbed import space
from nasbed.core.architecture import Architecture
from nasbed.oneshot import OneShotSettings
from nasbed.oneshot.methods.base import OneShotMethod
from nasbed.oneshot.search_interface import RunningSearch, SearchSetup
from nasbed.oneshot.search_text import SearchWording
from nasbed.training.recipe import Recipe


@dataclass(frozen=True, slots=True)
class DrawSettings(OneShotSettings):
    owner: ClassVar[str] = "draw"

    epochs: int = 3
    draws: tuple[int, ...] = (1, 2)

    def recipe(self) -> Recipe:
        return Recipe(name="draw", epochs=(self.epochs,), batch=1, learning_rate=0.1)


class DrawSearch(RunningSearch[DrawSettings]):
    """Takes a random architecture of nb201 in each epoch."""

    count = 0

    def train_epoch(self, number: int) -> float:
        self.count = number + 1
        return 0.0

    def parameters(self) -> dict[str, NDArray[Any]]:
        return {}

    def accuracy(self) -> float | None:
        return None

    def architecture(self) -> Architecture:
        return space("nb201").sample(np.random.default_rng([self.seed, self.count, *self.settings.draws]))

    def skips(self, arch: Architecture) -> dict[str, int]:
        return {"cell": arch.code.count(1)}

    def state(self) -> dict[str, Any]:
        return {"count": self.count}

    def load(self, state: Mapping[str, Any]) -> None:
        self.count = state["count"]


class DrawMethod(OneShotMethod[DrawSettings]):
    settings = DrawSettings
    chooses_space = False
    settings_prefix = ""

    @classmethod
    def searched_space(cls, space: str | None, settings: DrawSettings) -> str:
        return "nb201"

    @classmethod
    def start_search(cls, setup: SearchSetup[DrawSettings]) -> DrawSearch:
        return DrawSearch(setup)

    @classmethod
    def wording(cls, space: str, settings: DrawSettings) -> SearchWording:
        raise NotImplementedError
