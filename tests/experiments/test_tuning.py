"""Tuning: nothing lost, nothing twice, never worse than the defaults, and the test part untouched."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nasbed
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.execution import Engine, LocalEngine, SerialEngine, TaskOutcome, attempt
from nasbed.core.user_code import object_named
from nasbed.experiments.tuning import BEST, load_settings, tune
from nasbed.experiments.tuning.journal import JOURNAL, SETUP, TuningTrial
from nasbed.results import Results
from nasbed.surrogates.making import make_surrogate
from nasbed.surrogates.table_split import TableSplit
from support.forks import Fork
from support.surrogates import with_test_values, write_evaluations
from support.tuned_models import Blurred, Stepped, tune_until_killed

SERIAL = SerialEngine()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return write_evaluations(tmp_path_factory.mktemp("tuning") / "table", count=200)


@pytest.fixture(scope="module")
def split(results: Results) -> TableSplit:
    return TableSplit.of(results)


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / JOURNAL).read_text().splitlines()]


def timeless(out: Path) -> list[dict[str, Any]]:
    return [{key: value for key, value in line.items() if key != "fit_s"} for line in lines(out)]


def test_tuning_finds_better_settings(split: TableSplit, tmp_path: Path) -> None:
    tuned = tune(Blurred, split, trials=40, out=tmp_path, engine=SERIAL)
    assert len(tuned.trials) == 40
    assert tuned.default.settings == {}
    assert tuned.best.number > 0
    assert tuned.best.settings["blur"] < 0.5
    assert (tuned.score(tuned.best) or 0) > (tuned.score(tuned.default) or 1)
    best = json.loads((tmp_path / BEST).read_text())
    assert best["settings"] == tuned.best.settings
    assert best["test"] == tuned.test
    assert tuned.test.keys() == {"skt", "r2", "kendall", "mae"}
    assert load_settings(tmp_path / BEST, "blurred") == tuned.best.settings
    with pytest.raises(InvalidOption, match="settings of blurred, not of lgb"):
        load_settings(tmp_path / BEST, "lgb")


def test_tuning_is_never_worse_than_the_defaults(split: TableSplit, tmp_path: Path) -> None:
    """Trials that all fail, or are all worse, leave the defaults."""
    tuned = tune(Blurred, split, trials=6, out=tmp_path, settings={"kind": "raise"}, engine=SERIAL)
    assert tuned.best.number == 0
    assert [bool(trial.error) for trial in tuned.trials] == [False] + [True] * 5
    assert tuned.trials[1].error == "RuntimeError: as asked"


def test_tuning_uses_budgets(split: TableSplit, tmp_path: Path) -> None:
    """The winner is of the highest budget; most trials are of the lowest."""
    tuned = tune(Stepped, split, trials=27, out=tmp_path, engine=SERIAL)
    budgets = [trial.budget for trial in tuned.trials]
    assert budgets[0] == 9
    assert budgets[1:10] == [1] * 9
    assert {1, 3, 9} == set(budgets)
    assert tuned.best.budget == 9
    assert all(trial.settings["epochs"] == trial.budget for trial in tuned.trials)
    promoted = [trial for trial in tuned.trials if trial.budget == 3][:3]
    ranked = sorted(tuned.trials[1:10], key=lambda trial: -trial.figures["skt"])
    assert {trial.values["blur"] for trial in promoted} == {trial.values["blur"] for trial in ranked[:3]}


def test_tuning_of_a_fixed_budget_has_one(split: TableSplit, tmp_path: Path) -> None:
    tuned = tune(Stepped, split, trials=4, out=tmp_path, settings={"epochs": 3}, engine=SERIAL)
    assert [trial.budget for trial in tuned.trials] == [None] * 4
    assert all(trial.settings["epochs"] == 3 for trial in tuned.trials)
    with pytest.raises(InvalidOption, match="leave nothing to tune"):
        tune(Blurred, split, trials=4, out=tmp_path / "none", settings={"blur": 1.0}, engine=SERIAL)


def test_tuning_never_looks_at_the_test_part(split: TableSplit, tmp_path: Path) -> None:
    """With other values in it, and none that are numbers, all trials are the same."""
    poisoned = with_test_values(split, np.nan)
    tune(Blurred, split, trials=8, out=tmp_path / "clean", engine=SERIAL)
    with pytest.raises(InvalidOption, match="the winner"):
        tune(Blurred, poisoned, trials=8, out=tmp_path / "poisoned", engine=SERIAL)
    assert timeless(tmp_path / "clean") == timeless(tmp_path / "poisoned")


def test_tuning_shares_the_test_part_with_the_fit(results: Results) -> None:
    """The artefact's test part is the tuning's: its figures are those of rows that no trial has seen."""
    split = TableSplit.of(results, methods=["rs"], seed=4)
    quick = {"rounds": 5, "learning_rate": 0.3, "lambda_l2": 1.0, "features": "onehot"}
    artefact = make_surrogate(results, "lgb", methods=["rs"], seed=4, members=2, settings=quick, runtime=None)
    truth, predicted = split.test.y, artefact.ensemble.predict(split.test.codes).mean
    assert artefact.manifest.figures["mae"] == pytest.approx(np.abs(truth - predicted).mean())
    assert not {*split.test.architecture} & {*split.train.architecture, *split.validation.architecture}


class InterruptedEngine(Engine):
    """Stops after some outcomes, as a user's Ctrl-C would, with another task taken and not ended."""

    def __init__(self, after: int) -> None:
        self.after = after

    def map_unordered(
        self, function: Callable[[Any], Any], tasks: Iterable[Any], *, timeout_s: float | None = None
    ) -> Iterator[TaskOutcome]:
        for number, task in enumerate(tasks):
            if number == self.after:
                raise KeyboardInterrupt
            yield attempt(function, number, task)


