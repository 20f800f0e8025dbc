"""``nasbed proxies evaluate``: the quality of zero-cost proxies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.output import Json, print_json
from nasbed.terminal.progress import note, run_bars
from nasbed.terminal.report_options import (
    DEFAULT_BENCHMARK,
    Figures,
    Formats,
    Out,
    ScoresAndTables,
    TopPercent,
    TopWeight,
    report_formats,
)

if TYPE_CHECKING:
    from nasbed.evaluation.proxies import RankedTask

LEGEND = "[95 % interval]; + better, \u2212 worse than {baseline} (p < 0.05, Holm); RBO of random scores: {chance}"


@former_options({"--top": "--top-percent"})
def evaluate(
    pairs: ScoresAndTables = None,
    out: Out = Path("proxies"),
    top_percent: TopPercent = 1.0,
    weight: TopWeight = 0.5,
    k: Annotated[int, typer.Option("--k", help="The number of architectures that a search could train.")] = 10,
    metric: Annotated[
        str | None,
        typer.Option(
            show_default="test, else validation", help="The metric of the true results, such as validation_accuracy."
        ),
    ] = None,
    baseline: Annotated[str, typer.Option(help="The proxy that others are tested against.")] = "params",
    resamples: Annotated[int, typer.Option(help="The number of bootstrap resamples for intervals and tests.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the resamples.")] = 0,
    figures: Figures = False,
    format: Formats = None,
    json: Json = False,
) -> None:
    """Judge how proxies rank all architectures, the truly best ones, and those that a search would pick.

    Spearman's correlation over all architectures says little about the best ones. The report adds the correlation
    within the top, rank-biased overlap, and a test against counting parameters. Without scores and a table, those of
    nb201-cifar10-16-v1.0, which come with the package.

    Example: nasbed proxies evaluate

    Example: nasbed proxies evaluate scores.parquet nb201/cifar10

    Example: nasbed proxies evaluate a.parquet nb201/cifar10 b.parquet tables/mine --top-percent 5 --k 20 --out judged
    """
    on_interrupt(lambda: NOTHING_KEPT)
    pairs = pairs or [DEFAULT_BENCHMARK, DEFAULT_BENCHMARK]
    _check(pairs, resamples)
    formats = report_formats(out, figures, format)

    import numpy as np

    from nasbed.drawing.number_texts import fixed
    from nasbed.evaluation.proxies import judge_proxies
    from nasbed.reports.proxies.figures import task_titles
    from nasbed.reports.proxies.page import write_proxies_report
    from nasbed.reports.proxies.tables import outcome, proxies_numbers, short_table

    tasks = [_task(scores, table, metric) for scores, table in zip(pairs[::2], pairs[1::2], strict=True)]
    judged = []
    with run_bars({"Judging": len(tasks)}) as report_count:
        for task in tasks:
            rng = np.random.default_rng(seed)
            judged.append(
                judge_proxies(
                    task, rng, top_percent=top_percent, weight=weight, k=k, resamples=resamples, baseline=baseline
                )
            )
            report_count("Judging")
    write_proxies_report(judged, out, formats=formats)
    for title, judgement in zip(task_titles(judged), judged, strict=True):
        for line in judgement.notes:
            note(f"{title}: {line}")
        if judgement.left_out:
            note(
                f"{title}: {judgement.left_out} scored architectures are not in the table or lack "
                f"{judgement.metric.key}"
            )
    if json:
        print_json(proxies_numbers(judged))
        return
    for title, judgement in zip(task_titles(judged), judged, strict=True):
        typer.echo(f"{title}: {judgement.architectures} architectures, {judgement.metric.key}")
        typer.echo(short_table(judgement).text())
        typer.echo(LEGEND.format(baseline=judgement.baseline, chance=fixed(judgement.chance_rbo, 3)))
        typer.echo(f"\n{outcome(judgement)}\n")
    typer.echo(str(out / "report.html"))


def _task(scores: str, table: str, metric: str | None) -> RankedTask:
    from nasbed.benchmarks.catalog import load_table
    from nasbed.evaluation.proxies import task_of
    from nasbed.proxies.table import open_scores

    read = open_scores(scores)
    truth = load_table(table, rule="scores are compared with a table of results", remedy=f"name one after {scores}")
    return task_of(read, truth, metric=metric)


def _check(pairs: Sequence[str], resamples: int) -> None:
    """Raise now for errors that would otherwise occur at the end."""
    if len(pairs) % 2:
        raise InvalidOption(
            f"scores and tables come in pairs, SCORES TABLE, got {len(pairs)}; name a table after each file"
        )
    if resamples < 1:
        raise InvalidOption(f"an interval takes 1 resample or more, got {resamples}; 1000 is enough")
