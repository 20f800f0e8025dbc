"""Many methods, many seeds, one benchmark."""

from __future__ import annotations

import logging
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import nasbed
from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.catalog import load
from nasbed.core.errors import BadFile, InvalidOption, MissingDependency, NasbedError
from nasbed.core.execution import Engine, LocalEngine, SerialEngine
from nasbed.core.execution.journal import check_same_inputs
from nasbed.core.tracebacks import whole_traceback
from nasbed.experiments.budget import Budget
from nasbed.experiments.guidance import Guidance, guided, resolved, score_pools
from nasbed.experiments.method_settings import preset_label, settings_by_name, uncovered_note, with_preset
from nasbed.experiments.named_methods import (
    identity_of,
    known_method,
    optimizer_class,
    settings_of,
    short_name,
    stable_number,
)
from nasbed.experiments.provenance import (
    Method,
    Provenance,
    benchmark_fingerprint,
    check_content,
    provenance_of,
    source_fingerprint,
)
from nasbed.experiments.runs import SAME_IN_A_FOLDER, Run, Runs, Setup, load_runs, load_setup, save_run, save_setup
from nasbed.experiments.searchable import check_budget, check_searchable, continues
from nasbed.experiments.simulate import error_line, no_scoring, problem_of, simulate
from nasbed.experiments.stored_runs import stored_runs
from nasbed.optimizers import OPTIMIZERS
from nasbed.optimizers.presets import METHOD_PRESETS

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunTask:
    """One run: a method with its settings and its guidance by a proxy, a seed, a benchmark by name. ``name`` is the
    name of the run."""

    name: str
    benchmark: str
    method: Method
    seed: int
    budget: Budget
    workers: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    charge_thinking: bool = False
    guidance: Guidance | None = None
    made_by: Provenance | None = None
    continue_trainings: bool = False


_BENCHMARKS: dict[str, Benchmark] = {}


def _benchmark_of(task: RunTask) -> Benchmark:
    """The benchmark of a task, opened once a process and again when its content has changed."""
    fingerprint = task.made_by.benchmark if task.made_by else ""
    benchmark = _BENCHMARKS.get(task.benchmark)
    if benchmark is None or (fingerprint and benchmark_fingerprint(benchmark) != fingerprint):
        benchmark = _BENCHMARKS[task.benchmark] = load(task.benchmark)
    if fingerprint and benchmark_fingerprint(benchmark) != fingerprint:
        raise BadFile(f"{task.benchmark} was changed while runs were made on it; run again")
    return benchmark


def run_task(task: RunTask) -> Run:
    """Carry out one run. It is bound to the current source of its method, in the process that runs it."""
    benchmark = _benchmark_of(task)
    made_by = task.made_by
    if made_by is not None and made_by.origin and isinstance(task.method, str):
        made_by = replace(made_by, source=source_fingerprint(made_by.origin))
    try:
        run = _carried_out(task, benchmark)
    except Exception as error:  # a method that cannot be made must not end the other runs
        run = replace(_broken(task, benchmark, error_line(error)), traceback=whole_traceback(error))
    return replace(run, made_by=made_by)


def _carried_out(task: RunTask, benchmark: Benchmark) -> Run:
    rng = np.random.default_rng([task.seed, stable_number(identity_of(task.method))])
    kind, problem = optimizer_class(task.method), problem_of(benchmark)
    if task.guidance is None:
        optimizer, scoring_s = kind(problem, rng, **task.settings), no_scoring
    else:
        optimizer, scoring_s = guided(
            task.guidance, kind, problem, rng, task.settings, benchmark=benchmark, seed=task.seed
        )
    return simulate(
        optimizer,
        benchmark,
        seed=task.seed,
        budget=task.budget,
        workers=task.workers,
        charge_thinking=task.charge_thinking,
        scoring_s=scoring_s,
        continue_trainings=task.continue_trainings,
    )


