"""The stored runs of a folder: which of them are valid, and which are repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from nasbed.core.errors import BadFile
from nasbed.experiments.provenance import Provenance, changes
from nasbed.experiments.runs import load_run, run_files

Key = tuple[str, int]
"""The name of a run and its seed."""


@dataclass(frozen=True, slots=True)
class StoredRuns:
    """``finished`` are neither broken nor out of date. ``notes`` give the reason why others are repeated, one line per
    method."""

    finished: frozenset[Key]
    stale: frozenset[Key]
    notes: tuple[str, ...]

    def is_needed(self, name: str, seed: int, seeds: int) -> bool:
        """Whether a run is needed: it is out of date, or an unfinished one of the first ``seeds``."""
        return (name, seed) in self.stale or (seed < seeds and (name, seed) not in self.finished)


def stored_runs(out: Path, made_by: Mapping[str, Provenance], *, keep_versions: bool) -> StoredRuns:
    """The runs of some methods in a folder.

    Args:
        out: the folder of a comparison.
        made_by: what a run made now would be bound to, by the name of the run.
        keep_versions: whether a run that another version of nasbed made still holds if nothing else has changed.
    """
    finished: set[Key] = set()
    stale: set[Key] = set()
    counts: dict[str, Counter[str]] = {}
    for path in run_files(out):
        try:
            run = load_run(path)
        except BadFile:
            continue
        provenance = made_by.get(run.method)
        if provenance is None:
            continue
        if keep_versions and run.made_by is not None:
            provenance = replace(provenance, nasbed=run.made_by.nasbed)
        reasons = changes(run.made_by, provenance)
        if reasons:
            stale.add((run.method, run.seed))
            counts.setdefault(run.method, Counter())["; ".join(reasons)] += 1
        elif not run.error:
            finished.add((run.method, run.seed))
    notes = [
        f"{count} run{'s' if count != 1 else ''} of {name} {'are' if count != 1 else 'is'} made again: {reason}"
        for name, counter in counts.items()
        for reason, count in counter.items()
    ]
    return StoredRuns(frozenset(finished), frozenset(stale), tuple(notes))
