"""Any table of evaluations in a CSV or Parquet file: its columns, its metrics, and the importer."""

from nasbed.results.importers.table.importer import TableImporter

__all__ = ["TableImporter"]
