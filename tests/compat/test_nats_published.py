"""The NATS-Bench drop-in over files as published: every epoch, evaluation and time, from complete and partial folders."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import pytest

from nasbed.compat.nas_201_api import NASBench201API
from nasbed.compat.nats_bench import (
    ArchResults,
    NATStopology,
    ResultsCount,
    create,
    pickle_load,
    pickle_save,
    search_space_info,
    version,
)
from nasbed.compat.nats_bench.api_size import ALL_BASE_NAMES as SIZE_NAMES
from nasbed.compat.nats_bench.api_topology import ALL_BASE_NAMES as TOPOLOGY_NAMES
from nasbed.compat.nats_bench.api_utils import get_torch_home, remap_dataset_set_names
from nasbed.compat.nats_bench.genotype_utils import TopologyStructure, topology_str2structure
from nasbed.core.errors import BadFile, NasbedError
from nasbed.spaces import space
from support.nats_folders import SIZES, TOPOLOGIES, Folder, contents, write_folder

DATASETS = ("cifar10-valid", "cifar10", "cifar100", "ImageNet16-120")
DATA = contents(TOPOLOGIES, ("12", "200"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two architectures; of the long trainings on CIFAR-100, only the last epoch is validated, as published."""
    run = DATA[1]["200"]["all_results"]["cifar100", 777]
    for column in ("eval_acc1es", "eval_losses"):
        for epoch in range(199):
            run[column].pop(f"x-valid@{epoch}", None)
    return write_folder(tmp_path_factory.mktemp("torch") / "NATS-tss-v1_0-3ffb9-simple", TOPOLOGIES, DATA)


@pytest.fixture
def api(folder: Path) -> NATStopology:
    nats = create(str(folder), "tss", fast_mode=True, verbose=False)
    assert isinstance(nats, NATStopology)
    return nats


def run_of(index: int, hp: str, dataset: str, seed: int) -> dict[str, Any]:
    state: dict[str, Any] = DATA[index][hp]["all_results"][dataset, seed]
    return state


# --- epochs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("iepoch", [None, 0, 5, 11])
@pytest.mark.parametrize(
    ("dataset", "sets"),
    [
        ("cifar10-valid", {"valid": "x-valid", "test": "ori-test"}),
        ("cifar10", {"test": "ori-test"}),
        ("cifar100", {"valid": "x-valid", "test": "x-test", "valtest": "ori-test"}),
    ],
)
def test_info_after_any_epoch(api: NATStopology, dataset: str, sets: dict[str, str], iepoch: int | None) -> None:
    run, epoch = run_of(0, "12", dataset, 777), 11 if iepoch is None else iepoch
    info = api.get_more_info(0, dataset, iepoch=iepoch, hp="12", is_random=777)
    assert info["train-accuracy"] == run["train_acc1es"][epoch] and info["train-loss"] == run["train_losses"][epoch]
    seconds = sum(run["train_times"][each] for each in range(epoch + 1))
    assert info["train-all-time"] == pytest.approx(seconds, rel=1e-12)
    assert info["train-per-time"] == pytest.approx(seconds / (epoch + 1), rel=1e-12)
    for prefix, name in sets.items():
        assert info[f"{prefix}-accuracy"] == run["eval_acc1es"][f"{name}@{epoch}"]
        assert info[f"{prefix}-loss"] == run["eval_losses"][f"{name}@{epoch}"]
        spent = sum(run["eval_times"][f"{name}@{each}"] for each in range(epoch + 1))
        assert info[f"{prefix}-all-time"] == pytest.approx(spent, rel=1e-12)
        assert info[f"{prefix}-per-time"] == pytest.approx(spent / (epoch + 1), rel=1e-12)
    prefixes = {key.split("-")[0] for key in info if key != "comment"}
    assert prefixes == {"train", *sets} and ("comment" in info) == (dataset != "cifar100")


