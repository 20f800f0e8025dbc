"""What is wrong with images: values, copies in two parts, and labels that are too easy to tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.base import PARTS
from nasbed.datasets.unseen.checks.findings import Finding, error, note, warning
from nasbed.datasets.unseen.checks.hints import best_pixel, nearest_mean, sample
from nasbed.datasets.unseen.checks.near_duplicates import NEAR, Projection, near_duplicates
from nasbed.datasets.unseen.checks.scanning import Scan, scan

LISTED = 3
TRIVIAL = 0.95
"""The accuracy of a simple rule from which the task is a warning."""
SCALED = 2.0
"""How many times wider the values of one part may range than those of another before it is a warning."""

Arrays = Mapping[str, NDArray[Any]]


def image_findings(arrays: Arrays, classes: int | None, progress: Progress) -> list[Finding]:
    """``classes`` is None where the labels are wrong, and then nothing is said of what needs them."""
    images = {part: arrays[f"{part}_x.npy"] for part in PARTS}
    labels = {part: np.asarray(arrays[f"{part}_y.npy"], np.int64) for part in PARTS}
    projection = Projection(int(np.prod(images["train"].shape[1:])))
    scans = {part: scan(images[part], projection, progress, f"check, {part}") for part in PARTS}
    found = _values(scans)
    found += _copies(scans, labels if classes is not None else None)
    if not any(len(each.broken) for each in scans.values()):
        found += _near(images, scans)
        if classes is not None:
            found += _easy(images, labels, classes)
    return found


def _values(scans: Mapping[str, Scan]) -> list[Finding]:
    found = []
    for part, each in scans.items():
        if len(each.broken):
            text = f"values are finite, {len(each.broken)} images have NaN or infinity: {_first(each.broken)}"
            found.append(error(part, text))
        if len(each.constant):
            found.append(
                warning(part, f"{len(each.constant)} images have one value everywhere: {_first(each.constant)}")
            )
    usable = {part: each for part, each in scans.items() if np.isfinite(each.low)}
    if usable:
        low, high = min(each.low for each in usable.values()), max(each.high for each in usable.values())
        whole = "whole numbers" if all(each.whole for each in usable.values()) else "numbers"
        found.append(note("images", f"values are {whole} from {low:g} to {high:g}"))
        widths = {part: each.high - each.low for part, each in usable.items()}
        if max(widths.values()) > SCALED * min(widths.values()):
            said = ", ".join(f"{part} {each.low:g} to {each.high:g}" for part, each in usable.items())
            found.append(warning("images", f"parts look scaled differently: {said}"))
    return found


def _copies(scans: Mapping[str, Scan], labels: Mapping[str, NDArray[np.int64]] | None) -> list[Finding]:
    """Identical images, by their digests."""
    found = []
    sizes = [len(scans[part].digests) for part in PARTS]
    part_of = np.repeat(np.arange(len(PARTS)), sizes)
    place = np.concatenate([np.arange(size) for size in sizes])
    digests = np.concatenate([scans[part].digests for part in PARTS])
    number = _numbered(digests)
    groups = int(number.max()) + 1
    present = np.zeros((groups, len(PARTS)), np.bool_)
    present[number, part_of] = True
    for later in range(1, len(PARTS)):
        for earlier in range(later):
            both = present[:, later] & present[:, earlier]
            copies = np.flatnonzero(both[number] & (part_of == later))
            if len(copies):
                text = (
                    f"leak: {len(copies)} images ({100 * len(copies) / sizes[later]:.2f} %) are also in "
                    f"{PARTS[earlier]}: {_first(place[copies])}"
                )
                found.append(error(PARTS[later], text))
    for at, part in enumerate(PARTS):
        again = sizes[at] - int(present[:, at].sum())
        if again:
            found.append(warning(part, f"{again} images are copies of others in the same part"))
    if labels is not None:
        found += _contradictions(number, np.concatenate([labels[part] for part in PARTS]))
    return found


def _numbered(digests: NDArray[np.void]) -> NDArray[np.int64]:
    """A number for each digest, the same for the same; of its two words of 8 bytes numpy sorts each fast."""
    words = np.ascontiguousarray(digests).view("<u8").reshape(-1, 2)
    first, second = (np.unique(words[:, column], return_inverse=True)[1].astype(np.int64) for column in (0, 1))
    return np.asarray(np.unique(first * len(words) + second, return_inverse=True)[1], np.int64)


def _contradictions(number: NDArray[np.int64], labels: NDArray[np.int64]) -> list[Finding]:
    """Identical images with different labels, and what that leaves to be reached."""
    pairs, counts = np.unique(np.stack([number, labels]), axis=1, return_counts=True)
    kinds = np.bincount(pairs[0])
    if kinds.max(initial=0) < 2:
        return []
    most = np.zeros(len(kinds), np.int64)
    np.maximum.at(most, pairs[0], counts)
    involved = int(counts[kinds[pairs[0]] > 1].sum())
    reachable = 100 * most.sum() / len(labels)
    text = (
        f"{involved} images are identical to one with another label; no more than {reachable:.3f} % of the labels can "
        "be told"
    )
    return [warning("labels", text)]


def _near(images: Mapping[str, NDArray[Any]], scans: Mapping[str, Scan]) -> list[Finding]:
    result = near_duplicates(images, {part: each.points for part, each in scans.items()})
    found = []
    for later in PARTS[1:]:
        for earlier in PARTS:
            pairs = [pair for pair in result.pairs if (pair.part, pair.other_part) == (later, earlier)]
            if pairs:
                which = sorted({pair.index for pair in pairs})
                example = min(pairs, key=lambda pair: pair.share)
                text = (
                    f"{len(which)} images ({100 * len(which) / len(images[later]):.2f} %) are nearly those of "
                    f"{earlier}, by {100 * NEAR:.0f} % of the usual difference or less: {later} {example.index} and "
                    f"{earlier} {example.other_index} by {100 * example.share:.1f} %"
                )
                found.append(warning(later, text))
    if not result.complete:
        found.append(warning("images", "more images are nearly the same than are compared; the figures are too small"))
    return found


def _easy(images: Mapping[str, NDArray[Any]], labels: Mapping[str, NDArray[np.int64]], classes: int) -> list[Finding]:
    train, test = (sample(images[part], labels[part]) for part in ("train", "test"))
    pixel, right = best_pixel(train, test, classes)
    channel, row, column = np.unravel_index(pixel, images["train"].shape[1:])
    mean = nearest_mean(train, test)
    commonest = float(np.bincount(test[1]).max() / len(test[1]))
    said = (
        (right, f"one value alone (channel {channel}, row {row}, column {column}) tells"),
        (mean, "the nearest mean image tells"),
    )
    return [
        (warning if share >= TRIVIAL > commonest else note)(
            "labels", f"{text} {100 * share:.2f} % of the labels of test, on {len(test[1])} images"
        )
        for share, text in said
    ]


def _first(numbers: NDArray[np.int64]) -> str:
    listed = ", ".join(map(str, numbers[:LISTED].tolist()))
    return f"number {listed}" + (" …" if len(numbers) > LISTED else "")
