"""A grid over the settings of one method: which settings differ from the default (NAS-Bench-101, supplement S2.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import load
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine
from nasbed.core.metric import Metric
from nasbed.evaluation.judging import judge, paired
from nasbed.evaluation.ranks import mean_ranks
from nasbed.evaluation.remarks import failed_evaluations
from nasbed.evaluation.significance import Interval, bootstrap_interval, holm, wilcoxon
from nasbed.experiments.comparison_checks import check_comparison
from nasbed.experiments.method_settings import with_preset
from nasbed.experiments.named_methods import optimizer_class, settings_of, short_name
from nasbed.optimizers.presets import METHOD_PRESETS
from nasbed.studies.variants import Variant, VariantResult, run_variants

LEVEL = 0.05
"""Of significance."""


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The variants to run, the default first, and the combinations that the method refuses, with its reason."""

    variants: Sequence[Variant]
    left_out: Mapping[str, str]

    @property
    def default(self) -> Variant:
        return self.variants[0]


@dataclass(frozen=True, slots=True)
class SettingResult:
    """One point of the grid. Intervals are 95 % bootstrap intervals over seeds.

    ``rank`` is among all points, over the seeds that finished with each of them. ``p`` is of Wilcoxon's test against
    the default by seed, corrected by Holm's method for the number of points; NaN for the default.
    """

    name: str
    variant: VariantResult
    regret: Interval
    rank: Interval
    p: float

    @property
    def differs(self) -> bool:
        """Whether it differs significantly from the default."""
        return self.p < LEVEL


@dataclass(frozen=True, slots=True)
class SweepStudy:
    """All points of a grid, the default first."""

    benchmark: str
    method: str
    metric: Metric
    best: float
    varied: Mapping[str, Sequence[Any]]
    seeds: int
    budget: str
    settings: Sequence[SettingResult]
    left_out: Mapping[str, str]
    errors: Mapping[str, str]  # by run: what broke it
    failed: tuple[int, int]  # evaluations, of how many

    @property
    def default(self) -> SettingResult:
        return self.settings[0]

    def standings(self) -> list[SettingResult]:
        """By mean final regret, the best first."""
        return sorted(self.settings, key=lambda setting: setting.regret.estimate)

    def better(self) -> list[SettingResult]:
        """Those with significantly less regret than the default, the best first."""
        return [one for one in self.standings() if one.differs and one.regret.estimate < self.default.regret.estimate]

    def worse(self) -> list[SettingResult]:
        """Those with significantly more regret than the default, the best first."""
        return [one for one in self.standings() if one.differs and one.regret.estimate > self.default.regret.estimate]

    @property
    def can_tell(self) -> bool:
        """Whether there are enough seeds for any difference to be significant."""
        return 2.0 ** (1 - len(self.default.variant.finals)) * (len(self.settings) - 1) < LEVEL


def sweep_plan(
    benchmark: Benchmark,
    method: str,
    varied: Mapping[str, Sequence[Any]],
    *,
    name: str,
    budget: str,
    preset: str = "",
    settings: Mapping[str, Any] | None = None,
) -> SweepPlan:
    """Every combination of the varied values, and the default: the method without any of them.

    Args:
        benchmark: the opened benchmark.
        method: an id, or ``file.py:ClassName``.
        varied: the values of each setting.
        name: what the benchmark is loaded by.
        budget: of each run.
        preset: the paper that all other settings are from.
        settings: fixed ones, which win over the preset.
    """
    fixed = dict(settings or {})
    if not varied or not all(varied.values()):
        raise InvalidOption("a sweep varies at least one setting, such as --vary population_size=10,50,100, got none")
    both = sorted(set(varied) & set(fixed))
    if both:
        raise InvalidOption(f"a setting is fixed or varied, got {both[0]} in both --set and --vary; omit one")
    unknown = [key for key in varied if key not in settings_of(method)]
    if unknown:
        choices = ", ".join(settings_of(method)) or "none"
        raise InvalidOption(f"{short_name(method)} has no setting {unknown[0]!r}; its settings are {choices}")
    usual = _defaults(method, varied, preset, fixed)
    default = Variant(f"{_named(usual)} (default)", method, fixed)

    def check(variant: Variant) -> None:
        own = {short_name(method): variant.settings}
        check_comparison(benchmark, [method], name=name, budget=budget, preset=preset, settings=own)

    check(default)
    variants, left_out, first_error = [default], {}, None
    for values in product(*varied.values()):
        chosen = dict(zip(varied, values, strict=True))
        if chosen == usual:
            continue
        variant = Variant(_named(chosen), method, {**fixed, **chosen})
        try:
            check(variant)
        except InvalidOption as error:
            left_out[variant.name], first_error = str(error), first_error or error
        else:
            variants.append(variant)
    if first_error and len(variants) == 1:
        raise first_error
    return SweepPlan(variants, left_out)


