"""What ``import nas_201_api`` finds: the first interface of NAS-Bench-201, over the sources of ``nats_bench``."""

from nasbed.compat.nas_201_api.api_201 import NASBench201API
from nasbed.compat.nats_bench.arch_results import ArchResults
from nasbed.compat.nats_bench.results_count import ResultsCount

NAS_BENCH_201_API_VERSION = "v2.0"  # the one whose interface this is

__all__ = ["NAS_BENCH_201_API_VERSION", "ArchResults", "NASBench201API", "ResultsCount"]
