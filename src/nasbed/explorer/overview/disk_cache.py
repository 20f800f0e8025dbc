"""Arrays that take long to compute, kept between starts of the explorer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

import nasbed
from nasbed.core.errors import NasbedError
from nasbed.core.files import complete_file, values_sha256
from nasbed.core.home import cache_folder

SLOW_S = 1.0
"""What took longer than this is kept."""

Arrays = Mapping[str, NDArray[Any]]


def remembered(decides: Sequence[Any], compute: Callable[[], Arrays]) -> Arrays:
    """What ``compute`` returns, from an earlier start where that is stored.

    Args:
        decides: Everything that the arrays depend on, a fingerprint first. Nothing is kept if that is empty.
        compute: Makes the arrays.
    """
    if not decides[0]:
        return compute()
    path = cache_folder() / "explorer" / f"{values_sha256((nasbed.__version__, *decides))}.npz"
    with suppress(OSError, ValueError, KeyError, BadZipFile), np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}
    start = perf_counter()
    arrays = compute()
    if perf_counter() - start > SLOW_S:
        with suppress(OSError, NasbedError):  # a home that cannot be written to costs time, not the answer
            path.parent.mkdir(parents=True, exist_ok=True)
            with complete_file(path) as draft, draft.open("wb") as file:
                np.savez(file, allow_pickle=False, **arrays)
    return arrays
