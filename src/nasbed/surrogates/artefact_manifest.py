"""The manifest of a surrogate benchmark: its description, and the checksums of its files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from nasbed.core.checksummed_json import is_sealed, sealed
from nasbed.core.errors import BadFile, InvalidOption, shorten
from nasbed.core.metric import Metric
from nasbed.results.manifest import FileRecord
from nasbed.surrogates.archive import check_name

FORMAT = "nasbed surrogate"
FORMAT_VERSION = 1
FILE_NAME = "manifest.json"
_NAME = re.compile(r"snb(-[a-z0-9._]+)+-v[0-9]+\.[0-9]+")


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """How a model was made: its id, its settings, and the seed of each member."""

    model: str
    settings: Mapping[str, Any]
    seeds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ArtefactManifest:
    """``figures`` are those of the test part, which nothing was fitted on; ``provenance`` says what the rest was."""

    name: str
    space: str
    dataset: str
    metric: Metric
    fidelity: int
    members: ModelRecord
    runtime: ModelRecord | None = None
    exact: tuple[str, ...] = ()
    """The costs that are counted, by name."""
    figures: Mapping[str, float | None] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    licence: str = ""
    citation: str = ""
    notes: str = ""
    space_definition: Mapping[str, Any] | None = None
    nasbed_version: str = ""
    libraries: Mapping[str, str] = field(default_factory=dict)
    created: str = ""
    files: Mapping[str, FileRecord] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_artefact_name(self.name)

    def to_bytes(self) -> bytes:
        """The manifest file."""
        data = asdict(self) | {"metric": self.metric.to_json()}
        try:
            return sealed({"format": FORMAT, "format_version": FORMAT_VERSION, **data})
        except (TypeError, ValueError) as error:
            raise InvalidOption(f"a value of the manifest is not JSON: {error}") from None

    @classmethod
    def from_bytes(cls, content: bytes, label: str) -> ArtefactManifest:
        """What a manifest file says; raises unless it is complete, unchanged and of a version known here."""
        try:
            data = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise BadFile(f"{label} cannot be read as a manifest: {str(error).splitlines()[0]}; get it again") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise BadFile(f"{label} is not the manifest of a surrogate, or is damaged; get it again")
        version = data.get("format_version")
        if version != FORMAT_VERSION:
            raise BadFile(
                f"{label} has format version {shorten(version)}, this nasbed reads {FORMAT_VERSION}; get it again, or "
                "the nasbed that wrote it"
            )
        try:
            if not is_sealed(content, data):
                raise BadFile("its SHA-256 does not match its content, so it was changed")
            return _from_json({key: data[key] for key in data if key not in ("format", "format_version", "sha256")})
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise BadFile(f"{label} is not a complete manifest: {str(error).splitlines()[0]}; get it again") from None


def check_artefact_name(name: str) -> None:
    """Raise unless a name is that of a surrogate benchmark."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidOption(
            f"a surrogate is named snb-{{space}}-{{dataset}}-{{model}}[-rand]-v{{x.y}}, got {shorten(name)}"
        )


def artefact_name(space: str, dataset: str, model: str, *, variant: str = "", version: str = "1.0") -> str:
    """The name of a surrogate benchmark.

    Args:
        space: The id of the space.
        dataset: The name of the dataset.
        model: The id of the model.
        variant: What the name says of the data, such as ``rand``.
        version: The version, two numbers.

    >>> artefact_name("darts", "CIFAR-10", "xgb", variant="rand")
    'snb-darts-cifar-10-xgb-rand-v1.0'
    """
    words = [re.sub(r"[^a-z0-9._]+", "-", word.lower()).strip("-") for word in (space, dataset, model, variant) if word]
    name = f"snb-{'-'.join(word for word in words if word)}-v{version}"
    check_artefact_name(name)
    return name


def _from_json(data: dict[str, Any]) -> ArtefactManifest:
    missing = [item.name for item in fields(ArtefactManifest) if item.name not in data]
    if missing:
        raise ValueError(f"it lacks {', '.join(missing)}")
    files = {}
    for name, record in data["files"].items():
        check_name(name)
        files[name] = FileRecord(int(record["bytes"]), str(record["sha256"]))
    return ArtefactManifest(
        **(
            data
            | {
                "metric": Metric.from_json(data["metric"]),
                "members": _model(data["members"]),
                "runtime": None if data["runtime"] is None else _model(data["runtime"]),
                "exact": tuple(map(str, data["exact"])),
                "fidelity": int(data["fidelity"]),
                "files": files,
            }
        )
    )


def _model(data: Mapping[str, Any]) -> ModelRecord:
    seeds = tuple(int(seed) for seed in data["seeds"])
    if not seeds:
        raise ValueError("a model has at least 1 member")
    return ModelRecord(str(data["model"]), dict(data["settings"]), seeds)