@pytest.mark.parametrize("kind", [Blurred, Stepped])
def test_tuning_resumed_makes_the_trials_of_one_not_interrupted(
    kind: type[Blurred], split: TableSplit, tmp_path: Path
) -> None:
    complete, broken = tmp_path / "whole", tmp_path / "broken"
    expected = tune(kind, split, trials=30, out=complete, engine=SERIAL)
    for after in (0, 3, 9):
        with pytest.raises(KeyboardInterrupt):
            tune(kind, split, trials=30, out=broken, engine=InterruptedEngine(after))
    with (broken / JOURNAL).open("a") as file:
        file.write('{"ended": 12, "fig')  # killed while it was writing
    reported: list[TuningTrial] = []
    tuned = tune(kind, split, trials=20, out=broken, engine=SERIAL, progress=reported.append)
    assert [trial.number for trial in reported] == list(range(20))
    assert len(tuned.trials) == 20
    tuned = tune(kind, split, trials=30, out=broken, engine=SERIAL)
    assert timeless(broken) == timeless(complete)
    assert tuned.best.number == expected.best.number
    assert tuned.test == expected.test


def test_tuning_of_a_finished_folder_fits_nothing(split: TableSplit, tmp_path: Path) -> None:
    first = tune(Blurred, split, trials=5, out=tmp_path, settings={"log": str(tmp_path / "log")}, engine=SERIAL)
    fitted = (tmp_path / "log").read_text()
    assert len(fitted.splitlines()) == 5 + 1  # and the winner, for the test part
    repeated = tune(Blurred, split, trials=5, out=tmp_path, settings={"log": str(tmp_path / "log")}, engine=SERIAL)
    assert repeated == first
    assert (tmp_path / "log").read_text() == fitted


@pytest.mark.thorough
@pytest.mark.kill
def test_tuning_survives_a_kill(results: Results, tmp_path: Path) -> None:
    """All processes are killed amid trials; afterwards no trial that ended is fitted again, and none is missing."""
    out, log = tmp_path / "out", tmp_path / "log"
    process = Fork(partial(tune_until_killed, str(results.folder), str(out), str(log)), start_new_session=True)
    try:
        deadline = time.monotonic() + 60
        while not (out / JOURNAL).is_file() or sum("ended" in line for line in complete_lines(out)) < 3:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    before = complete_lines(out)
    finished = {line["ended"] for line in before if "ended" in line}
    under_way = {line["asked"] for line in before if "asked" in line} - finished
    assert 3 <= len(finished) < 12
    log.rename(tmp_path / "log-before")
    tuned = tune(Blurred, results, trials=12, out=out, settings={"log": str(log)}, engine=LocalEngine(1), timeout_s=60)
    assert [trial.number for trial in tuned.trials] == list(range(12))
    assert lines(out)[: len(before)] == before
    assert sorted(line["ended"] for line in lines(out) if "ended" in line) == list(range(12))
    under_way_at_once = np.cumsum([1 if "asked" in line else -1 for line in lines(out)])
    assert under_way_at_once.max() <= 2  # proposed when a process is free, not before
    fitted = [float(line.split()[0]) for line in log.read_text().splitlines()]
    blur = {trial.number: trial.settings.get("blur", 0.5) for trial in tuned.trials}
    assert sorted(fitted) == sorted(
        [*(blur[number] for number in range(12) if number not in finished), tuned_blur(tuned)]
    )
    assert under_way <= set(range(12)) - finished


def tuned_blur(tuned: Any) -> float:
    """The last fit: the winner's, for the test part."""
    return float(tuned.best.settings.get("blur", 0.5))


def complete_lines(out: Path) -> list[dict[str, Any]]:
    content = (out / JOURNAL).read_text()
    return [json.loads(line) for line in content[: content.rfind("\n") + 1].splitlines()]


