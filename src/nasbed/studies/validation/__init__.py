"""The checks of the Surrogate NAS Benchmarks paper, for a surrogate or for models on any table of results.

Names resolve on first use, so that the command is listed without loading the models.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nasbed.studies.validation.artefact_validation import validate_artefact
    from nasbed.studies.validation.fit_tasks import SurrogateRecipe
    from nasbed.studies.validation.parts import ValidationOptions
    from nasbed.studies.validation.study import Validation, validate_results

__all__ = ["SurrogateRecipe", "Validation", "ValidationOptions", "validate_artefact", "validate_results"]

_MODULES = {"validate_artefact": "artefact_validation", "SurrogateRecipe": "fit_tasks"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(
            f"module 'nasbed.studies.validation' has no attribute {name!r}; it offers {', '.join(__all__)}"
        )
    return getattr(import_module(f"nasbed.studies.validation.{_MODULES.get(name, 'study')}"), name)
