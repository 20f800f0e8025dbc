"""NAS-Bench-301 result folders, written here as the public repository describes them."""

from __future__ import annotations

import copy
import json
import math
import random
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nasbed
from nasbed.core.errors import BadFile
from nasbed.results import Results
from nasbed.results.importers.nb301 import run_from
from nasbed.results.importing import import_tables
from support.result_samples import mutated_bytes

P = "NetworkSelectorDatasetInfo:darts:"
PUBLISHED = {
    f"{P}edge_normal_0": "skip_connect",
    f"{P}edge_normal_1": "sep_conv_3x3",
    f"{P}edge_normal_2": "sep_conv_3x3",
    f"{P}edge_normal_3": "skip_connect",
    f"{P}edge_normal_5": "dil_conv_3x3",
    f"{P}edge_normal_7": "dil_conv_5x5",
    f"{P}edge_normal_10": "sep_conv_3x3",
    f"{P}edge_normal_11": "skip_connect",
    f"{P}inputs_node_normal_3": "0_1",
    f"{P}inputs_node_normal_4": "0_2",
    f"{P}inputs_node_normal_5": "1_2",
    f"{P}edge_reduce_0": "max_pool_3x3",
    f"{P}edge_reduce_1": "avg_pool_3x3",
    f"{P}edge_reduce_2": "skip_connect",
    f"{P}edge_reduce_3": "dil_conv_5x5",
    f"{P}edge_reduce_6": "sep_conv_3x3",
    f"{P}edge_reduce_7": "sep_conv_5x5",
    f"{P}edge_reduce_11": "sep_conv_3x3",
    f"{P}edge_reduce_12": "dil_conv_3x3",
    f"{P}inputs_node_reduce_3": "0_1",
    f"{P}inputs_node_reduce_4": "1_2",
    f"{P}inputs_node_reduce_5": "2_3",
}
"""The architecture of the one result file in the public repository, with 6 369 358 parameters at 50 channels, 20 cells."""


def result(**changes: Any) -> dict[str, Any]:
    """A result file as published: with much that is not read."""
    config = PUBLISHED | {
        f"{P}init_channels": 50,
        f"{P}layers": 20,
        f"{P}auxiliary": "True",
        "NetworkSelectorDatasetInfo:network": "darts",
        "OptimizerSelector:sgd:learning_rate": 0.029,
        "CreateImageDataLoader:batch_size": 96,
    }
    info = {"val_accuracy": 97.68, "model_parameters": 6369358, "epochs": 1488, "train_loss": 0.659, "dataset_id": 0}
    complete = {
        "final_metric_score": -97.68,
        "optimized_hyperparamater_config": config,
        "budget": 1500,
        "info": [info],
        "test_accuracy": 97.54,
        "runtime": 365136,
        "learning_curves": {"Train/val_accuracy": [50.0, 90.0]},
    }
    return complete | changes


