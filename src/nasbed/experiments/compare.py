"""Many methods, many seeds, one benchmark."""

from __future__ import annotations

import logging
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import nasbed
from nasbed.benchmarks.catalog import load
from nasbed.core.execution import Engine, LocalEngine
from nasbed.core.execution.journal import check_same_inputs
from nasbed.experiments.budget import Budget
from nasbed.experiments.comparison_checks import check_guidance, check_importable, check_searches
from nasbed.experiments.guidance import Guidance, resolved, score_pools
from nasbed.experiments.method_settings import preset_label, settings_by_name, uncovered_note, with_preset
from nasbed.experiments.named_methods import known_method, short_name
from nasbed.experiments.provenance import Method, benchmark_fingerprint, check_content, provenance_of
from nasbed.experiments.run_task import RunTask, broken_run, run_task
from nasbed.experiments.runs import SAME_IN_A_FOLDER, Runs, Setup, load_runs, load_setup, save_run, save_setup
from nasbed.experiments.searchable import continues
from nasbed.experiments.stored_runs import stored_runs
from nasbed.optimizers.presets import METHOD_PRESETS

_LOG = logging.getLogger(__name__)


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
    check_importable(methods, engine)
    benchmark = str(Path(benchmark).resolve()) if Path(benchmark).exists() else str(benchmark)
    opened_benchmark = load(benchmark)
    names = {method: short_name(method) for method in methods}
    chosen = METHOD_PRESETS.get(preset) if preset else None
    user_settings = settings_by_name(settings or {}, names)
    own_settings = with_preset(user_settings, chosen, names.values())
    check_guidance(methods, guidance)
    continued = continues(opened_benchmark, continue_trainings)
    check_searches(opened_benchmark, methods, name=benchmark, limit=limit, settings=own_settings)
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
        run = outcome.result if not outcome.error else broken_run(task, opened_benchmark, outcome.error)
        save_run(out / "runs", replace(run, method=task.name))
        if progress is not None:
            progress(task.name, task.seed, run.error)
    return load_runs(out)


def run_name(method: Method, guidance: Guidance | None) -> str:
    """The name of this method's runs, guided or not."""
    return _guided_name(short_name(method), guidance)


def _guided_name(name: str, guidance: Guidance | None) -> str:
    return guidance.name(name) if guidance else name


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
