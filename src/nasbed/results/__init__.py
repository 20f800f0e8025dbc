"""Results: every evaluation that was ever measured, as rows of one exchange format."""

from nasbed.results.manifest import About, Manifest
from nasbed.results.rows import Rows
from nasbed.results.store import Results, write_results

__all__ = ["About", "Manifest", "Results", "Rows", "write_results"]
