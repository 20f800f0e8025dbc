"""NATS-Bench: folders written here from the published layout with distinct numbers, each read back in its column."""

from __future__ import annotations

import bz2
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nasbed.core.errors import BadFile, NasbedError
from nasbed.results import Results, write_results
from nasbed.results.importers import IMPORTERS
from nasbed.results.importers.nats_bench import NatsBenchImporter
from nasbed.spaces import space
from support.nats_folders import SIZES, TOPOLOGIES, contents, write_folder


def imported(folder: Path, out: Path) -> dict[str, Results]:
    return {
        draft.about.name: write_results(out / draft.about.name, draft.about, draft.batches)
        for draft in NatsBenchImporter().read(folder)
    }


def row_of(table: Results, text: str, epochs: int, seed: int) -> dict[str, float]:
    rows = next(table.batches())
    code = table.space.parse(text).code
    matches = (rows.codes == code).all(axis=1) & (rows.fidelity == epochs) & (rows.seed == seed)
    (index,) = np.flatnonzero(matches)
    return {key: float(column[index]) for key, column in rows.values.items()} | {
        "time": float(rows.train_time_s[index])
    }


@pytest.mark.parametrize(
    ("kind", "texts", "budgets"), [("tss", TOPOLOGIES, ("12", "200")), ("sss", SIZES, ("01", "12", "90"))]
)
def test_nats_import_puts_every_number_in_its_column(
    kind: str, texts: list[str], budgets: tuple[str, ...], tmp_path: Path
) -> None:
    data = contents(texts, budgets)
    tables = imported(write_folder(tmp_path / "in", texts, data), tmp_path / "out")
    assert set(tables) == {f"nats-{kind}/{name}" for name in ("cifar10", "cifar100", "imagenet16-120")}
    assert {table.about.space for table in tables.values()} == {"nb201" if kind == "tss" else "nats-sss"}
    checked = 0
    for index, text in enumerate(texts):
        for budget in budgets:
            runs, epochs, last = data[index][budget]["all_results"], int(budget), int(budget) - 1
            for seed in data[index][budget]["dataset_seed"]["cifar10"]:
                for table, main, tested, test_name in (
                    ("cifar10", "cifar10-valid", "cifar10", "ori-test"),
                    ("cifar100", "cifar100", "cifar100", "x-test"),
                    ("imagenet16-120", "ImageNet16-120", "ImageNet16-120", "x-test"),
                ):
                    run, tested_run = runs[main, seed], runs[tested, seed]
                    expected = {
                        "validation_accuracy": run["eval_acc1es"][f"x-valid@{last}"],
                        "validation_loss": run["eval_losses"][f"x-valid@{last}"],
                        "test_accuracy": tested_run["eval_acc1es"][f"{test_name}@{last}"],
                        "test_loss": tested_run["eval_losses"][f"{test_name}@{last}"],
                        "train_accuracy": run["train_acc1es"][last],
                        "train_loss": run["train_losses"][last],
                        "latency": sum(run["latency"]) / 2,
                        "parameters": 129_306,
                        "flops": 15_647_370,
                        "time": sum(run["train_times"].values()),
                    }
                    assert row_of(tables[f"nats-{kind}/{table}"], text, epochs, seed) == pytest.approx(
                        expected, rel=1e-12
                    )
                    checked += 1
    assert checked == sum(table.manifest.rows for table in tables.values())


@pytest.mark.thorough
def test_nats_import_on_several_cores_gives_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_folder(tmp_path / "in", SIZES, contents(SIZES, ("01", "12")))
    alone = imported(folder, tmp_path / "alone")
    monkeypatch.setattr("nasbed.results.importers.nats_bench.FILES_AT_ONCE", 1)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    together = imported(folder, tmp_path / "together")
    assert {name: table.fingerprint for name, table in alone.items()} == {
        name: table.fingerprint for name, table in together.items()
    }
    (folder / "000002.pickle.pbz2").write_bytes(b"damaged")
    assert "000002.pickle.pbz2" in refusal(folder, tmp_path / "out")


def test_nats_import_leaves_out_what_a_run_lacks(tmp_path: Path) -> None:
    """The 200-epoch runs of the published data have no evaluation but the last, and not every seed on every set."""
    data = contents(TOPOLOGIES[:1], ("12",))
    runs = data[0]["12"]["all_results"]
    del runs["cifar10-valid", 777]
    runs["cifar10", 777]["latency"] = [-1.0]
    runs["cifar100", 777] |= {
        "eval_acc1es": {"x-valid@11": 50.0, "ori-test@11": 60.0},
        "train_times": None,
        "latency": None,
    }
    runs["cifar100", 777]["train_losses"][11] = float("nan")
    tables = imported(write_folder(tmp_path / "in", TOPOLOGIES[:1], data), tmp_path / "out")
    lacks = row_of(tables["nats-tss/cifar10"], TOPOLOGIES[0], 12, 777)
    assert {key for key, value in lacks.items() if not np.isnan(value)} == {
        "test_accuracy",
        "test_loss",
        "parameters",
        "flops",
    }
    half = row_of(tables["nats-tss/cifar100"], TOPOLOGIES[0], 12, 777)
    assert half["validation_accuracy"] == 50.0 and np.isnan(half["test_accuracy"]), "ori-test is no test"
    assert np.isnan([half["time"], half["latency"], half["train_loss"]]).all()


