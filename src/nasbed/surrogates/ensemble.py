"""Several members of one model, each fitted without another part of the data (Surrogate NAS Benchmarks, section
3.1.5)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption, NasbedError
from nasbed.core.execution.processes import ProcessPool
from nasbed.spaces.base import Codes, SearchSpace
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.base import Floats, Progress, Surrogate
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.noise import NoiseModel, learn_noise


@dataclass(frozen=True, slots=True)
class Prediction:
    """What an ensemble expects of each architecture."""

    mean: Floats
    spread: Floats
    """The standard deviation between members."""
    noise: Floats
    """The standard deviation between evaluations of the same architecture; without repeats the same as ``std``."""
    std: Floats
    """How far an evaluation may lie from the mean, calibrated: 90 % of them are within 1.645 of it."""


class Ensemble:
    """Fitted members and the model of their errors."""

    def __init__(self, members: Sequence[Surrogate[Any]], noise: NoiseModel) -> None:
        if not members:
            raise InvalidOption("an ensemble has at least 1 member, got none")
        self.members = tuple(members)
        self.noise = noise
        self.space = members[0].space

    def __getstate__(self) -> dict[str, Any]:
        """Everything but :attr:`predict_members`, which a copy computes from the members."""
        return {name: value for name, value in vars(self).items() if name != "predict_members"}

    @cached_property
    def predict_members(self) -> Callable[[Codes], Floats]:
        """What each member predicts, ``[n, members]``."""
        return joint(self.members)

    def predict(self, codes: Codes) -> Prediction:
        """The mean of the members and the deviations from it."""
        return self.summary(self.predict_members(codes))

    def summary(self, predictions: Floats) -> Prediction:
        """:meth:`predict` from what each member predicts."""
        mean, spread = _mean_and_spread(predictions)
        std = self.noise.total(mean, spread)
        return Prediction(mean, spread, self.noise.noise(mean, std), std)

    def mean_and_noise(self, predictions: list[float]) -> tuple[float, float]:
        """The mean and the noise of one architecture, bit for bit what :meth:`summary` gives."""
        mean, spread = _mean_and_spread_of_one(predictions)
        return mean, self.noise.noise_of_one(mean, spread)


def joint(models: Sequence[Surrogate[Any]]) -> Callable[[Codes], Floats]:
    """A function that predicts with several models at once, ``[n, models]``. Trees over the same features are one
    program; any other model predicts by itself."""
    groups: dict[object, list[int]] = {}
    for number, model in enumerate(models):
        groups.setdefault(number if model.joint_key is None else model.joint_key, []).append(number)
    parts = [
        (models[numbers[0]].predict_jointly([models[number] for number in numbers]), numbers)
        for numbers in groups.values()
    ]
    if len(parts) == 1:
        return parts[0][0]

    def predict(codes: Codes) -> Floats:
        predictions = np.empty((len(codes), len(models)))
        for predict_part, numbers in parts:
            predictions[:, numbers] = predict_part(codes)
        return predictions

    return predict


SINGLE_FOLDS = 10
"""An ensemble of one member leaves out as much as one of ten."""


def fit_ensemble(
    model: str | type[Surrogate[Any]],
    space: SearchSpace,
    examples: Examples,
    *,
    members: int = 10,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    processes: int = 1,
    progress: Progress | None = None,
) -> Ensemble:
    """Fit members by cross-validation. Each has its own seed, is fitted on all folds but its own, and stops early on
    that. All evaluations of an architecture are in one fold. Of thousands of architectures, a few are in no fold: they
    calibrate the noise.

    Args:
        model: The id of a model, or its class.
        space: The space of the architectures.
        examples: The evaluations.
        members: How many models are fitted.
        settings: What differs from the model's default settings.
        seed: Decides the folds and the seeds of the members.
        processes: How many members are fitted at a time. Several are new processes, so that a script needs the guard
            ``if __name__ == "__main__"``.
        progress: Called with the share that is done, from 0 to 1.
    """
    return ensemble_of(model, space, examples, FitOptions(members, settings, seed, processes, progress))


def ensemble_of(
    model: str | type[Surrogate[Any]], space: SearchSpace, examples: Examples, options: FitOptions
) -> Ensemble:
    """:func:`fit_ensemble` with its options as one value."""
    fit = fit_folds(model, space, [examples], options)
    return Ensemble(fit.models, ensemble_noise(joint(fit.models), examples, fit.predicted[:, 0], fit.fold < 0))


@dataclass(frozen=True, slots=True)
class FoldFit:
    """Models fitted by cross-validation on one or several targets of the same rows: those of the first member first.
    ``fold`` is that of each row, -1 where no member has seen it; ``predicted [rows, targets]`` is by the member that
    was not fitted on a row, NaN where there is none."""

    models: list[Surrogate[Any]]
    fold: NDArray[np.int64]
    predicted: Floats


@dataclass(frozen=True, slots=True)
class FitOptions:
    """What :func:`fit_ensemble` describes: the number of members, settings that differ from the model's, the seed, how
    many models are fitted at a time, and what is called with the share that is done."""

    members: int = 10
    settings: Mapping[str, Any] | None = None
    seed: int = 0
    processes: int = 1
    progress: Progress | None = None


def fit_folds(
    model: str | type[Surrogate[Any]], space: SearchSpace, targets: Sequence[Examples], options: FitOptions
) -> FoldFit:
    """Fit a model for each member and target, as :func:`fit_ensemble` describes. ``targets`` are the same rows with
    different values."""
    members, settings, processes, progress = options.members, options.settings, options.processes, options.progress
    kind = SURROGATES.get(model) if isinstance(model, str) else model
    if members < 1 or processes < 1:
        raise InvalidOption(f"an ensemble has at least 1 member and 1 process, got {members} and {processes}")
    rng = np.random.default_rng(options.seed)
    fold = _folds(targets[0], max(members, SINGLE_FOLDS if members == 1 else 2), rng)
    seeds = rng.integers(1 << 31, size=members * len(targets)).tolist()
    numbered = [(number, target) for number in range(members) for target in targets]
    jobs = [
        _MemberFit(kind, space, target.take((fold >= 0) & (fold != number)), target.take(fold == number), settings, own)
        for (number, target), own in zip(numbered, seeds, strict=True)
    ]
    fitted = list(_serially(jobs, progress) if processes == 1 else _at_once(jobs, processes, progress))
    predicted = np.full((len(fold), len(targets)), np.nan)
    for place, member in enumerate(fitted):
        number, column = divmod(place, len(targets))
        rows = fold == number
        predicted[rows, column] = member.predict(targets[0].codes[rows])
    return FoldFit(fitted, fold, predicted)


def ensemble_noise(
    answers: Callable[[Codes], Floats], examples: Examples, predicted: Floats, unseen: NDArray[np.bool_]
) -> NoiseModel:
    """The noise model of out-of-fold predictions (NaN where missing) and of the rows that no member has seen;
    ``answers`` is what each member predicts, ``[n, members]``."""
    out_of_fold = np.flatnonzero(~np.isnan(predicted))
    calibration = None
    if unseen.any():
        calibration = (examples.y[unseen], *_mean_and_spread(answers(examples.codes[unseen])))
        spread = np.zeros(len(out_of_fold))
    else:
        spread = _mean_and_spread(answers(examples.codes[out_of_fold]))[1]
    return learn_noise(
        examples.y[out_of_fold],
        predicted[out_of_fold],
        spread,
        examples.architecture[out_of_fold],
        calibration=calibration,
    )


def _mean_and_spread(predictions: Floats) -> tuple[Floats, Floats]:
    """Added up member by member, as :func:`_mean_and_spread_of_one` does."""
    mean = predictions[:, 0].copy()
    for column in predictions.T[1:]:
        mean += column
    mean /= predictions.shape[1]
    squares = np.zeros(len(predictions))
    for column in predictions.T:
        residual = column - mean
        squares += residual * residual
    return mean, np.sqrt(squares / predictions.shape[1])


def _mean_and_spread_of_one(predictions: list[float]) -> tuple[float, float]:
    mean = predictions[0]
    for value in predictions[1:]:
        mean += value
    mean /= len(predictions)
    squares = 0.0
    for value in predictions:
        residual = value - mean
        squares += residual * residual
    return mean, math.sqrt(squares / len(predictions))


HELD_SHARE = 0.05
FEWEST_HELD, MOST_HELD = 100, 500
"""Which share of the architectures no member sees, to calibrate the noise; none where that is few."""


def _folds(examples: Examples, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The fold of each row, -1 for those that no member sees."""
    unique, owner = np.unique(examples.architecture, return_inverse=True)
    count = len(unique)
    if count < 2 * folds:
        raise InvalidOption(
            f"{folds} folds need at least {2 * folds} architectures, got {count}; use fewer members or more data"
        )
    held_out = min(int(HELD_SHARE * count), MOST_HELD)
    held_out = held_out if held_out >= FEWEST_HELD else 0
    part = np.empty(count, dtype=np.int64)
    order = rng.permutation(count)
    part[order[:held_out]] = -1
    part[order[held_out:]] = np.arange(count - held_out) % folds
    return part[owner]


