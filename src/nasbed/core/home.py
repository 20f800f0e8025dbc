"""Where nasbed keeps what it fetches: one folder, with the tables and the downloads that they are made from.

``NASBED_HOME`` names the folder. Without it, it is the platform's place for a program's data.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from nasbed.core.errors import InvalidOption, shorten

_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def home() -> Path:
    """The folder of everything. It need not exist yet."""
    folder = os.environ.get("NASBED_HOME")
    return Path(folder).expanduser().absolute() if folder else data_folder(sys.platform) / "nasbed"


def data_folder(platform: str) -> Path:
    """Where programs keep a user's data on a platform, which is named as :data:`sys.platform` names it."""
    if platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    shared = os.environ.get("XDG_DATA_HOME", "")  # to be ignored where it is relative, says its specification
    return Path(shared) if Path(shared).is_absolute() else Path.home() / ".local" / "share"


def embedded_home() -> Path:
    """What comes with the package, laid out as a home is. Nothing is ever written there."""
    return Path(__file__).resolve().parents[1] / "embedded"


def tables_folder(root: Path | None = None) -> Path:
    """The folder of results tables, of another home if one is given."""
    return (root or home()) / "tables"


def downloads_folder() -> Path:
    """The folder of published files, whole and in part."""
    return home() / "downloads"


def surrogates_folder(root: Path | None = None) -> Path:
    """The folder of surrogate benchmarks, each a folder or a file of its name."""
    return (root or home()) / "surrogates"


def left_out_fits_folder() -> Path:
    """The folder of surrogates that studies fitted without some of a table, by fingerprint. They can be removed."""
    return home() / "left-out-fits"


def cache_folder() -> Path:
    """The folder of what takes long to make and is the same every time. It can be removed."""
    return home() / "cache"


def datasets_folder() -> Path:
    """The folder of converted images, a folder for each dataset."""
    return home() / "datasets"


def table_folder(name: str, root: Path | None = None) -> Path:
    """The folder of one table; a name such as ``nb201/cifar10`` never leads outside the folder of tables."""
    parts = name.split("/")
    if not all(_PART.fullmatch(part) for part in parts):
        raise InvalidOption(f"a table's name is words of a-z 0-9 . _ - joined by /, got {shorten(name)}")
    return tables_folder(root).joinpath(*parts)
