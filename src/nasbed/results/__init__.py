"""Results: every evaluation that was ever measured, as rows of one exchange format."""

from nasbed.core.former_names import former
from nasbed.results.manifest import Manifest, TableInfo
from nasbed.results.rows import Rows
from nasbed.results.store import Results, write_results

__all__ = ["Manifest", "Results", "Rows", "TableInfo", "write_results"]

__getattr__ = former(__name__, {"About": "nasbed.results:TableInfo"}, until="0.3")
