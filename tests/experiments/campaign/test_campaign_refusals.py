"""Trainers that can evaluate nothing are refused before the first trial, in one line, and leave no file behind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import nasbed
from nasbed.cli import main
from nasbed.core.errors import InvalidOption, MissingDependency, NasbedError, NotReady
from nasbed.core.status import Status
from nasbed.experiments.campaign import Campaign, FunctionTrainer, PopulationTrainer, collect
from nasbed.training.outcome import Job, TrainingOutcome
from nasbed.training.recipe import Recipe
from nasbed.training.recipe_files import recipe_toml
from support.campaign_functions import table

torch = pytest.importorskip("torch", reason="needs the extra torch")

RECIPE = Recipe("tiny", epochs=(1,), batch=16, learning_rate=0.1, skeleton={"channels": 4})


def campaign_file(folder: Path, *, recipe: Recipe = RECIPE, **trainer: object) -> Path:
    """A campaign of nb101 cells, four random ones, beside its recipe."""
    (folder / "recipe.toml").write_text(recipe_toml(recipe))
    plan = Campaign(
        "few",
        trials=4,
        shares={"rs": 1},
        space="nb101",
        trainer={"kind": "population", "dataset": "digits", "recipe": "recipe.toml", "device": "cpu"} | trainer,
    )
    (folder / "campaign.toml").write_text(plan.toml())
    return folder / "campaign.toml"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[Path], tuple[int, str]]:
    """``nasbed collect`` of a file: its exit status and what it writes to standard error."""

    def command(campaign: Path) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["nasbed", "collect", str(campaign), "--engine", "serial"])
        with pytest.raises(SystemExit) as exit_:
            main()
        code = exit_.value.code
        assert isinstance(code, int)
        return code, capsys.readouterr().err

    return command


@pytest.mark.parametrize("kind", ["training", "population"])
@pytest.mark.parametrize(
    ("recipe", "trainer", "message"),
    [
        ({}, {"device": "cuda"}, "this machine has 0 CUDA devices, got cuda; take cpu or auto"),
        ({}, {"device": "tpu"}, "a device is auto, cpu, cuda or cuda:NUMBER, got 'tpu'"),
        ({}, {"dataset": "mnist"}, "the images of mnist are not in"),
        ({"batch": 2000}, {}, "the recipe tiny has batches of 2000, got 1150 images to train on; lower its batch"),
        ({"split": (90_000, 10_000)}, {}, "a split of digits has at least 1 image to train on and at most 1437 in all"),
        ({"split": (1000, 0)}, {}, "validates with at least 1 image of digits, the recipe tiny leaves 0"),
        ({"skeleton": {"cells": 3}}, {}, "the skeleton of nb101 has the settings"),
        ({}, {"dataset": "digits@2"}, "an nb101 network of 3 stacks needs images of 4 pixels or more, got 2"),
    ],
)
def test_campaign_that_cannot_train_is_refused_and_leaves_no_journal(
    run: Callable[[Path], tuple[int, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    recipe: dict[str, Any],
    trainer: dict[str, str],
    message: str,
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    path = campaign_file(tmp_path, recipe=replace(RECIPE, **recipe), kind=kind, **trainer)
    code, errors = run(path)
    assert code == 2
    assert errors.startswith("nasbed: ") and message in errors and len(errors.splitlines()) == 1
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["campaign.toml", "recipe.toml"]


def test_campaign_with_a_network_that_cannot_be_traced_is_refused(
    run: Callable[[Path], tuple[int, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nn = torch.nn

    def network(*_: object, **__: object) -> Any:
        return nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1, bias=False),
            nn.GELU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(4, 10),
        )

    monkeypatch.setattr("nasbed.training.network_factory.build", network)
    code, errors = run(campaign_file(tmp_path, population=2))
    assert (code, errors) == (
        2,
        "nasbed: networks of nb101 cannot be a population: a population cannot train a network that uses gelu; train "
        'them alone: kind = "training"\n',
    )
    assert not (tmp_path / "campaign.sqlite").exists()


def test_network_that_takes_no_such_images_is_refused(
    run: Callable[[Path], tuple[int, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nasbed.training.network_factory.build", lambda *_, **__: torch.nn.Conv2d(1, 4, 11))
    code, errors = run(campaign_file(tmp_path, kind="training"))
    assert code == 2 and "networks of nb101 with the recipe tiny cannot take images of 1x8x8 (RuntimeError" in errors
    assert not (tmp_path / "campaign.sqlite").exists()


def on_cuda(monkeypatch: pytest.MonkeyPatch, free: int) -> PopulationTrainer:
    """A trainer on a machine that looks as if it had one GPU."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 2**37))
    return PopulationTrainer("nb101", "digits", RECIPE, population=1000, device="cuda")


