"""Ten-member ensembles of trees as one compiled program, against what a user would call instead, single-threaded.

That is to encode the architecture through ConfigSpace, as the authors of NAS-Bench-301 do, and to ask each member's own
library. Members have the settings of Table 6 and 500 trees each, fitted on nine tenths of the
evaluations of nb201/cifar10.

Run: python benchmarks/surrogates.py (needs the extra ``tables``; imports nb201/cifar10 unless it is there already)
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from timing import best_seconds, report

MEMBERS, TREES, BATCH, ASKED = 10, 500, 10_000, 200

Answer = Callable[[NDArray[np.int64]], NDArray[np.float64]]
Native = Callable[[NDArray[np.float32]], NDArray[Any]]

FRESH = """
import sys
from time import perf_counter
import numpy as np
from nasbed.surrogates.trees import Forest
data = sys.stdin.buffer.read()
start = perf_counter()
forest = Forest.restore(data)
restored = perf_counter()
forest.predict(np.zeros((1, forest.width), dtype=np.float32))
first = perf_counter()
import numba
imported = perf_counter()
from nasbed.surrogates.trees.kernel import walk
print(restored - start, first - restored, perf_counter() - imported)
"""


def main() -> None:
    import nasbed
    from nasbed.benchmarks import TabularBenchmark
    from nasbed.surrogates.examples import examples

    table = nasbed.load("nb201/cifar10")
    assert isinstance(table, TabularBenchmark)
    everything = examples(table.results)
    fold = np.random.default_rng(0).integers(MEMBERS, size=len(everything))
    parts = [everything.take(fold != member) for member in range(MEMBERS)]
    for name, native in (("xgb", native_xgboost), ("lgb", native_lightgbm)):
        compare(name, native, parts)


def compare(name: str, native: Callable[[list[Any]], Native], parts: list[Any]) -> None:
    import nasbed
    from nasbed.surrogates import SURROGATES
    from nasbed.surrogates.trees import Forest

    space = nasbed.space("nb201")
    settings = {"rounds": TREES, "early_stopping_rounds": 0}
    members: list[Any] = []
    for seed, part in enumerate(parts):
        members.append(SURROGATES.get(name)(space, seed=seed, settings=settings))
        members[-1].fit(part)
    forest, features = Forest.merge([member.forest for member in members]), members[0].features

    def ours(codes: NDArray[np.int64]) -> NDArray[np.float64]:
        return forest.predict(features(codes))

    theirs = native(members)
    rng = np.random.default_rng(1)
    archs = [space.sample(rng) for _ in range(ASKED)]
    codes = space.codes(archs)
    rows = features(codes)
    batch = space.codes([space.sample(rng) for _ in range(BATCH)])
    assert (ours(batch) == theirs(features(batch))).all(), (
        f"{name}: the programs differ"
    )  # and the walk is compiled now

    turn = cycle(range(ASKED))

    def encode_and_ask() -> None:
        at = next(turn)
        space.to_config(archs[at]).get_array()
        theirs(rows[at : at + 1])

    def ask() -> None:
        at = next(turn)
        ours(codes[at : at + 1])

    def predict() -> None:
        at = next(turn)
        forest.predict(rows[at : at + 1])

    splits = len(forest.splits) // 4
    print(f"{name}: {MEMBERS} members, {forest.trees:,} trees, {splits:,} splits, {forest.width} features")
    baseline = best_seconds(encode_and_ask, repeats=ASKED)
    report(f"{name}: one query, ConfigSpace and each member's library", baseline)
    report(f"{name}: one query", best_seconds(ask, repeats=ASKED, calls=5), baseline)
    report(f"{name}: one query, without the encoding", best_seconds(predict, repeats=ASKED, calls=5), baseline)
    encoded = features(batch)
    baseline = best_seconds(lambda: theirs(encoded), repeats=3)
    report(f"{name}: {BATCH:,} rows, each member's library", baseline)
    report(f"{name}: {BATCH:,} rows", best_seconds(lambda: forest.predict(encoded), repeats=3), baseline)
    report(f"{name}: {BATCH:,} architectures, encoded", best_seconds(lambda: ours(batch), repeats=3), baseline)
    fresh(name, forest.dump())


def fresh(name: str, data: bytes) -> None:
    """What a new process waits for, with nothing compiled and again with the cache that the first one left."""
    with tempfile.TemporaryDirectory() as cache:
        for when in ("nothing cached", "cached"):
            done = subprocess.run(
                [sys.executable, "-c", FRESH],
                input=data,
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
                check=True,
                capture_output=True,
            )
            restore, first, compiled = map(float, done.stdout.split())
            report(f"{name}: fresh process, {when}: restore all members", restore)
            report(f"{name}: fresh process, {when}: first query", first)
            report(f"{name}: fresh process, {when}: get the compiled walk, later", compiled)


def native_xgboost(members: list[Any]) -> Native:
    import xgboost

    boosters = []
    for member in members:
        booster = xgboost.Booster({"nthread": 1})
        booster.load_model(bytearray(member.dump()["xgboost.json"]))
        booster.set_param({"nthread": 1})
        boosters.append(booster)
    return lambda rows: np.stack([one.predict(xgboost.DMatrix(rows, nthread=1)) for one in boosters], axis=1)


def native_lightgbm(members: list[Any]) -> Native:
    import lightgbm

    boosters = [lightgbm.Booster(model_str=member.dump()["lightgbm.txt"].decode()) for member in members]
    return lambda rows: np.stack([np.asarray(one.predict(rows, num_threads=1)) for one in boosters], axis=1)


if __name__ == "__main__":
    main()
