"""How Bonsai-Net searches, as data: everything but the dataset and the seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, shorten
from nasbed.oneshot.settings import OneShotSettings, recipe_of
from nasbed.spaces.bonsai import Frame, bonsai_space
from nasbed.spaces.bonsai.costs import BonsaiClassifier, check_classifier
from nasbed.training.recipe import Recipe

METHOD = "bonsai-net"
"""What the method is called where methods have names."""
_NUMBERS = ("target", "least_open", "compression", "input_compression", "gate_start", "gate_bound")


@dataclass(frozen=True, slots=True)
class BonsaiSettings(OneShotSettings):
    """``cells``, ``nodes``, ``channels`` and ``classifier`` are the network's, see ``Frame`` and ``BonsaiSkeleton``;
    the defaults are small.

    Pruners start at ``gate_start`` and stay within ``gate_bound`` of 0. Two penalties are added to the loss until
    operations of the share ``target`` are left. One is the distance of each cell from a little less than that share,
    times ``compression``. The other is the distance of its inputs from a single one, times ``input_compression``. Both
    weights double every ``cycle`` epochs. An operation whose gate was open in less than ``least_open`` of the steps of
    the last ``interval`` epochs is removed for good.

    ``split`` is how many training images train and how many validate; weights and pruners learn from the former.
    """

    owner: ClassVar[str] = "bonsai"
    later_fields: ClassVar[Mapping[str, Any]] = {"classifier": "pooled"}

    cells: str = "nrn"
    nodes: int = 2
    channels: int = 8
    target: float = 0.3
    compression: float = 0.5
    input_compression: float = 0.5
    cycle: int = 4
    interval: int = 2
    least_open: float = 0.25
    gate_start: float = 0.01
    gate_bound: float = 0.05
    epochs: int = 10
    batch: int = 64
    learning_rate: float = 0.01
    final_learning_rate: float = 0.0
    momentum: float = 0.9
    weight_decay: float = 3e-4
    gradient_clip: float | None = 5.0
    crop_padding: int = 0
    flip: bool = False
    cutout: int = 0
    drop_path: float = 0.0
    split: tuple[int, int] | None = None
    epoch_images: int | None = None
    precision: Literal["float32", "bfloat16"] = "float32"
    classifier: BonsaiClassifier = "pooled"

    def __post_init__(self) -> None:
        self.frame()
        check_classifier(self.classifier)
        for name in ("channels", "cycle", "interval"):
            self._check(
                name, type(getattr(self, name)) is int and getattr(self, name) >= 1, "a whole number, 1 or more"
            )
        for name in _NUMBERS:
            self._check(name, type(getattr(self, name)) in (int, float), "a number")
        for name in ("target", "least_open"):
            self._check(name, 0 < getattr(self, name) <= 1, "above 0 and up to 1")
        for name in ("compression", "input_compression"):
            self._check(name, 0 <= getattr(self, name) < math.inf, "0 or more")
        self._check("gate_start", 0 < self.gate_start < math.inf, "above 0")
        self._check("gate_bound", self.gate_start <= self.gate_bound < math.inf, "gate_start or more")
        self.recipe()

    def _check(self, name: str, is_valid: bool, rule: str) -> None:
        if not is_valid:
            raise InvalidOption(f"the {name} of Bonsai-Net is {rule}, got {shorten(getattr(self, name))}")

    @property
    def aim(self) -> float:
        """What cells are pulled to: less than the target, so that it is passed."""
        return self.target * (0.9 if self.target > 0.35 else 0.66)

    def strength(self, epoch: int) -> float:
        """How many times stronger than at first the compression is in an epoch, counted from 0."""
        return 2.0 ** (epoch // self.cycle)

    def frame(self) -> Frame:
        return Frame(self.cells, self.nodes)

    def random_architecture(self, rng: np.random.Generator) -> Architecture:
        """A random architecture of the space that is searched, of the target's size at the most."""
        return bonsai_space(self.frame().space_name).random(rng, target=self.target)

    @classmethod
    def of_budget(cls, shared: Mapping[str, Any], *, search_cells: int, cells: int) -> dict[str, Any]:
        """The cells that are searched are those that are trained."""
        return {**shared, "cells": bonsai_cells(cells)}

    def recipe(self) -> Recipe:
        return recipe_of(self, "bonsai", drop_path=self.drop_path, split=self.split)


def bonsai_cells(count: int) -> str:
    """``count`` cells; those at one and two thirds reduce, as in a DARTS network.

    >>> bonsai_cells(8)
    'nnrnnrnn'
    """
    return "".join("r" if position in (count // 3, 2 * count // 3) else "n" for position in range(count))
