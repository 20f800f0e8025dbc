"""The condensed runs on one benchmark as columns of numbers, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import shorten
from nasbed.core.metric import Metric
from nasbed.experiments.run_checks import SECONDS, check_columns
from nasbed.experiments.runs import Condensed, Run
from nasbed.leaderboard.condensing import DIGEST_BYTES

STATED = ("random_start", "error", "refusals", "remarks")
"""The fields of a run that are texts or seldom differ, stored once for all runs that have the same."""
_COUNTS = {"evaluations": "<u4", "failed": "<u4", "below_top": "<u4", "free": "<u4", "repeated": "<f8"}
_ROWS = {"fidelity": "<i8", "value": "<f8", "status": "|u1", "end_s": "<f8"}


def to_columns(runs: Sequence[Run], names: Sequence[str], stated: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    """Runs as columns. ``names`` are the methods, by number. What several runs state alike is added to ``stated``
    once."""
    width = runs[0].codes.shape[1] if runs else 0
    condensed = [_condensed(run) for run in runs]
    codes = np.concatenate([*(run.codes for run in runs), np.empty((0, width), dtype=np.int64)])
    steps = [np.diff(item.numbers, prepend=0) for item in condensed]
    small = codes.min(initial=0) >= 0 and codes.max(initial=0) < 256
    digests = np.frombuffer(b"".join(item.proposals for item in condensed), dtype="|u1")
    return {
        "method": np.array([names.index(run.method) for run in runs], dtype="<u2"),
        "seed": np.array([run.seed for run in runs], dtype="<i8"),
        "stated": np.array([_stated_place(run, stated) for run in runs], dtype="<u4"),
        "thinking_s": np.array([run.thinking_s for run in runs], dtype="<f8"),
        "rows": np.array([len(run) for run in runs], dtype="<u4"),
        "proposals": digests.reshape(-1, DIGEST_BYTES),
        **{name: np.array([getattr(item, name) for item in condensed], dtype=kind) for name, kind in _COUNTS.items()},
        "codes": codes.astype("|u1" if small else "<i8"),
        "steps": np.concatenate([*steps, np.empty(0, dtype=np.int64)]).astype("<u4"),
        **{
            name: np.concatenate([*(getattr(run, name) for run in runs), np.empty(0)]).astype(kind)
            for name, kind in _ROWS.items()
        },
    }


def from_columns(
    columns: Mapping[str, NDArray[Any]],
    names: Sequence[str],
    stated: Sequence[Mapping[str, Any]],
    objective: Metric,
) -> list[Run]:
    """The inverse of :func:`to_columns`. Raises a ValueError, KeyError or IndexError for what are no runs."""
    rows = columns["rows"].astype(np.int64)
    ends = np.cumsum(rows)
    lengths = {len(columns[name]) for name in ("codes", "steps", *_ROWS)}
    per_run = {len(columns[name]) for name in ("method", "seed", "stated", "thinking_s", "proposals", *_COUNTS)}
    if lengths != {int(ends[-1]) if len(ends) else 0} or per_run != {len(rows)}:
        raise ValueError("its columns have one length, got several")
    runs: list[Run] = []
    for i, end in enumerate(ends.tolist()):
        inside = slice(end - int(rows[i]), end)
        part = {name: columns[name][inside] for name in ("codes", "steps", *_ROWS)}
        runs.append(_run({name: columns[name][i] for name in columns if name not in part}, part, names, stated))
        for value in runs[-1].value[~np.isnan(runs[-1].value)].tolist():
            objective.check(value)
    keys = [(run.method, run.seed) for run in runs]
    if len(set(keys)) < len(keys) or any(run.seed < 0 for run in runs):
        raise ValueError("it has each run once, with a seed from 0 on, got others")
    return runs


def _run(
    facts: Mapping[str, Any],
    part: Mapping[str, NDArray[Any]],
    names: Sequence[str],
    stated: Sequence[Mapping[str, Any]],
) -> Run:
    """One run from its facts and its rows, checked as stored runs are."""
    arrays = {**part, "codes": part["codes"].astype(np.int64), "status": part["status"].astype(np.int8)}
    numbers = np.cumsum(part["steps"].astype(np.int64))
    counts = {name: facts[name].item() for name in _COUNTS}
    if (part["steps"] < 1).any() or numbers.max(initial=0) != counts["evaluations"]:
        raise ValueError("evaluations have rising numbers, and the last one is kept, got others")
    if not _are_counts(counts) or not SECONDS[1](facts["thinking_s"].item()):
        raise ValueError(f"it counts evaluations of the run and real seconds, got {shorten(counts, 120)}")
    check_columns({name: arrays[name] for name in ("codes", *_ROWS)} | {"start_s": arrays["end_s"]})
    return Run(
        method=names[int(facts["method"])],
        seed=int(facts["seed"]),
        codes=arrays["codes"],
        fidelity=arrays["fidelity"],
        value=arrays["value"],
        status=arrays["status"],
        start_s=np.full(len(numbers), np.nan),
        end_s=arrays["end_s"],
        thinking_s=float(facts["thinking_s"]),
        condensed=Condensed(numbers=numbers, proposals=facts["proposals"].tobytes(), **counts),
        **stated[int(facts["stated"])],
    )


def _are_counts(counts: Mapping[str, float]) -> bool:
    """Whether parts of the evaluations are no more than all of them."""
    parts = (counts["failed"], counts["below_top"], counts["free"])
    return max(parts) <= counts["evaluations"] and (0 <= counts["repeated"] <= 1 or math.isnan(counts["repeated"]))


def _stated_place(run: Run, stated: list[dict[str, Any]]) -> int:
    facts = {name: getattr(run, name) for name in STATED}
    facts |= {name: list(facts[name]) for name in ("refusals", "remarks")}
    if facts not in stated:
        stated.append(facts)
    return stated.index(facts)


def _condensed(run: Run) -> Condensed:
    if run.condensed is None:
        raise TypeError("a file has condensed runs")
    return run.condensed
