"""Measure what nasbed lacks on unseen datasets, the most wanted first: methods of table 2 in preset configuration, and
CNNs on datasets by the authors' own scripts.

    python campaigns/unseen_remaining.py SOURCES STATE [--seconds 540] [--jobs NAME ...] [--at-once 3] [--device cuda]
    python campaigns/unseen_remaining.py --list

SOURCES has the folders mnist, wordlists, gutenberg, cifar10 and pgn with the files that ``nasbed data make`` takes. A
job needs only its own. STATE keeps datasets, searches, checkpoints and ``results.jsonl``. The same command resumes. A
new STATE starts with what is in ``campaigns/unseen-remaining``: searches, and trainings that were stopped.

After ``--seconds`` it stops at the end of an epoch, for machines that are lent for minutes. Then
``STATE/take-along.tar`` has results, searches and the checkpoints that fit. Unpacked in the STATE of another machine,
it resumes there. ``--at-once 3`` runs three jobs at a time, which share a GPU by NVIDIA's MPS if that runs.

Needs torch, numpy and scipy alone, for games also chess, for CNNs but ResNet-18 torchvision, and PYTHONPATH=src.
``--rehearse`` runs every job small, on digits.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nasbed.datasets.dataset import Dataset
from nasbed.datasets.opening import open_dataset
from nasbed.datasets.unseen import UNSEEN
from nasbed.datasets.unseen.export import write_unseen
from nasbed.experiments.unseen.baseline import measured_baseline
from nasbed.experiments.unseen.budget import NasBudget
from nasbed.experiments.unseen.presets import PresetChoice
from nasbed.experiments.unseen.results import ResultsFile, append_result
from nasbed.experiments.unseen.runs import NasPlan, measure
from nasbed.experiments.unseen.search import OnEpoch
from nasbed.training import load_recipe
from nasbed.training.outcome import EpochEnd

FOLDERS = {
    "addnist": "mnist",
    "multnist": "mnist",
    "language": "wordlists",
    "gutenberg": "gutenberg",
    "cifartile": "cifar10",
    "chesseract": "pgn",
}
RECIPE = load_recipe("unseen")
STOPPED = Path(__file__).with_name("unseen-remaining")
"""What jobs have done that did not end in their minutes, if any: records of searches, and checkpoints."""


class TimeIsOver(Exception):
    """The seconds have passed, and an epoch has just been saved."""


@dataclass(frozen=True, slots=True)
class Work:
    """Where to read, write and compute, and until when."""

    sources: Path
    state: Path
    device: str
    deadline: float
    rehearse: bool

    @property
    def results(self) -> Path:
        return self.state / "results.jsonl"

    def dataset(self, name: str, *, as_released: bool = False) -> Dataset:
        return open_dataset("digits" if self.rehearse else str(self.dataset_folder(name, as_released=as_released)))

    def dataset_folder(self, name: str, *, as_released: bool = False) -> Path:
        """The folder of a dataset, made from its sources by the first job that needs it."""
        unseen = UNSEEN.get(name)()
        if as_released:
            unseen = unseen.as_released()
        folder = self.state / "datasets" / unseen.title.replace(" ", "-")
        if not folder.exists():
            made = unseen.make(self.sources / FOLDERS[name], seed=0, progress=lambda *_: None)
            write_unseen(unseen, made, folder, seed=0, progress=lambda *_: None)
        return folder

    def report(self, title: str) -> OnEpoch:
        """Prints the end of an epoch, and raises if it is too late for another one like it."""
        start = time.monotonic()

        def on_epoch(epoch: int, text: str) -> None:
            nonlocal start
            now = time.monotonic()
            print(f"{title}, epoch {epoch}: {text}, {now - start:.1f} s", flush=True)
            if now + (now - start) > self.deadline:
                raise TimeIsOver
            start = now

        return on_epoch


def train_cnn(work: Work, models: Sequence[str], name: str, *, as_released: bool, recipe: str = "") -> None:
    """CNNs by the protocol of table 1 or by another recipe beside this script, one after another."""
    dataset = work.dataset(name, as_released=as_released)
    followed = load_recipe(Path(__file__).with_name(f"{recipe}.toml")) if recipe else RECIPE
    for model in models:
        wanted = (model, dataset.name, followed.settings())
        if any((done.model, done.dataset, dict(done.recipe)) == wanted for done in ResultsFile(work.results).results):
            continue
        report = work.report(f"{model} on {dataset.name}")

        def on_epoch(end: EpochEnd, report: OnEpoch = report) -> None:
            report(end.done, f"loss {end.loss:.3f}, validation {end.validation_accuracy or 0:.2f} %")

        checkpoint = work.state / "checkpoints" / f"{model}-{dataset.name}-{followed.name}.pt"
        epochs = 1 if work.rehearse else None
        result = measured_baseline(
            model, dataset, followed, checkpoint=checkpoint, progress=on_epoch, epochs=epochs, device=work.device
        )
        append_result(work.results, result)
        checkpoint.unlink(missing_ok=True)


def search_by_preset(
    work: Work,
    methods: Sequence[str],
    name: str,
    *,
    channels: int | None = 16,
    cells: int | None = 8,
    search_epochs: int | None = None,
    search_batch: int | None = None,
) -> None:
    """Cells of table 2: searches in their preset configuration. What they find is trained together.

    Args:
        work: Where.
        methods, name: The methods, and the dataset.
        channels, cells: Of the networks that are trained, None for those of the preset.
        search_epochs, search_batch: Of the search, None for the preset's.
    """
    preset = PresetChoice(
        "paper",
        recipe=RECIPE,
        channels=channels,
        cells=cells,
        search_epochs=search_epochs,
        settings={"supernet": {"batch": search_batch}} if search_batch else {},
    )
    epochs = None
    if work.rehearse:
        searches: dict[str, Any] = {"search_epochs": 2, "search_images": 256, "search_channels": 8, "search_cells": 2}
        preset, epochs = PresetChoice("paper", recipe=RECIPE, channels=4, cells=2, **searches), 2
    plan = NasPlan(
        tuple(methods), RECIPE, NasBudget(), epochs=epochs, together=True, preset=preset, learning_curve=True
    )
    measure_plan(work, plan, name)


def measure_plan(work: Work, plan: NasPlan, name: str) -> None:
    @contextmanager
    def bar(title: str, epochs: int) -> Iterator[OnEpoch]:
        yield work.report(f"{title} of {epochs} epochs")

    folders = {"checkpoints": work.state / "checkpoints", "searches": work.state / "searches"}
    measure([work.dataset(name)], plan, work.results, **folders, device=work.device, bar=bar)


JOBS: dict[str, partial[None]] = {
    "moved-cifartile": partial(
        train_cnn, models=("resnet18",), name="cifartile", as_released=True, recipe="unseen-moved-images"
    ),
    "rate-cifartile": partial(
        train_cnn, models=("resnet18", "vgg16"), name="cifartile", as_released=True, recipe="unseen-tile-rate"
    ),
    "cnn-gutenberg": partial(train_cnn, models=("resnet18", "alexnet"), name="gutenberg", as_released=True),
    "cnn-language": partial(train_cnn, models=("vgg16",), name="language", as_released=True),
    "rs-bonsai-addnist": partial(search_by_preset, methods=("rs-bonsai",), name="addnist", channels=None, cells=None),
    "gdas-chesseract": partial(search_by_preset, methods=("gdas",), name="chesseract"),
    "gdas-language": partial(search_by_preset, methods=("gdas",), name="language", search_epochs=100),
    "gdas-addnist": partial(search_by_preset, methods=("gdas",), name="addnist", search_epochs=100),
    "drnas-chesseract": partial(search_by_preset, methods=("drnas",), name="chesseract", search_batch=256),
    "drnas-language": partial(search_by_preset, methods=("drnas",), name="language", search_batch=256),
    "drnas-addnist": partial(search_by_preset, methods=("drnas",), name="addnist", search_batch=256),
    "pc-darts-multnist": partial(search_by_preset, methods=("pc-darts", "rs-darts"), name="multnist"),
}


def run_jobs(work: Work, names: Sequence[str]) -> None:
    """One job after another, until the time is over."""
    for name in names:
        try:
            JOBS[name](work)
        except TimeIsOver:
            print(f"{name}: stopped, the same command resumes", flush=True)
            return
        print(f"{name}: done", flush=True)


def run_at_once(work: Work, names: Sequence[str], count: int) -> None:
    """So many jobs at a time, each in a process of its own. Raises SystemExit if one fails."""
    waiting, running, failed = list(names), dict[str, subprocess.Popen[bytes]](), []
    try:
        while waiting or running:
            if time.monotonic() > work.deadline:
                waiting.clear()
            while waiting and len(running) < count:
                name = waiting.pop(0)
                running[name] = start_process(work, name)
            time.sleep(0.1)
            for name, process in list(running.items()):
                if process.poll() is not None:
                    del running[name]
                    failed += [name] if process.returncode else []
    finally:
        for process in running.values():
            process.wait()  # never killed: that would end others that share the GPU
    if failed:
        raise SystemExit(f"failed, see above: {', '.join(failed)}")


def start_process(work: Work, name: str) -> subprocess.Popen[bytes]:
    """Run a job alone, with the script's own command. Two jobs must not make one dataset, so it is made before."""
    if not work.rehearse:
        job = JOBS[name].keywords
        work.dataset_folder(job["name"], as_released=job.get("as_released", False))
    seconds = max(0.0, work.deadline - time.monotonic())
    options = ["--jobs", name, "--seconds", str(seconds), "--device", work.device, "--megabytes", "0"]
    return subprocess.Popen(
        [sys.executable, __file__, str(work.sources), str(work.state), *options, *["--rehearse"] * work.rehearse]
    )


