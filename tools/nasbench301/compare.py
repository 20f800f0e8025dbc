"""Compare nasbed's answers for ensembles in the published layout with those that the published package gave.

python tools/nasbench301/compare.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from nasbed import space
from nasbed.compat.nasbench301 import load_ensemble
from nasbed.compat.nasbench301._encoding import published_rows
from nasbed.spaces.darts.genotype import Genotype


def main(folder: Path) -> None:
    expected: dict[str, Any] = json.loads((folder / "expected.json").read_text())
    genotypes = [
        Genotype([tuple(pair) for pair in normal], first, [tuple(pair) for pair in reduction], second)
        for normal, first, reduction, second in expected["genotypes"]
    ]
    if "rows" in expected:
        rows = published_rows(space("darts").codes([space("darts").from_native(one) for one in genotypes]))
        equal = (rows == np.array(expected["rows"], dtype=np.float32)).all()
        print(f"rows of features: {rows.shape}, {'equal' if equal else 'DIFFERENT'}")
    for name, answers in expected["answers"].items():
        ensemble = load_ensemble(folder / name)
        for label, noise, published in zip(("noisy", "mean"), (True, False), answers, strict=True):
            if published is not None:
                given = np.array([ensemble.predict(one, "genotype", noise) for one in genotypes])
                difference = np.abs(given - published)
                relative = (difference / np.abs(published)).max()
                spread = np.ptp(published)
                print(f"{name} {label}: off by {difference.max():.1e}, relative {relative:.1e}; spread {spread:.2g}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
