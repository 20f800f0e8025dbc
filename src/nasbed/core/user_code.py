"""A user's own objects by name: ``package.module:name`` or ``path/to/file.py:name``.

A file can import its neighbours: its folder is importable while it is run.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any

from nasbed.core.errors import InvalidOption, shorten


def object_named(text: str, *, folder: Path = Path()) -> Any:
    """The object that a text names; the path of a file is relative to ``folder``."""
    module, colon, attribute = text.rpartition(":")
    if not colon or not module or not attribute.isidentifier():
        raise InvalidOption(f"an object is named as module:name or file.py:name, got {shorten(text)}")
    found = _file_module(folder / module) if module.endswith(".py") else _module(module)
    try:
        return getattr(found, attribute)
    except AttributeError:
        raise InvalidOption(f"{module} has nothing called {attribute}; check the name") from None


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise InvalidOption(f"the module {name} could not be imported, {_reason(error)}; check the name") from error


def _file_module(path: Path) -> ModuleType:
    """The module in a file, run once a process."""
    path = path.resolve()
    name = f"{path.stem}_{blake2b(str(path).encode(), digest_size=6).hexdigest()}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InvalidOption(f"an object of your own is named as file.py:name, {path} is no file; check the path")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        with importable_neighbours(path):
            spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InvalidOption(f"{path} could not be run, {_reason(error)}; mend the file") from error
    return module


@contextmanager
def importable_neighbours(file: Path) -> Iterator[None]:
    """Make the folder of a file importable while the file is run, as Python does for a script."""
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with suppress(ValueError):
            sys.path.remove(folder)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {shorten(str(error), 200)}"
