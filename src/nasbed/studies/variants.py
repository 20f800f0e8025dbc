"""Methods with several settings, as a study runs and compares them: every variant has a folder of runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nasbed.core.execution import Engine
from nasbed.evaluation.anytime import Anytime, Floats, anytime, final_regrets
from nasbed.evaluation.judging import Trajectory
from nasbed.experiments.compare import compare
from nasbed.experiments.named_methods import short_name
from nasbed.experiments.runs import Run, Runs


@dataclass(frozen=True, slots=True)
class Variant:
    """A method with settings, and its name in figures."""

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The folder of its runs, and the name under which they are judged."""
        parts = [short_name(self.method), *(f"{name}-{value}" for name, value in self.settings.items())]
        return re.sub(r"[^\w.+-]", "_", "-".join(parts))


@dataclass(frozen=True, slots=True)
class VariantResult:
    """One variant in one space: its curve and its final regrets by seed."""

    name: str
    curve: Anytime
    finals: Floats
    seeds: tuple[int, ...] = ()  # of the finals

    @classmethod
    def of(cls, variant: Variant, lines: Sequence[Trajectory]) -> VariantResult:
        """From the judged runs of a variant, by seed."""
        return cls(variant.name, anytime(lines), final_regrets(lines), tuple(line.seed for line in lines))

    @property
    def mean(self) -> float:
        return float(self.finals.mean())

    @property
    def by_seed(self) -> dict[int, float]:
        """The final regrets by seed."""
        return dict(zip(self.seeds, self.finals.tolist(), strict=True))


def run_variants(
    benchmark: str,
    variants: Iterable[Variant],
    *,
    seeds: int,
    budget: str,
    out: Path,
    engine: Engine | None = None,
    preset: str = "",
    progress: Callable[[str, int, str], None] | None = None,
) -> Runs:
    """Run every variant with every seed; a stored run is not repeated.

    Args:
        benchmark: an id or a path.
        variants: with different folders.
        seeds: runs per variant.
        budget: per run, such as ``5e5s``.
        out: the folder of the variants' folders.
        engine: carries out the runs.
        preset: the paper whose settings a variant's own are added to.
        progress: called with the variant's folder, the seed and the error, if any, of each run that ended.

    Returns:
        The runs of these seeds, each named after its variant's folder.
    """
    runs: list[Run] = []
    for variant in variants:

        def on_run(_: str, seed: int, error: str, folder: str = variant.folder) -> None:
            if progress is not None:
                progress(folder, seed, error)

        stored = compare(
            benchmark,
            [variant.method],
            seeds=seeds,
            budget=budget,
            out=out / variant.folder,
            engine=engine,
            preset=preset,
            settings={short_name(variant.method): variant.settings},
            progress=on_run,
        )
        runs += [replace(run, method=variant.folder) for run in stored.runs if run.seed < seeds]
    return Runs(stored.setup, runs)
