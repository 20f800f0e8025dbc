"""GeoClassing (section 4.7): a satellite's view of 1.2 km by 1.2 km, and the country that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.datasets.dataset import Images, Labels
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.base import (
    PARTS,
    GeneratedDataset,
    GeneratedPart,
    UnseenGenerator,
    positions_in,
    reduction_note,
)
from nasbed.datasets.unseen.draws import Draws, Integers
from nasbed.datasets.unseen.sources.material import open_material, sha256
from nasbed.datasets.unseen.sources.satellite import countries_of, is_published_patch, patches_in, read_patch

_PICKED, _ORDERED = range(2)
_REPORT_EVERY = 500


class GeoClassing(UnseenGenerator):
    """Labels follow the alphabet, the order of the paper's text, so that Portugal is 7. Its figure 3 says 9; no list of
    which that is true is published, and a search method cannot tell one numbering from another.

    What is decided where the paper is silent:

    - Red, green and blue are the bands B04, B03 and B02; a pixel is the mean of 2×2; a reflectance of 0.3 is white.
    - Countries are as even as their patches allow: each gives all it has up to a common limit. They cannot be equal:
      Kosovo has 2 140 patches of the 6 133 that would be its tenth.
    - Every country is divided between the parts in the published proportions. No patch is in two parts; patches of one
      overflight may be. Patches under snow and clouds are kept.
    - Fewer patches than published make a smaller dataset, and the card says so: none is used twice.
    """

    name = "geoclassing"
    title = "GeoClassing"
    kind = 2
    shape = (3, 60, 60)
    classes = (
        "Austria", "Belgium", "Finland", "Ireland", "Kosovo", "Lithuania", "Luxembourg", "Portugal", "Serbia",
        "Switzerland",
    )  # fmt: skip
    counts = (43_821, 8_758, 8_751)
    benchmark = 80.33
    rule = "Red, green and blue of a patch of BigEarthNet, halved to 60×60; the label is its country."
    needs = (
        "the folder BigEarthNet-v1.0 (Sentinel-2, from bigearth.net) as --source, and pip install bigearthnet-common "
        "or a table countries.csv (patch,country) beside the patches"
    )
    hygiene = ("patch",)
    recognises_material = False
    licence = "BigEarthNet: Community Data License Agreement – Permissive 1.0; Copernicus Sentinel data 2017, 2018"

    def _generate(self, source: Path | None, draws: Draws, progress: Progress) -> GeneratedDataset:
        with open_material(source, self.needs) as folder:
            place, names = patches_in(folder)
            countries, table, table_digest = countries_of(place, self.classes)
            located = [name for name in names if name in countries]
            labels = np.array([countries[name] for name in located], np.int64)
            available = np.bincount(labels, minlength=len(self.classes))
            if available.min() < len(PARTS):
                scarce = self.classes[int(available.argmin())]
                raise BadFile(
                    f"every country has a patch in each of the three parts, {scarce} has {available.min()}; add "
                    f"patches or name them in {table}"
                )
            shares = divided(levelled(available, sum(self.counts)), self.counts)
            picked: list[list[int]] = [[], [], []]
            for label, share in enumerate(shares):
                patches = np.flatnonzero(labels == label)
                patches = patches[draws.order(len(patches), _PICKED, label)]
                for part, end in enumerate(np.cumsum(share)):
                    picked[part] += patches[end - share[part] : end].tolist()
            parts, digests = [], []
            for part, numbers in enumerate(picked):
                patch_names = [located[numbers[index]] for index in draws.order(len(numbers), _ORDERED, part)]
                images_of_part, digest = self._part(place, patch_names, countries, progress, PARTS[part])
                parts.append(images_of_part)
                digests.append(digest)
            used = [str(name) for images in parts for name in images.origins["patch"]]
            strange = sum(not is_published_patch(place, name) for name in used)
        substitute = f"{strange} of {len(used)} patches are not as BigEarthNet 1.0 has them" if strange else ""
        train, valid, test = parts
        notes = (
            *reduction_note(parts, self.counts, "there are no more patches"),
            f"Patches: {len(names)}, of which {len(names) - len(located)} have no country in the table.",
        )
        sources = {table: table_digest, f"{sum(map(len, parts))} patches": sha256("".join(digests).encode())}
        return GeneratedDataset(train, valid, test, sources=sources, notes=notes, substitute=substitute)

    def _part(
        self, place: Path, names: list[str], countries: dict[str, int], progress: Progress, part: str
    ) -> tuple[GeneratedPart, str]:
        images = np.empty((len(names), *self.shape), np.uint8)
        digests = []
        for index, name in enumerate(names):
            images[index], digest = read_patch(place, name)
            digests.append(name + digest)
            if (index + 1) % _REPORT_EVERY == 0 or index + 1 == len(names):
                progress(f"{self.name}, reading {part}", index + 1, len(names))
        labels = np.array([countries[name] for name in names], np.int64)
        origins = {"patch": np.array(names), "country": np.array(self.classes)[labels]}
        return GeneratedPart(images, labels, origins), sha256("".join(sorted(digests)).encode())

    def label_of(self, images: Images, origins: Mapping[str, NDArray[Any]]) -> Labels:
        """The labels of the countries in the table; −1 for any other."""
        return positions_in(self.classes, origins["country"])


def levelled(available: Integers, total: int) -> Integers:
    """How many of each kind to take: ``total`` in all if there are as many, and as even as possible.

    >>> levelled(np.array([2, 9, 9, 4]), 15).tolist()
    [2, 5, 4, 4]
    """
    count = min(total, int(available.sum()))
    low, high = 0, int(available.max())
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(available, middle).sum() <= count else (low, middle - 1)
    result: Integers = np.minimum(available, low)
    more = np.flatnonzero(available > low)[: count - int(result.sum())]
    result[more] += 1
    return result


def divided(sizes: Integers, counts: Sequence[int]) -> Integers:
    """For each size how many go to each part: in proportion to the counts, one at least, and where the sizes add up to
    the counts, exactly these in all.

    >>> divided(np.array([7, 3]), (5, 1, 1)).tolist()
    [[5, 1, 1], [1, 1, 1]]
    """
    shares: Integers = np.maximum(sizes[:, None] * np.array(counts) // sum(counts), 1)
    shares[:, 0] = np.minimum(shares[:, 0], sizes - shares[:, 1:].sum(axis=1))
    lacking = np.array(counts) * sizes.sum() / sum(counts) - shares.sum(axis=0)
    for share, remaining in zip(shares, sizes - shares.sum(axis=1), strict=True):
        for _ in range(remaining):
            part = int(lacking.argmax())
            share[part] += 1
            lacking[part] -= 1
    return shares
