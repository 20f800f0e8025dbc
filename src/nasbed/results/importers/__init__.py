"""Importers: one file for each published format, each reading it into :class:`~nasbed.results.rows.Rows` as it streams.

An importer is a class with the attributes and the one method of :class:`Importer`; it is registered by one line here.
"""

from __future__ import annotations

from nasbed.core.registry import Registry
from nasbed.results.importers.base import Draft, Importer

IMPORTERS = Registry[type[Importer]]("import format", group="nasbed.importers")
IMPORTERS.add("nb301", "nasbed.results.importers.nb301:NB301Importer")
IMPORTERS.add("suite-zero", "nasbed.results.importers.suite_zero:SuiteZeroImporter")
IMPORTERS.add("table", "nasbed.results.importers.table:TableImporter")
IMPORTERS.add("nb101", "nasbed.results.importers.nb101:NB101Importer")
IMPORTERS.add("nb201", "nasbed.results.importers.nb201:NB201Importer")
IMPORTERS.add("fcnet", "nasbed.results.importers.fcnet:FCNetImporter")
IMPORTERS.add("nats-bench", "nasbed.results.importers.nats_bench:NatsBenchImporter")
IMPORTERS.add("transnas", "nasbed.results.importers.transnas:TransNASImporter")

__all__ = ["IMPORTERS", "Draft", "Importer"]
