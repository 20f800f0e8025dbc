"""The drop-ins of ``nasbench.lib``: what the published functions answer, restated."""

from __future__ import annotations

import importlib
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nasbed.compat.nasbench import api
from nasbed.compat.nasbench.lib import graph_util, model_spec
from nasbed.compat.nasbench.lib.config import build_config
from nasbed.core.errors import NasbedError
from support.published_tables import nb101_codes, write_nb101, write_tfrecord

DIAMOND = np.array([[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]])
CHAIN = np.eye(5, k=1, dtype=int)


# --- graph_util ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bits", "size", "edges"),
    [
        (0, 3, []),
        (0b101, 3, [(0, 1), (1, 2)]),
        (0b111, 4, [(0, 1), (0, 2), (1, 2)]),
        (0b010010, 4, [(0, 2), (1, 3)]),
        (0b100011, 4, [(0, 1), (0, 2), (2, 3)]),
        (1 << 20, 7, [(5, 6)]),
    ],
)
def test_edges_are_the_bits_of_a_number_column_by_column(bits: int, size: int, edges: list[tuple[int, int]]) -> None:
    is_edge = graph_util.gen_is_edge_fn(bits)
    matrix = np.fromfunction(is_edge, (size, size), dtype=np.int8)
    assert list(zip(*(part.tolist() for part in np.nonzero(matrix)), strict=True)) == edges
    assert set(np.unique(matrix)) <= {0, 1} and matrix.dtype == np.int64
    assert is_edge(0, 1) == bits & 1


def test_full_dag_has_no_vertex_off_the_paths() -> None:
    assert graph_util.is_full_dag(DIAMOND) and graph_util.is_full_dag(CHAIN.tolist())
    for source, target in [(0, 1), (1, 3), (2, 3)]:
        broken = DIAMOND.copy()
        broken[source, target] = 0
        assert not graph_util.is_full_dag(broken)
    assert not graph_util.is_full_dag(np.zeros((4, 4)))


def test_number_of_edges_is_the_sum() -> None:
    assert graph_util.num_edges(DIAMOND) == 4 and graph_util.num_edges(np.triu(np.ones((7, 7)), 1)) == 21


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.float32, np.bool_])
def test_hash_is_the_published_one_whatever_the_numbers_are(kind: Any) -> None:
    chain = np.eye(2, k=1, dtype=kind)
    assert graph_util.hash_module(chain, [-1, -2]) == "043721b9c7fe8c5fad811d47d83132ec"
    assert graph_util.hash_module(chain, np.array([-1, -2])) == "043721b9c7fe8c5fad811d47d83132ec"


def test_hash_tells_graphs_apart_that_differ_in_one_respect() -> None:
    """Labels at the two ends of a chain, a label beside a shortcut, and two regular graphs of eight vertices."""
    assert graph_util.hash_module(CHAIN, [-1, 1, 0, 0, -2]) != graph_util.hash_module(CHAIN, [-1, 0, 0, 1, -2])
    shortcut = np.eye(4, k=1, dtype=int)
    shortcut[0, 3] = 1
    assert graph_util.hash_module(shortcut, [-1, 1, 0, -2]) != graph_util.hash_module(shortcut, [-1, 0, 1, -2])
    regular = np.zeros((2, 8, 8), dtype=int)
    for source, target in [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (3, 5), (4, 6), (5, 6), (6, 7)]:
        regular[:, source, target] = 1
    regular[0, 1, 6] = regular[0, 2, 5] = regular[1, 1, 5] = regular[1, 2, 6] = 1
    labels = [-1, 1, 1, 1, 1, 1, 1, -2]
    assert graph_util.hash_module(regular[0], labels) != graph_util.hash_module(regular[1], labels)
    assert not graph_util.is_isomorphic((regular[0], labels), (regular[1], labels))


def test_hash_and_isomorphism_agree_on_renumbered_graphs_of_any_kind() -> None:
    """Not only acyclic ones: loops and cycles are allowed."""
    random = np.random.default_rng(0)
    for _ in range(60):
        size = int(random.integers(3, 12))
        matrix, labels = random.integers(0, 2, (size, size)), random.integers(0, 4, size).tolist()
        renumbered = graph_util.permute_graph(matrix, labels, random.permutation(size).tolist())
        assert graph_util.hash_module(matrix, labels) == graph_util.hash_module(*renumbered)
        assert graph_util.is_isomorphic((matrix, labels), renumbered)
        relabelled = [labels[0] + 4, *labels[1:]]
        assert not graph_util.is_isomorphic((matrix, relabelled), renumbered)


