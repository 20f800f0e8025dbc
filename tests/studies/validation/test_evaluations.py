"""The parts of a validation that describe evaluations, on tables made so that the answer is known."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import nasbed
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import SerialEngine
from nasbed.core.metric import Metric
from nasbed.evaluation.landscape import value_groups
from nasbed.evaluation.two_way import two_way
from nasbed.results import Results, Rows, TableInfo, write_results
from nasbed.spaces.darts.topologies import topology_codes
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.evaluations.cell_depths import cell_depths, depths_by_cell
from nasbed.studies.validation.evaluations.cell_distributions import (
    ALL_FREE,
    DEPTH,
    cell_distributions,
    parameter_free_counts,
)
from nasbed.studies.validation.evaluations.embedding import tsne
from nasbed.studies.validation.evaluations.method_profiles import method_profiles
from nasbed.studies.validation.evaluations.seed_noise import seed_noise
from nasbed.studies.validation.evaluations.split_agreement import split_agreement
from nasbed.studies.validation.fit_tasks import SurrogateRecipe
from nasbed.studies.validation.leave_out import BestRegion
from nasbed.studies.validation.page import write_validation
from nasbed.studies.validation.parts import ValidationOptions
from nasbed.studies.validation.study import validate_results
from nasbed.studies.validation.topology import topology
from nasbed.studies.validation.topology_effects import EVALUATED, topology_effects
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.table_split import TableSplit
from support.pages import check_page
from support.surrogates import ACCURACY, Ridge, true_mean

RIDGE = SurrogateRecipe("ridge")
DARTS = nasbed.space("darts")
VALIDATION = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
TEST = Metric("accuracy", split="test", unit="%", bounds=(0, 100))


@pytest.fixture(scope="module", autouse=True)
def _ridge() -> Iterator[None]:
    """A linear model under an id while these tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SURROGATES._entries, "ridge", Ridge)
        yield


