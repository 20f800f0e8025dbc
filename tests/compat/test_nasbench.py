"""The NAS-Bench-101 drop-in against the rows of a table, and against facts of the published package."""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nasbed
from nasbed import Architecture, NasbedError
from nasbed.benchmarks import TabularBenchmark
from nasbed.compat.nasbench import api
from nasbed.compat.nasbench.lib.config import build_config
from support.published_tables import NB101, REPEATS, accuracy, nb101_codes, seconds, write_nb101, write_tfrecord

INPUT, OUTPUT = "input", "output"
CONV3, CONV1, POOL = "conv3x3-bn-relu", "conv1x1-bn-relu", "maxpool3x3"
INCEPTION = [
    [0, 1, 1, 1, 0, 1, 0],
    [0, 0, 0, 0, 0, 0, 1],
    [0, 0, 0, 0, 0, 0, 1],
    [0, 0, 0, 0, 1, 0, 0],
    [0, 0, 0, 0, 0, 0, 1],
    [0, 0, 0, 0, 0, 0, 1],
    [0, 0, 0, 0, 0, 0, 0],
]
INCEPTION_OPS = [INPUT, CONV1, CONV3, CONV3, CONV3, POOL, OUTPUT]
INCEPTION_HASH = "28cfc7874f6d200472e1a9dcd8650aa0"
OPS = build_config()["available_ops"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_nb101(tmp_path_factory.mktemp("tables") / "nb101").folder


@pytest.fixture
def nasbench(folder: Path) -> api.NASBench:
    return api.NASBench(folder, seed=7)


def inception() -> api.ModelSpec:
    return api.ModelSpec(INCEPTION, INCEPTION_OPS)


def spec_of(cell: int) -> api.ModelSpec:
    return api.ModelSpec(*NB101.to_native(Architecture("nb101", tuple(nb101_codes()[cell].tolist()))))


# --- queries ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epochs", [4, 12, 36, 108])
@pytest.mark.parametrize("stop_halfway", [False, True])
def test_query_answers_a_stored_repeat(nasbench: api.NASBench, epochs: int, stop_halfway: bool) -> None:
    for cell in (0, 3, 60, 200, len(nb101_codes()) - 1):
        spec = spec_of(cell)
        data = nasbench.query(spec, epochs=epochs, stop_halfway=stop_halfway)
        trained = epochs // 2 if stop_halfway else epochs
        matches = [repeat for repeat in range(REPEATS) if data["training_time"] == seconds(cell, trained, repeat)]
        assert len(matches) == 1
        keys = ("train_accuracy", "validation_accuracy", "test_accuracy")
        assert [data[key] for key in keys] == [accuracy(cell, trained, matches[0], offset) for offset in range(3)]
        assert list(data) == ["module_adjacency", "module_operations", "trainable_parameters", "training_time", *keys]
        assert data["trainable_parameters"] == NB101.parameters(nb101_codes()[cell : cell + 1])[0]
        assert spec.matrix is not None and data["module_adjacency"].tolist() == spec.matrix.tolist()
        assert data["module_operations"] == spec.ops


def test_query_of_the_inception_cell_has_the_published_parameters(nasbench: api.NASBench) -> None:
    assert nasbench.query(inception())["trainable_parameters"] == 2_694_282


def test_query_adds_to_the_budget_exactly(nasbench: api.NASBench) -> None:
    time = 0.0
    for cell in range(40):
        time += nasbench.query(spec_of(cell))["training_time"]
        time += nasbench.query(spec_of(cell), epochs=12)["training_time"]
        time += nasbench.query(spec_of(cell), epochs=36, stop_halfway=True)["training_time"]
    assert nasbench.get_budget_counters() == (time, 40 * (108 + 12 + 18))
    nasbench.get_metrics_from_spec(inception())
    nasbench.is_valid(inception())
    with pytest.raises(api.OutOfDomainError):
        nasbench.query(inception(), epochs=107)
    assert nasbench.get_budget_counters() == (time, 40 * (108 + 12 + 18))
    nasbench.reset_budget_counters()
    assert nasbench.get_budget_counters() == (0.0, 0)


def test_query_draws_repeats_uniformly(nasbench: api.NASBench) -> None:
    queries = 6000
    drawn = Counter(nasbench.query(inception())["validation_accuracy"] for _ in range(queries))
    expected = queries / REPEATS
    assert len(drawn) == REPEATS
    assert sum((count - expected) ** 2 / expected for count in drawn.values()) < 13.8  # 2 d.o.f., p = 0.001


def test_query_depends_on_its_own_seed_only(folder: Path) -> None:
    def draws(seed: int | None) -> list[float]:
        table = api.NASBench(folder, seed)
        return [table.query(inception())["training_time"] for _ in range(60)]

    random.seed(1)
    np.random.seed(1)
    state, numpy_state = random.getstate(), repr(np.random.get_state())
    first = draws(3)
    assert random.getstate() == state and repr(np.random.get_state()) == numpy_state
    random.seed(2)
    np.random.seed(2)
    assert draws(3) == first != draws(4)
    assert draws(None) != draws(None)


def test_query_draws_what_the_published_package_draws_for_a_seed(folder: Path) -> None:
    """It seeds the global generator of ``random`` and takes ``randint(0, 2)`` a query."""
    expected = random.Random(42)
    table = api.NASBench(folder, seed=42)
    cell = len(nb101_codes()) - 1
    for _ in range(50):
        assert table.query(inception())["training_time"] == seconds(cell, 108, expected.randint(0, 2))


def test_query_gives_copies(nasbench: api.NASBench) -> None:
    spec = inception()
    data = nasbench.query(spec)
    data["module_adjacency"][:] = 0
    data["module_operations"].clear()
    assert spec.hash_spec(OPS) == INCEPTION_HASH


# --- analysis --------------------------------------------------------------------------------------------------------


def test_metrics_of_a_spec_are_every_repeat_with_its_half_way_point(nasbench: api.NASBench) -> None:
    cell = 77
    fixed, computed = nasbench.get_metrics_from_spec(spec_of(cell))
    assert set(fixed) == {"module_adjacency", "module_operations", "trainable_parameters"}
    assert list(computed) == [4, 12, 36, 108]
    for epochs, repeats in computed.items():
        assert len(repeats) == REPEATS
        for repeat, data in enumerate(repeats):
            expected = {}
            for prefix, trained in (("halfway_", epochs // 2), ("final_", epochs)):
                expected[f"{prefix}training_time"] = seconds(cell, trained, repeat)
                for offset, split in enumerate(("train", "validation", "test")):
                    expected[f"{prefix}{split}_accuracy"] = accuracy(cell, trained, repeat, offset)
            assert data == expected


def test_hash_iterator_reaches_every_cell_once(nasbench: api.NASBench) -> None:
    hashes = nasbench.hash_iterator()
    assert len(hashes) == len(set(hashes)) == len(nb101_codes())
    for module_hash in list(hashes)[::50]:
        fixed, computed = nasbench.get_metrics_from_hash(module_hash)
        spec = api.ModelSpec(fixed["module_adjacency"], fixed["module_operations"])
        assert spec.hash_spec(OPS) == module_hash
        assert nasbench.get_metrics_from_spec(spec)[1] == computed
        assert nasbench.computed_statistics[module_hash] == computed
    assert set(nasbench.fixed_statistics) == set(hashes)
    with pytest.raises(KeyError, match="no cell of this table has the hash"):
        nasbench.get_metrics_from_hash("0" * 32)


def test_only108_tables_have_one_schedule(tmp_path: Path) -> None:
    table = api.NASBench(str(write_nb101(tmp_path / "only108", (54, 108)).folder))
    assert table.valid_epochs == {108}
    assert table.query(inception(), stop_halfway=True)["training_time"] < table.query(inception())["training_time"]
    with pytest.raises(api.OutOfDomainError, match="trainings of 108 epochs, got 36"):
        table.query(inception(), epochs=36)


def test_table_without_half_way_points_says_so(tmp_path: Path) -> None:
    table = api.NASBench(write_nb101(tmp_path / "ends", (108,)).folder)
    assert set(table.get_metrics_from_spec(inception())[1][108][0]) == {
        "final_training_time",
        "final_train_accuracy",
        "final_validation_accuracy",
        "final_test_accuracy",
    }
    with pytest.raises(api.OutOfDomainError, match="no result of this cell after 54 of 108 epochs"):
        table.query(inception(), stop_halfway=True)


# --- specs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [list, np.int8, np.int64, np.float32, np.float64, np.bool_])
def test_spec_hash_is_the_published_one_for_every_number_type(kind: Any) -> None:
    matrix = INCEPTION if kind is list else np.array(INCEPTION, dtype=kind)
    assert api.ModelSpec(matrix, INCEPTION_OPS).hash_spec(OPS) == INCEPTION_HASH
    assert api.ModelSpec(matrix, np.array(INCEPTION_OPS)).hash_spec(OPS) == INCEPTION_HASH  # type: ignore[arg-type]


def test_spec_hash_labels_follow_the_order_given() -> None:
    swapped = [CONV1, CONV3, POOL]
    ops = [INPUT, CONV3, CONV1, CONV1, CONV1, POOL, OUTPUT]
    assert api.ModelSpec(INCEPTION, ops).hash_spec(swapped) == INCEPTION_HASH
    assert api.ModelSpec(INCEPTION, ops).hash_spec(OPS) != INCEPTION_HASH


def test_spec_is_pruned_and_keeps_the_original() -> None:
    matrix = [[0, 1, 1, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
    ops = [INPUT, CONV3, POOL, CONV1, OUTPUT]
    spec = api.ModelSpec(matrix, ops)
    matrix[0][1] = 0
    ops[1] = POOL
    assert spec.matrix is not None and spec.matrix.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert spec.ops == [INPUT, CONV3, OUTPUT] and spec.valid_spec and spec.data_format == "channels_last"
    assert spec.original_matrix[0, 1] == 1 and spec.original_ops == [INPUT, CONV3, POOL, CONV1, OUTPUT]


def test_spec_with_unused_vertices_is_the_small_cell(nasbench: api.NASBench) -> None:
    wide = np.zeros((9, 9), dtype=int)
    wide[0, 4] = wide[4, 8] = wide[1, 2] = 1
    spec = api.ModelSpec(wide, [INPUT, *[CONV3] * 7, OUTPUT])
    small = api.ModelSpec([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [INPUT, CONV3, OUTPUT])
    assert nasbench.is_valid(spec)
    assert nasbench.get_metrics_from_spec(spec)[1] == nasbench.get_metrics_from_spec(small)[1]


@pytest.mark.parametrize(
    ("matrix", "ops"),
    [
        ([[0, 1], [0, 0], [0, 0]], [INPUT, OUTPUT]),
        ([[0, 1], [0, 0]], [INPUT, CONV3, OUTPUT]),
        ([[0, 1], [1, 0]], [INPUT, OUTPUT]),
        ([[1, 1], [0, 0]], [INPUT, OUTPUT]),
        ([[0, 2], [0, 0]], [INPUT, OUTPUT]),
        ([[0, float("nan")], [0, 0]], [INPUT, OUTPUT]),
        ([["0", "1"], ["0", "0"]], [INPUT, OUTPUT]),
        ([0, 1], [INPUT, OUTPUT]),
    ],
)
def test_spec_of_no_cell_is_a_value_error_in_one_line(matrix: Any, ops: Any) -> None:
    with pytest.raises(ValueError) as error:
        api.ModelSpec(matrix, ops)
    assert isinstance(error.value, NasbedError) and "\n" not in str(error.value)


def _complete(vertices: int) -> list[list[int]]:
    return np.triu(np.ones((vertices, vertices), dtype=int), 1).tolist()


def _chain(vertices: int) -> list[list[int]]:
    return np.eye(vertices, k=1, dtype=int).tolist()


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (api.ModelSpec(np.zeros((7, 7)), INCEPTION_OPS), "needs a path from input to output"),
        (api.ModelSpec([[0]], [INPUT]), "needs a path from input to output"),
        (api.ModelSpec(_chain(8), [INPUT, *[CONV3] * 6, OUTPUT]), "at most 7 vertices, got 8"),
        (api.ModelSpec(_chain(12), [INPUT, *[CONV3] * 10, OUTPUT]), "at most 7 vertices, got 12"),
        (api.ModelSpec(_complete(5), [INPUT, *[CONV3] * 3, OUTPUT]), "at most 9 edges after pruning, got 10"),
        (api.ModelSpec(_chain(3), [INPUT, "conv9x9", OUTPUT]), "'conv9x9' is not an operation"),
        (api.ModelSpec(_chain(3), [CONV3, CONV3, OUTPUT]), "start with input"),
        (api.ModelSpec(_chain(3), [INPUT, CONV3, CONV3]), "end with output"),
        (api.ModelSpec(_chain(7), [INPUT, *[CONV3] * 5, OUTPUT]), "is not one of them"),
    ],
)
def test_spec_outside_the_domain_is_invalid_and_cannot_be_queried(
    nasbench: api.NASBench, spec: api.ModelSpec, reason: str
) -> None:
    assert nasbench.is_valid(spec) is False
    for ask in (nasbench.query, nasbench.get_metrics_from_spec):
        with pytest.raises(api.OutOfDomainError, match=reason) as error:
            ask(spec)
        assert "\n" not in str(error.value)
    assert nasbench.get_budget_counters() == (0.0, 0)


# --- where tables come from ------------------------------------------------------------------------------------------


def test_dataset_file_may_be_a_table_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASBED_HOME", str(tmp_path))
    write_nb101(tmp_path / "tables" / "nb101")
    assert api.NASBench("nb101").is_valid(inception())


def test_dataset_file_may_be_the_published_one(tmp_path: Path) -> None:
    path = tmp_path / "nasbench_only108.tfrecord"
    cells = [3, 60, 200, len(nb101_codes()) - 1]
    write_tfrecord(path, cells)
    table = api.NASBench(str(path))
    assert table.valid_epochs == {108} and len(table.hash_iterator()) == len(cells)
    for cell in cells:
        _, computed = table.get_metrics_from_spec(spec_of(cell))
        for repeat, data in enumerate(computed[108]):
            assert data["final_test_accuracy"] == accuracy(cell, 108, repeat, 2)
            assert data["halfway_validation_accuracy"] == accuracy(cell, 54, repeat, 1)
            assert data["halfway_training_time"] == seconds(cell, 54, repeat)
    path.unlink()
    assert api.NASBench(str(path)).get_metrics_from_hash(INCEPTION_HASH)[0]["trainable_parameters"] == 2_694_282


def test_dataset_file_is_imported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A published file is read the first time and when it has changed; its table is enough afterwards."""
    from nasbed.results import importing

    calls = []

    def imported(format: str, path: Path, out: Path) -> list[Any]:
        calls.append((format, path))
        return [write_nb101(out / "nb101")]

    monkeypatch.setattr(importing, "import_tables", imported)
    path = tmp_path / "nasbench_full.tfrecord"
    path.write_bytes(b"published")
    for _ in range(2):
        assert api.NASBench(str(path)).is_valid(inception())
    assert calls == [("nb101", path)]
    path.unlink()
    assert api.NASBench(str(path)).is_valid(inception())
    assert len(calls) == 1
    path.write_bytes(b"published again")
    assert api.NASBench(str(path)).is_valid(inception())
    assert len(calls) == 2


@pytest.mark.parametrize("name", ["/nowhere/nasbench_only108.tfrecord", "no-such-table", "/nowhere/at all"])
def test_dataset_file_that_is_nothing_is_one_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASBED_HOME", str(tmp_path))
    with pytest.raises(NasbedError) as error:
        api.NASBench(name)
    assert "\n" not in str(error.value)


def test_dataset_file_may_be_the_id_of_a_table_of_the_package() -> None:
    name = "nb101-mini-cifar10-16-v1.0"
    table, benchmark = api.NASBench(name, seed=1), nasbed.load(name)
    assert table.valid_epochs == {1, 2, 4, 8} and benchmark.objective.unit == "%"
    assert isinstance(benchmark, TabularBenchmark)
    for arch in list(benchmark.architectures())[:20]:
        stored = benchmark.repeats(arch, fidelity=8)
        measured = {(observation["validation_accuracy"] / 100, observation.cost_s) for observation in stored}
        answer = table.query(api.ModelSpec(*NB101.to_native(arch)), epochs=8)
        assert (answer["validation_accuracy"], answer["training_time"]) in measured
        assert math.isnan(answer["train_accuracy"]) and 0 < answer["test_accuracy"] < 1
    half = table.query(api.ModelSpec(*NB101.to_native(arch)), epochs=8, stop_halfway=True)
    assert half["training_time"] < answer["training_time"]
    with pytest.raises(api.OutOfDomainError, match="trainings of 1, 2, 4, 8 epochs, got 108"):
        table.query(api.ModelSpec(*NB101.to_native(arch)))


def test_config_is_the_published_space() -> None:
    config = build_config()
    assert config["available_ops"] == [CONV3, CONV1, POOL]
    assert (config["module_vertices"], config["max_edges"], config["num_repeats"]) == (7, 9, 3)


def test_evaluate_says_that_nothing_is_trained(nasbench: api.NASBench) -> None:
    with pytest.raises(NasbedError, match="does not train"):
        nasbench.evaluate(inception(), "somewhere")


# --- copies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [lambda value: pickle.loads(pickle.dumps(value)), copy.deepcopy])
def test_copied_nasbench_continues_with_the_same_answers(nasbench: api.NASBench, way: Any) -> None:
    specs = [spec_of(cell) for cell in (0, 3, 60, 200)]
    for spec in specs:
        nasbench.query(spec)
    assert nasbench.get_metrics_from_hash(NB101.hash(Architecture("nb101", tuple(nb101_codes()[3].tolist()))))
    duplicate = way(nasbench)
    assert duplicate.get_budget_counters() == nasbench.get_budget_counters()
    for spec in specs * 5:
        first, second = nasbench.query(spec), duplicate.query(spec)
        assert {key: str(value) for key, value in first.items()} == {key: str(value) for key, value in second.items()}
    assert list(duplicate.hash_iterator()) == list(nasbench.hash_iterator())


def _in_child(nasbench: api.NASBench, spec: api.ModelSpec) -> tuple[float, str]:
    return nasbench.query(spec)["training_time"], spec.hash_spec(OPS)


@pytest.mark.thorough
def test_objects_cross_into_spawned_children(nasbench: api.NASBench) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        answer = pool.apply(_in_child, (nasbench, inception()))
    assert answer == (nasbench.query(inception())["training_time"], INCEPTION_HASH)
