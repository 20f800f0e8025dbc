"""NAS-Bench-301's interface over surrogates of the DARTS space."""

from __future__ import annotations

import copy
import io
import json
import pickle
import shutil
import subprocess
import sys
import zipfile
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nasbed import space
from nasbed.benchmarks import SurrogateBenchmark
from nasbed.compat.nasbench301 import download_models, load_ensemble, model_downloader, representations
from nasbed.core.errors import DownloadFailed, InvalidOption, NasbedError, UnknownName
from support.downloads import servers
from support.surrogates import small_surrogate

SCRIPT = """
import sys
from collections import namedtuple
import nasbench301 as nb

Genotype = namedtuple("Genotype", "normal normal_concat reduce reduce_concat")
genotype = Genotype(
    normal=[("sep_conv_3x3", 0), ("sep_conv_3x3", 1), ("sep_conv_3x3", 0), ("sep_conv_3x3", 1),
            ("sep_conv_3x3", 1), ("skip_connect", 0), ("skip_connect", 0), ("dil_conv_3x3", 2)],
    normal_concat=[2, 3, 4, 5],
    reduce=[("max_pool_3x3", 0), ("max_pool_3x3", 1), ("skip_connect", 2), ("max_pool_3x3", 1),
            ("max_pool_3x3", 0), ("skip_connect", 2), ("skip_connect", 2), ("max_pool_3x3", 1)],
    reduce_concat=[2, 3, 4, 5],
)
performance_model = nb.load_ensemble(sys.argv[1])
runtime_model = nb.load_ensemble(sys.argv[1] + "/runtime")
print(performance_model.predict(config=genotype, representation="genotype", with_noise=False))
print(performance_model.predict(config=genotype, representation="genotype", with_noise=True))
print(runtime_model.predict(config=genotype, representation="genotype"))
"""
Genotype = namedtuple("Genotype", "normal normal_concat reduce reduce_concat")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("nasbench301")
    return small_surrogate(place, "darts").save(place / "surrogate")


def test_nasbench301_predicts_genotypes_and_configurations(folder: Path) -> None:
    darts = space("darts")
    benchmark = SurrogateBenchmark.open(folder)
    ensemble, runtime = load_ensemble(str(folder)), load_ensemble(folder / "runtime")
    rng = np.random.default_rng(0)
    for _ in range(10):
        arch = darts.sample(rng)
        native, config = Genotype(*darts.to_native(arch)), darts.to_config(arch)
        expected = benchmark.expected(arch)
        assert ensemble.predict(native, "genotype", with_noise=False) == expected["validation_accuracy"]
        assert (
            ensemble.predict(config, representation="configspace", with_noise=False) == expected["validation_accuracy"]
        )
        assert ensemble.predict(dict(config), "configspace", with_noise=False) == expected["validation_accuracy"]
        assert runtime.predict(native, "genotype") == expected.cost_s


def test_nasbench301_draws_another_noise_each_time(folder: Path) -> None:
    config = Genotype(*space("darts").to_native(space("darts").sample(np.random.default_rng(1))))
    first, second, third = load_ensemble(folder, seed=1), load_ensemble(folder, seed=1), load_ensemble(folder, seed=2)
    draws = [first.predict(config, "genotype") for _ in range(20)]
    assert len(set(draws)) == 20
    assert draws == [second.predict(config, "genotype") for _ in range(20)]
    assert draws[0] != third.predict(config, "genotype")


def test_nasbench301_copied_continues_with_the_same_noise(folder: Path) -> None:
    config = Genotype(*space("darts").to_native(space("darts").sample(np.random.default_rng(1))))
    ensemble = load_ensemble(folder, seed=1)
    ensemble.predict(config, "genotype")
    copies = [pickle.loads(pickle.dumps(ensemble)), copy.deepcopy(ensemble)]
    expected = [ensemble.predict(config, "genotype") for _ in range(5)]
    for duplicate in copies:
        assert [duplicate.predict(config, "genotype") for _ in range(5)] == expected


