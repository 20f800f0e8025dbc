"""The checks of a surrogate on generated tables whose answers are known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nasbed
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import SerialEngine
from nasbed.evaluation.anytime import Anytime
from nasbed.experiments.runs import load_runs
from nasbed.results import Results, Rows, TableInfo, write_results
from nasbed.results.splits import stratified_split
from nasbed.studies.validation.artefact_validation import validate_artefact
from nasbed.studies.validation.data import ValidationData, one_seed, repeats_of
from nasbed.studies.validation.evaluations.cell_depths import cell_depths
from nasbed.studies.validation.evaluations.embedding import tsne
from nasbed.studies.validation.fit_tasks import Fitter, SurrogateRecipe
from nasbed.studies.validation.fits import fit_jobs, fits
from nasbed.studies.validation.leave_out import BestRegion, leave_one_optimizer_out, random_only, well_performing_only
from nasbed.studies.validation.parameter_free import (
    TRUE,
    parameter_free,
    parameter_free_design,
    places_of,
)
from nasbed.studies.validation.parts import ValidationOptions
from nasbed.studies.validation.searches.benchmarks import (
    check_complete,
    evaluated,
    fitted_surrogate,
    searches,
    without_each,
)
from nasbed.studies.validation.searches.trajectories import BenchmarkSide, SearchPlan, agreement, trajectories
from nasbed.studies.validation.study import validate_results
from nasbed.studies.validation.table_error import BETTER, TABLE, surrogate_against_table
from nasbed.studies.validation.topology import topology
from nasbed.studies.validation.training_size import crossing, default_sizes, training_size
from nasbed.surrogates import SURROGATES, Examples, runtime
from nasbed.surrogates.ensemble import fit_ensemble
from nasbed.surrogates.making import make_surrogate
from nasbed.surrogates.table_split import TableSplit
from support.surrogates import ACCURACY, Ridge, true_mean

NB201 = nasbed.space("nb201")
RIDGE = SurrogateRecipe("ridge")
FITTER = Fitter([RIDGE])
SIGMA = 0.8


@pytest.fixture(scope="module", autouse=True)
def _ridge() -> Iterator[None]:
    """A linear model, the truth's own form, under an id while these tests run; training times by a few small trees."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SURROGATES._entries, "ridge", Ridge)
        patch.setattr(runtime, "RUNTIME_SETTINGS", {"lgb": {"learning_rate": 0.3, "rounds": 20}})
        yield


def evaluations(
    cells: np.ndarray,
    *,
    seeds: int = 1,
    noise: float = SIGMA,
    method: np.ndarray | None = None,
    name: str = "generated",
) -> ValidationData:
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


def with_split(name: str, rows: Examples) -> ValidationData:
    return ValidationData(
        name, NB201, ACCURACY, rows, stratified_split(rows.method, rows.architecture, np.random.default_rng(0))
    )


def random_cells(count: int, seed: int = 0) -> np.ndarray:
    all_cells = np.array(list(np.ndindex(*(5,) * 6)))
    return all_cells[np.random.default_rng(seed).permutation(len(all_cells))[:count]]


# --- the table as a yardstick ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_table_error_is_the_closed_form(seeds: int) -> None:
    """One draw less the mean of k - 1 others is normal with variance σ²(1 + 1/(k - 1))."""
    against = surrogate_against_table(evaluations(random_cells(6000), seeds=seeds), Fitter([]))
    variance = SIGMA**2 * (1 + 1 / (seeds - 1))
    table = against.of(TABLE)
    assert table.mean("mae") == pytest.approx(math.sqrt(variance * 2 / math.pi), rel=0.02)
    assert table.mean("mse") == pytest.approx(variance, rel=0.04)
    assert len(table.by_seed) == seeds and against.architectures == 6000


def test_a_model_of_the_truths_form_has_only_the_error_of_the_mean() -> None:
    against = surrogate_against_table(evaluations(random_cells(3000), seeds=3), FITTER)
    expected = SIGMA * math.sqrt(1 / 2) * math.sqrt(2 / math.pi)
    assert against.of("ridge").mean("mae") == pytest.approx(expected, rel=0.03)
    assert against.of("ridge", BETTER).mean("kendall") > against.of(TABLE, BETTER).mean("kendall")
    assert against.of("ridge", BETTER).by_seed[0].count == pytest.approx(1500, abs=60)


