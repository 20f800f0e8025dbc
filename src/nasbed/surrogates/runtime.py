"""The runtime model of a surrogate: it predicts the logarithm of the training time, for a benchmark's simulated clock
(Surrogate NAS Benchmarks, section 3.1.4 and appendix E.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nasbed.spaces.base import SearchSpace
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.base import Surrogate
from nasbed.surrogates.examples import Examples

RUNTIME_MODEL = "lgb"
RUNTIME_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "lgb": {"learning_rate": 0.1, "rounds": 400, "feature_fraction": 0.5, "lambda_l2": 1.0, "early_stopping_rounds": 20}
}
"""The default settings by model. Every query predicts a time, and times are easy to predict: a small model will do."""
FEWEST = 10
"""The least number of training times that a model is fitted on or tested with."""


def timed(rows: Examples, method: str | None = None) -> Examples | None:
    """The evaluations with the logarithm of their time, of one method if it is named; ``None`` if they are too few."""
    if method is not None:
        rows = rows.by([method]) if method in rows.method else rows.take(np.empty(0, int))
    with_times = rows.of(rows.log_seconds())
    return with_times if len(with_times) >= FEWEST else None


def fit_runtime(
    model: str, space: SearchSpace, times: Examples, *, seed: int = 0, settings: Mapping[str, Any] | None = None
) -> Surrogate[Any]:
    """One model of the training time, stopped early on a tenth of the architectures.

    Args:
        model: The id of the model.
        space: The space of the architectures.
        times: Evaluations with the logarithm of their time, as :func:`timed` gives them.
        seed: Of the model, and of the tenth.
        settings: What differs from :data:`RUNTIME_SETTINGS`.
    """
    rng = np.random.default_rng(seed)
    unique, owner = np.unique(times.architecture, return_inverse=True)
    kept_out = (rng.permutation(len(unique)) % 10 == 0)[owner]
    clock = SURROGATES.get(model)(space, seed=seed, settings={**RUNTIME_SETTINGS.get(model, {}), **(settings or {})})
    clock.fit(times.take(~kept_out), times.take(kept_out) if kept_out.any() else None)
    return clock
