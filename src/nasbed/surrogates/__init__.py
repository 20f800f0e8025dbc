"""Models that predict an evaluation from the architecture, and what makes benchmarks of them."""

from __future__ import annotations

from typing import Any

from nasbed.core.registry import Registry
from nasbed.surrogates.base import Surrogate
from nasbed.surrogates.examples import Examples

SURROGATES: Registry[type[Surrogate[Any]]] = Registry("surrogate", group="nasbed.surrogates")
for _name, _target in {
    "lgb": "nasbed.surrogates.models.lgb:LightGBM",
    "xgb": "nasbed.surrogates.models.xgb:XGBoost",
    "ngb": "nasbed.surrogates.models.ngb:NGBoost",
    "rf": "nasbed.surrogates.models.random_forest:RandomForest",
    "svr": "nasbed.surrogates.models.support_vectors:EpsilonSVR",
    "nusvr": "nasbed.surrogates.models.support_vectors:NuSVR",
    "gin": "nasbed.surrogates.models.gin:GIN",
    "mlp": "nasbed.surrogates.models.mlp:MLP",
    "smooth": "nasbed.surrogates.smoothed:Smoothed",
}.items():
    SURROGATES.add(_name, _target)

__all__ = ["SURROGATES", "Examples", "Surrogate"]
