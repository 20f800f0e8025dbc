"""Searches for real beside those on surrogates of their evaluations, in a case whose answer is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import SerialEngine
from nasbed.core.metric import Metric
from nasbed.experiments.campaign import Campaign, FunctionTrainer, RealSearches, collect, export_journals
from nasbed.experiments.recorded_runs import recorded_runs
from nasbed.results import Results
from nasbed.studies.validation.artefact_validation import validate_artefact
from nasbed.studies.validation.fit_tasks import SurrogateRecipe
from nasbed.studies.validation.page import part_facts
from nasbed.studies.validation.parts import ValidationOptions, cannot_be_checked
from nasbed.studies.validation.searches.recorded import observed_trajectories
from nasbed.studies.validation.study import Validation, validate_results
from nasbed.surrogates.artefact import Artefact
from nasbed.surrogates.table_split import TableSplit

ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
METHODS = ("rs", "re")


def easy(arch: Architecture, fidelity: int, seed: int) -> dict[str, float]:
    """Each of the six edges adds its own amount, so that whoever learns from results beats whoever does not."""
    quality = 10 + 3.0 * sum(arch.code) + 0.1 * (seed % 3)
    return {ACCURACY.key: quality, "train_time_s": 10.0 + arch.code[0]}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("recorded")
    campaign = Campaign(
        "easy",
        searches=RealSearches(METHODS, seeds=3, evaluations=60, workers=3),
        settings={"re": {"population_size": 6, "sample_size": 4}},
    )
    collect(campaign, FunctionTrainer(easy, "nb201", metrics=(ACCURACY,)), folder / "easy.sqlite")
    return export_journals([folder / "easy.sqlite"], folder / "easy")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("validation")


@pytest.fixture(scope="module")
def validation(results: Results, out: Path) -> Validation:
    recipe = SurrogateRecipe("lgb", settings={"rounds": 60, "learning_rate": 0.2, "min_child_weight": 0.01})
    options = ValidationOptions(seeds=3)
    parts = ["trajectories"]
    return validate_results(results, [recipe], out=out, parts=parts, options=options, engine=SerialEngine())


def test_real_side_is_what_the_searches_saw(results: Results, validation: Validation) -> None:
    compared = validation.trajectories
    assert not validation.left_out and compared is not None
    runs = recorded_runs(results)
    seen = {(run.method, run.seed): float(run.value.max()) for run in runs}
    lowest = min(float(compared.real.finals[method].min()) for method in METHODS)
    for method in METHODS:  # all from one best value, which a search on a surrogate may have seen
        expected = [max(seen.values()) - seen[method, number] + lowest for number in range(3)]
        assert compared.real.finals[method].tolist() == pytest.approx(expected)
    assert compared.real.name == "real trainings" and compared.budget == "60ev"


def test_methods_come_out_in_the_known_order_on_both_sides(validation: Validation) -> None:
    compared = validation.trajectories
    assert compared is not None
    names = [side.name for side in compared.surrogates]
    assert names == ["lgb", "lgb, without its data", "lgb, of random search alone"]
    for side in (compared.real, *compared.surrogates[:2]):
        assert side.order == ("re", "rs"), "learning pays where every edge adds its own amount"
    assert compared.agreement["lgb"].order == 1
    facts = part_facts(validation, "trajectories")
    assert facts["trained for real"] == "3 searches of each method"
    assert facts["lgb"] == "the same order as on real trainings: re, rs"


def test_surrogate_without_a_method_has_seen_none_of_its_architectures(
    results: Results, validation: Validation, out: Path
) -> None:
    assert validation.trajectories is not None
    (folder,) = (path.parent for path in out.glob("surrogates/*/without-re"))
    own = {tuple(code) for run in recorded_runs(results) if run.method == "re" for code in run.codes.tolist()}
    others = Results.open(folder / "rows-without-re")
    codes = {tuple(code) for rows in others.batches() for code in rows.codes.tolist()}
    assert codes and not codes & own


def test_second_validation_fits_and_writes_nothing(results: Results, validation: Validation, out: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in out.glob("surrogates/**/*")}
    recipe = SurrogateRecipe("lgb", settings={"rounds": 60, "learning_rate": 0.2, "min_child_weight": 0.01})
    options, parts = ValidationOptions(seeds=3), ["trajectories"]
    again = validate_results(results, [recipe], out=out, parts=parts, options=options, engine=SerialEngine())
    assert {path: path.stat().st_mtime_ns for path in out.glob("surrogates/**/*")} == before
    assert again.trajectories is not None and validation.trajectories is not None
    assert again.trajectories.agreement == validation.trajectories.agreement


def test_surrogate_by_itself_is_compared_with_the_recorded_searches(
    results: Results, validation: Validation, out: Path, tmp_path: Path
) -> None:
    (path,) = out.glob("surrogates/*/whole")
    options = ValidationOptions(seeds=3, methods=("de",))
    parts = ["trajectories"]
    checked = validate_artefact(
        Artefact.load(path), path, results, out=tmp_path, parts=parts, options=options, engine=SerialEngine()
    )
    assert not checked.left_out and checked.trajectories is not None and validation.trajectories is not None
    (side,) = checked.trajectories.surrogates
    assert checked.trajectories.methods == METHODS, "those on record, whatever others are named"
    for method in METHODS:  # the same runs, from the best that these two sides saw
        before = validation.trajectories.surrogates[0].finals[method]
        assert np.ptp(side.finals[method] - before) == pytest.approx(0, abs=1e-9)


def test_regret_of_observed_values_never_rises(results: Results) -> None:
    runs = recorded_runs(results)
    for trajectory in observed_trajectories(runs, ACCURACY, max(float(run.value.max()) for run in runs)):
        assert (np.diff(trajectory.validation_regret) <= 0).all() and trajectory.validation_regret.min() >= 0
        assert np.isnan(trajectory.test_regret).all() and (np.diff(trajectory.time_s) >= 0).all()


def test_searches_without_times_are_left_out_with_a_reason(tmp_path: Path) -> None:
    campaign = Campaign("untimed", searches=RealSearches(("rs", "re"), seeds=1, evaluations=30))
    trainer = FunctionTrainer(easy, "nb201", metrics=(ACCURACY,))
    collect(campaign, trainer, tmp_path / "j.sqlite")
    import sqlite3

    with sqlite3.connect(tmp_path / "j.sqlite") as connection:
        connection.execute("UPDATE results SET train_time_s = NULL WHERE number = 3")
    table = export_journals([tmp_path / "j.sqlite"], tmp_path / "table")
    reasons = cannot_be_checked(TableSplit.of(table), ["trajectories"], ValidationOptions())
    assert reasons == {"trajectories": "the searches of untimed were not timed; a trainer gives train_time_s"}
    searches = table.searches()
    assert searches is not None and np.isnan(searches.of("re", 0).end_s).any()
    with pytest.raises(InvalidOption, match="were not timed"):
        from nasbed.studies.validation.searches.recorded import check_recorded

        check_recorded(table)
