"""The manifest of a surrogate benchmark: its description, and the checksums of its files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from nasbed.core.checksummed_json import is_sealed, sealed
from nasbed.core.errors import BadFile, InvalidOption, shorten
from nasbed.core.metric import Metric
from nasbed.results.manifest import FileRecord
from nasbed.surrogates.archive import check_name

FORMAT = "nasbed surrogate"
FORMAT_VERSION = 1
"""Of a surrogate of one fidelity."""
LEVELS_VERSION = 2
"""Of a surrogate of all fidelities, which earlier versions of nasbed cannot read."""
FILE_NAME = "manifest.json"
_NAME = re.compile(r"snb(-[a-z0-9._]+)+-v[0-9]+\.[0-9]+")


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """How a model was made: its id, its settings, and the seed of each member."""

    model: str
    settings: Mapping[str, Any]
    seeds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LevelsRecord:
    """The fidelities of a surrogate of several, rising, how many models make up a member, and the figures of the test
    part at each fidelity."""

    fidelities: tuple[int, ...]
    components: int
    figures: tuple[Mapping[str, float | None], ...]


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
    levels: LevelsRecord | None = None
    """Of a surrogate of several fidelities; ``fidelity`` is the highest, and ``figures`` are those there."""

    def __post_init__(self) -> None:
        check_artefact_name(self.name)

    @property
    def fidelities(self) -> tuple[int, ...]:
        """Those that it answers at, rising."""
        return (self.fidelity,) if self.levels is None else self.levels.fidelities

    @property
    def member_count(self) -> int:
        """How many members the ensemble has; one of several fidelities is made up of several models."""
        return len(self.members.seeds) // (1 if self.levels is None else self.levels.components)

    def to_bytes(self) -> bytes:
        """The manifest file."""
        data = asdict(self) | {"metric": self.metric.to_json()}
        if self.levels is None:
            del data["levels"]  # as in all surrogates from before there were such
        try:
            version = FORMAT_VERSION if self.levels is None else LEVELS_VERSION
            return sealed({"format": FORMAT, "format_version": version, **data})
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
        if version not in (FORMAT_VERSION, LEVELS_VERSION):
            raise BadFile(
                f"{label} has format version {shorten(version)}, this nasbed reads {FORMAT_VERSION} and "
                f"{LEVELS_VERSION}; get it again, or the nasbed that wrote it"
            )
        try:
            if not is_sealed(content, data):
                raise BadFile("its SHA-256 does not match its content, so it was changed")
            facts = {key: data[key] for key in data if key not in ("format", "format_version", "sha256")}
            return _from_json({"levels": None} | facts if version == FORMAT_VERSION else facts)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise BadFile(f"{label} is not a complete manifest: {str(error).splitlines()[0]}; get it again") from None


def check_artefact_name(name: str) -> None:
    """Raise unless a name is that of a surrogate benchmark."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidOption(
            f"a surrogate is named snb-{{space}}-{{dataset}}-{{model}}[-mf][-rand]-v{{x.y}}, got {shorten(name)}"
        )


def artefact_name(space: str, dataset: str, model: str, *, variant: str = "", version: str = "1.0") -> str:
    """The name of a surrogate benchmark.

    Args:
        space: The id of the space.
        dataset: The name of the dataset.
        model: The id of the model.
        variant: What the name says of the data, such as ``rand``, see :func:`variant_of`.
        version: The version, two numbers.

    >>> artefact_name("darts", "CIFAR-10", "xgb", variant="rand")
    'snb-darts-cifar-10-xgb-rand-v1.0'
    """
    words = [re.sub(r"[^a-z0-9._]+", "-", word.lower()).strip("-") for word in (space, dataset, model, variant) if word]
    name = f"snb-{'-'.join(word for word in words if word)}-v{version}"
    check_artefact_name(name)
    return name


def variant_of(methods: Sequence[str] | None, *, all_fidelities: bool) -> str:
    """What a name says of the data: ``mf`` for all fidelities, ``rand`` for random search alone.

    >>> variant_of(["rs"], all_fidelities=True), variant_of(None, all_fidelities=False)
    ('mf-rand', '')
    """
    words = ["mf" if all_fidelities else "", "rand" if methods is not None and list(methods) == ["rs"] else ""]
    return "-".join(filter(None, words))


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
                "levels": None if data["levels"] is None else _levels(data["levels"], len(data["members"]["seeds"])),
            }
        )
    )


def _model(data: Mapping[str, Any]) -> ModelRecord:
    seeds = tuple(int(seed) for seed in data["seeds"])
    if not seeds:
        raise ValueError("a model has at least 1 member")
    return ModelRecord(str(data["model"]), dict(data["settings"]), seeds)


def _levels(data: Mapping[str, Any], models: int) -> LevelsRecord:
    fidelities, components = tuple(int(fidelity) for fidelity in data["fidelities"]), int(data["components"])
    if len(fidelities) != len(data["figures"]) or components < 1 or models % components:
        raise ValueError("a surrogate of several fidelities has figures of each, and as many models in each member")
    return LevelsRecord(fidelities, components, tuple(dict(figures) for figures in data["figures"]))
