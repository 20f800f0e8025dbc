"""The checks of a surrogate on made-up tables whose answers are known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nasbed
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import SerialEngine
from nasbed.evaluation.anytime import Anytime
from nasbed.experiments.runs import load_runs
from nasbed.results import About, Results, Rows, write_results
from nasbed.results.splits import stratified_split
from nasbed.studies.validation.artefact_validation import validate_artefact
from nasbed.studies.validation.data import Data, repeats_of
from nasbed.studies.validation.embedding import tsne
from nasbed.studies.validation.fits import fit_jobs, fits
from nasbed.studies.validation.fitting import Recipe, answers
from nasbed.studies.validation.left_out import leave_one_optimizer_out, random_only, well_performing_only
from nasbed.studies.validation.parameter_free import (
    TRUE,
    parameter_free,
    parameter_free_design,
    places_of,
)
from nasbed.studies.validation.searches import (
    evaluated,
    fitted_surrogate,
    searches,
    whole_table,
    without_each,
)
from nasbed.studies.validation.study import Options, validate_results
from nasbed.studies.validation.table_error import BETTER, TABLE, surrogate_against_table
from nasbed.studies.validation.topology import cell_depths, topology
from nasbed.studies.validation.training_size import crossing, default_sizes, training_size
from nasbed.studies.validation.trajectories import Side, agreement, trajectories
from nasbed.surrogates import SURROGATES, Examples
from nasbed.surrogates.making import make_surrogate
from nasbed.surrogates.table_split import TableSplit
from support.surrogates import ACCURACY, Ridge, true_mean

NB201 = nasbed.space("nb201")
RIDGE = Recipe("ridge")
SIGMA = 0.8


@pytest.fixture(scope="module", autouse=True)
def _ridge() -> Iterator[None]:
    """A linear model, the truth's own form, under an id while these tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SURROGATES._entries, "ridge", Ridge)
        yield


def made_up(
    cells: np.ndarray, *, seeds: int = 1, noise: float = SIGMA, method: np.ndarray | None = None, name: str = "made-up"
) -> Data:
    """Evaluations of known mean with normal noise, ``seeds`` of each cell."""
    rng = np.random.default_rng(1)
    codes = np.repeat(cells, seeds, axis=0)
    y = true_mean(codes) + noise * rng.normal(size=len(codes))
    own = np.full(len(cells), "") if method is None else method
    _, architecture = np.unique(codes, axis=0, return_inverse=True)
    rows = Examples(
        codes,
        y,
        np.full(len(codes), np.nan),
        architecture.reshape(-1).astype(np.int64),
        np.repeat(own, seeds),
        np.tile(np.arange(seeds), len(cells)),
    )
    return with_split(name, rows)


def with_split(name: str, rows: Examples) -> Data:
    return Data(name, NB201, ACCURACY, rows, stratified_split(rows.method, rows.architecture, np.random.default_rng(0)))


def some_cells(count: int, seed: int = 0) -> np.ndarray:
    every = np.array(list(np.ndindex(*(5,) * 6)))
    return every[np.random.default_rng(seed).permutation(len(every))[:count]]


# --- the table as a yardstick ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_table_error_is_the_closed_form(seeds: int) -> None:
    """One draw less the mean of k - 1 others is normal with variance σ²(1 + 1/(k - 1))."""
    found = surrogate_against_table(made_up(some_cells(6000), seeds=seeds), [])
    variance = SIGMA**2 * (1 + 1 / (seeds - 1))
    table = found.of(TABLE)
    assert table.mean("mae") == pytest.approx(math.sqrt(variance * 2 / math.pi), rel=0.02)
    assert table.mean("mse") == pytest.approx(variance, rel=0.04)
    assert len(table.by_seed) == seeds and found.architectures == 6000


def test_a_model_of_the_truths_form_has_the_error_of_the_others_mean_alone() -> None:
    found = surrogate_against_table(made_up(some_cells(3000), seeds=3), [RIDGE])
    expected = SIGMA * math.sqrt(1 / 2) * math.sqrt(2 / math.pi)
    assert found.of("ridge").mean("mae") == pytest.approx(expected, rel=0.03)
    assert found.of("ridge", BETTER).mean("kendall") > found.of(TABLE, BETTER).mean("kendall")
    assert found.of("ridge", BETTER).by_seed[0].count == pytest.approx(1500, abs=60)


