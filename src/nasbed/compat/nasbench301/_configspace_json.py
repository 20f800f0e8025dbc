"""The published ``configspace.json`` for the ConfigSpace of today.

ConfigSpace 0.4 wrote it. Since version 1.0 ConfigSpace reads no normal distribution without bounds, and the file has
two: the learning rate and the weight decay, which no published model depends on. They get bounds here.
"""

from __future__ import annotations

import json
import sys
from functools import wraps
from typing import Any

MODULE = "ConfigSpace.read_and_write.json"
NORMALS = ("normal_float", "normal_int")
REACH = 1000.0
"""How many times smaller or larger than its centre, or how many deviations off, a value may be."""


def read_unbounded_normals() -> None:
    """Let ``ConfigSpace.read_and_write.json.read`` read such a file, if the script has imported it. Files that it reads
    without help are read as before."""
    module = sys.modules.get(MODULE)
    if module is None or (hasattr(module.read, "__wrapped__") and getattr(module.read, "reads_unbounded", False)):
        return
    read = module.read

    @wraps(read)
    def read_bounded(text: str, *args: Any, **options: Any) -> Any:
        return read(_with_bounds(text), *args, **options)

    read_bounded.reads_unbounded = True  # type: ignore[attr-defined]
    module.read = read_bounded  # type: ignore[attr-defined]


def _with_bounds(text: str) -> str:
    """The text with bounds for normal distributions that have none, and the keys of today; any other as it is."""
    try:
        content = json.loads(text)
        parameters = content["hyperparameters"]
        unbounded = [item for item in parameters if item.get("type") in NORMALS and "lower" not in item]
    except (ValueError, KeyError, TypeError, AttributeError):
        return text
    if not unbounded:
        return text
    for item in unbounded:
        centre, deviation = item["mu"], item["sigma"]
        reach = REACH * deviation
        low, high = (centre / REACH, centre * REACH) if item.get("log") else (centre - reach, centre + reach)
        item.update(lower=low, upper=high)
    for item in parameters:
        if "default" in item:
            item["default_value"] = item.pop("default")
    return json.dumps(content)
