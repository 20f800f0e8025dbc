"""Models that predict an evaluation from the architecture, and what makes benchmarks of them."""

from __future__ import annotations

from typing import Any

from nasbed.core.registry import Registry
from nasbed.surrogates.base import Surrogate
from nasbed.surrogates.examples import Examples

SURROGATES: Registry[type[Surrogate[Any]]] = Registry("surrogate", group="nasbed.surrogates")
SURROGATES.add_entries(
    "nasbed.surrogates",
    {
        "lgb": "models.lgb:LightGBM",
        "xgb": "models.xgb:XGBoost",
        "ngb": "models.ngb:NGBoost",
        "rf": "models.random_forest:RandomForest",
        "svr": "models.support_vectors:EpsilonSVR",
        "nusvr": "models.support_vectors:NuSVR",
        "gin": "models.gin:GIN",
        "mlp": "models.mlp:MLP",
        "smooth": "smoothed:Smoothed",
    },
)

__all__ = ["SURROGATES", "Examples", "Surrogate"]
