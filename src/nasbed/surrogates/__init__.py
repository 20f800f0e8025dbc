"""Models that predict an evaluation from the architecture, and what makes benchmarks of them."""

from __future__ import annotations

from typing import Any

from nasbed.core.registry import Registry
from nasbed.surrogates.base import Surrogate
from nasbed.surrogates.examples import Examples

SURROGATES: Registry[type[Surrogate[Any]]] = Registry("surrogate", group="nasbed.surrogates")
SURROGATES.add("lgb", "nasbed.surrogates.models.lgb:LightGBM")
SURROGATES.add("xgb", "nasbed.surrogates.models.xgb:XGBoost")
SURROGATES.add("ngb", "nasbed.surrogates.models.ngb:NGBoost")
SURROGATES.add("rf", "nasbed.surrogates.models.random_forest:RandomForest")
SURROGATES.add("svr", "nasbed.surrogates.models.support_vectors:EpsilonSVR")
SURROGATES.add("nusvr", "nasbed.surrogates.models.support_vectors:NuSVR")
SURROGATES.add("gin", "nasbed.surrogates.models.gin:GIN")
SURROGATES.add("mlp", "nasbed.surrogates.models.mlp:MLP")
SURROGATES.add("smooth", "nasbed.surrogates.smoothed:Smoothed")

__all__ = ["SURROGATES", "Examples", "Surrogate"]