def test_population_trainer_without_triton_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = on_cuda(monkeypatch, 2**37)
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(MissingDependency, match="pip install triton"):
        trainer.check_ready()


def test_population_trainer_compares_networks_with_the_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton", reason="comes for Linux only")
    assert on_cuda(monkeypatch, 2**37).check_ready() == []
    (line,) = on_cuda(monkeypatch, 2**28).check_ready()
    assert line.startswith("a population of 1000 takes about ") and "it is halved until it fits" in line
    with pytest.raises(InvalidOption, match=r"takes at least \d\.\d MiB of GPU memory, 0\.1 MiB are free on cuda"):
        on_cuda(monkeypatch, 200_000).check_ready()


def test_collect_passes_on_what_a_check_notes(tmp_path: Path) -> None:
    class WarningTrainer(FunctionTrainer):
        def check_ready(self) -> list[str]:
            return ["slow today"]

    notes: list[str] = []
    campaign = Campaign("few", trials=3, shares={"rs": 1})
    collect(campaign, WarningTrainer(lambda *_: 1.0, "nb201"), tmp_path / "journal.sqlite", on_note=notes.append)
    assert notes == ["slow today"]


Raising = Callable[[Sequence[Job]], NasbedError | None]


def training_raises(monkeypatch: pytest.MonkeyPatch, error: Raising) -> None:
    def train_population(jobs: Sequence[Job], *_: object, **__: object) -> list[TrainingOutcome]:
        if (failure := error(jobs)) is not None:
            raise failure
        return [TrainingOutcome(Status.OK, 1.0, 50.0, 49.0, 0.5) for _ in jobs]

    monkeypatch.setattr("nasbed.training.population.train_population", train_population)


def nb201_cells(codes: Sequence[int]) -> Campaign:
    texts = [nasbed.space("nb201").format(nasbed.Architecture("nb201", (code,) * 6)) for code in codes]
    return Campaign.parse({"campaign": {"name": "few", "space": "nb201"}, "grid": {"architectures": texts}})


@pytest.mark.parametrize("error", [InvalidOption("no such kernel; train alone"), MissingDependency("get it")])
def test_first_task_that_the_trainer_refuses_stops_the_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: NasbedError
) -> None:
    training_raises(monkeypatch, lambda jobs: error)
    trainer = PopulationTrainer("nb201", "digits", RECIPE, population=2, device="cpu")
    with pytest.raises(NotReady, match=str(error)):
        collect(nb201_cells([0, 1, 2, 3]), trainer, tmp_path / "journal.sqlite")
    assert table(tmp_path / "journal.sqlite") == []
    training_raises(monkeypatch, lambda jobs: None)
    assert collect(nb201_cells([0, 1, 2, 3]), trainer, tmp_path / "journal.sqlite").by_status["ok"] == 4


def test_later_task_that_the_trainer_refuses_is_recorded_as_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused_later(jobs: Sequence[Job]) -> NasbedError | None:
        return InvalidOption("no such kernel") if jobs[-1].architecture.code[0] > 1 else None

    training_raises(monkeypatch, refused_later)
    trainer = PopulationTrainer("nb201", "digits", RECIPE, population=2, device="cpu")
    status = collect(nb201_cells([0, 1, 2, 3]), trainer, tmp_path / "journal.sqlite")
    assert dict(status.by_status) == {"ok": 2, "diverged": 0, "failed": 2}


def test_one_architecture_that_is_refused_is_recorded_as_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training_raises(monkeypatch, lambda jobs: InvalidOption("an odd cell"))
    trainer = PopulationTrainer("nb201", "digits", RECIPE, population=2, device="cpu")
    status = collect(nb201_cells([0]), trainer, tmp_path / "journal.sqlite")
    assert status.all_failed and dict(status.reasons) == {"InvalidOption: an odd cell": 1}


def test_collect_exits_with_1_where_every_trial_failed(run: Callable[[Path], tuple[int, str]], tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text("def evaluate(arch, fidelity, seed):\n    raise ValueError('never')\n")
    table_ = {"kind": "function", "function": "functions.py:evaluate"}
    plan = Campaign("few", trials=3, shares={"rs": 1}, space="nb201", trainer=table_)
    (tmp_path / "campaign.toml").write_text(plan.toml())
    code, errors = run(tmp_path / "campaign.toml")
    assert code == 1
    assert errors.splitlines()[-1].startswith("nasbed: all 3 trials failed; fix the trainer")
