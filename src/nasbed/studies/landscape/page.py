"""The report of a landscape study: one static page, figures for a paper, all numbers as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from nasbed.drawing.blocks import figure
from nasbed.drawing.figures import write_report
from nasbed.drawing.page import Section
from nasbed.evaluation.landscape import Volume
from nasbed.studies.landscape.figures import landscape_figures
from nasbed.studies.landscape.numbers import landscape_numbers
from nasbed.studies.landscape.peak import PeakVolume
from nasbed.studies.landscape.study import IN_SPACE, IN_TABLE, LandscapeStudy

TEXTS = {
    "distributions": "The fraction of architectures whose mean over repeats is at most a value; the worst 1 % may lie "
    "outside. Noise is the standard deviation between repeats of one architecture, with n − 1 in the denominator.",
    "costs": "Left, the mean quality of the architectures in each cell of time and parameters. Right, how many there "
    "are in each cell of time and quality, and those that no other beats in both; diamonds are architectures that have "
    "a name, crosses their neighbours.",
    "operations": "The mean change when one operation is replaced and nothing else, over all pairs of which the table "
    "holds both. The change of time is relative to the time before.",
    "shapes": "Means over all architectures that share a property, with standard errors.",
    "walks": "A random walk changes one thing a step. The correlation between what it meets is drawn against the "
    "square root of the steps, as the distance that a walk covers; bands are two standard errors. In a table that is a "
    "sample, walks through the table keep to the architectures present and double back more often; walks through the "
    "whole space count the visits at which something was measured.",
    "distance": "The distance is the smallest number of edits to the architecture with the best mean; bars are "
    "standard errors.",
    "volume": "The share of all encodings of the space, invalid and isomorphic ones included, that are within a number "
    "of edits of an encoding of the best architecture, by test metric where there is one, or of any as good: within "
    "two standard errors of the best mean. In nb101 these are the 2²¹ · 3⁵ unpruned matrices with labels. All "
    "encodings are counted, none is sampled.",
    "fidelities": "How alike shorter and longer training rank the architectures.",
}
TITLES = {
    "distributions": "Distribution and noise",
    "costs": "Time, parameters and quality",
    "operations": "Replacing operations",
    "shapes": "Quality by shape",
    "walks": "Locality: random walks",
    "distance": "Locality: distance to the best",
    "volume": "How rare it is to be near the best",
    "fidelities": "Rank correlation between fidelities",
}
PUBLISHED = {
    "distributions": {"published, validation against test": "r = 0.999 at 108 epochs"},
    "operations": {
        "published, conv3x3 by conv1x1": "−1.16 % accuracy, −14.11 % time",
        "published, conv3x3 by maxpool3x3": "−1.99 % accuracy, −9.84 % time",
        "published, conv1x1 by maxpool3x3": "−0.81 % accuracy, +5.04 % time",
    },
    "shapes": {"published": "depth 3 is best; accuracy rises with width up to 5; width 1 takes longest"},
    "walks": {"published": "noise beyond a distance of about 6"},
    "distance": {"published": "the peak has a width of about 6"},
    "volume": {
        "published": "4 encodings of the best; with 11 others as good, 11570, and 35.4 % of all within 6 edits",
    },
}
"""The paper's findings on all of NAS-Bench-101, shown beside the numbers of a table of that space."""


def write_landscape_report(study: LandscapeStudy, folder: str | Path, *, formats: Iterable[str] = ()) -> None:
    """Write ``report.html``, ``numbers.json`` and ``figures/`` into a folder, which is created if need be."""
    figures = landscape_figures(study)
    facts = landscape_facts(study)
    sections = [Section("The table", facts.pop("table"))]
    for name in figures:
        kind = name.split("-")[0]
        published = PUBLISHED.get(kind, {}) if study.space == "nb101" else {}
        first = name in (kind, f"{kind}-1")
        sections.append(
            Section(
                TITLES[kind] if first else "",
                facts.get(kind, {}) | published if first else {},
                text=TEXTS[kind] if first else "",
                blocks=[figure(name)],
            )
        )
    title = f"The landscape of {study.name}"
    write_report(folder, title, sections=sections, figures=figures, numbers=landscape_numbers(study), formats=formats)


