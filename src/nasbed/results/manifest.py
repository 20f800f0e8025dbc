"""The manifest of a results folder: its description, and the checksums of its files."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from nasbed.core.checksummed_json import is_sealed, sealed
from nasbed.core.errors import BadFile, shorten
from nasbed.core.files import complete_file, file_sha256
from nasbed.core.metric import Metric

SCHEMA_VERSION = 1
FILE_NAME = "manifest.json"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*")
_RESERVED = re.compile(r"method|seed|fidelity|status|train_time_s|timestamp|architecture|code_[0-9]+")
_LONGEST_KEY = 100


@dataclass(frozen=True, slots=True)
class TableInfo:
    """What the rows of a table are. ``name`` is its id, such as ``nb201/cifar10``; ``recipe`` is how the networks were
    trained; ``fidelity_unit`` is what a fidelity counts. In a table ``by_function`` each row answers for all
    architectures that compute the same function (:meth:`~nasbed.spaces.SearchSpace.function_codes`)."""

    name: str
    space: str
    metrics: tuple[Metric, ...]
    dataset: str = ""
    recipe: str = ""
    fidelity_unit: str = "epochs"
    licence: str = ""
    citation: str = ""
    source: str = ""
    notes: str = ""
    by_function: bool = False

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise BadFile(f"a table's name is lower-case words of a-z 0-9 . _ - joined by /, got {shorten(self.name)}")
        keys = [metric.key for metric in self.metrics]
        if len(set(keys)) < len(keys):
            raise BadFile(f"the metrics of a table have different keys, got {shorten(keys)}")
        odd = next((key for key in keys if _RESERVED.fullmatch(key) or len(key) > _LONGEST_KEY), None)
        if odd is not None:
            raise BadFile(f"a metric's key is short and not that of another column, got {shorten(odd)}; rename it")
        texts = (self.dataset, self.recipe, self.fidelity_unit, self.licence, self.citation, self.source, self.notes)
        for text in texts:
            if not isinstance(text, str) or text.encode("utf-8", "replace") != text.encode("utf-8", "surrogatepass"):
                raise BadFile(f"what is said about a table is Unicode text, got {shorten(text)}")
        if not isinstance(self.by_function, bool):
            raise BadFile(f"by_function of a table is true or false, got {shorten(self.by_function)}")

    @property
    def by_key(self) -> dict[str, Metric]:
        return {metric.key: metric for metric in self.metrics}


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The size and checksum of one file of the folder."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """About, the counts, and every file with its checksum."""

    about: TableInfo
    rows: int
    architectures: int
    files: dict[str, FileRecord] = field(default_factory=dict)
    nasbed_version: str = ""
    created: str = ""
    space_definition: dict[str, Any] | None = None
    schema_version: int = SCHEMA_VERSION

    def write(self, folder: str | Path) -> None:
        """Make this the folder's manifest, in one step."""
        folder = Path(folder)
        with complete_file(folder / FILE_NAME) as draft:
            draft.write_bytes(sealed(_to_json(self)))

    @classmethod
    def read(cls, folder: str | Path) -> Manifest:
        """The folder's manifest; raises unless it is complete and of a version known here."""
        folder = Path(folder)
        path = folder / FILE_NAME
        try:
            content = path.read_bytes()
            data = json.loads(content)
        except FileNotFoundError:
            raise BadFile(
                f"{folder} is not a results folder, it lacks {FILE_NAME}; import or fetch the table first"
            ) from None
        except (OSError, ValueError, RecursionError) as error:
            raise BadFile(
                f"{path} cannot be read as a manifest: {str(error).splitlines()[0]}; import the table again"
            ) from None
        version = data.get("schema_version") if isinstance(data, dict) else None
        if version != SCHEMA_VERSION:
            raise BadFile(
                f"{path} has schema version {shorten(version)}, this nasbed reads {SCHEMA_VERSION}; import the table "
                "again"
            )
        try:
            if not is_sealed(content, data):
                raise BadFile("its SHA-256 does not match its content, so it was changed")
            return _from_json(data)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise BadFile(
                f"{path} is not a complete manifest: {str(error).splitlines()[0]}; import the table again"
            ) from None


def _to_json(manifest: Manifest) -> dict[str, Any]:
    data = asdict(manifest)
    data["about"]["metrics"] = [metric.to_json() for metric in manifest.about.metrics]
    if not manifest.about.by_function:
        del data["about"]["by_function"]  # as in all tables from before there were such
    return data


def _from_json(data: dict[str, Any]) -> Manifest:
    info = dict(data["about"])
    info["metrics"] = tuple(map(Metric.from_json, info["metrics"]))
    files = {}
    for name, record in data["files"].items():
        inside = PurePosixPath(name)
        if inside.is_absolute() or ".." in inside.parts or "\\" in name or not inside.parts:
            raise BadFile(f"a manifest names files inside its folder, got {shorten(name)}; do not use this table")
        files[name] = FileRecord(int(record["bytes"]), str(record["sha256"]))
    if len({PurePosixPath(name).parts[0] for name in files}) != 1:
        raise BadFile("a manifest names the files of one data folder; import the table again")
    return replace(
        Manifest(TableInfo(**info), int(data["rows"]), int(data["architectures"]), files),
        nasbed_version=str(data["nasbed_version"]),
        created=str(data["created"]),
        space_definition=data.get("space_definition"),
    )


def record(path: Path) -> FileRecord:
    """The size and checksum of a file as it is now."""
    return FileRecord(path.stat().st_size, file_sha256(path))
