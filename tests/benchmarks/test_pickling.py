"""Benchmarks pickled, cloudpickled, deep-copied and sent to other processes: the same answers, or a refusal."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

import nasbed
from nasbed import Architecture, Benchmark, NasbedError, space
from nasbed.benchmarks import NoiseFree, Restricted, SubSpace, SurrogateBenchmark, TabularBenchmark
from nasbed.surrogates import SURROGATES
from support.pickled_answers import answers
from support.surrogates import QUICK, evaluations, small_surrogate, write_evaluations

MINI = "nb101-mini-cifar10-16-v1.0"
WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "cloudpickle": lambda value: pickle.loads(cloudpickle.dumps(value)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}
SMALL: dict[str, dict[str, Any]] = {
    "lgb": QUICK,
    "ngb": {"rounds": 4},
    "gin": {"layers": 2, "epochs": 3},
    "mlp": {"layers": 3, "epochs": 3},
    "smooth": {"folds": 2, "base_settings": QUICK},
}
"""Settings of models that take long by default."""
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def table() -> TabularBenchmark:
    benchmark = nasbed.load(MINI)
    assert isinstance(benchmark, TabularBenchmark)
    return benchmark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pickled")


@pytest.fixture(params=["table", "mean", "restricted", "mini", "no-pooling", "surrogate", "surrogate-mean"])
def benchmark(request: pytest.FixtureRequest, folder: Path) -> Benchmark:
    made_up = folder / "table-nb201"
    artefact = small_surrogate(folder)
    kinds: dict[str, Callable[[], Benchmark]] = {
        "table": table,
        "mean": lambda: NoiseFree(table()),
        "restricted": lambda: Restricted(table(), table().fidelities[:2]),
        "mini": lambda: nasbed.load(f"{MINI}:mini"),
        "no-pooling": lambda: nasbed.load(f"{made_up}:no-pooling"),
        "surrogate": lambda: SurrogateBenchmark(artefact),
        "surrogate-mean": lambda: NoiseFree(SurrogateBenchmark(artefact)),
    }
    return kinds[request.param]()


def some_of(benchmark: Any) -> list[Architecture]:
    """Architectures that a benchmark has answers for."""
    if isinstance(benchmark, SubSpace):
        return [arch for arch in benchmark.inner.architectures() if benchmark.contains(arch)][:50]
    unwrapped = getattr(benchmark, "inner", benchmark)
    if isinstance(unwrapped, TabularBenchmark):
        return list(unwrapped.architectures())[:200]
    rng = np.random.default_rng(0)
    return [benchmark.space.sample(rng) for _ in range(50)]


@each_way
def test_copied_benchmark_gives_the_same_answers(benchmark: Benchmark, way: Callable[[Any], Any]) -> None:
    archs = some_of(benchmark)
    expected = answers(benchmark, archs)
    copy = way(benchmark)
    assert type(copy) is type(benchmark)
    assert answers(copy, archs) == expected
    assert (copy.name, copy.metrics, copy.fidelities) == (benchmark.name, benchmark.metrics, benchmark.fidelities)


@pytest.fixture(scope="module")
def spawned() -> Iterator[ProcessPoolExecutor]:
    """One process that shares nothing with this one: what it knows of a benchmark was sent to it."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_copied_benchmark_gives_the_same_answers_in_a_spawned_process(
    benchmark: Benchmark, spawned: ProcessPoolExecutor
) -> None:
    archs = some_of(benchmark)[:20]
    assert spawned.submit(answers, benchmark, archs).result() == answers(benchmark, archs)


IN_JOBLIB = """
import joblib, nasbed

def accuracies(benchmark, archs):
    return [benchmark.query(arch, seed=0).values[benchmark.objective] for arch in archs]

benchmark = nasbed.load("%s")
archs = list(benchmark.architectures())[:20]
parts = archs[:10], archs[10:]
found = joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(accuracies)(benchmark, part) for part in parts)
assert found == [accuracies(benchmark, part) for part in parts]
"""


def test_table_answers_in_processes_of_joblib() -> None:
    """In a process of its own, since joblib keeps its workers."""
    completed = subprocess.run([sys.executable, "-c", IN_JOBLIB % MINI], capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr


@pytest.mark.parametrize("name", SURROGATES.names())
def test_copied_surrogate_predicts_the_same(name: str) -> None:
    codes = evaluations(60, 1, 1).codes
    model = SURROGATES.get(name)(space("nb201"), seed=1, settings=SMALL.get(name))
    model.fit(evaluations(100, 2, 0))
    expected = model.predict(codes)
    for way in WAYS.values():
        np.testing.assert_array_equal(way(model).predict(codes), expected)


@each_way
def test_copied_observation_is_equal_and_read_only(way: Callable[[Any], Any]) -> None:
    observation = table().query(next(table().architectures()))
    copy = way(observation)
    assert copy == observation
    with pytest.raises(TypeError, match="item assignment"):
        copy.values[table().objective] = 1.0


def test_pickled_table_is_small_and_found_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_evaluations(tmp_path / "table")
    monkeypatch.chdir(tmp_path)
    benchmark = TabularBenchmark.open(Path("table"))
    sent = pickle.dumps(benchmark)
    assert len(sent) < 10_000
    monkeypatch.chdir("/")
    archs = some_of(benchmark)
    assert answers(pickle.loads(sent), archs) == answers(benchmark, archs)


def test_pickled_table_that_was_replaced_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "table"
    write_evaluations(folder)
    sent = pickle.dumps(TabularBenchmark.open(folder))
    write_evaluations(folder, count=300)
    with pytest.raises(NasbedError, match=rf"^the folder {folder} of a pickled table now holds a different table; .*$"):
        pickle.loads(sent)


def test_pickled_table_that_was_written_again_alike_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "table"
    benchmark = TabularBenchmark(write_evaluations(folder))
    archs = some_of(benchmark)
    sent, expected = pickle.dumps(benchmark), answers(benchmark, archs)
    write_evaluations(folder)
    assert answers(pickle.loads(sent), archs) == expected


def test_pickled_table_that_is_damaged_or_gone_is_refused(tmp_path: Path) -> None:
    results = write_evaluations(tmp_path / "table")
    sent = pickle.dumps(TabularBenchmark(results))
    column = next((results.data / "cache").glob("values-*.npy"))
    content = bytearray(column.read_bytes())
    content[-1] ^= 1
    column.write_bytes(content)
    with pytest.raises(NasbedError, match=r"does not have the SHA-256"):
        pickle.loads(sent)
    shutil.rmtree(results.folder)
    with pytest.raises(NasbedError, match=r"lacks manifest\.json"):
        pickle.loads(sent)


def test_deep_copied_table_needs_no_folder_of_its_own(tmp_path: Path) -> None:
    """A table that was opened before it was replaced stays readable, and can be copied."""
    benchmark = TabularBenchmark(write_evaluations(tmp_path / "table"))
    archs = some_of(benchmark)
    expected = answers(benchmark, archs)
    write_evaluations(tmp_path / "table", count=300)
    assert answers(copy.deepcopy(benchmark), archs) == expected
