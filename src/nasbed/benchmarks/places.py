"""The places of named tables and surrogates: those that come with the package, then those in the user's home. The
package's one has priority, so that an id means the same bytes on every machine. Open the other one by its path.
"""

from __future__ import annotations

from pathlib import Path

from nasbed.core.home import embedded_home, home, surrogates_folder, table_folder, tables_folder
from nasbed.results.manifest import FILE_NAME
from nasbed.surrogates.artefact import SUFFIX, is_artefact


def table_path(name: str) -> Path:
    """The folder of a table, whether it exists or not."""
    embedded = table_folder(name, embedded_home())
    return embedded if _is_table(embedded) else table_folder(name)


def is_present(name: str) -> bool:
    """Whether a table of that name exists."""
    return _is_table(table_path(name))


def present_tables() -> list[str]:
    """The names of all existing tables."""
    names: set[str] = set()
    for root in (tables_folder(home()), tables_folder(embedded_home())):
        if root.is_dir():
            names |= {path.parent.relative_to(root).as_posix() for path in root.glob(f"**/{FILE_NAME}")}
    return sorted(names)


def surrogate_paths() -> dict[str, Path]:
    """All existing surrogates, by name."""
    paths: dict[str, Path] = {}
    for root in (surrogates_folder(home()), surrogates_folder(embedded_home())):
        if root.is_dir():
            paths |= {path.name.removesuffix(SUFFIX): path for path in sorted(root.iterdir()) if is_artefact(path)}
    return paths


def _is_table(folder: Path) -> bool:
    return (folder / FILE_NAME).is_file()
