"""Files of ``torch.save``, read without torch: tensors come out as numpy arrays.

Since torch 1.6 such a file is a zip of ``data.pkl`` and one member of raw bytes for each storage. Before, it was a
sequence of pickles (a magic number, a version, facts about the machine, the value, the names of the storages) followed
by each storage: its length and its bytes.
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
LEGACY_LENGTH = 8
"""How many bytes the length of a storage takes."""
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
    for expected in (LEGACY_MAGIC, LEGACY_VERSION, None):
        reader = Pickle(data, str(path), start=position)
        value = reader.load()
        if expected is not None and (type(value) is not int or value != expected):
            raise BadFile(f"{path} is not a file of torch.save; get the published file again")
        position = reader.end
    storages = _LegacyStorages(data)
    value, end = storages.read_value(path, position)
    if storages.kinds:
        storages.read_contents(path, end)
        value, _ = storages.read_value(path, position)
    return value


class _LegacyStorages:
    """The storages of a file before torch 1.6, which stand after the value that names them. The value is read twice:
    once with storages of zeros, to learn their types, and again with their contents."""

    def __init__(self, data: bytes) -> None:
        self.kinds: dict[str, str] = {}
        self._data = data
        self._arrays: dict[str, NDArray[Any]] = {}
        self._calls: dict[str, Call | None] = {**dict.fromkeys(_STORAGES), **_REBUILDERS}

    def read_value(self, path: Path, position: int) -> tuple[Any, int]:
        """The value at a position, and where it ends."""
        reader = Pickle(self._data, str(path), start=position, calls=self._calls, persistent=self._storage)
        return reader.load(), reader.end

    def read_contents(self, path: Path, position: int) -> None:
        """Read the storages that the value has named."""
        reader = Pickle(self._data, str(path), start=position)
        names, position = reader.load(), reader.end
        if type(names) is not list or sorted(map(str, names)) != sorted(self.kinds):
            raise BadFile(f"{path} does not hold the storages that it names; get the published file again")
        for name in names:
            kind, count = np.dtype(self.kinds[name]), len(self._arrays[name])
            start = position + LEGACY_LENGTH
            position = start + count * kind.itemsize
            if int.from_bytes(self._data[start - LEGACY_LENGTH : start], "little") != count or position > len(
                self._data
            ):
                raise BadFile(f"{path} is cut off, or a storage in it has another length; get the published file again")
            self._arrays[name] = np.frombuffer(self._data[start:position], dtype=kind)

    def _storage(self, key: object) -> object:
        if type(key) is not tuple or len(key) != 6 or key[0] != "storage" or key[5] is not None:
            raise TypeError("the name of a storage is not as torch writes it")
        kind, name, count = key[1], key[2], key[4]
        if type(kind) is not Global or kind.name not in _STORAGES or type(name) is not str or type(count) is not int:
            raise TypeError("the name of a storage is not as torch writes it")
        elements = np.dtype("<" + _STORAGES[kind.name])
        if not 0 <= count * elements.itemsize <= len(self._data):
            raise ValueError(f"a storage of {count} elements does not fit into the file")
        if self.kinds.setdefault(name, elements.str) != elements.str:
            raise ValueError("a storage has one type")
        array = self._arrays.setdefault(name, np.zeros(count, dtype=elements))
        if len(array) != count:
            raise ValueError("a storage has one length")
        return array


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
