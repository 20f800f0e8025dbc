"""How a network is trained, as data: everything but the architecture, the dataset and the seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal

from nasbed.core.errors import InvalidOption, shorten

SPLIT_SEED = 0
"""Which images validate is the same for every seed of a training."""

_WHOLE = ("batch", "crop_padding", "cutout", "epoch_images")
_FLAGS = ("nesterov", "flip")
_TEXTS = ("name", "optimizer", "precision", "weight_init", "source")
_LISTS = ("epochs", "split")
_LATER = ("norm_momentum", "weight_init")
"""Fields that :meth:`Recipe.settings` leaves out at their defaults, so that what was stored before them stays valid."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A training recipe. ``epochs`` are its budgets, rising; the last is the default. Each is a training of its own
    whose learning rate falls along half a cosine from ``learning_rate`` to ``final_learning_rate``, step by step.

    ``split`` is how many images of the training part are trained on and validated with, None for four fifths and one.
    ``epoch_images`` is the number of images per epoch, drawn again each time, None for all; a last batch that is not
    full is left out. ``norm_momentum`` is the weight of the newest batch in the moving averages of batch normalisation,
    None for what the network has; TensorFlow counts the other way round, so its 0.997 is 0.003 here. ``weight_init``
    says how first weights are distributed (:func:`~nasbed.training.random_streams.initial_weights`). ``skeleton`` has
    the settings of the space's skeleton: what stands around the cells.
    """

    name: str
    epochs: tuple[int, ...]
    batch: int
    learning_rate: float
    final_learning_rate: float = 0.0
    warm_up: float = 0.0  # the part of a training in which the learning rate first rises, evenly from 0
    optimizer: Literal["sgd", "rmsprop"] = "sgd"
    momentum: float = 0.9
    nesterov: bool = False
    rmsprop_decay: float = 0.9
    rmsprop_epsilon: float = 1.0
    weight_decay: float = 0.0
    gradient_clip: float | None = None
    sharpness_radius: float = 0.0  # of sharpness-aware minimisation (Foret et al., 2021); 0 is without
    label_smoothing: float = 0.0
    crop_padding: int = 0
    flip: bool = False
    cutout: int = 0
    mixup: float = 0.0
    auxiliary_weight: float = 0.0
    drop_path: float = 0.0  # rises to it evenly from 0 in the first epoch: see drop_path_in
    split: tuple[int, int] | None = None
    epoch_images: int | None = None
    precision: Literal["float32", "bfloat16"] = "float32"
    norm_momentum: float | None = None
    weight_init: Literal["torch", "tensorflow"] = "torch"
    skeleton: Mapping[str, Any] = field(default_factory=dict, hash=False)
    source: str = ""

    def __post_init__(self) -> None:
        self._check_kinds()
        object.__setattr__(self, "epochs", tuple(self.epochs))
        object.__setattr__(
            self, "skeleton", MappingProxyType({name: _frozen(value) for name, value in self.skeleton.items()})
        )
        if self.split is not None:
            object.__setattr__(self, "split", tuple(self.split))
        self._check("split", self.split is None or len(self.split) == 2, "how many images train and how many validate")
        if not self.epochs or list(self.epochs) != sorted(set(self.epochs)) or self.epochs[0] < 1:
            raise InvalidOption(f"a recipe's epochs are budgets of 1 or more, rising, got {shorten(self.epochs)}")
        self._check("name", bool(self.name), "a word or more")
        self._check("batch", self.batch >= 1, "1 or more")
        self._check("learning_rate", 0 < self.learning_rate < math.inf, "above 0")
        self._check("final_learning_rate", 0 <= self.final_learning_rate <= self.learning_rate, "0 to learning_rate")
        self._check("optimizer", self.optimizer in ("sgd", "rmsprop"), "sgd or rmsprop")
        self._check("precision", self.precision in ("float32", "bfloat16"), "float32 or bfloat16")
        self._check("weight_init", self.weight_init in ("torch", "tensorflow"), "torch or tensorflow")
        self._check("norm_momentum", self.norm_momentum is None or 0 < self.norm_momentum <= 1, "above 0, at most 1")
        self._check("gradient_clip", self.gradient_clip is None or self.gradient_clip > 0, "above 0")
        are_enough = self.epoch_images is None or self.epoch_images >= self.batch
        self._check("epoch_images", are_enough, f"a batch of {self.batch} or more")
        for name in ("momentum", "rmsprop_decay", "label_smoothing", "drop_path", "warm_up"):
            self._check(name, 0 <= getattr(self, name) < 1, "0 to below 1")
        for name in (
            "weight_decay",
            "rmsprop_epsilon",
            "sharpness_radius",
            "crop_padding",
            "cutout",
            "mixup",
            "auxiliary_weight",
        ):
            self._check(name, 0 <= getattr(self, name) < math.inf, "0 or more")
        if self.nesterov and not (self.momentum and self.optimizer == "sgd"):
            raise InvalidOption("nesterov is a kind of sgd's momentum, got none; leave nesterov out or set momentum")

    def _check_kinds(self) -> None:
        """Raise unless every field has a value of its kind."""
        for item in fields(self):
            value = getattr(self, item.name)
            if value is None and item.default is None:
                continue
            if item.name in _WHOLE:
                holds, kind = type(value) is int, "a whole number"
            elif item.name in _FLAGS:
                holds, kind = type(value) is bool, "true or false"
            elif item.name in _TEXTS:
                holds, kind = isinstance(value, str), "text"
            elif item.name in _LISTS:
                holds = isinstance(value, list | tuple) and all(type(item_value) is int for item_value in value)
                kind = "a list of whole numbers"
            elif item.name == "skeleton":
                holds = isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
                kind = "a table of settings"
            else:
                holds, kind = type(value) in (int, float), "a number"
            self._check(item.name, holds, kind)

    def _check(self, name: str, holds: bool, rule: str) -> None:
        if not holds:
            raise InvalidOption(f"the {name} of a recipe is {rule}, got {shorten(getattr(self, name))}")

    def budget(self, epochs: int | None) -> int:
        """The epochs of a training: those requested, or the recipe's largest budget."""
        if epochs is None:
            return self.epochs[-1]
        if epochs not in self.epochs:
            budgets = ", ".join(map(str, self.epochs))
            raise InvalidOption(f"the recipe {self.name} has the budgets {budgets} epochs, got {epochs}; choose one")
        return epochs

    def steps_per_epoch(self, images: int) -> int:
        """Full batches of an epoch over a training part of ``images`` images."""
        steps = min(self.epoch_images or images, images) // self.batch
        if not steps:
            raise InvalidOption(
                f"the recipe {self.name} has batches of {self.batch}, got {images} images to train on; lower its batch"
            )
        return steps

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step, counted from 0, of a training of ``steps``."""
        span = self.learning_rate - self.final_learning_rate
        cosine = self.final_learning_rate + span * (1 + math.cos(math.pi * step / steps)) / 2
        rising = self.warm_up * steps
        return cosine * min(1.0, (step + 1) / rising) if rising else cosine

    def check_population(self) -> None:
        """Raise where networks have to be trained one at a time."""
        alone = {
            "optimizer": self.optimizer != "sgd",
            "sharpness_radius": self.sharpness_radius,
            "mixup": self.mixup,
            "auxiliary_weight": self.auxiliary_weight,
            "drop_path": self.drop_path,
            "norm_momentum": self.norm_momentum is not None,
            "weight_init": self.weight_init != "torch",
        }
        if refused := [name for name, is_set in alone.items() if is_set]:
            raise InvalidOption(
                f"a population is trained by SGD from torch's first weights, without {', '.join(list(alone)[1:-1])}; "
                f"the recipe {self.name} sets "
                f"{', '.join(refused)}: train its networks alone"
            )

    def drop_path_in(self, epoch: int, epochs: int) -> float:
        """The probability that a path is dropped in an epoch, counted from 0; it rises as in DARTS."""
        return self.drop_path * epoch / epochs

    def settings(self) -> dict[str, Any]:
        """Every field as plain values, for provenance and for files."""
        return {
            item.name: _plain(getattr(self, item.name))
            for item in fields(self)
            if item.name not in _LATER or getattr(self, item.name) != item.default
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """So that a recipe can be sent to another process, and copied."""
        return _recipe, (self.settings(),)


FIELDS = {item.name: item.default is MISSING and item.default_factory is MISSING for item in fields(Recipe)}
"""The names of a recipe's fields, and whether each must be given."""


def _recipe(settings: dict[str, Any]) -> Recipe:
    return Recipe(**settings)


def _frozen(value: Any) -> Any:
    """Lists, as files have them, as tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    """Tuples as lists, tables as dictionaries."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
