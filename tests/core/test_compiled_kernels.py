"""Kernels compiled with numba: cached where a folder can be written to, and working where none can."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numba
import pytest

import nasbed
from nasbed.core.arrays import numba_compiled

SOURCE = Path(nasbed.__file__).parent
HELPER = SOURCE / "core" / "arrays.py"
COMPILES_NOTHING = {"numba.types", "numba.extending.register_jitable"}
"""What a module may import from numba although it compiles with the helper."""
COMPILED_WHEN_CALLED = {
    "nasbed.networks.depthwise.numba_kernel": "compiled",
    "nasbed.surrogates.structure_kernel": "_compiled",
}
"""Modules that compile when this function is called; the others compile when they are imported."""


def double(number: int) -> int:
    return 2 * number


def refuse_to_write(*_: object, **__: object) -> NoReturn:
    raise OSError("Read-only file system")


def imported_names(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_compiled_code_is_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    for hits in (0, 1):
        function: Any = numba_compiled()(double)
        assert function(4) == 8
        assert sum(function.stats.cache_hits.values()) == hits
    assert len(list(tmp_path.rglob("*.nbc"))) == 1


def test_functions_compile_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # gets empty folders
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse_to_write)
    with pytest.raises(RuntimeError, match="no locator available"):
        numba.njit(cache=True)(double)
    for signature in (None, "int64(int64)"):
        assert numba_compiled(signature)(double)(4) == 8


IMPORT_WITHOUT_CACHE = """
import sys, tempfile
from importlib import import_module
import numba
from numba.extending import is_jitted

def refuse_to_write(*_, **__):
    raise OSError("Read-only file system")

tempfile.TemporaryFile = refuse_to_write
njit = numba.njit
numba.njit = lambda signature=None, **options: njit(**options)  # for a signature the compiler would run, for seconds
for word in sys.argv[1:]:
    name, _, function = word.partition(":")
    module = import_module(name)
    kernels = [getattr(module, function)()] if function else vars(module).values()
    assert any(map(is_jitted, kernels)), f"{name} compiled nothing"
"""


def test_every_kernel_loads_where_nothing_can_be_written(tmp_path: Path) -> None:
    """The modules are those whose source names numba, so a new one is tested too."""
    modules = []
    for path in (path for path in SOURCE.rglob("*.py") if path != HELPER and "numba" in path.read_text()):
        names = set(imported_names(path))
        direct = {name for name in names if name.split(".")[0] == "numba"} - COMPILES_NOTHING
        assert not direct, f"{path} imports {', '.join(sorted(direct))}; use numba_compiled of nasbed.core.arrays"
        if "nasbed.core.arrays.numba_compiled" in names:
            modules.append(".".join(("nasbed", *path.relative_to(SOURCE).with_suffix("").parts)))
    assert len(modules) >= 9
    words = [f"{module}:{COMPILED_WHEN_CALLED.get(module, '')}" for module in sorted(modules)]
    command = [sys.executable, "-c", IMPORT_WITHOUT_CACHE, *words]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}  # gets empty folders
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert completed.returncode == 0, completed.stderr
