"""Studies: the statistics and figures of a paper, for tables of your own. One folder each.

A study has ``study.py`` (its numbers), ``page.py``, ``figures.py`` and ``tables.py`` (what is shown of them) and
``command.py`` (``nasbed study NAME``), fewer where it is small. A new one is a folder and a line here; installed
packages add studies through the entry-point group ``nasbed.studies``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nasbed.core.registry import Registry

STUDIES: Registry[Callable[..., Any]] = Registry("study", group="nasbed.studies")
"""The commands of all studies, by the name after ``nasbed study``."""

STUDIES.add("generalisation", "nasbed.studies.generalisation.command:generalisation")
STUDIES.add("landscape", "nasbed.studies.landscape.command:landscape")
STUDIES.add("local-search", "nasbed.studies.local_search.command:local_search")
STUDIES.add("methods", "nasbed.studies.methods.command:methods")
STUDIES.add("nas-hpo", "nasbed.studies.nas_hpo.command:nas_hpo")
STUDIES.add("one-shot", "nasbed.studies.one_shot.command:one_shot")
STUDIES.add("unseen", "nasbed.studies.unseen.command:unseen")
STUDIES.add("validation", "nasbed.studies.validation.command:validate")
STUDIES.add("zero-cost", "nasbed.studies.zero_cost.command:zero_cost")
