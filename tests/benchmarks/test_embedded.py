"""What comes with the package: whole, small, found by name, and as good as it says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hatchling.builders.wheel import WheelBuilder
from numpy.typing import NDArray
from scipy.stats import kendalltau, spearmanr

import nasbed
from nasbed.benchmarks import SurrogateBenchmark, TabularBenchmark
from nasbed.benchmarks.catalog import card, cards
from nasbed.benchmarks.places import surrogate_paths, table_path
from nasbed.benchmarks.suites import SUITES
from nasbed.benchmarks.withdrawn import WITHDRAWN
from nasbed.core.errors import UnknownName
from nasbed.core.files import file_sha256
from nasbed.core.home import embedded_home, surrogates_folder, table_folder, tables_folder
from nasbed.experiments.recorded_runs import recorded_runs
from nasbed.proxies.table import embedded_scores
from nasbed.results.rows import Rows, concatenate
from nasbed.results.store import Results
from nasbed.spaces.nb101 import NB101
from nasbed.surrogates.artefact import SUFFIX, Artefact
from nasbed.surrogates.quality import fit_figures
from nasbed.surrogates.table_split import TableSplit

ROOT = Path(__file__).resolve().parents[2]
HERE = embedded_home()
TABLES = sorted(path.parent for path in tables_folder(HERE).glob("*/manifest.json"))
SURROGATES = sorted(surrogates_folder(HERE).glob(f"*{SUFFIX}"))
DARTS, DARTS_2 = "darts-cifar10-16", "darts-cifar10-16-v2.0"
each_table = pytest.mark.parametrize("folder", TABLES, ids=lambda path: path.name)
each_surrogate = pytest.mark.parametrize("path", SURROGATES, ids=lambda path: path.name.removesuffix(SUFFIX))


def size(root: Path) -> int:
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def test_embedded_files_are_few_and_small() -> None:
    assert {DARTS, DARTS_2} <= {folder.name for folder in TABLES}
    models = {
        path.name.removesuffix(SUFFIX).removeprefix("snb-darts-cifar10-16-").rsplit("-v", 1)[0] for path in SURROGATES
    }
    assert models >= {f"{model}{variant}" for model in ("lgb", "xgb", "gin") for variant in ("", "-rand")}
    assert size(HERE) < 30_000_000
    named = [*(table.name for table in TABLES), "nb201-cifar10"]  # the last for the published table
    scores = {name: HERE / "scores" / f"{name}.parquet" for name in named}
    assert embedded_scores().items() <= scores.items()
    expected_paths = {HERE / "tables", HERE / "surrogates", HERE / "scores", *SURROGATES, *scores.values()}
    expected_paths |= {HERE / "reference", *(HERE / "reference" / f"{name}.nbr" for name in SUITES)}
    expected_paths |= {HERE / "results", *(HERE / "results").glob("unseen-*.jsonl")}
    odd = [
        path
        for path in HERE.rglob("*")
        if path not in expected_paths and not any(table in [path, *path.parents] for table in TABLES)
    ]
    assert not odd


@each_table
def test_embedded_table_is_what_its_manifest_says(folder: Path) -> None:
    results = Results.open(folder)
    results.verify()
    named = {folder / name for name in results.manifest.files}
    assert {path for path in folder.rglob("*") if path.is_file()} == {*named, folder / "manifest.json"}
    assert results.about.name == folder.name
    assert results.about.licence and results.about.citation
    assert "collected by nasbed" in results.about.source
    notes = results.about.notes
    trainer = json.JSONDecoder().raw_decode(notes, notes.index("{"))[0]
    assert trainer["recipe"]["name"] == results.about.recipe
    name, digest = trainer["dataset"].split()
    assert name == results.about.dataset and len(bytes.fromhex(digest)) >= 8


@each_table
def test_embedded_table_answers_and_nothing_is_written(folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in HERE.rglob("*")}
    benchmark = nasbed.load(folder.name)
    assert isinstance(benchmark, TabularBenchmark)
    archs = list(benchmark.architectures())
    assert len(archs) == len(benchmark) == benchmark.results.manifest.architectures == card(folder.name).architectures
    assert benchmark.query(archs[0], seed=3) == benchmark.query(archs[0], seed=3)
    assert (benchmark.query_many(archs[:50]).values[benchmark.objective] > 9).all()
    assert benchmark.test_metric is not None and np.isfinite(benchmark.mean_test(archs)).all()
    assert {path: path.stat().st_mtime_ns for path in HERE.rglob("*")} == before


def test_embedded_darts_table_says_what_each_method_found() -> None:
    rows = next(Results.open(table_path(DARTS)).batches())
    methods = dict(zip(*np.unique(rows.method, return_counts=True), strict=True))
    assert {"rs", "re", "de", "tpe", "bananas", "ls", "poor"} <= set(methods)
    accuracy = rows.values["validation_accuracy"]
    assert accuracy[rows.method == "poor"].mean() < accuracy[rows.method == "rs"].mean() - 0.5
    assert (rows.train_time_s > 0).all()


def test_embedded_darts_table_has_its_noise_study() -> None:
    rows = concatenate(list(Results.open(table_path(DARTS)).batches()))
    _, owner, counts = np.unique(rows.codes, axis=0, return_inverse=True, return_counts=True)
    assert len(counts) >= 5_000 and (counts == 5).sum() == 200 and set(counts.tolist()) == {1, 5}
    accuracy = rows.values["validation_accuracy"]
    seeds = np.array([accuracy[owner == owner_number] for owner_number in np.flatnonzero(counts == 5)])
    noise = np.sqrt(seeds.var(axis=1, ddof=1).mean())
    assert 0.3 < noise < 1.0 < seeds.mean(axis=1).std()


def test_embedded_times_repeat_as_the_datasheet_says() -> None:
    """Of one architecture in two populations: that of its first seed, and that of its other four."""
    rows = concatenate(list(Results.open(table_path(DARTS)).batches()))
    _, owner, counts = np.unique(rows.codes, axis=0, return_inverse=True, return_counts=True)
    repeated = counts[owner] == 5
    first, second = (
        rows.train_time_s[np.flatnonzero(chosen)[np.argsort(owner[chosen])]]
        for chosen in (repeated & (rows.seed == seed) for seed in (0, 1))
    )
    apart = np.abs(first - second) / second
    assert np.median(apart) == pytest.approx(0.11, abs=0.005) and np.quantile(apart, 0.9) == pytest.approx(
        1 / 3, abs=0.01
    )
    assert kendalltau(first, second).statistic == pytest.approx(0.59, abs=0.005)
    assert np.corrcoef(first, second)[0, 1] ** 2 == pytest.approx(0.56, abs=0.005)


def version_2() -> Rows:
    return concatenate(list(Results.open(table_path(DARTS_2)).batches()))


def test_second_darts_table_has_what_its_datasheet_says() -> None:
    rows = version_2()
    _, first, owner, counts = np.unique(rows.codes, axis=0, return_index=True, return_inverse=True, return_counts=True)
    assert (
        len(rows) == 3_679 and len(counts) == 3_281 and (counts > 1).sum() == 157 and set(rows.status.tolist()) == {0}
    )
    stated = {"validation_accuracy": (0.42, 0.92, 0.89, 0.80), "test_accuracy": (0.40, 0.82, 0.89, 0.79)}
    for key, expected in stated.items():
        accuracy = rows.values[key]
        groups = [accuracy[owner == each] for each in np.flatnonzero(counts > 1)]
        noise = sum(group.var() * len(group) for group in groups) / sum(len(group) - 1 for group in groups)
        spread = np.std([group.mean() for group in groups if len(group) >= 4])
        ceilings = [1 - noise / part.var() for part in (accuracy[first], accuracy[rows.method == "rs"])]
        assert (np.sqrt(noise), spread, *ceilings) == pytest.approx(expected, abs=0.0051)


def test_second_darts_table_keeps_its_searches_and_curves() -> None:
    results = Results.open(table_path(DARTS_2))
    searches, curves = results.searches(), results.curves()
    assert searches is not None and curves is not None
    assert len(curves.values) == results.manifest.rows and curves.values.shape[1] == 12
    methods = [run.method for run in recorded_runs(results)]
    assert sorted(methods) == sorted(["rs", "re", "ls", "bananas"] * 3)


def test_calibrated_times_are_a_function_of_the_architecture_and_add_up() -> None:
    """The calibration was made on random networks. Whole populations of these campaigns took what it says."""
    rows = version_2()
    _, owner = np.unique(rows.codes, axis=0, return_inverse=True)
    calibrated, measured = rows.train_time_s, rows.values["measured_time_s"]
    assert len(np.unique(np.column_stack([owner, calibrated]), axis=0)) == owner.max() + 1
    _, population, sizes = np.unique(rows.timestamp_us, return_inverse=True, return_counts=True)
    sums = [np.bincount(population, weights=times) for times in (calibrated, measured)]
    ratio = sums[0] / sums[1]
    large = ratio[sizes == 192]
    assert len(large) == 15 and (large.min(), large.max(), large.mean()) == pytest.approx(
        (0.965, 1.002, 0.987), abs=0.0006
    )
    small = ratio[sizes < 192]
    assert len(small) == 8 and (small.min(), small.max(), small.mean()) == pytest.approx(
        (0.905, 0.926, 0.918), abs=0.0006
    )
    assert (calibrated.sum(), measured.sum()) == pytest.approx((2_096, 2_158), abs=0.6)


def test_embedded_fbnet_table_has_the_noise_and_the_times_that_its_datasheet_says() -> None:
    rows = concatenate(list(Results.open(table_path("fbnet-cifar10-16-v1.0")).batches()))
    _, owner, counts = np.unique(rows.codes, axis=0, return_inverse=True, return_counts=True)
    assert len(counts) == 1_536 and dict(zip(*np.unique(counts, return_counts=True), strict=True)) == {1: 1_436, 3: 100}
    order = np.flatnonzero(counts[owner] == 3)
    order = order[np.lexsort((rows.seed[order], owner[order]))]
    accuracy, times = rows.values["validation_accuracy"], rows.train_time_s[order].reshape(100, 3)
    by_seed = accuracy[order].reshape(100, 3)
    noise = by_seed.var(axis=1, ddof=1).mean()
    agreement = spearmanr(by_seed[:, 0], by_seed[:, 1]).statistic
    assert (np.sqrt(noise), by_seed.mean(axis=1).std(), agreement) == pytest.approx((1.30, 2.21, 0.71), abs=0.005)
    ceilings = [1 - noise / accuracy[chosen].var() for chosen in (rows.seed == 0, rows.method == "rs")]
    assert ceilings == pytest.approx([0.81, 0.72], abs=0.005)
    apart = np.abs(times[:, 0] - times[:, 1]) / times[:, 1]
    assert (np.median(apart), np.quantile(apart, 0.9)) == pytest.approx((0.013, 0.047), abs=0.0005)
    assert kendalltau(times[:, 0], times[:, 1]).statistic == pytest.approx(0.85, abs=0.005)


def mini() -> tuple[Rows, NDArray[np.float64], list[str]]:
    """The rows of the table of cells, means over seeds by cell and budget, and the published hash of each cell."""
    (folder,) = (folder for folder in TABLES if folder.name.startswith("nb101-mini-cifar10-16"))
    results = Results.open(folder)
    rows = concatenate(list(results.batches()))
    unique, owner = np.unique(rows.codes, axis=0, return_inverse=True)
    budgets, place = np.unique(rows.fidelity, return_inverse=True)
    total = np.zeros((len(unique), len(budgets)))
    np.add.at(total, (owner, place), rows.values["validation_accuracy"])
    space = NB101()
    return rows, total / 3, [str(digest) for digest in space.hashes(space.architectures(unique))]


def test_embedded_cells_are_all_of_up_to_five_vertices_with_three_seeds() -> None:
    rows, means, hashes = mini()
    assert len(set(hashes)) == len(hashes) == 1 + 6 + 84 + 2_441
    assert len(rows) == 2_532 * 3 * 4
    assert set(zip(rows.seed.tolist(), rows.fidelity.tolist(), strict=True)) == {
        (seed, budget) for seed in range(3) for budget in (1, 2, 4, 8)
    }
    assert (np.diff(means.mean(axis=0)) > 6).all()  # more training, better networks


def test_embedded_cells_have_the_noise_that_the_datasheet_says() -> None:
    rows, means, _ = mini()
    stated = {1: (1.40, 4.63, 0.90), 2: (1.16, 4.33, 0.94), 4: (0.93, 4.34, 0.95), 8: (0.69, 4.81, 0.98)}
    for budget, expected in stated.items():
        chosen = np.flatnonzero(rows.fidelity == budget)
        order = chosen[np.lexsort((rows.seed[chosen], *rows.codes[chosen].T))]
        by_seed = rows.values["validation_accuracy"][order].reshape(-1, 3)
        noise = np.sqrt(by_seed.var(axis=1, ddof=1).mean())
        statistics = noise, by_seed.mean(axis=1).std(), spearmanr(by_seed[:, 0], by_seed[:, 1]).statistic
        assert statistics == pytest.approx(expected, abs=0.0051), budget
    with_last = [spearmanr(means[:, place], means[:, -1]).statistic for place in range(3)]
    assert with_last == pytest.approx([0.76, 0.85, 0.96], abs=0.005)


def test_embedded_cells_rank_as_published(published_data: Callable[[str], Path]) -> None:
    """Short trainings of small networks against NAS-Bench-101's of 108 epochs: better than counting parameters."""
    _, means, hashes = mini()
    with np.load(published_data("nb101_20k.npz")) as data:
        key, published, parameters = data["key"].tolist(), data["val108"], data["params"]
    place = {digest: row for row, digest in enumerate(key)}
    common = [row for row, digest in enumerate(hashes) if digest in place]
    places = [place[hashes[row]] for row in common]
    assert len(common) == 137
    scores = [*means[common].T, parameters[places]]
    correlations = [spearmanr(score, published[places]).statistic for score in scores]
    assert correlations == pytest.approx([0.78, 0.82, 0.84, 0.85, 0.70], abs=0.005)  # as the datasheet says


