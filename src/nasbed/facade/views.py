"""The cards by which a notebook shows an architecture, a benchmark and a table of results."""

from __future__ import annotations

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import TooLarge
from nasbed.core.metric import Metric
from nasbed.core.status import STATUSES
from nasbed.drawing.cells import cell_svg
from nasbed.drawing.notebooks import NotebookCard
from nasbed.drawing.number_texts import short
from nasbed.results.rows import UNKNOWN
from nasbed.results.store import Results
from nasbed.spaces import SPACES, SearchSpace, space

FIRST_ROWS = 5
"""How many rows of a table are shown."""
MOST_LISTED = 8
"""How many fidelities are listed; of more, the first and the last."""
LARGE = 10**12
"""Sizes from here on are shown as a power of ten."""


def architecture_html(architecture: Architecture) -> str:
    """The drawn cell, its text, and what is known of it without training."""
    searched = space(architecture.space)
    searched.validate(architecture)
    properties = searched.properties([architecture])
    facts: dict[str, object] = {"text": searched.format(architecture)}
    facts |= {name.replace("_", " "): column.tolist()[0] for name, column in properties.items()}
    picture = cell_svg(searched.diagrams(architecture))
    return NotebookCard(f"An architecture of {searched.title}", facts, picture=picture).html()


def benchmark_html(benchmark: Benchmark) -> str:
    """What it is, what it measures, and how to ask it."""
    kind = "predicted by a model" if benchmark.predicts else "measured before"
    held = benchmark.held_count
    facts: dict[str, object] = {
        "space": f"{benchmark.space.name}: {benchmark.space.title}",
        "architectures": _size(benchmark.space) if held is None else held,
        "dataset": benchmark.dataset_name or "not recorded",
        "answers": "measured now: each query trains a network" if benchmark.is_live else kind,
        "objective": f"{benchmark.objective.direction} {_metric(benchmark.objective)}",
        "metrics": ", ".join(map(_metric, benchmark.metrics)),
        "judged by": _metric(benchmark.judge) if benchmark.judge else "nothing: no test results, no means",
        "fidelities": _fidelities(benchmark.fidelities),
        "times": "in seconds" if benchmark.has_times else "not recorded",
    }
    code = (
        "architecture = benchmark.space.sample(rng)   # or its text, or its configuration\n"
        f'benchmark.query(architecture, seed=0)["{benchmark.objective.key}"]\n'
        f"benchmark.query_many(architectures).to_pandas({'' if benchmark.space.name in SPACES else 'benchmark.space'})"
    )
    return NotebookCard(benchmark.name, facts, code=code).html()


def results_html(results: Results) -> str:
    """What the table is, and its first rows."""
    info, manifest = results.about, results.manifest
    facts: dict[str, object] = {
        "space": info.space,
        "rows": manifest.rows,
        "architectures": manifest.architectures,
        "dataset": info.dataset,
        "recipe": info.recipe,
        "metrics": ", ".join(map(_metric, info.metrics)),
        "source": info.source,
        "licence": info.licence,
        "folder": results.folder,
    }
    columns, rows = _first_rows(results)
    return NotebookCard(
        info.name,
        {name: fact for name, fact in facts.items() if fact != ""},
        columns=columns,
        rows=rows,
        code="results.to_pandas()   results.to_arrow()",
    ).html()


def _first_rows(results: Results) -> tuple[list[str], list[list[object]]]:
    batch = next(results.batches())
    rows = batch.take(np.arange(min(FIRST_ROWS, len(batch))))
    columns = {
        "architecture": results.space.texts(rows.codes),
        "method": rows.method.tolist(),
        "seed": ["" if seed == UNKNOWN else seed for seed in rows.seed.tolist()],
        "fidelity": ["" if fidelity == UNKNOWN else fidelity for fidelity in rows.fidelity.tolist()],
        "status": [STATUSES[number].value for number in rows.status.tolist()],
    }
    columns |= {key: [short(value) for value in column.tolist()] for key, column in rows.values.items()}
    columns["train_time_s"] = [short(value) for value in rows.train_time_s.tolist()]
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


def _metric(metric: Metric) -> str:
    return f"{metric.key} [{metric.unit}]" if metric.unit else metric.key


def _size(searched: SearchSpace) -> object:
    """How many architectures a space has."""
    try:
        size = searched.size
    except TooLarge:
        return "not counted"
    return size if size < LARGE else f"about 10^{len(str(size)) - 1}"


def _fidelities(fidelities: tuple[int, ...]) -> str:
    if len(fidelities) <= MOST_LISTED:
        return ", ".join(map(str, fidelities))
    return f"{len(fidelities)}, from {fidelities[0]} to {fidelities[-1]}"
