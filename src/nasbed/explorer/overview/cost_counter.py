"""Parameters and multiply-adds of the network that a benchmark trained, counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.surrogate import SurrogateBenchmark
from nasbed.benchmarks.tabular import TabularBenchmark
from nasbed.core.errors import NasbedError
from nasbed.datasets import DATASETS
from nasbed.datasets.unseen import UNSEEN
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.training.recipes import RECIPES

USUAL = "counted in the usual network of the space: how the networks were built is not recorded"
THREE_CHANNELS = "counted with three input channels"
"""Why a count may not be that of the trained network."""


@dataclass(frozen=True, slots=True)
class CostCounter:
    """Counts in one skeleton. ``note`` says how the counted network may differ from the trained one; it is empty where
    it does not."""

    space: SearchSpace
    skeleton: Any
    note: str
    known: bool = field(init=False)
    """Whether the space counts costs."""

    def __post_init__(self) -> None:
        properties = self.space.properties(np.empty((0, self.space.code_length), dtype=np.int64))
        object.__setattr__(self, "known", "parameters" in properties)

    def __call__(self, canonical: Codes) -> NDArray[np.int64]:
        """Parameters and multiply-adds of canonical forms, ``[n, 2]``."""
        return self.space.costs(canonical, self.skeleton)


def cost_counter(benchmark: Benchmark) -> CostCounter:
    """The counts for a benchmark: in the skeleton that its surrogate records or its recipe has, for its dataset; or in
    the published one; or in the usual one of the space."""
    space, inner = benchmark.space, benchmark.unwrapped
    if isinstance(inner, SurrogateBenchmark):
        settings = inner.artefact.manifest.provenance.get("skeleton")
        if settings is not None:
            return CostCounter(space, space.make_skeleton(settings), "")
    if isinstance(inner, TabularBenchmark) and inner.results.about.recipe in RECIPES:
        return _by_recipe(space, RECIPES.get(inner.results.about.recipe).skeleton, inner.dataset_name)
    published = space.published_skeletons.get(benchmark.dataset_name)
    return CostCounter(space, published, "" if published is not None else USUAL)


def _by_recipe(space: SearchSpace, settings: Mapping[str, Any], dataset: str) -> CostCounter:
    name, _, side = dataset.partition("@")
    facts: dict[str, Any] = dict(settings)
    note = USUAL
    registry = next((registry for registry in (DATASETS, UNSEEN) if name in registry), None)
    if registry is not None:
        source = registry.get(name)()
        channels, height, width = source.shape
        image = int(side) if side.isdecimal() else height if height == width else (height, width)
        known = {"image": image, "classes": len(source.classes)}
        facts |= {key: value for key, value in known.items() if key in space.skeleton_settings}
        note = "" if channels == 3 else THREE_CHANNELS
    try:
        return CostCounter(space, space.make_skeleton(facts), note)
    except NasbedError:
        return CostCounter(space, None, USUAL)
