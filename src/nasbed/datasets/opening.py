"""Open a dataset by its name, or from a folder in the competition's format."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np

from nasbed.core.former_names import former
from nasbed.datasets.competition import read_competition
from nasbed.datasets.conversion import load
from nasbed.datasets.dataset import Dataset, Images, LabelledImages
from nasbed.datasets.store import ARRAYS, _hash, moments


def open_dataset(name: str) -> Dataset:
    """The prepared dataset of that name, or that of a folder with the competition's files, which is not changed.

    A name with a separator, or of a folder with the file ``metadata``, means a folder. Its dataset has the folder's
    name in lower case, and the hash that it would have if it were prepared. The name of one that is made from synthetic
    sources ends in "-synthetic", so that no published figure is compared with results on it. The name of one by the
    authors' scripts ends in "-as-released".
    """
    path = Path(name)
    if path.is_dir() and ((path / "metadata").is_file() or path.name != name):
        return _from_folder(path.resolve())
    return load(name)


def _from_folder(folder: Path) -> Dataset:
    name = folder.name.lower()
    raw = read_competition(name, folder, lambda *_: None)
    raw.check(str(folder))
    for word in raw.words_of_name:
        name += "" if word in name else f"-{word}"
    arrays = (raw.train_images, raw.train_labels, raw.test_images, raw.test_labels)
    digests = {
        f"{key}.npy": {"sha256": _npy_sha256(array)} for key, array in zip(ARRAYS, map(np.asarray, arrays), strict=True)
    }
    mean, std = moments(raw.train_images)
    return Dataset(
        name=name,
        train=LabelledImages(raw.train_images, raw.train_labels),
        test=LabelledImages(raw.test_images, raw.test_labels),
        classes=tuple(raw.classes),
        mean=tuple(mean),
        std=tuple(std),
        hash=_hash({"files": digests}),
        published=raw.published,
    )


def _npy_sha256(array: Images) -> str:
    """The SHA-256 of the file that numpy would write."""
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array), allow_pickle=False)
    return hashlib.sha256(file.getbuffer()).hexdigest()


__getattr__ = former(__name__, {"opened": "nasbed.datasets.opening:open_dataset"}, until="0.3")