def test_only_architectures_with_all_seeds_count() -> None:
    data = made_up(some_cells(100), seeds=3)
    part = with_split(data.name, data.rows.take(np.arange(300) != 7))
    assert len(repeats_of(part).codes) == 99
    with pytest.raises(InvalidOption, match="several seeds"):
        repeats_of(made_up(some_cells(10)))


def test_a_model_that_cannot_be_fitted_is_named_with_the_reason() -> None:
    broken = Recipe("lgb", settings={"no_such": 1})
    found = surrogate_against_table(made_up(some_cells(30), seeds=2), [broken])
    assert "no_such" in found.failed["lgb"] and [each.label for each in found.rotations] == [TABLE, TABLE]


# --- training size ---------------------------------------------------------------------------------------------------


def test_error_falls_with_training_size_and_passes_the_table() -> None:
    found = training_size(made_up(some_cells(2000), seeds=3), [RIDGE], sizes=[20, 40, 200, 2000], repeats=6)
    error = found.curves[0].mae.mean(axis=1)
    assert (np.diff(error) < 0).all() and (np.diff(found.curves[0].kendall.mean(axis=1)) > 0).all()
    by_error, by_rank = found.crossings["ridge"]
    assert error[0] > found.table_mae > error[-1]
    assert 20 < by_error < 2000 and 20 < by_rank < 2000
    assert found.table_mae == pytest.approx(SIGMA * math.sqrt(1.5 * 2 / math.pi), rel=0.03)


def test_training_size_without_repeated_seeds_has_no_table_to_pass() -> None:
    found = training_size(made_up(some_cells(300)), [RIDGE], sizes=[30, 270], repeats=2)
    assert math.isnan(found.table_mae) and math.isnan(found.crossings["ridge"][0])
    assert found.tested == 30 and found.curves[0].mae.shape == (2, 2)
    with pytest.raises(InvalidOption, match="1 to 270"):
        training_size(made_up(some_cells(300)), [RIDGE], sizes=[271])


@given(st.floats(0.5, 7.5), st.integers(2, 6))
def test_crossing_of_a_straight_line_is_where_it_is_nought(at: float, points: int) -> None:
    sizes = np.round(np.geomspace(1, 1e4, points + 1)).astype(int).tolist()
    gap = at - np.log(np.asarray(sizes, dtype=float))
    found = crossing(sizes, gap)
    assert found == pytest.approx(math.exp(at), rel=1e-9)


def test_crossing_counts_only_where_it_lasts() -> None:
    assert math.isnan(crossing([1, 10, 100], np.array([1.0, -1.0, 0.5])))
    assert crossing([1, 10, 100], np.array([-1.0, -1.0, -2.0])) == pytest.approx(1)
    assert crossing([1, 10, 100, 1000], np.array([1.0, -1.0, 1.0, -1.0])) == pytest.approx(10**2.5)
    assert crossing([1, 10, 100], np.array([np.nan, 1.0, -1.0])) == pytest.approx(10**1.5)


@given(st.integers(1, 100_000))
def test_default_sizes_rise_to_all(most: int) -> None:
    sizes = default_sizes(most)
    assert sizes[-1] == most and list(sizes) == sorted(set(sizes))


# --- left out on purpose ---------------------------------------------------------------------------------------------


def test_leaving_out_a_method_leaves_out_its_architectures_too() -> None:
    """Method b saw half of the cells of a: nothing of them may be learned when b is left out."""
    cells = some_cells(400)
    both = np.concatenate([cells, cells[:200]])
    data = made_up(both, method=np.array(["a"] * 400 + ["b"] * 200))
    found = {fit.label: fit for fit in leave_one_optimizer_out(data, [RIDGE]).fits}
    assert found["b"].train == 200 and found["b"].scores["its evaluations"].count == 200
    assert "a" not in found  # b has no cell of its own, so nothing is left to learn a from


def test_a_method_whose_region_is_like_the_others_is_predicted_to_the_noise() -> None:
    cells = some_cells(1500)
    data = made_up(cells, method=np.array(["a", "b", "c"] * 500))
    for fit in leave_one_optimizer_out(data, [RIDGE]).fits:
        own = fit.scores["its evaluations"]
        assert own.mse == pytest.approx(SIGMA**2, rel=0.2)
        assert own.r2 == pytest.approx(1 - SIGMA**2 / np.var(data.rows.y), abs=0.03)
    with pytest.raises(InvalidOption, match="at least 2"):
        leave_one_optimizer_out(made_up(cells), [RIDGE])