def compare(
    benchmark: str | Path,
    methods: Sequence[Method],
    *,
    seeds: int,
    budget: str,
    out: Path | str,
    workers: int = 1,
    engine: Engine | None = None,
    preset: str = "",
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    guidance: Sequence[Guidance | None] = (None,),
    scores: str | Path | None = None,
    proxy_dataset: str = "",
    charge_thinking: bool = False,
    continue_trainings: bool | None = None,
    timeout_s: float | None = None,
    command: str = "",
    progress: Callable[[str, int, str], None] | None = None,
    scoring_progress: Callable[[int, int], None] | None = None,
    on_note: Callable[[str], None] | None = None,
    on_start: Callable[[int], None] | None = None,
) -> Runs:
    """Run every method with every seed and store each run in a file when it ends. A stored run that is still valid is
    not repeated.

    A run is valid as long as the source of its method, its settings, its benchmark and nasbed's version are unchanged
    (:mod:`nasbed.experiments.provenance`). Stored runs of these methods that are out of date are repeated, whatever
    their seed. A benchmark whose content has changed is refused, as the old runs could not be repeated. For live
    training, another version of nasbed alone does not repeat a run.

    Args:
        benchmark: what :func:`nasbed.load` takes, as processes open it by name.
        methods: ids, ``file.py:ClassName``, or classes; a class from a notebook runs in this process only.
        seeds: how many, from 0.
        budget: of each run, such as ``500ev`` or ``1e6s``.
        out: the folder of the runs.
        workers: parallel evaluations on the simulated clock.
        engine: where runs are carried out.
        preset: the paper that the settings are from, such as ``nb101`` (:mod:`nasbed.optimizers.presets`). A method
            that the paper does not use keeps its defaults.
        settings: by :func:`short_name`; they win over the preset.
        guidance: each method is run with each, ``None`` being the method alone.
        scores: a file with the scores of proxies that spaces do not know in closed form.
        proxy_dataset: without that file, the images to score on first.
        charge_thinking: whether a method's own time passes on the simulated clock.
        continue_trainings: whether a higher fidelity continues an earlier training and costs what it adds; otherwise
            every evaluation is trained from scratch. By default it does where fidelities are epochs of one training.
        timeout_s: real seconds a run.
        command: what the report says the runs were made with.
        progress: called with the name, the seed and the error, if any, of each run that ended.
        scoring_progress: called with how many of how many networks are scored.
        on_note: called with a line for each method whose stored runs are made again, and for those that the preset has
            nothing for; without it, lines are logged.
        on_start: called with the number of runs that are not stored yet, before the first begins.
    """
    limit, out = Budget.parse(budget), Path(out)
    methods = [known_method(method) for method in methods]
    _check_importable(methods, engine)
    benchmark = str(Path(benchmark).resolve()) if Path(benchmark).exists() else str(benchmark)
    opened_benchmark = load(benchmark)
    names = {method: short_name(method) for method in methods}
    chosen = METHOD_PRESETS.get(preset) if preset else None
    user_settings = settings_by_name(settings or {}, names)
    own_settings = with_preset(user_settings, chosen, names.values())
    _check_guidance(methods, guidance)
    continued = continues(opened_benchmark, continue_trainings)
    _check_searches(opened_benchmark, methods, name=benchmark, limit=limit, settings=own_settings)
    guides = [
        guide and resolved(guide, opened_benchmark, scores=scores, dataset=proxy_dataset, out=out) for guide in guidance
    ]
    run_settings = {
        _guided_name(names[method], guide): {
            **own_settings.get(names[method], {}),
            **(guide.settings(opened_benchmark) if guide else {}),
        }
        for guide in guides
        for method in methods
    }
    made_by = {
        (name := _guided_name(names[method], guide)): provenance_of(method, run_settings[name], opened_benchmark)
        for guide in guides
        for method in methods
    }
    stored = stored_runs(out, made_by, keep_versions=opened_benchmark.is_live)
    tasks = [
        RunTask(
            name,
            benchmark,
            method,
            seed,
            limit,
            workers,
            own_settings.get(names[method], {}),
            charge_thinking,
            guide,
            made_by[name],
            continued,
        )
        for seed in sorted({*range(seeds), *(seed for _, seed in stored.stale)})
        for guide in guides
        for method in methods
        if stored.is_needed(name := _guided_name(names[method], guide), seed, seeds)
    ]
    setup = Setup(
        benchmark=benchmark,
        space=opened_benchmark.space.name,
        objective=opened_benchmark.objective,
        budget=budget,
        workers=workers,
        settings={name: values for name, values in run_settings.items() if values},
        charge_thinking=charge_thinking,
        continue_trainings=continued,
        command=command if tasks else "",
        versions={"nasbed": nasbed.__version__, "numpy": np.__version__, "python": platform.python_version()},
        benchmark_sha256=benchmark_fingerprint(opened_benchmark),
        methods=tuple(run_settings),
        presets={
            _guided_name(names[method], guide): label
            for guide in guides
            for method in methods
            if (label := preset_label(chosen, names[method], user_settings))
        },
    )
    joined = _merge_setup(out, setup, list(run_settings))
    for line in [*stored.notes, *uncovered_note(chosen, names.values())]:
        (on_note or _LOG.warning)(line)
    if on_start is not None:
        on_start(len(tasks))
    score_pools(
        [guide for guide in guides if guide], opened_benchmark, seeds=seeds, engine=engine, progress=scoring_progress
    )
    save_setup(out, joined)
    for outcome in (engine or LocalEngine()).map_unordered(run_task, tasks, timeout_s=timeout_s):
        task = tasks[outcome.task]
        run = outcome.result if not outcome.error else _broken(task, opened_benchmark, outcome.error)
        save_run(out / "runs", replace(run, method=task.name))
        if progress is not None:
            progress(task.name, task.seed, run.error)
    return load_runs(out)


