"""Files of ``torch.save``, read without torch: tensors come out as numpy arrays.

Since torch 1.6 such a file is a zip of ``data.pkl`` and one member of raw bytes for each storage. Before, it was a
sequence of pickles (a magic number, a version, facts about the machine, the value) followed by the storages. Of that
form only values without tensors are read.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, shorten
from nasbed.core.restricted_pickle import Call, Global, Pickle, loads
from nasbed.core.unpack import read_limited
from nasbed.results.importers.bounded_files import BoundedArchive, open_archive

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
LEGACY_VERSION = 1001
_ZIP = b"PK\x03\x04"
_STORAGES = {
    "torch.DoubleStorage": "f8",
    "torch.FloatStorage": "f4",
    "torch.HalfStorage": "f2",
    "torch.LongStorage": "i8",
    "torch.IntStorage": "i4",
    "torch.ShortStorage": "i2",
    "torch.CharStorage": "i1",
    "torch.ByteStorage": "u1",
    "torch.BoolStorage": "b1",
}


def load_torch_file(path: Path, most: int) -> Any:
    """The value that was saved. At most ``most`` bytes are read, and the same again for tensors."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_ZIP))
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}; check the path") from None
    if start == _ZIP:
        with open_archive(path) as archive:
            return _load_zip(path, archive, most)
    return _load_legacy(path, read_limited(path, most))


def _load_zip(path: Path, archive: BoundedArchive, most: int) -> Any:
    roots = [name.removesuffix("data.pkl") for name in archive.names if name.endswith("/data.pkl")]
    if len(roots) != 1:
        raise BadFile(f"{path} was not written by torch.save: it has {len(roots)} members data.pkl")
    root = roots[0]
    order = "<"
    if f"{root}byteorder" in archive.names and archive.read(f"{root}byteorder", 16).strip() == b"big":
        order = ">"
    storages: dict[str, NDArray[Any]] = {}
    remaining = most

    def storage(key: object) -> object:
        nonlocal remaining
        if type(key) is not tuple or len(key) != 5 or type(key[1]) is not Global:
            raise TypeError("the name of a storage is not as torch writes it")
        kind, name, count = key[1].name, key[2], key[4]
        if type(key[0]) is not str or key[0] != "storage":
            raise TypeError("the name of a storage is not as torch writes it")
        if kind not in _STORAGES or type(name) is not str or not name.isdigit() or type(count) is not int:
            raise BadFile(f"a storage of {shorten(kind)} has no counterpart in numpy")
        if name not in storages:
            raw = archive.read(f"{root}data/{name}", remaining)
            remaining -= len(raw)
            storages[name] = np.frombuffer(raw, dtype=order + _STORAGES[kind])
        if len(storages[name]) != count:
            raise ValueError(f"a storage should have {count} elements, got {len(storages[name])}")
        return storages[name]

    calls: dict[str, Call | None] = {**dict.fromkeys(_STORAGES), **_REBUILDERS}
    return loads(archive.read(f"{root}data.pkl", most), str(path), calls=calls, persistent=storage)


def _load_legacy(path: Path, data: bytes) -> Any:
    position = 0
    values = []
    for expected in (LEGACY_MAGIC, LEGACY_VERSION, None, None):
        reader = Pickle(data, str(path), start=position)
        value = reader.load()
        if expected is not None and (type(value) is not int or value != expected):
            raise BadFile(f"{path} is not a file of torch.save; get the published file again")
        values.append(value)
        position = reader.end
    return values[-1]


def _tensor(
    storage: object, offset: object, size: object, stride: object, _requires_grad: object, _hooks: object, *_: object
) -> NDArray[Any]:
    """A view of a storage, copied out after checking that it lies inside and has no more elements than it."""
    if not isinstance(storage, np.ndarray) or type(size) is not tuple or type(stride) is not tuple:
        raise TypeError("the description of a tensor is not as torch writes it")
    if type(offset) is not int or len(size) != len(stride) or len(size) > 32:
        raise TypeError("the description of a tensor is not as torch writes it")
    if not all(type(number) is int and 0 <= number < 1 << 40 for number in (offset, *size, *stride)):
        raise ValueError("a tensor has sizes and strides that are not negative")
    count = math.prod(size)
    last = offset + sum((side - 1) * step for side, step in zip(size, stride, strict=True))
    if count and (last >= len(storage) or count > len(storage)):
        raise ValueError("a tensor reaches past its storage")
    if not count:
        return np.empty(size, dtype=storage.dtype)
    strides = tuple(step * storage.itemsize for step in stride)
    return np.lib.stride_tricks.as_strided(storage[offset:], shape=size, strides=strides).copy()


def _parameter(data: object, _requires_grad: object, _hooks: object) -> object:
    return data


_REBUILDERS: dict[str, Call] = {
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
}
