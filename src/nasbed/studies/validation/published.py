"""The figures that the Surrogate NAS Benchmarks paper reports on its own data, for comparison."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from statistics import fmean
from typing import Any

from nasbed.core.metric import Metric

NONE = float("nan")


@dataclass(frozen=True, slots=True)
class Figures:
    """The published figures of one model, NaN where the paper has none; means over seeds where it has several.

    ``mae`` and ``std``, the mean deviation that an ensemble predicts, are in the unit of the accuracy, ``mse`` in its
    square. ``passes`` is the number of training architectures from which the error is below that of a table.
    """

    r2: float = NONE
    sparse_kendall: float = NONE
    kendall: float = NONE
    mae: float = NONE
    mse: float = NONE
    std: float = NONE
    kl: float = NONE
    passes: float = NONE


@dataclass(frozen=True, slots=True)
class PublishedFigures:
    """The tables of the paper about one space. ``sources`` cites them, by part of a validation."""

    label: str
    sources: Mapping[str, str]
    fits: Mapping[str, Figures] = field(default_factory=dict)  # by model: table 2
    table: Mapping[str, Figures] = field(default_factory=dict)  # by model, and "table": tables 1, 3 and 4
    size: Mapping[str, Figures] = field(default_factory=dict)  # by model: figure 1
    looo: Mapping[str, Mapping[str, Figures]] = field(default_factory=dict)  # by method left out, by model: table 7
    runtime: Mapping[str, Figures] = field(default_factory=dict)  # by model of the training time: section 3.1.4

    def left_out(self, method: str, model: str) -> Figures | None:
        """The figures of a model fitted without a method's evaluations; tables may spell ``pc_darts``."""
        return self.looo.get(method.lower().replace("_", "-"), {}).get(model)


def published(space: str, metric: Metric) -> PublishedFigures | None:
    """The published figures for a space, with errors in the metric's unit.

    None for other metrics than the validation accuracy or error, which the paper predicts.
    """
    if metric.split != "validation" or metric.name not in ("accuracy", "error"):
        return None
    paper_tables = _tables().get(space)
    if paper_tables is None:
        return None
    scale = 100.0 if metric.unit == "%" else 1.0
    return PublishedFigures(
        label=paper_tables["label"],
        sources=paper_tables["sources"],
        fits=_figures(paper_tables.get("fits", {}), scale),
        size=_figures(paper_tables.get("size", {}), scale),
        table=_figures(paper_tables.get("table", {}), scale),
        runtime=_figures(paper_tables.get("runtime", {}), scale),
        looo={method: _figures(models, scale) for method, models in paper_tables.get("looo", {}).items()},
    )


def _figures(models: Mapping[str, Mapping[str, float | list[float]]], scale: float) -> dict[str, Figures]:
    units = {"mae": scale, "std": scale, "mse": scale**2}
    return {
        model: Figures(**{name: _mean(value) * units.get(name, 1.0) for name, value in figures.items()})
        for model, figures in models.items()
    }


def _mean(value: float | list[float]) -> float:
    """A figure, or the mean of those by seed."""
    return fmean(value) if isinstance(value, list) else value


@cache
def _tables() -> dict[str, dict[str, Any]]:
    text = resources.files(__package__ or "").joinpath("published.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