@pytest.mark.parametrize(
    "folder", [folder for folder in TABLES if folder.name.startswith("nb201-")], ids=lambda path: path.name
)
def test_embedded_unseen_table_has_every_function_and_300_with_three_seeds(folder: Path) -> None:
    rows = concatenate(list(Results.open(folder).batches()))
    _, owner, counts = np.unique(rows.codes, axis=0, return_inverse=True, return_counts=True)
    assert len(counts) == 4_954 and dict(zip(*np.unique(counts, return_counts=True), strict=True)) == {1: 4_654, 3: 300}
    assert set(rows.status.tolist()) == {0} and set(rows.fidelity.tolist()) == {8}
    assert sorted(set(rows.seed[counts[owner] == 3].tolist())) == [0, 1, 2] and (rows.train_time_s > 0).all()
    for key in ("validation_accuracy", "test_accuracy", "train_accuracy", "train_loss"):
        assert np.isfinite(rows.values[key]).all()


@each_surrogate
def test_embedded_surrogate_has_the_figures_that_it_claims(path: Path) -> None:
    """Predicted again: the part of the embedded table that nothing was fitted on."""
    artefact = Artefact.load(path)  # checks every byte
    about = artefact.manifest
    assert f"{about.name}{SUFFIX}" == path.name
    table = Results.open(table_path(about.provenance["table"]))
    assert about.provenance["table_manifest_sha256"] == file_sha256(table.folder / "manifest.json")
    assert about.provenance["methods_chosen"] == (["rs"] if "-rand-" in about.name else None)
    split = TableSplit.recorded(
        table,
        about.provenance,
        metric=about.metric,
        fidelity=about.fidelity,
        all_fidelities=about.levels is not None,
    )
    assert split is not None and len(split.test) == about.provenance["test_rows"] >= 50
    figures = fit_figures(artefact.ensemble, split.test, split.metric)
    for name in ("r2", "kendall", "sparse_kendall", "mae", "coverage"):
        assert figures[name] == pytest.approx(about.figures[name], abs=2e-3), name
    assert figures["r2"] > 0.5  # the least: a network of graphs, fitted on 1 465 random ones
    assert 0.8 < figures["coverage"] <= 1


