"""Learning curves from a trainer to the journal, and from there to a file beside the rows of a table."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import nasbed
from nasbed.benchmarks import TabularBenchmark
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.experiments.campaign import (
    Campaign,
    CampaignProgress,
    Evaluation,
    Grid,
    Journal,
    Trial,
    collect,
    export_journals,
    trainer_of,
)
from nasbed.experiments.campaign.trial import checked
from nasbed.results.merge import merge_results
from nasbed.results.rows import concatenate
from nasbed.results.store import Results
from nasbed.results.summary import summarize
from nasbed.training.recipe import Recipe
from nasbed.training.recipe_files import recipe_toml
from support.learning_curves import ACCURACY, CAMPAIGN, CELLS, TEXTS, CurveTrainer, points


def test_exported_table_has_the_curve_of_every_training_that_ended_well(tmp_path: Path) -> None:
    def stop(progress: CampaignProgress) -> None:
        if progress.done == 5:
            raise KeyboardInterrupt

    journal = tmp_path / "journal.sqlite"
    with pytest.raises(KeyboardInterrupt):
        collect(CAMPAIGN, CurveTrainer(), journal, progress=stop)
    collect(CAMPAIGN, CurveTrainer(), journal)
    table = export_journals([journal, journal], tmp_path / "out")
    curves, rows = Results.open(tmp_path / "out").curves(), concatenate(list(table.batches()))
    assert curves is not None and curves.metric == "validation_accuracy" and curves.values.shape == (8, 4)
    ok = rows.status == 0
    assert (curves.codes == rows.codes[ok]).all() and (curves.seed == rows.seed[ok]).all()
    assert (curves.fidelity == rows.fidelity[ok]).all()
    expected = np.full((8, 4), np.nan)
    for row, code, fidelity, seed in zip(expected, curves.codes, curves.fidelity, curves.seed, strict=True):
        trial = Trial(0, 0, nasbed.Architecture("nb201", tuple(code.tolist())), int(fidelity), int(seed), "")
        row[:fidelity] = [np.nan if point is None else point for point in points(trial)]
    np.testing.assert_array_equal(curves.values, expected)
    last = curves.values[np.arange(8), curves.fidelity - 1]
    assert last[~np.isnan(last)].tolist() == rows.values["validation_accuracy"][ok][~np.isnan(last)].tolist()
    assert summarize(table)["learning_curves"] == 8 and len(rows) == 12

    plain = pq.read_table(table.data / "curves.parquet")
    assert plain.column_names == [*(f"code_{place}" for place in range(6)), "seed", "fidelity", "validation_accuracy"]
    assert plain["validation_accuracy"][-1].as_py() == [1.0, None, 21.0, 31.0]
    short = export_journals([journal], tmp_path / "short", fidelities=(2,)).curves()
    assert short is not None and set(short.fidelity.tolist()) == {2} and short.values.shape == (4, 2)


def test_table_and_journal_without_curves_are_as_before(tmp_path: Path) -> None:
    class PlainTrainer(CurveTrainer):
        def evaluate(self, trials: Sequence[Trial]) -> list[Evaluation]:
            return [replace(evaluation, learning_curve=()) for evaluation in super().evaluate(trials)]

    journal = tmp_path / "journal.sqlite"
    collect(CAMPAIGN, PlainTrainer(), journal)
    with sqlite3.connect(journal) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    assert names == {"facts", "trials", "results", "rounds", "makers", "made_by"}
    table = export_journals([journal], tmp_path / "out")
    assert table.curves() is None and not (table.data / "curves.parquet").exists()


def test_changed_curves_are_refused(tmp_path: Path) -> None:
    collect(CAMPAIGN, CurveTrainer(), tmp_path / "journal.sqlite")
    table = export_journals([tmp_path / "journal.sqlite"], tmp_path / "out")
    path = table.data / "curves.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(BadFile, match=r"curves.parquet does not have the SHA-256"):
        Results.open(tmp_path / "out")


def test_merged_tables_have_the_curves_of_both_once(tmp_path: Path) -> None:
    tables = []
    for name, texts, fidelities in (("a", TEXTS[:1], (2, 4)), ("b", TEXTS, (2, 5)), ("c", TEXTS[1:2], (2,))):
        collect(Campaign("few", grid=Grid(texts)), CurveTrainer(fidelities), tmp_path / f"{name}.sqlite")
        tables.append(export_journals([tmp_path / f"{name}.sqlite"], tmp_path / name))
    assert [table.curves() is None for table in tables] == [False, False, True]
    merged = merge_results(tables, tmp_path / "merged").results.curves()
    assert merged is not None and merged.values.shape == (5, 5)
    assert sorted(zip(merged.codes[:, 0].tolist(), merged.fidelity.tolist(), strict=True)) == [
        (0, 2),
        (0, 5),
        (1, 2),
        (1, 4),
        (1, 5),
    ]


def test_points_of_a_curve_are_within_the_bounds_of_the_objective() -> None:
    good = Evaluation(values={ACCURACY.key: 5.0}, learning_curve=(1, float("nan"), None, float("inf"), 5.0))
    assert checked(good, (ACCURACY,), ACCURACY).learning_curve == (1.0, None, None, None, 5.0)
    for wrong, reason in (((101.0,), "lies in"), (("a",), "must be real number")):
        result = checked(replace(good, learning_curve=wrong), (ACCURACY,), ACCURACY)  # type: ignore[arg-type]
        assert (
            result.status == "failed" and result.reason.startswith("the learning curve: ") and reason in result.reason
        )


RECIPE = Recipe(
    "tiny",
    epochs=(1, 2),
    batch=32,
    learning_rate=0.1,
    epoch_images=64,
    skeleton={"channels": 4, "cells_per_stage": 1},
)


@pytest.mark.parametrize("kind", ["training", pytest.param("population", marks=pytest.mark.thorough)])
def test_networks_of_a_campaign_have_the_same_rows_with_and_without_curves(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra torch")
    (tmp_path / "tiny.toml").write_text(recipe_toml(RECIPE))
    settings = {"kind": kind, "dataset": "digits", "recipe": "tiny.toml", "device": "cpu"}
    campaign = Campaign("few", space="nb201", grid=Grid(TEXTS[:2]), trainer=settings, folder=tmp_path)
    plain = collect(campaign, trainer_of(campaign), tmp_path / "plain.sqlite")
    curved = replace(campaign, trainer={**campaign.trainer, "learning_curve": True})
    status = collect(curved, trainer_of(curved), tmp_path / "curved.sqlite")
    assert plain.by_status["ok"] == status.by_status["ok"] == 4
    journals = [tmp_path / f"{name}.sqlite" for name in ("plain", "curved")]
    rows = []
    for path in journals:
        with Journal.reading(path) as journal:
            rows.append([(finished.trial, dict(finished.evaluation.values)) for finished in journal.finished()])
    assert rows[0] == rows[1]
    curves = export_journals([journals[1]], tmp_path / "out").curves()
    assert curves is not None and curves.fidelity.tolist() == [1, 1, 2, 2]
    last = [values["validation_accuracy"] for _, values in rows[1]]
    assert curves.values[np.arange(4), curves.fidelity - 1].tolist() == last
    longest = TabularBenchmark(export_journals([journals[1]], tmp_path / "longest", fidelities=(2,)))
    assert longest.fidelities == (1, 2)
    for cell, first in zip(CELLS, curves.values[2:, 0].tolist(), strict=False):
        half, whole = (longest.query(cell, fidelity=epoch) for epoch in (1, 2))
        assert dict(half.values) == {longest.objective: first}
        assert whole.cost_s is not None and half.cost_s == whole.cost_s / 2
    with pytest.raises(InvalidOption, match="trainer learning_curve True, not None; put it back"):
        collect(campaign, trainer_of(campaign), journals[1])
    wrong = replace(campaign, trainer={**campaign.trainer, "learning_curve": "yes"})
    with pytest.raises(InvalidOption, match="learning_curve is true or false, got 'yes'"):
        trainer_of(wrong)
