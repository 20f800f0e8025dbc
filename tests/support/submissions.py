"""Datasets and submissions for tests of the challenge. Images are tiny; the first pixel of each is its label."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import numpy as np

from nasbed.challenge.limits import MIB, Limits
from nasbed.challenge.processes import all_processes
from nasbed.challenge.results import SubmissionResult
from nasbed.challenge.runner import ChallengeSettings, run_challenge

CLASSES, TESTED = 4, 20
BENCHMARK = 20.0
TIME_S = 60.0
"""More than any honest run needs on a busy machine."""


def write_dataset(folder: Path, *, benchmark: float = BENCHMARK, images: int = 40) -> Path:
    """A fifth of nothing is learnt here; labels go 0, 1, 2, 3, 0 …"""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for part, count in (("train", images), ("valid", 20), ("test", TESTED)):
        labels = np.arange(count) % CLASSES
        pixels = rng.random((count, 1, 8, 8)).astype(np.float32)
        pixels[:, 0, 0, 0] = labels
        np.save(folder / f"{part}_x.npy", pixels)
        np.save(folder / f"{part}_y.npy", labels.astype(np.int64))
    metadata = {
        "num_classes": CLASSES,
        "input_shape": [images, 1, 8, 8],
        "codename": folder.name,
        "benchmark": benchmark,
        "seed": 1234,
    }
    (folder / "metadata").write_text(json.dumps(metadata))
    return folder


def write_submission(
    folder: Path,
    *,
    top: str = "",
    processor_init: str = "",
    process: str = "return self.train_x, self.valid_x, self.test_x",
    search_init: str = "",
    search: str = "return None",
    trainer_init: str = "",
    train: str = "",
    predict: str = "return [0] * len(test)",
) -> Path:
    """A submission without torch, whose methods have the bodies given."""
    folder.mkdir(parents=True)
    (folder / "data_processor.py").write_text(
        dedent(top)
        + "\nclass DataProcessor:\n"
        + _method("__init__", "train_x, train_y, valid_x, valid_y, test_x, metadata, clock", _store(processor_init))
        + _method("process", "", process)
    )
    (folder / "nas.py").write_text(
        "class NAS:\n"
        + _method("__init__", "train, valid, metadata, clock", search_init or "pass")
        + _method("search", "", search)
    )
    (folder / "trainer.py").write_text(
        "class Trainer:\n"
        + _method("__init__", "model, device, train, valid, metadata, clock", trainer_init or "self.clock = clock")
        + _method("train", "", train or "return None")
        + _method("predict", "test", predict)
    )
    return folder


def _store(body: str) -> str:
    return "self.train_x, self.valid_x, self.test_x = train_x, valid_x, test_x\n" + dedent(body)


def _method(name: str, arguments: str, body: str) -> str:
    return f"    def {name}(self, {arguments}):\n" + indent(dedent(body), " " * 8) + "\n"


def run_submission(
    tmp_path: Path,
    *,
    isolation: str = "auto",
    limits: Limits | None = None,
    benchmark: float = BENCHMARK,
    **parts: str,
) -> tuple[SubmissionResult, str]:
    """Write a dataset and a submission, run the one on the other; the result and the log."""
    data = write_dataset(tmp_path / "data" / "secret", benchmark=benchmark)
    submission = write_submission(tmp_path / "entry", **parts)
    runs = tmp_path / "runs"
    (result,) = run_on(submission, [data], runs, limits=limits, isolation=isolation)
    return result, (runs / "entry" / "secret" / "log.txt").read_text(errors="replace")


def run_on(
    submission: Path,
    datasets: Sequence[Path],
    runs: Path,
    *,
    limits: Limits | None = None,
    isolation: str = "auto",
    on_start: Callable[[str], object] = lambda dataset: None,
    **settings: Any,
) -> list[SubmissionResult]:
    """Run a submission; datasets are shown as they are and scored by their metadata, unless settings say otherwise."""
    chosen = {"zero": "paper", "disguise": "none"} | settings
    return run_challenge(
        submission,
        datasets,
        runs,
        ChallengeSettings(limits or make_limits(), **chosen),
        isolation=isolation,
        on_start=lambda dataset, time_s, applied: on_start(dataset),  # type: ignore[arg-type]
    )


def make_limits(
    *, time_s: float = TIME_S, memory_mib: int = 1024, processes: int = 200, log_bytes: int = 100_000
) -> Limits:
    return Limits(
        time_s=time_s,
        memory_bytes=memory_mib * MIB,
        processes=processes,
        scratch_bytes=64 * MIB,
        scratch_files=2000,
        log_bytes=log_bytes,
    )


def processes_with(token: str) -> list[int]:
    """Processes whose command line has a word; those that are being killed get a moment to go."""
    deadline = time.monotonic() + 10
    while matches := [number for number in all_processes() if _has(number, token)]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    return matches


def _has(number: int, token: str) -> bool:
    try:
        return token.encode() in Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return False
