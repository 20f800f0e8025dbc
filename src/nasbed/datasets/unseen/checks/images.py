"""Checks of images: values, copies in two parts, and labels that are too easy to predict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.base import PARTS
from nasbed.datasets.unseen.checks.findings import Finding, error, note, warning
from nasbed.datasets.unseen.checks.near_duplicates import NEAR, Projection, near_duplicates
from nasbed.datasets.unseen.checks.scanning import Scan, scan
from nasbed.datasets.unseen.checks.simple_rules import best_pixel, nearest_mean, sample

LISTED = 3
TRIVIAL = 0.95
"""The accuracy of a simple rule from which the task is a warning."""
SCALED = 2.0
"""How many times wider the values of one part may range than those of another before it is a warning."""

Arrays = Mapping[str, NDArray[Any]]


def image_findings(arrays: Arrays, classes: int | None, progress: Progress) -> list[Finding]:
    """The findings on images. ``classes`` is None where the labels are wrong; checks that need labels are then
    skipped."""
    images = {part: arrays[f"{part}_x.npy"] for part in PARTS}
    labels = {part: np.asarray(arrays[f"{part}_y.npy"], np.int64) for part in PARTS}
    projection = Projection(int(np.prod(images["train"].shape[1:])))
    scans = {part: scan(images[part], projection, progress, f"check, {part}") for part in PARTS}
    findings = _values(scans)
    findings += _copies(scans, labels if classes is not None else None)
    if not any(len(part_scan.broken) for part_scan in scans.values()):
        findings += _near(images, scans)
        if classes is not None:
            findings += _easy(images, labels, classes)
    return findings


def _values(scans: Mapping[str, Scan]) -> list[Finding]:
    findings = []
    for part, part_scan in scans.items():
        if len(part_scan.broken):
            text = f"values are finite, {len(part_scan.broken)} images have NaN or infinity: {_first(part_scan.broken)}"
            findings.append(error(part, text))
        if len(part_scan.constant):
            findings.append(
                warning(
                    part, f"{len(part_scan.constant)} images have one value everywhere: {_first(part_scan.constant)}"
                )
            )
    usable = {part: part_scan for part, part_scan in scans.items() if np.isfinite(part_scan.low)}
    if usable:
        low, high = (
            min(part_scan.low for part_scan in usable.values()),
            max(part_scan.high for part_scan in usable.values()),
        )
        kind = "whole numbers" if all(part_scan.integral for part_scan in usable.values()) else "numbers"
        findings.append(note("images", f"values are {kind} from {low:g} to {high:g}"))
        widths = {part: part_scan.high - part_scan.low for part, part_scan in usable.items()}
        if max(widths.values()) > SCALED * min(widths.values()):
            ranges = ", ".join(f"{part} {part_scan.low:g} to {part_scan.high:g}" for part, part_scan in usable.items())
            findings.append(warning("images", f"parts look scaled differently: {ranges}"))
    return findings


def _copies(scans: Mapping[str, Scan], labels: Mapping[str, NDArray[np.int64]] | None) -> list[Finding]:
    """Identical images, by their digests."""
    findings = []
    sizes = [len(scans[part].digests) for part in PARTS]
    part_of = np.repeat(np.arange(len(PARTS)), sizes)
    place = np.concatenate([np.arange(size) for size in sizes])
    digests = np.concatenate([scans[part].digests for part in PARTS])
    number = _digest_numbers(digests)
    groups = int(number.max()) + 1
    present = np.zeros((groups, len(PARTS)), np.bool_)
    present[number, part_of] = True
    for later in range(1, len(PARTS)):
        for earlier in range(later):
            shared = present[:, later] & present[:, earlier]
            copies = np.flatnonzero(shared[number] & (part_of == later))
            if len(copies):
                text = (
                    f"leak: {len(copies)} images ({100 * len(copies) / sizes[later]:.2f} %) are also in "
                    f"{PARTS[earlier]}: {_first(place[copies])}"
                )
                findings.append(error(PARTS[later], text))
    for column, part in enumerate(PARTS):
        repeated = sizes[column] - int(present[:, column].sum())
        if repeated:
            findings.append(warning(part, f"{repeated} images are copies of others in the same part"))
    if labels is not None:
        findings += _contradictions(number, np.concatenate([labels[part] for part in PARTS]))
    return findings


def _digest_numbers(digests: NDArray[np.void]) -> NDArray[np.int64]:
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
        "be predicted"
    )
    return [warning("labels", text)]


def _near(images: Mapping[str, NDArray[Any]], scans: Mapping[str, Scan]) -> list[Finding]:
    result = near_duplicates(images, {part: part_scan.points for part, part_scan in scans.items()})
    findings = []
    for later in PARTS[1:]:
        for earlier in PARTS:
            pairs = [pair for pair in result.pairs if (pair.part, pair.other_part) == (later, earlier)]
            if pairs:
                indices = sorted({pair.index for pair in pairs})
                example = min(pairs, key=lambda pair: pair.share)
                text = (
                    f"{len(indices)} images ({100 * len(indices) / len(images[later]):.2f} %) are nearly those of "
                    f"{earlier}, by {100 * NEAR:.0f} % of the usual difference or less: {later} {example.index} and "
                    f"{earlier} {example.other_index} by {100 * example.share:.1f} %"
                )
                findings.append(warning(later, text))
    if not result.complete:
        findings.append(
            warning("images", "more images are nearly the same than are compared; the figures are too small")
        )
    return findings


def _easy(images: Mapping[str, NDArray[Any]], labels: Mapping[str, NDArray[np.int64]], classes: int) -> list[Finding]:
    train, test = (sample(images[part], labels[part]) for part in ("train", "test"))
    pixel, right = best_pixel(train, test, classes)
    channel, row, column = np.unravel_index(pixel, images["train"].shape[1:])
    mean = nearest_mean(train, test)
    commonest = float(np.bincount(test[1]).max() / len(test[1]))
    rules = (
        (right, f"a single pixel (channel {channel}, row {row}, column {column}) predicts"),
        (mean, "the nearest mean image predicts"),
    )
    return [
        (warning if share >= TRIVIAL > commonest else note)(
            "labels", f"{text} {100 * share:.2f} % of the test labels, on {len(test[1])} images"
        )
        for share, text in rules
    ]


def _first(numbers: NDArray[np.int64]) -> str:
    listed = ", ".join(map(str, numbers[:LISTED].tolist()))
    return f"number {listed}" + (" …" if len(numbers) > LISTED else "")
