"""Arrays of numbers: read from files, matched row by row, and loops over them compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile


def load_numbers(path: Path, *, mapped: bool, remedy: str) -> NDArray[Any]:
    """The array of numbers in a ``.npy`` file, mapped into memory or read. Anything else is refused."""
    try:
        array = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (OSError, ValueError, EOFError, SyntaxError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadFile(f"{path} cannot be read as an array of numbers: {reason[:120]}; {remedy}") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf":
        raise BadFile(f"{path} is not an array of numbers; {remedy}")
    return array


def common_rows(first: NDArray[np.int64], second: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of the rows that two matrices share, in the first and in the second."""
    places = {tuple(values): row for row, values in enumerate(second.tolist())}
    pairs = [(row, places[tuple(values)]) for row, values in enumerate(first.tolist()) if tuple(values) in places]
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def numba_compiled(signature: Any = None, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that compiles a function with numba; other threads run while it is called.

    The compiled code is cached on disk, beside the source or in the user's cache folder. Where neither can be written
    to, as in a read-only container, each process compiles it again. All kernels of nasbed use this decorator, since
    numba's own then raises an error.

    Args:
        signature: The types of the arguments, to compile at once; without it, the first call compiles.
        options: Further options of ``numba.njit``.
    """
    from numba import njit

    def compile_function(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled: Callable[..., Any]
        try:
            compiled = njit(signature, nogil=True, cache=True, **options)(function)
        except RuntimeError:  # no folder for the cache
            compiled = njit(signature, nogil=True, **options)(function)
        return compiled

    return compile_function
