"""Parameters and multiply-adds, which are counted instead of predicted (Surrogate NAS Benchmarks, section 3.1.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.metric import Metric
from nasbed.spaces.base import Codes, SearchSpace

Floats = NDArray[np.float64]

COSTS = tuple(Metric(name, direction="minimize", bounds=(0, math.inf)) for name in ("parameters", "multiply_adds"))


class ExactCosts:
    """Counts the costs of the trained network, as far as its space knows them. The skeleton is one with these settings,
    the published one for a dataset, or else the space's usual one."""

    def __init__(self, space: SearchSpace, dataset: str, skeleton: Mapping[str, Any] | None = None) -> None:
        no_codes = np.empty((0, space.code_length), dtype=np.int64)
        properties = space.properties(no_codes)
        self.metrics = tuple(metric for metric in COSTS if metric.name in properties)
        self._space = space
        self._skeleton = space.published_skeletons.get(dataset) if skeleton is None else space.make_skeleton(skeleton)
        space.costs(no_codes, self._skeleton)  # raises where a space counts in its usual skeleton alone

    def __call__(self, codes: Codes) -> Floats:
        """The costs of each architecture, ``[n, metrics]``."""
        return self._space.costs(codes, self._skeleton).astype(np.float64)
