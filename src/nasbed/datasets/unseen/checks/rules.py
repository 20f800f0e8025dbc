"""Checks of generated datasets: labels against the rule, origins against the division into parts."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption, NasbedError
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen import UNSEEN
from nasbed.datasets.unseen.base import PARTS, UnseenGenerator
from nasbed.datasets.unseen.checks.findings import Finding, error, note, warning
from nasbed.datasets.unseen.checks.scanning import blocks

Origins = dict[str, NDArray[Any]]


def rule_findings(
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
    findings = []
    for part in PARTS:
        wrong = _wrong(dataset, arrays[f"{part}_x.npy"], arrays[f"{part}_y.npy"], origins[part], progress, part)
        if isinstance(wrong, str):
            findings.append(error(part, f"its labels cannot be computed again: {wrong}"))
        elif wrong:
            findings.append(error(part, f"{wrong} labels are not as the rule says: {dataset.rule}"))
    findings += _hygiene(dataset, origins)
    counts = tuple(len(arrays[f"{part}_y.npy"]) for part in PARTS)
    if counts != dataset.counts:
        text = f"{dataset.title} is published with {_joined(dataset.counts)} images, here are {_joined(counts)}"
        findings.append(warning("images", text))
    if not any(finding.severity == "error" for finding in findings):
        hygiene = f", and parts share no {' or '.join(dataset.hygiene)}" if dataset.hygiene else ""
        findings.append(note("labels", f"all are as the rule of {dataset.title} says{hygiene}"))
    return findings


def _dataset(codename: str) -> UnseenGenerator | None:
    for name in UNSEEN:
        candidates = [UNSEEN.get(name)()]
        with suppress(InvalidOption):  # where no scripts are published
            candidates.append(candidates[0].as_released())
        for dataset in candidates:
            if dataset.title.lower() == codename.lower():
                return dataset
    return None


def _origins(path: Path, count: int) -> Origins:
    with np.load(path, allow_pickle=False) as file:
        columns = {name: file[name] for name in file.files}
    for name, column in columns.items():
        if len(column) != count:
            raise ValueError(f"{name} has {len(column)} rows for {count} images")
    return columns


def _wrong(
    dataset: UnseenGenerator,
    images: NDArray[Any],
    labels: NDArray[Any],
    origins: Origins,
    progress: Progress,
    part: str,
) -> int | str:
    """How many labels break the rule, or why that cannot be checked."""
    wrong = 0
    for start, block in blocks(images):
        stop = start + len(block)
        bytes_ = block.astype(np.uint8) if block.min() >= 0 and block.max() <= 255 else block
        block = bytes_ if np.array_equal(bytes_, block) else block
        try:
            expected = dataset.label_of(block, {name: column[start:stop] for name, column in origins.items()})
            wrong += int(np.count_nonzero(expected != labels[start:stop]))
        except (NasbedError, ValueError, KeyError, IndexError, TypeError) as reason:
            return f"{type(reason).__name__} {' '.join(str(reason).split())[:120]}"
        progress(f"check, rule in {part}", stop, len(images))
    return wrong


def _hygiene(dataset: UnseenGenerator, origins: Mapping[str, Origins]) -> list[Finding]:
    findings = []
    for origin in dataset.hygiene:
        if not all(origin in origins[part] for part in PARTS):
            findings.append(error(origin, "the origins lack it"))
            continue
        values = {part: np.unique(origins[part][origin]) for part in PARTS}
        for later in range(1, len(PARTS)):
            for earlier in range(later):
                shared = np.intersect1d(values[PARTS[later]], values[PARTS[earlier]])
                if len(shared):
                    text = f"leak: {len(shared)} {origin} are also in {PARTS[earlier]}, the first is {shared[0]!s}"
                    findings.append(error(PARTS[later], text))
    return findings


def _joined(counts: tuple[int, ...]) -> str:
    return "/".join(map(str, counts))
