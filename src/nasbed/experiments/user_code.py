"""A user's own objects by name: ``package.module:name`` or ``path/to/file.py:name``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
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
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InvalidOption(f"{path} could not be run, {_reason(error)}; mend the file") from error
    return module


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {shorten(str(error), 200)}"
