"""How often a search repeats an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nasbed.core.status import FAILED
from nasbed.spaces.base import SearchSpace

if TYPE_CHECKING:
    from nasbed.experiments.runs import Run


def repeated_share(run: Run, space: SearchSpace) -> float:
    """The share of a run's evaluations that repeat an earlier architecture, in canonical form, at the same fidelity;
    NaN for a run without evaluations."""
    if run.condensed is not None:
        return run.condensed.repeated
    if not len(run):
        return float("nan")
    codes = run.codes.copy()
    evaluated = run.status != FAILED  # what failed may be no architecture: it is only equal to itself
    distinct, owner = np.unique(codes[evaluated], axis=0, return_inverse=True)
    codes[evaluated] = space.canonical_codes(distinct)[owner.ravel()]
    return 1 - len(np.unique(np.column_stack([codes, run.fidelity]), axis=0)) / len(run)
