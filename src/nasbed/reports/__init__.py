"""The pages of commands: comparisons, fits, tunings, proxies, challenges. Those of studies are with the studies.

What draws is in :mod:`nasbed.drawing`.
"""

from nasbed.core.former_names import former, former_module

__getattr__ = former(
    __name__,
    {name: f"nasbed.drawing:{name}" for name in ("Section", "cell_svg", "save_cells", "write_page")},
    until="0.3",
)
former_module("nasbed.reports.standings", {"verdict": "nasbed.reports.comparison:verdict"}, until="0.3")
former_module(
    "nasbed.reports.surrogate_validation",
    {"write_validation": "nasbed.studies.validation.page:write_validation"},
    until="0.3",
)
