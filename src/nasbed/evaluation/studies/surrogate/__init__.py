"""Whether a surrogate can be trusted: the checks of the Surrogate NAS Benchmarks on any table of results."""

from nasbed.evaluation.studies.surrogate.artefact_validation import validate_artefact
from nasbed.evaluation.studies.surrogate.fitting import Recipe
from nasbed.evaluation.studies.surrogate.validation import Options, Validation, validate_results

__all__ = ["Options", "Recipe", "Validation", "validate_artefact", "validate_results"]
