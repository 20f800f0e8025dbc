"""The zero of the score: the accuracy that earns no points, and where it comes from."""

from __future__ import annotations

from typing import NamedTuple

from nasbed.challenge.contest_data import ContestData
from nasbed.challenge.pinned_baseline import baseline_of
from nasbed.core.errors import BadFile, InvalidOption, nearest, shorten

ZEROS = {
    "measured": "the accuracy of a baseline on the same bytes",
    "paper": "the figure in the dataset's metadata, which was not measured on these bytes",
}


class Zero(NamedTuple):
    """The accuracy in per cent that scores 0."""

    accuracy: float
    kind: str
    """One of :data:`ZEROS`."""
    source: str
    """What was measured, in words."""


def zero_of(data: ContestData, kind: str) -> Zero:
    """The zero of a dataset; raises where there is none of this kind."""
    if kind not in ZEROS:
        raise InvalidOption(f"a zero is {' or '.join(ZEROS)}, got {kind!r}; {nearest(kind, ZEROS)}")
    return _measured(data) if kind == "measured" else _stated(data)


def _measured(data: ContestData) -> Zero:
    baseline = baseline_of(data)
    if baseline is None:
        raise InvalidOption(
            f"the zero of a score is a baseline measured on the same bytes, {data.name} has none; run: nasbed "
            f"challenge baseline {data.folder}, or score against its metadata's figure with --zero paper"
        )
    if baseline.accuracy >= 100:
        raise InvalidOption(f"a score is relative to a baseline below 100 %, that of {data.name} is all right; omit it")
    return Zero(baseline.accuracy, "measured", baseline.protocol)


def _stated(data: ContestData) -> Zero:
    value = data.metadata.get("benchmark")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 100:
        raise BadFile(
            f"{data.folder / 'metadata'}: benchmark is a per cent from 0 to below 100, got {shorten(value)}; put it in"
        )
    return Zero(float(value), "paper", "the benchmark of its metadata")
