"""The page of a validation: each check with its figures and its table, and the reasons for omitted checks."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from nasbed.core.json_values import plain
from nasbed.drawing.blocks import Figure, FigureGroup, PageBlock, table_block
from nasbed.drawing.figures import metric_label, write_report
from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import digits
from nasbed.drawing.page import Section
from nasbed.studies.validation.figures import panels
from nasbed.studies.validation.panel import Panel
from nasbed.studies.validation.parts import PARTS
from nasbed.studies.validation.study import Validation
from nasbed.studies.validation.table_error import BETTER, TABLE
from nasbed.studies.validation.tables import tables
from nasbed.studies.validation.topology_effects import EVALUATED

TITLES = {
    "fits": "How well each model fits",
    "runtime": "How well the runtime model fits",
    "table": "Surrogate against a table of one seed",
    "size": "How many architectures it takes",
    "looo": "Leaving one search method out",
    "random": "Fitted on random search only",
    "best": "Fitted on the best only",
    "rest": "Fitted on all but the best",
    "free": "Parameter-free operations",
    "depth": "Rank correlation and error by cell depth",
    "topologies": "Topologies against operations",
    "methods": "What each search method evaluated",
    "cells": "Depth and parameter-free operations of cells",
    "noise": "The noise of evaluations",
    "test": "Validation against test",
    "tsne": "A map of the data",
    "regions": "Searches that know only the best, or all but the best",
    "trajectories": "Searches on the surrogate, and on the table or for real",
}
TEXTS = {
    "runtime": "The model of the training time runs the simulated clock. It learns the logarithm of the seconds; the "
    "paper reports seconds. sKT rounds to a thousandth of the range.",
    "fits": "Each model is fitted on the train part and tested on architectures that it has not seen; the parts are "
    "the same for all and drawn within each search method. sKT is Kendall's correlation of predictions rounded to "
    "0.1 % of the metric's range. A query is the time of one architecture, encoding included. Intervals that hold "
    "90 % of the evaluations are honest; \u201cby spread\u201d takes the scatter between members for the deviation, as "
    "the paper does. Figures show a sample of the test part; the worst 2 % may lie at the edge.",
    "table": "A table with one seed is compared with the mean of the other seeds, for each seed in turn. So is each "
    "model, fitted on that one seed of the architectures with all seeds and on one evaluation of every other. Only "
    "architectures with all seeds are compared. The better half is chosen by that mean. For ensembles, \u03c3 is the "
    "spread between members; KL is the divergence from the other seeds to a normal distribution with that spread.",
    "size": "Models are fitted on one evaluation of more and more random architectures. Where seeds are repeated, they "
    "are compared with the mean of the other seeds on the architectures with all seeds. So is the table, whose error "
    "is the dashed line; an upright line is where the mean stays below it. Bands span the repeats.",
    "looo": "What one method evaluated is predicted from what the others did, architectures that they share left out.",
    "random": "What the other methods evaluated is predicted from what random search did.",
    "best": "The rest of the table is predicted from its best architectures. A tenth of these is held out and tested "
    "too.",
    "free": "Random operations of tested architectures are replaced by one kind of operation without parameters until "
    "a ratio is met, four times for each ratio; bands are the deviation between the four. \u201cEvaluated\u201d is the "
    "mean of those that the table holds. An architecture that starts above a ratio is omitted at that "
    "ratio; one that a model was fitted on is omitted at all of them.",
    "rest": "The best architectures are predicted from all others, of which a tenth is held out and tested too. A "
    "search that goes beyond the data of a surrogate depends on these predictions.",
    "depth": "Depth is the number of edges on the longest path from the input to the output of a cell; of several "
    "cells the deepest counts. Figures are of the test part. Bias is the mean of prediction minus evaluation.",
    "topologies": "Each model predicts all 180 topologies of a cell, each with the same ten random sets of operations, "
    "the same cell as normal and reduction cell. Deviations are components of variance: of the effect of the topology, "
    "of that of the set of operations, and of what is left. \u201cEvaluated\u201d are those of the table's own "
    "evaluations, where it holds such a list.",
    "methods": "The share of a method\u2019s architectures whose metric is at most a value, the worst 2 % of the worst "
    "method cut off; and the depths of their cells. Budgets differ, so this is no comparison of methods.",
    "cells": "The distribution of the architectures\u2019 means, by a kernel density estimate that is cut off at the "
    "least and the greatest value. The bar is the middle half, the point the median; above are numbers of "
    "architectures. A value that fewer than ten architectures have is a line without a violin.",
    "noise": "The standard deviation over seeds of each architecture that has them all, by its mean.",
    "test": "Rank correlations of the means of architectures that have both metrics. The top is that of the test "
    "metric.",
    "tsne": "t-SNE of the one-hot encodings of a sample: architectures that have much in common are near each other. "
    "Depth is that of a cell.",
    "regions": "Methods search on surrogates of all evaluations, of the best architectures only, and of all but these. "
    "Curves are regrets against the best that a surrogate knows itself. The table judges the final incumbents by the "
    "surrogate of all evaluations: its mean prediction, and the share that it predicts to lie in the best region.",
    "trajectories": "The median regret of the incumbent over simulated time, and the quartiles as a band, each against "
    "the best that its benchmark knows. Where the table has searches that were run for real, these take the place of "
    "searches on the table, and all searches are judged by the values that they saw. \u201cWithout its data\u201d: a "
    "method searches on a surrogate that was fitted on what the others evaluated. Kendall\u2019s correlation of "
    "the order compares the methods\u2019 mean final regrets; that over time, their medians at each time. A pair of "
    "methods is settled if they differ significantly on the first side (Wilcoxon\u2019s test over seeds, Holm\u2019s "
    "correction). It is kept if the surrogate has them in the same order.",
}


def write_validation(study: Validation, folder: str | Path, *, formats: Iterable[str] = ()) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if need be."""
    figures, results = panels(study), tables(study)
    sections = [Section("What was validated", about_facts(study))]
    for part in PARTS:
        if part in figures or part in results:
            sections.append(_section(study, part, figures.get(part, []), results.get(part)))
    if study.left_out:
        reasons = {TITLES[part]: reason for part, reason in study.left_out.items()}
        sections.append(
            Section("Left out", reasons, text="The parts that this table or surrogate does not allow, and why.")
        )
    title = f"Validation of {study.subject}"
    charts = {panel.name: panel.chart for group in figures.values() for panel in group}
    write_report(folder, title, sections=sections, figures=charts, numbers=validation_numbers(study), formats=formats)


