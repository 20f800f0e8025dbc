"""The tables of benchmarks/population.py, from its records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]
KERNELS_SHOWN = 14


def limits(environment: Record, times: Record) -> dict[str, float]:
    """How far a population is from what the device can do; times as PopulationTimes has them."""
    step_s, networks = times["step_s"], times["networks"]
    network_step_us = 1e6 * step_s / networks
    return {
        "step_ms": 1e3 * step_s,
        "network_step_us": network_step_us,
        "network_step_pixel_us": network_step_us / times["pixels"],
        "least_gb": times["step_bytes"] / 1e9,
        "least_ms": 1e3 * times["step_bytes"] / environment["copy_bytes_a_second"],
        "copy_percent": 100 * times["step_bytes"] / step_s / environment["copy_bytes_a_second"],
        "tflop_a_second": times["step_flop"] / step_s / 1e12,
        "matrix_percent": 100 * times["step_flop"] / step_s / environment["matrix_flop_a_second"],
        "evaluation_percent": 100 * times["evaluation_s"] / times["whole_s"],
        "networks_a_minute": 60 * networks / times["whole_s"],
    }


def ratios(record: Record) -> dict[str, float]:
    """How many times faster than the plain loop a step of one network is, by each way of training."""
    plain = record["baselines"].get("plain loop")
    if plain is None:
        return {}
    step_times = {
        name: baseline["network_step_s"] for name, baseline in record["baselines"].items() if name != "plain loop"
    }
    if (times := record["times"]) is not None:
        step_times["population"] = times["step_s"] / times["networks"]
        step_times["end to end"] = times["whole_s"] / times["networks"] / times["steps"]
    return {name: plain["network_step_s"] / step_time for name, step_time in step_times.items()}


def tables(environment: Record, records: Sequence[Record]) -> str:
    """All that is printed at the end."""
    lines = [
        "",
        f"{environment['device']}, Python {environment['python']}, torch {environment['torch']}, triton "
        f"{environment['triton']}, {environment['date']}",
        f"copy {environment['copy_bytes_a_second'] / 1e12:.2f} TB/s read and written, bfloat16 product "
        f"{environment['matrix_flop_a_second'] / 1e12:.3g} TFLOP/s, processes started in "
        f"{environment.get('start_processes_s', 0):.1f} s",
        "",
        *_limits_table(environment, records),
        "",
        *_baselines_table(records),
    ]
    for record in records:
        if record["kernels"]:
            lines += ["", *_kernels_table(record)]
    failures = [f"{record['case']}: {name}: {why}" for record in records for name, why in record["failures"].items()]
    return "\n".join([*lines, *(["", "failed or skipped:", *failures] if failures else [])])


def _limits_table(environment: Record, records: Sequence[Record]) -> list[str]:
    heads = (
        "networks", "ms/step", "us/net", "us/net/px", "least GB", "least ms", "% of copy", "TFLOP/s", "cold s", "warm s",
        "eval %", "nets/min", "GB used",
    )  # fmt: skip
    rows = []
    for record in records:
        times = record["times"]
        if times is None:
            rows.append([record["case"], str(record["population"]), *["-"] * (len(heads) - 1)])
            continue
        bounds = limits(environment, times)
        rows.append(
            [
                record["case"],
                str(times["networks"]),
                f"{bounds['step_ms']:.2f}",
                f"{bounds['network_step_us']:.1f}",
                f"{bounds['network_step_pixel_us']:.3f}",
                f"{bounds['least_gb']:.3g}",
                f"{bounds['least_ms']:.2f}",
                f"{bounds['copy_percent']:.1f}",
                f"{bounds['tflop_a_second']:.3g}",
                f"{times['prepare_cold_s']:.1f}",
                f"{times['prepare_warm_s']:.1f}",
                f"{bounds['evaluation_percent']:.1f}",
                f"{bounds['networks_a_minute']:.0f}",
                f"{times['memory_bytes'] / 1e9:.1f}",
            ]
        )
    return _aligned("population", heads, rows)


def _baselines_table(records: Sequence[Record]) -> list[str]:
    names = list(dict.fromkeys(name for record in records for name in ratios(record)))
    names = [name for name in names if name not in ("population", "end to end")] + ["population", "end to end"]
    rows = []
    for record in records:
        plain, speedups = record["baselines"].get("plain loop"), ratios(record)
        marks = {name: "" if baseline["recorded"] else "*" for name, baseline in record["baselines"].items()}
        distances = record["gradient_distances"]
        rows.append(
            [
                record["case"],
                "-" if plain is None else f"{1e3 * plain['network_step_s']:.2f}",
                *(f"{speedups[name]:.1f}{marks.get(name, '')}" if name in speedups else "-" for name in names),
                _range(distance["population"] for distance in distances),
                _range(distance["bfloat16"] for distance in distances),
            ]
        )
    heads = ("plain ms", *names, "off: population", "off: autocast")
    return [
        *_aligned("times the plain loop", heads, rows),
        "plain ms: of a step of one network. vmap N: N seeds of one architecture; * could not be recorded as a CUDA graph.",
        "off: how far first gradients are from float64's, as a part of their length.",
    ]


def _range(values: Iterable[float]) -> str:
    ordered = sorted(values)
    return f"{ordered[0]:.2g} to {ordered[-1]:.2g}" if ordered else "-"


def _kernels_table(record: Record) -> list[str]:
    shown = record["kernels"][:KERNELS_SHOWN]
    rows = [
        [
            kernel["name"][:44],
            f"{100 * kernel['share']:.1f}",
            f"{1e3 * kernel['seconds']:.3f}",
            str(kernel["launches"]),
            "x".join(map(str, kernel["grid"])),
            "x".join(map(str, kernel["block"])),
            str(kernel["registers"]),
            str(kernel["shared_bytes"]),
            f"{kernel['occupancy_percent']:.0f}",
        ]
        for kernel in shown
    ]
    launches, total = (sum(kernel[column] for kernel in record["kernels"]) for column in ("launches", "seconds"))
    heads = ("% of time", "ms", "launches", "grid", "block", "registers", "shared B", "occupancy %")
    title = f"{record['case']}: {launches} launches, {1e3 * total:.1f} ms of kernels in a step"
    return [title, *_aligned("kernel", heads, rows)]


def _aligned(first: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    every = [[first, *heads], *rows]
    widths = [max(len(row[place]) for row in every) for place in range(len(heads) + 1)]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in every
    ]
