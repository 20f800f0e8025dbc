"""A user's own objects by name: ``package.module:name`` or ``path/to/file.py:name``.

Every option that takes such a name loads it here: methods, spaces, functions of a campaign. A file can import its
neighbours: its folder is importable while it runs. What runs is the source as it stands, never an older byte code of
it, also in a process that ran the file before it was edited.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from nasbed.core.code_fingerprint import file_fingerprint, source_files
from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.files import file_sha256
from nasbed.core.tracebacks import with_place


def object_named(text: str, *, folder: Path = Path()) -> Any:
    """The object that a text names; the path of a file is relative to ``folder``."""
    module, colon, attribute = text.rpartition(":")
    if not colon or not module or not attribute.isidentifier():
        raise InvalidOption(f"an object is named as module:name or file.py:name, got {shorten(text)}")
    home = _file_module(folder / module) if module.endswith(".py") else _module(module)
    try:
        return getattr(home, attribute)
    except AttributeError:
        raise InvalidOption(f"{module} has no attribute {attribute}; check the name") from None


def subclass_named(text: str, base: type, *, folder: Path = Path()) -> Any:
    """The class that a text names, which has to be a subclass of ``base``, abstract or not."""
    value = object_named(text, folder=folder)
    if not (isinstance(value, type) and issubclass(value, base)):
        file, _, name = text.rpartition(":")
        raise InvalidOption(
            f"{file} has no subclass of {base.__module__}.{base.__qualname__} called {name}; check the name"
        )
    return value


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise InvalidOption(f"the module {name} could not be imported, {_reason(error)}; check the name") from error


_FINGERPRINTS: dict[str, str] = {}
"""Of the files that this process has run, by the name of their module."""
_NEIGHBOURS: dict[str, str] = {}
"""The SHA-256 of the modules that such files imported, as they were then."""


def _file_module(path: Path) -> ModuleType:
    """The module in a file, run once a process and again when its source has changed."""
    path = path.resolve()
    name = f"{path.stem}_{blake2b(str(path).encode(), digest_size=6).hexdigest()}"
    if not path.is_file():
        raise InvalidOption(f"{path} is not a file; name your object as file.py:name")
    fingerprint = file_fingerprint(path)
    if name in sys.modules and _FINGERPRINTS.get(name) == fingerprint:
        return sys.modules[name]
    module = _run_file(path, name)
    _FINGERPRINTS[name] = fingerprint
    return module


def _run_file(path: Path, name: str) -> ModuleType:
    """Run a file of the user's as the module ``name``; neighbours that changed since they were imported are imported
    again."""
    neighbours = {module: file for module, file in source_files(path).items() if module != path.name}
    digests = {module: file_sha256(file) for module, file in neighbours.items()}
    if any(_NEIGHBOURS.get(module, digest) != digest for module, digest in digests.items()):
        for neighbour in neighbours:
            sys.modules.pop(neighbour, None)
    spec = importlib.util.spec_from_file_location(name, path, loader=_FromSource(name, str(path)))
    assert spec is not None and spec.loader is not None, "a loader was given"
    module = importlib.util.module_from_spec(spec)
    previous_module = sys.modules.get(name)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        with _importable_neighbours(path), _no_byte_code():
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if previous_module is not None:
            sys.modules[name] = previous_module
        raise InvalidOption(f"{path} could not be run, {_reason(error)}; fix the file") from error
    _NEIGHBOURS.update(digests)
    return module


class _FromSource(SourceFileLoader):
    """Compiles the source each time: byte code of an edited source is recognised by seconds and size alone."""

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self.get_data(self.path), self.path)


@contextmanager
def _no_byte_code() -> Iterator[None]:
    """Keep no byte code of what is imported."""
    previous_setting = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = previous_setting


@contextmanager
def _importable_neighbours(file: Path) -> Iterator[None]:
    """Make the folder of a file importable while the file is run, as Python does for a script."""
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with suppress(ValueError):
            sys.path.remove(folder)


def _reason(error: BaseException) -> str:
    return with_place(f"{type(error).__name__}: {shorten(str(error), 200)}", error)
