"""Datasets that no search method has seen (Geada et al., 2024): generated from public material, identical to the byte
each time. Families make new ones of the same kinds."""

from nasbed.core.former_names import former, former_module
from nasbed.core.registry import Registry
from nasbed.datasets.unseen.base import GeneratedDataset, GeneratedPart, UnseenGenerator
from nasbed.datasets.unseen.families.family import DatasetFamily

UNSEEN = Registry[type[UnseenGenerator]]("unseen dataset", group="nasbed.unseen")
UNSEEN.add_entries(
    "nasbed.datasets.unseen",
    {
        "addnist": "addnist:AddNIST",
        "language": "language:Language",
        "multnist": "multnist:MultNIST",
        "cifartile": "cifartile:CIFARTile",
        "gutenberg": "gutenberg:Gutenberg",
        "isabella": "isabella:Isabella",
        "geoclassing": "geoclassing:GeoClassing",
        "chesseract": "chesseract:Chesseract",
    },
)
FAMILIES = Registry[type[DatasetFamily]]("family of unseen datasets", group="nasbed.unseen_families")
FAMILIES.add_entries(
    "nasbed.datasets.unseen.families",
    {
        "channels": "channels:Channels",
        "tiles": "tiles:Tiles",
        "words": "words:Words",
        "phrases": "phrases:Phrases",
        "chess": "chess_positions:Chess",
    },
)

__all__ = ["FAMILIES", "UNSEEN", "DatasetFamily", "GeneratedDataset", "GeneratedPart", "UnseenGenerator"]

__getattr__ = former(
    __name__,
    {
        "Made": "nasbed.datasets.unseen:GeneratedDataset",
        "MadePart": "nasbed.datasets.unseen:GeneratedPart",
        "Unseen": "nasbed.datasets.unseen:UnseenGenerator",
    },
    until="0.3",
)
former_module("nasbed.datasets.unseen.pinned", {"pinned": "nasbed.datasets.unseen.digests:pinned_digests"}, until="0.3")