def landscape_facts(study: LandscapeStudy) -> dict[str, dict[str, object]]:
    """The main numbers as text, by part of the study."""
    unit = f" {study.metric.unit}" if study.metric.unit else ""
    facts: dict[str, dict[str, object]] = {
        "table": {
            "table": study.name,
            "architectures": study.architectures,
            "of the space": f"{100 * study.coverage:.4g} % of the {study.space_size} in {study.space}",
            "metric": f"{study.metric.key}, mean over repeats after {study.fidelity} {study.fidelity_unit}",
            "best": f"{study.best_value:.4g}{unit}: {study.best}",
        },
        "distributions": {},
    }
    for metric, distribution in study.distributions.items():
        facts["distributions"][f"median {metric.key}"] = f"{distribution.quantile(0.5):.4g}{unit}"
    for fidelity, distribution in study.noise.items():
        name = f"median noise of {study.noise_metric.key} after {fidelity} {study.fidelity_unit}"
        facts["distributions"][name] = f"{distribution.quantile(0.5):.3g}{unit}"
    if study.validation_test_correlation is not None:
        facts["distributions"]["validation against test"] = f"r = {study.validation_test_correlation:.4f}"
    if study.costs is not None:
        names, matrix = study.costs.names, study.costs.correlations
        facts["costs"] = {
            f"Spearman, {names[i]} and {names[j]}": f"{matrix[i, j]:.3f}"
            for i in range(len(names))
            for j in range(i + 1, len(names))
        }
        for name, cells in study.costs.named.items():
            near = f"; its {len(cells) - 1} neighbours in the table {np.mean(cells[1:, 1]):.4g}{unit} on average"
            facts["costs"][f"named {name}"] = f"{cells[0, 1]:.4g}{unit} in {cells[0, 0]:.4g} s" + (
                near if len(cells) > 1 else ""
            )
    if len(study.replacements) == 1:
        (replacement,) = study.replacements
        facts["operations"] = {
            f"{before} by {after}": f"{replacement.change[i, j]:+.2f} ± {replacement.change_error[i, j]:.2f}{unit}, "
            f"{100 * replacement.relative_time[i, j]:+.2f} % time ({replacement.counts[i, j]} pairs)"
            for i, before in enumerate(replacement.operations)
            for j, after in enumerate(replacement.operations)
            if i < j and replacement.counts[i, j]
        }
    facts["shapes"] = {
        f"best {name}": shape.labels[_best(shape.metric.means.tolist(), study.metric.direction)]
        for name, shape in study.shapes.items()
    }
    facts["walks"] = {}
    for name, walk in study.walks.items():
        lag = walk.noise_lag
        lost = (
            "still above noise at the last" if lag is None else f"within noise from step {lag}, distance {lag**0.5:.1f}"
        )
        facts["walks"][name] = f"{walk.correlations[1]:.3f} after one step; {lost}"
    for name in (IN_TABLE, IN_SPACE):
        if name in study.walks:
            walk = study.walks[name]
            reached = f"{walk.reachable} of {walk.total} measured architectures ({walk.coverage:.1%})"
            facts["walks"][f"{name.split(', ')[1]}: walked"] = f"{reached}; {walk.isolated} have no neighbour there"
    facts["distance"] = {
        "fitness-distance correlation": f"{study.distance.correlation:.3f}",
        "within 6 edits of the best": f"{study.distance.fraction_within(6):.1%} of the table",
    }
    if study.peak is not None:
        facts["volume"] = _peak_facts(study.peak)
    if len(study.fidelities) > 1:
        last = study.fidelity_correlations[:, -1]
        facts["fidelities"] = {
            f"Spearman, {fidelity} and {study.fidelities[-1]} {study.fidelity_unit}": f"{value:.3f}"
            for fidelity, value in zip(study.fidelities[:-1], last[:-1].tolist(), strict=True)
        }
    return facts


def _peak_facts(peak: PeakVolume) -> dict[str, object]:
    unit = f" {peak.metric.unit}" if peak.metric.unit else ""
    best = f"{peak.best_value:.4g}{unit}: {peak.best}"
    facts: dict[str, object] = {f"best by {peak.metric.key}": best, "encodings of the best": _encodings(peak.near_best)}
    if peak.near_as_good is None:
        facts["as good as the best"] = "left out: one training an architecture has no standard error"
        return facts
    facts["as good as the best"] = f"{peak.others} others, within 2 × {peak.standard_error:.3g}{unit}"
    facts["encodings of all as good"] = _encodings(peak.near_as_good)
    return facts


def _encodings(volume: Volume) -> str:
    one_in = f"one in {volume.total / volume.points:,.0f}"
    return f"{volume.points} of {volume.total}, {one_in}; {volume.fraction_within(6):.1%} of all are within 6 edits"


def _best(means: list[float], direction: str) -> int:
    return means.index(max(means) if direction == "maximize" else min(means))
