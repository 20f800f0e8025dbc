"""Random forest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nasbed.surrogates.base import Progress
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.models.tree_model import TreeModel
from nasbed.surrogates.trees.forest import Forest
from nasbed.surrogates.trees.sklearn_trees import forest_from_sklearn

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace

STEPS = 20
"""How often a fit says how far it is."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Table 6 of the Surrogate NAS Benchmarks."""

    trees: int = 116
    min_samples_split: int = 2
    min_samples_leaf: int = 2
    max_features: float = 0.1706
    bootstrap: bool = False
    features: str = "onehot+costs+structure"


class RandomForest(TreeModel[Settings]):
    """The mean of trees, each split chosen among a random part of the features (Breiman 2001), by scikit-learn."""

    name = "rf"
    summary = "random forest: the mean of randomised trees"
    Settings = Settings

    @classmethod
    def tuning_space(cls) -> ConfigurationSpace:
        from ConfigSpace import Categorical, ConfigurationSpace, Float, Integer

        space = ConfigurationSpace()
        usual = Settings()
        space.add(
            Integer("trees", (16, 128), default=usual.trees, log=True),
            Integer("min_samples_split", (2, 20), default=usual.min_samples_split),
            Integer("min_samples_leaf", (1, 20), default=usual.min_samples_leaf),
            Float("max_features", (0.1, 1.0), default=usual.max_features),
            Categorical("bootstrap", (True, False), default=usual.bootstrap),
        )
        return space

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
            wanted = settings.trees * step // STEPS
            if wanted > grown:
                model.set_params(n_estimators=wanted).fit(rows, train.y)
                grown = wanted
            progress(step / STEPS)
        return forest_from_sklearn(model.estimators_, divisor=len(model.estimators_)), {}