def write(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def imported(folder: Path, tmp_path: Path, **options: str) -> Results:
    [results] = import_tables("nb301", folder, tmp_path / "tables", options)
    return results


def genotype_config(arch: nasbed.Architecture) -> dict[str, str]:
    """Written from the published rule: edge id = offset of the node + source."""
    config = {}
    offset = {2: 0, 3: 2, 4: 5, 5: 9}
    native = nasbed.space("darts").to_native(arch)
    for kind, pairs in (("normal", native.normal), ("reduce", native.reduce)):
        for index, (op, source) in enumerate(pairs):
            config[f"{P}edge_{kind}_{offset[2 + index // 2] + source}"] = op
        for node in (3, 4, 5):
            inputs = sorted(source for _, source in pairs[2 * (node - 2) : 2 * (node - 2) + 2])
            config[f"{P}inputs_node_{kind}_{node}"] = f"{inputs[0]}_{inputs[1]}"
    return config


def test_rows_are_in_the_order_of_the_evaluations(tmp_path: Path) -> None:
    """results_10 after results_9, where names alone would have it after results_1."""
    numbers = [10, 2, 1, 9, 100, 11]
    files = {f"re/results_{n}{'_ti' if n == 9 else ''}.json": result(runtime=float(n)) for n in numbers}
    files |= {"re/results_last.json": result(runtime=1e6), "de/results_3.json": result(runtime=0.5)}
    (rows,) = imported(write(tmp_path / "runs", files), tmp_path).batches()
    assert rows.method.tolist() == ["de"] + ["re"] * 7
    assert rows.train_time_s.tolist() == [0.5, *map(float, sorted(numbers)), 1e6]


def test_every_number_arrives(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    darts = nasbed.space("darts")
    files: dict[str, Any] = {}
    expected = {}
    for number in range(40):
        method = ["rs", "pc_darts", "re"][number % 3]
        arch = darts.sample(rng)
        val, test, runtime, parameters = (float(x) for x in rng.random(4) * [100, 100, 1e4, 1e6])
        files[f"{method}/results_{number}{'_ti' if number % 2 else ''}.json"] = {
            "optimized_hyperparamater_config": genotype_config(arch) | {f"{P}init_channels": 32, f"{P}layers": 8},
            "budget": 100,
            "info": [{"val_accuracy": val, "model_parameters": int(parameters)}],
            "test_accuracy": test,
            "runtime": runtime,
        }
        expected[method, arch.code] = (val, test, int(parameters), runtime)
    files["rs/notes.txt"] = b"not a result"
    results = imported(write(tmp_path / "nb_301_v13", files), tmp_path)
    assert results.about.name == "snb-darts/cifar10" and results.about.dataset == "cifar10"
    rows = next(results.batches())
    assert len(rows) == 40 and (rows.fidelity == 100).all() and (rows.seed == -1).all() and (rows.status == 0).all()
    columns = [rows.values[key] for key in ("validation_accuracy", "test_accuracy", "parameters")]
    for i in range(40):
        values = (*(float(column[i]) for column in columns), float(rows.train_time_s[i]))
        assert values == expected.pop((str(rows.method[i]), tuple(rows.codes[i].tolist())))
    assert not expected


def test_published_parameters_are_those_of_the_network_with_its_auxiliary_head(tmp_path: Path) -> None:
    results = imported(write(tmp_path / "x", {"rs/results_0.json": result()}), tmp_path, name="mine/x")
    assert results.about.name == "mine/x"
    assert "1 of the first 1 equal" in results.about.notes and "50 channels, 20 cells" in results.about.recipe
    assert next(results.batches()).values["parameters"].tolist() == [6369358]
    without_test = result(info=[{"val_accuracy": 90.0, "model_parameters": 1}])
    results = imported(write(tmp_path / "y", {"rs/results_0.json": without_test}), tmp_path)
    assert "0 of the first 1 equal" in results.about.notes


def test_a_run_without_an_accuracy_says_so(tmp_path: Path) -> None:
    files = {
        "rs/results_0.json": result(),
        "rs/results_1.json": result(test_accuracy=math.nan),
        "rs/results_2.json": result(info=[]),
        "rs/results_3.json": {
            key: value for key, value in result().items() if key not in ("info", "runtime", "budget")
        },
        "rs/results_4.json": result(info=[{"val_accuracy": None}]),
        "rs/results_5.json": result(info=[{"val_accuracy": math.nan}]),
    }
    results = imported(write(tmp_path / "x", files), tmp_path)
    rows = next(results.batches())
    assert rows.status.tolist() == [0, 1, 2, 2, 2, 1]
    assert np.isnan(rows.values["validation_accuracy"]).tolist() == [False, False, True, True, True, True]
    assert math.isnan(rows.train_time_s[3]) and rows.fidelity.tolist() == [1500, 1500, 1500, -1, 1500, 1500]


DEEP = b"[" * 200_000


def configured(**changes: Any) -> dict[str, Any]:
    config = {**result()["optimized_hyperparamater_config"], **{f"{P}{name}": value for name, value in changes.items()}}
    return result(optimized_hyperparamater_config={name: value for name, value in config.items() if value is not None})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not valid JSON"),
        (json.dumps(result()).encode()[:-7], "not valid JSON"),
        (json.dumps(result()).encode() + b"}", "JSON ends with its value"),
        (b'{"budget": 1, "budget": 2}', "'budget' twice"),
        (b'{"a": "\xff"}', "UTF-8"),
        (DEEP, "nested too deeply"),
        (b'{"x":' * 100_000, "nested too deeply"),
        ([], "optimized_hyperparamater_config"),
        ({}, "optimized_hyperparamater_config"),
        (result(optimized_hyperparamater_config={}), "a configuration maps"),
        (configured(edge_normal_0="conv_7x7"), "'conv_7x7'"),
        (configured(edge_normal_0=None), "needs an operation"),
        (configured(edge_normal_4="sep_conv_3x3"), "not to be set"),
        (configured(inputs_node_reduce_5="3_2"), "'3_2'"),
        (configured(layers=-1), "layers"),
        (configured(init_channels="many"), "init_channels is a number"),
        (result(test_accuracy="97.54"), "test_accuracy is a number"),
        (result(test_accuracy="NaN"), "test_accuracy is a number"),
        (result(test_accuracy=True), "test_accuracy is a number"),
        (result(test_accuracy=100.5), "lies in [0, 100]"),
        (result(test_accuracy=-math.inf), "lies in [0, 100]"),
        (result(test_accuracy=[97.5]), "test_accuracy is a number"),
        (result(info={}), "info is a list"),
        (result(info=["x"]), "info is a list"),
        (result(info=[{"val_accuracy": 90, "model_parameters": math.inf}]), "finite"),
        (result(info=[{"val_accuracy": 90, "model_parameters": 10**400}]), "usual size"),
        (result(info=[{"val_accuracy": 90, "model_parameters": -5}]), "lies in [0, inf]"),
        (json.dumps(result()).replace("365136", "1" * 5000).encode(), "not valid JSON"),
        (json.dumps(result()).replace("365136", "1e999").encode(), "runtime is a finite"),
        (result(runtime=-1), "runtime"),
        (result(budget=0), "budget"),
        (result(budget=1.5), "budget"),
        (result(budget=10**30), "budget"),
        (result(budget=math.nan), "budget"),
        (
            result(optimized_hyperparamater_config={"NetworkSelectorDatasetInfo:network": "fbnet"}),
            "of the kind darts, got 'fbnet'",
        ),
        (configured(layers=8), "share one network"),
    ],
    ids=map(str, count()),
)
def test_bad_files_are_refused_in_one_line_and_nothing_is_written(tmp_path: Path, content: Any, message: str) -> None:
    files = {f"rs/results_{i:03}.json": result() for i in range(70)} | {"rs/results_999.json": content}
    with pytest.raises(BadFile) as error:
        imported(write(tmp_path / "x", files), tmp_path)
    assert message in str(error.value) and "rs/results_999.json" in str(error.value)
    assert "\n" not in str(error.value) and len(str(error.value)) < 500
    assert not (tmp_path / "tables").exists()


