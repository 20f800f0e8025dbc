"""A fingerprint of a user's code: a file or module that is not nasbed's, and the user's modules that it imports.

Imports are read from the source with ``ast``; nothing is run. ``sys.modules`` after an import would be less robust. Its
content depends on what else the process has imported, and lacks imports inside functions that were not called. A report
could not check a method without running it.

An import is followed to files beside the user's file and to other folders of ``sys.path``, such as an editable install.
The standard library, installed packages and nasbed itself have versions and are not followed. Two things stay unseen: a
module that is imported by a computed name, and a data file that the code reads.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import importlib.util
import inspect
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import CodeType
from typing import Any

from nasbed.core.files import file_sha256

_SUFFIXES = (".py", *EXTENSION_SUFFIXES)
_INSTALLED = ("site-packages", "dist-packages")
_IMPORTERS = ("import_module", "__import__")
_OWN = frozenset({"nasbed", "", *sys.stdlib_module_names})
"""The modules that have the version of nasbed or Python."""


def file_fingerprint(path: Path) -> str:
    """The SHA-256 of a file of code with the user's modules that it imports, wherever their folder lies."""
    return _digest(source_files(path))


def named_fingerprint(text: str, folder: Path = Path()) -> str:
    """The fingerprint of what ``file.py:name`` or ``module:name`` runs; the path of a file is relative to ``folder``.
    It is empty for a module of nasbed's or Python's own."""
    file = named_file(text, folder)
    if file is not None:
        return file_fingerprint(file)
    name = text.rpartition(":")[0]
    module = importlib.import_module(name)
    if name.partition(".")[0] in _OWN or getattr(module, "__file__", None) is None:
        return ""
    return _digest(source_files(Path(str(module.__file__)), package=_package(module)))


def named_file(text: str, folder: Path = Path()) -> Path | None:
    """The full path of the file in ``file.py:name``; None for ``module:name``."""
    file = text.rpartition(":")[0]
    return (folder / file).resolve() if file.endswith(".py") else None


def object_fingerprint(obj: object) -> str:
    """The fingerprint of the module that defines a class, a function or the class of an instance. It is empty for what
    nasbed or Python itself defines.

    A script or notebook (``__main__``) changes for many reasons, so of it the object's own source counts alone, with
    the modules that a script imports.
    """
    while isinstance(obj, functools.partial):
        obj = obj.func
    definition: Any = obj if hasattr(obj, "__qualname__") else type(obj)
    name = str(getattr(definition, "__module__", "") or "")
    if name != "__main__" and name.partition(".")[0] in _OWN:
        return ""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if name != "__main__" and file is not None:
        return _digest(source_files(Path(file), package=_package(module)))
    files = source_files(Path(file)) if file is not None else {}
    return _digest(dict(list(files.items())[1:]), text=_own_source(definition))


def module_fingerprint(text: str) -> str:
    """The fingerprint of the module in ``module:name``, which is not run. Raises a FileNotFoundError where Python finds
    no file of that name, as for what was defined in a script or notebook."""
    name = text.rpartition(":")[0]
    try:
        spec = None if name == "__main__" else importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        spec = None
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        raise FileNotFoundError(f"no file of the module {name}")
    return _digest(source_files(Path(spec.origin), package=spec.parent or ""))


def package_fingerprint(kind: type, package: str) -> str:
    """The SHA-256 of the module that defines a class and of the modules of a package, such as ``nasbed.optimizers``,
    that it imports, directly or through others. It tells two states of one version apart."""
    files: dict[str, Path] = {}
    waiting = [kind.__module__]
    while waiting:
        name = waiting.pop()
        file = None if name in files else _module_file(name)
        if file is not None:
            files[name] = file
            inside = name if file.stem == "__init__" else name.rpartition(".")[0]
            waiting += [imported for imported in _imports(file, inside) if imported.startswith(f"{package}.")]
    return _digest(files)


