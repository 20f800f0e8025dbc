"""Studies: the statistics and figures of a paper, for your own tables. Every study has its own folder.

A study has ``study.py`` (its numbers), ``page.py``, ``figures.py`` and ``tables.py`` (their presentation) and
``command.py`` (``nasbed study ID``); a small study has fewer files. A new study is a folder and a line here. Installed
packages add studies through the entry-point group ``nasbed.studies``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nasbed.core.registry import Registry

STUDIES: Registry[Callable[..., Any]] = Registry("study", group="nasbed.studies")
"""The commands of all studies by id, the name after ``nasbed study``. Only ``validation`` is ``nasbed validate``."""

STUDIES.add_entries(
    "nasbed.studies",
    {
        "common-recipe": "common_recipe.command:common_recipe",
        "fidelity": "fidelity.command:fidelity",
        "generalisation": "generalisation.command:generalisation",
        "landscape": "landscape.command:landscape",
        "local-search": "local_search.command:local_search",
        "methods": "methods.command:methods",
        "nas-hpo": "nas_hpo.command:nas_hpo",
        "one-shot": "one_shot.command:one_shot",
        "sweep": "sweep.command:sweep",
        "transfer": "transfer.command:transfer",
        "unseen": "unseen.command:unseen",
        "validation": "validation.command:validate",
        "zero-cost": "zero_cost.command:zero_cost",
    },
)