@each_surrogate
def test_embedded_surrogate_answers_by_seed(path: Path) -> None:
    name = path.name.removesuffix(SUFFIX)
    benchmark = nasbed.load(name)
    assert isinstance(benchmark, SurrogateBenchmark) and benchmark.name == name
    arch = benchmark.space.sample(np.random.default_rng(0))
    first, same, third = (benchmark.query(arch, seed=seed) for seed in (1, 1, 2))
    assert first == same and first.values[benchmark.objective] != third.values[benchmark.objective]
    low, high = (80, 95) if "language" in benchmark.name else (50, 80)
    assert low < first.values[benchmark.objective] < high
    assert first.cost_s is not None and 0.01 < first.cost_s < 10
    assert card(name).present and name in [entry.name for entry in cards()]


@pytest.mark.parametrize("name", WITHDRAWN)
def test_withdrawn_benchmark_names_the_one_to_use(name: str) -> None:
    with pytest.raises(UnknownName, match=r"was withdrawn: .*; use snb-darts-cifar10-16-") as refusal:
        nasbed.load(name)
    assert card(str(refusal.value).rsplit("use ", 1)[1]).present


@pytest.mark.parametrize("recipe", ["collect-darts-12", "collect-fbnet"])
def test_embedded_surrogate_counts_the_network_that_was_trained(recipe: str) -> None:
    """Its parameters are those of the torch module that the recipe builds."""
    from nasbed.networks import build
    from nasbed.training import load_recipe
    from nasbed.training.network_factory import recipe_skeleton

    space = recipe.split("-")[1]
    benchmark = nasbed.load(next(path for path in SURROGATES if path.name.startswith(f"snb-{space}-")))
    arch = benchmark.space.sample(np.random.default_rng(1))
    skeleton = recipe_skeleton(space, load_recipe(recipe))
    network = build(arch, classes=10, channels_in=3, image=16, skeleton=skeleton)
    answer = {metric.name: value for metric, value in benchmark.query(arch).values.items()}
    assert answer["parameters"] == sum(parameter.numel() for parameter in network.parameters())