def test_epoch_that_a_training_lacks_is_one_line(api: NATStopology) -> None:
    for iepoch in (-1, 12, 500):
        with pytest.raises(ValueError, match="epochs 0 to 11, got iepoch=") as error:
            api.get_more_info(0, "cifar10", iepoch=iepoch)
        assert "\n" not in str(error.value)
    with pytest.raises(KeyError, match="no valid-accuracy here; it has"):
        api.get_more_info(1, "cifar100", iepoch=40, hp="200")["valid-accuracy"]
    with pytest.raises(NasbedError, match="hp='12', '200', got hp='90'"):
        api.get_more_info(0, "cifar10", hp="90")


def test_simulated_training_costs_its_epochs_and_one_validation(api: NATStopology) -> None:
    """BOHB asks for an epoch before the last; the seconds of all calls add up."""
    total = 0.0
    for iepoch in (0, 3, 11):
        accuracy, latency, seconds, so_far = api.simulate_train_eval(0, "cifar10", iepoch=iepoch, hp="12")
        runs = [run_of(0, "12", "cifar10-valid", seed) for seed in DATA[0]["12"]["dataset_seed"]["cifar10-valid"]]
        (run,) = (run for run in runs if run["eval_acc1es"][f"x-valid@{iepoch}"] == accuracy)
        trained = sum(run["train_times"][each] for each in range(iepoch + 1))
        validated = sum(run["eval_times"][f"x-valid@{each}"] for each in range(iepoch + 1)) / (iepoch + 1)
        assert seconds == pytest.approx(trained + validated, rel=1e-12)
        assert latency == pytest.approx(api.get_latency(0, "cifar10"), rel=1e-12)
        total += seconds
        assert so_far == api.used_time == pytest.approx(total, rel=1e-12)


def test_simulated_training_without_a_validation_takes_both_sets_together(api: NATStopology) -> None:
    """The long trainings are validated once; before, the published package answers with ``ori-test``."""
    run = run_of(1, "200", "cifar100", 777)
    accuracy, _, seconds, _ = api.simulate_train_eval(1, "cifar100", iepoch=40, hp="200")
    assert accuracy == run["eval_acc1es"]["ori-test@40"]
    trained = sum(run["train_times"][each] for each in range(41))
    validated = sum(run["eval_times"][f"x-valid@{each}"] for each in range(200)) / 200
    assert seconds == pytest.approx(trained + validated, rel=1e-12)


# --- trainings -------------------------------------------------------------------------------------------------------


def test_trainings_have_every_number_of_the_file(api: NATStopology) -> None:
    for index, hp, dataset in ((0, "12", "cifar10"), (1, 200, "cifar100"), (1, "12", "ImageNet16-120")):
        trainings = api.query_by_index(index, dataname=dataset, hp=hp)
        assert list(trainings) == DATA[index][str(hp)]["dataset_seed"][dataset]
        for seed, training in trainings.items():
            run = run_of(index, str(hp), dataset, seed)
            assert isinstance(training, ResultsCount) and (training.seed, training.epochs) == (seed, int(hp))
            for column in ("train_acc1es", "train_acc5es", "train_losses", "eval_acc1es", "eval_losses", "eval_times"):
                assert getattr(training, column) == run[column]
            assert training.train_times == dict(run["train_times"]) and training.get_eval_set() == run["eval_names"]
            assert training.state_dict() == {**run, "train_times": dict(run["train_times"])}
            assert training.get_eval("valid" if "x-valid" in run["eval_names"] else "ori-test")["iepoch"] == int(hp) - 1
            assert training.get_latency() == pytest.approx(sum(run["latency"]) / 2, rel=1e-12)


def test_results_of_an_architecture_average_over_its_trainings(api: NATStopology) -> None:
    results = api.query_meta_info_by_index(0, "200")
    seeds = DATA[0]["200"]["dataset_seed"]["cifar100"]
    assert isinstance(results, ArchResults) and results.get_dataset_seeds("cifar100") == seeds
    assert results.get_dataset_names() == list(DATASETS) and results.get_total_epoch() == 200
    expected = [run_of(0, "200", "cifar100", seed)["eval_acc1es"]["x-test@7"] for seed in seeds]
    mean = results.get_metrics("cifar100", "x-test", iepoch=7)
    assert mean["accuracy"] == pytest.approx(sum(expected) / len(expected), rel=1e-12)
    assert results.get_metrics("cifar100", "x-test", iepoch=7, is_random=seeds[-1])["accuracy"] == expected[-1]
    assert results.get_metrics("cifar100", "x-test", iepoch=7, is_random=True)["accuracy"] in expected
    again = ArchResults.create_from_state_dict(results.state_dict())
    assert again.state_dict() == results.state_dict() and again.arch_idx_str() == "000000"
    for ask in (lambda: results.query("mnist"), lambda: results.get_metrics("cifar10", "x-valid")):
        with pytest.raises(KeyError):
            ask()


