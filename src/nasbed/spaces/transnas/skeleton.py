"""The networks around TransNAS-Bench-101's cells and modules, and the published tasks that need only labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from nasbed.core.errors import InvalidOption, UnknownName, nearest, shorten
from nasbed.spaces.image_size import Image, plain, sides
from nasbed.spaces.skeleton_checks import check_at_least_one

DOUBLING, HALVING = "24", "34"
"""The types of module that double the channels, and those that halve the resolution."""

TASKS: dict[str, dict[str, Any]] = {
    "class_scene": {"classes": 47, "image": 256},
    "class_object": {"classes": 75, "image": 256},
    "jigsaw": {"classes": 1000, "image": 192, "grid": 3},
}
"""The tasks whose target is one label an image, as in the published configurations. The classes of jigsaw are the
permutations of nine tiles of 64 pixels a side."""


@dataclass(frozen=True, slots=True)
class TransNASFrame:
    """What both spaces have around their modules: a stem that divides the resolution by four, and a classifier.

    With a ``grid`` of 3 an image is a puzzle of 3 × 3 tiles, row by row. The stem and the modules see each tile alone,
    and the classifier sees the features of all of them. ``image`` is height and width of the whole, or the side of a
    square.
    """

    channels: int = 64
    grid: int = 1
    """The tiles along each side; 1 where an image is no puzzle."""
    image: Image = 32
    classes: int = 10

    @classmethod
    def for_task(cls, task: str, **settings: Any) -> Self:
        """The published network of a task, other settings changed as given.

        >>> TransNASSkeleton.for_task("class_scene").classes
        47
        """
        if task not in TASKS:
            raise UnknownName(
                f"the tasks with one label an image are {', '.join(TASKS)}, got {shorten(task)}; {nearest(task, TASKS)}"
            )
        return cls(**{**TASKS[task], **settings})

    def __post_init__(self) -> None:
        if self.channels < 2 or self.channels % 2:
            raise InvalidOption(f"the skeleton's channels are an even number, got {self.channels}")
        check_at_least_one(self, "grid", "classes")
        object.__setattr__(self, "image", plain(self.image))
        if any(side % self.grid for side in sides(self.image)):
            raise InvalidOption(
                f"a puzzle of {self.grid} × {self.grid} tiles has sides that are multiples of {self.grid}, got images "
                f"of {shorten(self.image)} pixels"
            )


@dataclass(frozen=True, slots=True)
class TransNASSkeleton(TransNASFrame):
    """The network around the cell, ``64-41414`` in the published texts: a stem that divides the resolution by four,
    then modules of two cells. A module is plain (1), doubles the channels (2), halves the resolution (3) or
    does both (4)."""

    modules: str = "41414"
    cells_per_module: int = 2

    def __post_init__(self) -> None:
        TransNASFrame.__post_init__(self)
        if not self.modules or set(self.modules) - set("1234"):
            raise InvalidOption(f"the skeleton's modules are digits from 1 to 4, got {shorten(self.modules)}")
        check_at_least_one(self, "cells_per_module")


@dataclass(frozen=True, slots=True)
class TransNASMacroSkeleton(TransNASFrame):
    """The network around the modules, ``64-…-basic`` in the published texts: modules of two residual blocks."""

    blocks_per_module: int = 2

    def __post_init__(self) -> None:
        TransNASFrame.__post_init__(self)
        check_at_least_one(self, "blocks_per_module")
