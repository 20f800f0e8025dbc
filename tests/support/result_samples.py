"""Small tables for tests, and rows as plain Python values to compare."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from typing import Any

import numpy as np

from nasbed.core.metric import Metric
from nasbed.results import Results, Rows, TableInfo
from nasbed.spaces import space

ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
TEST_ACCURACY = Metric("accuracy", split="test", unit="%", bounds=(0, 100))
LOSS = Metric("loss", split="test", direction="minimize", bounds=(0, math.inf))

Row = tuple[Any, ...]


def about(space_name: str = "nb201", metrics: tuple[Metric, ...] = (ACCURACY, LOSS), **fields: Any) -> TableInfo:
    return TableInfo(**({"name": "test/table"} | fields), space=space_name, metrics=metrics)


def random_rows(space_name: str, count: int, seed: int, metrics: tuple[Metric, ...] = (ACCURACY, LOSS)) -> Rows:
    """Rows with everything in them: missing values, unknown seeds, runs that did not end well, repeats."""
    rng = np.random.default_rng(seed)
    searched = space(space_name)
    pool = [searched.sample(rng) for _ in range(max(1, count // 3))]
    codes = searched.codes([pool[i] for i in rng.integers(len(pool), size=count)])
    values = {metric.key: np.where(rng.random(count) < 0.2, np.nan, rng.random(count) * 100) for metric in metrics}
    empty = np.all([np.isnan(column) for column in values.values()], axis=0)
    return Rows.of(
        codes,
        values,
        fidelity=rng.choice([-1, 4, 108], size=count),
        seed=rng.choice([-1, 0, 777, 2**62], size=count),
        train_time_s=np.where(rng.random(count) < 0.3, np.nan, rng.random(count) * 1e4),
        method=rng.choice(["", "rs", "évolution", 'a "quoted", one'], size=count),
        status=np.where(empty, rng.integers(1, 3, size=count), rng.choice([0, 0, 0, 1, 2], size=count)),
        timestamp_us=np.where(rng.random(count) < 0.5, -1, rng.integers(0, 2**50, size=count)),
    )


def plain_rows(batches: Iterable[Rows]) -> list[Row]:
    """Each row as one tuple, None for what is missing, in order."""
    tuples = []
    for rows in batches:
        for i in range(len(rows)):
            values = tuple(sorted((key, _plain(float(column[i]))) for key, column in rows.values.items()))
            tuples.append(
                (
                    tuple(rows.codes[i].tolist()),
                    values,
                    int(rows.fidelity[i]),
                    int(rows.seed[i]),
                    _plain(float(rows.train_time_s[i])),
                    str(rows.method[i]),
                    int(rows.status[i]),
                    int(rows.timestamp_us[i]),
                )
            )
    return tuples


def rows_of(results: Results) -> list[Row]:
    return plain_rows(results.batches())


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else value


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """A file with one to three damages: bytes changed, lost, put in or doubled."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(changed))
        kind = rng.randrange(4)
        if kind == 0:
            changed[start] = rng.randrange(256)
        elif kind == 1:
            del changed[start : start + rng.randint(1, 40)]
        elif kind == 2:
            changed[start:start] = rng.choice(
                [b"{", b"[", b'"', b"\xff", b"NaN", b"1e999", b"-", b"\\u0000", b"null", b","]
            )
        else:
            changed[start:start] = changed[start : start + rng.randint(1, 60)]
    return bytes(changed)
