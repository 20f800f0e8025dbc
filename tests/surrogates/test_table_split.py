"""One split of a table: fit, tune and validate hold out the same rows, and none of these reaches a fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nasbed.core.errors import InvalidOption
from nasbed.core.execution import SerialEngine
from nasbed.experiments.tuning import tune
from nasbed.results import Results, Rows, write_results
from nasbed.studies.validation import SurrogateRecipe, ValidationOptions, validate_artefact, validate_results
from nasbed.surrogates import SURROGATES, Examples
from nasbed.surrogates.artefact_manifest import FILE_NAME
from nasbed.surrogates.base import Floats, Progress
from nasbed.surrogates.making import make_surrogate
from nasbed.surrogates.table_split import TableSplit
from support.surrogates import QUICK, Ridge, with_test_values, write_evaluations

FITTED: set[float] = set()
"""The values that a spy was fitted or stopped on; each evaluation of the table has its own."""


class Spy(Ridge):
    """Notes every value that it is given."""

    name = "spy"

    @classmethod
    def tuning_space(cls) -> Any:
        from ConfigSpace import ConfigurationSpace, Float

        space = ConfigurationSpace()
        space.add(Float("ridge", (1e-3, 1e3), log=True))
        return space

    def fit(self, train: Examples, valid: Examples | None = None, progress: Progress | None = None) -> None:
        FITTED.update(train.y.tolist(), () if valid is None else valid.y.tolist())
        super().fit(train, valid, progress)


@pytest.fixture(autouse=True)
def _spy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SURROGATES._entries, "spy", Spy)
    FITTED.clear()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return write_evaluations(tmp_path_factory.mktemp("split") / "table", count=250)


def mae(truth: Floats, predicted: Floats) -> float:
    return float(np.abs(truth - predicted).mean())


@pytest.mark.parametrize("methods", [None, ["rs"]])
def test_split_is_complete_and_no_architecture_is_in_two_parts(results: Results, methods: list[str] | None) -> None:
    split = TableSplit.of(results, methods=methods, seed=2)
    chosen = split.rows if methods is None else split.rows.by(methods)
    assert sorted([*split.train.y, *split.validation.y, *split.test.y]) == sorted(chosen.y)
    assert np.array_equal(split.fitted.y, split.rows.y[split.parts.fitted])
    by_part = [set(part.architecture.tolist()) for part in (split.train, split.validation, split.test, split.unchosen)]
    assert sum(map(len, by_part)) == len(set.union(*by_part))
    assert len(split.unchosen) == (
        0 if methods is None else (~np.isin(split.rows.architecture, chosen.architecture)).sum()
    )
    repeated = TableSplit.of(results, methods=methods, seed=2)
    assert (repeated.fitted_sha256, repeated.test_sha256) == (split.fitted_sha256, split.test_sha256)
    assert TableSplit.of(results, methods=methods, seed=3).test_sha256 != split.test_sha256


def test_split_refuses_parts_that_overlap_or_lack_rows(results: Results) -> None:
    split = TableSplit.of(results)
    shortened = replace(split.parts, test=split.parts.test[1:])
    with pytest.raises(InvalidOption, match="each of the 500 evaluations in one part, got 499"):
        replace(split, parts=shortened)
    moved = int(split.parts.test[0])  # one of the two evaluations of an architecture
    leaking = replace(shortened, train=np.sort(np.append(split.parts.train, moved)))
    with pytest.raises(InvalidOption, match="the rows of an architecture are in two parts"):
        replace(split, parts=leaking)


def test_split_keeps_its_seed_and_refuses_options_that_it_has(results: Results, tmp_path: Path) -> None:
    split = TableSplit.of(results, seed=3)
    assert TableSplit.from_data(split, seed=5) is split
    assert TableSplit.from_data(results, seed=3).test_sha256 == split.test_sha256
    refusal = "a split has its metric, fidelity and methods already"
    with pytest.raises(InvalidOption, match=refusal):
        make_surrogate(split, "spy", methods=["rs"])
    with pytest.raises(InvalidOption, match=refusal):
        validate_results(split, [SurrogateRecipe("spy")], out=tmp_path, fidelity=split.fidelity)
    assert tune(Spy, split, trials=1, out=tmp_path, seed=5, engine=SerialEngine()).setup.data_sha256 == (
        split.fitted_sha256
    )


def test_fit_tune_and_validate_hold_out_the_same_rows(results: Results, tmp_path: Path) -> None:
    """Each evaluation has a value of its own, so that values tell rows."""
    split = TableSplit.of(results, seed=3)
    test, fitted = set(split.test.y.tolist()), set(split.fitted.y.tolist())
    assert len(test) + len(fitted) == len(split.rows) and len(test) == 50

    artefact = make_surrogate(split, "spy", members=3, runtime=None)
    assert fitted == FITTED
    assert artefact.manifest.figures["mae"] == mae(split.test.y, artefact.ensemble.predict(split.test.codes).mean)

    FITTED.clear()
    tuned = tune(Spy, split, trials=3, out=tmp_path / "tuned", engine=SerialEngine())
    assert set(split.train.y.tolist()) == FITTED
    model = Spy(split.space, settings=tuned.best.settings)
    model.fit(split.train)
    assert tuned.test["mae"] == mae(split.test.y, model.predict(split.test.codes))

    FITTED.clear()
    options = ValidationOptions(sizes=(20,), repeats=1)
    spies = [SurrogateRecipe("spy"), SurrogateRecipe("spy", members=2)]
    validation = validate_results(split, spies, out=tmp_path, parts=["fits", "free", "depth"], options=options)
    assert fitted == FITTED and validation.fits is not None
    for fit in validation.fits.fits:
        assert set(fit.points.truth.tolist()) == test

    path = artefact.save(tmp_path / "spy.snb")
    repeated = validate_artefact(artefact, path, results, out=tmp_path, parts=["fits"])
    assert repeated.fits is not None and set(repeated.fits.fits[0].points.truth.tolist()) == test
    assert repeated.fits.fits[0].scores.mae == artefact.manifest.figures["mae"]


@pytest.mark.parametrize("model", ["lgb", "xgb", "rf"])
@pytest.mark.parametrize("methods", [None, ["rs"]])
def test_held_out_values_change_no_byte_of_a_fit(
    model: str, methods: list[str] | None, results: Results, tmp_path: Path
) -> None:
    """Poisoned in the table itself, values and times: nothing reads it behind the split's back."""
    split = TableSplit.of(results, methods=methods, seed=1)
    test = set(split.parts.test.tolist())
    held_out = np.array([row in test for row in range(len(split.rows))])
    (rows,) = results.batches()
    assert np.array_equal(rows.values[split.metric.key], split.rows.y)
    values = {**rows.values, split.metric.key: np.where(held_out, 100 - split.rows.y, split.rows.y)}
    poisoned = Rows.of(
        rows.codes,
        values,
        fidelity=rows.fidelity,
        seed=rows.seed,
        train_time_s=np.where(held_out, 1e6, rows.train_time_s),
        method=rows.method,
    )
    poisoned_split = TableSplit.of(
        write_results(tmp_path / "poisoned", results.about, [poisoned]), methods=methods, seed=1
    )
    assert poisoned_split.fitted_sha256 == split.fitted_sha256 and poisoned_split.test_sha256 != split.test_sha256
    by_model: dict[str, dict[str, Any]] = {"rf": {"trees": 5}, "xgb": {"rounds": 10}, "lgb": QUICK}
    quick = by_model[model]
    clean, changed = (make_surrogate(part, model, members=2, settings=quick) for part in (split, poisoned_split))
    assert clean.manifest.figures["mae"] != changed.manifest.figures["mae"]
    assert clean.manifest.figures["runtime_r2"] != changed.manifest.figures["runtime_r2"]
    before, after = clean.files(), changed.files()
    assert before.pop(FILE_NAME) != after.pop(FILE_NAME)
    assert before == after


