"""``nasbed.fit``: a surrogate benchmark from a table of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from nasbed.benchmarks import Benchmark, SurrogateBenchmark
from nasbed.benchmarks.catalog import load_results
from nasbed.benchmarks.tabular import as_table
from nasbed.core.calls.arguments import check_mapping, one_or_several, whole_number
from nasbed.results import Results
from nasbed.surrogates.artefact_manifest import variant_of
from nasbed.surrogates.making import make_surrogate
from nasbed.surrogates.presets import MODEL_PRESETS
from nasbed.surrogates.runtime import RUNTIME_MODEL
from nasbed.surrogates.table_split import TableSplit, search_metric
from nasbed.terminal.progress import share_bar


def fit(
    table: str | Path | Results | Benchmark,
    model: str = "lgb",
    *,
    members: int = 10,
    metric: str | None = None,
    fidelity: int | None = None,
    all_fidelities: bool = False,
    methods: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    preset: str = "",
    runtime: bool = True,
    noise: str | None = None,
    seed: int = 0,
    version: str = "1.0",
    out: str | Path | None = None,
    processes: int = 1,
    progress: bool = True,
) -> SurrogateBenchmark:
    """Fit a surrogate benchmark on 90 % of a table and judge it on the rest, as ``nasbed fit`` does.

    ``benchmark.artefact.manifest.figures`` are the figures of the held-out part.

    Args:
        table: an id or a folder, or the opened table.
        model: an id of ``nasbed list surrogates``.
        members: how many models the ensemble has.
        metric: the key of the predicted metric; the table's validation metric by default.
        fidelity: that of the evaluations; the highest by default.
        all_fidelities: fit one surrogate that answers at every fidelity.
        methods: use only what these search methods evaluated.
        settings: what differs from the model's default settings.
        preset: the paper that other settings are from.
        runtime: whether the training time is predicted, too.
        noise: ``repeats`` or ``ensemble``, see ``nasbed fit --help``.
        seed: of the split and the fits.
        version: the version in the surrogate's name.
        out: a new file that ends in ``.snb``, or a new folder. Without it, the surrogate is kept in memory alone, until
            ``benchmark.artefact.save(path)``.
        processes: how many members are fitted at once.
        progress: whether a notebook or a terminal shows a progress bar.
    """
    members, processes = whole_number("members", members, least=1), whole_number("processes", processes, least=1)
    seed = whole_number("seed", seed, least=0)
    check_mapping("settings are values by name", settings or {})
    results = _results(table)
    chosen = {**(MODEL_PRESETS.get(preset).settings(model) if preset else {}), **(settings or {})}
    split = TableSplit.of(
        results,
        metric=search_metric(results, metric),
        fidelity=fidelity,
        methods=None if methods is None else one_or_several("methods", methods),
        seed=seed,
        all_fidelities=all_fidelities,
    )
    split.check_parts()
    with ExitStack() as stack:
        report = stack.enter_context(share_bar(f"Fitting {members} × {model}")) if progress else None
        artefact = make_surrogate(
            split,
            model,
            members=members,
            settings=chosen,
            runtime=RUNTIME_MODEL if runtime else None,
            variant=variant_of(methods, all_fidelities=all_fidelities),
            version=version,
            noise=noise,
            processes=min(processes, members),
            progress=report,
        )
    return SurrogateBenchmark(artefact) if out is None else SurrogateBenchmark.open(artefact.save(out))


def _results(table: str | Path | Results | Benchmark) -> Results:
    if isinstance(table, Results):
        return table
    if isinstance(table, Benchmark):
        return as_table(
            table, f"a surrogate is fitted on a whole table, {table.name} is not one; load its table"
        ).results
    return load_results(table)
