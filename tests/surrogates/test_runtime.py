"""The runtime model: figures in seconds with known answers, and settings that are tuned."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nasbed.core.errors import InvalidOption
from nasbed.core.execution import SerialEngine
from nasbed.experiments.tuning import BEST, load_runtime_settings, load_settings, tune
from nasbed.results.rows import Rows
from nasbed.results.store import Results, write_results
from nasbed.surrogates.making import make_surrogate
from nasbed.surrogates.quality import figures_in_seconds
from nasbed.surrogates.runtime import RUNTIME_SETTINGS
from nasbed.surrogates.scores import r2
from nasbed.surrogates.table_split import TableSplit
from support.surrogates import write_evaluations

CLOCK = RUNTIME_SETTINGS["lgb"]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Operation by operation, times add up; every fifth evaluation has none."""
    folder = tmp_path_factory.mktemp("runtime")
    rows = next(write_evaluations(folder / "plain", count=150).batches())
    seconds = 0.1 + np.array([0.0, 0.1, 0.4, 1.5, 0.2])[rows.codes].sum(axis=1)
    seconds[::5] = np.nan
    timed = Rows.of(
        rows.codes,
        rows.values,
        fidelity=rows.fidelity,
        seed=rows.seed,
        train_time_s=seconds,
        method=rows.method,
    )
    return write_results(folder / "table", Results.open(folder / "plain").about, [timed])


def test_figures_in_seconds_are_of_seconds_not_of_logarithms() -> None:
    truth, predicted = np.log([1.0, 2.0, 3.0]), np.log([1.0, 2.0, 4.0])
    in_seconds = figures_in_seconds(truth, predicted)
    assert in_seconds["seconds_r2"] == pytest.approx(0.5)  # 1 - 1/2
    logarithms = np.log([1.0, 2.0, 3.0])
    spread = ((logarithms - logarithms.mean()) ** 2).sum()
    assert r2(truth, predicted) == pytest.approx(1 - np.log(4 / 3) ** 2 / spread)
    assert in_seconds["seconds_sparse_kendall"] == pytest.approx(1.0)


def test_times_are_split_as_the_evaluations_are(results: Results) -> None:
    split = TableSplit.of(results)
    timed = split.timed()
    for part in ("train", "validation", "test"):
        evaluations, times = getattr(split, part), getattr(timed, part)
        with_time = evaluations.take(np.isfinite(evaluations.cost_s))
        np.testing.assert_array_equal(times.codes, with_time.codes)
        np.testing.assert_allclose(np.exp(times.y), with_time.cost_s)
    assert len(timed.rows) == 240 and timed.metric.key == "train_time_s"


def test_tuned_runtime_is_no_worse_than_the_default_and_is_what_a_fit_uses(results: Results, tmp_path: Path) -> None:
    tuned = tune("lgb", TableSplit.of(results).timed(), trials=4, out=tmp_path, score="r2", engine=SerialEngine())
    assert tuned.default.settings == CLOCK
    assert tuned.best.figures["r2"] >= tuned.default.figures["r2"] > 0.8
    assert all(
        trial.settings["rounds"] == CLOCK["rounds"] for trial in tuned.trials
    )  # not tuned: the clock stays small
    assert 0 < tuned.test["seconds_r2"] <= 1 and tuned.setup.metric == "train_time_s"
    model, settings = load_runtime_settings(tmp_path / BEST)
    assert (model, settings) == ("lgb", dict(tuned.best.settings))
    with pytest.raises(InvalidOption, match="settings of a runtime model; give the file as --runtime-settings"):
        load_settings(tmp_path / BEST, "lgb")
    other = {**settings, "num_leaves": 11}
    quick = {"rounds": 5}
    artefact = make_surrogate(results, "lgb", members=2, settings=quick, runtime=model, runtime_settings=other)
    assert artefact.manifest.runtime is not None and artefact.manifest.runtime.settings["num_leaves"] == 11
    assert artefact.manifest.figures["runtime_seconds_r2"] is not None
    assert artefact.manifest.figures["runtime_seconds_r2"] > 0.8