def test_held_out_values_change_no_prediction_of_a_validation(results: Results, tmp_path: Path) -> None:
    split = TableSplit.of(results, seed=1)
    poisoned = with_test_values(split, 100 - split.test.y)
    recipes = [SurrogateRecipe("lgb", settings=QUICK)]
    clean, changed = (validate_results(part, recipes, out=tmp_path, parts=["fits"]).fits for part in (split, poisoned))
    assert clean is not None and changed is not None
    assert np.array_equal(clean.fits[0].points.predicted, changed.fits[0].points.predicted)
    assert np.array_equal(clean.fits[0].points.truth, 100 - changed.fits[0].points.truth)


def test_artefact_records_its_split(results: Results, tmp_path: Path) -> None:
    split = TableSplit.of(results, methods=["re"], seed=6)
    about = make_surrogate(split, "spy", members=2, runtime=None).manifest
    options: dict[str, Any] = {"metric": about.metric, "fidelity": about.fidelity}
    recorded = TableSplit.recorded(results, about.provenance, **options)
    assert recorded is not None and recorded.methods == ("re",) and recorded.seed == 6
    assert (recorded.fitted_sha256, recorded.test_sha256) == (split.fitted_sha256, split.test_sha256)
    other_table = write_evaluations(tmp_path / "other", count=60)
    assert TableSplit.recorded(other_table, about.provenance, **options) is None
    with pytest.raises(InvalidOption, match="records test_rows 7, the same split of made-up has"):
        TableSplit.recorded(results, {**about.provenance, "test_rows": 7}, **options)
    older = {name: about.provenance[name] for name in ("table_manifest_sha256", "methods_chosen", "split_seed")}
    assert TableSplit.recorded(results, older, **options) is not None


