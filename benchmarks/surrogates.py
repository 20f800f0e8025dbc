"""Surrogate benchmarks against what a user would call instead, single-threaded.

That is to encode the architecture through ConfigSpace, as the authors of NAS-Bench-301 do, and to ask each member's own
library (for rows of features that were made beforehand). Ten members of 500 trees each are fitted on nb201/cifar10, with
a runtime model and calibrated noise; a query includes checking, encoding, all members, runtime, exact costs and the draw.

Run: python benchmarks/surrogates.py (needs the extras ``tables`` and ``torch``; imports nb201/cifar10 unless it is there)
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from timing import best_seconds, report

MEMBERS, TREES, BATCH, ASKED = 10, 500, 10_000, 200

Native = Callable[[NDArray[np.float32]], NDArray[Any]]

FRESH = """
import sys
from time import perf_counter
import nasbed
from nasbed.benchmarks import SurrogateBenchmark
from nasbed.core.architecture import Architecture
start = perf_counter()
benchmark = nasbed.load(sys.argv[1])
loaded = perf_counter()
benchmark.query(Architecture("nb201", (3, 0, 1, 2, 4, 3)), seed=1)
print(loaded - start, perf_counter() - loaded)
"""


def main() -> None:
    import nasbed
    from nasbed.benchmarks import TabularBenchmark

    table = nasbed.load("nb201/cifar10")
    assert isinstance(table, TabularBenchmark)
    with tempfile.TemporaryDirectory() as folder:
        for name, native in (("xgb", native_xgboost), ("lgb", native_lightgbm)):
            compare(name, native, table.results, Path(folder))
    graph_network()


def compare(name: str, native: Callable[[list[Any]], Native], results: Any, folder: Path) -> None:
    from nasbed.benchmarks import SurrogateBenchmark
    from nasbed.surrogates.making import make_surrogate

    settings = {"rounds": TREES, "early_stopping_rounds": 0}
    path = make_surrogate(results, name, settings=settings, members=MEMBERS).save(folder / name)
    benchmark = SurrogateBenchmark.open(path)
    space = benchmark.space
    members: list[Any] = list(benchmark.artefact.ensemble.members)
    native_predict, features = native(members), members[0].features
    rng = np.random.default_rng(1)
    archs = [space.sample(rng) for _ in range(ASKED)]
    rows = features(space.codes(archs))
    batch = space.codes([space.sample(rng) for _ in range(BATCH)])
    encoded = features(batch)
    predictions = benchmark.artefact.ensemble.predict_members(batch)
    assert (predictions == native_predict(encoded)).all(), f"{name}: the programs differ"
    for arch in archs:
        benchmark.query(arch)  # from here on it is compiled
    turn = cycle(range(ASKED))

    def encode_and_ask() -> None:
        at = next(turn)
        space.to_config(archs[at]).get_array()
        native_predict(rows[at : at + 1])

    def query() -> None:
        at = next(turn)
        benchmark.query(archs[at], seed=at)

    trees = sum(member.forest.trees for member in members)
    print(f"{name}: {MEMBERS} members, {trees:,} trees, {rows.shape[1]} features")
    baseline = best_seconds(encode_and_ask, repeats=ASKED // 4, calls=5)
    report(f"{name}: one query, ConfigSpace and each member's library", baseline)
    report(f"{name}: one query", best_seconds(query, repeats=ASKED // 4, calls=5), baseline)
    baseline = best_seconds(lambda: native_predict(encoded), repeats=3)
    report(f"{name}: {BATCH:,} rows of features, each member's library", baseline)
    report(f"{name}: query_many of {BATCH:,}", best_seconds(lambda: benchmark.query_many(batch), repeats=3), baseline)
    fresh(name, path)


def fresh(name: str, path: Path) -> None:
    """What a new process waits for, with nothing compiled and again with the cache that the first one left."""
    with tempfile.TemporaryDirectory() as cache:
        for when in ("nothing cached", "cached"):
            process = subprocess.run(
                [sys.executable, "-c", FRESH, str(path)],
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
                check=True,
                capture_output=True,
            )
            loaded, first = map(float, process.stdout.split())
            report(f"{name}: fresh process, {when}: load the artefact, after imports", loaded)
            report(f"{name}: fresh process, {when}: first query", first)


def graph_network() -> None:
    import torch

    import nasbed
    from nasbed.surrogates import SURROGATES, Examples

    torch.set_num_threads(1)
    for name in ("nb101", "nb201", "darts"):
        space = nasbed.space(name)
        rng = np.random.default_rng(2)
        codes = space.codes([space.sample(rng) for _ in range(BATCH)])
        model = SURROGATES.get("gin")(space, settings={"epochs": 1})
        model.fit(Examples.plain(codes[:500], rng.normal(size=500)))
        seconds = best_seconds(lambda: model.predict(codes), repeats=3)
        report(f"gin on {name}: {BATCH:,} architectures ({BATCH / seconds:,.0f} a second)", seconds)


def native_xgboost(members: list[Any]) -> Native:
    import xgboost

    boosters = []
    for member in members:
        booster = xgboost.Booster({"nthread": 1})
        booster.load_model(bytearray(gzip.decompress(member.dump()["xgboost.json.gz"])))
        booster.set_param({"nthread": 1})
        boosters.append(booster)
    return lambda rows: np.stack([booster.predict(xgboost.DMatrix(rows, nthread=1)) for booster in boosters], axis=1)


def native_lightgbm(members: list[Any]) -> Native:
    import lightgbm

    texts = [gzip.decompress(member.dump()["lightgbm.txt.gz"]).decode() for member in members]
    boosters = [lightgbm.Booster(model_str=text) for text in texts]
    return lambda rows: np.stack([np.asarray(booster.predict(rows, num_threads=1)) for booster in boosters], axis=1)


if __name__ == "__main__":
    main()