def _module_file(name: str) -> Path | None:
    """The file of a module, None for what is none, as a class of one."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin and Path(spec.origin).is_file() else None


def source_files(path: Path, *, package: str = "") -> dict[str, Path]:
    """The file, under its name, and the user's modules that it imports, directly or through others, by module.

    Args:
        path: the file; it need not be Python, and then imports nothing.
        package: the dotted package that the file belongs to, from which its relative imports start.
    """
    path = path.resolve()
    depth = len(package.split(".")) if package else 0
    folder = path.parents[depth]
    top_package = package.partition(".")[0] or path.stem if _is_installed(folder) else None
    files = {path.name: path}
    waiting = [(path, package)]
    while waiting:
        file, inside = waiting.pop()
        for name in _imports(file, inside):
            for module, location in _modules(name, folder, top_package):
                if module not in files and location != path:
                    files[module] = location
                    is_package = location.stem == "__init__"
                    waiting.append((location, module if is_package else module.rpartition(".")[0]))
    return files


def _digest(files: dict[str, Path], text: str = "") -> str:
    digest = hashlib.sha256(text.encode("utf-8", "replace"))
    for name in sorted(files):
        digest.update(f"{name}\0{file_sha256(files[name])}\n".encode())
    return digest.hexdigest()


def _package(module: Any) -> str:
    return str(getattr(module, "__package__", "") or "")


def _own_source(definition: Any) -> str:
    try:
        return inspect.getsource(definition)
    except (OSError, TypeError):
        code = getattr(definition, "__code__", None)
        return _code_text(code) if isinstance(code, CodeType) else repr(definition)


def _code_text(code: CodeType) -> str:
    """A function without a source, as one that was typed at a prompt, by what it does."""
    constants = [
        _code_text(constant) if isinstance(constant, CodeType) else repr(constant) for constant in code.co_consts
    ]
    return repr((code.co_code, constants, code.co_names, code.co_varnames))


def _imports(file: Path, package: str) -> Iterator[str]:
    """The dotted names that a file imports anywhere in it; ``from a import b`` may mean the module ``a.b``."""
    if file.suffix != ".py":
        return
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, package)
            if base is not None:
                yield from (f"{base}.{alias.name}".lstrip(".") for alias in node.names)
                yield base
        elif isinstance(node, ast.Call) and node.args:
            function_name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            first = node.args[0]
            if function_name in _IMPORTERS and isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def _base(node: ast.ImportFrom, package: str) -> str | None:
    """The module that names are imported from; None where a relative import leads out of the package."""
    if not node.level:
        return node.module
    parts = package.split(".") if package else []
    if node.level - 1 > len(parts) or not parts:
        return None
    above = parts[: len(parts) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


def _modules(dotted: str, folder: Path, top_package: str | None) -> Iterator[tuple[str, Path]]:
    """The files of the user's that importing a dotted name runs: those of its packages, then its own."""
    parts = [part for part in dotted.split(".") if part]
    if not parts or parts[0] == "nasbed" or (top_package is not None and parts[0] != top_package):
        return
    folders: Sequence[Path] = [folder]
    for depth, part in enumerate(parts):
        file, inner = _in_folders(part, folders)
        if depth == 0 and file is None and not inner:
            file, inner = _elsewhere(part)
        if file is not None:
            yield ".".join(parts[: depth + 1]), file
        folders = inner
        if not folders:
            return


def _in_folders(name: str, folders: Sequence[Path]) -> tuple[Path | None, list[Path]]:
    """The file of a module in the first of some folders that has it, and where its submodules are."""
    for folder in folders:
        inside = folder / name
        if (inside / "__init__.py").is_file():
            return inside / "__init__.py", [inside]
        for suffix in _SUFFIXES:
            file = folder / f"{name}{suffix}"
            if file.is_file():
                return file, []
    spaces = [folder / name for folder in folders if (folder / name).is_dir()]
    return None, spaces


def _elsewhere(name: str) -> tuple[Path | None, list[Path]]:
    """The same of a module of the user's that Python finds on its path."""
    if name in sys.stdlib_module_names or name == "__main__":
        return None, []
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None, []
    if spec is None:
        return None, []
    file = Path(spec.origin) if spec.origin and Path(spec.origin).is_file() else None
    folders = [Path(location) for location in spec.submodule_search_locations or ()]
    if any(_is_installed(location) for location in [*([file.parent] if file else []), *folders]):
        return None, []
    return file, folders


@functools.cache
def _library_folders() -> tuple[Path, ...]:
    return tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))


def _is_installed(folder: Path) -> bool:
    """Whether a folder holds installed packages or the standard library, which have versions."""
    folder = folder.resolve()
    return any(part in _INSTALLED for part in folder.parts) or any(
        folder.is_relative_to(library) for library in _library_folders()
    )