def test_isomorphism_is_that_of_all_permutations() -> None:
    random = np.random.default_rng(1)
    answers = set()
    for _ in range(60):
        first, second = random.integers(0, 2, (2, 4, 4))
        labels = random.integers(0, 2, 4).tolist()
        expected = any(
            np.array_equal(first, second[np.ix_(order, order)]) and [labels[place] for place in order] == labels
            for order in itertools.permutations(range(4))
        )
        second_or_copy = second if random.integers(2) else first[::-1, ::-1]
        if second_or_copy is second:
            assert graph_util.is_isomorphic((first, labels), (second, labels)) == expected
        else:
            assert graph_util.is_isomorphic((first, labels), (second_or_copy, labels[::-1]))
        answers.add(expected)
    assert False in answers


def test_permuted_graph_has_the_vertex_v_at_its_new_place() -> None:
    matrix = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 1]])
    moved, labels = graph_util.permute_graph(matrix, ["a", "b", "c"], [2, 0, 1])
    assert labels == ["b", "c", "a"]
    assert moved.astype(int).tolist() == [[0, 1, 0], [0, 1, 1], [1, 0, 1]]
    with pytest.raises(NasbedError, match="each vertex of the graph once"):
        graph_util.permute_graph(matrix, ["a", "b", "c"], [0, 0, 1])


def test_graphs_of_two_sizes_are_refused_in_one_line() -> None:
    with pytest.raises(NasbedError, match="one size, got 4 and 5"):
        graph_util.is_isomorphic((DIAMOND, [0] * 4), (CHAIN, [0] * 5))
    with pytest.raises(NasbedError, match="a label a vertex"):
        graph_util.hash_module(DIAMOND, [0] * 3)


# --- model_spec ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edges", "kept"),
    [
        ([(0, 1), (1, 4)], [0, 1, 4]),
        ([(0, 1), (1, 4), (2, 3)], [0, 1, 4]),
        ([(0, 1), (0, 2), (2, 4)], [0, 2, 4]),
        ([(0, 2), (1, 4), (2, 4)], [0, 2, 4]),
        ([(0, 4)], [0, 4]),
    ],
)
def test_spec_loses_islands_and_dangling_vertices(edges: list[tuple[int, int]], kept: list[int]) -> None:
    """Operations may be any labels: the published tests use numbers."""
    matrix = np.zeros((5, 5), dtype=int)
    matrix[tuple(zip(*edges, strict=True))] = 1
    spec = model_spec.ModelSpec(matrix, [0, 1, 2, 3, 4])  # type: ignore[list-item]
    assert spec.valid_spec and list(spec.ops or []) == list[object](kept) and spec.matrix is not None
    assert np.array_equal(spec.matrix, matrix[np.ix_(kept, kept)])
    assert np.array_equal(spec.original_matrix, matrix) and list[object](spec.original_ops) == [0, 1, 2, 3, 4]


def test_spec_is_pruned_again_when_asked() -> None:
    spec = model_spec.ModelSpec(np.zeros((2, 2), dtype=int), ["input", "output"])
    assert (spec.valid_spec, spec.matrix, spec.ops) == (False, None, None)
    spec.original_matrix[0, 1] = 1
    spec._prune()
    assert spec.valid_spec and spec.ops == ["input", "output"]


def test_spec_of_any_size_has_a_hash() -> None:
    """Outside the space too: eight vertices, which no table has."""
    ops = ["input", *["maxpool3x3"] * 6, "output"]
    spec = model_spec.ModelSpec(np.eye(8, k=1, dtype=int), ops)
    labels = [-1, 2, 2, 2, 2, 2, 2, -2]
    available = build_config()["available_ops"]
    assert spec.hash_spec(available) == graph_util.hash_module(np.eye(8, k=1, dtype=int), labels)
    with pytest.raises(NasbedError, match="a path from input to output"):
        model_spec.ModelSpec(np.zeros((2, 2)), ["input", "output"]).hash_spec(available)


def test_upper_triangular_is_zero_on_the_diagonal_and_below() -> None:
    assert model_spec.is_upper_triangular(np.triu(np.ones((4, 4)), 1)) and model_spec.is_upper_triangular([[0]])
    for wrong in (np.eye(3), np.eye(3, k=-1), [[1]], np.triu(np.ones((4, 4)))):
        assert not model_spec.is_upper_triangular(wrong)


