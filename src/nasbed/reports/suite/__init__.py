"""The page of a suite: methods compared over many benchmarks."""

from nasbed.reports.suite.page import write_suite_report
from nasbed.reports.suite.words import suite_verdict

__all__ = ["suite_verdict", "write_suite_report"]
