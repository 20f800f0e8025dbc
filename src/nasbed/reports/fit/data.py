"""The numbers on the page of a fitted surrogate: its predictions beside held-out evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.number_texts import MISSING
from nasbed.evaluation.anytime import Floats
from nasbed.evaluation.significance import Interval
from nasbed.surrogates.artefact import Artefact
from nasbed.surrogates.artefact_manifest import ArtefactManifest
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.noise.repeats import RepeatNoise
from nasbed.surrogates.scores import coverage

LEVELS = tuple(round(0.05 * step, 2) for step in range(1, 20))
MOST_BINS, FEWEST_A_BIN = 10, 20


@dataclass(frozen=True, slots=True)
class Bin:
    """Evaluations of similar predicted value: its median, the median and the 5 % and 95 % quantiles of their
    residuals, and the share that 90 % intervals hold."""

    predicted: float
    residual: Interval
    coverage: float
    raw_coverage: float
    count: int


@dataclass(frozen=True, slots=True)
class FitData:
    """One entry per evaluation of the test part; ``raw_…`` uses the spread between members as the deviation."""

    truth: Floats
    predicted: Floats
    std: Floats
    bins: tuple[Bin, ...]
    coverage: tuple[float, ...]
    """The coverage of central intervals at ``LEVELS``."""
    raw_coverage: tuple[float, ...]
    runtime_s: Floats
    predicted_runtime_s: Floats


def fit_data(artefact: Artefact, test: Examples, *, runtime_method: str | None = None) -> FitData:
    """Compare an artefact with held-out evaluations. With ``runtime_method``, runtimes are of that method only."""
    prediction = artefact.ensemble.predict(test.codes)
    runtime, predicted_runtime = np.empty(0), np.empty(0)
    if artefact.runtime is not None:
        timed = np.isfinite(test.cost_s) & (test.cost_s > 0)
        if runtime_method is not None:
            timed &= test.method == runtime_method
        runtime = test.cost_s[timed]
        predicted_runtime = np.exp(artefact.runtime.predict(test.codes[timed])) if timed.any() else runtime
    return FitData(
        truth=test.y,
        predicted=prediction.mean,
        std=prediction.std,
        bins=_bins(test.y, prediction.mean, prediction.std, prediction.spread),
        coverage=tuple(coverage(test.y, prediction.mean, prediction.std, level=level) for level in LEVELS),
        raw_coverage=tuple(coverage(test.y, prediction.mean, prediction.spread, level=level) for level in LEVELS),
        runtime_s=runtime,
        predicted_runtime_s=predicted_runtime,
    )


def _bins(truth: Floats, mean: Floats, std: Floats, spread: Floats) -> tuple[Bin, ...]:
    """Bins of equal size, by predicted value."""
    number = int(np.clip(len(truth) // FEWEST_A_BIN, 1, MOST_BINS))
    bins = []
    for rows in np.array_split(np.argsort(mean, kind="stable"), number):
        low, middle, high = np.quantile(truth[rows] - mean[rows], [0.05, 0.5, 0.95]).tolist()
        calibrated = coverage(truth[rows], mean[rows], std[rows])
        raw = coverage(truth[rows], mean[rows], spread[rows])
        bins.append(Bin(float(np.median(mean[rows])), Interval(middle, low, high), calibrated, raw, len(rows)))
    return tuple(bins)


def noise_text(artefact: Artefact) -> str:
    """Where the noise that queries sample comes from, and how wide it is."""
    noise, metric = artefact.ensemble.noise, artefact.manifest.metric
    if noise.table_repeats is not None:
        facts = artefact.manifest.provenance["table_noise"]
        unit = f" {metric.unit}" if metric.unit else ""
        return f"repeats of the table: {RepeatNoise(noise.table_repeats, **facts).describe(unit)}"
    if noise.repeats is not None:
        return "ensemble: the repeats among the evaluations that were fitted on"
    return "ensemble: the errors of its predictions, since no architecture that was fitted on has repeats"


def figure_rows(manifest: ArtefactManifest, times: Mapping[str, float] | None = None) -> list[tuple[str, str]]:
    """The figures of the test part that exist, with readable names, then times in seconds.

    Where only some methods' evaluations were fitted, there are also figures of all architectures of the others.
    """
    unit = f" [{manifest.metric.unit}]" if manifest.metric.unit else ""
    figures = [
        ("R²", "r2", "{:.4f}"),
        ("Kendall's τ", "kendall", "{:.4f}"),
        ("sparse Kendall's τ", "sparse_kendall", "{:.4f}"),
        (f"mean absolute error{unit}", "mae", "{:.4g}"),
        ("coverage of 90 % intervals", "coverage", "{:.1%}"),
        ("… of the better half", "coverage_better_half", "{:.1%}"),
        ("… before calibration", "raw_coverage", "{:.1%}"),
        ("KL divergence, mean", "kl", "{:.3g}"),
        ("… before calibration", "raw_kl", "{:.3g}"),
        ("KL divergence, median", "kl_median", "{:.3g}"),
        ("… before calibration", "raw_kl_median", "{:.3g}"),
        (f"deviation of repeats, measured{unit}", "repeats_std", "{:.3g}"),
        (f"… sampled by queries{unit}", "noise_std", "{:.3g}"),
        ("… KL divergence, mean", "noise_kl", "{:.3g}"),
        ("other methods: R²", "others_r2", "{:.4f}"),
        ("other methods: sparse Kendall's τ", "others_sparse_kendall", "{:.4f}"),
        (f"other methods: mean absolute error{unit}", "others_mae", "{:.4g}"),
        (f"other methods: deviation of repeats, measured{unit}", "others_repeats_std", "{:.3g}"),
        (f"… sampled by queries{unit}", "others_noise_std", "{:.3g}"),
        ("… KL divergence, mean", "others_noise_kl", "{:.3g}"),
        ("runtime: R² in seconds", "runtime_seconds_r2", "{:.4f}"),
        ("runtime: sparse Kendall's τ in seconds", "runtime_seconds_sparse_kendall", "{:.4f}"),
        ("runtime: R² of its logarithm", "runtime_r2", "{:.4f}"),
        ("runtime: sparse Kendall's τ of its logarithm", "runtime_sparse_kendall", "{:.4f}"),
        ("runtime: Kendall's τ", "runtime_kendall", "{:.4f}"),
        ("runtime: mean relative error", "runtime_relative_error", "{:.1%}"),
    ]
    rows = []
    for name, key, form in figures:
        if key in manifest.figures:
            value = manifest.figures[key]
            rows.append((name, "beyond all bounds" if value is None else form.format(value)))
    return rows + [(name, f"{seconds:.3g} s") for name, seconds in (times or {}).items()]


def level_table(manifest: ArtefactManifest) -> NumberTable | None:
    """The figures of the test part at each fidelity; ``None`` for a surrogate of one."""
    if manifest.levels is None:
        return None
    columns = {
        "R²": ("r2", "{:.4f}"),
        "Kendall": ("kendall", "{:.4f}"),
        "sKT": ("sparse_kendall", "{:.4f}"),
        "MAE": ("mae", "{:.4g}"),
        "90 % interval holds": ("coverage", "{:.1%}"),
        "noise drawn": ("noise_drawn", "{:.3g}"),
        "noise measured": ("noise_measured", "{:.3g}"),
        "runtime error": ("runtime_relative_error", "{:.1%}"),
    }
    rows = []
    for fidelity, figures in zip(manifest.levels.fidelities, manifest.levels.figures, strict=True):
        values = [(figures.get(key), form) for key, form in columns.values()]
        rows.append((str(fidelity), *(MISSING if value is None else form.format(value) for value, form in values)))
    return NumberTable(("fidelity", *columns), tuple(rows), numbers=0)