def with_singles(repeated: int, singles: int, *, seeds: int) -> ValidationData:
    """Cells with several seeds, and more with one."""
    cells = random_cells(repeated + singles)
    data = evaluations(cells, seeds=seeds)
    return with_split(data.name, data.rows.take((np.arange(len(data.rows)) < repeated * seeds) | (data.rows.seed == 0)))


def test_models_are_fitted_on_every_architecture_and_judged_on_the_repeated_ones() -> None:
    """Six repeated cells alone say nothing of 25 coefficients; with 2 000 single ones only the noise of a mean is left."""
    data = with_singles(400, 2000, seeds=3)
    against = surrogate_against_table(data, FITTER)
    assert (against.architectures, against.fitted, against.seeds) == (400, 2400, (0, 1, 2))
    expected = SIGMA * math.sqrt(1 / 2) * math.sqrt(2 / math.pi)
    assert against.of("ridge").mean("mae") == pytest.approx(expected, rel=0.1)
    few = surrogate_against_table(with_singles(6, 2000, seeds=3), FITTER)
    alone = surrogate_against_table(with_singles(6, 0, seeds=3), FITTER)
    assert few.of("ridge").mean("mae") < 0.7 * alone.of("ridge").mean("mae")
    curve = training_size(data, FITTER, sizes=[1000], repeats=1)
    assert curve.tested == 400, "more architectures are fitted on than have repeats"


def test_each_architecture_is_fitted_on_with_one_evaluation() -> None:
    data = with_singles(5, 20, seeds=4)
    repeats = repeats_of(data)
    for column, seed in enumerate(repeats.seeds):
        rows = one_seed(data, repeats, column)
        assert len(np.unique(rows.architecture)) == len(rows) == 25
        repeated = np.isin(rows.architecture, repeats.architectures)
        assert repeated.sum() == 5 and set(rows.seed[repeated].tolist()) == {seed}


def test_seeds_that_few_architectures_have_are_left_out_of_the_rotation() -> None:
    data = evaluations(random_cells(30), seeds=6)
    rows = data.rows  # seeds 0 to 3 of all, 4 and 5 of one cell alone
    part = with_split(data.name, rows.take((rows.seed < 4) | (rows.architecture == rows.architecture[0])))
    assert repeats_of(part).seeds == (0, 1, 2, 3) and len(repeats_of(part).codes) == 30


def test_divergence_of_an_ensemble_is_that_of_two_normal_distributions() -> None:
    """By the textbook formula: the other five seeds of each cell, and the mean and spread of four members."""
    data = with_singles(300, 500, seeds=6)
    recipe = SurrogateRecipe("ridge", members=4)
    rotation = surrogate_against_table(data, Fitter([recipe])).of("4 × ridge")
    repeats = repeats_of(data)
    by_hand = []
    for column in range(6):
        others = np.delete(repeats.y, column, axis=1)
        ensemble = fit_ensemble("ridge", NB201, one_seed(data, repeats, column), members=4, seed=0)
        predicted = ensemble.predict(repeats.codes)
        deviation, spread = others.std(axis=1, ddof=1), predicted.spread
        gap = (others.mean(axis=1) - predicted.mean) ** 2
        by_hand.append(np.mean(np.log(spread / deviation) + (deviation**2 + gap) / (2 * spread**2) - 0.5))
    assert rotation.kl == pytest.approx(np.mean(by_hand)) and 0 < rotation.sigma < SIGMA
    assert math.isnan(surrogate_against_table(data, FITTER).of("ridge").kl), "one model has no spread"


def test_only_architectures_with_all_seeds_count() -> None:
    data = evaluations(random_cells(100), seeds=3)
    part = with_split(data.name, data.rows.take(np.arange(300) != 7))
    assert len(repeats_of(part).codes) == 99
    with pytest.raises(InvalidOption, match="several seeds"):
        repeats_of(evaluations(random_cells(10)))


