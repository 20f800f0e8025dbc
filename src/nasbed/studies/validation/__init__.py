"""Whether a surrogate can be trusted: the checks of the Surrogate NAS Benchmarks on any table of results.

Nothing is loaded before it is used: the command is listed without the models.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nasbed.studies.validation.artefact_validation import validate_artefact
    from nasbed.studies.validation.fitting import Recipe
    from nasbed.studies.validation.study import Options, Validation, validate_results

__all__ = ["Options", "Recipe", "Validation", "validate_artefact", "validate_results"]

_MODULES = {"validate_artefact": "artefact_validation", "Recipe": "fitting"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(
            f"module 'nasbed.studies.validation' has no attribute {name!r}; it offers {', '.join(__all__)}"
        )
    return getattr(import_module(f"nasbed.studies.validation.{_MODULES.get(name, 'study')}"), name)