def check_comparison(
    benchmark: Benchmark,
    methods: Sequence[Method],
    *,
    name: str,
    budget: str,
    preset: str = "",
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    continue_trainings: bool | None = None,
) -> None:
    """Raise where :func:`compare` would, without running anything.

    Args:
        benchmark: the opened benchmark.
        methods: ids, or ``file.py:ClassName``.
        name: what the benchmark is loaded by.
        budget, preset, settings, continue_trainings: as for :func:`compare`.
    """
    names = [short_name(method) for method in methods]
    user_settings = settings_by_name(settings or {}, dict(zip(methods, names, strict=True)))
    chosen = METHOD_PRESETS.get(preset) if preset else None
    continues(benchmark, continue_trainings)
    own_settings = with_preset(user_settings, chosen, names)
    _check_searches(benchmark, methods, name=name, limit=Budget.parse(budget), settings=own_settings)


def _check_searches(
    benchmark: Benchmark,
    methods: Sequence[Method],
    *,
    name: str,
    limit: Budget,
    settings: Mapping[str, Mapping[str, Any]],
) -> None:
    _check_methods(methods, settings, benchmark)
    check_budget(benchmark, limit)
    check_searchable(name, benchmark, {short_name(method): optimizer_class(method) for method in methods})


def _check_importable(methods: Sequence[Method], engine: Engine | None) -> None:
    """Raise for a class that other processes cannot import, unless every run happens in this process."""
    if isinstance(engine, SerialEngine):
        return
    for method in methods:
        if isinstance(method, str):
            continue
        typed_in = method.__module__ == "__main__" and not hasattr(sys.modules["__main__"], "__file__")
        if typed_in or "<locals>" in method.__qualname__:
            raise InvalidOption(
                f"other processes cannot import {method.__qualname__}, which is defined in a notebook, at a prompt or "
                "in a function; run in one process, or put the class in a file"
            )


def run_name(method: Method, guidance: Guidance | None) -> str:
    """The name of this method's runs, guided or not."""
    return _guided_name(short_name(method), guidance)


def _guided_name(name: str, guidance: Guidance | None) -> str:
    return guidance.name(name) if guidance else name