def test_random_only_tests_on_what_random_search_did_not_evaluate() -> None:
    cells = some_cells(900)
    data = made_up(cells, method=np.where(np.arange(900) % 3 == 0, "rs", "re"))
    (fit,) = random_only(data, [RIDGE]).fits
    assert fit.train == 300 and fit.scores["everything else"].count == fit.scores["re"].count == 600
    assert fit.scores["its best tenth"].count == 60
    with pytest.raises(InvalidOption, match="random search"):
        random_only(made_up(cells), [RIDGE])


def test_well_performing_only_splits_at_the_quantile() -> None:
    data = made_up(some_cells(1000))
    (fit,) = well_performing_only(data, [RIDGE], share=0.2).fits
    worse = fit.scores["everything else"]
    assert worse.count == 800 and fit.train == 180 and fit.scores["a tenth of the best, held out"].count == 20
    with pytest.raises(InvalidOption, match="between 0 and 1"):
        well_performing_only(data, [RIDGE], share=1.5)


# --- fits ------------------------------------------------------------------------------------------------------------


def test_fits_are_of_unseen_architectures_and_ensembles_are_calibrated() -> None:
    data = made_up(some_cells(1500), seeds=3)
    recipes = [RIDGE, Recipe("ridge", members=4)]
    found = fits(data, recipes, answers(fit_jobs(data, recipes)))
    assert not set(data.rows.architecture[data.split.train]) & set(data.test.architecture)
    assert (found.train, found.validation, found.test) == (3600, 450, 450)
    assert {fit.label for fit in found.fits} == {"ridge", "4 × ridge"} and not found.failed
    for fit in found.fits:
        assert fit.scores.mae == pytest.approx(SIGMA * math.sqrt(2 / math.pi), rel=0.1)
        assert fit.fit_s > 0 and 0 < fit.query_s < 1
        if fit.calibration is not None:
            assert 0.85 < fit.calibration.coverage < 0.95 and fit.calibration.raw_coverage < 0.5
            assert fit.calibration.kl < fit.calibration.raw_kl
    assert sum(fit.calibration is not None for fit in found.fits) == 1


# --- kinds of architectures ------------------------------------------------------------------------------------------


def longest_path(code: tuple[int, ...]) -> int:
    """By trying every path of the four-node cell."""
    edges = {(0, 1): 0, (0, 2): 1, (1, 2): 2, (0, 3): 3, (1, 3): 4, (2, 3): 5}
    paths = [(0, 3), (0, 1, 3), (0, 2, 3), (0, 1, 2, 3)]
    whole = [path for path in paths if all(code[edges[step]] for step in pairwise(path))]
    return max((len(path) - 1 for path in whole), default=0)


def test_depth_is_that_of_the_longest_path() -> None:
    cells = some_cells(500)
    np.testing.assert_array_equal(cell_depths(NB201, cells), [longest_path(tuple(cell)) for cell in cells.tolist()])


def test_depth_is_the_one_that_the_space_knows() -> None:
    searched = nasbed.space("nb101")
    rng = np.random.default_rng(0)
    archs = [searched.sample(rng) for _ in range(300)]
    np.testing.assert_array_equal(cell_depths(searched, searched.codes(archs)), searched.properties(archs)["depth"])


def test_depth_of_darts_cells_is_within_a_cell() -> None:
    """From an input over one to four nodes and the concatenation to the output."""
    darts = nasbed.space("darts")
    rng = np.random.default_rng(0)
    depths = cell_depths(darts, darts.codes([darts.sample(rng) for _ in range(200)]))
    assert {3, 4, 5} <= set(depths.tolist()) <= {2, 3, 4, 5}


def test_topology_groups_hold_every_evaluation_once() -> None:
    data = made_up(some_cells(1000))
    found = topology(data, data.rows.codes, data.rows.y, {"truth": data.rows.y, "turned": -data.rows.y})
    assert sum(found.counts) == 1000 and found.depths == (0, 1, 2, 3)
    for depth, count in zip(found.depths, found.counts, strict=True):
        assert count == sum(longest_path(tuple(cell)) == depth for cell in data.rows.codes.tolist())
    assert min(found.sparse_kendall["truth"]) > 0.97 and max(found.sparse_kendall["turned"]) < -0.97