@pytest.mark.thorough
def test_tuning_survives_trials_that_hang(split: TableSplit, tmp_path: Path) -> None:
    """All of them, so that there is no winner; the journal says why."""
    with pytest.raises(InvalidOption, match="no result within 1 s"):
        tune(Blurred, split, trials=1, out=tmp_path, settings={"kind": "hang"}, engine=LocalEngine(1), timeout_s=1)
    (error,) = (line["error"] for line in lines(tmp_path) if "ended" in line)
    assert "within 1 s" in error


def test_tuning_refuses_a_score_that_is_no_number(split: TableSplit, tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="predictions have no skt, kendall"):
        tune(Blurred, split, trials=2, out=tmp_path, settings={"kind": "constant"}, engine=SERIAL)


def test_tuning_keeps_unlike_trials_apart(results: Results, split: TableSplit, tmp_path: Path) -> None:
    tune(Blurred, split, trials=2, out=tmp_path, engine=SERIAL)
    with pytest.raises(InvalidOption, match="score skt, not r2"):
        tune(Blurred, split, trials=2, out=tmp_path, score="r2", engine=SERIAL)
    with pytest.raises(InvalidOption, match="model blurred, not stepped"):
        tune(Stepped, split, trials=2, out=tmp_path, engine=SERIAL)
    with pytest.raises(InvalidOption, match="other evaluations"):
        tune(Blurred, TableSplit.of(results, methods=["re"]), trials=2, out=tmp_path, engine=SERIAL)
    with pytest.raises(InvalidOption, match="skt or r2"):
        tune(Blurred, split, trials=2, out=tmp_path / "new", score="mae", engine=SERIAL)  # type: ignore[arg-type]
    (tmp_path / SETUP).write_text("[]")
    with pytest.raises(BadFile, match="no JSON object"):
        tune(Blurred, split, trials=2, out=tmp_path, engine=SERIAL)


def test_tuning_refuses_trials_of_an_edited_model(split: TableSplit, tmp_path: Path) -> None:
    """A model of the user's own, as a plug-in has it: the trials are no longer of that model."""
    text = "from support.tuned_models import Blurred\n\nclass Mine(Blurred):\n    name = 'mine'\n"
    (tmp_path / "mine.py").write_text(text)
    out = tmp_path / "out"
    for trials in (2, 3):
        tune(object_named(f"{tmp_path / 'mine.py'}:Mine"), split, trials=trials, out=out, engine=SERIAL)
    (tmp_path / "mine.py").write_text(text + "    better = True\n")
    with pytest.raises(InvalidOption, match="holds trials with another content of the code of mine; choose another"):
        tune(object_named(f"{tmp_path / 'mine.py'}:Mine"), split, trials=3, out=out, engine=SERIAL)


def test_tuning_tells_of_trials_by_another_version(
    split: TableSplit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = nasbed.__version__
    assert tune(Blurred, split, trials=2, out=tmp_path, engine=SERIAL).notes() == []
    monkeypatch.setattr(nasbed, "__version__", "9.9.9")
    notes = tune(Blurred, split, trials=3, out=tmp_path, engine=SERIAL).notes()
    assert [line.partition(";")[0] for line in notes] == [
        f"2 of 3 trials were fitted by nasbed {before}, this is 9.9.9"
    ]
    (tmp_path / JOURNAL).write_text((tmp_path / JOURNAL).read_text().replace(f', "nasbed_version": "{before}"', ""))
    (told_again,) = tune(Blurred, split, trials=3, out=tmp_path, engine=SERIAL).notes()
    assert told_again.startswith("2 of 3 trials were fitted by a nasbed that did not record its version")


def test_tuning_measures_the_winner_again_on_another_test_part(split: TableSplit, tmp_path: Path) -> None:
    """Rows of the test part are not among those that trials are bound to."""
    tuned = tune(Blurred, split, trials=2, out=tmp_path, engine=SERIAL)
    changed = with_test_values(split, split.test.y + 1)
    repeated = tune(Blurred, changed, trials=2, out=tmp_path, engine=SERIAL)
    assert repeated.test["mae"] != tuned.test["mae"] and repeated.trials == tuned.trials


@pytest.mark.parametrize("line", ["[]", "nonsense", '{"ended": 3, "figures": {}, "fit_s": 1, "error": ""}', "{}"])
def test_tuning_names_the_line_that_is_wrong(line: str, split: TableSplit, tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_text(line + "\n")
    with pytest.raises(BadFile, match=r"trials\.jsonl, line 1"):
        tune(Blurred, split, trials=2, out=tmp_path, engine=SERIAL)


def test_tuning_keeps_to_the_ranges_of_the_paper(split: TableSplit, tmp_path: Path) -> None:
    """Table 6 of the Surrogate NAS Benchmarks, for random forests."""
    tuned = tune("rf", split, trials=3, out=tmp_path, settings={"features": "onehot"}, engine=SERIAL)
    for trial in tuned.trials[1:]:
        assert 16 <= trial.settings["trees"] <= 128
        assert 0.1 <= trial.settings["max_features"] <= 1.0
        assert trial.settings["features"] == "onehot"
