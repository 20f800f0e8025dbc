"""The page of judged proxies: the outcome in words, the paper's figures, and every number of each task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from nasbed.core.errors import InvalidOption
from nasbed.drawing.blocks import Figure, FigureGroup, Paragraph, figure, table_block
from nasbed.drawing.figures import metric_label, write_report
from nasbed.drawing.number_texts import fixed
from nasbed.drawing.page import Section
from nasbed.evaluation.proxies import JudgedTask
from nasbed.reports.proxies.figures import proxies_figures, task_titles
from nasbed.reports.proxies.tables import full_table, headline_table, outcome, proxies_numbers

MAPS = (
    "Proxies by tasks, in the order of their mean Spearman correlation. The first map is what papers report. The "
    "second asks the same among the truly best only, which is where a search ends. The third is the paper\u2019s "
    "overlap of the two rankings, heavier at the top. Correlations are coloured from \u22121 to 1, overlaps from 0 to "
    "the highest; a dashed cell with \u2013 is missing, and the notes say why."
)
SCATTER = (
    "To the right: good over all architectures. Upwards: good among the truly best. On the diagonal both are equal. "
    "Upright lines are 95 % intervals. In vermilion: a Spearman of 0.5 or more over all, and within the top not "
    "significantly different from 0, or below it. A diamond is one full training compared with the mean of the others."
)


def write_proxies_report(judged: Sequence[JudgedTask], folder: str | Path, *, formats: Iterable[str] = ()) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if needed."""
    if not judged:
        raise InvalidOption("a report of proxies needs at least 1 task, got none")
    titles = task_titles(judged)
    words = [Paragraph(outcome(task), lead=f"{title}.") for title, task in zip(titles, judged, strict=True)]
    maps = FigureGroup(tuple(Figure(name) for name in ("spearman", "top", "overlap")), "cards")
    sections = [
        Section("What came out", {}, blocks=words),
        Section("Over all, at the top, and in overlap", {}, text=MAPS, blocks=[maps]),
        Section("Over all against the top", {}, text=SCATTER, blocks=[figure("global-against-top")]),
        *(_task_section(title, task) for title, task in zip(titles, judged, strict=True)),
    ]
    subject = titles[0] if len(titles) == 1 else f"{len(titles)} tasks"
    charts, numbers = proxies_figures(judged), proxies_numbers(judged)
    title = f"Zero-cost proxies on {subject}"
    write_report(folder, title, sections=sections, figures=charts, numbers=numbers, formats=formats)


def _task_section(title: str, task: JudgedTask) -> Section:
    stick = task.yardstick
    facts: dict[str, object] = {
        "truth": f"{metric_label(task.metric)}, {task.metric.direction}d, mean over trainings; space {task.space}",
        "architectures": task.architectures,
        "scored, not in the table": task.left_out,
        f"top {stick.top_percent:g} %": f"{stick.top} architectures; at the boundary, the first of equal ones",
    }
    if stick.p == stick.p:
        facts["p of RBO"] = f"{stick.p:.6g}, which gives that top the weight {stick.weight:g} by equation 4"
    if task.ceiling is not None:
        facts["one training against the mean of the others"] = (
            f"Spearman {fixed(task.ceiling.spearman, 3)}, in the top {fixed(task.ceiling.top_spearman, 3)}, "
            f"RBO {fixed(task.ceiling.rbo, 3)} ({task.ceiling.architectures} architectures, up to "
            f"{task.ceiling.trainings} trainings)"
        )
    facts |= {f"note {number}" if task.notes[1:] else "note": text for number, text in enumerate(task.notes, 1)}
    return Section(title, facts, blocks=[table_block(headline_table(task)), table_block(full_table(task))])
