"""A tiny dataset in the competition's format, for tests of what is measured on such."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np


def unseen_folder(path: Path) -> Path:
    """Noise of 9×6 pixels in three classes: 128 images to train, 30 to validate and 30 to test with."""
    path.mkdir()
    rng = np.random.default_rng(0)
    for part, count in (("train", 128), ("valid", 30), ("test", 30)):
        np.save(path / f"{part}_x.npy", rng.integers(0, 2, (count, 1, 9, 6)).astype(np.float32))
        np.save(path / f"{part}_y.npy", np.arange(count) % 3)
    (path / "metadata").write_text(json.dumps({"num_classes": 3, "input_shape": [188, 1, 9, 6], "codename": "x"}))
    return path
