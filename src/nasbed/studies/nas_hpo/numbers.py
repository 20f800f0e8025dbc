"""Every number of the study of NAS-HPO-Bench, for ``numbers.json``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nasbed.core.json_values import plain
from nasbed.studies.nas_hpo.study import PUBLISHED, NasHpoResult


def nas_hpo_numbers(results: Sequence[NasHpoResult]) -> dict[str, Any]:
    """Every correlation of the study of section 5.1, beside the published one."""
    found: dict[str, Any] = plain(
        {
            "published_protein_spearman": PUBLISHED,
            "results": [
                {
                    "table": each.name,
                    "architecture": each.definition,
                    "architectures": each.architectures,
                    "hyperparameters": each.hyperparameters,
                    "metric": each.metric.key,
                    "spearman": each.transfer.spearman,
                    "spearman_by_seed": each.by_seed,
                    "fixed_hyperparameters": each.fixed,
                }
                for each in results
            ],
        }
    )
    return found
