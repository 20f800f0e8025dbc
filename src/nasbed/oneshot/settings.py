"""How a supernet is trained, as data: everything but the method, the space, the dataset and the seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar

from nasbed.core.errors import InvalidOption, shorten
from nasbed.training.recipe import Recipe

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The defaults are those of DARTS (section 3 and appendix A.1) but for the augmentation, which on CIFAR-10 is crops
    of 4 and mirroring and in general is none.

    ``cells`` is the number of cells, in nb201 of each stage; None is what is usual, 8 and 5. ``split`` is how many
    training images train weights and how many architectures, None for half and half; where the dataset is published
    with images to validate with, the latter are left out. ``epoch_images`` makes an epoch that many images of each,
    drawn anew each time, None all of them; the supernet is then judged on the first so many, 1 024 or more.

    ``affine`` and ``normalised_pools`` are of the supernet, see ``SupernetSize``. With ``eigenvalue_images`` the
    dominant eigenvalue of the architecture parameters' Hessian is measured after each epoch on the first so many
    images.
    """

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
        """The settings of weights and images as a recipe; raises where a value is out of range."""
        return recipe_of(self, "search")

    def plain(self) -> dict[str, Any]:
        """Every field as JSON has it."""
        return plain_settings(self)


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


def recipe_of(settings: Any, name: str, **fields: Any) -> Recipe:
    """The recipe with the fields that the settings of every search share with it, and with further ones."""
    shared = {field: getattr(settings, field) for field in _TRAINED}
    return Recipe(name=name, epochs=(settings.epochs,), **shared, **fields)


def plain_settings(settings: Any) -> dict[str, Any]:
    """Every field of the settings of a search as JSON has it."""
    return asdict(settings) | {"split": None if settings.split is None else list(settings.split)}


def read_settings(kind: type[S], stored: Mapping[str, Any]) -> S:
    """The inverse of ``plain``."""
    split = stored["split"]
    return kind(**{**stored, "split": None if split is None else tuple(split)})