def _defaults(method: str, varied: Mapping[str, Any], preset: str, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """The value that each varied setting has by default, or by the preset."""
    takes = signature(optimizer_class(method)).parameters
    own = {key: takes[key].default for key in varied if takes[key].default is not Parameter.empty}
    chosen = METHOD_PRESETS.get(preset) if preset else None
    from_preset = with_preset({}, chosen, [short_name(method)]).get(short_name(method), {})
    return {key: fixed.get(key, from_preset.get(key, own.get(key))) for key in varied}


def _named(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in settings.items())


def sweep_study(
    benchmark: str,
    method: str,
    varied: Mapping[str, Sequence[Any]],
    *,
    seeds: int = 20,
    budget: str = "300ev",
    out: str | Path,
    preset: str = "",
    settings: Mapping[str, Any] | None = None,
    engine: Engine | None = None,
    progress: Callable[[str, int, str], None] | None = None,
) -> SweepStudy:
    """Run a method with every combination of settings and every seed, and compare each with the default.

    Args:
        benchmark: an id or a path.
        method: an id, or ``file.py:ClassName``.
        varied: the values of each setting.
        seeds: runs per combination.
        budget: per run, such as ``300ev`` or ``1e6s``.
        out: the folder; a stored run is not repeated.
        preset: the paper that all other settings are from.
        settings: fixed ones, which win over the preset.
        engine: carries out the runs.
        progress: called with the variant's folder, the seed and the error, if any, of each run that ended.
    """
    table = load(benchmark)
    plan = sweep_plan(table, method, varied, name=benchmark, budget=budget, preset=preset, settings=settings)
    runs = run_variants(
        benchmark,
        plan.variants,
        seeds=seeds,
        budget=budget,
        out=Path(out) / "runs",
        engine=engine,
        preset=preset,
        progress=progress,
    )
    judged = judge(runs.finished, table)
    results = [VariantResult.of(variant, judged.of(variant.folder)) for variant in plan.variants]
    names = {variant.folder: variant.name for variant in plan.variants}
    return SweepStudy(
        benchmark=table.name,
        method=short_name(method),
        metric=judged.judge or runs.setup.objective,
        best=judged.test_best if judged.judge is not None else judged.validation_best,
        varied=varied,
        seeds=seeds,
        budget=budget,
        settings=compare_settings(results, np.random.default_rng(0)),
        left_out=plan.left_out,
        errors={f"{names[run.method]}, seed {run.seed}": run.error for run in runs.runs if run.error},
        failed=failed_evaluations(runs.runs),
    )


def compare_settings(results: Sequence[VariantResult], rng: np.random.Generator) -> list[SettingResult]:
    """All variants against the first, which is the default."""
    default, *others = results
    common = paired({result.name: result.by_seed for result in results})
    if not common.shape[1]:
        raise InvalidOption("settings are compared seed by seed, but no seed finished with all of them; see the errors")
    ranked = mean_ranks(common, rng)
    raw = [wilcoxon(*paired({"default": default.by_seed, "other": other.by_seed})) for other in others]
    return [
        SettingResult(
            name=result.name,
            variant=result,
            regret=bootstrap_interval(np.where(np.isinf(result.finals), np.nan, result.finals), rng),
            rank=Interval(float(ranked.mean[place]), float(ranked.low[place]), float(ranked.high[place])),
            p=p,
        )
        for place, (result, p) in enumerate(zip(results, [float("nan"), *holm(raw).tolist()], strict=True))
    ]
