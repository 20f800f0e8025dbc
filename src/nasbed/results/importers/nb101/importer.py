"""NAS-Bench-101 as published: ``nasbench_only108.tfrecord`` and ``nasbench_full.tfrecord``."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.core.metric import Metric
from nasbed.core.status import DIVERGED, OK
from nasbed.results.importers.base import Draft, Importer
from nasbed.results.importers.nb101 import kernel
from nasbed.results.importers.nb101.record import read_record
from nasbed.results.importers.nb101.tfrecord import Records, read_records
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import Rows
from nasbed.spaces.nb101 import NB101
from nasbed.spaces.nb101.hashing import module_hashes

TRAIN, VALIDATION, TEST = (
    Metric("accuracy", split="train", bounds=(0, 1)),
    Metric("accuracy", split="validation", bounds=(0, 1)),
    Metric("accuracy", split="test", bounds=(0, 1)),
)
PARAMETERS = Metric("parameters", direction="minimize")
RECORDS_AT_ONCE = 1 << 17
MODULE = np.dtype([("hash", "S32"), ("parameters", np.int64)])


class NB101Importer(Importer):
    """Two rows for each training: half-way through its schedule, and at its end."""

    format = "nb101"
    summary = "NAS-Bench-101: nasbench_full.tfrecord or nasbench_only108.tfrecord, github.com/google-research/nasbench"

    options: ClassVar[Mapping[str, str]] = {"name": "What to call the table; the default is nb101."}

    def read(self, path: Path) -> Iterator[Draft]:
        info = TableInfo(
            name=self.settings.get("name", "nb101"),
            space="nb101",
            metrics=(TRAIN, VALIDATION, TEST, PARAMETERS),
            dataset="cifar10",
            recipe="RMSProp, cosine learning rate decayed to 0 over the whole schedule of 4, 12, 36 or 108 epochs",
            licence="Apache-2.0",
            citation=NB101.citation,
            source=path.name,
            notes=(
                "fidelity 54 is half-way through the 108-epoch schedule, not a schedule of 54 epochs; likewise 2, 6 "
                "and 18 are half-way through 4, 12 and 36. Repeats are in file order, their seeds were not published"
            ),
        )
        yield Draft(info, _batches(path))


@dataclass(frozen=True, slots=True)
class _Parsed:
    """Some records as columns; ``codes`` and ``measured`` have two rows a record, half-way and final."""

    records: Records
    hashes: NDArray[np.uint8]  # [n, 32], text
    epochs: NDArray[np.int64]
    codes: NDArray[np.int64]  # [2n, 6]
    parameters: NDArray[np.int64]
    measured: NDArray[np.float64]  # [4, 2n]: seconds, train, validation and test accuracy

    def rows(self) -> Rows:
        seconds, train, validation, test = self.measured
        return Rows.of(
            self.codes,
            {
                TRAIN.key: train,
                VALIDATION.key: validation,
                TEST.key: test,
                PARAMETERS.key: np.repeat(self.parameters.astype(np.float64), 2),
            },
            fidelity=np.stack([self.epochs // 2, self.epochs], axis=1).ravel(),
            train_time_s=seconds,
            status=np.where(np.isnan(self.measured[1:]).any(axis=0), DIVERGED, OK).astype(np.int8),
        )


def _batches(path: Path) -> Iterator[Rows]:
    """Parse on all cores while the caller writes; yield in file order."""
    modules = _Modules()
    workers = max(2, min(os.cpu_count() or 1, 8))
    pool = ThreadPoolExecutor(workers)
    waiting = deque[Future[_Parsed]]()
    try:
        for records in read_records(path, at_once=RECORDS_AT_ONCE):
            waiting.append(pool.submit(_parse, records))
            if len(waiting) > workers:
                yield modules.verify(waiting.popleft().result()).rows()
        while waiting:
            yield modules.verify(waiting.popleft().result()).rows()
    finally:
        pool.shutdown(cancel_futures=True)


def _parse(records: Records) -> _Parsed:
    records.verify()
    count = len(records)
    bits = np.empty((4, 2 * count), dtype=np.uint64)
    parsed = _Parsed(
        records,
        hashes=np.empty((count, 32), dtype=np.uint8),
        epochs=np.empty(count, dtype=np.int64),
        codes=np.empty((2 * count, NB101.code_length), dtype=np.int64),
        parameters=np.empty(count, dtype=np.int64),
        measured=bits.view(np.float64),
    )
    declined = np.empty(count, dtype=np.bool_)
    kernel.read_records(
        records.data,
        records.starts,
        records.lengths,
        parsed.hashes,
        parsed.epochs,
        parsed.codes,
        parsed.parameters,
        bits,
        declined,
    )
    for record in np.flatnonzero(declined).tolist():
        _parse_plainly(parsed, record)
    _check_measured(parsed)
    return parsed


def _parse_plainly(parsed: _Parsed, record: int) -> None:
    """Fill in one record that the kernel did not read, or raise."""
    try:
        plain = read_record(parsed.records[record])
        if len(plain.hash) != 32 or not plain.hash.isascii():
            raise BadFile(f"a module hash is 32 hexadecimal digits, got {plain.hash[:40]!r}")
    except BadFile as error:
        raise BadFile(f"{parsed.records.name(record)}: {error}") from None
    parsed.hashes[record] = np.frombuffer(plain.hash.encode(), dtype=np.uint8)
    parsed.epochs[record] = plain.epochs
    parsed.codes[2 * record : 2 * record + 2] = plain.code
    parsed.parameters[record] = plain.parameters
    parsed.measured[:, 2 * record] = plain.half
    parsed.measured[:, 2 * record + 1] = plain.final


def _check_measured(parsed: _Parsed) -> None:
    seconds, accuracies = parsed.measured[0], parsed.measured[1:]
    wrong = (seconds < 0) | np.isinf(seconds) | (accuracies < 0).any(axis=0) | (accuracies > 1).any(axis=0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise BadFile(
            f"{parsed.records.name(row // 2)}: accuracies lie in 0 … 1 and seconds are not negative, got accuracies "
            f"{accuracies[:, row].tolist()} after {seconds[row]} s; the file is damaged"
        )


class _Modules:
    """The hash and the parameter count of every module so far. Each is computed once and compared with every record of
    it."""

    def __init__(self) -> None:
        self._space = NB101()
        self._places: dict[int, int] = {}  # by packed code
        self._modules = np.empty(0, dtype=MODULE)  # with room to grow

    def verify(self, parsed: _Parsed) -> _Parsed:
        """The same, or raise for the first record that says something else than the cell itself."""
        codes = parsed.codes[::2]
        keys = codes[:, 0].copy()
        for column in codes.T[1:]:
            keys = keys << 2 | column
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))  # repeats often stand together
        met = keys[starts].tolist()
        new = {key: start for key, start in zip(met, starts.tolist(), strict=True) if key not in self._places}
        if new:
            self._learn(list(new), codes[list(new.values())])
        expected = self._modules[[self._places[key] for key in met]]
        expected = np.repeat(expected, np.diff(np.append(starts, len(keys))))
        recorded_hashes = parsed.hashes.view("S32").reshape(-1)
        for name, computed, recorded in (
            ("module hash", expected["hash"], recorded_hashes),
            ("number of parameters", expected["parameters"], parsed.parameters),
        ):
            wrong = computed != recorded
            if wrong.any():
                record = int(np.argmax(wrong))
                raise BadFile(
                    f"{parsed.records.name(record)}: its cell has the {name} {_text(computed[record])}, the record "
                    f"says {_text(recorded[record])}; the file is damaged or not the published one"
                )
        return parsed

    def _learn(self, keys: list[int], codes: NDArray[np.int64]) -> None:
        start, end = len(self._places), len(self._places) + len(keys)
        if end > len(self._modules):
            grown = np.empty(max(end, 2 * start), dtype=MODULE)
            grown[:start] = self._modules[:start]
            self._modules = grown
        self._modules["hash"][start:end] = module_hashes(codes)
        self._modules["parameters"][start:end] = self._space.parameters(codes)
        self._places.update(zip(keys, range(start, end), strict=True))


def _text(value: np.bytes_ | np.int64) -> str:
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)