def test_nasbench301_leaves_the_global_generators_alone(folder: Path) -> None:
    before = repr(np.random.get_state())
    config = Genotype(*space("darts").to_native(space("darts").sample(np.random.default_rng(1))))
    load_ensemble(folder).predict(config, "genotype")
    assert repr(np.random.get_state()) == before


def test_nasbench301_refuses_what_it_cannot_read(folder: Path, tmp_path: Path) -> None:
    ensemble = load_ensemble(folder)
    with pytest.raises(InvalidOption, match="genotype, configspace"):
        ensemble.predict({}, "graph")
    for wrong in ({}, None, "Genotype", {"edge_normal_0": "conv"}):
        for representation in ("genotype", "configspace"):
            with pytest.raises(NasbedError):
                ensemble.predict(wrong, representation)
    with pytest.raises(InvalidOption, match="space darts"):
        load_ensemble(small_surrogate(tmp_path).save(tmp_path / "nb201.snb"))
    with pytest.raises(UnknownName):
        load_ensemble(tmp_path / "nothing")


def test_nasbench301_runtime_by_its_published_name_answers_in_seconds(folder: Path, tmp_path: Path) -> None:
    arch = space("darts").sample(np.random.default_rng(2))
    native, expected = space("darts").to_native(arch), SurrogateBenchmark.open(folder).expected(arch)
    for name in ("lgb_runtime_v1.0", "xgb_runtime_v0.9", "runtime_v1.0", "my-runtime"):
        shutil.copytree(folder, tmp_path / name)
        runtime = load_ensemble(tmp_path / name)
        assert runtime.is_runtime
        assert [runtime.predict(native, "genotype", noise) for noise in (True, False)] == [expected.cost_s] * 2
    shutil.copytree(folder, tmp_path / "xgb_v1.0")
    assert load_ensemble(tmp_path / "xgb_v1.0").predict(native, "genotype", False) == expected["validation_accuracy"]


def test_nasbench301_without_a_runtime_model_says_so(tmp_path: Path) -> None:
    timed = small_surrogate(tmp_path, "darts")
    untimed = replace(timed, runtime=None, manifest=replace(timed.manifest, runtime=None))
    folder = untimed.save(tmp_path / "lgb_runtime_v1.0")
    for path in (folder, folder / "runtime"):
        with pytest.raises(UnknownName, match="has no runtime model"):
            load_ensemble(path)


def test_nasbench301_ignores_the_training_settings_of_a_published_configuration(folder: Path) -> None:
    ensemble, darts = load_ensemble(folder), space("darts")
    config = dict(darts.to_config(darts.sample(np.random.default_rng(3))))
    settings = {
        "CreateImageDataLoader:batch_size": 77,
        "ImageAugmentation:augment": True,
        "NetworkSelectorDatasetInfo:darts:init_channels": 50,
        "NetworkSelectorDatasetInfo:network": "darts",
        "OptimizerSelector:sgd:learning_rate": 0.3,
        "SimpleTrainNode:mixup:alpha": 0.5,
    }
    alone, together = (ensemble.predict(c, "configspace", False) for c in (config, {**config, **settings}))
    assert alone == together
    assert ensemble.convert_representation({**config, **settings}, "configspace") == config
    with pytest.raises(NasbedError, match="no_such_setting"):
        ensemble.predict({**config, "no_such_setting": 1}, "configspace")


def test_nasbench301_representations_are_the_published_ones() -> None:
    genotype = Genotype(*space("darts").to_native(space("darts").sample(np.random.default_rng(4))))
    config = representations.convert_genotype_to_config(genotype)
    assert len(config) == 2 * (8 + 3)
    assert {name.removeprefix("NetworkSelectorDatasetInfo:darts:").rsplit("_", 1)[0] for name in config} == {
        *("edge_normal", "edge_reduce", "inputs_node_normal", "inputs_node_reduce")
    }
    converters = representations.CONVERTER_DICT
    assert converters["genotype"]().convert(genotype) == converters["configspace"]().convert(config) == config
    with pytest.raises(NotImplementedError, match="genotype, configspace"):
        representations.find_converter("graph")