def _section(study: Validation, part: str, figures: Sequence[Panel], table: NumberTable | None) -> Section:
    blocks: list[PageBlock] = []
    if figures:
        blocks.append(FigureGroup(tuple(Figure(panel.name, panel.title) for panel in figures), "cards"))
    if table is not None:
        blocks.append(table_block(table))
    return Section(TITLES[part], part_facts(study, part), text=TEXTS[part], blocks=blocks)


def about_facts(study: Validation) -> dict[str, object]:
    """The table, its metric and the models."""
    facts: dict[str, object] = {
        "table": f"{study.table}, space {study.space}",
        "metric": f"{metric_label(study.metric)}, {study.metric.direction}d",
        "evaluations": study.evaluations,
        "architectures": study.architectures,
    }
    if study.methods:
        facts["evaluated by"] = ", ".join(study.methods)
    if list(study.models) != [study.subject]:
        facts["models"] = ", ".join(study.models)
    return facts | {f"note {place}": note for place, note in enumerate(study.notes, 1)}


def part_facts(study: Validation, part: str) -> dict[str, object]:
    """The findings of a part in words, and the models that could not be fitted."""
    facts: dict[str, object] = {}
    failed: dict[str, str] = {}
    if part == "fits" and study.fits is not None:
        facts["evaluations"] = (
            f"{study.fits.train} fitted, {study.fits.validation} to stop on, {study.fits.test} tested"
        )
        failed = study.fits.failed
    elif part == "table" and study.table_error is not None:
        errors = study.table_error
        facts["architectures with all seeds"] = errors.architectures
        facts["architectures fitted on, one seed each"] = errors.fitted
        table, half = errors.of(TABLE), errors.of(TABLE, BETTER)
        for label in (
            rotation.label for rotation in errors.rotations if rotation.group != BETTER and rotation.label != TABLE
        ):
            model, model_half = errors.of(label), errors.of(label, BETTER)
            facts[f"error of {label}"] = (
                f"{digits(model.mean('mae') / table.mean('mae'), 3)} of the table's, "
                f"{digits(model_half.mean('mae') / half.mean('mae'), 3)} in the better half"
            )
        failed = errors.failed
    elif part == "size" and study.size is not None:
        facts["tested on"] = f"{study.size.tested} evaluations or means"
        failed = study.size.failed
    elif part in ("looo", "random", "best", "rest"):
        left_out = getattr(study, part)
        failed = left_out.failed if left_out is not None else {}
    elif part == "topologies" and study.topologies is not None:
        if all(effect.label != EVALUATED for effect in study.topologies.effects):
            facts["evaluated"] = (
                "the table holds no such list; nasbed space sample darts --design topologies writes one"
            )
    elif part == "noise" and study.noise is not None:
        facts["architectures"] = f"{study.noise.architectures} with {study.noise.seeds} seeds each"
        if math.isfinite(study.noise.correlation):
            facts["quality and noise, Spearman"] = f"{study.noise.correlation:.2f}"
    elif part == "test" and study.test is not None:
        chosen = f"{digits(study.test.chosen)} in test, the best {digits(study.test.best)}"
        facts["the best by validation"] = chosen
    elif part == "regions" and study.regions:
        facts["the best region"] = f"{study.regions[0].region}: a mean from {digits(study.regions[0].boundary)} on"
    elif part == "tsne" and study.tsne is not None:
        facts["shown"] = f"{len(study.tsne.points)} of {study.tsne.architectures} architectures"
    elif part == "trajectories" and study.trajectories is not None:
        ran = study.trajectories
        where = " on surrogates" if ran.for_real else ""
        facts["runs"] = f"{ran.seeds} seeds of each method{where}, {ran.budget} each"
        if ran.for_real:
            facts["trained for real"] = f"{max(map(len, ran.real.finals.values()))} searches of each method"
        for side in ran.surrogates:
            order_words = "the same order as" if side.order == ran.real.order else "another order than"
            facts[side.name] = f"{order_words} on {ran.real.name}: {', '.join(side.order)}"
    return facts | {f"not fitted: {label}": reason for label, reason in failed.items()}


def validation_numbers(study: Validation) -> dict[str, Any]:
    """All numbers of the page."""
    data = {field.name: _plain(getattr(study, field.name)) for field in dataclasses.fields(study)}
    numbers: dict[str, Any] = plain(data)
    return numbers


def _plain(value: Any) -> Any:
    """A value with all dataclasses in it as dictionaries."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
