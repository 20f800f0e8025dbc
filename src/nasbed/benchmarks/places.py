"""Where tables and surrogates with a name are: those that come with the package, then those in the user's home.

A name that both have is the package's, so that an id means the same bytes on every machine; the other one is opened by
its path.
"""

from __future__ import annotations

from pathlib import Path

from nasbed.core.home import embedded_home, home, surrogates_folder, table_folder, tables_folder
from nasbed.results.manifest import FILE_NAME
from nasbed.surrogates.artefact import SUFFIX, is_artefact


def table_path(name: str) -> Path:
    """The folder of a table, or where one of that name would be."""
    ours = table_folder(name, embedded_home())
    return ours if _is_table(ours) else table_folder(name)


def is_present(name: str) -> bool:
    """Whether there is a table of that name."""
    return _is_table(table_path(name))


def present_tables() -> list[str]:
    """The names of all tables that are here."""
    found: set[str] = set()
    for root in (tables_folder(home()), tables_folder(embedded_home())):
        if root.is_dir():
            found |= {path.parent.relative_to(root).as_posix() for path in root.glob(f"**/{FILE_NAME}")}
    return sorted(found)


def surrogate_paths() -> dict[str, Path]:
    """All surrogates that are here, by name."""
    found: dict[str, Path] = {}
    for root in (surrogates_folder(home()), surrogates_folder(embedded_home())):
        if root.is_dir():
            found |= {path.name.removesuffix(SUFFIX): path for path in sorted(root.iterdir()) if is_artefact(path)}
    return found


def _is_table(folder: Path) -> bool:
    return (folder / FILE_NAME).is_file()
