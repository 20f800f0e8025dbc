"""Write ensembles of boosters in the published layout, with what the published package answers for them.

Run it where the package nasbench301 0.3, ConfigSpace 0.6, XGBoost and LightGBM of its time are installed, not nasbed:
docs/how-to/compat.md has the commands. Stand-ins take the place of its graph networks.
"""

from __future__ import annotations

import importlib.machinery
import json
import pickle
import random
import sys
from pathlib import Path
from unittest.mock import MagicMock

import lightgbm
import numpy as np
import xgboost

ABSENT = ("torch", "torchvision", "IPython", "matplotlib", "seaborn")
GRAPH_MODELS = ("nasbench301.surrogate_models.gnn", "nasbench301.surrogate_models.bananas")
GENOTYPES, ASKED, MEMBERS, SEED = 400, 50, 5, 7


class StandIns:
    """An importer of empty modules."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ABSENT or name.startswith(GRAPH_MODELS):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return MagicMock(name=spec.name, __path__=[], __spec__=spec, __name__=spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, StandIns())
import nasbench301  # noqa: E402
from nasbench301.api import fixed_hyperparameters  # noqa: E402
from nasbench301.representations import OPS, Genotype, convert_genotype_to_config  # noqa: E402
from nasbench301.surrogate_models.utils import ConfigLoader  # noqa: E402

LOADER = ConfigLoader(str(Path(nasbench301.__file__).with_name("configspace.json")))


def random_genotype(rng):
    cells = [
        [(rng.choice(OPS), source) for node in range(4) for source in sorted(rng.sample(range(node + 2), 2))]
        for _ in range(2)
    ]
    return Genotype(cells[0], [2, 3, 4, 5], cells[1], [2, 3, 4, 5])


def features(genotype):
    row = LOADER.query_config_dict({**fixed_hyperparameters, **convert_genotype_to_config(genotype)}).get_array()
    return np.where(np.isnan(row), -1, row)


def fit(kind, rows, labels, seed):
    if kind.startswith("xgb"):
        settings = {"max_depth": 5, "eta": 0.2, "objective": "reg:squarederror", "seed": seed}
        return xgboost.train(settings, xgboost.DMatrix(rows, label=labels), 30)
    settings = {"num_leaves": 20, "learning_rate": 0.2, "objective": "regression", "verbose": -1, "seed": seed}
    return lightgbm.train(settings, lightgbm.Dataset(rows, label=labels), 60)


def main(folder):
    rng, chance = random.Random(1), np.random.RandomState(0)
    genotypes = [random_genotype(rng) for _ in range(GENOTYPES)]
    rows = np.array([features(genotype) for genotype in genotypes])
    scores = (rows - rows.mean(0)) @ chance.normal(size=rows.shape[1])
    expected = {"genotypes": genotypes[:ASKED], "rows": rows[:ASKED].tolist(), "answers": {}}
    for kind in ("xgb", "xgb_time", "lgb", "lgb_time"):
        labels = np.exp(8 + scores / 20) if kind.endswith("_time") else 94 + scores / 10
        ensemble = folder / f"{kind.replace('_time', '_runtime')}_v1.0"
        for number in range(MEMBERS):
            member = ensemble / f"ensemble_member_{number}"
            member.mkdir(parents=True)
            drawn = chance.randint(GENOTYPES, size=300)
            model = fit(kind, rows[drawn], labels[drawn], SEED + number)
            (member / "surrogate_model.model").write_bytes(pickle.dumps(model))
            (member / "model_config.json").write_text(json.dumps({"model": kind}))
            (member / "data_config.json").write_text(json.dumps({"seed": SEED}))
        loaded = nasbench301.load_ensemble(str(ensemble))
        expected["answers"][ensemble.name] = [
            [float(loaded.predict(genotype, "genotype", with_noise=noise)) for genotype in genotypes[:ASKED]]
            for noise in (True, False)
        ]
    (folder / "expected.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