def test_folders_that_hold_no_results_are_refused(tmp_path: Path) -> None:
    for folder in (write(tmp_path / "x", {"readme.txt": b""}), write(tmp_path, {"y.json": {}}) / "y.json"):
        with pytest.raises(BadFile, match="results_N"):
            imported(folder, tmp_path)


def test_links_are_refused(tmp_path: Path) -> None:
    secret = write(tmp_path / "elsewhere", {"results_0.json": result()}) / "results_0.json"
    for link, target in (("rs/results_1.json", secret), ("linked", secret.parent)):
        folder = write(tmp_path / link.replace("/", "-"), {"rs/results_0.json": result()})
        (folder / link).symlink_to(target)
        with pytest.raises(BadFile, match="symbolic link"):
            imported(folder, tmp_path)


def test_other_kinds_of_file_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "x", {"rs/results_0.json": result()})
    (folder / "rs" / "results_1.json").mkdir()
    assert imported(folder, tmp_path).manifest.rows == 1, "a folder of that name is no result"
    odd = write(tmp_path / "y", {"r\ns/results_0.json": result()})
    with pytest.raises(BadFile, match="printable"):
        imported(odd, tmp_path)


def test_fuzz(thorough: bool) -> None:
    """Mutated files: each gives a run or one line."""
    rng = random.Random(0)
    original = json.dumps(result()).encode()
    odd: list[Any] = [
        None,
        math.nan,
        math.inf,
        -1,
        10**400,
        "x",
        [],
        {},
        True,
        "\ud800",
        {"a": [1]},
        1e308,
        b"".hex(),
        [[]],
    ]
    attempts, refusals = 0, 0
    while attempts < (10_500 if thorough else 3_000):
        if attempts % 2:
            data = mutated_bytes(original, rng)
        else:
            changed = copy.deepcopy(result())
            place: Any = rng.choice([changed, changed["optimized_hyperparamater_config"], changed["info"][0]])
            place[rng.choice(list(place))] = rng.choice(odd)
            data = json.dumps(changed).encode()
        attempts += 1
        try:
            run = run_from(data, "x")
            nasbed.space("darts").validate(run.architecture)
            assert all(math.isnan(value) or 0 <= value < math.inf for value in run.values)
        except BadFile as error:
            refusals += 1
            assert "\n" not in str(error) and len(str(error)) < 600
    assert refusals > 500