def test_costs_have_the_times_of_every_set(api: NATStopology) -> None:
    costs = api.get_cost_info(0, "cifar100", "12")
    assert costs["flops"] == 15.64737 and costs["params"] == 0.129306
    seeds = DATA[0]["12"]["dataset_seed"]["cifar100"]
    for name, column, key in (("train", "train_times", "{}"), ("x-test", "eval_times", "x-test@{}")):
        totals = [
            sum(run_of(0, "12", "cifar100", seed)[column][key.format(i) if "@" in key else i] for i in range(12))
            for seed in seeds
        ]
        assert costs[f"T-{name}@total"] == pytest.approx(sum(totals) / len(totals), rel=1e-12)
        assert costs[f"T-{name}@epoch"] == pytest.approx(sum(totals) / len(totals) / 12, rel=1e-12)
    assert set(costs) == {"flops", "params", "latency"} | {
        f"T-{name}@{unit}" for name in ("train", "x-valid", "x-test", "ori-test") for unit in ("epoch", "total")
    }


def test_costs_that_disagree_are_those_of_the_second_seed() -> None:
    """The published parameters of some trainings are those of a smaller cell; the package takes seed 888."""
    data = contents(TOPOLOGIES[:1], ("12",))
    state = data[0]["12"]
    for seed in (888, 999):
        state["all_results"]["cifar10", seed] = copy.deepcopy(state["all_results"]["cifar10", 777]) | {"seed": seed}
    state["all_results"]["cifar10", 777]["params"] = 0.05
    results = ArchResults.create_from_state_dict(state)
    assert results.get_compute_costs("cifar10")["params"] == 0.129306


def test_network_of_an_architecture_is_that_of_the_file(api: NATStopology) -> None:
    assert api.get_net_config(1, "cifar10") == {
        "name": "infer.tiny",
        "C": 16,
        "N": 5,
        "arch_str": TOPOLOGIES[1],
        "num_classes": 10,
    }


# --- partial folders -------------------------------------------------------------------------------------------------


def test_partial_folder_answers_for_what_it_has(folder: Path, tmp_path: Path) -> None:
    data: Folder = {1: DATA[1]}
    partial = create(write_folder(tmp_path / "partial", TOPOLOGIES, data), "tss")
    complete = create(folder, "tss")
    assert len(partial) == 2 and partial.meta_archs == TOPOLOGIES and partial.evaluated_indexes == set()
    assert partial.find_best("cifar10", "valid")[0] == 1
    assert partial.get_more_info(1, "cifar10", is_random=777) == complete.get_more_info(1, "cifar10", is_random=777)
    assert partial.evaluated_indexes == {1} and partial.avaliable_hps == ["12", "200"]
    assert partial.statistics("cifar10", "12") == {len(DATA[1]["12"]["dataset_seed"]["cifar10"]): 1}
    with pytest.raises(ValueError, match="no file of architecture 0"):
        partial.get_more_info(0, "cifar10")


def test_best_of_those_read_is_their_highest_mean(api: NATStopology) -> None:
    with pytest.raises(NasbedError, match="no architecture"):
        api.find_best("cifar100", "valid", enforce_all=False)
    api.get_cost_info(0, "cifar100")
    assert api.find_best("cifar100", "valid", enforce_all=False)[0] == 0
    means = [
        sum(run_of(index, "12", "cifar100", seed)["eval_acc1es"]["x-test@11"] for seed in seeds) / len(seeds)
        for index in (0, 1)
        for seeds in [DATA[index]["12"]["dataset_seed"]["cifar100"]]
    ]
    best, accuracy = api.find_best("cifar100", "test", hp="12")
    assert best == means.index(max(means)) and accuracy == pytest.approx(max(means), rel=1e-12)


