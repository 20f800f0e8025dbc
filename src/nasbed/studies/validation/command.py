"""``nasbed validate``: the checks of a surrogate, or of models on a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nasbed.core.errors import InvalidOption, nearest
from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.progress import note, run_bars
from nasbed.terminal.report_options import (
    Budget,
    Fidelity,
    Figures,
    Formats,
    MetricKey,
    ModelPreset,
    Out,
    Processes,
    report_formats,
)
from nasbed.terminal.settings import settings_by_owner

if TYPE_CHECKING:
    from nasbed.core.execution import Engine
    from nasbed.results.store import Results
    from nasbed.studies.validation.fit_tasks import SurrogateRecipe
    from nasbed.studies.validation.parts import ValidationOptions
    from nasbed.studies.validation.study import Validation


@former_options({"--methods": "--optimizers", "--model": "--models", "--results": "--table"})
def validate(
    subject: Annotated[
        str, typer.Argument(metavar="RESULTS|ARTEFACT", help="A table or a surrogate: an id, a folder, or a file .snb.")
    ],
    out: Out,
    models: Annotated[
        str, typer.Option(help="The models to fit on a table: comma-separated ids, such as lgb,xgb,gin.")
    ] = "lgb",
    ensemble: Annotated[int, typer.Option(min=1, help="Also fit each model as an ensemble of this many members.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="MODEL.KEY=VALUE", help="A model's setting; may be given several times."),
    ] = None,
    preset: ModelPreset = "",
    parts: Annotated[
        str,
        typer.Option(
            show_default="all that apply",
            help="Comma-separated: fits, runtime, table, size, looo, random, best, rest, free, depth, topologies, "
            "methods, cells, noise, test, tsne, regions, trajectories.",
        ),
    ] = "",
    table: Annotated[
        str | None,
        typer.Option(show_default="the one it was fitted on", help="The table to validate a surrogate on."),
    ] = None,
    metric: MetricKey = None,
    fidelity: Fidelity = None,
    at_least: Annotated[
        float | None,
        typer.Option(help="Leave out architectures of a table with an evaluation worse than this, such as 50."),
    ] = None,
    sizes: Annotated[
        str, typer.Option(show_default="8 sizes, up to all", help="Comma-separated training sizes for the part size.")
    ] = "",
    repeats: Annotated[int, typer.Option(min=1, help="Fits at each training size.")] = 3,
    best_share: Annotated[
        float | None,
        typer.Option(show_default="0.25", help="Which share of architectures is best, for best, rest and regions."),
    ] = None,
    best_threshold: Annotated[
        float | None, typer.Option(help="The mean from which an architecture is one of the best, instead of a share.")
    ] = None,
    optimizers: Annotated[
        str,
        typer.Option(
            help="Comma-separated search methods for trajectories and regions; recorded searches have their own."
        ),
    ] = "rs,re,ls,bananas",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each search method.")] = 10,
    budget: Budget = "200ev",
    seed: Annotated[int, typer.Option(min=0, help="The seed of splits, samples and fits.")] = 0,
    processes: Processes = None,
    figures: Figures = False,
    format: Formats = None,
) -> None:
    """Validate a surrogate, or models on a table of results, as the Surrogate NAS Benchmarks paper does.

    Example: nasbed validate nb201/cifar10 --models smooth,lgb --parts table --out validation
    """
    on_interrupt(lambda: _interruption_message(out))
    formats = report_formats(out, figures, format)

    from nasbed.studies.validation.leave_out import WELL_PERFORMING
    from nasbed.studies.validation.page import TITLES, part_facts, write_validation
    from nasbed.studies.validation.parts import ValidationOptions, check_parts
    from nasbed.studies.validation.tables import tables

    selection = check_parts(_split_list(parts))
    if best_share is not None and best_threshold is not None:
        raise InvalidOption("the best are a share or those from a threshold on, got both; omit one of them")
    try:
        numbers = tuple(int(size) for size in _split_list(sizes))
    except ValueError:
        raise InvalidOption(f"training sizes are comma-separated whole numbers, got {sizes!r}") from None
    options = ValidationOptions(
        seed=seed,
        sizes=numbers,
        repeats=repeats,
        share=WELL_PERFORMING if best_share is None else best_share,
        threshold=best_threshold,
        methods=tuple(_split_list(optimizers)),
        seeds=seeds,
        budget=budget,
    )
    _check_searches(options)
    noted: dict[str, str] = {}
    for_tables = {"--at-least": at_least is not None, "--preset": bool(preset)}
    table_only = [option for option, is_given in for_tables.items() if is_given]
    validation = _of_artefact(subject, table, selection, options, out, processes, noted, table_only=table_only)
    if validation is None:
        if table is not None:
            raise InvalidOption(f"--table is for a surrogate, {subject} is a table; omit it")
        own_settings = settings_by_owner(settings or [], owner="MODEL", example="lgb.num_leaves=20")
        recipes = _recipes(_split_list(models), ensemble, own_settings, preset)
        validation = _of_table(
            subject, recipes, selection, options, out, processes, metric, fidelity, noted, at_least=at_least
        )
    write_validation(validation, out, formats=formats)
    for part, part_table in tables(validation).items():
        typer.echo(f"\n{TITLES[part]}")
        for name, fact in part_facts(validation, part).items():
            typer.echo(f"{name}: {fact}")
        typer.echo(part_table.text())
    _note_left_out(validation.left_out or {}, noted)
    typer.echo(f"\n{out / 'report.html'}")


def _interruption_message(out: Path) -> str:
    """The message of an interrupted validation: only searches are kept."""
    count = sum(1 for _ in (out / "searches").rglob("*.npz"))
    if not count:
        return NOTHING_KEPT
    return f"{count} searches are kept in {out}; the same command continues with the others and fits new models"


def _of_table(
    subject: str,
    recipes: Sequence[SurrogateRecipe],
    parts: Sequence[str],
    options: ValidationOptions,
    out: Path,
    processes: int | None,
    metric: str | None,
    fidelity: int | None,
    noted: dict[str, str],
    *,
    at_least: float | None = None,
) -> Validation:
    """The validation of models on a table.

    Args:
        subject: The id or the folder of the table.
        recipes: The models.
        parts: The parts to check.
        options: The seed, sizes and budgets of the parts.
        out: The folder that keeps the runs of the searches.
        processes: The number of processes; all cores by default.
        metric: The key of the metric to predict; the validation metric by default.
        fidelity: The fidelity of the evaluations; the highest by default.
        noted: The omitted parts that were printed already, with reasons. It gets those that this call prints.
        at_least: Leaves out architectures with an evaluation that is worse.
    """
    from nasbed.studies.validation.parts import cannot_be_checked, steps
    from nasbed.studies.validation.study import validate_results
    from nasbed.surrogates import SURROGATES
    from nasbed.surrogates.table_split import TableSplit

    table = _results(subject)
    metrics = table.about.by_key
    if metric is not None and metric not in metrics:
        raise InvalidOption(f"{table.about.name} has no metric {metric!r}; {nearest(metric, metrics)}")
    predicted = metrics[metric] if metric is not None else None
    for recipe in recipes:  # an unknown setting is reported before any model is fitted
        SURROGATES.get(recipe.model)(table.space, settings=recipe.settings or None)
    split = TableSplit.of(table, metric=predicted, fidelity=fidelity, seed=options.seed, at_least=at_least)
    _note_left_out(cannot_be_checked(split, parts, options), noted)
    applicable = [part for part in parts if part not in noted]
    if {"trajectories", "regions"} & set(applicable):
        _check_installed(options, table)
    with run_bars(steps(split, recipes, applicable, options)) as on_step:
        return validate_results(
            split, recipes, out=out, parts=parts, options=options, engine=_engine(processes), on_step=on_step
        )


def _of_artefact(
    subject: str,
    results: str | None,
    parts: Sequence[str],
    options: ValidationOptions,
    out: Path,
    processes: int | None,
    noted: dict[str, str],
    *,
    table_only: Sequence[str] = (),
) -> Validation | None:
    """The validation of a surrogate; ``None`` if the subject is not a surrogate.

    Args:
        subject: The id, the folder or the file of the surrogate.
        results: The table to validate on; the one that it was fitted on by default.
        parts: The parts to check.
        options: The seed, sizes and budgets of the parts.
        out: The folder that keeps the runs of the searches.
        processes: The number of processes; all cores by default.
        noted: The omitted parts that were printed already, with reasons. It gets those that this call prints.
        table_only: Options that were given and are for a table; refused for a surrogate.
    """
    from nasbed.benchmarks.places import surrogate_paths
    from nasbed.studies.validation.artefact_validation import cannot_be_checked, validate_artefact
    from nasbed.studies.validation.searches.recorded import recorded_methods
    from nasbed.surrogates.artefact import Artefact, is_artefact

    path = Path(subject) if is_artefact(Path(subject)) else surrogate_paths().get(subject)
    if path is None:
        return None
    if table_only:
        raise InvalidOption(f"{table_only[0]} is for a table, {subject} is a surrogate; omit it")
    artefact = Artefact.load(path)
    fitted_on = str(artefact.manifest.provenance.get("table", ""))
    if results is None and not fitted_on:
        raise InvalidOption(f"{artefact.name} does not say what it was fitted on; name a table with --table")
    table = _results(results or fitted_on, " with --table" if results is None else "")
    _note_left_out(cannot_be_checked(parts, table), noted)
    bars = {}
    if "trajectories" in parts and "trajectories" not in noted:
        _check_installed(options, table)
        recorded = recorded_methods(table)
        bars["trajectories"] = len(recorded or options.methods) * options.seeds * (1 if recorded else 2)
    with run_bars(bars) as on_step:
        return validate_artefact(
            artefact, path, table, out=out, parts=parts, options=options, engine=_engine(processes), on_step=on_step
        )


def _note_left_out(reasons: Mapping[str, str], noted: dict[str, str]) -> None:
    """Print the omitted parts that were not printed before, with reasons."""
    for part, reason in reasons.items():
        if part not in noted:
            noted[part] = reason
            note(f"left out: {part}: {reason}")


def _engine(processes: int | None) -> Engine:
    from nasbed.core.execution import LocalEngine, SerialEngine

    return SerialEngine() if processes == 1 else LocalEngine(processes)


def _results(name: str, remedy: str = "") -> Results:
    from nasbed.benchmarks.catalog import load_table

    return load_table(name, rule="a validation needs a table of results", remedy=f"name one{remedy}").results


def _check_installed(options: ValidationOptions, table: Results) -> None:
    from nasbed.benchmarks import TabularBenchmark
    from nasbed.experiments.comparison_checks import check_installed
    from nasbed.studies.validation.searches.recorded import recorded_methods

    check_installed(recorded_methods(table) or options.methods, TabularBenchmark(table))


def _recipes(
    models: Sequence[str], members: int, settings: dict[str, dict[str, Any]], preset: str
) -> list[SurrogateRecipe]:
    """Each model alone, and as an ensemble of ``members`` where these are several. Settings win over the preset."""
    from nasbed.studies.validation.fit_tasks import SurrogateRecipe
    from nasbed.surrogates import SURROGATES
    from nasbed.surrogates.presets import MODEL_PRESETS

    if not models:
        raise InvalidOption(f"a validation needs at least 1 model, got none; known: {', '.join(SURROGATES)}")
    for name in settings:
        if name not in models:
            raise InvalidOption(f"settings are for a model that is fitted, got {name}; fitted are: {', '.join(models)}")
    recipes = []
    for name in models:
        SURROGATES.get(name)
        chosen = (MODEL_PRESETS.get(preset).settings(name) if preset else {}) | settings.get(name, {})
        recipes.append(SurrogateRecipe(name, 1, chosen, preset))
        if members > 1:
            recipes.append(SurrogateRecipe(name, members, chosen, preset))
    return recipes


def _split_list(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _check_searches(options: ValidationOptions) -> None:
    from nasbed.experiments.budget import Budget
    from nasbed.optimizers import OPTIMIZERS

    Budget.parse(options.budget)
    for method in options.methods:
        OPTIMIZERS.get(method)
