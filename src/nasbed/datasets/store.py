"""Converted datasets on disk: four arrays and a sealed manifest in a folder that is complete or absent."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.checksummed_json import is_sealed, sealed
from nasbed.core.errors import BadFile, InvalidOption, shorten
from nasbed.core.files import complete_folder, file_sha256
from nasbed.core.home import datasets_folder
from nasbed.core.verified_files import first_changed
from nasbed.datasets.dataset import Dataset, Images, LabelledImages
from nasbed.datasets.source import Raw

SCHEMA_VERSION = 1
MANIFEST = "manifest.json"
ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")
BLOCK = 5_000
_NAME = re.compile(r"([a-z0-9][a-z0-9._-]*)(?:@([1-9][0-9]{0,3}))?")


def name_and_side(name: str) -> tuple[str, int | None]:
    """``("cifar10", 16)`` from ``"cifar10@16"``."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise InvalidOption(
            f"a dataset's name is a word of a-z 0-9 . _ - and, for a smaller one, @ and its side, got {shorten(name)}"
        )
    return match[1], int(match[2]) if match[2] else None


def dataset_folder(name: str) -> Path:
    """Where a dataset is kept. A name never leads outside."""
    name_and_side(name)
    return datasets_folder() / name


def is_stored(name: str) -> bool:
    return (dataset_folder(name) / MANIFEST).is_file()


def stored_names() -> list[str]:
    """The names of all stored datasets."""
    folder = datasets_folder()
    return sorted(path.parent.name for path in folder.glob(f"*/{MANIFEST}") if _NAME.fullmatch(path.parent.name))


def write(name: str, raw: Raw, origin: str) -> None:
    """Store a dataset under its name. Of two processes that do so at once, the first to finish wins."""
    target = dataset_folder(name)
    try:
        with complete_folder(target) as draft:
            _write(draft, name, raw, origin)
    except FileExistsError:
        if not is_stored(name):
            raise BadFile(f"{target} exists and is not a dataset; remove it") from None


def _write(folder: Path, name: str, raw: Raw, origin: str) -> None:
    files = {}
    arrays = (raw.train_images, raw.train_labels, raw.test_images, raw.test_labels)
    for array_name, array in zip(ARRAYS, arrays, strict=True):
        path = folder / f"{array_name}.npy"
        with path.open("wb") as file:
            np.save(file, np.ascontiguousarray(array), allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        files[path.name] = {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
    mean, std = moments(raw.train_images)
    content = {
        "schema_version": SCHEMA_VERSION,
        "name": name,
        "origin": origin,
        "classes": list(raw.classes),
        "published": list(raw.published) if raw.published else None,
        "mean": mean,
        "std": std,
        "files": files,
    }
    with (folder / MANIFEST).open("wb") as file:
        file.write(sealed(content))
        file.flush()
        os.fsync(file.fileno())


def read(name: str) -> Dataset:
    """A stored dataset, its arrays mapped into memory. Every byte is checked the first time and after any change,
    otherwise only sizes and dates; :func:`verify` checks every byte again."""
    folder = dataset_folder(name)
    data = _manifest(folder)
    _check_bytes(folder, data)
    arrays = {}
    for array_name in ARRAYS:
        path = folder / f"{array_name}.npy"
        try:
            arrays[array_name] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError, SyntaxError) as error:
            raise _damaged(path, str(error).splitlines()[0]) from None
    published = data["published"]
    return Dataset(
        name=name,
        train=LabelledImages(arrays["train_images"], arrays["train_labels"]),
        test=LabelledImages(arrays["test_images"], arrays["test_labels"]),
        classes=tuple(data["classes"]),
        mean=tuple(data["mean"]),
        std=tuple(data["std"]),
        hash=_hash(data),
        published=(published[0], published[1]) if published else None,
    )


def _check_bytes(folder: Path, data: dict[str, Any]) -> None:
    for name, record in data["files"].items():
        try:
            size = (folder / name).stat().st_size
        except OSError as error:
            raise _damaged(folder / name, str(error)) from None
        if size != record["bytes"]:
            raise _damaged(folder / name, f"it has {size} bytes, its manifest says {record['bytes']}")
    changed = first_changed(folder, {name: record["sha256"] for name, record in data["files"].items()})
    if changed is not None:
        raise _damaged(folder / changed, "it does not have the SHA-256 of its manifest")


def origin(name: str) -> str:
    """What a stored dataset was converted from."""
    return str(_manifest(dataset_folder(name))["origin"])


def verify(name: str) -> None:
    """Raise unless every file of a dataset has its SHA-256."""
    folder = dataset_folder(name)
    for file, record in _manifest(folder)["files"].items():
        digest = file_sha256(folder / file)
        if digest != record["sha256"]:
            raise _damaged(folder / file, f"its SHA-256 is {digest}, its manifest says {record['sha256']}")


def moments(images: Images) -> tuple[list[float], list[float]]:
    """Mean and standard deviation of each channel; of bytes, after division by 255 and from exact sums."""
    channels = range(images.shape[1])
    if images.dtype == np.uint8:
        counts = np.zeros((len(channels), 256), np.int64)
        for start in range(0, len(images), BLOCK):
            for channel in channels:
                counts[channel] += np.bincount(images[start : start + BLOCK, channel].ravel(), minlength=256)
        values = np.arange(256) / 255
        total = counts.sum(axis=1)
        mean = counts @ values / total
        squares = (counts * (values[None] - mean[:, None]) ** 2).sum(axis=1)
    else:
        flat: list[NDArray[Any]] = [images[:, channel].astype(np.float64).ravel() for channel in channels]
        total = np.array([values_of_channel.size for values_of_channel in flat])
        mean = np.array([values_of_channel.mean() for values_of_channel in flat])
        squares = np.array(
            [((values_of_channel - middle) ** 2).sum() for values_of_channel, middle in zip(flat, mean, strict=True)]
        )
    return mean.tolist(), np.sqrt(squares / total).tolist()


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        content = path.read_bytes()
        data = json.loads(content)
        if not isinstance(data, dict) or data.get("schema_version") != SCHEMA_VERSION or not is_sealed(content, data):
            raise ValueError("its version is not supported, or it was changed")
        if set(data["files"]) != {f"{name}.npy" for name in ARRAYS}:
            raise ValueError("it does not name the files of a dataset")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(path, str(error).splitlines()[0]) from None
    return data


def _damaged(path: Path, reason: str) -> BadFile:
    return BadFile(f"{path} is damaged: {reason}; remove {path.parent} and prepare {path.parent.name} again")


def _hash(data: dict[str, Any]) -> str:
    digests = "".join(data["files"][f"{name}.npy"]["sha256"] for name in ARRAYS)
    return hashlib.sha256(digests.encode()).hexdigest()[:16]
