"""NAS-Bench-101: importing the table once, and opening it ever after.

The table is generated: real cells, hashes and parameter counts, made-up measurements (see nb101_generator.py). The
import is everything from the published format to a results folder; what it is compared with only parses the records, in
plain Python with json and protobuf, timed on a sample.

Run: python benchmarks/nb101_import.py [--cells 20000] (pip install protobuf for the comparison; the full size takes
about 3 GB of disk in the temporary folder)
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from nb101_generator import write_table
from timing import best_seconds

SAMPLE = 50_000


def import_table(path: Path, out: Path) -> None:
    """In a process of its own: prints seconds and peak memory."""
    from nasbed.results import write_results
    from nasbed.results.importers import IMPORTERS

    start, used = perf_counter(), os.times()
    for draft in IMPORTERS.get("nb101")().read(path):
        write_results(out, draft.about, draft.batches)
    seconds, usage = perf_counter() - start, os.times()
    cpu = usage.user + usage.system - used.user - used.system
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "cpu_s": cpu, "peak_mb": peak_mb}))


def open_table(folder: Path) -> None:
    """In a process of its own, after the imports: prints milliseconds to the first answer, memory, and the time of
    later answers."""
    from nasbed.results import Results
    from nasbed.spaces import space

    searched = space("nb101")
    archs = [searched.canonical(searched.sample(np.random.default_rng(seed))) for seed in range(1000)]
    before = resident_mb()
    start = perf_counter()
    cache = Results.open(folder).cache()
    row = cache.find(archs[0].code)
    _ = cache.values["validation_accuracy"][row].tolist()
    opened_ms = 1e3 * (perf_counter() - start)
    grown_mb = resident_mb() - before
    start = perf_counter()
    for arch in archs:
        row = cache.find(arch.code)
        _ = cache.values["validation_accuracy"][row, -1].tolist()
    later_us = 1e6 * (perf_counter() - start) / len(archs)
    print(json.dumps({"opened_ms": opened_ms, "grown_mb": grown_mb, "later_us": later_us}))


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def metrics_class() -> Any:
    """ModelMetrics, from a descriptor made here."""
    descriptor_pb2 = import_module("google.protobuf.descriptor_pb2")
    descriptor_pool = import_module("google.protobuf.descriptor_pool")
    message_factory = import_module("google.protobuf.message_factory")

    kind = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="metrics.proto", package="bench", syntax="proto2")
    evaluation = file.message_type.add(name="EvaluationData")
    doubles = ("current_epoch", "training_time", "train_accuracy", "validation_accuracy", "test_accuracy")
    for number, name in enumerate(doubles, start=1):
        evaluation.field.add(name=name, number=number, type=kind.TYPE_DOUBLE, label=kind.LABEL_OPTIONAL)
    evaluation.field.add(name="checkpoint_path", number=6, type=kind.TYPE_STRING, label=kind.LABEL_OPTIONAL)
    metrics = file.message_type.add(name="ModelMetrics")
    metrics.field.add(
        name="evaluation_data",
        number=1,
        type=kind.TYPE_MESSAGE,
        label=kind.LABEL_REPEATED,
        type_name=".bench.EvaluationData",
    )
    metrics.field.add(name="trainable_parameters", number=2, type=kind.TYPE_INT32, label=kind.LABEL_OPTIONAL)
    metrics.field.add(name="total_time", number=3, type=kind.TYPE_DOUBLE, label=kind.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("bench.ModelMetrics"))


def parse_plainly(path: Path, metrics: Any, limit: int) -> int:
    """Record by record, no checksum, hash or count checked, nothing written."""
    records: list[object] = []
    with path.open("rb") as file:
        while len(records) < limit and (header := file.read(12)):
            data = file.read(struct.unpack_from("<Q", header)[0])
            file.read(4)
            name, epochs, matrix, operations, encoded = json.loads(data)
            message = metrics.FromString(base64.b64decode(encoded))
            _, half, final = message.evaluation_data
            halfway = (half.training_time, half.train_accuracy, half.validation_accuracy, half.test_accuracy)
            end = (final.training_time, final.train_accuracy, final.validation_accuracy, final.test_accuracy)
            records.append((name, epochs, matrix, operations.split(","), message.trainable_parameters, halfway, end))
    return len(records)


def in_own_process(*arguments: object) -> Any:
    command = [sys.executable, __file__, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def plain_seconds(path: Path, records: int) -> float:
    """Seconds that plain parsing of the whole file would take, from a sample."""
    metrics = metrics_class()
    sample = min(records, SAMPLE)
    return best_seconds(lambda: parse_plainly(path, metrics, sample), repeats=3) / sample * records


def main(cells: int | None) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "warm.tfrecord", cells=50)
        compiled = in_own_process("--import", folder / "warm.tfrecord", folder / "warm")
        path = folder / "generated.tfrecord"
        records = write_table(path, cells=cells)
        gigabytes = path.stat().st_size / 1e9
        try:
            plain = plain_seconds(path, records)
        except ImportError:
            plain = float("nan")
        imported = in_own_process("--import", path, folder / "table")
        opening = in_own_process("--open", folder / "table")
        print(f"generated file                          {records:>12,} records, {gigabytes:.2f} GB")
        print(f"plain Python, parsing alone             {plain:12.2f} s  (extrapolated from {min(records, SAMPLE):,})")
        print(
            f"import, to the finished folder          {imported['seconds']:12.2f} s  {plain / imported['seconds']:.1f}x"
        )
        print(f"  processor time                        {imported['cpu_s']:12.2f} s  on {os.cpu_count()} cores")
        print(f"  peak memory                           {imported['peak_mb']:12.0f} MB")
        print(f"  50 cells, with compiling if not cached{compiled['seconds']:12.2f} s")
        print(f"open and first answer, fresh process    {opening['opened_ms']:12.1f} ms")
        print(f"  memory grows by                       {opening['grown_mb']:12.1f} MB")
        print(f"later answers                           {opening['later_us']:12.2f} µs each")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", type=int, help="cells in the generated table; all 423 624 by default")
    parser.add_argument("--import", nargs=2, type=Path, dest="import_", help=argparse.SUPPRESS)
    parser.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.import_:
        import_table(*options.import_)
    elif options.open:
        open_table(options.open)
    else:
        main(options.cells)
