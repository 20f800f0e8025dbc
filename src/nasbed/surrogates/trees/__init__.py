"""Trees of LightGBM, XGBoost, scikit-learn and NGBoost as one compiled program."""

from __future__ import annotations

from nasbed.surrogates.trees.forest import Forest

__all__ = ["Forest"]
