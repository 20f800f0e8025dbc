"""From the journals of campaigns to a release: tables and surrogate benchmarks under one version, as one folder.

The folder is laid out as a home is (:mod:`nasbed.core.home`), so that it can be tried with ``NASBED_HOME``; the one of
this package is ``src/nasbed/embedded``. The same journals, plan, libraries and machine give the same bytes: no date but
that of the last evaluation, no random name.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import shutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from nasbed.core.errors import BadFile, InvalidOption, NasbedError, nearest, shorten
from nasbed.core.home import embedded_home, surrogates_folder, table_folder
from nasbed.experiments.campaign.export import export_journals
from nasbed.experiments.campaign.journal import Journal
from nasbed.results.cache.columns import FOLDER, pack
from nasbed.results.manifest import Manifest, record
from nasbed.results.store import Results
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.artefact import SUFFIX
from nasbed.surrogates.artefact_manifest import variant_of
from nasbed.surrogates.counted_costs import ExactCosts
from nasbed.surrogates.making import make_surrogate
from nasbed.surrogates.table_split import FITTED_ON, TableSplit

_VERSION = re.compile(r"[0-9]+\.[0-9]+")

T = TypeVar("T")
OnProgress = Callable[[str], None]
"""Called with the name of the next part."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A table: its name, its journals, and the models that are fitted on it with their settings. ``skeleton`` is the
    network around the cells, for which surrogates count parameters; the space's usual one by default. ``fidelities``
    are those of the table, all by default; a ``version`` or ``citation`` of its own replaces that of the release. A
    table ``by_function`` answers for all architectures that compute the function of one of its own. Training times are
    those of the ``calibration``, a file beside the journals, if one is named. Surrogates of a table with
    ``all_fidelities`` answer at each of them. A ``packed`` table is a fraction of the size and is read as a whole."""

    name: str
    journals: tuple[str, ...]
    surrogates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    skeleton: Mapping[str, Any] | None = None
    fidelities: tuple[int, ...] | None = None
    version: str = ""
    citation: str = ""
    by_function: bool = False
    calibration: str = ""
    all_fidelities: bool = False
    packed: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.calibration, str):
            raise InvalidOption(f"the calibration of a table is a file, got {shorten(self.calibration)}")
        if not isinstance(self.name, str) or not self.name:
            raise InvalidOption(f"a table of a release has a name, got {shorten(self.name)}")
        journals = self.journals
        if (
            not isinstance(journals, list | tuple)
            or not journals
            or not all(isinstance(name, str) for name in journals)
        ):
            raise InvalidOption(f"the table {self.name} has a list of journals, got {shorten(journals)}")
        object.__setattr__(self, "journals", tuple(journals))
        if self.fidelities is not None:
            if not isinstance(self.fidelities, list | tuple):
                raise InvalidOption(f"the fidelities of {self.name} are a list, got {shorten(self.fidelities)}")
            object.__setattr__(self, "fidelities", tuple(self.fidelities))
        if self.version != "":
            _check_version(self.version)
        for name in ("by_function", "all_fidelities", "packed"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidOption(f"{name} of {self.name} is true or false, got {shorten(getattr(self, name))}")
        for mapping in (self.surrogates, {} if self.skeleton is None else self.skeleton):
            if not isinstance(mapping, Mapping):
                raise InvalidOption(f"surrogates and skeleton of {self.name} are tables, got {shorten(mapping)}")
        for model, settings in self.surrogates.items():
            SURROGATES.get(model)
            if not isinstance(settings, Mapping):
                raise InvalidOption(f"the settings of {model} are a table, got {shorten(settings)}")


@dataclass(frozen=True, slots=True)
class ReleasePlan:
    """The contents of a release."""

    version: str
    tables: tuple[TablePlan, ...]
    licence: str = ""
    citation: str = ""
    members: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        _check_version(self.version)
        for name in ("members", "seed"):
            if type(getattr(self, name)) is not int or getattr(self, name) < (name == "members"):
                raise InvalidOption(f"{name} of a release is a whole number, got {shorten(getattr(self, name))}")
        if not self.tables:
            raise InvalidOption("a release has at least 1 table; add [[tables]]")

    @classmethod
    def read(cls, path: str | Path) -> ReleasePlan:
        """The plan in a TOML file."""
        path = Path(path)
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            reason = next(iter(str(error).splitlines()), "")
            raise BadFile(f"{path} cannot be read as the TOML file of a release: {reason}; fix it") from None
        try:
            tables = data.pop("tables", [])
            if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
                raise InvalidOption(f"[[tables]] are tables, got {shorten(tables)}")
            return _from_table(ReleasePlan, data | {"tables": tuple(_from_table(TablePlan, table) for table in tables)})
        except NasbedError as error:
            raise BadFile(f"{path}: {error}") from None


def _check_version(version: Any) -> None:
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise InvalidOption(f'a version is "X.Y", got {shorten(version)}')


@dataclass(frozen=True, slots=True)
class ReleasedPart:
    """One table or surrogate of a release: its size, and for a surrogate the time and the quality of its fit."""

    name: str
    bytes: int
    rows: int
    fit_s: float | None = None
    figures: Mapping[str, float | None] = field(default_factory=dict)


def release(
    plan: ReleasePlan,
    journals: str | Path,
    out: str | Path,
    *,
    processes: int = 1,
    on_progress: OnProgress = lambda _: None,
) -> list[ReleasedPart]:
    """Make everything that a plan names, as a new folder that appears only when it is complete.

    Args:
        plan: the tables and surrogates.
        journals: the folder of the campaigns' journals.
        out: the new folder.
        processes: how many fit the members of an ensemble at once.
        on_progress: called with the name of what is made next.
    """
    journals, out = Path(journals), Path(out)
    if out.exists():
        raise InvalidOption(f"a release is a new folder, {out} exists; remove it or name another")
    draft = out.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        surrogates = []
        for table in plan.tables:
            on_progress(table.name)
            results = _table(plan, table, journals, draft)
            results.release()
            surrogates.append(ReleasedPart(table.name, _size(results.folder), results.manifest.rows))
            surrogates += _surrogates(plan, table, results, draft, processes, on_progress)
        for path in draft.rglob(".*"):  # locks, and what was verified when
            path.unlink()
        draft.rename(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return surrogates


def _table(plan: ReleasePlan, table: TablePlan, journals: Path, draft: Path) -> Results:
    """The table. Fields that differ between two exports, such as the date, are derived from its rows instead."""
    paths = [journals / name for name in table.journals]
    folder = table_folder(table.name, draft)
    exported = export_journals(
        paths,
        folder,
        name=table.name,
        fidelities=table.fidelities,
        by_function=table.by_function,
        calibration=journals / table.calibration if table.calibration else None,
    )
    exported.release()  # nobody else knows the draft
    created = _last_evaluation(exported)
    files = {name.split("/", 1)[1]: file_record for name, file_record in exported.manifest.files.items()}
    if table.packed:
        packed = pack(exported.data / FOLDER)
        files = {name: file_record for name, file_record in files.items() if not name.startswith(f"{FOLDER}/")}
        files[packed.name] = record(packed)
    digest = hashlib.sha256("".join(file_record.sha256 for file_record in files.values()).encode()).hexdigest()
    data = exported.data.rename(folder / f"data-{digest[:12]}")
    version = table.version or plan.version
    notes = [f"release {version}", _training(paths[0]), *filter(None, [exported.about.notes])]
    manifest = replace(
        exported.manifest,
        about=replace(
            exported.about,
            licence=plan.licence,
            citation=table.citation or plan.citation,
            notes="; ".join(notes),
        ),
        files={f"{data.name}/{name}": file_record for name, file_record in files.items()},
        created=created,
    )
    as_released(manifest).write(folder)
    return Results.open(folder)


def as_released(manifest: Manifest) -> Manifest:
    """The manifest of the table of this name that comes with the package, if it is the same table but for its notes. A
    released version never changes, and surrogates know a table by the checksum of its manifest; what later versions
    of nasbed note about old journals does not matter."""
    folder = table_folder(manifest.about.name, embedded_home())
    if not folder.exists():
        return manifest
    released = Manifest.read(folder)
    about = replace(manifest.about, notes=released.about.notes)
    same = replace(manifest, about=about, nasbed_version=released.nasbed_version) == released
    return released if same else manifest


def _training(journal: Path) -> str:
    """Recipe and dataset, this with its checksum, as the journal has them."""
    with Journal.reading(journal) as reader:
        return f"trained by {json.dumps(reader.facts()['trainer'])}"


def _last_evaluation(results: Results) -> str:
    last = max(int(rows.timestamp_us.max()) for rows in results.batches())
    return datetime.fromtimestamp(last // 1_000_000, UTC).isoformat(timespec="seconds")


def _surrogates(
    plan: ReleasePlan, table: TablePlan, results: Results, draft: Path, processes: int, on_progress: OnProgress
) -> list[ReleasedPart]:
    """Fit and save the surrogates of a table, each on all evaluations and on those of random search alone, if there
    are any. All have the noise of the table's repeats, where it has enough.

    Args:
        plan: the release.
        table: the plan of the table.
        results: the exported table.
        draft: the folder of the release until it is complete.
        processes: how many fit the members of an ensemble at once.
        on_progress: called with the name of what is fitted next.
    """
    methods_used = {name for rows in results.batches() for name in np.unique(rows.method).tolist()}
    ExactCosts(results.space, results.about.dataset, table.skeleton)  # raises before any fit
    if not table.surrogates:
        return []
    for model, settings in table.surrogates.items():
        SURROGATES.get(model)(results.space, settings=settings)
    splits = {
        variant_of(methods, all_fidelities=table.all_fidelities): TableSplit.of(
            results, methods=methods, seed=plan.seed, all_fidelities=table.all_fidelities
        )
        for methods in FITTED_ON
        if methods is None or methods_used.issuperset(methods)
    }
    surrogates = []
    for model, settings in table.surrogates.items():
        for variant, split in splits.items():
            on_progress(f"{model} {variant}".rstrip())
            start = perf_counter()
            artefact = make_surrogate(
                split,
                model,
                members=plan.members,
                settings=settings,
                variant=variant,
                version=table.version or plan.version,
                skeleton=table.skeleton,
                compact=True,
                processes=min(processes, plan.members),
            )
            fit_s = perf_counter() - start
            manifest = replace(artefact.manifest, created=results.manifest.created)
            path = replace(artefact, manifest=manifest).save(surrogates_folder(draft) / f"{manifest.name}{SUFFIX}")
            surrogates.append(
                ReleasedPart(manifest.name, path.stat().st_size, manifest.provenance["rows"], fit_s, manifest.figures)
            )
    return surrogates


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _from_table(kind: type[T], values: Mapping[str, Any]) -> T:
    names = [item.name for item in fields(kind)]  # type: ignore[arg-type]
    for name in values:
        if name not in names:
            raise InvalidOption(f"a release has no key {name!r}; {nearest(name, names)}")
    try:
        return kind(**values)
    except TypeError as error:
        raise InvalidOption(f"a release lacks a key: {error}; add it") from None