def test_nats_import_takes_numbers_as_numpy_scalars(tmp_path: Path) -> None:
    data = contents(TOPOLOGIES[:1], ("12",))
    run = data[0]["12"]["all_results"]["cifar100", 777]
    run["eval_acc1es"] = {key: np.float64(value) for key, value in run["eval_acc1es"].items()}
    run["params"], run["latency"] = np.float64(0.129306), [np.float32(0.5)]
    tables = imported(write_folder(tmp_path / "in", TOPOLOGIES[:1], data), tmp_path / "out")
    row = row_of(tables["nats-tss/cifar100"], TOPOLOGIES[0], 12, 777)
    assert row["validation_accuracy"] == run["eval_acc1es"]["x-valid@11"] and row["parameters"] == 129_306
    assert row["latency"] == 0.5


def test_size_space_has_32_768_architectures() -> None:
    sizes = space("nats-sss")
    assert sizes.size == 32_768
    assert sizes.to_native(sizes.parse("8:16:24:32:64")) == "8:16:24:32:64"
    for wrong in ("8:16:24:32", "8:16:24:32:41", "8:16:24:32:72", "0:8:8:8:8", "8:8:8:8:8:8"):
        with pytest.raises(NasbedError):
            sizes.parse(wrong)


def test_the_format_is_registered() -> None:
    assert IMPORTERS.get("nats-bench") is NatsBenchImporter


# --- folders that are not as published -------------------------------------------------------------------------------


def refusal(folder: Path, out: Path) -> str:
    with pytest.raises(BadFile) as caught:
        imported(folder, out)
    message = str(caught.value)
    assert "\n" not in message and not out.exists()
    return message


def test_nats_import_refuses_damaged_files_and_writes_nothing(tmp_path: Path) -> None:
    folder, out = write_folder(tmp_path / "in", SIZES, contents(SIZES, ("12",))), tmp_path / "out"
    for name in ("meta.pickle.pbz2", "000002.pickle.pbz2"):
        complete = (folder / name).read_bytes()
        flipped = bytearray(complete)
        flipped[len(complete) // 2] ^= 16
        no_pickle = bz2.compress(b"no pickle")
        hostile = bz2.compress(b"cos\nsystem\nX\x05\x00\x00\x00false\x85R.")
        for data in (b"", complete[:-1], complete[:100], bytes(flipped), b"text", complete + b"x", no_pickle, hostile):
            (folder / name).write_bytes(data)
            refusal(folder, out)
        (folder / name).write_bytes(complete)
    assert len(imported(folder, out)) == 3


def test_nats_import_refuses_incomplete_folders(tmp_path: Path) -> None:
    folder, out = write_folder(tmp_path / "in", SIZES, contents(SIZES, ("12",))), tmp_path / "out"
    assert "meta" in refusal(tmp_path / "nothing", out)
    (folder / "000003.pickle.pbz2").write_bytes((folder / "000002.pickle.pbz2").read_bytes())
    assert "000003.pickle.pbz2 is unexpected" in refusal(folder, out)
    (folder / "000003.pickle.pbz2").unlink()
    (folder / "000001.pickle.pbz2").unlink()
    assert "000001.pickle.pbz2 is missing" in refusal(folder, out)


@pytest.mark.parametrize(
    "texts", [[], ["8:8:8:8:9"], ["|none~0|"], ["8:8:8:8:8"] * 2, [TOPOLOGIES[0], SIZES[0]], [3], None, "8:8:8:8:8"]
)
def test_nats_import_refuses_unknown_architectures(texts: Any, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "in", texts, {0: {}, 1: {}})
    refusal(folder, tmp_path / "out")


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["12"].update(arch_index=7),
        lambda data: data["12"].update(arch_str=SIZES[1]),
        lambda data: data["12"].update(arch_str=np.array(["a", "b"])),
        lambda data: data["12"].update(all_results=[]),
        lambda data: data["12"]["all_results"].update({("mnist", 777): {}}),
        lambda data: data["12"]["all_results"].update({("cifar10", -1): {}}),
        lambda data: data["12"]["all_results"].update({"cifar10": {}}),
        lambda data: data["12"]["all_results"].update({("cifar10", 777): None}),
        lambda data: data["12"]["all_results"]["cifar10", 777].update(epochs=13),
        lambda data: data["12"]["all_results"]["cifar10", 777].update(epochs="12"),
        lambda data: data.update({"13": data["12"]}),
        lambda data: data.update({"13": None}),
        lambda data: data["12"]["all_results"]["cifar100", 777]["eval_acc1es"].update({"x-valid@11": 101.0}),
    ],
)
def test_nats_import_refuses_other_contents(change: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    data = contents(SIZES[:1], ("12",))
    change(data[0])
    folder = write_folder(tmp_path / "in", SIZES[:1], data)
    with pytest.raises(NasbedError) as caught:
        imported(folder, tmp_path / "out")
    assert "\n" not in str(caught.value) and not list((tmp_path / "out").rglob("cifar100/manifest.json"))
