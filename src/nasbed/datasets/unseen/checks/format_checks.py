"""Checks of a folder in the competition's format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, shorten
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.base import PARTS
from nasbed.datasets.unseen.checks.findings import SEVERITIES, Finding, error, note, warning
from nasbed.datasets.unseen.checks.images import image_findings
from nasbed.datasets.unseen.checks.rules import rule_findings

FILES = tuple(f"{part}_{kind}.npy" for part in PARTS for kind in "xy")
UNEVEN = 10.0
"""How many times more images the commonest class may have than the rarest before it is a warning."""
MOVED = 0.1
"""How far the shares of classes of two parts may be apart in all, before it is a warning."""

Arrays = dict[str, NDArray[Any]]


def check_folder(folder: Path, progress: Progress) -> list[Finding]:
    """All findings, errors first. A folder without any of the files raises."""
    if not any((folder / name).is_file() for name in (*FILES, "metadata")):
        raise BadFile(f"a dataset is a folder of {FILES[0]} … {FILES[-1]} and metadata, {folder} has none of them")
    findings: list[Finding] = []
    arrays = _arrays(folder, findings)
    metadata = _metadata(folder / "metadata", findings)
    shapes_fit = _shapes(arrays, findings)
    if len(arrays) == len(FILES) and shapes_fit:
        classes = _agreement(metadata, arrays, findings)
        labels_fit = _labels(arrays, classes, findings)
        findings += image_findings(arrays, classes if labels_fit else None, progress)
        if "made_by" in metadata:
            findings += rule_findings(folder, metadata, arrays, progress)
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def _arrays(folder: Path, findings: list[Finding]) -> Arrays:
    """The arrays that are there and hold numbers, mapped from disk."""
    arrays: Arrays = {}
    for name in FILES:
        path = folder / name
        if not path.is_file():
            findings.append(error(name, "the file is missing"))
            continue
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError, SyntaxError, TypeError) as reason:
            message = " ".join(str(reason).split()) or type(reason).__name__
            findings.append(error(name, f"it cannot be read as an array of numbers: {message[:120]}"))
            continue
        expected = "float32" if name.endswith("x.npy") else "int64"
        if not isinstance(array, np.ndarray) or array.dtype.kind not in ("iuf" if expected == "float32" else "iu"):
            kind = getattr(array, "dtype", "an archive")
            findings.append(error(name, f"values are {expected}, these are {kind}, which are not"))
            continue
        if array.dtype != expected:
            findings.append(warning(name, f"values are {expected} in the competition's files, these are {array.dtype}"))
        arrays[name] = array
    return arrays


def _metadata(path: Path, findings: list[Finding]) -> dict[str, Any]:
    if not path.is_file():
        findings.append(error("metadata", "the file is missing"))
        return {}
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as reason:
        findings.append(error("metadata", f"it is JSON, this is not: {str(reason).splitlines()[0][:120]}"))
        return {}
    if not isinstance(data, dict):
        findings.append(error("metadata", f"it is an object of names and values, got {shorten(data)}"))
        return {}
    for key, finding in (("num_classes", error), ("input_shape", error), ("codename", warning), ("benchmark", warning)):
        if key not in data:
            findings.append(finding("metadata", f"{key} is missing"))
    if data.get("synthetic") is True:
        findings.append(
            warning("metadata", "made from synthetic sources: results say nothing of the published dataset")
        )
    benchmark = data.get("benchmark", 50.0)
    if not isinstance(benchmark, int | float) or isinstance(benchmark, bool) or not 0 <= benchmark <= 100:
        findings.append(error("metadata", f"benchmark is an accuracy in per cent, got {shorten(benchmark)}"))
    elif benchmark <= 1:
        findings.append(
            warning("metadata", f"benchmark is an accuracy in per cent, {benchmark} looks like a share of 1")
        )
    return data


def _shapes(arrays: Arrays, findings: list[Finding]) -> bool:
    """Whether images are [n, channels, height, width], alike in all parts, with a label each."""
    previous_count = len(findings)
    images = {name: array for name, array in arrays.items() if name.endswith("x.npy")}
    for name, array in images.items():
        if array.ndim != 4 or not array.size:
            findings.append(error(name, f"images are [n, channels, height, width] and some, got {list(array.shape)}"))
    if len({array.shape[1:] for array in images.values()}) > 1:
        shapes = ", ".join(f"{name} {list(array.shape[1:])}" for name, array in images.items())
        findings.append(error("images", f"they have one shape in all parts, got {shapes}"))
    for part in PARTS:
        labels, pixels = arrays.get(f"{part}_y.npy"), images.get(f"{part}_x.npy")
        if labels is not None and pixels is not None and labels.shape != pixels.shape[:1]:
            count = len(pixels) if pixels.ndim else 0
            text = f"labels are a row, one for each of {count} images, got {list(labels.shape)}"
            findings.append(error(f"{part}_y.npy", text))
    return len(findings) == previous_count


def _agreement(metadata: dict[str, Any], arrays: Arrays, findings: list[Finding]) -> int:
    """How many classes there are, by metadata or else by the labels."""
    shape = metadata.get("input_shape")
    images = arrays["train_x.npy"]
    if shape is not None:
        plain = isinstance(shape, list) and all(type(side) is int for side in shape)
        if not plain or list(shape[-3:]) != list(images.shape[1:]) or len(shape) not in (3, 4):
            text = f"input_shape is {list(images.shape)} by train_x.npy, got {shorten(shape)}"
            findings.append(error("metadata", text))
        elif len(shape) == 4 and shape[0] != len(images):
            findings.append(warning("metadata", f"input_shape begins with {len(images)} images, got {shape[0]}"))
    label_count = 1 + max(int(arrays[f"{part}_y.npy"].max()) for part in PARTS)
    count = metadata.get("num_classes")
    if type(count) is not int or count < 1:
        if count is not None:
            findings.append(error("metadata", f"num_classes is a whole number of 1 or more, got {shorten(count)}"))
        return max(1, label_count)
    names = metadata.get("classes")
    if isinstance(names, list) and len(names) != count:
        findings.append(error("metadata", f"classes has a name for each of num_classes, {count}, got {len(names)}"))
    return count


def _labels(arrays: Arrays, classes: int, findings: list[Finding]) -> bool:
    """Whether all labels are in range; with that, how the classes are spread."""
    previous_count = len(findings)
    for part in PARTS:
        labels = arrays[f"{part}_y.npy"]
        wrong = np.flatnonzero((labels < 0) | (labels >= classes))
        if len(wrong):
            text = f"labels are 0 to {classes - 1}, {len(wrong)} are not: the first is {labels[wrong[0]]} at {wrong[0]}"
            findings.append(error(f"{part}_y.npy", text))
    if len(findings) > previous_count:
        return False
    shares = {}
    for part in PARTS:
        counts = np.bincount(arrays[f"{part}_y.npy"], minlength=classes)
        shares[part] = counts / counts.sum()
        if not counts.all():
            missing = np.flatnonzero(counts == 0)
            text = f"every class is in every part, {len(missing)} of {classes} are missing: {shorten(missing.tolist())}"
            findings.append(error(part, text))
        least = counts[counts > 0].min()
        ratio = counts.max() / least
        text = (
            f"{counts.sum()} images, {least} to {counts.max()} a class (ratio {ratio:.2f}); always answering class "
            f"{counts.argmax()} is right in {100 * shares[part].max():.2f} %"
        )
        findings.append(warning(part, f"uneven: {text}") if ratio > UNEVEN else note(part, text))
    for part in PARTS[1:]:
        apart = np.abs(shares[part] - shares["train"]).sum() / 2
        expected = np.sqrt(shares["train"] * (1 - shares["train"]) / len(arrays[f"{part}_y.npy"])).sum() / 2
        if apart > max(MOVED, 3 * expected):
            findings.append(warning(part, f"its classes have other shares than in train, {100 * apart:.1f} % differ"))
    return True
