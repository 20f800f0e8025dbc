"""A space of a user's own. It is apart from the trainers, whose processes need not import ConfigSpace."""

from __future__ import annotations

from ConfigSpace import ConfigurationSpace

own_space = ConfigurationSpace({"depth": (1, 40), "kind": ["plain", "dense", "residual"], "width": (8, 64)})
