"""Predictions by the ratio of parameter-free operations: cells of such operations are poor (appendix E.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.spaces.lookup import Lookup
from nasbed.studies.validation.data import ValidationData
from nasbed.surrogates.base import Floats

REPEATS = 4
RATIOS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
MOST_CELLS = 200


@dataclass(frozen=True, slots=True)
class OperationPlaces:
    """The columns of codes that hold operations, as indices into ``names``; ``present [n, columns]`` is true for those
    in use."""

    columns: tuple[int, ...]
    names: tuple[str, ...]
    parameter_free: tuple[str, ...]
    present: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ReplacementDesign:
    """Architectures with a known ratio of parameter-free operations, by the kind of the inserted operation."""

    codes: Codes
    kind: NDArray[np.str_]
    ratio: Floats
    repeat: NDArray[np.int64]

    def without(self, fitted: Codes) -> ReplacementDesign:
        """The architectures that no model was fitted on; of a full table most have been."""
        unique = np.unique(fitted, axis=0)
        new = Lookup(unique).find(self.codes) < 0
        return ReplacementDesign(self.codes[new], self.kind[new], self.ratio[new], self.repeat[new])


@dataclass(frozen=True, slots=True)
class RatioLine:
    """The mean by ratio and its standard deviation over repeats; NaN where no architecture has the ratio."""

    kind: str
    label: str  # a model, or TRUE
    mean: Floats
    std: Floats


TRUE = "evaluated"


@dataclass(frozen=True, slots=True)
class ParameterFree:
    """Predictions by the ratio of parameter-free operations, and evaluations of the architectures in the table."""

    ratios: tuple[float, ...]
    counts: dict[str, tuple[int, ...]]  # architectures by kind and ratio
    evaluated: dict[str, tuple[int, ...]]  # those of them that the table holds
    lines: tuple[RatioLine, ...]


def places_of(space: SearchSpace, codes: Codes) -> OperationPlaces:
    """The operations of architectures; raises for a space without parameter-free ones."""
    operations = space.operations
    if operations is None or not operations.parameter_free:
        raise InvalidOption(
            f"the space {space.name} has no parameter-free operation such as a skip connection or pooling"
        )
    return OperationPlaces(
        operations.places, operations.names, operations.parameter_free, space.operations_present(codes)
    )


def parameter_free_design(
    space: SearchSpace,
    codes: Codes,
    rng: np.random.Generator,
    *,
    ratios: tuple[float, ...] = RATIOS,
    repeats: int = REPEATS,
) -> ReplacementDesign:
    """Replace random operations by one kind of parameter-free operation until each ratio is met.

    An architecture that starts above a ratio is left out of it; one without operations, out of all.

    Args:
        space: The search space.
        codes: The architectures to change.
        rng: Chooses architectures and operations.
        ratios: The ratios of parameter-free operations.
        repeats: The number of changed architectures for each architecture and ratio.
    """
    codes = codes[rng.permutation(len(codes))[:MOST_CELLS]]
    places = places_of(space, codes)
    columns = np.array(places.columns)
    free = np.isin(codes[:, columns], [places.names.index(name) for name in places.parameter_free])
    total, already = places.present.sum(axis=1), (free & places.present).sum(axis=1)
    changed_codes, kinds, ratio_of, repeat_of = [], [], [], []
    for kind in (name for name in places.names if name in places.parameter_free):
        for ratio in ratios:
            target = np.round(ratio * total).astype(np.int64)
            usable = np.flatnonzero((target >= already) & (total > 0))
            for repeat in range(repeats):
                changed = codes[usable].copy()
                for row, number in enumerate(usable):
                    replaceable = np.flatnonzero(places.present[number] & ~free[number])
                    replaced = rng.permutation(replaceable)[: target[number] - already[number]]
                    changed[row, columns[replaced]] = places.names.index(kind)
                changed_codes.append(changed)
                kinds += [kind] * len(usable)
                ratio_of += [ratio] * len(usable)
                repeat_of += [repeat] * len(usable)
    return ReplacementDesign(
        space.canonical_codes(np.concatenate(changed_codes)), np.array(kinds), np.array(ratio_of), np.array(repeat_of)
    )


def parameter_free(data: ValidationData, design: ReplacementDesign, predicted: Mapping[str, Floats]) -> ParameterFree:
    """The design as lines: the predictions of each model, and the evaluations of architectures in the table."""
    codes, mean = data.architectures()
    rows = Lookup(codes).find(design.codes)
    truth = np.where(rows >= 0, mean[rows], np.nan)
    ratios = tuple(np.unique(design.ratio).tolist())
    kinds = list(dict.fromkeys(design.kind.tolist()))
    counts, evaluated, lines = {}, {}, []
    for kind in kinds:
        of_kind = design.kind == kind
        counts[kind] = tuple(int((of_kind & (design.ratio == ratio)).sum()) for ratio in ratios)
        in_table = of_kind & np.isfinite(truth)
        evaluated[kind] = tuple(int((in_table & (design.ratio == ratio)).sum()) for ratio in ratios)
        lines += [_line(kind, label, design, values, of_kind, ratios) for label, values in predicted.items()]
        if in_table.any():
            lines.append(_line(kind, TRUE, design, truth, in_table, ratios))
    return ParameterFree(ratios, counts, evaluated, tuple(lines))


def _line(
    kind: str, label: str, design: ReplacementDesign, values: Floats, rows: NDArray[np.bool_], ratios: tuple[float, ...]
) -> RatioLine:
    """The mean of values by ratio, and its deviation over repeats.

    Args:
        kind: The inserted operation.
        label: The name of the line.
        design: The changed architectures.
        values: Their predictions or evaluations.
        rows: Which of them count.
        ratios: The ratios of parameter-free operations.
    """
    means, deviations = [], []
    for ratio in ratios:
        at = rows & (design.ratio == ratio)
        by_repeat = [values[at & (design.repeat == repeat)].mean() for repeat in np.unique(design.repeat[at])]
        means.append(float(np.mean(by_repeat)) if by_repeat else float("nan"))
        deviations.append(float(np.std(by_repeat, ddof=1)) if len(by_repeat) > 1 else float("nan"))
    return RatioLine(kind, label, np.array(means), np.array(deviations))
