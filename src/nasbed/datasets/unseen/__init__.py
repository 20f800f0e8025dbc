"""Datasets that no search method has seen (Geada et al., 2024): generated from public material, identical to the byte
each time."""

from nasbed.core.registry import Registry
from nasbed.datasets.unseen.base import GeneratedDataset, GeneratedPart, Unseen

UNSEEN = Registry[type[Unseen]]("unseen dataset", group="nasbed.unseen")
UNSEEN.add("addnist", "nasbed.datasets.unseen.addnist:AddNIST")
UNSEEN.add("language", "nasbed.datasets.unseen.language:Language")
UNSEEN.add("multnist", "nasbed.datasets.unseen.multnist:MultNIST")
UNSEEN.add("cifartile", "nasbed.datasets.unseen.cifartile:CIFARTile")
UNSEEN.add("gutenberg", "nasbed.datasets.unseen.gutenberg:Gutenberg")
UNSEEN.add("isabella", "nasbed.datasets.unseen.isabella:Isabella")
UNSEEN.add("geoclassing", "nasbed.datasets.unseen.geoclassing:GeoClassing")
UNSEEN.add("chesseract", "nasbed.datasets.unseen.chesseract:Chesseract")

__all__ = ["UNSEEN", "GeneratedDataset", "GeneratedPart", "Unseen"]

Made, MadePart = GeneratedDataset, GeneratedPart
"""Former names, until version 0.3."""