def test_a_model_that_cannot_be_fitted_is_named_with_the_reason() -> None:
    broken = SurrogateRecipe("lgb", settings={"no_such": 1})
    against = surrogate_against_table(evaluations(random_cells(30), seeds=2), Fitter([broken]))
    assert "no_such" in against.failed["lgb"] and [rotation.label for rotation in against.rotations] == [TABLE, TABLE]


# --- training size ---------------------------------------------------------------------------------------------------


def test_error_falls_with_training_size_and_passes_the_table() -> None:
    sizes_study = training_size(evaluations(random_cells(2000), seeds=3), FITTER, sizes=[20, 40, 200, 2000], repeats=6)
    error = sizes_study.curves[0].mae.mean(axis=1)
    assert (np.diff(error) < 0).all() and (np.diff(sizes_study.curves[0].kendall.mean(axis=1)) > 0).all()
    by_error, by_rank = sizes_study.crossings["ridge"]
    assert error[0] > sizes_study.table_mae > error[-1]
    assert 20 < by_error < 2000 and 20 < by_rank < 2000
    assert sizes_study.table_mae == pytest.approx(SIGMA * math.sqrt(1.5 * 2 / math.pi), rel=0.03)


def test_training_size_without_repeated_seeds_has_no_table_to_pass() -> None:
    sizes_study = training_size(evaluations(random_cells(300)), FITTER, sizes=[30, 270], repeats=2)
    assert math.isnan(sizes_study.table_mae) and math.isnan(sizes_study.crossings["ridge"][0])
    assert sizes_study.tested == 30 and sizes_study.curves[0].mae.shape == (2, 2)
    with pytest.raises(InvalidOption, match="1 to 270"):
        training_size(evaluations(random_cells(300)), FITTER, sizes=[271])


@given(st.floats(0.5, 7.5), st.integers(2, 6))
def test_crossing_of_a_straight_line_is_where_it_is_zero(at: float, points: int) -> None:
    sizes = np.round(np.geomspace(1, 1e4, points + 1)).astype(int).tolist()
    gap = at - np.log(np.asarray(sizes, dtype=float))
    size = crossing(sizes, gap)
    assert size == pytest.approx(math.exp(at), rel=1e-9)


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
    cells = random_cells(400)
    shared = np.concatenate([cells, cells[:200]])
    data = evaluations(shared, method=np.array(["a"] * 400 + ["b"] * 200))
    by_label = {fit.label: fit for fit in leave_one_optimizer_out(data, FITTER).fits}
    assert by_label["b"].train == 200 and by_label["b"].scores["its evaluations"].count == 200
    assert "a" not in by_label  # b has no cell of its own, so nothing is left to learn a from


def test_a_method_whose_region_is_like_the_others_is_predicted_to_the_noise() -> None:
    cells = random_cells(1500)
    data = evaluations(cells, method=np.array(["a", "b", "c"] * 500))
    for fit in leave_one_optimizer_out(data, FITTER).fits:
        own = fit.scores["its evaluations"]
        assert own.mse == pytest.approx(SIGMA**2, rel=0.2)
        assert own.r2 == pytest.approx(1 - SIGMA**2 / np.var(data.rows.y), abs=0.03)
    with pytest.raises(InvalidOption, match="at least 2"):
        leave_one_optimizer_out(evaluations(cells), FITTER)


def test_random_only_tests_on_what_random_search_did_not_evaluate() -> None:
    cells = random_cells(900)
    data = evaluations(cells, method=np.where(np.arange(900) % 3 == 0, "rs", "re"))
    (fit,) = random_only(data, FITTER).fits
    assert fit.train == 300 and fit.scores["everything else"].count == fit.scores["re"].count == 600
    assert fit.scores["its best tenth"].count == 60
    with pytest.raises(InvalidOption, match="random search"):
        random_only(evaluations(cells), FITTER)


def test_well_performing_only_splits_at_the_quantile() -> None:
    data = evaluations(random_cells(1000))
    (fit,) = well_performing_only(data, FITTER, region=BestRegion(0.2)).fits
    worse = fit.scores["everything else"]
    assert worse.count == 800 and fit.train == 180 and fit.scores["a tenth of the best, held out"].count == 20
    with pytest.raises(InvalidOption, match="between 0 and 1"):
        ValidationOptions(share=1.5)


