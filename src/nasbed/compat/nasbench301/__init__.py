"""What ``import nasbench301`` finds once the drop-ins are installed: NAS-Bench-301's interface over surrogates of the
DARTS space, those of nasbed and the published ones."""

from __future__ import annotations

from nasbed.compat.nasbench301._surrogates import PerformanceEnsemble, RuntimeEnsemble
from nasbed.compat.nasbench301.api import load_ensemble
from nasbed.compat.nasbench301.model_downloader import download_models
from nasbed.core.former_names import former

__all__ = ["PerformanceEnsemble", "RuntimeEnsemble", "download_models", "load_ensemble"]
__getattr__ = former(
    "nasbed.compat.nasbench301", {"Ensemble": "nasbed.compat.nasbench301:PerformanceEnsemble"}, until="0.3"
)
