"""NAS-Bench-101's published files: TFRecords, parsed in bulk by compiled code or one by one in plain Python."""

from nasbed.results.importers.nb101.importer import NB101Importer

__all__ = ["NB101Importer"]
