"""Rows with generated values."""

from __future__ import annotations

import numpy as np

from nasbed import Metric
from nasbed.results import Rows

VALIDATION = Metric("accuracy", split="validation", bounds=(0, 1))
TEST = Metric("accuracy", split="test", bounds=(0, 1))
PARAMETERS = Metric("parameters", direction="minimize", bounds=(0, float("inf")))
BUDGETS, REPEATS = (4, 12, 36, 108), 3


def generated_rows(codes: np.ndarray, seed: int = 0) -> list[Rows]:
    """Generated values, one row for each budget and repeat: what matters is that they come back."""
    rng = np.random.default_rng(seed)
    batches = []
    for repeat in range(REPEATS):
        for budget in BUDGETS:
            values = {
                VALIDATION.key: rng.random(len(codes)).astype(np.float32).astype(float),
                TEST.key: rng.random(len(codes)),
                PARAMETERS.key: rng.integers(1, 10**8, len(codes)).astype(float),
            }
            time = rng.random(len(codes)) * budget
            batches.append(
                Rows.of(codes, values, fidelity=budget, seed=100 + repeat, train_time_s=time, method="table")
            )
    return batches
