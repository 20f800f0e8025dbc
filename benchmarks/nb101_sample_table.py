"""A sample of NAS-Bench-101 as a table that ``nasbed validate`` and ``nasbed fit`` read.

    python benchmarks/nb101_sample_table.py nb101_20k.npz nb101-20k

The file is that of ``surrogate_models.py``: one training of each cell for 108 epochs. Diverged runs stay in the table;
``--at-least 50`` leaves them out, as section 2 of the Surrogate NAS Benchmarks does.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import nasbed
from nasbed.results import Rows, TableInfo, write_results
from surrogate_models import read_cells

EPOCHS = 108


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", type=Path)
    options.add_argument("out", type=Path)
    chosen = options.parse_args()
    codes, accuracy = read_cells(chosen.file)
    with np.load(chosen.file) as file:
        seconds = file[f"time{EPOCHS}"].astype(np.float64)
    metric = nasbed.Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
    rows = Rows.of(codes, {metric.key: 100 * accuracy}, fidelity=EPOCHS, seed=0, train_time_s=seconds, method="rs")
    write_results(chosen.out, TableInfo(chosen.out.name, "nb101", (metric,), dataset="cifar10"), [rows])
    print(f"{len(codes)} cells in {chosen.out}")


if __name__ == "__main__":
    main()
