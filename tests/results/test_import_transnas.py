"""TransNAS-Bench-101: a file written here from the published layout with distinct numbers, each read back."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from nasbed.core.errors import BadFile, NasbedError
from nasbed.results import Results, write_results
from nasbed.results.importers import IMPORTERS
from nasbed.results.importers.transnas import TransNASImporter

CLASSES = [f"{split}_{name}" for split in ("train", "valid", "test") for name in ("top1", "top5", "loss")]
PIXELS = [f"{split}_{name}" for split in ("train", "valid", "test") for name in ("ssim", "l1_loss")]
METRICS = {
    "class_scene": CLASSES,
    "class_object": CLASSES,
    "room_layout": [f"{split}_{name}" for split in ("train", "valid", "test") for name in ("loss", "neg_loss")],
    "jigsaw": CLASSES,
    "segmentsemantic": [f"{split}_{name}" for split in ("train", "valid", "test") for name in ("loss", "acc", "mIoU")],
    "normal": PIXELS,
    "autoencoder": PIXELS,
}
"""The published names, without time_elapsed that all have."""
EPOCHS = {"jigsaw": 10, "segmentsemantic": 30, "normal": 30, "autoencoder": 30}
INFO = {
    "inference_time": "latency",
    "encoder_params": "encoder_parameters",
    "model_params": "parameters",
    "model_FLOPs": "multiply_adds",
    "encoder_FLOPs": "encoder_multiply_adds",
}
ARCHITECTURES = {"micro": ["64-41414-1_02_333", "64-41414-3_33_333"], "macro": ["64-4111-basic", "64-224111-basic"]}


def saved() -> dict[str, Any]:
    """The dictionary in the published file, with numbers that never repeat."""
    counter = count(1)

    def draw(name: str) -> float:
        number = next(counter) * 0.0003
        return -number if "neg_loss" in name else number / 10 if "ssim" in name else number

    def result(task: str) -> dict[str, Any]:
        epochs = EPOCHS.get(task, 25)
        metrics: dict[str, list[Any]] = {name: [draw(name) for _ in range(epochs)] for name in METRICS[task]}
        metrics["time_elapsed"] = sorted(draw("time") for _ in range(epochs))
        return {"total_epochs": epochs, "model_info": {name: draw(name) for name in INFO}, "metrics": metrics}

    data = {
        level: {text: {task: result(task) for task in METRICS} for text in texts}
        for level, texts in ARCHITECTURES.items()
    }
    names = {task: [*metrics, "time_elapsed"] for task, metrics in METRICS.items()}
    return {"data": data, "task_list": list(METRICS), "metrics_dict": names, "info_names": list(INFO)}


def write_file(path: Path, value: object) -> Path:
    """As ``torch.save`` writes it, without torch."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps(value, protocol=2))
        file.writestr("archive/version", "3\n")
    return path


def imported(path: Path, out: Path) -> dict[str, Results]:
    return {
        draft.about.name: write_results(out / draft.about.name, draft.about, draft.batches)
        for draft in TransNASImporter().read(path)
    }


def check_numbers(tables: dict[str, Results], value: dict[str, Any]) -> None:
    assert set(tables) == {f"transnas-{level}/{task}" for level in ARCHITECTURES for task in METRICS}
    for level, architectures in value["data"].items():
        for task in METRICS:
            table = tables[f"transnas-{level}/{task}"]
            rows = next(table.batches())
            assert rows.codes.tolist() == [list(table.space.parse(text).code) for text in architectures]
            for index, results in enumerate(architectures.values()):
                result = results[task]
                expected = {
                    name.replace("valid_", "validation_"): result["metrics"][name][-1] for name in METRICS[task]
                }
                expected |= {INFO[name]: number for name, number in result["model_info"].items()}
                assert {key: float(column[index]) for key, column in rows.values.items()} == expected
                assert rows.fidelity[index] == EPOCHS.get(task, 25)
                assert rows.train_time_s[index] == result["metrics"]["time_elapsed"][-1]
            assert (rows.seed == -1).all()


def test_transnas_import_puts_every_number_in_its_column(tmp_path: Path) -> None:
    value = saved()
    check_numbers(imported(write_file(tmp_path / "file.pth", value), tmp_path / "out"), value)


@pytest.mark.parametrize("as_zip", [True, False])
def test_transnas_import_reads_what_torch_saves(as_zip: bool, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="compares with torch.save")
    value = saved()
    torch.save(value, tmp_path / "file.pth", _use_new_zipfile_serialization=as_zip)
    check_numbers(imported(tmp_path / "file.pth", tmp_path / "out"), value)


def test_transnas_tables_say_what_is_better(tmp_path: Path) -> None:
    tables = imported(write_file(tmp_path / "file.pth", saved()), tmp_path / "out")
    main = {name: table.about.metrics[0] for name, table in tables.items()}
    assert {name: metric.key for name, metric in main.items() if "micro" in name} == {
        "transnas-micro/class_scene": "validation_top1",
        "transnas-micro/class_object": "validation_top1",
        "transnas-micro/room_layout": "validation_neg_loss",
        "transnas-micro/jigsaw": "validation_top1",
        "transnas-micro/segmentsemantic": "validation_mIoU",
        "transnas-micro/normal": "validation_ssim",
        "transnas-micro/autoencoder": "validation_ssim",
    }
    assert {metric.direction for metric in main.values()} == {"maximize"}
    for table in tables.values():
        for metric in table.about.metrics:
            assert (metric.direction == "minimize") == (metric.split is None or metric.name in ("loss", "l1_loss"))


