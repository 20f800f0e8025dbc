"""A run without the evaluations that no page over a suite needs.

Such a page shows incumbents, so a run keeps the evaluations that changed its incumbent, the first one at each fidelity,
and the last. Of 200 evaluations about eight are left; the others are counted. A digest of all proposals makes the
whole run verifiable: proposals and the benchmark's bytes determine everything else.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.evaluation.repeats import repeated_share
from nasbed.evaluation.trajectories import incumbent_index
from nasbed.experiments.runs import Condensed, Run

DIGEST_BYTES = 16


def condense(run: Run, benchmark: Benchmark) -> Run:
    """The run with the evaluations that a page over a suite needs, and counts of all of them. Start times, metrics
    other than the objective and the traceback are dropped."""
    kept = _needed(run, benchmark)
    return replace(
        run,
        codes=run.codes[kept],
        fidelity=run.fidelity[kept],
        value=run.value[kept],
        status=run.status[kept],
        start_s=np.full(len(kept), np.nan),
        end_s=run.end_s[kept],
        others={},
        traceback="",
        condensed=Condensed(
            numbers=kept + 1,
            evaluations=len(run),
            failed=run.failed,
            below_top=run.below(benchmark.fidelities[-1]),
            free=run.free,
            repeated=repeated_share(run, benchmark.space),
            proposals=proposals_digest(run),
        ),
    )


def proposals_digest(run: Run) -> bytes:
    """The digest of all proposals in the order in which they ended: codes and fidelities."""
    digest = blake2b(np.ascontiguousarray(run.codes, dtype="<i8").tobytes(), digest_size=DIGEST_BYTES)
    digest.update(np.ascontiguousarray(run.fidelity, dtype="<i8").tobytes())
    return digest.digest()


def _needed(run: Run, benchmark: Benchmark) -> NDArray[np.int64]:
    """Which evaluations a page needs, in their order."""
    incumbents = incumbent_index(run.value, benchmark.objective.direction, fidelity=run.fidelity)
    valued = np.flatnonzero(~np.isnan(run.value))
    first_at_fidelity = valued[np.unique(run.fidelity[valued], return_index=True)[1]]
    last = np.arange(len(run))[-1:]
    return np.unique(np.concatenate([incumbents[incumbents >= 0], first_at_fidelity, last])).astype(np.int64)
