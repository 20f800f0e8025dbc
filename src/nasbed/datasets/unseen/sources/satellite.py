"""Patches of BigEarthNet 1.0: where they lie in a folder, which country they show, and their pixels as bytes."""

from __future__ import annotations

import bz2
import csv
import io
import json
import os
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, MissingDependency, shorten
from nasbed.datasets.source import DEEPEST
from nasbed.datasets.unseen.sources.material import content, sha256, text

BANDS = ("B04", "B03", "B02")
"""Red, green and blue of Sentinel-2, 10 m a pixel."""
SIDE = 120
WHITE = 3_000
"""The digital number that becomes 255: a reflectance of 0.3. Clouds and snow are above, and white."""
TABLE = "countries.csv"
PACKAGE = "bigearthnet_common"
FACTS = {"labels", "coordinates", "projection", "tile_source", "acquisition_date"}
CORNERS = {"ulx", "uly", "lrx", "lry"}
_NAME = re.compile(r"S2[AB]_MSIL2A_\d{8}T\d{5,6}_\d{1,2}_\d{1,2}")
"""Satellite, date and time, column and row in the tile; a time before ten o'clock may lack its first zero."""
PACKAGED = "s1_s2_name_country_season.csv.bz2"


def patches_in(folder: Path) -> tuple[Path, list[str]]:
    """The folder that holds the patches, this one or one a few below, and their names in order."""
    level = [folder]
    for _ in range(DEEPEST + 1):
        matches = [(candidate, names) for candidate in level if (names := _patches(candidate))]
        if len(matches) > 1:
            raise BadFile(f"one folder of patches is read, {matches[0][0]} and {matches[1][0]} are two; name one")
        if matches:
            return matches[0]
        level = sorted(Path(entry.path) for candidate in level for entry in os.scandir(candidate) if entry.is_dir())
    raise BadFile(f"patches are folders NAME with NAME_{BANDS[0]}.tif in them, {folder} has none; see docs")


def _patches(folder: Path) -> list[str]:
    names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    return [name for name in names if (folder / name / f"{name}_{BANDS[0]}.tif").is_file()]


def countries_of(folder: Path, classes: tuple[str, ...]) -> tuple[dict[str, int], str, str]:
    """The country of each patch by its name, with the name and the SHA-256 of the table it comes from.

    The table is ``countries.csv`` in the folder of the patches or above it (columns patch,country), else that of the
    package bigearthnet-common, which is read as a file and never run.
    """
    for candidate in (folder, *list(folder.parents)[:1]):
        if (candidate / TABLE).is_file():
            data = content(candidate / TABLE)
            return _countries(text(candidate / TABLE, data), str(candidate / TABLE), classes), TABLE, sha256(data)
    packaged = _packaged()
    if packaged is None:
        raise BadFile(
            f"the country of a patch comes from {TABLE} (patch,country) beside the patches or from the package "
            "bigearthnet-common, neither exists; pip install bigearthnet-common"
        )
    try:
        data = bz2.decompress(packaged.read_bytes())
    except (OSError, ValueError, EOFError) as error:
        raise BadFile(f"{packaged} is damaged: {error}; install bigearthnet-common again") from None
    return _countries(text(packaged, data), str(packaged), classes), f"bigearthnet-common {PACKAGED}", sha256(data)


def _packaged() -> Path | None:
    """The package's table, found without importing the package."""
    spec = find_spec(PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(place) / PACKAGED).is_file():
            return Path(place) / PACKAGED
    return None


def _countries(table: str, source: str, classes: tuple[str, ...]) -> dict[str, int]:
    reader = csv.reader(io.StringIO(table))
    head = [name.strip().lower() for name in next(reader, [])]
    patch = next((head.index(name) for name in ("patch", "s2_name") if name in head), None)
    if patch is None or "country" not in head:
        raise BadFile(f"{source} has the columns patch (or s2_name) and country, got {shorten(head)}; rename them")
    country = head.index("country")
    numbers = {name: number for number, name in enumerate(classes)}
    country_of: dict[str, int] = {}
    for row in reader:
        if len(row) != len(head) or row[country] not in numbers:
            raise BadFile(
                f"{source}, line {reader.line_num}: a country is one of {', '.join(classes)}, got {shorten(row)}"
            )
        if country_of.setdefault(row[patch], numbers[row[country]]) != numbers[row[country]]:
            raise BadFile(f"{source}, line {reader.line_num}: a patch is in one country, {row[patch]} is in two")
    return country_of


def read_patch(folder: Path, name: str) -> tuple[NDArray[np.uint8], str]:
    """Red, green and blue as bytes, ``[3, 60, 60]``, and the SHA-256 of the three files."""
    files = [folder / name / f"{name}_{band}.tif" for band in BANDS]
    contents = []
    for path in files:
        try:
            contents.append(path.read_bytes())
        except OSError:
            raise BadFile(f"a patch has the bands {', '.join(BANDS)}, {path} cannot be read; get it again") from None
    numbers = np.stack([_band(path, data) for path, data in zip(files, contents, strict=True)])
    return as_bytes(numbers), sha256(b"".join(contents))


def is_published_patch(folder: Path, name: str) -> bool:
    """Whether a patch has a name of BigEarthNet 1.0 and, beside its bands, the file that tells its place and date.

    It does not show that the pixels are a satellite's.
    """
    try:
        facts = json.loads((folder / name / f"{name}_labels_metadata.json").read_bytes())
        return bool(_NAME.fullmatch(name)) and set(facts) >= FACTS and set(facts["coordinates"]) == CORNERS
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return False


def as_bytes(numbers: NDArray[np.uint16]) -> NDArray[np.uint8]:
    """Means of boxes of 2×2 pixels, from 0 at 0 to 255 at 3 000 and above; halves are rounded up, exactly.

    >>> as_bytes(np.full((1, 2, 2), 1500, np.uint16)).tolist()
    [[[128]]]
    """
    bands, height, width = numbers.shape
    sums = numbers.astype(np.int64).reshape(bands, height // 2, 2, width // 2, 2).sum(axis=(2, 4))
    return np.asarray(np.minimum((sums * 255 * 2 + 4 * WHITE) // (8 * WHITE), 255), np.uint8)


def _band(path: Path, data: bytes) -> NDArray[np.uint16]:
    tifffile = _tifffile()
    try:
        band = tifffile.imread(io.BytesIO(data))
    except (tifffile.TiffFileError, ValueError, TypeError, KeyError, IndexError, OSError, RuntimeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BadFile(f"{path} cannot be read as a TIFF: {reason[:100]}; get it again") from None
    if band.shape != (SIDE, SIDE) or band.dtype != np.uint16:
        raise BadFile(f"{path} has {SIDE}×{SIDE} numbers of 16 bits, got {band.dtype} {band.shape}; get it again")
    return np.asarray(band)


def _tifffile() -> Any:
    try:
        return import_module("tifffile")
    except ImportError:
        raise MissingDependency("geoclassing needs tifffile; get it with: pip install 'nasbed[unseen]'") from None