@pytest.mark.parametrize("name", ["nb201", "darts", "nb101", "transnas-micro"])
def test_parameter_free_designs_have_the_ratio_they_say(name: str) -> None:
    searched = nasbed.space(name)
    rng = np.random.default_rng(0)
    codes = searched.canonical_codes([searched.sample(rng) for _ in range(25)])
    design = parameter_free_design(searched, codes, rng, repeats=2)
    places = places_of(searched, design.codes)
    operations = design.codes[:, places.columns]
    free = [number for number, op in enumerate(places.names) if "pool" in op or "skip" in op]
    have, total = (np.isin(operations, free) & places.present).sum(axis=1), places.present.sum(axis=1)
    np.testing.assert_array_equal(have, np.round(design.ratio * total))
    full = design.ratio == 1
    assert full.any() and set(design.kind) <= {places.names[number] for number in free}
    for arch in searched.architectures(design.codes[::7]):
        searched.validate(arch)


def test_parameter_free_truth_is_that_of_the_table() -> None:
    """With every cell in the table and no noise, a model that is right is the same line."""
    data = made_up(np.array(list(np.ndindex(*(5,) * 6))), noise=0.0)
    design = parameter_free_design(NB201, some_cells(40), np.random.default_rng(0))
    found = parameter_free(data, design, {"right": true_mean(design.codes)})
    assert found.counts == found.evaluated
    lines = {(line.kind, line.label): line.mean for line in found.lines}
    for kind in ("skip_connect", "avg_pool_3x3"):
        np.testing.assert_allclose(lines[kind, "right"], lines[kind, TRUE])
    assert lines["skip_connect", TRUE][-1] < lines["avg_pool_3x3", TRUE][-1]  # worth 1 and 2
    seen = design.codes[:100]
    left = design.without(seen)
    known = set(map(tuple, seen.tolist()))
    assert not known & set(map(tuple, left.codes.tolist())) and len(left.codes) == sum(
        tuple(code) not in known for code in design.codes.tolist()
    )
    with pytest.raises(InvalidOption, match="no parameter-free"):
        places_of(nasbed.space("nats-sss"), np.zeros((1, 5), dtype=np.int64))


def test_tsne_is_decided_by_its_seed_and_ranks_the_best_nought() -> None:
    cells = some_cells(60)
    data = made_up(np.concatenate([cells, cells]), noise=0.0, method=np.repeat(["a", "b"], 60))
    one, same = tsne(data, points=40, seed=3), tsne(data, points=40, seed=3)
    np.testing.assert_array_equal(one.points, same.points)
    assert one.points.shape == (40, 2) and np.isfinite(one.points).all() and one.architectures == 60
    assert one.rank.min() >= 0 and one.rank.max() <= 1
    assert one.by_method["a"].all() and one.by_method["b"].all()  # both evaluated every cell


# --- searches --------------------------------------------------------------------------------------------------------


def curve(values: list[float], spread: float = 0.1) -> Anytime:
    middle = np.array(values)
    return Anytime(np.geomspace(1, 100, len(values)), middle, middle - spread, middle + spread)


def test_agreement_is_whole_with_itself_and_reversed_with_the_reverse() -> None:
    fast, slow = curve([4.0, 2.0, 1.0]), curve([4.0, 3.5, 3.0])
    low = np.linspace(1.0, 1.2, 8)
    one = Side("one", {"a": fast, "b": slow}, {"a": low, "b": low + np.linspace(1.0, 2.0, 8)})
    other = Side("other", {"a": slow, "b": fast}, {"a": low + 2.0, "b": low})
    same = agreement(one, one)
    assert (same.order, same.by_time, same.overlap) == (1.0, 1.0, 1.0) and same.curves == pytest.approx(1.0)
    assert (same.settled, same.kept) == (1, 1)
    turned = agreement(one, other)
    assert turned.order == turned.by_time == -1.0 and turned.overlap < 0.6
    assert (turned.settled, turned.kept) == (1, 0)
    assert one.order == ("a", "b") and other.order == ("b", "a")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """All of nb201 with two seeds."""
    cells = np.array(list(np.ndindex(*(5,) * 6)))
    rng = np.random.default_rng(0)
    batches = [
        Rows.of(
            cells,
            {ACCURACY.key: true_mean(cells) + 0.3 * rng.normal(size=len(cells))},
            fidelity=12,
            seed=seed,
            train_time_s=10.0 + (cells == 3).sum(axis=1),
            method=np.where(cells[:, 0] < 2, "rs", "re"),
        )
        for seed in range(2)
    ]
    about = About("made-up/whole", "nb201", (ACCURACY,), dataset="made-up")
    return write_results(tmp_path_factory.mktemp("whole"), about, batches)


