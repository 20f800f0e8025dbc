"""From a journal to a table, and from a user's own space to a table in a few lines."""

from __future__ import annotations

import inspect
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.metric import Metric
from nasbed.experiments.campaign import (
    Campaign,
    Evaluation,
    FunctionTrainer,
    Grid,
    Journal,
    Trainer,
    Trial,
    campaign_status,
    collect,
    export_journals,
)
from nasbed.results.rows import concatenate
from nasbed.results.store import Results
from nasbed.spaces.nb201 import NB201
from support.campaign_functions import quality, table
from support.campaign_space import own_space

CAMPAIGN = Campaign("small", trials=30, shares={"rs": 0.5, "re": 0.5}, round=10)


def measured(arch: object, fidelity: int, seed: int) -> dict[str, float]:
    code = arch.code  # type: ignore[attr-defined]
    if code[0] == 0:
        raise ValueError("no good")
    return {"validation_error": code[1] / 5, "test_error": code[2] / 5, "train_time_s": 7.5}


METRICS = (
    Metric("error", split="test", direction="minimize", bounds=(0, 1)),
    Metric("error", split="validation", direction="minimize", bounds=(0, 1)),
)


def test_export_has_every_row_of_the_journal(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    trainer = FunctionTrainer(measured, "nb201", metrics=METRICS, fidelities=(12,), dataset="digits")
    collect(CAMPAIGN, trainer, journal)
    export_journals([journal], tmp_path / "out")
    results = Results.open(tmp_path / "out")
    rows = concatenate(list(results.batches()))
    exported = table(journal)
    assert rows.codes.tolist() == [list(row[0].architecture.code) for row in exported]
    assert rows.method.tolist() == [row[0].method for row in exported]
    assert [("ok", "diverged", "failed")[status] for status in rows.status] == [row[1] for row in exported]
    assert set(rows.fidelity.tolist()) == {12} and set(rows.seed.tolist()) == {0}
    failed = rows.codes[:, 0] == 0
    assert failed.any() and (rows.status[failed] == 2).all()
    for key in ("validation_error", "test_error"):
        expected_values = [row[2].get(key, np.nan) for row in exported]
        np.testing.assert_array_equal(rows.values[key], expected_values)
    assert np.isnan(rows.train_time_s[failed]).all() and (rows.train_time_s[~failed] == 7.5).all()
    assert (np.diff(rows.timestamp_us) >= 0).all()
    about = results.about
    assert (about.name, about.space, about.dataset, about.metrics) == ("small", "nb201", "digits", METRICS)
    assert about.notes == f"{failed.sum()} failed: ValueError: no good"


def test_export_of_several_journals_takes_an_evaluation_once(tmp_path: Path) -> None:
    paths = [tmp_path / f"{seed}.sqlite" for seed in (0, 1)]
    for seed, path in enumerate(paths):
        collect(replace(CAMPAIGN, seed=seed), FunctionTrainer(quality, "nb201"), path)
    keys = [{row[0].key for row in table(path)} for path in paths]
    results = export_journals([*paths, paths[0]], tmp_path / "out")
    assert results.manifest.rows == len(keys[0] | keys[1])
    assert results.about.source.endswith(": small, seed 0; small, seed 1")


def test_export_refuses_journals_that_do_not_belong_together(tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{name}.sqlite" for name in ("one", "other", "third"))
    collect(CAMPAIGN, FunctionTrainer(quality, "nb201"), first)
    collect(replace(CAMPAIGN, trials=10), FunctionTrainer(quality, "nb201"), second)
    collect(CAMPAIGN, FunctionTrainer(quality, "nb201", fidelities=(2,)), third)
    with pytest.raises(InvalidOption, match=r"other.sqlite is of another campaign than .*, with another trials; name"):
        export_journals([first, second], tmp_path / "out")
    with pytest.raises(InvalidOption, match=r"have one trainer, .*third.sqlite has another than"):
        export_journals([first, third], tmp_path / "out", name="both")
    assert not (tmp_path / "out").exists()
    assert export_journals([first, second], tmp_path / "out", name="both").about.name == "both"


def from_own_space_to_table(folder: Path) -> Results:
    def evaluate(arch: object, fidelity: int, seed: int) -> float:
        values = trainer.space.to_native(arch)  # type: ignore[arg-type]
        return float(values["depth"] / values["width"] - (values["kind"] == "plain"))

    trainer = FunctionTrainer(evaluate, own_space)
    campaign = Campaign("own", trials=40, shares={"rs": 0.5, "re": 0.5})
    collect(campaign, trainer, folder / "own.sqlite")
    return export_journals([folder / "own.sqlite"], folder / "own")


def test_own_space_and_function_are_a_table_in_fewer_than_15_lines(tmp_path: Path) -> None:
    assert len(inspect.getsource(from_own_space_to_table).splitlines()) < 15
    results = from_own_space_to_table(tmp_path)
    reloaded = Results.open(tmp_path / "own")
    rows = concatenate(list(reloaded.batches()))
    assert results.manifest.rows == 40
    for code, value in zip(rows.codes, rows.values["validation_value"], strict=True):
        arch = reloaded.space.architectures(code[None])[0]
        values = reloaded.space.to_native(arch)
        assert value == values["depth"] / values["width"] - (values["kind"] == "plain")


class OwnSpace(NB201):
    name = "my-cells"


def test_space_of_an_own_class_is_given_to_the_export(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    status = collect(CAMPAIGN, FunctionTrainer(quality, OwnSpace()), journal)
    assert status.best is not None and status.best_architecture.startswith("(")
    with pytest.raises(InvalidOption, match="no space is called 'my-cells'; give it"):
        export_journals([journal], tmp_path / "out")
    assert export_journals([journal], tmp_path / "out", space=OwnSpace()).manifest.rows == 30


class Populations(Trainer):
    """Evaluates four at a time, and breaks where the last of a round would be among them."""

    kind = "populations"
    trials_per_task = 4

    def __init__(self) -> None:
        self.space = NB201()
        self.metrics, self.objective, self.fidelities = METRICS, METRICS[1], (12,)
        self.sizes: list[int] = []

    def identity(self) -> dict[str, object]:
        return {"kind": self.kind}

    def evaluate(self, trials: list[Trial]) -> list[Evaluation]:  # type: ignore[override]
        self.sizes.append(len(trials))
        if trials[0].number == 8:
            raise MemoryError("too large")
        return [Evaluation(values={"validation_error": 0.5}) for _ in trials]


def test_trainer_of_populations_gets_whole_ones_and_fails_as_one(tmp_path: Path) -> None:
    trainer = Populations()
    status = collect(replace(CAMPAIGN, round=None), trainer, tmp_path / "journal.sqlite")
    assert trainer.sizes == [4] * 7 + [2]
    assert dict(status.by_status) == {"ok": 26, "diverged": 0, "failed": 4}
    assert dict(status.reasons) == {"MemoryError: too large": 4}


def hopeless(arch: object, fidelity: int, seed: int) -> float:
    raise OSError("the device is gone")


def test_campaign_in_which_everything_fails_is_stopped(tmp_path: Path) -> None:
    campaign, journal = Campaign("hopeless", trials=1000, shares={"rs": 1}), tmp_path / "journal.sqlite"
    with pytest.raises(InvalidOption, match="100 trials in a row failed, the last because of this: OSError: the d"):
        collect(campaign, FunctionTrainer(hopeless, "nb201"), journal)
    assert campaign_status(journal).done == 100


def test_journal_of_another_version_or_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    collect(CAMPAIGN, FunctionTrainer(quality, "nb201"), path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE facts SET value = '99' WHERE name = 'schema_version'")
    connection.close()
    with pytest.raises(BadFile, match="has schema version 99, this nasbed reads 1"):
        campaign_status(path)
    (tmp_path / "text.sqlite").write_text("no database at all, but a text that is long enough to be one" * 20)
    for open_ in (Journal.reading, lambda path: Journal.writing(path, {})):
        with pytest.raises(BadFile, match=r"text.sqlite could not be read as a journal, file is not a database"):
            open_(tmp_path / "text.sqlite")
    with pytest.raises(BadFile, match="there is no journal"):
        campaign_status(tmp_path / "none.sqlite")


def test_of_several_fidelities_the_asked_ones_are_exported(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    trainer = FunctionTrainer(measured, "nb201", metrics=METRICS, fidelities=(1, 2, 4), dataset="digits")
    listed = [f"|{op}~0|+|none~0|none~1|+|none~0|none~1|skip_connect~2|" for op in ("none", "skip_connect")]
    collect(Campaign("all", grid=Grid(tuple(listed), seeds=(0, 1))), trainer, journal)
    chosen = export_journals([journal], tmp_path / "out", fidelities=(1, 4))
    rows = concatenate(list(chosen.batches()))
    assert sorted(rows.fidelity.tolist()) == [1] * 4 + [4] * 4
    assert chosen.about.notes.startswith("4 failed")  # one architecture, two seeds, two fidelities
    with pytest.raises(InvalidOption, match="1, 2, 4"):
        export_journals([journal], tmp_path / "other", fidelities=(3,))
