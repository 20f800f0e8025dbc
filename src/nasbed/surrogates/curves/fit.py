"""Fits one surrogate over all fidelities of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.spaces.base import SearchSpace
from nasbed.surrogates.base import Surrogate
from nasbed.surrogates.curves.basis import CurveBasis
from nasbed.surrogates.curves.model import CurveModel, noise_correlation, time_shares
from nasbed.surrogates.ensemble import FitOptions, ensemble_noise, fit_folds, joint
from nasbed.surrogates.examples import Examples


@dataclass(frozen=True, slots=True)
class FittedCurves:
    """The models of all members, those of one member next to each other, and what makes curves of them."""

    models: tuple[Surrogate[Any], ...]
    curves: CurveModel


def fit_curves(
    model: str | type[Surrogate[Any]], space: SearchSpace, examples: Examples, options: FitOptions
) -> FittedCurves:
    """Fit members on the coefficients of curves, with the folds of :func:`~nasbed.surrogates.ensemble.fit_ensemble`.
    Each member has a model for each coefficient. ``examples`` are trainings with their levels."""
    levels = examples.levels
    if levels is None:
        raise InvalidOption("curves are fitted on examples at all fidelities, got those of one; use fit_ensemble")
    basis = CurveBasis.of(levels.y, examples.architecture)
    targets = [replace(examples, y=column, levels=None) for column in basis.coefficients(levels.y).T]
    fit = fit_folds(model, space, targets, options)
    predict_all = joint(fit.models)
    out_of_fold = np.flatnonzero(~np.isnan(fit.predicted).any(axis=1))
    noise, predicted = [], []
    for place, fidelity in enumerate(levels.fidelities):
        at_place = np.full(len(examples), np.nan)
        at_place[out_of_fold] = basis.values(fit.predicted[out_of_fold], place)[:, 0]

        def answers(codes: Any, place: int = place) -> Any:
            return basis.values(predict_all(codes), place)

        noise.append(ensemble_noise(answers, examples.at(fidelity), at_place, fit.fold < 0))
        predicted.append(at_place[out_of_fold])
    correlation = noise_correlation(
        levels.y[out_of_fold], np.stack(predicted, axis=1), examples.architecture[out_of_fold], noise
    )
    curves = CurveModel(levels.fidelities, basis, tuple(noise), correlation, time_shares(levels.cost_s))
    return FittedCurves(tuple(fit.models), curves)
