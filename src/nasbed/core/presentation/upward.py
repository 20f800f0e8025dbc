"""Values that show themselves, as a page, a chart or a table, by functions that lie above them.

Imports go one way, from a space to a report, so an architecture cannot import what draws it. It names that function, as
a registry names its entries, and the module is imported when a user looks.
"""

from __future__ import annotations

from typing import Any

from nasbed.core.errors import NasbedError
from nasbed.core.registry import import_target

FACADE = "nasbed.facade"


def call_facade(target: str, *values: Any, **options: Any) -> Any:
    """Call a function of :mod:`nasbed.facade`, named as ``module:function``."""
    return import_target(f"{FACADE}.{target}")(*values, **options)


def html_view(target: str, value: object) -> str | None:
    """The HTML by which a notebook shows a value; None, for which it shows the ``repr``, where nothing can be drawn."""
    try:
        return str(call_facade(target, value))
    except NasbedError:
        return None
