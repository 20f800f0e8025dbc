"""XGBoost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from nasbed.surrogates.base import Progress
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.models.tree_model import TreeModel, packed, unit
from nasbed.surrogates.trees.forest import Forest
from nasbed.surrogates.trees.xgboost_json import forest_from_xgboost

LEAST_SHARE = 1e-6
"""What stands for the 0 in Table 6's ranges of column shares, which XGBoost refuses: a single column."""


@dataclass(frozen=True, slots=True)
class XGBoostSettings:
    """Table 6 of the Surrogate NAS Benchmarks."""

    learning_rate: float = 0.00824
    max_depth: int = 13
    min_child_weight: float = 39
    colsample_bylevel: float = 0.6909
    colsample_bytree: float = 0.2545
    lambda_l1: float = 0.2417
    """Their alpha, in units of the target's standard deviation."""
    lambda_l2: float = 31.3933
    """Their lambda."""
    early_stopping_rounds: int = 100
    """The patience; 0 runs all rounds."""
    rounds: int = 20_000
    """From their code (automl/nasbench301), where fits stop long before."""
    features: str = "onehot+costs+structure"


class XGBoost(TreeModel[XGBoostSettings]):
    """Gradient-boosted trees that grow level by level (Chen and Guestrin 2016)."""

    name = "xgb"
    summary = "XGBoost: gradient boosting, trees grown level by level"
    Settings: ClassVar[type] = XGBoostSettings

    def _grow(self, train: Examples, valid: Examples | None, progress: Progress) -> tuple[Forest, dict[str, bytes]]:
        import xgboost

        settings = self.settings

        class ReportRound(xgboost.callback.TrainingCallback):
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                progress((epoch + 1) / settings.rounds)
                return False

        def matrix(examples: Examples) -> xgboost.DMatrix:
            return xgboost.DMatrix(self.features(examples.codes), label=examples.y, nthread=self.threads)

        parameters = {
            "objective": "reg:squarederror",
            "eval_metric": "rmse",
            "booster": "gbtree",
            "tree_method": "hist",
            "learning_rate": settings.learning_rate,
            "max_depth": settings.max_depth,
            "min_child_weight": settings.min_child_weight,
            "colsample_bylevel": max(settings.colsample_bylevel, LEAST_SHARE),
            "colsample_bytree": max(settings.colsample_bytree, LEAST_SHARE),
            "alpha": settings.lambda_l1 * unit(train.y),
            "lambda": settings.lambda_l2,
            "seed": self.seed & 0x7FFFFFFF,
            "nthread": self.threads,
            "verbosity": 0,
        }
        booster = xgboost.train(
            parameters,
            matrix(train),
            settings.rounds,
            evals=[] if valid is None else [(matrix(valid), "valid")],
            early_stopping_rounds=None if valid is None else settings.early_stopping_rounds,
            callbacks=[ReportRound()],
            verbose_eval=False,
        )
        if valid is not None:
            booster = booster[: booster.best_iteration + 1]
        text = bytes(booster.save_raw("json"))
        return forest_from_xgboost(text), {"xgboost.json.gz": packed(text)}
