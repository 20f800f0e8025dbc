"""The page of a comparison of methods."""

from nasbed.reports.comparison.page import write_comparison
from nasbed.reports.comparison.standings import verdict

__all__ = ["verdict", "write_comparison"]