def start_with_stopped_jobs(state: Path) -> None:
    """Copy what they left into a state that lacks it."""
    for path in (path for path in STOPPED.rglob("*") if path.is_file()):
        own = state / path.relative_to(STOPPED)
        if not own.exists():
            own.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, own)


def take_along(state: Path, megabytes: float) -> None:
    """Pack results, searches and as many checkpoints as fit, the smallest first."""
    kept = [
        path for path in state.rglob("*") if path.is_file() and path.suffix != ".npy" and path.name != "take-along.tar"
    ]
    kept = [path for path in kept if "datasets" not in path.relative_to(state).parts]
    left = megabytes * 2**20
    with tarfile.open(state / "take-along.tar", "w") as archive:
        for path in sorted(kept, key=lambda path: path.stat().st_size):
            left -= path.stat().st_size + 2048
            if left < 0:
                print(f"left here: {path.relative_to(state)} and what is larger", flush=True)
                break
            archive.add(path, path.relative_to(state))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sources", type=Path, nargs="?", default=Path("sources"))
    parser.add_argument("state", type=Path, nargs="?", default=Path("build/unseen-remaining"))
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS), metavar="NAME", help="by default all")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop at the end of an epoch after so many")
    parser.add_argument("--at-once", type=int, default=1, metavar="N", help="jobs at a time, each in a process")
    parser.add_argument(
        "--megabytes", type=float, default=15.0, help="the most that is packed for another machine; 0 packs nothing"
    )
    parser.add_argument("--device", default="auto", help="auto (a GPU if there is one), cpu, cuda or cuda:1")
    parser.add_argument("--rehearse", action="store_true", help="every job small, on digits")
    parser.add_argument("--list", action="store_true", help="print the jobs and end")
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(JOBS))
        return
    options.state.mkdir(parents=True, exist_ok=True)
    if not options.rehearse:
        start_with_stopped_jobs(options.state)
    deadline = time.monotonic() + options.seconds
    work = Work(options.sources, options.state, options.device, deadline, options.rehearse)
    try:
        if options.at_once > 1:
            run_at_once(work, options.jobs, options.at_once)
        else:
            run_jobs(work, options.jobs)
    finally:
        if options.megabytes:
            take_along(options.state, options.megabytes)


if __name__ == "__main__":
    main()
