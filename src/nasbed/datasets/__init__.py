"""Image datasets: converted once from their published files, opened mapped into memory."""

from nasbed.datasets.dataset import Dataset, Part, Split
from nasbed.datasets.preparing import DATASETS, load, prepare
from nasbed.datasets.source import Raw, Remote, Source

__all__ = ["DATASETS", "Dataset", "Part", "Raw", "Remote", "Source", "Split", "load", "prepare"]
