"""What a process has imported before :mod:`support.forks` forks it: the libraries and the tree of commands, nothing else
of nasbed."""

from __future__ import annotations

import atexit
import gc
import os
from contextlib import suppress
from importlib import import_module

import rich.progress  # noqa: F401

import nasbed.cli  # noqa: F401

for name in ("torch", "scipy.stats", "pyarrow.parquet", "numba", "sklearn", "lightgbm", "altair", "ConfigSpace"):
    with suppress(ImportError):
        import_module(name)
gc.freeze()  # a search for garbage would copy what forks share
atexit.register(os._exit, 0)  # taking the libraries apart would take a second
