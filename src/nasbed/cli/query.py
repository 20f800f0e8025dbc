"""``nasbed query``: ask a benchmark about one architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nasbed.terminal.output import Json, print_fields, print_json

if TYPE_CHECKING:
    from nasbed.benchmarks import Benchmark, TabularBenchmark
    from nasbed.core.architecture import Architecture
    from nasbed.core.observation import Observation


def query(
    benchmark: Annotated[
        str, typer.Argument(metavar="BENCHMARK", help="An id from 'nasbed list benchmarks', or a folder.")
    ],
    arch: Annotated[str, typer.Argument(metavar="ARCH", help="An architecture as its space writes it.")],
    fidelity: Annotated[int | None, typer.Option(show_default="the highest", help="The budget, in epochs.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Answer as one training with this seed, which draws one of a table's stored repeats; without it, all "
            "of them are shown."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Print what was measured for an architecture: validation metrics, cost and parameters. Test metrics are not shown.

    Example: nasbed query nb201/cifar10 "$(nasbed space sample nb201)"
    """
    from nasbed.benchmarks import TabularBenchmark, load

    found = load(benchmark)
    architecture = found.space.parse(arch)
    if seed is None and isinstance(found, TabularBenchmark):
        _print_repeats(found, architecture, fidelity, json)
        return
    observation = found.query(architecture, fidelity=fidelity, seed=seed or 0)
    fields = {"benchmark": found.name, "architecture": found.space.format(architecture)} | _fields(observation)
    table = _drawn_from(found)
    if table is not None:
        fields |= _draw(table, architecture, fidelity=fidelity, seed=seed or 0, json=json)
    if json:
        print_json(fields)
    else:
        print_fields(fields)


def _drawn_from(benchmark: Benchmark) -> TabularBenchmark | None:
    """The table whose repeats a query draws from, or ``None`` where it draws none."""
    from nasbed.benchmarks import Restricted, SubSpace, TabularBenchmark

    while isinstance(benchmark, Restricted | SubSpace):
        benchmark = benchmark.inner
    return benchmark if isinstance(benchmark, TabularBenchmark) else None


def _draw(
    table: TabularBenchmark, architecture: Architecture, *, fidelity: int | None, seed: int, json: bool
) -> dict[str, Any]:
    """Which of the stored repeats a seed draws: in numbers for JSON, else in words."""
    repeat = table.drawn_repeat(architecture, fidelity=fidelity, seed=seed) + 1
    stored = [each.seed for each in table.repeats(architecture, fidelity=fidelity)]
    if json:
        return {"asked_seed": seed, "repeat": repeat, "stored_seeds": stored}
    words = f"{repeat} of {len(stored)}, drawn by seed {seed}"
    known = [str(each) for each in stored if each is not None]
    if known:
        words += f"; stored seed{'s' if len(known) > 1 else ''}: {', '.join(known)}"
    return {"repeat": words}


def _print_repeats(found: TabularBenchmark, architecture: Architecture, fidelity: int | None, json: bool) -> None:
    repeats = [_fields(each) for each in found.repeats(architecture, fidelity=fidelity)]
    text = found.space.format(architecture)
    if json:
        print_json({"benchmark": found.name, "architecture": text, "repeats": repeats})
        return
    shown: dict[str, Any] = {"benchmark": found.name, "architecture": text}
    for name in repeats[0]:
        values = [str(repeat.get(name, "")) for repeat in repeats]
        shown[name] = values[0] if len(set(values)) == 1 else "  ".join(values)
    units = {metric.key: metric.unit for metric in found.metrics}
    print_fields({f"{name} [{units[name]}]" if units.get(name) else name: value for name, value in shown.items()})


def _fields(observation: Observation) -> dict[str, Any]:
    values = {metric.key: _plain(value) for metric, value in observation.values.items()}
    return {
        "fidelity": observation.fidelity,
        "seed": observation.seed,
        "status": observation.status.value,
        **values,
        "cost_s": observation.cost_s,
    }


def _plain(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) >= 1000 else value