def test_transnas_import_takes_the_published_figures(
    tmp_path: Path, published_data: Callable[[str], Path], thorough: bool
) -> None:
    """Real cells, with published numbers as the curves' last: every bound holds, and they come out. By default, the
    cells with one of four operations on the first edge."""
    table = pq.read_table(published_data("tnb101_micro.parquet"))
    published = [row for row in table.to_pylist() if thorough or row["arch"].startswith("3")]
    value = saved()
    value["data"]["micro"] = {}
    for row in published:
        a, b, c, d, e, f = row["arch"]
        curves = {name: [0.0, row[name]] for name in [*METRICS[row["task"]], "time_elapsed"]}
        results = value["data"]["micro"].setdefault(f"64-41414-{a}_{b}{c}_{d}{e}{f}", {})
        results[row["task"]] = {"total_epochs": 2, "model_info": {}, "metrics": curves}
    tables = imported(write_file(tmp_path / "file.pth", value), tmp_path / "out")
    cache = tables["transnas-micro/class_scene"].cache()
    assert len(cache) == (4096 if thorough else 1024)
    best = max(row["valid_top1"] for row in published if row["task"] == "class_scene")
    assert cache.mean("validation_top1", 2).max() == pytest.approx(best, rel=1e-6)


def test_transnas_import_leaves_out_what_is_not_there(tmp_path: Path) -> None:
    value = saved()
    first, second = (value["data"]["micro"][text]["jigsaw"] for text in ARCHITECTURES["micro"])
    first["metrics"]["valid_top1"].pop()
    first["metrics"]["test_loss"][-1] = float("nan")
    first["metrics"]["time_elapsed"] = [f"0{hour}:01:05" for hour in range(10)]
    second["metrics"]["time_elapsed"] = [5.0, 4.0] * 5
    second["model_info"]["model_FLOPs"] = ""
    rows = next(imported(write_file(tmp_path / "file.pth", value), tmp_path / "out")["transnas-micro/jigsaw"].batches())
    assert np.isnan(
        [rows.values["validation_top1"][0], rows.values["test_loss"][0], rows.values["multiply_adds"][1]]
    ).all()
    assert rows.train_time_s[0] == 9 * 3600 + 65 and np.isnan(rows.train_time_s[1])


def test_the_format_is_registered() -> None:
    assert IMPORTERS.get("transnas") is TransNASImporter


# --- files that are not as published ---------------------------------------------------------------------------------


def refusal(path: Path, out: Path) -> str:
    with pytest.raises(NasbedError) as caught:
        imported(path, out)
    message = str(caught.value)
    assert "\n" not in message and not out.exists()
    return message


def test_transnas_import_refuses_damaged_files_and_writes_nothing(tmp_path: Path) -> None:
    path, out = write_file(tmp_path / "file.pth", saved()), tmp_path / "out"
    complete = path.read_bytes()
    flipped = bytearray(complete)
    flipped[len(complete) // 3] ^= 8
    for data in (b"", complete[:-1], complete[: len(complete) // 2], bytes(flipped), b"text", pickle.dumps(saved())):
        path.write_bytes(data)
        with pytest.raises(BadFile):
            imported(path, out)
        assert not out.exists()
    refusal(tmp_path / "none.pth", out)


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.pop("data"),
        lambda value: value.pop("task_list"),
        lambda value: value.update(task_list="jigsaw"),
        lambda value: value.update(task_list=["../up"]),
        lambda value: value.update(task_list=["chess"]),
        lambda value: value["metrics_dict"].pop("class_scene"),
        lambda value: value["metrics_dict"].update(class_scene=["valid_loss"]),
        lambda value: value["metrics_dict"].update(class_scene=["valid_top1", "luck"]),
        lambda value: value["metrics_dict"].update(class_scene=["valid_top1", "train_x-y"]),
        lambda value: value["data"].pop("micro"),
        lambda value: value["data"].update(micro={}),
        lambda value: value["data"]["micro"].update({"64-41414-4_00_000": {}}),
        lambda value: value["data"]["micro"].update({7: {}}),
        lambda value: value["data"]["micro"][ARCHITECTURES["micro"][0]].pop("class_scene"),
        lambda value: value["data"]["micro"][ARCHITECTURES["micro"][0]]["class_scene"].pop("metrics"),
        lambda value: value["data"]["micro"][ARCHITECTURES["micro"][0]]["class_scene"].update(total_epochs=3),
        lambda value: value["data"]["micro"][ARCHITECTURES["micro"][0]]["class_scene"].update(total_epochs="25"),
        lambda value: value["data"]["micro"][ARCHITECTURES["micro"][0]]["class_scene"]["metrics"].pop("valid_top1"),
        lambda value: value["data"]["micro"][ARCHITECTURES["micro"][0]]["class_scene"]["metrics"].update(valid_top1=3),
        lambda value: value["data"]["micro"][ARCHITECTURES["micro"][0]]["class_scene"]["metrics"].update(
            valid_top1=[101.0] * 25
        ),
    ],
)
def test_transnas_import_refuses_other_contents(change: Callable[[dict[str, Any]], object], tmp_path: Path) -> None:
    value = saved()
    change(value)
    refusal(write_file(tmp_path / "file.pth", value), tmp_path / "out" / "first")
