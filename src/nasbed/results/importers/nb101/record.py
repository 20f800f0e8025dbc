"""One NAS-Bench-101 record, in plain Python: every form that is allowed, and a reason for every other."""

from __future__ import annotations

import binascii
import json
import math
import struct
from collections.abc import Iterator
from typing import NamedTuple

from nasbed.core.errors import BadFile, NasbedError, shorten
from nasbed.spaces.nb101 import NB101
from nasbed.spaces.nb101.cell import MAX_VERTICES

BUDGETS = (4, 12, 36, 108)
"""Epochs of training (section 2.4)."""

VARINT, FIXED64, TEXT, GROUP, END_GROUP, FIXED32 = range(6)
DEEPEST_GROUP = 100
EVALUATION = {
    1: ("current_epoch", FIXED64),
    2: ("training_time", FIXED64),
    3: ("train_accuracy", FIXED64),
    4: ("validation_accuracy", FIXED64),
    5: ("test_accuracy", FIXED64),
    6: ("checkpoint_path", TEXT),
}
METRICS = {1: ("evaluation_data", TEXT), 2: ("trainable_parameters", VARINT), 3: ("total_time", FIXED64)}
MEASURED = ("training_time", "train_accuracy", "validation_accuracy", "test_accuracy")

Evaluation = tuple[float, float, float, float]
"""Seconds of training so far; train, validation and test accuracy as fractions. NaN where the training diverged."""


class Record(NamedTuple):
    """One training: its cell, and the measurements half-way and at the end."""

    hash: str
    epochs: int
    code: tuple[int, ...]
    parameters: int
    half: Evaluation
    final: Evaluation


def read_record(data: bytes) -> Record:
    """Read ``[hash, epochs, matrix, operations, metrics]``, JSON with a base64 protocol buffer inside."""
    try:
        fields = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadFile(f"a record is JSON, got {shorten(data)}: {error}") from None
    kinds = [type(field) for field in fields] if isinstance(fields, list) else []
    if kinds != [str, int, str, str, str]:
        raise BadFile(f"a record is [hash, epochs, matrix, operations, metrics], got {shorten(fields)}")
    name, epochs, matrix, operations, encoded = fields
    if epochs not in BUDGETS:
        raise BadFile(f"a training takes {', '.join(map(str, BUDGETS))} epochs, got {shorten(epochs)}")
    try:
        binary = binascii.a2b_base64(encoded.replace("\n", "").replace("\r", ""), strict_mode=True)
    except ValueError as error:
        raise BadFile(f"the metrics are base64, got {shorten(encoded)}: {error}") from None
    parameters, half, final = _read_metrics(binary)
    return Record(name, epochs, _read_cell(matrix, operations), parameters, half, final)


def _read_cell(matrix: str, operations: str) -> tuple[int, ...]:
    side = math.isqrt(len(matrix))
    if side * side != len(matrix) or set(matrix) - {"0", "1"}:
        raise BadFile(f"a matrix is a square of 0 and 1, row by row, got {shorten(matrix)}")
    if side > MAX_VERTICES:
        raise BadFile(f"an nb101 cell has at most {MAX_VERTICES} vertices, got a matrix of {side} rows")
    rows = [[int(digit) for digit in matrix[row * side : (row + 1) * side]] for row in range(side)]
    try:
        return NB101().from_native((rows, operations.split(","))).code
    except NasbedError as error:
        raise BadFile(f"{error}") from None


def _read_metrics(binary: bytes) -> tuple[int, Evaluation, Evaluation]:
    evaluations: list[Evaluation] = []
    parameters = None
    for name, value in _fields(binary, METRICS):
        if name == "trainable_parameters":
            assert isinstance(value, int)
            parameters = (value & 0xFFFFFFFF ^ 1 << 31) - (1 << 31)
        elif name == "evaluation_data":
            assert isinstance(value, bytes)
            measured = {key: _double(raw) for key, raw in _fields(value, EVALUATION) if key in MEASURED}
            missing = [key for key in MEASURED if key not in measured]
            if missing and evaluations:
                raise BadFile(f"an evaluation has {', '.join(MEASURED)}, one lacks {', '.join(missing)}")
            seconds, train, validation, test = (measured.get(key, math.nan) for key in MEASURED)
            evaluations.append((seconds, train, validation, test))
    if len(evaluations) != 3:
        raise BadFile(f"the metrics hold three evaluations (start, half-way, end), got {len(evaluations)}")
    if parameters is None:
        raise BadFile("the metrics lack trainable_parameters")
    return parameters, evaluations[1], evaluations[2]


def _double(raw: int | bytes) -> float:
    assert isinstance(raw, bytes)
    value: float = struct.unpack("<d", raw)[0]
    return value


def _fields(message: bytes, known_fields: dict[int, tuple[str, int]]) -> Iterator[tuple[str, int | bytes]]:
    """The known fields of a protocol buffer in the order of the bytes; others are skipped, groups included."""
    at, groups = 0, list[int]()
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        value: int | bytes = b""
        if key >> 32 or not number:
            raise BadFile(f"the metrics have a field numbered {number}; they are damaged")
        if wire == VARINT:
            value, at = _varint(message, at)
        elif wire in (FIXED64, FIXED32, TEXT):
            size, at = _varint(message, at) if wire == TEXT else ({FIXED64: 8, FIXED32: 4}[wire], at)
            if size > len(message) - at:
                raise BadFile(f"field {number} of the metrics is cut short at byte {len(message)}")
            value, at = message[at : at + size], at + size
        elif wire == GROUP and len(groups) < DEEPEST_GROUP:
            groups.append(number)
        elif wire != END_GROUP or not groups or groups.pop() != number:
            raise BadFile(f"field {number} of the metrics has the wire type {wire}, which is not allowed there")
        if groups or wire == END_GROUP or number not in known_fields:
            continue
        name, expected = known_fields[number]
        if wire != expected:
            raise BadFile(f"{name} has wire type {expected} in a protocol buffer, got {wire}")
        yield name, value
    if groups:
        raise BadFile(f"group {groups[-1]} of the metrics is cut short at byte {len(message)}")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(10):
        if at >= len(message):
            raise BadFile(f"the metrics are cut short at byte {at}")
        byte = message[at]
        at += 1
        value |= (byte & 127) << 7 * place
        if byte < 128:
            if value >> 64:
                break
            return value, at
    raise BadFile(f"a number in the metrics has more than 64 bits, before byte {at}")