@dataclass(frozen=True, slots=True)
class _MemberFit:
    """One member to be fitted."""

    kind: type[Surrogate[Any]]
    space: SearchSpace
    train: Examples
    valid: Examples
    settings: Mapping[str, Any] | None
    seed: int

    def fit(self, progress: Progress | None = None) -> Surrogate[Any]:
        member = self.kind(self.space, seed=self.seed, settings=self.settings)
        try:
            member.fit(self.train, self.valid, progress)
        except NasbedError:
            raise
        except Exception as error:  # each library has its own for a setting that it refuses
            reason = " ".join(str(error).split())[:200]
            raise InvalidOption(f"{self.kind.name} could not be fitted: {reason}; check its settings") from error
        return member

    def files(self) -> dict[str, bytes]:
        """The fitted member in a form that can cross processes, whatever library holds it."""
        return self.fit().dump()

    def restore(self, files: Mapping[str, bytes]) -> Surrogate[Any]:
        settings = asdict(self.kind(self.space, seed=self.seed, settings=self.settings).settings)
        return self.kind.restore(files, self.space, settings, self.seed)


def _serially(jobs: Sequence[_MemberFit], progress: Progress | None) -> Iterator[Surrogate[Any]]:
    def report_member(number: int) -> Progress | None:
        return None if progress is None else lambda share: progress((number + share) / len(jobs))

    for number, job in enumerate(jobs):
        tell = report_member(number)
        yield job.fit(tell)
        if tell is not None:
            tell(1.0)


def _one_thread() -> None:
    """Use one thread: the other cores fit other members. The libraries are not loaded yet and follow this."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def _at_once(jobs: Sequence[_MemberFit], processes: int, progress: Progress | None) -> list[Surrogate[Any]]:
    pool = ProcessPool(min(processes, len(jobs)), _one_thread)
    try:
        waiting = {pool.submit(_files_of, job): number for number, job in enumerate(jobs)}
        fitted_files: dict[int, Mapping[str, bytes]] = {}
        for future in as_completed(waiting):
            fitted_files[waiting[future]] = future.result()
            if progress is not None:
                progress(len(fitted_files) / len(jobs))
    finally:
        pool.close()
    return [job.restore(fitted_files[number]) for number, job in enumerate(jobs)]


def _files_of(job: _MemberFit) -> dict[str, bytes]:
    return job.files()