def _broken(task: RunTask, benchmark: Benchmark, error: str) -> Run:
    empty = np.empty(0)
    return Run(
        method=task.name,
        seed=task.seed,
        codes=np.empty((0, benchmark.space.code_length), dtype=np.int64),
        fidelity=empty.astype(np.int64),
        value=empty,
        status=empty.astype(np.int8),
        start_s=empty,
        end_s=empty,
        error=error,
        made_by=task.made_by,
    )


def _check_methods(methods: Sequence[Method], settings: Mapping[str, Mapping[str, Any]], benchmark: Benchmark) -> None:
    """Raise before any run for errors that would affect all runs of a method."""
    names = [short_name(method) for method in methods]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InvalidOption(
            f"each method is named once, got {repeated} {names.count(repeated)} times; omit one, or rename your "
            "own class"
        )
    for name in settings:
        if name not in names:
            raise InvalidOption(f"settings are for a method that is run, got {name}; run are: {', '.join(names)}")
    for method, name in zip(methods, names, strict=True):
        kind, choices = optimizer_class(method), settings_of(method)
        for key in settings.get(name, {}):
            if key not in choices:
                has = f"its settings are {', '.join(choices)}" if choices else "it has none"
                raise InvalidOption(f"{name} has no setting {key!r}; {has}")
        if settings.get(name):
            try:
                kind(problem_of(benchmark), np.random.default_rng(0), **settings[name])
            except NasbedError as error:
                raise InvalidOption(f"{name}: {error}") from None
            except Exception:  # a class that cannot be made breaks its own runs, and is named there
                continue
    check_installed(methods, benchmark)


def check_installed(methods: Sequence[Method], benchmark: Benchmark) -> None:
    """Raise :class:`~nasbed.core.errors.MissingDependency`, before any run, if a registered method needs a package that
    is not installed."""
    for method in methods:
        if isinstance(method, str) and method in OPTIMIZERS:
            try:
                optimizer_class(method)(problem_of(benchmark), np.random.default_rng(0))
            except MissingDependency:
                raise
            except Exception:  # it breaks its own runs, and is named there
                continue


def _check_guidance(methods: Sequence[Method], guidance: Sequence[Guidance | None]) -> None:
    names = [_guided_name("", guide) for guide in guidance]
    if len(set(names)) < len(names) or not names:
        repeated = next((guide.proxy for guide in guidance if guide and names.count(guide.name("")) > 1), "none")
        raise InvalidOption(
            f"methods are run once with each proxy as a start, as a filter, and without, got {repeated}; omit one"
        )
    if any(guide is not None and guide.kind == "filter" for guide in guidance):
        for method in methods:
            if optimizer_class(method).filtered == "never":
                raise InvalidOption(
                    f"a filter needs a method that samples from the space, {short_name(method)} proposes by its "
                    "own model; omit it, or give it a start with --warm-start"
                )


def _merge_setup(out: Path, setup: Setup, names: Sequence[str]) -> Setup:
    """The setup of a folder once these runs are added. A folder holds runs of one kind, on one content of a benchmark;
    others would be mixed up with them."""
    if not (out / "setup.json").is_file():
        return setup
    old = load_setup(out)
    stored_key, new_key = ({name: getattr(either, name) for name in SAME_IN_A_FOLDER} for either in (old, setup))
    check_same_inputs(f"{out} holds runs", stored_key, new_key, remedy="choose another folder")
    check_content(old, setup.benchmark_sha256, out)
    kept_settings = {name: values for name, values in old.settings.items() if name not in names}
    commands = dict.fromkeys([*old.command.splitlines(), *setup.command.splitlines()])
    return replace(
        setup,
        settings={**kept_settings, **setup.settings},
        command="\n".join(commands),
        methods=tuple(dict.fromkeys([*old.methods, *setup.methods])),
        presets={**{name: label for name, label in old.presets.items() if name not in names}, **setup.presets},
    )
