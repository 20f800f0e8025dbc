"""Population training against its limits, and against what a user would do instead; in one run, on one device.

    python benchmarks/population.py [--cases 'nb201-*'] [--profile] [--out FILE.json]
    python benchmarks/population.py --space darts --dataset cifar10@16 --recipe collect-darts --population 192
    python benchmarks/population.py --device cpu --smoke

For each space and shape of images: the time of a step, beside the bytes that it must move at least at the bandwidth of
a measured copy (nasbed.training.population.floor says what is counted) and its FLOP/s; the time to prepare, cold and
warm, and to evaluate; networks a minute from end to end. A shortened training is run whole, and the rest of the
recipe's steps are added to its time. The baselines are timed by their steps alone: the plain loop, CUDA graphs on
streams, and torch.func over seeds of one architecture. Images are random and made in memory unless --dataset names a
prepared one. Failures are listed at the end; the other cases still run.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from fnmatch import fnmatch
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from platform import python_version
from time import perf_counter
from typing import Any, TypeVar

import torch

from nasbed.core.errors import NasbedError
from nasbed.datasets import Dataset
from nasbed.training.devices import chosen_device
from nasbed.training.images import TrainingImages
from nasbed.training.population.training import Population
from population_training.baselines import Baselines
from population_training.cases import CASES, NB201, Case, custom_case, random_dataset, smaller
from population_training.measures import Measured, PopulationTimes, free_memory
from population_training.table import limits, ratios, tables
from population_training.timing import KernelShare, copy_bandwidth, matrix_rate

Value = TypeVar("Value")
SAMPLE = 32
"""The number of random architectures from which the baselines are chosen."""


class Run:
    """One case: what was measured, and what failed. ``budget_s`` is for timing one thing, ``limit_s`` for everything."""

    def __init__(self, case: Case, device: torch.device, *, limit_s: float, budget_s: float) -> None:
        self.case, self.device, self.limit_s, self.budget_s = case, device, limit_s, budget_s
        self.began, self.took_s = perf_counter(), 0.0
        self.failures: dict[str, str] = {}
        self.times: PopulationTimes | None = None
        self.kernels: list[KernelShare] = []
        self.baselines: dict[str, dict[str, Any]] = {}
        self.distances: list[tuple[float, float]] = []

    def attempt(self, name: str, work: Callable[[], Value], *, optional: bool = False) -> Value | None:
        """What the work returns, or None with the reason noted."""
        if optional and perf_counter() - self.began > self.limit_s:
            self.failures[name] = "skipped: the case has used up its seconds"
            return None
        try:
            return work()
        except Exception as error:
            reason = str(error).strip().splitlines()
            self.failures[name] = f"{type(error).__name__}: {reason[0] if reason else ''}"[:200]
            return None
        finally:
            free_memory(self.device)

    def measure(self, *, profile: bool) -> None:
        case, device = self.case, self.device
        dataset = case.load()
        images = TrainingImages(dataset, case.recipe, device)
        self.attempt("population", lambda: self._population(dataset, images, profile=profile))
        jobs = replace(case, population=SAMPLE if device.type == "cuda" else case.population).jobs(0)
        baselines = Baselines(jobs, dataset, case.recipe, images, device, budget_s=self.budget_s)
        self._baseline("plain loop", lambda: (baselines.plain(6 if device.type == "cuda" else 2), False))
        distances = self.attempt("gradient distances", lambda: baselines.gradient_distances(min(6, len(jobs))))
        self.distances = distances or []
        for seeds in (16, 64) if device.type == "cuda" else (2,):
            self._baseline(f"vmap {seeds}", lambda: baselines.over_seeds(seeds), optional=True)
        for graphs in (8, 16) if device.type == "cuda" else ():
            self._baseline(f"{graphs} graphs", lambda: (baselines.on_streams(graphs), True), optional=True)

    def _population(self, dataset: Dataset, images: TrainingImages, *, profile: bool) -> None:
        measured = Measured(self.case, dataset, images, self.device)
        self.times = measured.times(budget_s=self.budget_s)
        if profile:
            self.kernels = measured.kernels()

    def _baseline(self, name: str, work: Callable[[], tuple[float, bool]], *, optional: bool = False) -> None:
        outcome = self.attempt(name, work, optional=optional)
        if outcome is not None:
            self.baselines[name] = {"network_step_s": outcome[0], "recorded": outcome[1]}

    def record(self, environment: dict[str, Any]) -> dict[str, Any]:
        """Everything as plain values, with what follows from it on this machine."""
        case, times = self.case, None if self.times is None else asdict(self.times)
        record: dict[str, Any] = {
            "case": case.name,
            "space": case.space,
            "population": case.population,
            "dataset": case.dataset,
            "recipe": case.recipe.settings(),
            "seconds": self.took_s,
            "times": times,
            "limits": None if times is None else limits(environment, times),
            "baselines": self.baselines,
            "gradient_distances": [
                {"population": population_distance, "bfloat16": bfloat16_distance}
                for population_distance, bfloat16_distance in self.distances
            ],
            "kernels": [asdict(kernel) for kernel in self.kernels],
            "failures": self.failures,
        }
        return record | {"times_the_plain_loop": ratios(record)}


def environment(device: torch.device) -> dict[str, Any]:
    """The machine, its limits as measured now, and the versions."""
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": python_version(),
        "torch": torch.__version__,
        "triton": import_module("triton").__version__ if find_spec("triton") else None,
        "copy_bytes_a_second": copy_bandwidth(device),
        "matrix_flop_a_second": matrix_rate(device),
    }


def start_processes() -> float:
    """Seconds to start the processes that prepare populations, so that no case pays for it."""
    began = perf_counter()
    case = Case("start", "nb201", 64, "random:3x8x8", replace(NB201, split=None))
    dataset = random_dataset(case.dataset, (3, 8, 8), (256, 128, 128))
    cpu = torch.device("cpu")
    Population(case.jobs(0), dataset, case.recipe, TrainingImages(dataset, case.recipe, cpu), cpu)
    return perf_counter() - began


def chosen_cases(options: argparse.Namespace) -> list[Case]:
    if options.space is not None:
        cases = [custom_case(options.space, options.dataset, recipe=options.recipe, population=options.population)]
    else:
        cases = [case for case in CASES if fnmatch(case.name, options.cases)]
    return [smaller(case) for case in cases] if options.smoke else cases


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", default="*", help=f"a pattern; there are {', '.join(case.name for case in CASES)}")
    parser.add_argument("--space", help="measure one case of this space instead")
    parser.add_argument("--dataset", default="random:3x16x16", help="with --space: random:CxHxW or a prepared dataset")
    parser.add_argument("--recipe", help="with --space: a recipe's name or TOML file")
    parser.add_argument("--population", type=int, default=192, help="with --space: networks")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds-per-case", type=float, default=40.0, help="baselines beyond it are skipped")
    parser.add_argument("--profile", action="store_true", help="list the kernels of a step by time")
    parser.add_argument("--out", type=Path, help="write all numbers to this JSON file, after every case")
    parser.add_argument("--triton-cache", help="a folder of compiled kernels; by default a new one, so cold is cold")
    parser.add_argument("--smoke", action="store_true", help="few small networks and images, to rehearse on a CPU")
    options = parser.parse_args(arguments)
    try:
        cases, device = chosen_cases(options), chosen_device(options.device)
    except NasbedError as error:
        parser.error(str(error))
    if not cases:
        parser.error(f"no case matches {options.cases}; there are {', '.join(case.name for case in CASES)}")
    with tempfile.TemporaryDirectory(prefix="triton-") as folder:
        os.environ["TRITON_CACHE_DIR"] = options.triton_cache or folder
        measure(cases, device, options)


def measure(cases: Sequence[Case], device: torch.device, options: argparse.Namespace) -> None:
    """Measure every case, then print the tables."""
    if device.type == "cpu":
        torch.set_num_threads(1)  # small networks are fastest with one
    about: dict[str, Any] = environment(device)
    if not options.smoke:
        about["start_processes_s"] = start_processes()
    began = perf_counter()
    runs: list[Run] = []
    for case in cases:
        budget_s = 0.0 if options.smoke else options.seconds_per_case / 20
        run = Run(case, device, limit_s=options.seconds_per_case, budget_s=budget_s)
        runs.append(run)
        if perf_counter() - began > options.seconds_per_case * len(cases):
            run.failures["case"] = "skipped: earlier cases have used up the time"
        else:
            run.attempt("case", lambda: run.measure(profile=options.profile))
        run.took_s = perf_counter() - run.began
        print(
            f"{case.name}: {run.took_s:.0f} s", *(f"; {name}: {why}" for name, why in run.failures.items()), flush=True
        )
        records = [run.record(about) for run in runs]
        if options.out is not None:
            options.out.write_text(json.dumps({"environment": about, "cases": records}, indent=1), encoding="utf-8")
    print(tables(about, records))


if __name__ == "__main__":
    main()