def test_best_of_a_complete_folder_comes_from_its_tables_which_are_read_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of all cells, were there but two."""
    complete = tmp_path / folder.name
    complete.symlink_to(folder)
    before = create(complete, "tss").find_best("cifar100", "test", hp="200")
    assert not (tmp_path / f"{folder.name}.nasbed").exists(), "a partial folder is not imported"
    monkeypatch.setattr(type(space("nb201")), "size", len(TOPOLOGIES))
    for _ in range(2):
        best, accuracy = create(complete, "tss").find_best("cifar100", "test", hp="200")
        assert best == before[0] and accuracy == pytest.approx(before[1], rel=1e-12)
        assert (tmp_path / f"{folder.name}.nasbed").is_dir()
        monkeypatch.setattr("nasbed.results.importing.import_tables", None)


def test_folder_of_the_other_space_or_with_a_foreign_file_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="pass the other search_space"):
        create(folder, "sss")
    swapped = write_folder(tmp_path / "swapped", TOPOLOGIES, {0: DATA[1], 1: DATA[0]})
    with pytest.raises(BadFile, match="the list says"):
        create(swapped, "tss").get_more_info(0, "cifar10")


def test_default_folder_is_that_of_torch_home(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASBED_HOME", str(tmp_path))
    monkeypatch.setenv("TORCH_HOME", str(folder.parent))
    assert folder.name == f"{TOPOLOGY_NAMES[-1]}-simple" and SIZE_NAMES == ["NATS-sss-v1_0-50262"]
    api = create(None, "tss")
    assert api.archive_dir == str(folder) and api[1] == TOPOLOGIES[1] and get_torch_home() == str(folder.parent)


def test_dictionary_as_published_answers_like_its_folder(folder: Path) -> None:
    loaded = {"meta_archs": TOPOLOGIES, "arch2infos": DATA, "evaluated_indexes": [0, 1]}
    api, expected = create(loaded, "tss", fast_mode=False), create(folder, "tss")
    for index in (0, 1):
        info = api.get_more_info(index, "cifar100", 3, "12", False)
        assert info == expected.get_more_info(index, "cifar100", 3, "12", False)


def test_sizes_are_read_too(tmp_path: Path) -> None:
    data = contents(SIZES, ("01", "12", "90"))
    for states in data.values():
        for state in states.values():
            for run in state["all_results"].values():
                config = {"name": "infer.shape.tiny", "channels": state["arch_str"], "genotype": TOPOLOGIES[0]}
                run["arch_config"] = config | {"arch_str": state["arch_str"], "class_num": 10}
    api = create(write_folder(tmp_path / "sizes", SIZES, data), "sss")
    assert api.is_size and not api.is_topology and api.full_train_epochs == 90
    expected = data[2]["01"]["all_results"]["cifar10", 777]["eval_acc1es"]["ori-test@0"]
    assert api.get_more_info(SIZES[2], "cifar10", hp="01", is_random=777)["test-accuracy"] == expected
    assert api.get_more_info(2, "cifar10", hp=1, is_random=777)["test-accuracy"] == expected
    config = api.get_net_config(1, "cifar10")
    assert (config["name"], config["channels"], config["num_classes"]) == ("infer.shape.tiny", SIZES[1], 10)


# --- copies and the other names --------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [lambda value: pickle.loads(pickle.dumps(value)), copy.deepcopy])
def test_copied_api_of_a_folder_continues_with_the_same_draws(api: NATStopology, way: Any) -> None:
    api.simulate_train_eval(1, "cifar10")
    duplicate = way(api)
    results = way(api.query_by_index(1, "cifar10"))
    assert results[777].train_acc1es == api.query_by_index(1, "cifar10")[777].train_acc1es
    for _ in range(12):
        assert api.simulate_train_eval(1, "cifar100", hp="200") == duplicate.simulate_train_eval(
            1, "cifar100", hp="200"
        )
        assert api.get_more_info(0, "cifar10") == duplicate.get_more_info(0, "cifar10")


def _in_child(api: NATStopology) -> tuple[float, Any]:
    return api.simulate_train_eval(1, "cifar10")[0], api.query_by_index(0, "cifar10")


@pytest.mark.thorough
def test_objects_cross_into_spawned_children(api: NATStopology) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        accuracy, trainings = pool.apply(_in_child, (api,))
    assert accuracy == api.simulate_train_eval(1, "cifar10")[0]
    assert trainings[777].get_train() == api.query_by_index(0, "cifar10")[777].get_train()


def test_first_interface_of_nas_bench_201_answers_from_the_same_folder(folder: Path, tmp_path: Path) -> None:
    api, nats = NASBench201API(str(folder), verbose=False), create(folder, "tss")
    assert api.get_more_info(0, "cifar10", hp="less", is_random=777) == nats.get_more_info(0, "cifar10", is_random=777)
    assert api.query_by_index(1, "cifar100")[777].get_train(10) == nats.query_by_index(1, "cifar100")[777].get_train(10)
    assert api.find_best("cifar10", "valid", FLOP_max=20.0, hp="full") == nats.find_best("cifar10", "valid", hp="200")
    (tmp_path / "NAS-Bench-201-v1_1-096897.pth").write_bytes(b"published")
    with pytest.raises(BadFile, match="give the folder NATS-tss"):
        NASBench201API(str(tmp_path / "NAS-Bench-201-v1_1-096897.pth"))


def test_files_are_written_as_pickles_and_read_without_running_them(tmp_path: Path) -> None:
    pickle_save({"a": [1, 2.5]}, tmp_path / "value.pickle")
    assert pickle_load(tmp_path / "value.pickle") == pickle_load(tmp_path / "value.pickle.pbz2") == {"a": [1, 2.5]}
    pickle_save(Path("x"), tmp_path / "object.pickle")
    with pytest.raises(BadFile):
        pickle_load(tmp_path / "object.pickle")
    with pytest.raises(KeyError, match="no file is called"):
        pickle_load(tmp_path / "nothing")


def test_published_cells_have_6466_unique_strings() -> None:
    """The published number of cells that are different when zeros and skips are taken into account."""
    cells = space("nb201")
    structures = [topology_str2structure(cells.format(arch)) for arch in cells.enumerate()]
    assert len({structure.to_unique_str(consider_zero=True) for structure in structures}) == 6466


def test_structure_of_a_cell_reads_writes_and_lists_it() -> None:
    text = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|none~2|"
    structure = topology_str2structure(text)
    assert structure.tostr() == text and len(structure) == 4 and structure[1] == (("none", 0), ("skip_connect", 1))
    assert topology_str2structure(structure) is structure and not structure.check_valid()
    assert structure.tolist("none") == (None, False) and structure.tolist("avg_pool_3x3")[1]
    assert structure.check_valid_op(["none", "skip_connect", "nor_conv_3x3"]) and not structure.check_valid_op(["none"])
    assert TopologyStructure.str2fullstructure("|a~0|+|b~1|+|c~0|").tostr() == "|a~0|+|none~0|b~1|+|c~0|none~1|"
    assert len(TopologyStructure.gen_all(["p", "q"], 3, False)) == 2**3
    for wrong in ("|a~b|", "|a|", "|a~1|", 3):
        with pytest.raises(ValueError):
            topology_str2structure(wrong)  # type: ignore[arg-type]


def test_names_of_the_package_are_there() -> None:
    assert version() == "v1.8"
    assert search_space_info("nats-bench", "sss") == {"candidates": [8, 16, 24, 32, 40, 48, 56, 64], "num_layers": 5}
    assert search_space_info("nats-bench", "tss") == search_space_info("nas-bench-201", None)
    with pytest.raises(ValueError):
        search_space_info("nas-bench-201", "tss")
    assert remap_dataset_set_names("cifar10", "valid") == ("cifar10-valid", "x-valid")
    assert remap_dataset_set_names("cifar100", "test") == ("cifar100", "x-test")
    assert remap_dataset_set_names("cifar10", "train") == ("cifar10", "train")