# --- fits ------------------------------------------------------------------------------------------------------------


def test_fits_are_of_unseen_architectures_and_ensembles_are_calibrated() -> None:
    data = evaluations(random_cells(1500), seeds=3)
    fitter = Fitter([RIDGE, SurrogateRecipe("ridge", members=4)])
    models = fits(data, fitter, fitter.answers(fit_jobs(data, fitter)))
    assert not set(data.rows.architecture[data.split.train]) & set(data.test.architecture)
    assert (models.train, models.validation, models.test) == (3600, 450, 450)
    assert {fit.label for fit in models.fits} == {"ridge", "4 × ridge"} and not models.failed
    for fit in models.fits:
        assert fit.scores.mae == pytest.approx(SIGMA * math.sqrt(2 / math.pi), rel=0.1)
        assert fit.fit_s > 0 and fit.query_s > 0
        if fit.calibration is not None:
            assert 0.85 < fit.calibration.coverage < 0.95 and fit.calibration.raw_coverage < 0.5
            assert fit.calibration.kl < fit.calibration.raw_kl
    assert sum(fit.calibration is not None for fit in models.fits) == 1


# --- kinds of architectures ------------------------------------------------------------------------------------------


def longest_path(code: tuple[int, ...]) -> int:
    """The longest path of the four-node cell, by trying every path."""
    edges = {(0, 1): 0, (0, 2): 1, (1, 2): 2, (0, 3): 3, (1, 3): 4, (2, 3): 5}
    paths = [(0, 3), (0, 1, 3), (0, 2, 3), (0, 1, 2, 3)]
    connected = [path for path in paths if all(code[edges[step]] for step in pairwise(path))]
    return max((len(path) - 1 for path in connected), default=0)


def test_depth_is_that_of_the_longest_path() -> None:
    cells = random_cells(500)
    np.testing.assert_array_equal(cell_depths(NB201, cells), [longest_path(tuple(cell)) for cell in cells.tolist()])


def test_depth_is_the_one_that_the_space_knows() -> None:
    nb101 = nasbed.space("nb101")
    rng = np.random.default_rng(0)
    archs = [nb101.sample(rng) for _ in range(300)]
    np.testing.assert_array_equal(cell_depths(nb101, nb101.codes(archs)), nb101.properties(archs)["depth"])


def test_depth_of_darts_cells_is_within_a_cell() -> None:
    """From an input over one to four nodes and the concatenation to the output."""
    darts = nasbed.space("darts")
    rng = np.random.default_rng(0)
    depths = cell_depths(darts, darts.codes([darts.sample(rng) for _ in range(200)]))
    assert {3, 4, 5} <= set(depths.tolist()) <= {2, 3, 4, 5}


def test_topology_groups_hold_every_evaluation_once() -> None:
    data = evaluations(random_cells(1000))
    by_depth = topology(data, data.rows.codes, data.rows.y, {"truth": data.rows.y, "turned": -data.rows.y})
    assert sum(by_depth.counts) == 1000 and by_depth.depths == (0, 1, 2, 3)
    for depth, count in zip(by_depth.depths, by_depth.counts, strict=True):
        assert count == sum(longest_path(tuple(cell)) == depth for cell in data.rows.codes.tolist())
    assert min(by_depth.sparse_kendall["truth"]) > 0.97 and max(by_depth.sparse_kendall["turned"]) < -0.97


@pytest.mark.parametrize("name", ["nb201", "darts", "nb101", "transnas-micro"])
def test_parameter_free_designs_have_the_ratio_they_say(name: str) -> None:
    space = nasbed.space(name)
    rng = np.random.default_rng(0)
    codes = space.canonical_codes([space.sample(rng) for _ in range(25)])
    design = parameter_free_design(space, codes, rng, repeats=2)
    places = places_of(space, design.codes)
    operations = design.codes[:, places.columns]
    free = [number for number, op in enumerate(places.names) if "pool" in op or "skip" in op]
    have, total = (np.isin(operations, free) & places.present).sum(axis=1), places.present.sum(axis=1)
    np.testing.assert_array_equal(have, np.round(design.ratio * total))
    full = design.ratio == 1
    assert full.any() and set(design.kind) <= {places.names[number] for number in free}
    for arch in space.architectures(design.codes[::7]):
        space.validate(arch)


