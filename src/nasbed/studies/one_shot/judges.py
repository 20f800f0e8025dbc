"""What judges one-shot searches: for each method, a surrogate that has not seen what the method evaluated.

A table may hold the architectures that a method went through, and a surrogate of it knows their accuracies. So the
searches of a method are judged in the leave-one-optimizer-out setting (Surrogate NAS Benchmarks, appendix F.1): by the
same model, fitted again on the same part of the table without these architectures. Such fits are kept under
``NASBED_HOME``, so that a second study fits nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import nasbed
from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.places import present_tables, table_path
from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.core.code_fingerprint import object_fingerprint
from nasbed.core.errors import InvalidOption
from nasbed.core.files import values_sha256
from nasbed.core.home import left_out_fits_folder
from nasbed.results.store import Results
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.artefact import SUFFIX
from nasbed.surrogates.artefact_manifest import ArtefactManifest
from nasbed.surrogates.making import make_surrogate
from nasbed.surrogates.table_split import TableSplit

FitProgress = Callable[[str, float], None]
"""Called with a method and the share of its fit that is done, from 0 to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """What predicts the architectures of a method's searches.

    ``rows`` is the number of evaluations that it was fitted on, ``None`` where unknown or where all is measured;
    ``left_out`` how many others the named surrogate has. ``caution`` says why it may have seen the method's data; it is
    empty where it has not.
    """

    benchmark: Benchmark
    rows: int | None = None
    left_out: int = 0
    caution: str = ""


def benchmark_as_judge(benchmark: Benchmark, caution: str) -> Judge:
    """The benchmark itself. The caution is dropped where it measures: trainings are facts, whoever chose them."""
    if not benchmark.predicts:
        return Judge(benchmark)
    surrogate = benchmark.unwrapped
    rows = surrogate.artefact.manifest.provenance.get("rows") if isinstance(surrogate, SurrogateBenchmark) else None
    return Judge(benchmark, rows, caution=caution)


def judges_without_data(
    benchmark: Benchmark,
    methods: Sequence[str],
    *,
    table: Results | None = None,
    processes: int = 1,
    on_fit: FitProgress = lambda method, share: None,
) -> dict[str, Judge]:
    """A judge for each method that has not seen what the method evaluated, where the surrogate's table is present.

    Args:
        benchmark: The surrogate whose model is fitted again. A table judges by itself.
        methods: The one-shot methods, by the names that they have in the table.
        table: The table that the surrogate was fitted on; by default the one of the name that it records.
        processes: How many members are fitted at a time.
        on_fit: Called while a judge is fitted.
    """
    surrogate = benchmark.unwrapped
    if not isinstance(surrogate, SurrogateBenchmark):
        judge = benchmark_as_judge(benchmark, f"{benchmark.name} does not record what it was fitted on")
        return dict.fromkeys(methods, judge)
    manifest = surrogate.artefact.manifest
    split = _split_of(manifest, table)
    if isinstance(split, str):
        return dict.fromkeys(methods, benchmark_as_judge(benchmark, split))
    judges = {}
    for method in dict.fromkeys(methods):
        reduced = split.without([method])
        rows = len(reduced.parts.fitted)
        left_out = len(split.parts.fitted) - rows
        judges[method] = Judge(benchmark, rows)
        if left_out:
            path = _fitted_without(manifest, reduced, method, processes, on_fit)
            judges[method] = Judge(SurrogateBenchmark.open(path), rows, left_out)
    return judges


def _split_of(manifest: ArtefactManifest, table: Results | None) -> TableSplit | str:
    """The split that a surrogate was fitted on, or the reason why it is unknown. Raises if the named table is not
    that of the surrogate."""
    name = str(manifest.provenance.get("table", ""))
    results = table
    if results is None:
        if name not in present_tables():
            return f"its table {name!r} is not here; name it with --table" if name else "it records no table"
        results = Results.open(table_path(name))
    try:
        split = TableSplit.recorded(results, manifest.provenance, metric=manifest.metric, fidelity=manifest.fidelity)
    except InvalidOption as reason:  # the same table, but not the same split
        if table is not None:
            raise
        return str(reason)
    if split is None and table is not None:
        raise InvalidOption(
            f"{manifest.name} was fitted on a table {name!r} with other bytes than {results.about.name}; name that one"
        )
    return split or f"the table {name!r} that is here has other bytes than the one it was fitted on"


def _fitted_without(
    manifest: ArtefactManifest, split: TableSplit, method: str, processes: int, on_fit: FitProgress
) -> Path:
    """The surrogate of a split that lacks a method's architectures; it is fitted unless it exists.

    Args:
        manifest: Of the surrogate that saw everything: its model, settings and number of members.
        split: The rows to fit on.
        method: The method that is left out.
        processes: How many members are fitted at a time.
        on_fit: Called while it is fitted.
    """
    members = asdict(manifest.members)
    code = (nasbed.__version__, object_fingerprint(SURROGATES.get(manifest.members.model)))
    facts = (split.results.fingerprint, split.fitted_sha256, manifest.metric.key, split.seed, members, code)
    name = re.sub(r"[^\w.-]+", "-", f"{manifest.name}-without-{method}-{values_sha256(facts)[:16]}")
    path = left_out_fits_folder() / f"{name}{SUFFIX}"
    if not path.exists():
        skeleton: Mapping[str, object] | None = manifest.provenance.get("skeleton")
        on_fit(method, 0.0)
        make_surrogate(
            split,
            manifest.members.model,
            members=len(manifest.members.seeds),
            settings=manifest.members.settings,
            runtime=None,
            variant=f"without-{method}",
            version=manifest.name.rpartition("-v")[2],
            skeleton=skeleton,
            compact=True,
            processes=min(processes, len(manifest.members.seeds)),
            progress=lambda share: on_fit(method, share),
        ).save(path)
    return path
