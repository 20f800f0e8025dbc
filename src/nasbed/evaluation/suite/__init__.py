"""Methods compared over many benchmarks: normalised regrets, ranks, tests and how firm an order is."""

from nasbed.evaluation.suite.benchmark_tests import cliques, leave_one_out, signed_rank_posterior
from nasbed.evaluation.suite.stratified import stratified_mean
from nasbed.evaluation.suite.suite_summary import SuiteBenchmark, SuiteSummary, summarise_suite

__all__ = [
    "SuiteBenchmark",
    "SuiteSummary",
    "cliques",
    "leave_one_out",
    "signed_rank_posterior",
    "stratified_mean",
    "summarise_suite",
]
