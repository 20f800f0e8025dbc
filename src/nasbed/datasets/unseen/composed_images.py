"""Datasets whose images are composed of several images of another, and whose label follows from their labels.

What is decided where the paper is silent:

- Classes are balanced to the image, as the column "Random" of its table 1 implies. Each label is drawn equally often.
  The labels of the source are drawn uniformly from all combinations with that label.
- Source images are divided before anything is drawn. Those of the source's test part make the test part. Those of its
  training part are divided by chance between training and validation, in proportion to what is made of them.
- Within a part an image of the source may be used again, but not twice in one composition.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.datasets.dataset import Images, Labels
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.base import GeneratedDataset, GeneratedPart, UnseenGenerator
from nasbed.datasets.unseen.draws import Draws, Integers
from nasbed.datasets.unseen.sources.material import images_of

BLOCK = 1_000
_DIVIDED, _LABELLED, _COMBINED, _PICKED = range(4)


class ComposedDataset(UnseenGenerator):
    """Several images of a source, put together. Origins are their numbers in the source, those of its test part after
    those of its training part, and their labels there."""

    made_of: ClassVar[str]
    """The name of the dataset that the images come from."""
    origin: ClassVar[str]
    origin_label: ClassVar[str]
    several: ClassVar[int]

    @abstractmethod
    def label_from(self, labels: Integers) -> Integers:
        """The label for the labels of the source images, ``[n, several]``; one outside the classes is not made."""

    @abstractmethod
    def put_together(self, images: Images) -> Images:
        """``[n, several, channels, height, width]`` as images of this dataset."""

    def label_of(self, images: Images, origins: Mapping[str, NDArray[Any]]) -> Labels:
        return self.label_from(origins[self.origin_label])

    def _generate(self, source: Path | None, draws: Draws, progress: Progress) -> GeneratedDataset:
        raw, digests = images_of(self.made_of, source, progress)
        count = len(raw.train_labels)
        order = draws.order(count, _DIVIDED)
        border = count * self.counts[0] // (self.counts[0] + self.counts[1])
        numbers = (order[:border], order[border:], count + np.arange(len(raw.test_labels)))
        parts = []
        for part, (name, pool) in enumerate(zip(("train", "valid", "test"), numbers, strict=True)):
            labels, picked = self._picks(draws, part, np.sort(pool), [raw.train_labels, raw.test_labels])
            pool_images, offset = (raw.test_images, count) if name == "test" else (raw.train_images, 0)
            images = self._images(pool_images, picked[0] - offset, progress, f"{self.name}, composing {name}")
            parts.append(GeneratedPart(images, labels, {self.origin: picked[0], self.origin_label: picked[1]}))
        train, valid, test = parts
        return GeneratedDataset(train, valid, test, sources=digests)

    def _picks(
        self, draws: Draws, part: int, pool: Integers, source_labels: list[Labels]
    ) -> tuple[Labels, tuple[Integers, Integers]]:
        """Labels, and for each image the numbers and labels of what it is composed of."""
        count = self.counts[part]
        pool_labels = np.concatenate(source_labels)[pool]
        sizes = np.bincount(pool_labels, minlength=10)
        if sizes.min() < self.several:
            raise BadFile(
                f"each part of {self.name} needs {self.several} images of every class of {self.made_of}, one has "
                f"{sizes.min()}; get the published files"
            )
        members = pool[np.argsort(pool_labels, kind="stable")]
        starts = np.cumsum(sizes) - sizes
        labels = draws.balanced(count, len(self.classes), _LABELLED, part)
        combinations = np.indices((10,) * self.several).reshape(self.several, -1).T
        combination_labels = self.label_from(combinations)
        kinds = np.empty((count, self.several), np.int64)
        for label in range(len(self.classes)):
            indices = np.flatnonzero(labels == label)
            fitting = combinations[combination_labels == label]
            kinds[indices] = fitting[draws.below(len(fitting), len(indices), _COMBINED, part, label)]
        words = draws.words(count * self.several, _PICKED, part).reshape(count, self.several)
        places = (words % sizes[kinds].astype(np.uint64)).astype(np.int64)
        for later in range(1, self.several):
            for _ in range(later):  # one step leaves the image just met, and can meet each earlier one once
                met = ((places[:, :later] == places[:, [later]]) & (kinds[:, :later] == kinds[:, [later]])).any(axis=1)
                places[met, later] = (places[met, later] + 1) % sizes[kinds[met, later]]
        return labels, (members[starts[kinds] + places], kinds)

    def _images(self, source: Images, numbers: Integers, progress: Progress, step: str) -> Images:
        images = np.empty((len(numbers), *self.shape), source.dtype)
        for start in range(0, len(numbers), BLOCK):
            images[start : start + BLOCK] = self.put_together(source[numbers[start : start + BLOCK]])
            progress(step, min(start + BLOCK, len(numbers)), len(numbers))
        return images