def test_parameter_free_truth_is_that_of_the_table() -> None:
    """With every cell in the table and no noise, a model that is right is the same line."""
    data = evaluations(np.array(list(np.ndindex(*(5,) * 6))), noise=0.0)
    design = parameter_free_design(NB201, random_cells(40), np.random.default_rng(0))
    free = parameter_free(data, design, {"right": true_mean(design.codes)})
    assert free.counts == free.evaluated
    lines = {(line.kind, line.label): line.mean for line in free.lines}
    for kind in ("skip_connect", "avg_pool_3x3"):
        np.testing.assert_allclose(lines[kind, "right"], lines[kind, TRUE])
    assert lines["skip_connect", TRUE][-1] < lines["avg_pool_3x3", TRUE][-1]  # worth 1 and 2
    fitted = design.codes[:100]
    unseen = design.without(fitted)
    fitted_codes = set(map(tuple, fitted.tolist()))
    assert not fitted_codes & set(map(tuple, unseen.codes.tolist())) and len(unseen.codes) == sum(
        tuple(code) not in fitted_codes for code in design.codes.tolist()
    )
    with pytest.raises(InvalidOption, match="no parameter-free"):
        places_of(nasbed.space("nats-sss"), np.zeros((1, 5), dtype=np.int64))


def test_tsne_is_decided_by_its_seed_and_ranks_the_best_zero() -> None:
    cells = random_cells(60)
    data = evaluations(np.concatenate([cells, cells]), noise=0.0, method=np.repeat(["a", "b"], 60))
    embedding, same = tsne(data, points=40, seed=3), tsne(data, points=40, seed=3)
    np.testing.assert_array_equal(embedding.points, same.points)
    assert embedding.points.shape == (40, 2) and np.isfinite(embedding.points).all() and embedding.architectures == 60
    assert embedding.rank.min() >= 0 and embedding.rank.max() <= 1
    assert embedding.by_method["a"].all() and embedding.by_method["b"].all()  # both methods evaluated every cell


# --- searches --------------------------------------------------------------------------------------------------------


def curve(values: list[float], spread: float = 0.1) -> Anytime:
    middle = np.array(values)
    return Anytime(np.geomspace(1, 100, len(values)), middle, middle - spread, middle + spread)


def test_agreement_is_complete_with_itself_and_reversed_with_the_reverse() -> None:
    fast, slow = curve([4.0, 2.0, 1.0]), curve([4.0, 3.5, 3.0])
    low = np.linspace(1.0, 1.2, 8)
    first = BenchmarkSide("first", {"a": fast, "b": slow}, {"a": low, "b": low + np.linspace(1.0, 2.0, 8)})
    second = BenchmarkSide("second", {"a": slow, "b": fast}, {"a": low + 2.0, "b": low})
    same = agreement(first, first)
    assert (same.order, same.by_time, same.overlap) == (1.0, 1.0, 1.0) and same.curves == pytest.approx(1.0)
    assert (same.settled, same.kept) == (1, 1)
    turned = agreement(first, second)
    assert turned.order == turned.by_time == -1.0 and turned.overlap < 0.6
    assert (turned.settled, turned.kept) == (1, 0)
    assert first.order == ("a", "b") and second.order == ("b", "a")


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
    about = TableInfo("generated/full", "nb201", (ACCURACY,), dataset="generated")
    return write_results(tmp_path_factory.mktemp("whole"), about, batches)


