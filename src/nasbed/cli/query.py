"""``nasbed query``: query a benchmark for one architecture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nasbed.terminal.output import Json, print_fields, print_json, print_json_or_fields

if TYPE_CHECKING:
    from nasbed.benchmarks import Benchmark
    from nasbed.core.architecture import Architecture
    from nasbed.core.observation import Observation


def query(
    benchmark: Annotated[
        str, typer.Argument(metavar="BENCHMARK", help="An id from 'nasbed list benchmarks', or a folder.")
    ],
    arch: Annotated[str, typer.Argument(metavar="ARCH", help="An architecture as text; see 'nasbed space sample'.")],
    fidelity: Annotated[int | None, typer.Option(show_default="the highest", help="The budget, in epochs.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Query one training: the seed draws one of a table's stored repeats. Without it, all repeats are "
            "shown."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Print the measurements of an architecture: validation metrics, cost and parameters. Test metrics are not shown.

    Example: nasbed query nb201/cifar10 "$(nasbed space sample nb201)"
    """
    from nasbed.benchmarks import load

    opened_benchmark = load(benchmark)
    architecture = opened_benchmark.space.parse(arch)
    repeats = opened_benchmark.repeats(architecture, fidelity=fidelity)
    if seed is None and repeats and opened_benchmark is opened_benchmark.unwrapped:
        _print_repeats(opened_benchmark, architecture, repeats, json)
        return
    observation = opened_benchmark.query(architecture, fidelity=fidelity, seed=seed or 0)
    fields = {
        "benchmark": opened_benchmark.name,
        "architecture": opened_benchmark.space.format(architecture),
    } | _fields(observation)
    if repeats:
        position = opened_benchmark.drawn_repeat(architecture, fidelity=fidelity, seed=seed or 0)
        fields |= _draw(repeats, position, seed or 0, json=json)
    print_json_or_fields(fields, json=json)


def _draw(repeats: Sequence[Observation], position: int, seed: int, *, json: bool) -> dict[str, Any]:
    """The stored repeat that a seed draws: numbers for JSON, otherwise text."""
    stored_seeds = [repeat.seed for repeat in repeats]
    if json:
        return {"asked_seed": seed, "repeat": position + 1, "stored_seeds": stored_seeds}
    words = f"{position + 1} of {len(stored_seeds)}, drawn by seed {seed}"
    recorded = [str(number) for number in stored_seeds if number is not None]
    if recorded:
        words += f"; stored seed{'s' if len(recorded) > 1 else ''}: {', '.join(recorded)}"
    return {"repeat": words}


def _print_repeats(
    benchmark: Benchmark, architecture: Architecture, repeats: Sequence[Observation], json: bool
) -> None:
    rows = [_fields(repeat) for repeat in repeats]
    text = benchmark.space.format(architecture)
    if json:
        print_json({"benchmark": benchmark.name, "architecture": text, "repeats": rows})
        return
    fields: dict[str, Any] = {"benchmark": benchmark.name, "architecture": text}
    for name in rows[0]:
        values = [str(row.get(name, "")) for row in rows]
        fields[name] = values[0] if len(set(values)) == 1 else "  ".join(values)
    units = {metric.key: metric.unit for metric in benchmark.metrics}
    print_fields({f"{name} [{units[name]}]" if units.get(name) else name: value for name, value in fields.items()})


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
