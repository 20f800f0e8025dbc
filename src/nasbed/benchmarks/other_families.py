"""Surrogates of the same benchmark by a model of another family, to check a result that the model may flatter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.places import surrogate_paths
from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.core.errors import NasbedError
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.artefact import read_manifest
from nasbed.surrogates.artefact_manifest import ArtefactManifest


def of_another_family(benchmark: Benchmark) -> dict[str, str]:
    """The families of the present surrogates that predict the same metric, on the same dataset and space, by a model of
    another family; by their ids. Those fitted on the same methods come first, of these the newest."""
    surrogate = benchmark.unwrapped
    if not isinstance(surrogate, SurrogateBenchmark):
        return {}
    own = _Predicted.of(surrogate.artefact.manifest)
    others: list[tuple[bool, list[int], str, str]] = []
    for name, path in surrogate_paths().items():
        other = _read(path, path.stat().st_mtime_ns)
        if other is not None and other.target == own.target and other.family not in ("", own.family):
            newest_first = [-int(number) for number in re.findall(r"\d+", name.rpartition("-v")[2])]
            others.append((other.methods != own.methods, newest_first, name, other.family))
    return {name: family for _, _, name, family in sorted(others)}


@dataclass(frozen=True, slots=True)
class _Predicted:
    """What a surrogate predicts, from which methods' evaluations, by which family of models."""

    target: tuple[str, str, str, int]
    methods: tuple[str, ...] | None
    family: str

    @classmethod
    def of(cls, manifest: ArtefactManifest) -> _Predicted:
        chosen = manifest.provenance.get("methods_chosen")
        target = (manifest.space, manifest.dataset, manifest.metric.key, manifest.fidelity)
        family = SURROGATES.get(manifest.members.model).family
        return cls(target, None if chosen is None else tuple(chosen), family)


@lru_cache(maxsize=256)
def _read(path: Path, changed_ns: int) -> _Predicted | None:
    """What the surrogate in a file is of; ``None`` where it is damaged, or of a model that is not installed."""
    try:
        return _Predicted.of(read_manifest(path))
    except NasbedError:
        return None
