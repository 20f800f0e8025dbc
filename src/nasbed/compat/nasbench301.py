"""What ``import nasbench301`` finds once the drop-ins are installed: NAS-Bench-301's interface over surrogates of the
DARTS space."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from nasbed.benchmarks.catalog import load
from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, UnknownName, shorten
from nasbed.core.former_names import former
from nasbed.surrogates.artefact import RUNTIME

REPRESENTATIONS = ("genotype", "configspace")


class PerformanceEnsemble:
    """Predicts the validation accuracy, in percent. The same ``seed`` and the same calls give the same answers."""

    def __init__(self, benchmark: SurrogateBenchmark, *, seed: int = 0) -> None:
        if benchmark.space.name != "darts":
            raise InvalidOption(
                f"NAS-Bench-301 is about the space darts, {benchmark.name} is of {benchmark.space.name}; open it with "
                "nasbed.load"
            )
        self.benchmark = benchmark
        self._next_seed = seed << 32
        self._percent = 100.0 if benchmark.objective.bounds == (0, 1) else 1.0

    def predict(self, config: Any, representation: str, with_noise: bool = True) -> float:
        """The prediction for a Genotype (``representation="genotype"``) or a ConfigSpace configuration, or the
        dictionary of one (``"configspace"``); with another draw of noise each time, or without."""
        arch = self._architecture(config, representation)
        if with_noise:
            observation = self.benchmark.query(arch, seed=self._next_seed)
            self._next_seed += 1
        else:
            observation = self.benchmark.expected(arch)
        return self._percent * observation.values[self.benchmark.objective]

    def _architecture(self, config: Any, representation: str) -> Architecture:
        space = self.benchmark.space
        if representation == "genotype":
            return space.from_native(config)
        if representation == "configspace":
            return space.from_config(config)
        raise InvalidOption(
            f"a representation is one of {', '.join(REPRESENTATIONS)}, got {shorten(representation)}; pass one of them"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.benchmark.name})"


class RuntimeEnsemble(PerformanceEnsemble):
    """Predicts the training time, in seconds."""

    def predict(self, config: Any, representation: str, with_noise: bool = True) -> float:
        """The prediction; it has no noise."""
        cost_s = self.benchmark.expected(self._architecture(config, representation)).cost_s
        return math.nan if cost_s is None else cost_s


def load_ensemble(ensemble_parent_dir: str | Path, *, seed: int = 0) -> PerformanceEnsemble:
    """Open a surrogate of the DARTS space by its folder, its file or its id; with ``/runtime`` after it, the model of
    the training time that it comes with."""
    path = Path(ensemble_parent_dir)
    if path.name == RUNTIME:
        ensemble = RuntimeEnsemble(_open_surrogate(path.parent), seed=seed)
        if ensemble.benchmark.artefact.runtime is None:
            raise UnknownName(f"the surrogate {ensemble.benchmark.name} has no runtime model; make it with one")
        return ensemble
    return PerformanceEnsemble(_open_surrogate(path), seed=seed)


def _open_surrogate(path: Path) -> SurrogateBenchmark:
    benchmark = load(path if path.exists() else str(path))
    if not isinstance(benchmark, SurrogateBenchmark):
        raise InvalidOption(f"an ensemble is a surrogate, {benchmark.name} is a table; open it with nasbed.load")
    return benchmark


__all__ = ["PerformanceEnsemble", "RuntimeEnsemble", "load_ensemble"]
__getattr__ = former(
    "nasbed.compat.nasbench301", {"Ensemble": "nasbed.compat.nasbench301:PerformanceEnsemble"}, until="0.3"
)
