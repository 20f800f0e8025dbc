"""Importers: one file for each published format, each reading it into :class:`~nasbed.results.rows.Rows` as it streams.

An importer is a class with the attributes and the one method of :class:`Importer`; it is registered by one line here.
"""

from __future__ import annotations

from nasbed.core.registry import Registry
from nasbed.results.importers.base import Draft, Importer

IMPORTERS = Registry[type[Importer]]("import format", group="nasbed.importers")
IMPORTERS.add_entries(
    "nasbed.results.importers",
    {
        "nb301": "nb301:NB301Importer",
        "suite-zero": "suite_zero:SuiteZeroImporter",
        "table": "table:TableImporter",
        "nb101": "nb101:NB101Importer",
        "nb201": "nb201:NB201Importer",
        "fcnet": "fcnet:FCNetImporter",
        "nats-bench": "nats_bench:NatsBenchImporter",
        "transnas": "transnas:TransNASImporter",
    },
)

__all__ = ["IMPORTERS", "Draft", "Importer"]