@pytest.mark.parametrize("methods", [None, ["rs"]])
def test_architectures_with_a_poor_evaluation_are_left_out_whole(results: Results, methods: list[str] | None) -> None:
    """The rule of section 2 of the Surrogate NAS Benchmarks: below a value "on any of the three evaluations"."""
    everything = TableSplit.of(results)
    limit = float(np.quantile(everything.rows.y, 0.3))
    split = TableSplit.of(results, methods=methods, at_least=limit)
    poor = everything.rows.architecture[everything.rows.y < limit]
    expected = everything.rows.take(~np.isin(everything.rows.architecture, poor))
    assert sorted(split.rows.y.tolist()) == sorted(expected.y.tolist()) and split.rows.y.min() >= limit
    assert 0 < len(split.rows) < (everything.rows.y >= limit).sum(), "some good evaluations are of poor architectures"
    about = make_surrogate(split, "spy", members=2, runtime=None).manifest
    assert about.provenance["at_least"] == limit and min(FITTED) >= limit
    recorded = TableSplit.recorded(results, about.provenance, metric=about.metric, fidelity=about.fidelity)
    assert recorded is not None and recorded.test_sha256 == split.test_sha256
    with pytest.raises(InvalidOption, match="no architecture has every"):
        TableSplit.of(results, at_least=101.0)
    with pytest.raises(InvalidOption, match="compared with a number"):
        TableSplit.of(results, at_least=float("nan"))


def test_seed_of_a_fit_is_that_of_its_split_unless_it_is_named(results: Results) -> None:
    split = TableSplit.of(results, seed=4)
    by_split, by_table, named = (
        make_surrogate(split, "spy", members=2, runtime=None),
        make_surrogate(results, "spy", members=2, runtime=None, seed=4),
        make_surrogate(split, "spy", members=2, runtime=None, seed=5),
    )
    assert by_split.manifest.members.seeds == by_table.manifest.members.seeds != named.manifest.members.seeds
    assert {about.manifest.provenance["split_seed"] for about in (by_split, by_table, named)} == {4}


def test_split_has_its_metric_and_methods_already(results: Results, tmp_path: Path) -> None:
    split = TableSplit.of(results)
    with pytest.raises(InvalidOption, match="a split has its metric"):
        make_surrogate(split, "spy", methods=["rs"])
    with pytest.raises(InvalidOption, match="a split has its metric"):
        validate_results(split, [SurrogateRecipe("spy")], out=tmp_path, fidelity=12)


def test_split_without_a_test_part_is_refused(tmp_path: Path) -> None:
    split = TableSplit.of(write_evaluations(tmp_path / "few", count=2))
    with pytest.raises(InvalidOption, match="made-up has too few: 4 evaluations; choose a table"):
        make_surrogate(split, "spy")
    with pytest.raises(InvalidOption, match="has too few"):
        tune(Spy, split, trials=1, out=tmp_path / "tuned")


def test_split_without_any_training_time_says_that_there_is_none(results: Results) -> None:
    split = TableSplit.of(results)
    untimed = replace(split, rows=replace(split.rows, cost_s=np.full_like(split.rows.cost_s, np.nan))).timed()
    with pytest.raises(InvalidOption, match="has no evaluation with train_time_s; choose another metric or table"):
        untimed.check_parts()
