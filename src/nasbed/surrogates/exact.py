"""What need not be predicted: parameters and multiply-adds, counted (Surrogate NAS Benchmarks, section 3.1.4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.core.metric import Metric
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.spaces.darts.costs import DartsSkeleton
from nasbed.spaces.nb101.costs import NB101Skeleton
from nasbed.spaces.nb201 import NB201, NB201Skeleton

Floats = NDArray[np.float64]

COSTS = tuple(Metric(name, direction="minimize", bounds=(0, math.inf)) for name in ("parameters", "multiply_adds"))
NB201_NETWORKS = {
    "cifar10": NB201Skeleton(),
    "cifar100": NB201Skeleton(classes=100),
    "imagenet16-120": NB201Skeleton(classes=120, image=16),
}


SKELETONS: Mapping[str, Callable[..., Any]] = {"darts": DartsSkeleton, "nb101": NB101Skeleton, "nb201": NB201Skeleton}
"""The spaces whose networks can be counted in another skeleton than the usual one."""


class ExactCosts:
    """Counts the costs that a space knows, for the network that was trained where that is on record: in a skeleton with
    these settings, or as is known of a dataset; for the space's usual one otherwise."""

    def __init__(self, space: SearchSpace, dataset: str, skeleton: Mapping[str, Any] | None = None) -> None:
        known = space.properties(np.empty((0, space.code_length), dtype=np.int64))
        self.metrics = tuple(metric for metric in COSTS if metric.name in known)
        self._space = space
        self._skeleton = None if skeleton is None else _skeleton(space, skeleton)
        self._other: tuple[Floats, Floats] = (np.zeros(1), np.ones(1))
        if isinstance(space, NB201) and dataset in NB201_NETWORKS:
            self._other = _linear(space, NB201_NETWORKS[dataset])

    def __call__(self, codes: Codes) -> Floats:
        """The costs of each architecture, ``[n, metrics]``."""
        if self._skeleton is not None:
            counted = [getattr(self._space, metric.name)(codes, self._skeleton) for metric in self.metrics]
            return np.stack(counted, axis=1).astype(np.float64)
        offset, factor = self._other
        found: Floats = self._space.costs(codes) * factor + offset
        return found


def _skeleton(space: SearchSpace, settings: Mapping[str, Any]) -> Any:
    if space.name not in SKELETONS:
        raise InvalidOption(
            f"networks of {space.name} are counted in the usual skeleton alone, got another; those of "
            f"{', '.join(SKELETONS)} in any"
        )
    try:
        return SKELETONS[space.name](**settings)
    except TypeError as error:
        raise InvalidOption(f"the skeleton of {space.name} has not these settings: {error}; change them") from None


def _linear(space: NB201, skeleton: NB201Skeleton) -> tuple[Floats, Floats]:
    """The offset and factor that make the costs of a NAS-Bench-201 network those of one for another dataset: other
    classes add to both, smaller images divide the multiply-adds of the cells."""
    none_and_conv = np.array([[0] * 6, [3] * 6])
    usual = space.costs(none_and_conv).astype(np.float64)
    other = np.stack([space.parameters(none_and_conv, skeleton), space.multiply_adds(none_and_conv, skeleton)], axis=1)
    factor = (other[1] - other[0]) / (usual[1] - usual[0])
    return other[0] - usual[0] * factor, factor
