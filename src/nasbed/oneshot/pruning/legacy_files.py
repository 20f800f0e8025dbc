"""Records and checkpoints of Bonsai-Net as it wrote them before it shared those of all methods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, shorten
from nasbed.oneshot.trajectory import SearchEpoch
from nasbed.spaces.bonsai.genotype import BonsaiGenotype

EARLIER_FORMAT = "nasbed bonsai record 1"


def read_earlier_epoch(stored: Mapping[str, Any]) -> SearchEpoch:
    """An epoch; pruners were not stored."""
    genotype, accuracy = _genotype(stored["architecture"]), stored["validation_accuracy"]
    if genotype.kept != stored["operations"]:
        raise BadFile(f"epoch {shorten(stored['epoch'])} does not have the operations that it counts")
    return SearchEpoch(
        epoch=int(stored["epoch"]),
        architecture=genotype.architecture,
        validation_accuracy=None if accuracy is None else float(accuracy),
        train_loss=float(stored["train_loss"]),
        skips=genotype.skips(),
        parameters={},
        search_time_s=float(stored["search_time_s"]),
        figures={
            "operations": genotype.kept,
            "network_parameters": int(stored["parameters"]),
            "present": int(stored["present"]),
            "size": float(stored["size"]),
            "compression_loss": float(stored["compression_loss"]),
        },
    )


def read_earlier_architecture(stored: Any) -> Architecture | None:
    """The architecture of a record, or of a result on an unseen dataset: JSON, or what is read from it."""
    return None if stored is None else _genotype(stored).architecture


def _genotype(stored: Any) -> BonsaiGenotype:
    return BonsaiGenotype.from_json(stored if isinstance(stored, str) else json.dumps(stored))
