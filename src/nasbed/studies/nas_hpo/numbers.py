"""The numbers of the study of NAS-HPO-Bench, for ``numbers.json``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nasbed.core.json_values import plain
from nasbed.studies.nas_hpo.study import PUBLISHED, NasHpoResult


def nas_hpo_numbers(results: Sequence[NasHpoResult]) -> dict[str, Any]:
    """All correlations of the study of section 5.1, and the published one."""
    numbers: dict[str, Any] = plain(
        {
            "published_protein_spearman": PUBLISHED,
            "results": [
                {
                    "table": result.name,
                    "architecture": result.definition,
                    "architectures": result.architectures,
                    "hyperparameters": result.hyperparameters,
                    "metric": result.metric.key,
                    "spearman": result.transfer.spearman,
                    "spearman_by_seed": result.by_seed,
                    "fixed_hyperparameters": result.fixed,
                }
                for result in results
            ],
        }
    )
    return numbers