def random_codes(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return DARTS.codes([DARTS.sample(rng) for _ in range(count)])


def table(
    folder: Path,
    codes: np.ndarray,
    validation: np.ndarray,
    *,
    test: np.ndarray | None = None,
    method: np.ndarray | None = None,
    seed: np.ndarray | None = None,
) -> Results:
    values = {VALIDATION.key: validation} | ({} if test is None else {TEST.key: test})
    about = TableInfo("made", "darts", metrics=(VALIDATION,) if test is None else (VALIDATION, TEST))
    own = {} if method is None else {"method": method}
    own |= {} if seed is None else {"seed": seed}
    return write_results(folder, about, [Rows.of(codes, values, **own)])


def data_of(results: Results) -> ValidationData:
    return ValidationData.of(TableSplit.of(results))


def test_distribution_of_a_method_is_the_step_function_of_its_own_means(tmp_path: Path) -> None:
    """40 values 1 … 40 of one method, and 1.5 … of another: each step is 1/40."""
    values = np.concatenate([np.arange(1.0, 41.0), np.arange(1.5, 41.5)])
    methods = np.repeat(["rs", "re"], 40)
    study = method_profiles(data_of(table(tmp_path / "t", random_codes(80), values, method=methods)))
    assert [profile.method for profile in study.profiles] == ["re", "rs"], "the best median first"
    curve = study.profiles[1].distribution
    assert curve.values.tolist() == np.arange(1.0, 41.0).tolist()
    assert curve.fractions == pytest.approx(np.arange(1, 41) / 40)
    assert (study.profiles[0].best, study.profiles[1].best) == (40.5, 40.0)


def test_depths_of_a_method_are_those_of_its_cells(tmp_path: Path) -> None:
    """Flat normal cells, whose nodes read the inputs alone, beside chains: depths 2 and 5."""
    codes = random_codes(60)
    codes[:, 0::4] = 0
    flat, chain = (1, 1, 1, 1), (1, 2, 3, 4)
    codes[:40, 2::4], codes[40:, 2::4] = flat + chain, chain + flat
    depths = depths_by_cell(DARTS, codes)
    assert depths["normal"].tolist() == [2] * 40 + [5] * 20 and depths["reduce"].tolist() == [5] * 40 + [2] * 20
    assert (cell_depths(DARTS, codes) == 5).all(), "the deeper cell counts"
    methods = np.repeat(["re", "rs"], [40, 20])
    results = table(tmp_path / "t", codes, np.arange(60.0, 0.0, -1.0), method=methods)
    study = method_profiles(data_of(results))
    assert [study.mean_depth(profile, "normal") for profile in study.profiles] == [2, 5]
    assert [study.mean_depth(profile, "reduce") for profile in study.profiles] == [5, 2]
    mapped = tsne(data_of(results), points=20)
    assert set((mapped.depth["normal"] + mapped.depth["reduce"]).tolist()) == {7}


def test_violins_are_the_quartiles_and_the_density_between_the_ends() -> None:
    """A density of a normal sample is near the normal density with the kernel's variance on top; quartiles are exact."""
    rng = np.random.default_rng(0)
    values = rng.normal(70.0, 2.0, size=20_000)
    (group, single) = value_groups(np.append(np.full(20_000, 3), 4), np.append(values, 50.0))
    assert (group.low, group.median, group.high) == pytest.approx(np.quantile(values, [0.25, 0.5, 0.75]))
    assert group.ends == (values.min(), values.max()) == (group.grid[0], group.grid[-1])
    wide = 2.0 * math.sqrt(1 + 2000 ** (-2 / 5))
    assert group.density == pytest.approx(stats.norm(70, wide).pdf(group.grid), abs=0.01)
    assert single.count == 1 and not len(single.grid), "one value has no density"


def test_parameter_free_operations_are_counted_by_cell_and_kind(tmp_path: Path) -> None:
    codes = random_codes(300)
    counts = parameter_free_counts(DARTS, codes)
    for row, arch in enumerate(DARTS.architectures(codes)):
        native = DARTS.to_native(arch)
        for cell, genes in (("normal", native.normal), ("reduce", native.reduce)):
            names = [operation for operation, _ in genes]
            assert counts[cell, "skip_connect"][row] == names.count("skip_connect")
            pooled = sum(name.endswith("pool_3x3") for name in names)
            assert counts[cell, ALL_FREE][row] == names.count("skip_connect") + pooled
    study = cell_distributions(data_of(table(tmp_path / "t", codes, counts["normal", "skip_connect"].astype(float))))
    skips = next(part for part in study.distributions if (part.cell, part.property) == ("normal", "skip_connect"))
    assert all(group.median == group.key for group in skips.groups) and sum(g.count for g in skips.groups) == 300
    assert {part.property for part in study.distributions} >= {DEPTH, "skip_connect", "max_pool_3x3", "avg_pool_3x3"}


def test_noise_is_the_deviation_that_was_put_in(tmp_path: Path) -> None:
    """Better architectures are noisier by construction: σ rises from 0.5 to 1.5 with the mean."""
    rng, count, seeds = np.random.default_rng(0), 1000, 5
    mean, sigma = np.linspace(60, 80, count), np.linspace(0.5, 1.5, count)
    y = (mean[:, None] + sigma[:, None] * rng.normal(size=(count, seeds))).ravel()
    codes = np.repeat(random_codes(count), seeds, axis=0)
    study = seed_noise(data_of(table(tmp_path / "t", codes, y, seed=np.tile(np.arange(seeds), count))))
    bias = math.sqrt(2 / (seeds - 1)) * math.gamma(seeds / 2) / math.gamma((seeds - 1) / 2)  # of a deviation of five
    (everything, deviation), (tenth, deviation_of_best) = study.by_group["all"], study.by_group["best tenth"]
    assert everything == count and deviation == pytest.approx(bias, rel=0.03)
    assert tenth == 100 and deviation_of_best == pytest.approx(1.45 * bias, rel=0.08)
    assert study.correlation > 0.4 and study.seeds == seeds
    assert np.sort(study.std) == pytest.approx(np.sort(y.reshape(count, seeds).std(axis=1, ddof=1)))


def test_validation_and_test_agree_as_scipy_says(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    true = rng.normal(70, 3, size=500)
    seen = true + rng.normal(0, 1, size=500)
    results = table(tmp_path / "t", random_codes(500), seen, test=true)
    study = split_agreement(data_of(results), results)
    top = np.argsort(-true)[:50]
    for group, rows in zip(study.groups, (np.arange(500), top), strict=True):
        assert group.count == len(rows)
        assert group.kendall == pytest.approx(stats.kendalltau(seen[rows], true[rows]).statistic)
        assert group.spearman == pytest.approx(stats.spearmanr(seen[rows], true[rows]).statistic)
    assert (study.chosen, study.best) == (true[np.argmax(seen)], true.max())
    with pytest.raises(InvalidOption, match="no test metric beside validation_accuracy"):
        without = table(tmp_path / "u", random_codes(30), np.arange(30.0))
        split_agreement(data_of(without), without)


def test_depth_decides_the_error_where_it_was_made_so(tmp_path: Path) -> None:
    """Predictions are off by the depth, so the error and the bias of each group are its depth."""
    codes = random_codes(600)
    truth = np.random.default_rng(1).normal(70, 2, size=600)
    data = data_of(table(tmp_path / "t", codes, truth))
    depth = cell_depths(DARTS, codes)
    study = topology(data, codes, truth, {"off": truth + depth, "right": truth})
    for place, level in enumerate(study.depths):
        if study.counts[place] >= 10:
            assert study.mae["off"][place] == pytest.approx(level) == study.bias["off"][place]
            assert study.mae["right"][place] == 0 and study.sparse_kendall["right"][place] == pytest.approx(1, abs=0.02)


# --- topologies and operations ---------------------------------------------------------------------------------------


def test_components_of_variance_are_those_that_were_put_in() -> None:
    """Additive effects of known deviation: the components are the sample's own, and a factor without effect gets
    nothing for having many levels."""
    rng = np.random.default_rng(0)
    rows, columns = rng.normal(0, 2.0, size=180), rng.normal(0, 0.5, size=10)
    exact = two_way(rows[:, None] + columns[None, :])
    assert exact.rows == pytest.approx(rows.std(ddof=1)) and exact.columns == pytest.approx(columns.std(ddof=1))
    assert exact.rest == pytest.approx(0, abs=1e-9)
    variances = [two_way(columns + rng.normal(size=(180, 10))).rows ** 2 for _ in range(200)]
    assert np.mean(variances) < 0.01, "an estimate that counts levels would give 0.1"
    with pytest.raises(InvalidOption, match="at least 2 × 2"):
        two_way(np.ones((1, 5)))


def test_a_table_with_the_list_is_decomposed_and_others_are_not(tmp_path: Path) -> None:
    """The metric is the depth plus the number of skips: the topology explains all that operations do not."""
    design = topology_codes(np.random.default_rng(7), operation_sets=4)
    extra = random_codes(200)
    codes = np.concatenate([design, extra])
    y = cell_depths(DARTS, codes) + (codes[:, 1::2] == 2).sum(axis=1).astype(float)
    results = table(tmp_path / "t", codes, y)
    effects = topology_effects(data_of(results), results, design, {"exact": y[: len(design)]})
    for effect in effects.effects:
        assert (effect.topologies, effect.operation_sets) == (180, 4) and effect.spread.rest < 1e-9
        depth = cell_depths(DARTS, design[:180])
        assert effect.spread.rows == pytest.approx(depth.std(ddof=1))
        assert {level: effect.by_depth[level] + depth.mean() for level in (2, 3, 4, 5)} == pytest.approx(
            {2: 2, 3: 3, 4: 4, 5: 5}
        )
    assert [effect.label for effect in effects.effects] == ["exact", EVALUATED]
    without = table(tmp_path / "u", extra, y[-200:])
    assert [effect.label for effect in topology_effects(data_of(without), without, design, {}).effects] == []


# --- the best region -------------------------------------------------------------------------------------------------


def test_best_region_by_share_and_by_threshold(tmp_path: Path) -> None:
    data = data_of(table(tmp_path / "t", random_codes(100), np.arange(100.0)))
    assert BestRegion(0.25).rows(data).sum() == 25 and BestRegion(threshold=92.0).rows(data).sum() == 8
    assert BestRegion(threshold=92.0).label == "the best from 92 on"
    losses = replace(data, metric=replace(VALIDATION, direction="minimize"))
    assert BestRegion(threshold=7.0).rows(losses).sum() == 8, "low is good"
    for region in (BestRegion(threshold=1000.0), BestRegion(threshold=-1.0)):
        with pytest.raises(InvalidOption, match="has some architectures of made"):
            region.rows(data)


def test_searches_beyond_the_data_find_the_best_where_the_model_is_right(tmp_path: Path) -> None:
    """The truth is linear and so is the model: fitted on the worse half alone it knows the better half too."""
    nb201, rng = nasbed.space("nb201"), np.random.default_rng(0)
    codes = nb201.all_codes()[rng.permutation(15_625)[:400]]
    about = TableInfo("made", "nb201", metrics=(ACCURACY,))
    results = write_results(tmp_path / "t", about, [Rows.of(codes, {ACCURACY.key: true_mean(codes)})])
    options = ValidationOptions(methods=("rs", "re"), seeds=3, budget="40ev", share=0.5)
    validation = validate_results(
        results, [RIDGE], out=tmp_path / "out", parts=["regions", "rest"], options=options, engine=SerialEngine()
    )
    assert not validation.left_out and validation.regions is not None and validation.rest is not None
    (searched,) = validation.regions
    whole, best, rest = ("all evaluations", "the best 50 % only", "all but the best 50 %")
    assert list(searched.incumbents) == [whole, best, rest]
    assert searched.boundary == pytest.approx(np.median(true_mean(codes)), abs=0.1)
    assert searched.share_in_region(whole) == searched.share_in_region(rest) == 1
    unseen = validation.rest.fits[0].scores["the best 50 %"]
    count = int((true_mean(codes) >= searched.boundary).sum())
    assert unseen.sparse_kendall > 0.99 and unseen.count == count
    assert validation.rest.fits[0].train == (400 - count) - (400 - count) // 10
    assert {len(values) for values in searched.incumbents[rest].values()} == {3}


def test_page_and_numbers_have_the_analyses(tmp_path: Path) -> None:
    codes = random_codes(300)
    y = 60.0 + (codes[:, 1::2] > 2).sum(axis=1)
    results = table(tmp_path / "t", codes, y, test=y - 1.0, method=np.repeat(["rs", "re", "de"], 100))
    parts = ["test", "cells", "methods", "topologies", "depth", "tsne"]
    options = ValidationOptions(points=40)
    validation = validate_results(results, [RIDGE], out=tmp_path / "out", parts=parts, options=options)
    assert not validation.left_out and validation.topologies is not None
    assert validation.topologies.effects[0].operation_sets == 10
    write_validation(validation, tmp_path / "page", formats=())
    numbers = json.loads((tmp_path / "page" / "numbers.json").read_text())
    assert numbers["test"]["groups"][0]["kendall"] == pytest.approx(1)
    check_page(tmp_path / "page" / "report.html")
    for title in ("Validation against test", "Topologies against operations", "What each search method evaluated"):
        assert title in (tmp_path / "page" / "report.html").read_text()