def test_searches_on_a_faithful_surrogate_agree_with_those_on_the_table(table: Results, tmp_path: Path) -> None:
    whole_table(table)
    path = fitted_surrogate(TableSplit.of(table), RIDGE, tmp_path / "surrogate")
    artefacts = {"ridge": dict.fromkeys(("rs", "ls"), path)}
    engine = SerialEngine()
    found = trajectories(
        table.folder, artefacts, methods=("rs", "ls"), seeds=3, budget="80ev", out=tmp_path, engine=engine
    )
    assert found.surrogates[0].order == found.real.order == ("ls", "rs")
    assert found.agreement["ridge"].order == 1.0 and found.agreement["ridge"].curves > 0.8

    others = without_each(table, RIDGE, tmp_path / "table", tmp_path / "out", methods=("rs", "ls"))
    for method, other in (("rs", "ls"), ("ls", "rs")):
        rows = Results.open(tmp_path / "out" / f"rows-without-{method}")
        methods = {name for batch in rows.batches() for name in batch.method.tolist()}
        assert methods == {other} and others[method].is_dir()


def test_searches_keep_what_each_method_evaluated_as_a_table(table: Results, tmp_path: Path) -> None:
    searched: dict[str, Any] = {"methods": ("rs", "ls"), "seeds": 2, "budget": "40ev", "engine": SerialEngine()}
    found = searches(TableSplit.of(table), [RIDGE], out=tmp_path, **searched)
    assert [each.name for each in found.surrogates] == ["ridge", "ridge, without its data"]
    kept = Data.of(TableSplit.of(Results.open(tmp_path / "evaluated")))
    assert kept.methods == ["ls", "rs"] and 0 < (kept.rows.method == "rs").sum() <= 80


def test_evaluations_that_two_runs_met_are_there_once(table: Results, tmp_path: Path) -> None:
    trajectories(table.folder, {}, methods=("rs",), seeds=2, budget="30ev", out=tmp_path, engine=SerialEngine())
    runs = load_runs(tmp_path / "table").runs
    once, twice = evaluated(runs, table), evaluated([*runs, *runs], table)
    met = {tuple(row) for run in runs for row in np.column_stack([run.codes, run.value]).tolist()}
    assert len(once) == len(twice) == len(met)


def test_a_sample_of_a_space_cannot_be_searched(tmp_path: Path) -> None:
    rows = Rows.of(some_cells(50), {ACCURACY.key: true_mean(some_cells(50))}, fidelity=1)
    results = write_results(tmp_path / "part", About("part", "nb201", (ACCURACY,)), [rows])
    with pytest.raises(InvalidOption, match="holds 50 of"):
        whole_table(results)


# --- all of it -------------------------------------------------------------------------------------------------------


def test_parts_that_do_not_apply_say_why(tmp_path: Path) -> None:
    cells = some_cells(300)
    rows = Rows.of(cells, {ACCURACY.key: true_mean(cells)}, fidelity=1)
    results = write_results(tmp_path / "part", About("part", "nb201", (ACCURACY,)), [rows])
    options = Options(sizes=(50, 200), repeats=1, points=50)
    found = validate_results(results, [RIDGE], out=tmp_path / "out", options=options)
    assert found.left_out is not None
    assert set(found.left_out) == {"table", "looo", "random", "trajectories"}
    assert found.fits is not None and found.size is not None and found.best is not None
    assert found.free is not None and found.depth is not None and found.tsne is not None


def test_a_surrogate_is_tested_on_what_it_was_not_fitted_on(table: Results, tmp_path: Path) -> None:
    artefact = make_surrogate(table, "ridge", members=2, runtime=None, seed=5)
    path = artefact.save(tmp_path / "surrogate")
    found = validate_artefact(artefact, path, table, out=tmp_path, parts=("fits", "size", "depth", "free"))
    assert found.fits is not None and found.left_out is not None and set(found.left_out) == {"size"}
    assert found.fits.test == artefact.manifest.provenance["test_rows"]
    assert found.fits.fits[0].scores.r2 == pytest.approx(artefact.manifest.figures["r2"], rel=1e-12)
    assert found.fits.fits[0].scores.sparse_kendall == pytest.approx(artefact.manifest.figures["sparse_kendall"])
    assert found.depth is not None and found.free is not None
