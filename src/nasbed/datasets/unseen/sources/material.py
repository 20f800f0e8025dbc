"""Raw material: folders and archives, files packed or not, and the digests that identify them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.unpack import gunzipped
from nasbed.datasets.conversion import DATASETS, load, open_source
from nasbed.datasets.source import DEEPEST, Progress, Raw

MOST_BYTES = 1 << 28
"""The largest file that is read: a book or a list of games has a few megabytes."""


@contextmanager
def open_material(source: Path | None, needs: str) -> Iterator[Path]:
    """The folder of the raw material, or the unpacked content of its archive."""
    if source is None:
        raise InvalidOption(f"a source has to be named with --source: {needs}")
    with open_source(source) as folder:
        yield folder


def files_ending(folder: Path, suffix: str) -> dict[str, Path]:
    """The files with a suffix, packed by gzip or not, in a folder or a few folders down, by their name without ``.gz``.

    They come in the order of their names. The same name twice raises.
    """
    files: dict[str, Path] = {}
    patterns = [f"{'*/' * depth}*{suffix}{packed}" for depth in range(DEEPEST + 1) for packed in ("", ".gz")]
    for path in (path for pattern in patterns for path in folder.glob(pattern)):
        if not path.is_file() or path.name.startswith("."):
            continue
        name = path.name.removesuffix(".gz")
        if name in files:
            raise BadFile(f"a file name occurs once, {folder} has {files[name]} and {path}; remove one")
        files[name] = path
    return dict(sorted(files.items()))


def content(path: Path) -> bytes:
    """The bytes of a file, unpacked if it is gzip's, whatever its name."""
    return gunzipped(path, MOST_BYTES)


def text(path: Path, data: bytes) -> str:
    """What a file says, in UTF-8 with or without a mark at its beginning."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(f"{path} is not UTF-8 text at byte {error.start}; convert it or get it again") from None


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def images_of(name: str, source: Path | None, progress: Progress) -> tuple[Raw, Mapping[str, str]]:
    """All of an image dataset, read from its published files or else as it was prepared, with one digest.

    The digest is that of shapes and values, so that it does not depend on how the images came here.
    """
    if source is None:
        stored = load(name)
        train, test = stored.train, stored.test
        raw = Raw(train.images, np.asarray(train.labels), test.images, np.asarray(test.labels), stored.classes)
    else:
        reader = DATASETS.get(name)()
        with open_material(source, "") as folder:
            raw = reader.read(folder, progress)
        reader.check(raw, str(source))
    return raw, {name: _digest([raw.train_images, raw.train_labels, raw.test_images, raw.test_labels])}


def _digest(arrays: list[NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        digest.update(f"{little.dtype.str}{little.shape}".encode())
        digest.update(np.ascontiguousarray(little).data)
    return digest.hexdigest()
