"""The report of the study of section 5.1: ranks with tuned against ranks with fixed hyperparameters (Figure 9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import altair as alt
from scipy.stats import rankdata

from nasbed.core.errors import InvalidOption
from nasbed.drawing.blocks import figure
from nasbed.drawing.figures import write_report
from nasbed.drawing.marks import Chart, diagonal_line, inline
from nasbed.drawing.page import Section
from nasbed.drawing.palette import COLOURS
from nasbed.studies.nas_hpo.numbers import nas_hpo_numbers
from nasbed.studies.nas_hpo.study import DEFINITIONS, PUBLISHED, NasHpoResult

SIDE = 210
TEXT = (
    "For each architecture A, f*(A) is its best mean validation error over all hyperparameters. f†(A) is its error "
    "with H†, the hyperparameters with the best mean over all architectures. Points near the diagonal rank alike; "
    "the best architectures are near the origin. The paper does not say what it counts as architecture: every reading "
    "is shown, and which one comes nearest is known only after the fact."
)


def nas_hpo_facts(results: Sequence[NasHpoResult]) -> dict[str, str]:
    """One line for each table and reading, in the order of the results."""
    return {
        f"{result.name}, architecture = {result.definition}": f"Spearman {result.transfer.spearman:.4f}"
        + (f", single runs {result.by_seed.min():.4f} to {result.by_seed.max():.4f}" if len(result.by_seed) else "")
        + f" ({result.architectures} architectures × {result.hyperparameters} hyperparameter settings)"
        for result in results
    }


def nearest_definition(results: Sequence[NasHpoResult]) -> NasHpoResult:
    """The reading whose correlation on the protein data is nearest to the published one."""
    protein = [result for result in results if "protein" in result.name]
    if not protein:
        raise InvalidOption("the published correlation is for fcnet/protein, which these results lack; add it")
    return min(protein, key=lambda result: abs(result.transfer.spearman - PUBLISHED))


def write_nas_hpo_report(results: Sequence[NasHpoResult], folder: str | Path, *, formats: Iterable[str] = ()) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if need be."""
    names = list(dict.fromkeys(result.name for result in results))
    figures, sections = {}, []
    if any("protein" in name for name in names):
        nearest = nearest_definition(results)
        facts = {
            "published, protein": f"Spearman {PUBLISHED}",
            f"nearest of {len(DEFINITIONS)} readings": f"{nearest.definition}: {nearest.transfer.spearman:.4f}",
        }
        sections.append(
            Section("Do architectures rank alike with tuned and with fixed hyperparameters?", facts, text=TEXT)
        )
    for name in names:
        of_table = [result for result in results if result.name == name]
        key = f"ranks-{name.split('/')[-1]}"
        figures[key] = rank_figure(of_table)
        facts = {
            f"architecture = {result.definition}": line
            for result, line in zip(of_table, nas_hpo_facts(of_table).values(), strict=True)
        }
        facts |= {
            f"H† for {result.definition}": ", ".join(f"{choice} = {value}" for choice, value in result.fixed.items())
            for result in of_table
        }
        sections.append(Section(name, facts, blocks=[figure(key)]))
    title = "Architectures and hyperparameters"
    write_report(folder, title, sections=sections, figures=figures, numbers=nas_hpo_numbers(results), formats=formats)


def rank_figure(results: Sequence[NasHpoResult]) -> Chart:
    """Figure 9 for each reading of "architecture", side by side."""
    return alt.hconcat(*(_panel(result) for result in results), spacing=24)


def _panel(result: NasHpoResult) -> Chart:
    sign = -1 if result.metric.direction == "maximize" else 1
    tuned, fixed = rankdata(sign * result.transfer.tuned), rankdata(sign * result.transfer.fixed)
    rows = [{"tuned": y, "fixed": x} for x, y in zip(fixed.tolist(), tuned.tolist(), strict=True)]
    scale = alt.Scale(domain=[0, result.architectures], nice=False)
    size = 34 if result.architectures < 200 else 12
    points = (
        alt.Chart(inline(rows))
        .mark_circle(size=size, color=COLOURS[0], opacity=0.55)
        .encode(
            alt.X("fixed:Q", title="rank of f†, H† for all").scale(scale).axis(tickCount=4),
            alt.Y("tuned:Q", title="rank of f*, each tuned").scale(scale).axis(tickCount=4),
        )
    )
    diagonal = diagonal_line((0, result.architectures), width=1)
    title = [f"{result.definition}", f"Spearman {result.transfer.spearman:.4f}"]
    return (diagonal + points).properties(width=SIDE, height=SIDE, title=alt.TitleParams(title, fontSize=12))
