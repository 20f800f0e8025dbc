"""The page of one-shot searches: the outcome in words, a table, a figure per method, all methods together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nasbed.drawing.blocks import Details, Figure, FigureGroup, Paragraph, figure, paragraphs, table_block
from nasbed.drawing.figures import metric_label, write_report
from nasbed.drawing.page import Section
from nasbed.studies.one_shot.figures import one_shot_figures
from nasbed.studies.one_shot.study import OneShotStudy, WatchedMethod
from nasbed.studies.one_shot.tables import method_table, one_shot_numbers, search_table
from nasbed.studies.one_shot.words import RULE, failure_words, judge_lines, outcome

PUBLISHED = "Surrogate NAS Benchmarks, appendix F.1: one-shot trajectories"
TEXT = (
    "The upper panel shows the benchmark\u2019s prediction for the architecture after each epoch. Its dashed line is "
    "the mean of random architectures, its dotted line their best. The middle panel shows the supernet\u2019s accuracy "
    "on the images that train architectures, the lower one the skip connections of the architecture. Thin lines are "
    "seeds; the thick line is their mean, up to the last epoch that all have. Marks in the upper panel are the "
    "architectures that a stopping rule would have taken; marks in the middle panel show when it would have stopped. "
    "All methods have the same axes."
)
JUDGES = (
    "A surrogate that was fitted on the architectures of a search knows how they turned out. So each method is judged "
    "by a surrogate of the same model, settings and table that was fitted without them. The faint dashed line in a "
    "figure is the mean prediction of the surrogate that has seen them."
)
TOGETHER = (
    "The mean prediction over seeds: by epoch, and by the mean time of the search without measurements. Times are of "
    "the machine that searched."
)
STOPPING = {
    "skips": "at two skip connections or more in the normal cell (DARTS+, 1909.06035)",
    "eigenvalue": "when the dominant eigenvalue of the architecture parameters\u2019 Hessian rises too fast, with the "
    "architecture from before the rise (Zela et al., 1909.09656)",
}


def write_one_shot_report(study: OneShotStudy, folder: str | Path, *, formats: Iterable[str] = ()) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if needed."""
    figures = tuple(
        Figure(f"method-{number}", f"{method.name}: {failure_words(study, method)}", alert=_goes_wrong(method))
        for number, method in enumerate(study.methods, 1)
    )
    searches = Details("each search", (table_block(search_table(study)),))
    sections = [
        Section("What came out", {}, blocks=[*paragraphs(outcome(study)), Paragraph(RULE, "caption")]),
        Section("Who judges", {}, text=JUDGES if study.has_other_judges else "", blocks=paragraphs(judge_lines(study))),
        Section("Methods", {}, blocks=[table_block(method_table(study)), searches]),
        Section("Over the search", {}, text=TEXT, blocks=[FigureGroup(figures, "cards")]),
        Section("All methods", {}, text=TOGETHER, blocks=[figure("together")]),
        Section("Searches and benchmark", _about(study)),
    ]
    title = f"One-shot searches watched by {study.benchmark}"
    charts, numbers = one_shot_figures(study), one_shot_numbers(study)
    write_report(folder, title, sections=sections, figures=charts, numbers=numbers, formats=formats)


def _goes_wrong(method: WatchedMethod) -> bool:
    return bool(method.failed) or any(search.worse_than_random for search in method.searches)


def _about(study: OneShotStudy) -> dict[str, object]:
    facts: dict[str, object] = {
        "benchmark": f"{study.benchmark}, {metric_label(study.metric)} of {study.space}"
        + (f" on {study.dataset}" if study.dataset else ""),
        "prediction": "the mean over stored trainings" if study.measured else "the mean that the surrogate predicts",
    }
    for method in study.methods:
        seeds = ", ".join(str(search.seed) for search in method.searches)
        facts[method.name] = f"searched on {method.dataset} with seed{'s' if len(method.searches) > 1 else ''} {seeds}"
    facts |= {f"stop: {rule}": STOPPING.get(rule, "") for rule in study.rules}
    facts["random architectures"] = study.reference.count
    facts |= {f"left out: {name}": reason for name, reason in study.left_out.items()}
    facts["published"] = PUBLISHED
    return facts
