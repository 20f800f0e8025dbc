"""The page of a study of zero-cost proxies: the outcome, the statements, the figures, the combinations."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nasbed.drawing.blocks import Details, Figure, FigureGroup, figure, paragraphs, table_block
from nasbed.drawing.figures import metric_label, write_report
from nasbed.drawing.page import Section
from nasbed.studies.zero_cost.few_points import BOOSTING, ROUNDS
from nasbed.studies.zero_cost.figures import zero_cost_figures
from nasbed.studies.zero_cost.study import ZeroCostStudy
from nasbed.studies.zero_cost.tables import (
    averages_table,
    few_points_table,
    outcome,
    statements_block,
    zero_cost_numbers,
)

PUBLISHED = "Zero-Cost Benchmarks: Towards Lower Reliance on Spearman Rank Correlation, figures 1 to 3"
RANGE = (
    "Not in the paper. Among the best, true values differ little, so any correlation falls. The ring "
    "is a proxy\u2019s correlation over all. The grey bar is for a reference with the same correlation over all and "
    "equal errors everywhere: the middle 95 % of its correlations within a top of the same size; the tick is their "
    "mean. A dot below the bar is a proxy that does worse at the top than the reference."
)
AVERAGES = (
    "The mean of the ranks that several proxies give: of all of them, and of some that were chosen one by one on half "
    "of the architectures. Both are compared with the best single proxy on the other half."
)
FEW = (
    "Two models learn from few trained architectures: from the encoding, from the scores, and from both. Each line is "
    "the mean over repeats, its band one standard deviation either way. The encoding includes parameters and "
    "multiply-adds, so scores by these two add no information. The dashed control has the scores of other "
    "architectures: "
    "its gain is not information. LightGBM has trees of at most {leaves} leaves with {least} examples or more, and "
    "{rounds} rounds without early stopping: 25 examples cannot be split with the usual 20 a leaf. The support vectors "
    "have the settings of the package\u2019s svr. The lines differ only in the columns that a model sees."
)


def write_zero_cost_report(study: ZeroCostStudy, folder: str | Path, formats: Iterable[str] = ()) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if need be."""
    figures = zero_cost_figures(study)
    maps = FigureGroup(tuple(Figure(name) for name in ("spearman", "top", "overlap")), "cards")
    sections = [
        Section("What came out", {}, blocks=paragraphs(outcome(study))),
        Section("The paper\u2019s statements", {}, blocks=[statements_block(study)]),
        Section("Figures 1 to 3", {}, text=_maps_text(study), blocks=[maps]),
        Section("Over all against the top", {}, text=_SCATTER, blocks=[figure("global-against-top")]),
        Section("Is it more than a smaller range?", {}, text=RANGE, blocks=[figure("range")]),
        Section("Several proxies averaged", {}, text=AVERAGES, blocks=[table_block(averages_table(study))]),
    ]
    if "few-points" in figures:
        text = FEW.format(leaves=BOOSTING["num_leaves"], least=BOOSTING["min_data_in_leaf"], rounds=ROUNDS)
        table = Details("as a table", (table_block(few_points_table(study)),))
        sections.append(
            Section("Scores as features of a surrogate", {}, text=text, blocks=[figure("few-points"), table])
        )
    sections.append(Section("What was studied", _about(study)))
    title = f"Zero-cost proxies on {', '.join(task.name for task in study.tasks)}"
    write_report(folder, title, sections=sections, figures=figures, numbers=zero_cost_numbers(study), formats=formats)


_SCATTER = (
    "Each dot is a proxy, with its 95 % interval within the top; below the dashed line it ranks the best less well "
    "than the rest. Vermilion: 0.5 or more over all, and within the top not significantly different from 0."
)


def _maps_text(study: ZeroCostStudy) -> str:
    chances = ", ".join(f"{task.judged.chance_rbo:.3f} on {task.name}" for task in study.tasks)
    return (
        f"Spearman\u2019s correlation over all architectures, the same within the true top {study.top_percent:g} %, "
        f"and normalised RBO, of which equation 4 gives the top a weight of {study.weight:g}. Random scores have "
        f"an RBO of {chances}."
    )


def _about(study: ZeroCostStudy) -> dict[str, object]:
    facts: dict[str, object] = {"published": PUBLISHED}
    for task in study.tasks:
        judged = task.judged
        facts[task.name] = (
            f"{judged.architectures} architectures of {judged.space}, {len(judged.proxies)} proxies, "
            f"{metric_label(judged.metric)}; the top are {task.measures.top}"
        )
        if judged.left_out:
            facts[f"{task.name}, left out"] = f"{judged.left_out} scored architectures that the table lacks"
        if task.remark:
            facts[f"{task.name}, scores"] = task.remark
        for place, note in enumerate(judged.notes):
            facts[f"{task.name}, note {place + 1}"] = note
    facts["intervals"] = f"95 %, from {study.resamples} resamples of the architectures, the same for all proxies"
    return facts
