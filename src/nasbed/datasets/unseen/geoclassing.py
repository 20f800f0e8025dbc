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
from nasbed.datasets.unseen.base import PARTS, Made, MadePart, Unseen
from nasbed.datasets.unseen.draws import Draws, Integers
from nasbed.datasets.unseen.sources.material import opened, sha256
from nasbed.datasets.unseen.sources.satellite import countries_of, patches_in, read_patch

_PICKED, _ORDERED = range(2)
_TOLD = 500


class GeoClassing(Unseen):
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
    licence = "BigEarthNet: Community Data License Agreement – Permissive 1.0; Copernicus Sentinel data 2017, 2018"

    def make(self, source: Path | None, *, seed: int, progress: Progress, as_released: bool = False) -> Made:
        self.refuse_released(as_released)
        draws = Draws(seed, self.name)
        with opened(source, self.needs) as folder:
            place, names = patches_in(folder)
            countries, table, table_digest = countries_of(place, self.classes)
            known = [name for name in names if name in countries]
            labels = np.array([countries[name] for name in known], np.int64)
            there = np.bincount(labels, minlength=len(self.classes))
            if there.min() < len(PARTS):
                scarce = self.classes[int(there.argmin())]
                raise BadFile(
                    f"every country has a patch in each of the three parts, {scarce} has {there.min()}; add patches or "
                    f"name them in {table}"
                )
            shares = divided(levelled(there, sum(self.counts)), self.counts)
            picked: list[list[int]] = [[], [], []]
            for label, share in enumerate(shares):
                mine = np.flatnonzero(labels == label)
                mine = mine[draws.order(len(mine), _PICKED, label)]
                for part, end in enumerate(np.cumsum(share)):
                    picked[part] += mine[end - share[part] : end].tolist()
            parts, digests = [], []
            for part, numbers in enumerate(picked):
                chosen = [known[numbers[at]] for at in draws.order(len(numbers), _ORDERED, part)]
                made, digest = self._part(place, chosen, countries, progress, PARTS[part])
                parts.append(made)
                digests.append(digest)
        train, valid, test = parts
        used = [len(part) for part in parts]
        notes = [f"Patches: {len(names)}, of which {len(names) - len(known)} have no country in the table."]
        if used != list(self.counts):
            notes.insert(
                0,
                f"Reduced: {'/'.join(map(str, used))} images instead of the published "
                f"{'/'.join(map(str, self.counts))}, because there are no more patches; results on it are not "
                "comparable with the paper's.",
            )
        sources = {table: table_digest, f"{sum(used)} patches": sha256("".join(digests).encode())}
        return Made(train, valid, test, sources=sources, notes=tuple(notes))

    def _part(
        self, place: Path, names: list[str], countries: dict[str, int], progress: Progress, part: str
    ) -> tuple[MadePart, str]:
        images = np.empty((len(names), *self.shape), np.uint8)
        digests = []
        for at, name in enumerate(names):
            images[at], digest = read_patch(place, name)
            digests.append(name + digest)
            if (at + 1) % _TOLD == 0 or at + 1 == len(names):
                progress(f"{self.name}, reading {part}", at + 1, len(names))
        labels = np.array([countries[name] for name in names], np.int64)
        origins = {"patch": np.array(names), "country": np.array(self.classes)[labels]}
        return MadePart(images, labels, origins), sha256("".join(sorted(digests)).encode())

    def label_of(self, images: Images, origins: Mapping[str, NDArray[Any]]) -> Labels:
        """Those of the countries that the table tells; −1 for another."""
        order = {country: label for label, country in enumerate(self.classes)}
        return np.array([order.get(str(country), -1) for country in origins["country"]], np.int64)


def levelled(there: Integers, total: int) -> Integers:
    """How many of each kind are taken so that they are as even as what is there allows, and as many as wanted.

    >>> levelled(np.array([2, 9, 9, 4]), 15).tolist()
    [2, 5, 4, 4]
    """
    wanted = min(total, int(there.sum()))
    low, high = 0, int(there.max())
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(there, middle).sum() <= wanted else (low, middle - 1)
    taken: Integers = np.minimum(there, low)
    more = np.flatnonzero(there > low)[: wanted - int(taken.sum())]
    taken[more] += 1
    return taken


def divided(sizes: Integers, counts: Sequence[int]) -> Integers:
    """For each size how many go to each part: in proportion to the counts, one at least, and where the sizes add up to
    the counts, exactly these in all.

    >>> divided(np.array([7, 3]), (5, 1, 1)).tolist()
    [[5, 1, 1], [1, 1, 1]]
    """
    shares: Integers = np.maximum(sizes[:, None] * np.array(counts) // sum(counts), 1)
    shares[:, 0] = np.minimum(shares[:, 0], sizes - shares[:, 1:].sum(axis=1))
    lacking = np.array(counts) * sizes.sum() / sum(counts) - shares.sum(axis=0)
    for share, left in zip(shares, sizes - shares.sum(axis=1), strict=True):
        for _ in range(left):
            part = int(lacking.argmax())
            share[part] += 1
            lacking[part] -= 1
    return shares
