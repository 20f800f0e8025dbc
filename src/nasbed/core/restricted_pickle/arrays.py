"""How numpy's arrays, scalars and dtypes stand in a pickle, taken apart and checked before numpy sees any of it.

Arrays of objects, of records and of times are refused: only numbers, booleans and fixed-length text are built.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, shorten

T = TypeVar("T")

MOST_DIMENSIONS = 32
_ORDERS = ("<", ">", "|", "=")
_KINDS = re.compile(r"b1|[iu][1248]|f[248]|c8|c16|[SU][1-9][0-9]{0,6}")


class PendingDtype:
    """A dtype as the pickle gives it: a kind and size first, the byte order later."""

    __slots__ = ("_order", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._order = "="

    def set_state(self, state: object) -> None:
        if type(state) is not tuple or len(state) < 5 or type(state[1]) is not str or state[1] not in _ORDERS:
            raise TypeError("a dtype's state is not as numpy writes it")
        if any(part is not None for part in state[2:5]):
            raise BadFile("an array of plain values has no fields")
        self._order = state[1]

    def resolve(self) -> np.dtype[Any]:
        return np.dtype(self._order + self._text)


def dtype_called(text: object, _align: object = False, _copy: object = True) -> PendingDtype:
    if type(text) is not str or not _KINDS.fullmatch(text):
        label = shorten(text) if type(text) is str else type(text).__name__
        raise BadFile(f"an array of plain values has no elements of type {label}")
    return PendingDtype(text)


def array_called(_kind: object, _shape: object, _type: object) -> NDArray[Any]:
    """An empty array that BUILD will fill."""
    return np.empty(0, dtype=np.int8)


def fill_array(array: NDArray[Any], state: object) -> None:
    """Give an empty array the shape, dtype and elements of a pickled one."""
    if array.shape != (0,) or type(state) is not tuple or len(state) != 5:
        raise TypeError("an array's state is not as numpy writes it")
    _version, shape, dtype, fortran, raw = state
    if type(raw) is str:
        raw = raw.encode("latin-1")  # Python 2 wrote a string
    kind = _validate_dtype(shape, dtype, raw)
    if type(fortran) is not bool:
        raise TypeError("an array is in C or Fortran order")
    array.__setstate__((1, shape, kind, fortran, raw))  # type: ignore[arg-type]


def buffer_called(raw: object, dtype: object, shape: object, order: object = "C") -> NDArray[Any]:
    """How protocol 5 writes arrays."""
    kind = _validate_dtype(shape, dtype, raw)
    if type(order) is not str or order not in ("C", "F"):
        raise TypeError("an array is in C or Fortran order")
    return np.frombuffer(raw, dtype=kind).reshape(shape, order=order)  # type: ignore[call-overload, no-any-return]


def scalar_called(dtype: object, raw: object) -> Any:
    return np.frombuffer(raw, dtype=_validate_dtype((), dtype, raw))[0]  # type: ignore[call-overload]


def _validate_dtype(shape: object, dtype: object, raw: object) -> np.dtype[Any]:
    """The dtype, after checking that the bytes are exactly those of an array of this shape."""
    if type(dtype) is not PendingDtype or type(raw) is not bytes or type(shape) is not tuple:
        raise TypeError("an array has a shape, a dtype and bytes")
    if len(shape) > MOST_DIMENSIONS or not all(type(side) is int and 0 <= side < 1 << 40 for side in shape):
        raise TypeError("an array's shape is a few small numbers")
    kind = dtype.resolve()
    if math.prod(shape) * kind.itemsize != len(raw):
        raise ValueError(f"an array has the shape {shorten(shape)} but {len(raw)} bytes")
    return kind


def in_modules(modules: Iterable[str], calls: Mapping[str, T]) -> dict[str, T]:
    """The same calls under the names that they have in each module."""
    return {f"{module}.{name}": call for module in modules for name, call in calls.items()}


ARRAY_CALLS: dict[str, Callable[..., object] | None] = {
    "numpy.dtype": dtype_called,
    "numpy.ndarray": None,
    **in_modules(
        ("numpy.core", "numpy._core"),
        {
            "multiarray._reconstruct": array_called,
            "multiarray.scalar": scalar_called,
            "numeric._frombuffer": buffer_called,
        },
    ),
}
