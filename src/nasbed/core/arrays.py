"""Arrays of numbers: read from files, matched row by row."""

from __future__ import annotations

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
