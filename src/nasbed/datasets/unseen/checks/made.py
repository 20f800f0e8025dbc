"""Datasets that were made here: their labels against their rule, and their origins against the division into parts."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import NasbedError
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen import UNSEEN
from nasbed.datasets.unseen.base import PARTS, Unseen
from nasbed.datasets.unseen.checks.findings import Finding, error, note, warning
from nasbed.datasets.unseen.checks.scanning import blocks

Origins = dict[str, NDArray[Any]]


def made_findings(
    folder: Path, metadata: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], progress: Progress
) -> list[Finding]:
    dataset = _dataset(str(metadata.get("codename")))
    if dataset is None:
        return [warning("metadata", f"made_by is {metadata['made_by']!r}, but no dataset made here has its codename")]
    origins: dict[str, Origins] = {}
    for part in PARTS:
        name = f"{part}_origins.npz"
        if not (folder / name).is_file():
            return [warning(name, "the file is missing, so that the rule of the dataset cannot be checked")]
        try:
            origins[part] = _origins(folder / name, len(arrays[f"{part}_y.npy"]))
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as reason:
            return [error(name, f"it cannot be read: {' '.join(str(reason).split())[:120]}")]
    found = []
    for part in PARTS:
        wrong = _wrong(dataset, arrays[f"{part}_x.npy"], arrays[f"{part}_y.npy"], origins[part], progress, part)
        if isinstance(wrong, str):
            found.append(error(part, f"its labels cannot be found anew: {wrong}"))
        elif wrong:
            found.append(error(part, f"{wrong} labels are not as the rule says: {dataset.rule}"))
    found += _hygiene(dataset, origins)
    counts = tuple(len(arrays[f"{part}_y.npy"]) for part in PARTS)
    if counts != dataset.counts:
        text = f"{dataset.title} is published with {_said(dataset.counts)} images, here are {_said(counts)}"
        found.append(warning("images", text))
    if not any(each.severity == "error" for each in found):
        kept = f", and parts share no {' or '.join(dataset.hygiene)}" if dataset.hygiene else ""
        found.append(note("labels", f"all are as the rule of {dataset.title} says{kept}"))
    return found


def _dataset(codename: str) -> Unseen | None:
    for name in UNSEEN:
        each = UNSEEN.get(name)
        if each.title.lower() == codename.lower():
            return each()
    return None


def _origins(path: Path, count: int) -> Origins:
    with np.load(path, allow_pickle=False) as file:
        columns = {name: file[name] for name in file.files}
    for name, column in columns.items():
        if len(column) != count:
            raise ValueError(f"{name} has {len(column)} rows for {count} images")
    return columns


def _wrong(
    dataset: Unseen, images: NDArray[Any], labels: NDArray[Any], origins: Origins, progress: Progress, part: str
) -> int | str:
    """How many labels are not as the rule says, or why that cannot be told."""
    wrong = 0
    for start, block in blocks(images):
        stop = start + len(block)
        bytes_ = block.astype(np.uint8) if block.min() >= 0 and block.max() <= 255 else block
        block = bytes_ if np.array_equal(bytes_, block) else block
        try:
            told = dataset.label_of(block, {name: column[start:stop] for name, column in origins.items()})
            wrong += int(np.count_nonzero(told != labels[start:stop]))
        except (NasbedError, ValueError, KeyError, IndexError, TypeError) as reason:
            return f"{type(reason).__name__} {' '.join(str(reason).split())[:120]}"
        progress(f"check, rule in {part}", stop, len(images))
    return wrong


def _hygiene(dataset: Unseen, origins: Mapping[str, Origins]) -> list[Finding]:
    found = []
    for origin in dataset.hygiene:
        if not all(origin in origins[part] for part in PARTS):
            found.append(error(origin, "the origins do not tell it"))
            continue
        values = {part: np.unique(origins[part][origin]) for part in PARTS}
        for later in range(1, len(PARTS)):
            for earlier in range(later):
                both = np.intersect1d(values[PARTS[later]], values[PARTS[earlier]])
                if len(both):
                    text = f"leak: {len(both)} {origin} are also in {PARTS[earlier]}, the first is {both[0]!s}"
                    found.append(error(PARTS[later], text))
    return found


def _said(counts: tuple[int, ...]) -> str:
    return "/".join(map(str, counts))
