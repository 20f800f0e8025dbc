"""Any ConfigSpace as a search space."""

from nasbed.spaces.from_configspace.space import FromConfigSpace, space_from_configspace, space_from_definition

__all__ = ["FromConfigSpace", "space_from_configspace", "space_from_definition"]
