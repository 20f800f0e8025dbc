"""Which search methods keep their order over datasets: each is run on every table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks import TabularBenchmark
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine
from nasbed.evaluation.anytime import final_regrets
from nasbed.evaluation.judging import judge
from nasbed.evaluation.orders import agreement_over_seeds, concordance, order_agreement
from nasbed.evaluation.ranks import ENDS, mean_ranks
from nasbed.experiments.compare import compare
from nasbed.experiments.named_methods import short_name

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MethodOrder:
    """Final regrets ``[methods, datasets, seeds]`` of runs with one budget, and what orders they give: the mean rank of
    a method on a dataset, Kendall's tau between two datasets, and between two halves of one dataset's seeds: how far
    these runs tell methods apart. ``concordance`` is over all datasets, with a 95 % interval over seeds."""

    methods: tuple[str, ...]
    budget: str
    regrets: Floats
    ranks: Floats
    agreement: Floats
    own_agreement: Floats
    concordance: float
    low: float
    high: float

    @property
    def seeds(self) -> int:
        return int(self.regrets.shape[2])


def method_order(
    tables: Mapping[str, TabularBenchmark],
    methods: Sequence[str],
    *,
    seeds: int,
    budget: str,
    out: str | Path,
    engine: Engine | None = None,
    progress: Callable[[str, int, str], None] | None = None,
    resamples: int = 1000,
) -> MethodOrder:
    """Run methods on every table. Runs that are stored in ``out`` are not repeated.

    Args:
        tables: by what :func:`nasbed.load` takes, as processes open them by name.
        methods: ids, or ``file.py:ClassName``, two or more.
        seeds: runs per method and table, two or more.
        budget: per run, such as ``200ev``.
        out: gets a folder of runs for each table.
        engine: carries out the runs.
        progress: called with the table, the seed and the error, if any, of each run that ended.
        resamples: how many the interval comes from.
    """
    out = Path(out)
    if len(methods) < 2 or seeds < 2:
        raise InvalidOption(f"an order takes 2 methods and 2 seeds or more, got {len(methods)} and {seeds}; add some")
    regrets = np.stack(
        [
            _regrets(name, table, methods, seeds=seeds, budget=budget, out=out, engine=engine, progress=progress)
            for name, table in tables.items()
        ],
        axis=1,
    )
    rng = np.random.default_rng(0)
    means = regrets.mean(axis=2)
    drawn = rng.integers(seeds, size=(resamples, seeds))
    low, high = np.quantile([concordance(regrets[..., each].mean(axis=2)) for each in drawn], ENDS)
    return MethodOrder(
        methods=tuple(short_name(method) for method in methods),
        budget=budget,
        regrets=regrets,
        ranks=np.stack([mean_ranks(regrets[:, place], rng, resamples=1).mean for place in range(len(tables))], axis=1),
        agreement=order_agreement(means),
        own_agreement=agreement_over_seeds(regrets, rng),
        concordance=concordance(means),
        low=float(low),
        high=float(high),
    )


def _regrets(
    name: str,
    table: TabularBenchmark,
    methods: Sequence[str],
    *,
    seeds: int,
    budget: str,
    out: Path,
    engine: Engine | None,
    progress: Callable[[str, int, str], None] | None,
) -> Floats:
    """Final regrets ``[methods, seeds]`` on one table; the arguments are those of :func:`method_order`."""

    def on_run(_: str, seed: int, error: str) -> None:
        if progress is not None:
            progress(table.name, seed, error)

    folder = out / table.name.replace("/", "-")
    runs = compare(name, methods, seeds=seeds, budget=budget, out=folder, engine=engine, progress=on_run)
    if broken := [run for run in runs.runs if run.error]:
        raise InvalidOption(f"{broken[0].method} failed on {table.name}: {broken[0].error}; leave it out")
    judged = judge(runs, table)
    regrets = {short_name(method): final_regrets(judged.of(short_name(method))) for method in methods}
    for method, finals in regrets.items():
        if not np.isfinite(finals).all():
            raise InvalidOption(f"{method} found nothing on {table.name} within {budget}; raise the budget")
    return np.stack(list(regrets.values()))