def test_searches_on_a_faithful_surrogate_agree_with_those_on_the_table(table: Results, tmp_path: Path) -> None:
    check_complete(table)
    path = fitted_surrogate(TableSplit.of(table), RIDGE, tmp_path / "surrogate")
    artefacts = {"ridge": dict.fromkeys(("rs", "ls"), path)}
    engine = SerialEngine()
    plan = SearchPlan(tmp_path, ("rs", "ls"), seeds=3, budget="80ev", engine=engine)
    comparison = trajectories(table.folder, artefacts, plan)
    assert comparison.surrogates[0].order == comparison.real.order == ("ls", "rs")
    assert comparison.agreement["ridge"].order == 1.0 and comparison.agreement["ridge"].curves > 0.8

    surrogates = without_each(table, RIDGE, tmp_path / "table", tmp_path / "out", methods=("rs", "ls"))
    for method, remaining in (("rs", "ls"), ("ls", "rs")):
        rows = Results.open(tmp_path / "out" / f"rows-without-{method}")
        methods = {name for batch in rows.batches() for name in batch.method.tolist()}
        assert methods == {remaining} and surrogates[method].is_dir()


def test_searches_keep_what_each_method_evaluated_as_a_table(table: Results, tmp_path: Path) -> None:
    plan = SearchPlan(tmp_path / "searches", ("rs", "ls"), seeds=2, budget="40ev", engine=SerialEngine())
    comparison = searches(TableSplit.of(table), [RIDGE], plan, out=tmp_path)
    assert [surrogate.name for surrogate in comparison.surrogates] == ["ridge", "ridge, without its data"]
    data = ValidationData.of(TableSplit.of(Results.open(tmp_path / "evaluated")))
    assert data.methods == ["ls", "rs"] and 0 < (data.rows.method == "rs").sum() <= 80


def test_evaluations_that_two_runs_share_are_one_row(table: Results, tmp_path: Path) -> None:
    trajectories(table.folder, {}, SearchPlan(tmp_path, ("rs",), seeds=2, budget="30ev", engine=SerialEngine()))
    runs = load_runs(tmp_path / "table").runs
    rows, repeated_rows = evaluated(runs, table), evaluated([*runs, *runs], table)
    distinct = {tuple(row) for run in runs for row in np.column_stack([run.codes, run.value]).tolist()}
    assert len(rows) == len(repeated_rows) == len(distinct)


def test_a_sample_of_a_space_cannot_be_searched(tmp_path: Path) -> None:
    rows = Rows.of(random_cells(50), {ACCURACY.key: true_mean(random_cells(50))}, fidelity=1)
    results = write_results(tmp_path / "part", TableInfo("part", "nb201", (ACCURACY,)), [rows])
    with pytest.raises(InvalidOption, match="holds 50 of"):
        check_complete(results)


# --- all of it -------------------------------------------------------------------------------------------------------


def test_parts_that_do_not_apply_have_a_reason(tmp_path: Path) -> None:
    cells = random_cells(300)
    rows = Rows.of(cells, {ACCURACY.key: true_mean(cells)}, fidelity=1)
    results = write_results(tmp_path / "part", TableInfo("part", "nb201", (ACCURACY,)), [rows])
    options = ValidationOptions(sizes=(50, 200), repeats=1, points=50, methods=("rs",), seeds=1, budget="5ev")
    validation = validate_results(results, [RIDGE], out=tmp_path / "out", options=options, engine=SerialEngine())
    assert validation.left_out is not None
    without_methods_or_seeds = {"runtime", "table", "looo", "random", "methods", "noise"}
    assert set(validation.left_out) == without_methods_or_seeds | {"topologies", "test", "trajectories"}
    assert validation.fits is not None and validation.size is not None and validation.best is not None
    assert validation.free is not None and validation.depth is not None and validation.tsne is not None


def test_a_surrogate_is_tested_on_what_it_was_not_fitted_on(table: Results, tmp_path: Path) -> None:
    artefact = make_surrogate(table, "ridge", members=2, runtime=None, seed=5)
    path = artefact.save(tmp_path / "surrogate")
    validation = validate_artefact(artefact, path, table, out=tmp_path, parts=("fits", "size", "depth", "free"))
    assert validation.fits is not None and validation.left_out is not None and set(validation.left_out) == {"size"}
    assert validation.fits.test == artefact.manifest.provenance["test_rows"]
    assert validation.fits.fits[0].scores.r2 == pytest.approx(artefact.manifest.figures["r2"], rel=1e-12)
    assert validation.fits.fits[0].scores.sparse_kendall == pytest.approx(artefact.manifest.figures["sparse_kendall"])
    assert validation.depth is not None and validation.free is not None
