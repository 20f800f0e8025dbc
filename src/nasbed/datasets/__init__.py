"""Image datasets: converted once from their published files, opened mapped into memory."""

from nasbed.core.former_names import former
from nasbed.datasets.conversion import DATASETS, load, prepare
from nasbed.datasets.dataset import Dataset, ImageSplit, LabelledImages
from nasbed.datasets.source import DatasetSource, Raw, Remote

__all__ = ["DATASETS", "Dataset", "DatasetSource", "ImageSplit", "LabelledImages", "Raw", "Remote", "load", "prepare"]

__getattr__ = former(
    __name__,
    {
        "Part": "nasbed.datasets:LabelledImages",
        "Split": "nasbed.datasets:ImageSplit",
        "Source": "nasbed.datasets:DatasetSource",
    },
    until="0.3",
)
