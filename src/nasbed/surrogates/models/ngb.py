"""NGBoost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, MissingDependency
from nasbed.spaces.base import SearchSpace
from nasbed.surrogates.base import Files, Floats, Progress
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.models.tree_model import TreeModel
from nasbed.surrogates.trees.forest import Forest
from nasbed.surrogates.trees.sklearn_trees import forest_from_sklearn

LOG_SCALE = "log_scale.npz"


@dataclass(frozen=True, slots=True)
class NGBoostSettings:
    """Table 6 of the Surrogate NAS Benchmarks leaves NGBoost out; ranges and defaults are those of the configuration
    space in their code (automl/nasbench301). ``early_stopping_rounds`` 0 runs all rounds."""

    learning_rate: float = 0.0813
    rounds: int = 505
    minibatch: float = 0.5082
    max_depth: int = 6
    max_features: float = 0.792
    min_samples_split: int = 20
    min_samples_leaf: int = 15
    early_stopping_rounds: int = 100
    features: str = "onehot+costs+structure"


class NGBoost(TreeModel[NGBoostSettings]):
    """Boosting along the natural gradient, of the mean and the scale of a normal distribution (Duan et al. 2020).
    ``forest`` gives the mean; :meth:`scale` is the model's own standard deviation."""

    name = "ngb"
    summary = "NGBoost: boosting of a normal distribution's mean and scale"
    Settings: ClassVar[type] = NGBoostSettings

    def _grow(self, train: Examples, valid: Examples | None, progress: Progress) -> tuple[Forest, dict[str, bytes]]:
        try:
            from ngboost import NGBRegressor
        except ImportError:
            raise MissingDependency("ngb needs ngboost; install it with: pip install 'nasbed[ngboost]'") from None

        settings = self.settings
        rounds = 0

        def report_round(distribution: Any, y: Floats, weight: Floats | None) -> float:
            nonlocal rounds
            progress(rounds / settings.rounds)
            rounds += 1
            return float(distribution.total_score(y, sample_weight=weight))

        model = NGBRegressor(
            Base=_Trees(settings, np.random.default_rng(self.seed)),
            n_estimators=settings.rounds,
            learning_rate=settings.learning_rate,
            minibatch_frac=settings.minibatch,
            random_state=self.seed & 0x7FFFFFFF,
            verbose=False,
        )
        rows = self.features(train.codes)
        if valid is None:
            model.fit(rows, train.y, train_loss_monitor=report_round)
        else:
            model.fit(
                rows,
                train.y,
                X_val=self.features(valid.codes),
                Y_val=valid.y,
                train_loss_monitor=report_round,
                early_stopping_rounds=settings.early_stopping_rounds,
            )
        mean, log_scale = forests_from_ngboost(model)
        return mean, {LOG_SCALE: log_scale.dump()}

    @cached_property
    def log_scale(self) -> Forest:
        """The program of the logarithm of the standard deviation."""
        if LOG_SCALE not in self._native:
            raise self._not_fitted()
        return Forest.restore(self._native[LOG_SCALE])

    def scale(self, codes: NDArray[np.int64]) -> Floats:
        """The standard deviation that the model gives to each architecture's evaluations."""
        scale: Floats = np.exp(self.log_scale.predict(self.features(codes))[:, 0])
        return scale

    @classmethod
    def restore(cls, files: Files, space: SearchSpace, settings: Mapping[str, Any], seed: int) -> TreeModel[Any]:
        if LOG_SCALE not in files:
            raise BadFile(f"a fitted ngb model has the file {LOG_SCALE}, got {', '.join(sorted(files)) or 'none'}")
        return super().restore(files, space, settings, seed)


class _Trees:
    """What NGBoost clones for each tree. It would give each the same seed, and with it the same features."""

    def __init__(self, settings: NGBoostSettings, rng: np.random.Generator) -> None:
        self._settings = settings
        self._rng = rng

    def __sklearn_clone__(self) -> Any:
        from sklearn.tree import DecisionTreeRegressor

        return DecisionTreeRegressor(
            max_depth=self._settings.max_depth,
            max_features=self._settings.max_features,
            min_samples_split=self._settings.min_samples_split,
            min_samples_leaf=self._settings.min_samples_leaf,
            random_state=int(self._rng.integers(1 << 31)),
        )


def forests_from_ngboost(model: Any) -> tuple[Forest, Forest]:
    """The mean and the logarithm of the scale of a fitted ``NGBRegressor`` over the normal distribution and all
    columns, up to its best iteration."""
    best = model.best_val_loss_itr
    count = len(model.base_models) if best is None else best + 1
    scalings = model.scalings

    def member(column: int) -> Forest:
        return forest_from_sklearn(
            [trees[column] for trees in model.base_models[:count]],
            start=float(model.init_params[column]),
            value=lambda position, leaves: -(model.learning_rate * leaves * scalings[position]),
        )

    return member(0), member(1)
