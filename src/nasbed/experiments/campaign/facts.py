"""The facts of a campaign in its journal, as plain values, and the objects that they describe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nasbed.core.code_fingerprint import named_file
from nasbed.core.errors import UnknownName
from nasbed.core.metric import Metric
from nasbed.experiments.campaign.plan import DRAWN, Campaign
from nasbed.experiments.campaign.provenance import CodeVersion
from nasbed.experiments.campaign.trainer import Trainer
from nasbed.experiments.campaign.trajectories import searched_architectures, trajectories_identity
from nasbed.experiments.provenance import method_origin, source_fingerprint
from nasbed.spaces import space as registered_space
from nasbed.spaces.base import SearchSpace


def facts_of(campaign: Campaign, trainer: Trainer) -> dict[str, Any]:
    """The facts with which a journal is created. ``campaign`` and ``trainer`` are compared when it is resumed."""
    identity = campaign.identity() | {"space": trainer.space.name}
    if campaign.trajectories is not None:
        identity["trajectories"] = trajectories_identity(searched_architectures(campaign, trainer.space))
    return {
        "campaign": identity,
        "trainer": trainer.identity() | {"space_definition": trainer.space.definition()},
        "space": trainer.space.name,
        "metrics": [metric.to_json() for metric in trainer.metrics],
        "objective": trainer.objective.key,
        "fidelities": list(trainer.fidelities),
        "fidelity_unit": trainer.fidelity_unit,
        "dataset": trainer.dataset,
        "recipe": trainer.recipe_name,
        "file": campaign.toml(),
    }


def campaign_code(campaign: Campaign, trainer: Trainer) -> dict[str, CodeVersion]:
    """The user's code that determines trials and results: that of the trainer, and of methods that propose."""
    versions = trainer.code()
    for name in campaign.methods:
        if name not in DRAWN:
            fingerprint, file = source_fingerprint(method_origin(name)), named_file(name)
            if fingerprint:
                versions[f"method {name}"] = CodeVersion(fingerprint, "" if file is None else str(file))
    return versions


def metrics_of(facts: Mapping[str, Any]) -> tuple[Metric, ...]:
    """The metrics, in their order."""
    return tuple(map(Metric.from_json, facts["metrics"]))


def space_of_journal(facts: Mapping[str, Any]) -> SearchSpace | None:
    """The space, where the journal is enough to know it: a registered one, or one made from a ConfigSpace."""
    definition = facts["trainer"].get("space_definition")
    if definition is not None:
        from nasbed.spaces.from_configspace import space_from_definition

        return space_from_definition(definition, facts["space"])
    try:
        return registered_space(facts["space"])
    except UnknownName:
        return None
