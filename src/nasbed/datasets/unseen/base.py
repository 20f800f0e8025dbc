"""What a generator of an unseen dataset is, and what it makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.datasets.dataset import Images, Labels
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.draws import Draws, Integers

PARTS = ("train", "valid", "test")
VOUCHED = "Its maker vouches, with --genuine, that the material is the published one; no digest shows it."
CITATION = (
    "Geada, Towers et al., Insights from the use of previously unseen neural architecture search datasets, CVPR 2024"
)


@dataclass(frozen=True, slots=True, eq=False)
class GeneratedPart:
    """Images, labels, and the origins of each image: columns by name, one row per image.

    Origins are what the rules of a dataset are about: source images, words, phrases, games, recordings.
    """

    images: Images
    labels: Labels
    origins: Mapping[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True, eq=False)
class GeneratedDataset:
    """A generated dataset in memory. ``sources`` are the digests of its raw material by name.

    ``notes`` are sentences for the reader of its card: what was left out, and why. ``substitute`` says why the material
    is not that of the published dataset, such as "3 of 3 recordings are not said to be the museum's"; it is empty where
    nothing speaks against it.
    """

    train: GeneratedPart
    valid: GeneratedPart
    test: GeneratedPart
    sources: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    substitute: str = ""

    @property
    def parts(self) -> dict[str, GeneratedPart]:
        return dict(zip(PARTS, (self.train, self.valid, self.test), strict=True))


def reduction_note(generated: Sequence[GeneratedPart], published: Sequence[int], reason: str) -> list[str]:
    """The note on a dataset with fewer images than published; none where it has all."""
    sizes = [len(part) for part in generated]
    if sizes == list(published):
        return []
    return [
        f"Reduced: {'/'.join(map(str, sizes))} images instead of the published {'/'.join(map(str, published))}, "
        f"because {reason}; results on it are not comparable with the paper's."
    ]


def positions_in(order: Iterable[str], values: Iterable[object]) -> Integers:
    """The position of each value in an order; −1 for one that is not in it.

    >>> positions_in(("a", "b"), ["b", "c"]).tolist()
    [1, -1]
    """
    positions = {value: position for position, value in enumerate(order)}
    return np.array([positions.get(str(value), -1) for value in values], np.int64)


class UnseenGenerator(ABC):
    """One of the datasets: what the paper says about it, and how it is generated."""

    name: str
    title: str
    kind: int
    """The paper's type: 1, which a person could solve, or 2."""
    shape: tuple[int, int, int]
    classes: tuple[str, ...]
    counts: tuple[int, int, int]
    """Images to train on, to validate with and to test with; of a published dataset, as published."""
    benchmark: float | None = None
    """The accuracy of ResNet-18 in the paper's table 1, in per cent; None where the paper does not have the dataset."""
    rule: str
    """The labelling rule, in a sentence."""
    is_as_released: bool = False
    """Whether the authors' scripts are followed."""
    difference: str = ""
    """How the dataset is made otherwise than the published one is here, in a sentence; empty for that one."""
    needs: str
    """The raw material and how to get it, in a sentence."""
    hygiene: tuple[str, ...] = ()
    """Origins that may share no value between two parts."""
    licence: str = ""
    recognises_material: bool = True
    """Whether digests tell the published material from any other; where not, its owner says what it is."""

    def make(
        self,
        source: Path | None,
        *,
        seed: int,
        progress: Progress,
        genuine: bool = False,
    ) -> GeneratedDataset:
        """The whole dataset.

        Args:
            source: A folder or file with the raw material, or None where it is found without.
            seed: The seed of every random choice.
            progress: Called while images are made.
            genuine: The caller vouches that the material is the published one, where digests cannot tell.
        """
        if genuine and self.recognises_material:
            raise InvalidOption(f"--genuine does not apply to {self.name}: digests tell its material; omit it")
        generated = self._generate(source, Draws(seed, self.name), progress)
        if genuine and generated.substitute:
            raise BadFile(f"--genuine does not apply to {source}: {generated.substitute}; omit it")
        if genuine:
            return replace(generated, notes=(*generated.notes, VOUCHED))
        if not (self.recognises_material or generated.substitute):
            return replace(generated, substitute="nobody vouched for the material with --genuine")
        return generated

    def as_released(self) -> UnseenGenerator:
        """The generator that follows the authors' published scripts where they differ from the paper; raises where none
        are known."""
        raise InvalidOption(f"--as-released does not apply to {self.name}: no published scripts are known; omit it")

    @abstractmethod
    def _generate(self, source: Path | None, draws: Draws, progress: Progress) -> GeneratedDataset:
        """The dataset as the paper describes it, with ``draws`` for every random choice."""

    @abstractmethod
    def label_of(self, images: Images, origins: Mapping[str, NDArray[Any]]) -> Labels:
        """The labels by the rule: from the pixels where possible, otherwise from the origins."""

    def picture(self, image: Images) -> NDArray[np.uint8]:
        """One image to look at, [height, width, 3]; of other than 1 or 3 channels a dataset draws its own."""
        pixels = image if image.dtype == np.uint8 else np.clip(np.round(image), 0, 255).astype(np.uint8)
        if len(pixels) not in (1, 3):
            raise NotImplementedError(f"{self.name} has {len(pixels)} channels and draws its own pictures")
        return np.ascontiguousarray(np.broadcast_to(pixels, (3, *pixels.shape[1:])).transpose(1, 2, 0))

    def check(self, dataset: GeneratedDataset) -> None:
        """Raise unless shapes, labels and the division into parts are valid."""
        for part, images_of_part in dataset.parts.items():
            if images_of_part.images.shape != (len(images_of_part), *self.shape):
                raise BadFile(
                    f"images of {self.name} have the shape {self.shape}, {part} has {images_of_part.images.shape}"
                )
            if not np.array_equal(self.label_of(images_of_part.images, images_of_part.origins), images_of_part.labels):
                raise BadFile(f"some {part} labels of {self.name} do not follow its rule: {self.rule}")
            if not np.array_equal(np.unique(images_of_part.labels), np.arange(len(self.classes))):
                raise BadFile(f"every part of {self.name} has all {len(self.classes)} classes, {part} lacks one")
        for origin in self.hygiene:
            parts = [np.unique(images_of_part.origins[origin]) for images_of_part in dataset.parts.values()]
            if len(np.unique(np.concatenate(parts))) != sum(map(len, parts)):
                raise BadFile(f"{self.name} has the same {origin} in two parts")