@pytest.mark.parametrize("name", ["lgb", "xgb"])
def test_embedded_name_is_the_packages_on_every_machine(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's of the same name does not change what an id means; its path opens it."""
    path = next(path for path in SURROGATES if f"-{name}-v" in path.name)
    rand_path = next(path for path in SURROGATES if f"-{name}-rand-v" in path.name)
    monkeypatch.setenv("NASBED_HOME", str(tmp_path))
    mine = surrogates_folder() / path.name
    mine.parent.mkdir()
    shutil.copy(rand_path, mine)
    assert surrogate_paths()[path.name.removesuffix(SUFFIX)] == path
    benchmark = nasbed.load(mine)
    assert isinstance(benchmark, SurrogateBenchmark) and "-rand-" in benchmark.artefact.manifest.name
    shutil.copytree(TABLES[0], table_folder(TABLES[0].name))
    assert table_path(TABLES[0].name) == TABLES[0]


QUERY = """
import json, sys
import numpy as np, nasbed
found = []
for name in sys.argv[1:]:
    benchmark = nasbed.load(name)
    arch = benchmark.space.sample(np.random.default_rng(0)) if benchmark.holds_all else next(benchmark.architectures())
    found.append(benchmark.query(arch, seed=5).values[benchmark.objective])
print(nasbed.__file__)
print(json.dumps(found))
"""


def test_wheel_holds_the_embedded_files_and_works_read_only(tmp_path: Path) -> None:
    """From an unpacked wheel in folders that cannot be written, and with a home that cannot be made: the same answers."""
    wheel = Path(next(iter(WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))))
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(site)
    files = [path for path in HERE.rglob("*") if path.is_file()]
    assert {f"nasbed/embedded/{path.relative_to(HERE).as_posix()}" for path in files} <= names
    queried_names = [DARTS, *(path.name.removesuffix(SUFFIX) for path in SURROGATES if "-gin-" not in path.name)]
    locked = [path for path in (site / "nasbed" / "embedded").rglob("*") if path.is_dir()]
    for path in locked:
        path.chmod(0o555)
    try:
        environment = os.environ | {
            "PYTHONPATH": str(site),
            "NASBED_HOME": "/proc/nowhere",
            "NUMBA_CACHE_DIR": str(tmp_path),
        }
        command = [sys.executable, "-B", "-c", QUERY, *queried_names]
        run = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    finally:
        for path in locked:
            path.chmod(0o755)
    assert run.returncode == 0, run.stderr
    where, answers = run.stdout.splitlines()
    assert Path(where).is_relative_to(site)
    rows_here = []
    for name in queried_names:
        benchmark = nasbed.load(name)
        arch = (
            next(benchmark.architectures())
            if isinstance(benchmark, TabularBenchmark)
            else benchmark.space.sample(np.random.default_rng(0))
        )
        rows_here.append(benchmark.query(arch, seed=5).values[benchmark.objective])
    assert json.loads(answers) == rows_here
    unpacked = {path.relative_to(site) for path in (site / "nasbed" / "embedded").rglob("*") if path.is_file()}
    assert unpacked == {Path("nasbed/embedded") / path.relative_to(HERE) for path in files}
