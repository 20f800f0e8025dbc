"""The names that scripts take from ``nas_201_api.api_utils``."""

from nasbed.compat.nats_bench.api_utils import ArchResults, NASBenchMetaAPI, ResultsCount, remap_dataset_set_names

__all__ = ["ArchResults", "NASBenchMetaAPI", "ResultsCount", "remap_dataset_set_names"]
