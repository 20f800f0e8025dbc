"""The options of one-shot methods: the keywords that their constructors take."""

from __future__ import annotations

import inspect
from typing import Any


def option_defaults(kind: type) -> dict[str, Any]:
    """The keywords of a method: its own, and those of its base classes if it passes others on."""
    defaults: dict[str, Any] = {}
    for owner in kind.__mro__:
        if owner is object or "__init__" not in vars(owner):
            continue
        parameters = inspect.signature(vars(owner)["__init__"]).parameters.values()
        for parameter in parameters:
            optional = parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty
            if optional and parameter.name != "seed":
                defaults.setdefault(parameter.name, parameter.default)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            break
    return defaults
