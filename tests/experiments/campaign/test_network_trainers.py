"""Trainers of real networks, with what trains them replaced: that is tested where it is."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import nasbed
from nasbed.core.errors import InvalidOption, NasbedError
from nasbed.core.status import Status
from nasbed.experiments.campaign import (
    Campaign,
    CampaignProgress,
    Evaluation,
    Journal,
    PopulationTrainer,
    Trial,
    collect,
    export_journals,
    trainer_of,
)
from nasbed.results.rows import concatenate
from nasbed.training.outcome import METRICS, Job, TrainingOutcome
from nasbed.training.recipe import Recipe
from nasbed.training.recipe_files import recipe_toml

pytest.importorskip("torch", reason="needs the extra torch")

RECIPE = Recipe("tiny", epochs=(1, 2), batch=16, learning_rate=0.1, skeleton={"channels": 4})


@pytest.fixture
def populations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the populations that are trained. One with the poorest cell does not fit; a cell of skips
    diverges."""
    sizes: list[int] = []

    def train_population(jobs: Sequence[Job], dataset: Any, recipe: Recipe, **options: object) -> list[TrainingOutcome]:
        sizes.append(len(jobs))
        if any(job.architecture.code == (0,) * 6 for job in jobs):
            raise RuntimeError("out of memory")
        return [
            TrainingOutcome(Status.DIVERGED, 1.0, reason="the loss is nan")
            if job.architecture.code == (1,) * 6
            else TrainingOutcome(Status.OK, 1.0 + job.seed, 50.0 + job.epochs, 49.0, 0.5, 75.0)
            for job in jobs
        ]

    monkeypatch.setattr("nasbed.training.population.train_population", train_population)
    return sizes


def test_population_that_breaks_is_halved_until_one_network_is_alone(tmp_path: Path, populations: list[int]) -> None:
    space = nasbed.space("nb201")
    cells = [nasbed.Architecture("nb201", code) for code in ((0,) * 6, (1,) * 6, (2,) * 6, (3,) * 6)]
    texts = [space.format(cell) for cell in cells]
    trainer = PopulationTrainer("nb201", "digits", RECIPE, population=4, device="cpu")
    campaign = Campaign.parse(
        {"campaign": {"name": "few", "space": "nb201"}, "grid": {"architectures": texts, "fidelities": [2]}}
    )
    status = collect(campaign, trainer, tmp_path / "journal.sqlite")
    assert populations == [4, 2, 1, 1, 2]
    assert dict(status.by_status) == {"ok": 2, "diverged": 1, "failed": 1}
    assert dict(status.reasons) == {"RuntimeError: out of memory": 1, "the loss is nan": 1}
    assert status.best == 52.0


class EarlierTrainer(PopulationTrainer):
    """The trainer of nasbed 0.1."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.metrics = METRICS[:3]

    def evaluate(self, trials: Sequence[Trial]) -> list[Evaluation]:
        keys = [metric.key for metric in self.metrics]
        return [
            replace(evaluation, values={key: evaluation.values[key] for key in keys})
            for evaluation in super().evaluate(trials)
        ]


def test_campaign_begun_before_a_metric_existed_resumes_with_those_it_has(
    tmp_path: Path, populations: list[int]
) -> None:
    """A journal of nasbed 0.1 has no training accuracy. Its rows of later versions have the same columns."""
    space, journal = nasbed.space("nb201"), tmp_path / "journal.sqlite"
    texts = [space.format(nasbed.Architecture("nb201", (digit,) * 6)) for digit in (2, 3)]
    campaign = Campaign.parse(
        {"campaign": {"name": "few", "space": "nb201"}, "grid": {"architectures": texts, "fidelities": [1, 2]}}
    )
    trainer: PopulationTrainer = EarlierTrainer("nb201", "digits", RECIPE, population=1, device="cpu")

    def stop(progress: CampaignProgress) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect(campaign, trainer, journal, progress=stop)
    trainer = PopulationTrainer("nb201", "digits", RECIPE, population=1, device="cpu")
    assert [metric.key for metric in trainer.metrics][3:] == ["train_accuracy"]
    assert collect(campaign, trainer, journal, accept_changes=True).by_status["ok"] == 4
    with Journal.reading(journal) as reader:
        assert [set(finished.evaluation.values) for finished in reader.finished()] == [
            {measured.key for measured in METRICS[:3]}
        ] * 4
    old = export_journals([journal], tmp_path / "old")
    assert old.about.metrics == METRICS[:3] and old.manifest.rows == 4

    collect(campaign, trainer, tmp_path / "new.sqlite")
    new = export_journals([tmp_path / "new.sqlite"], tmp_path / "new")
    assert new.about.metrics == METRICS
    assert concatenate(list(new.batches())).values["train_accuracy"].tolist() == [75.0] * 4
    with pytest.raises(InvalidOption, match=r"have one metrics, .* export them apart, and see: nasbed results merge"):
        export_journals([journal, tmp_path / "new.sqlite"], tmp_path / "both")


def test_population_trainer_travels_to_other_processes() -> None:
    trainer = PopulationTrainer("nb201", "digits", RECIPE, population=3, device="cpu", timeout_s=9)
    trainer._load()
    reloaded = pickle.loads(pickle.dumps(trainer))
    assert reloaded.recipe == RECIPE and reloaded._dataset is None
    assert reloaded.identity() == trainer.identity()
    assert (reloaded.trials_per_task, reloaded.timeout_s, reloaded.fidelities) == (3, 9, (1, 2))


def test_network_trainers_are_read_from_a_file(tmp_path: Path) -> None:
    table: dict[str, Any] = {"kind": "training", "dataset": "digits", "recipe": "nb101"}
    trainer = trainer_of(Campaign("one", trials=1, shares={"rs": 1}, space="nb101", trainer=table))
    assert trainer.fidelities == (4, 12, 36, 108) and trainer.objective.key == "validation_accuracy"
    (tmp_path / "mine.toml").write_text(recipe_toml(RECIPE))
    own = Campaign(
        "own", trials=1, shares={"rs": 1}, space="nb201", trainer=table | {"recipe": "mine.toml"}, folder=tmp_path
    )
    assert trainer_of(own).fidelities == RECIPE.epochs
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"recipe": "no-such"}, "no recipe is called 'no-such'"),
        ({"population": 8}, "of kind training has no key 'population'"),
    ]
    for odd, message in wrong:
        with pytest.raises(NasbedError, match=message):
            trainer_of(Campaign("one", trials=1, shares={"rs": 1}, space="nb101", trainer=table | odd))
    with pytest.raises(InvalidOption, match="has dataset and recipe, got no dataset"):
        trainer_of(Campaign("one", trials=1, shares={"rs": 1}, space="nb101", trainer={"kind": "population"}))
