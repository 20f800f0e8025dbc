"""From the record of a search to a results folder, a row an epoch."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from nasbed.core.metric import Metric
from nasbed.oneshot.record import SearchRecord
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import Rows
from nasbed.results.store import Results, write_results
from nasbed.spaces import space as named_space

SUPERNET_ACCURACY = Metric("supernet_accuracy", unit="%", bounds=(0, 100))
"""How often the supernet is right, on the images that train architectures. It is of no split, so that nothing takes it
for the accuracy of a trained architecture."""
SUPERNET_LOSS = Metric("supernet_loss", direction="minimize", unit="nat", bounds=(0, float("inf")))
"""The mean loss of the supernet's weights in an epoch."""


def export_search(record: SearchRecord, folder: str | Path) -> Results:
    """Write the epochs of a search as a table. A row has the architecture that the search would have returned after
    that epoch, the method, the epoch as fidelity, and the search time so far."""
    searched, space = record.searched, named_space(record.space)
    name = "-".join(("search", record.method, record.space, record.dataset))
    info = TableInfo(
        name=re.sub(r"[^a-z0-9._-]+", "-", name.lower()),
        space=record.space,
        metrics=(SUPERNET_ACCURACY, SUPERNET_LOSS),
        dataset=record.dataset,
        recipe=f"one-shot search by {record.method}",
        source=f"searched by nasbed {record.versions.get('nasbed', '')}: {record.method}, seed {record.seed}",
        notes=searched.reason,
    )
    epochs = searched.epochs
    rows = Rows.of(
        space.codes([epoch.architecture for epoch in epochs]),
        {
            SUPERNET_ACCURACY.key: np.array([epoch.validation_accuracy for epoch in epochs]),
            SUPERNET_LOSS.key: np.array([epoch.train_loss for epoch in epochs]),
        },
        fidelity=np.array([epoch.epoch for epoch in epochs], dtype=np.int64),
        seed=record.seed,
        train_time_s=np.array([epoch.search_time_s for epoch in epochs]),
        method=record.method,
    )
    return write_results(folder, info, [rows])
