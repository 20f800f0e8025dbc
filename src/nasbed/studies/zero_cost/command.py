"""``nasbed study zero-cost``: the statements of the paper on zero-cost benchmarks, on your scores and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.core.errors import InvalidOption
from nasbed.studies.nas_bench_unseen import NAS_BENCH_UNSEEN
from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.progress import stage_bar
from nasbed.terminal.report_options import Figures, Formats, Out, ScoresAndTables, TopPercent, TopWeight, report_formats

if TYPE_CHECKING:
    from nasbed.evaluation.proxies.tasks import RankedTask


@former_options({"--top": "--top-percent"})
def zero_cost(
    out: Out,
    pairs: ScoresAndTables = None,
    top_percent: TopPercent = 1.0,
    weight: TopWeight = 0.5,
    seed: Annotated[int, typer.Option(min=0, help="The seed of all random draws.")] = 0,
    resamples: Annotated[
        int, typer.Option(min=1, help="The number of bootstrap resamples of the architectures, for intervals.")
    ] = 500,
    repeats: Annotated[
        int, typer.Option(min=2, help="The number of training sets that are drawn for each surrogate.")
    ] = 10,
    figures: Figures = False,
    format: Formats = None,
) -> None:
    """Check the statements of "Zero-Cost Benchmarks" one by one: does Spearman mislead about the best architectures?

    Also checks whether a drop at the top exceeds the effect of a smaller range, and how well proxies work together.
    Without scores and tables, those of NAS-Bench-Unseen, which come with the package; this takes some two minutes.

    Example: nasbed study zero-cost --out zero-cost

    Example: nasbed study zero-cost scores.parquet nb201/cifar10 scores.parquet nb201/cifar100 --out zero-cost
    """
    on_interrupt(lambda: NOTHING_KEPT)
    formats = report_formats(out, figures, format)

    import numpy as np

    from nasbed.studies.zero_cost.page import write_zero_cost_report
    from nasbed.studies.zero_cost.study import stages, zero_cost_study
    from nasbed.studies.zero_cost.tables import outcome, statements_table

    tasks, remarks = _tasks(pairs or [])
    with stage_bar("Studying", (*stages([task.name for task in tasks]), "report")) as start_stage:
        study = zero_cost_study(
            tasks,
            top_percent=top_percent,
            weight=weight,
            rng=np.random.default_rng(seed),
            resamples=resamples,
            repeats=repeats,
            remarks=remarks,
            progress=start_stage,
        )
        start_stage("report")
        write_zero_cost_report(study, out, formats)
    typer.echo(statements_table(study).text())
    typer.echo("\n" + "\n".join(outcome(study)[1:]))
    typer.echo(f"\n{out / 'report.html'}")


def _tasks(names: Sequence[str]) -> tuple[list[RankedTask], dict[str, str]]:
    """The tasks of pairs of scores and table, and remarks on scores from other images than the truth."""
    from nasbed.benchmarks.catalog import load_table
    from nasbed.evaluation.proxies.tasks import task_of
    from nasbed.proxies.table import ScoreTable, open_scores

    if len(names) % 2:
        raise InvalidOption(f"scores and tables come in pairs, SCORES TABLE, got {len(names)} names; name both")
    names = names or [name for name in NAS_BENCH_UNSEEN for _ in range(2)]
    scores_by_path: dict[str, ScoreTable] = {}
    tasks, remarks = [], {}
    for path, table in zip(names[::2], names[1::2], strict=True):
        if path not in scores_by_path:
            scores_by_path[path] = open_scores(path)
        truth = load_table(table, rule="the truth is a table", remedy="name a table or its folder")
        task = task_of(scores_by_path[path], truth)
        scored, trained = scores_by_path[path].about.dataset, truth.results.about.dataset
        if scored and trained and scored != trained:
            remarks[task.name] = f"taken on images of {scored}; the truth is of {trained}"
        tasks.append(task)
    return tasks, remarks
