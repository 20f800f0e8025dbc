"""Families of datasets whose images are composed of several images of another, and whose label follows from their
labels.

What is decided where the paper is silent:

- Classes are balanced to the image, as the column "Random" of its table 1 implies. Each label is drawn equally often.
  The labels of the source are drawn uniformly from all combinations with that label.
- Source images are divided before anything is drawn. Those of the source's test part make the test part. Those of its
  training part are divided by chance between training and validation, in proportion to what is made of them.
- Within a part an image of the source may be used again, but not twice in one composition.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.datasets.conversion import DATASETS
from nasbed.datasets.dataset import Images, Labels
from nasbed.datasets.resize import resized
from nasbed.datasets.source import Progress, Raw
from nasbed.datasets.unseen.base import GeneratedDataset, GeneratedPart
from nasbed.datasets.unseen.draws import Draws, Integers
from nasbed.datasets.unseen.families.family import DatasetFamily
from nasbed.datasets.unseen.families.label_rules import chosen_rule, unread_parameters
from nasbed.datasets.unseen.sources.material import images_of

BLOCK = 1_000
_DIVIDED, _LABELLED, _COMBINED, _PICKED = range(4)


class ComposedFamily(DatasetFamily):
    """Several images of a source, put together. Origins are their numbers in the source, those of its test part after
    those of its training part, and their labels there."""

    origin: ClassVar[str]
    origin_label: ClassVar[str]
    divides_training: ClassVar[bool] = True
    """Whether no source image is in both training and validation; else both draw from the source's training part."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        unread = unread_parameters(self.settings["rule"])
        if useless := sorted(unread & set(settings)):
            raise InvalidOption(f"the rule {self.settings['rule']} does not read {useless[0]}; omit it")
        self.settings = {key: value for key, value in self.settings.items() if key not in unread}

    @abstractmethod
    def combined(self) -> tuple[int, int]:
        """How many source images are put together, and of how many classes of the source, the first ones."""

    def fitting_defaults(self) -> Iterator[tuple[str, Any]]:
        pieces, kinds = self.combined()
        yield "largest", min(self.settings["largest"], pieces * (kinds - 1))
        yield "weights", tuple(range(1, pieces + 1))
        yield "side", min(self.settings["side"], DATASETS.get(self.settings["source"]).shape[-1])

    def _compose(self) -> None:
        """Set what the family's parameters decide."""
        source = DATASETS.get(self.settings["source"])
        pieces, kinds = self.combined()
        if kinds > len(source.classes):
            raise InvalidOption(f"{source.name} has {len(source.classes)} classes, got kinds={kinds}; set fewer")
        if self.settings["side"] > source.shape[-1]:
            raise InvalidOption(
                f"images are made smaller, {source.name} has {source.shape[-1]} pixels a side, got "
                f"side={self.settings['side']}; set as many or fewer"
            )
        self.source, self.pieces, self.kinds = source, pieces, kinds
        self.label_rule, self.combinations = chosen_rule(self.settings, pieces=pieces, kinds=kinds)
        self.classes = self.label_rule.classes
        self.needs = f"nasbed data prepare {source.name}, or its published files as --source"

    @abstractmethod
    def put_together(self, images: Images) -> Images:
        """``[n, pieces, channels, height, width]`` as images of this dataset."""

    def altered(self, pieces: Images, draws: Draws, part: int, start: int) -> Images:
        """Source images ``[n, pieces, channels, height, width]`` as they are put together; ``start`` is the number of
        the first composition in its part."""
        return pieces

    def label_of(self, images: Images, origins: Mapping[str, NDArray[Any]]) -> Labels:
        return self.label_rule.label(origins[self.origin_label])

    def _generate(self, source: Path | None, draws: Draws, progress: Progress) -> GeneratedDataset:
        raw, digests = images_of(self.source.name, source, progress)
        raw = self._resized(raw)
        count = len(raw.train_labels)
        numbers = (*self._training_pools(count, draws), count + np.arange(len(raw.test_labels)))
        parts = []
        for part, (name, pool) in enumerate(zip(("train", "valid", "test"), numbers, strict=True)):
            labels, picked = self._picks(draws, part, np.sort(pool), [raw.train_labels, raw.test_labels])
            pool_images, offset = (raw.test_images, count) if name == "test" else (raw.train_images, 0)
            images = np.empty((len(labels), *self.shape), pool_images.dtype)
            for start in range(0, len(labels), BLOCK):
                pieces = pool_images[picked[0][start : start + BLOCK] - offset]
                images[start : start + BLOCK] = self.put_together(self.altered(pieces, draws, part, start))
                progress(f"{self.name}, composing {name}", min(start + BLOCK, len(labels)), len(labels))
            parts.append(GeneratedPart(images, labels, {self.origin: picked[0], self.origin_label: picked[1]}))
        train, valid, test = parts
        return GeneratedDataset(train, valid, test, sources=digests)

    def _training_pools(self, count: int, draws: Draws) -> tuple[Integers, Integers]:
        """The numbers of the source's training images that training and validation are made of."""
        if not self.divides_training:
            return np.arange(count), np.arange(count)
        order = draws.order(count, _DIVIDED)
        border = count * self.counts[0] // (self.counts[0] + self.counts[1])
        return order[:border], order[border:]

    def _resized(self, raw: Raw) -> Raw:
        side = self.settings["side"]
        if side == raw.train_images.shape[-1]:
            return raw
        return replace(raw, train_images=resized(raw.train_images, side), test_images=resized(raw.test_images, side))

    def _picks(
        self, draws: Draws, part: int, pool: Integers, source_labels: list[Labels]
    ) -> tuple[Labels, tuple[Integers, Integers]]:
        """Labels, and for each image the numbers and labels of what it is composed of."""
        count = self.counts[part]
        pool_labels = np.concatenate(source_labels)[pool]
        sizes = np.bincount(pool_labels, minlength=self.kinds)[: self.kinds]
        if sizes.min() < self.pieces:
            raise BadFile(
                f"each part of {self.name} needs {self.pieces} images of every class of {self.source.name}, one has "
                f"{sizes.min()}; get the published files"
            )
        members = pool[np.argsort(pool_labels, kind="stable")]
        starts = np.cumsum(sizes) - sizes
        labels = draws.balanced(count, len(self.classes), _LABELLED, part)
        combination_labels = self.label_rule.label(self.combinations)
        kinds = np.empty((count, self.pieces), np.int64)
        for label in range(len(self.classes)):
            indices = np.flatnonzero(labels == label)
            fitting = self.combinations[combination_labels == label]
            kinds[indices] = fitting[draws.below(len(fitting), len(indices), _COMBINED, part, label)]
        words = draws.words(count * self.pieces, _PICKED, part).reshape(count, self.pieces)
        places = (words % sizes[kinds].astype(np.uint64)).astype(np.int64)
        for later in range(1, self.pieces):
            for _ in range(later):  # one step leaves the image just met, and can meet each earlier one once
                met = ((places[:, :later] == places[:, [later]]) & (kinds[:, :later] == kinds[:, [later]])).any(axis=1)
                places[met, later] = (places[met, later] + 1) % sizes[kinds[met, later]]
        return labels, (members[starts[kinds] + places], kinds)
