"""How one-shot methods search, as data: everything but the method, the space, the dataset and the seed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Self

from nasbed.core.errors import InvalidOption, shorten
from nasbed.training.recipe import Recipe


class OneShotSettings(ABC):
    """The settings of a one-shot method: a frozen dataclass, all of whose fields have defaults and are as JSON has
    them, or tuples.

    ``owner`` is what the settings are called where those of several methods are set: ``--set supernet.flip=true``.
    ``later_fields`` are those that earlier versions lacked, each with the value by which nothing changes.
    """

    __slots__ = ()

    owner: ClassVar[str]
    later_fields: ClassVar[Mapping[str, Any]] = {}
    epochs: int

    @abstractmethod
    def recipe(self) -> Recipe:
        """The settings of weights and images as a recipe; raises where a value is out of range."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all fields, in their order."""
        return tuple(item.name for item in fields(cls))  # type: ignore[arg-type]

    def plain(self) -> dict[str, Any]:
        """Every field as JSON has it."""
        values = {name: getattr(self, name) for name in self.names()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def identity(self) -> dict[str, Any]:
        """:meth:`plain` without later fields that change nothing, so that results of earlier versions stay the same."""
        later = self.later_fields
        return {name: value for name, value in self.plain().items() if name not in later or value != later[name]}

    @classmethod
    def from_plain(cls, stored: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`plain`. Fields that were added later may be absent, a split never was."""
        if "split" in cls.names() and "split" not in stored:
            raise KeyError("split")
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()})

    @classmethod
    def of_budget(cls, shared: Mapping[str, Any], *, search_cells: int, cells: int) -> dict[str, Any]:
        """The values of a budget that several methods share, as far as these settings have them.

        Args:
            shared: Values by the names of fields.
            search_cells: The cells of the network that is searched.
            cells: The cells of the network that is trained afterwards.
        """
        return {name: value for name, value in {**shared, "cells": search_cells}.items() if name in cls.names()}


@dataclass(frozen=True, slots=True)
class SearchSettings(OneShotSettings):
    """How a supernet is trained. The defaults are those of DARTS (section 3 and appendix A.1) but for the augmentation,
    which is crops of 4 and mirroring on CIFAR-10, and none in general.

    ``cells`` is the number of cells, in nb201 of each stage; None is what is usual, 8 and 5. ``split`` is how many
    training images train weights and how many architectures, None for half and half. If the dataset is published with a
    validation part, that part is left out. ``epoch_images`` is the number of images of each per epoch, drawn again each
    time; None means all. The supernet is then evaluated on the first ``epoch_images``, at least 1 024.

    ``affine`` and ``normalised_pools`` are of the supernet, see ``SupernetSize``. With ``eigenvalue_images`` the
    dominant eigenvalue of the architecture parameters' Hessian is measured after each epoch on the first that many
    images.
    """

    owner: ClassVar[str] = "supernet"

    epochs: int = 50
    batch: int = 64
    channels: int = 16
    cells: int | None = None
    learning_rate: float = 0.025
    final_learning_rate: float = 0.001
    momentum: float = 0.9
    weight_decay: float = 3e-4
    gradient_clip: float | None = 5.0
    crop_padding: int = 0
    flip: bool = False
    cutout: int = 0
    split: tuple[int, int] | None = None
    epoch_images: int | None = None
    precision: Literal["float32", "bfloat16"] = "float32"
    affine: bool = False
    normalised_pools: bool = True
    eigenvalue_images: int = 0

    def __post_init__(self) -> None:
        for name, least in (("channels", 1), ("cells", 1), ("eigenvalue_images", 0)):
            value = getattr(self, name)
            if not (value is None and name == "cells") and (type(value) is not int or value < least):
                raise InvalidOption(f"the {name} of a search are a whole number, {least} or more, got {shorten(value)}")
        if self.split is not None and (len(self.split) != 2 or min(self.split) < 1):
            raise InvalidOption(f"a search's split is two numbers of images, 1 or more, got {shorten(self.split)}")
        self.recipe()

    def recipe(self) -> Recipe:
        return recipe_of(self, "search")


_TRAINED = (
    "batch",
    "learning_rate",
    "final_learning_rate",
    "momentum",
    "weight_decay",
    "gradient_clip",
    "crop_padding",
    "flip",
    "cutout",
    "epoch_images",
    "precision",
)


def recipe_of(settings: OneShotSettings, name: str, **fields: Any) -> Recipe:
    """The recipe with the fields that the settings of every search share with it, and with further ones."""
    shared = {field: getattr(settings, field) for field in _TRAINED}
    return Recipe(name=name, epochs=(settings.epochs,), **shared, **fields)
