"""Image datasets: converted once from their published files, opened mapped into memory."""

from nasbed.datasets.dataset import Dataset, ImageSplit, LabelledImages
from nasbed.datasets.preparing import DATASETS, load, prepare
from nasbed.datasets.source import DatasetSource, Raw, Remote

__all__ = ["DATASETS", "Dataset", "DatasetSource", "ImageSplit", "LabelledImages", "Raw", "Remote", "load", "prepare"]

Part, Split, Source = LabelledImages, ImageSplit, DatasetSource
"""Former names, until version 0.3."""
