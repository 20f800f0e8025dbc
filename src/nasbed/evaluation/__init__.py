"""Evaluation: pure functions from measurements to statistics. Studies apply them to a whole table.

Measurements are arrays. Some functions take the runs of a comparison and the benchmark that judges them, or a file of
scores and its table: they ask these objects for arrays, and import their classes for type checking alone. Nothing here
trains, starts a process or touches a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nasbed.core.former_names import former_module

if TYPE_CHECKING:
    from nasbed.evaluation.transfer import Transfer, hyperparameter_transfer

__all__ = ["Transfer", "hyperparameter_transfer"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'nasbed.evaluation' has no attribute {name!r}; it offers {', '.join(__all__)}")
    from nasbed.evaluation import transfer

    return getattr(transfer, name)


_FORMER_STUDIES = {
    "landscape": {"landscape_study": "nasbed.studies.landscape.study:landscape_study"},
    "one_shot": {"one_shot_study": "nasbed.studies.one_shot.study:one_shot_study"},
    "surrogate": {
        "Options": "nasbed.studies.validation:ValidationOptions",
        "Recipe": "nasbed.studies.validation:SurrogateRecipe",
        "Validation": "nasbed.studies.validation:Validation",
        "validate_artefact": "nasbed.studies.validation:validate_artefact",
        "validate_results": "nasbed.studies.validation:validate_results",
    },
    "unseen_baseline": {"measured_baseline": "nasbed.experiments.unseen.baseline:measured_baseline"},
    "unseen_nas": {"measured_nas": "nasbed.experiments.unseen.nas:measured_nas"},
    "unseen_nas_budget": {"NasBudget": "nasbed.experiments.unseen.budget:NasBudget"},
    "unseen_nas_runs": {
        "NasPlan": "nasbed.experiments.unseen.runs:NasPlan",
        "measure": "nasbed.experiments.unseen.runs:measure",
    },
    "unseen_results": {"append_result": "nasbed.experiments.unseen.results:append_result"},
    "zero_cost_statements": {"statements": "nasbed.studies.zero_cost.statements:statements"},
}
former_module("nasbed.evaluation.studies", {}, until="0.3")
for _module, _names in _FORMER_STUDIES.items():
    former_module(f"nasbed.evaluation.studies.{_module}", _names, until="0.3")
