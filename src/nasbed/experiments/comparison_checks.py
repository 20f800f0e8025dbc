"""What is wrong with a comparison, said before its first run."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nasbed.benchmarks.base import Benchmark
from nasbed.core.errors import InvalidOption, MissingDependency, NasbedError
from nasbed.core.execution import Engine, SerialEngine
from nasbed.experiments.budget import Budget
from nasbed.experiments.guidance import Guidance
from nasbed.experiments.method_settings import settings_by_name, with_preset
from nasbed.experiments.named_methods import optimizer_class, settings_of, short_name
from nasbed.experiments.provenance import Method
from nasbed.experiments.searchable import check_budget, check_searchable, continues
from nasbed.experiments.simulate import problem_of
from nasbed.optimizers import OPTIMIZERS
from nasbed.optimizers.presets import METHOD_PRESETS


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
    """Raise where :func:`~nasbed.experiments.compare.compare` would, without running anything.

    Args:
        benchmark: the opened benchmark.
        methods: ids, or ``file.py:ClassName``.
        name: what the benchmark is loaded by.
        budget, preset, settings, continue_trainings: as for :func:`~nasbed.experiments.compare.compare`.
    """
    names = [short_name(method) for method in methods]
    user_settings = settings_by_name(settings or {}, dict(zip(methods, names, strict=True)))
    chosen = METHOD_PRESETS.get(preset) if preset else None
    continues(benchmark, continue_trainings)
    own_settings = with_preset(user_settings, chosen, names)
    check_searches(benchmark, methods, name=name, limit=Budget.parse(budget), settings=own_settings)


def check_searches(
    benchmark: Benchmark,
    methods: Sequence[Method],
    *,
    name: str,
    limit: Budget,
    settings: Mapping[str, Mapping[str, Any]],
) -> None:
    """Raise where a method, its settings or the budget does not fit the benchmark.

    Args:
        benchmark: the opened benchmark.
        methods: ids, classes or ``file.py:ClassName``.
        name: what the benchmark is loaded by.
        limit: the budget of a run.
        settings: of methods, by the names of their runs.
    """
    _check_methods(methods, settings, benchmark)
    check_budget(benchmark, limit)
    check_searchable(name, benchmark, {short_name(method): optimizer_class(method) for method in methods})


def check_importable(methods: Sequence[Method], engine: Engine | None) -> None:
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


def check_guidance(methods: Sequence[Method], guidance: Sequence[Guidance | None]) -> None:
    """Raise where two runs would have one name, or where a method cannot be filtered."""
    names = [guide.name("") if guide else "" for guide in guidance]
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
