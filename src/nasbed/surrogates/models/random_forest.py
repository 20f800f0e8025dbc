"""Random forest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nasbed.surrogates.base import Progress
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.models.tree_model import TreeModel
from nasbed.surrogates.trees.forest import Forest
from nasbed.surrogates.trees.sklearn_trees import forest_from_sklearn

STEPS = 20
"""How often a fit says how far it is."""


@dataclass(frozen=True, slots=True)
class RandomForestSettings:
    """Table 6 of the Surrogate NAS Benchmarks."""

    trees: int = 116
    min_samples_split: int = 2
    min_samples_leaf: int = 2
    max_features: float = 0.1706
    bootstrap: bool = False
    features: str = "onehot+costs+structure"


class RandomForest(TreeModel[RandomForestSettings]):
    """The mean of trees, each split chosen among a random part of the features (Breiman 2001), by scikit-learn."""

    name = "rf"
    summary = "random forest: the mean of randomised trees"
    Settings: ClassVar[type] = RandomForestSettings

    def _grow(self, train: Examples, valid: Examples | None, progress: Progress) -> tuple[Forest, dict[str, bytes]]:
        from sklearn.ensemble import RandomForestRegressor

        settings = self.settings
        model = RandomForestRegressor(
            min_samples_split=settings.min_samples_split,
            min_samples_leaf=settings.min_samples_leaf,
            max_features=settings.max_features,
            bootstrap=bool(settings.bootstrap),
            random_state=self.seed & 0x7FFFFFFF,
            n_jobs=self.threads,
            warm_start=True,
        )
        rows = self.features(train.codes)
        grown = 0
        for step in range(1, STEPS + 1):
            count = settings.trees * step // STEPS
            if count > grown:
                model.set_params(n_estimators=count).fit(rows, train.y)
                grown = count
            progress(step / STEPS)
        return forest_from_sklearn(model.estimators_, divisor=len(model.estimators_)), {}
