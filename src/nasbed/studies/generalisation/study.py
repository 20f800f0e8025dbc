"""NAS-Bench-101's generalisation bootstrap (section 4.2, figure 8): do methods, and settings of one method, rank alike
in a part of a space and in the whole of it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import load
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine
from nasbed.core.metric import Metric
from nasbed.evaluation.judging import judge, paired
from nasbed.evaluation.landscape.relations import spearman
from nasbed.evaluation.remarks import failed_evaluations
from nasbed.evaluation.significance import wilcoxon
from nasbed.experiments.runs import Runs
from nasbed.studies.variants import Variant, VariantResult, run_variants

LEVEL = 0.05
Verdict = Literal["holds", "reversed", "not settled"]


RS, NRE, RE = Variant("RS", "rs"), Variant("NRE", "nre"), Variant("RE", "re")
GROUPS: Mapping[str, Sequence[Variant]] = {
    "methods": (RS, NRE, RE),
    "mutation rates": (
        Variant("0.5", "re", {"mutation_rate": 0.5}),
        Variant("1", "re"),
        Variant("2", "re", {"mutation_rate": 2}),
        Variant("4", "re", {"mutation_rate": 4}),
    ),
    "tournament sizes": (
        Variant("2", "re", {"sample_size": 2}),
        Variant("5", "re", {"sample_size": 5}),
        Variant("10", "re"),
        Variant("25", "re", {"sample_size": 25}),
        Variant("50", "re", {"sample_size": 50}),
    ),
}
"""The rows of figure 8. The paper does not name its rates and sizes: these are our choice and include RE's defaults."""


@dataclass(frozen=True, slots=True)
class Ordering:
    """The claim that ``better`` ends with less regret than ``worse``, by Wilcoxon's test over seeds."""

    worse: str
    better: str
    difference: float  # of the mean final regrets, positive where the claim is right
    p: float

    @property
    def verdict(self) -> Verdict:
        if self.p >= LEVEL:
            return "not settled"
        return "holds" if self.difference > 0 else "reversed"


@dataclass(frozen=True, slots=True)
class SpaceResult:
    """One of the two spaces: its variants by group, and which of RS < NRE < RE hold there."""

    benchmark: str
    architectures: int
    best: float
    groups: Mapping[str, Sequence[VariantResult]]
    orderings: Sequence[Ordering]
    broken: int
    failed: tuple[int, int]  # evaluations, of how many


@dataclass(frozen=True, slots=True)
class GeneralisationStudy:
    """``correlations`` are Spearman's, by group, of the variants' mean final regrets in the two spaces."""

    small: SpaceResult
    full: SpaceResult
    metric: Metric
    seeds: int
    budget: str
    correlations: Mapping[str, float]


def part_of(benchmark: str) -> str:
    """The id of the sub-space that a benchmark is compared with."""
    full = load(benchmark)
    if full.is_live or not full.space.parts:
        raise InvalidOption(
            f"this study needs a table or surrogate of a space with a named part, such as nb101 or nb201, {benchmark} "
            f"is of {full.space.name}; name another"
        )
    folder = Path(benchmark)
    table = str(folder.resolve()) if folder.is_dir() else benchmark
    return f"{table}:{next(iter(full.space.parts))}"


def generalisation_study(
    benchmark: str,
    *,
    seeds: int,
    budget: str,
    out: str | Path,
    engine: Engine | None = None,
    groups: Mapping[str, Sequence[Variant]] = GROUPS,
    progress: Callable[[str], None] | None = None,
) -> GeneralisationStudy:
    """Run every variant with every seed in a sub-space and in the whole space of a table.

    Args:
        benchmark: the table, an id or a path.
        seeds: runs per variant.
        budget: per run, such as ``5e5s``.
        out: the folder of the runs.
        engine: carries out the runs.
        groups: the variants by group.
        progress: called with the space, ``small`` or ``full``, of each finished run.
    """
    out = Path(out)
    places = {}
    for place, name in {"small": part_of(benchmark), "full": benchmark}.items():

        def on_run(*_: object, place: str = place) -> None:
            if progress is not None:
                progress(place)

        runs = run_variants(
            name,
            variants(groups).values(),
            seeds=seeds,
            budget=budget,
            out=out / "runs" / place,
            engine=engine,
            progress=on_run,
        )
        places[place] = _place(load(name), runs, groups)
    small, full, table = places["small"], places["full"], load(benchmark)
    return GeneralisationStudy(
        small=small,
        full=full,
        metric=table.judge or table.objective,
        seeds=seeds,
        budget=budget,
        correlations={
            group: spearman([line.mean for line in small.groups[group]], [line.mean for line in full.groups[group]])
            for group in groups
        },
    )


def variants(groups: Mapping[str, Sequence[Variant]] = GROUPS) -> dict[str, Variant]:
    """Every variant once, by the folder of its runs."""
    return {variant.folder: variant for group in groups.values() for variant in group}


def _place(benchmark: Benchmark, runs: Runs, groups: Mapping[str, Sequence[Variant]]) -> SpaceResult:
    """All runs judged together, each under the name of its folder."""
    judged = judge(runs.finished, benchmark)
    results = {
        group: [VariantResult.of(variant, judged.of(variant.folder)) for variant in members]
        for group, members in groups.items()
    }
    methods = {line.name: line for line in results.get("methods", ())}
    return SpaceResult(
        benchmark=benchmark.name,
        architectures=benchmark.space.size,
        best=judged.test_best,
        groups=results,
        orderings=[
            _ordering(methods[worse], methods[better])
            for worse, better in (("RS", "NRE"), ("NRE", "RE"), ("RS", "RE"))
            if worse in methods and better in methods
        ],
        broken=sum(1 for run in runs.runs if run.error),
        failed=failed_evaluations(runs.runs),
    )


def _ordering(worse: VariantResult, better: VariantResult) -> Ordering:
    """Paired by the seeds that finished in both."""
    finals = {variant.name: variant.by_seed for variant in (worse, better)}
    return Ordering(worse.name, better.name, worse.mean - better.mean, wilcoxon(*paired(finals)))