def test_nasbench301_answers_by_a_chosen_surrogate_where_published_models_are_missing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "nb_models_1.0" / "xgb_v1.0"
    with pytest.raises(
        UnknownName, match=r"download_models, or let a surrogate .* NASBED_NASBENCH301=snb-darts"
    ) as caught:
        load_ensemble(missing)
    assert len(str(caught.value).splitlines()) == 1
    monkeypatch.setenv("NASBED_NASBENCH301", str(folder))
    download_models("1.0", download_dir=tmp_path)
    arch = space("darts").sample(np.random.default_rng(5))
    native, expected = space("darts").to_native(arch), SurrogateBenchmark.open(folder).expected(arch)
    assert load_ensemble(missing).predict(native, "genotype", False) == expected["validation_accuracy"]
    runtime = load_ensemble(missing.with_name("lgb_runtime_v1.0"))
    assert runtime.predict(native, "genotype", False) == expected.cost_s
    messages = capsys.readouterr().err.splitlines()
    assert "nothing is downloaded" in messages[0] and messages[1].endswith("answers in place of xgb_v1.0")
    assert list(tmp_path.iterdir()) == []


def test_download_models_leaves_the_published_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("nb_models/xgb_v1.0/0/surrogate_model.model", "model")
        file.writestr("nb_models/lgb_runtime_v1.0/0/surrogate_model.model", "model")
    with servers() as serve:
        monkeypatch.setitem(model_downloader.URLS, "1.0", serve(content=archive.getvalue()).url)
        download_models(version="1.0", delete_zip=False, download_dir=str(tmp_path))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["models_1.0.zip", "nb_models_1.0"]
        assert sorted(path.name for path in (tmp_path / "nb_models_1.0").iterdir()) == ["lgb_runtime_v1.0", "xgb_v1.0"]
        (tmp_path / "models_1.0.zip").unlink()
        download_models("1.0", download_dir=tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["nb_models_1.0"]
        monkeypatch.setitem(model_downloader.URLS, "0.9", serve(statuses=[404]).url)
        with pytest.raises(DownloadFailed, match=r"cannot be downloaded.*by hand, or let a surrogate of nasbed"):
            download_models("0.9", download_dir=tmp_path)
    with pytest.raises(InvalidOption, match=r"versions 0.9, 1.0, got '2.0'"):
        download_models("2.0", download_dir=tmp_path)


def test_nasbench301_lets_configspace_read_a_published_normal_distribution(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ConfigSpace.read_and_write import json as configspace_json

    monkeypatch.setattr(configspace_json, "read", configspace_json.read)
    load_ensemble(folder)
    normal = {"name": "rate", "type": "normal_float", "log": True, "mu": 0.025, "sigma": 0.05, "default": 0.025}
    choice = {"name": "edge", "type": "categorical", "choices": ["a", "b"], "default": "b"}
    content = {"hyperparameters": [normal, choice], "conditions": [], "forbiddens": [], "json_format_version": 0.1}
    with pytest.warns(DeprecationWarning):
        read = configspace_json.read(json.dumps(content))
    assert read["rate"].default_value == 0.025 and read["edge"].default_value == "b"
    assert {config["edge"] for config in read.sample_configuration(20)} == {"a", "b"}


def test_nasbench301_script_runs_unchanged(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "nasbed.compat", "script.py", str(folder)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    quiet, noisy, seconds = map(float, run.stdout.split())
    assert quiet != noisy
    assert abs(quiet - noisy) < 10
    assert 0 < seconds < 3