def test_visualize_says_what_draws_a_cell() -> None:
    spec = model_spec.ModelSpec([[0, 1], [0, 0]], ["input", "output"])
    with pytest.raises(NasbedError, match="nasbed space draw nb101") as error:
        spec.visualize()
    assert "\n" not in str(error.value)


# --- config ----------------------------------------------------------------------------------------------------------


def test_config_has_every_published_setting() -> None:
    config = build_config()
    expected = {
        "train_data_files": [],
        "valid_data_file": "",
        "test_data_file": "",
        "sample_data_file": "",
        "data_format": "channels_last",
        "num_labels": 10,
        "module_vertices": 7,
        "max_edges": 9,
        "available_ops": ["conv3x3-bn-relu", "conv1x1-bn-relu", "maxpool3x3"],
        "stem_filter_size": 128,
        "num_stacks": 3,
        "num_modules_per_stack": 3,
        "batch_size": 256,
        "train_epochs": 108,
        "train_seconds": 14400.0,
        "learning_rate": 0.1,
        "lr_decay_method": "COSINE_BY_STEP",
        "momentum": 0.9,
        "weight_decay": 1e-4,
        "max_attempts": 5,
        "intermediate_evaluations": ["0.5"],
        "num_repeats": 3,
        "use_tpu": True,
        "tpu_iterations_per_loop": 100,
        "tpu_num_shards": 2,
    }
    assert config == expected
    json.dumps(config)


def test_config_of_a_table_has_its_own_number_of_repeats(tmp_path: Path) -> None:
    assert api.NASBench(write_nb101(tmp_path / "three", (54, 108)).folder).config["num_repeats"] == 3
    table = api.NASBench("nb101-mini-cifar10-16-v1.0")
    arch = next(iter(table.hash_iterator()))
    most = max(len(repeats) for repeats in table.get_metrics_from_hash(arch)[1].values())
    assert 1 <= most <= table.config["num_repeats"]


# --- the order of cells ----------------------------------------------------------------------------------------------


def test_hashes_come_in_the_order_of_the_published_file(tmp_path: Path) -> None:
    """arch2vec and others number the cells by it."""
    path = tmp_path / "nasbench_only108.tfrecord"
    cells = [200, 3, len(nb101_codes()) - 1, 60, 0, 7]
    write_tfrecord(path, cells)
    table = api.NASBench(str(path))
    expected = table._space.hashes(nb101_codes()[cells]).tolist()
    assert list(table.hash_iterator()) == list(table.fixed_statistics) == expected != sorted(expected)


# --- modules without a drop-in ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "name", "instead"),
    [
        ("lib.model_builder", "build_model_fn", "nasbed.networks.build"),
        ("lib.evaluate", "train_and_evaluate", "nasbed.training.train"),
        ("scripts.generate_graphs", "main", 'nasbed.space\\("nb101"\\)'),
        ("scripts.run_evaluation", "Evaluator", "nasbed collect"),
        ("scripts", "anything", "nasbed train"),
    ],
)
def test_modules_that_train_import_and_say_what_to_use(module: str, name: str, instead: str) -> None:
    imported = importlib.import_module(f"nasbed.compat.nasbench.{module}")
    with pytest.raises(NasbedError, match=instead) as error:
        getattr(imported, name)
    assert str(error.value).startswith(f"nasbench.{module}.{name} needs TensorFlow") and "\n" not in str(error.value)
    assert not hasattr(imported, "__wrapped__")


def test_published_import_lines_find_the_drop_ins(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import nasbench.lib.graph_util\n"
        "from nasbench.lib import config, evaluate, graph_util, model_builder, model_spec\n"
        "from nasbench.scripts import run_evaluation\n"
        "import nasbench.scripts.generate_graphs\n"
        "from nasbench import api\n"
        "assert model_spec.ModelSpec is api.ModelSpec and model_spec.hash_module is graph_util.hash_module\n"
        "try:\n    from nasbench.lib.model_builder import build_model_fn\n"
        "except ValueError as error:\n    print(error)\n"
    )
    command = [sys.executable, "-m", "nasbed.compat", "script.py"]
    process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("nasbench.lib.model_builder.build_model_fn needs TensorFlow")
