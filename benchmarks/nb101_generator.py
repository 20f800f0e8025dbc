"""A stand-in for the published NAS-Bench-101 file: real cells, hashes and parameter counts, made-up measurements.

The published file is 2 GB and not in the repository. This one has its size and layout, so that the importer can be
timed and tried; its accuracies and times come from a seeded generator and mean nothing. It is written independently of
the reader: other CRC code, other loops.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nasbed.spaces.nb101 import NB101

BUDGETS = (4, 12, 36, 108)
REPEATS = 3
CELLS_A_TIME = 8192
LONGEST = 640
"""No record is longer than this, framing included."""

OP_NAMES = np.zeros((3, 16), dtype=np.uint8)
OP_LENGTHS = np.zeros(3, dtype=np.int64)
for _number, _name in enumerate((b"conv3x3-bn-relu", b"conv1x1-bn-relu", b"maxpool3x3")):
    OP_NAMES[_number, : len(_name)] = np.frombuffer(_name, dtype=np.uint8)
    OP_LENGTHS[_number] = len(_name)
ALPHABET = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", dtype=np.uint8)
OPEN = np.frombuffer(b'["', dtype=np.uint8)
AFTER_HASH = np.frombuffer(b'", ', dtype=np.uint8)
AFTER_EPOCHS = np.frombuffer(b', "', dtype=np.uint8)
BETWEEN = np.frombuffer(b'", "', dtype=np.uint8)
CLOSE = np.frombuffer(b'"]', dtype=np.uint8)
INPUT = np.frombuffer(b"input", dtype=np.uint8)
OUTPUT = np.frombuffer(b",output", dtype=np.uint8)


def _crc_table() -> NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ np.uint32(0x82F63B78), table >> 1).astype(np.uint32)
    return table


CRC_TABLE = _crc_table()


@njit(cache=True)
def _masked_crc(data, start, end):  # type: ignore[no-untyped-def]
    crc = np.uint32(0xFFFFFFFF)
    for i in range(start, end):
        crc = CRC_TABLE[np.uint8(crc) ^ data[i]] ^ (crc >> np.uint32(8))
    crc = np.uint32(~crc)
    return np.uint32(np.uint32(crc >> np.uint32(15) | np.uint32(crc << np.uint32(17))) + np.uint32(0xA282EAD8))


@njit(cache=True)
def _put(out, at, text):  # type: ignore[no-untyped-def]
    for i in range(len(text)):
        out[at + i] = text[i]
    return at + len(text)


@njit(cache=True)
def _put_little(out, at, value, count):  # type: ignore[no-untyped-def]
    for i in range(count):
        out[at + i] = value >> np.uint64(8 * i) & np.uint64(255)
    return at + count


@njit(cache=True)
def _put_proto(out, evaluations, parameters):  # type: ignore[no-untyped-def]
    at = 0
    for evaluation in evaluations:
        out[at], out[at + 1] = 0x0A, 45
        at += 2
        for field in range(5):
            out[at] = (field + 1) << 3 | 1
            at = _put_little(out, at + 1, evaluation[field], 8)
    out[at] = 0x10
    at += 1
    while parameters >= 128:
        out[at] = parameters & 127 | 128
        parameters >>= 7
        at += 1
    out[at], out[at + 1] = parameters, 0x19
    return _put_little(out, at + 2, evaluations[2, 1], 8)


@njit(cache=True)
def _put_base64(out, at, data, count):  # type: ignore[no-untyped-def]
    for i in range(0, count, 3):
        word = np.int64(data[i]) << 16
        if i + 1 < count:
            word |= np.int64(data[i + 1]) << 8
        if i + 2 < count:
            word |= np.int64(data[i + 2])
        for digit in range(4):
            out[at + digit] = ALPHABET[word >> (18 - 6 * digit) & 63] if digit <= count - i else 61
        at += 4
    return at


@njit(cache=True)
def _put_records(out, codes, vertices, hashes, parameters, budgets, metrics):  # type: ignore[no-untyped-def]
    """Write the records of some cells, ``metrics [cell, budget, repeat, evaluation, field]`` as float bits; the bytes
    written are returned."""
    proto = np.empty(256, dtype=np.uint8)
    at = 0
    for cell in range(len(codes)):
        count = vertices[cell]
        for budget in range(metrics.shape[1]):
            for repeat in range(metrics.shape[2]):
                start = at + 12
                end = _put(out, _put(out, _put(out, start, OPEN), hashes[cell]), AFTER_HASH)
                epochs = budgets[budget]
                for power in (100, 10, 1):
                    if epochs >= power:
                        out[end] = 48 + epochs // power % 10
                        end += 1
                end = _put(out, end, AFTER_EPOCHS)
                for source in range(count):
                    for target in range(count):
                        place = target if target < count - 1 else 6
                        edge = source < target and codes[cell, 0] >> (place * (place - 1) // 2 + source) & 1
                        out[end] = 49 if edge else 48
                        end += 1
                end = _put(out, _put(out, end, BETWEEN), INPUT)
                for vertex in range(1, count - 1):
                    out[end] = 44
                    op = codes[cell, vertex]
                    end = _put(out, end + 1, OP_NAMES[op, : OP_LENGTHS[op]])
                end = _put(out, _put(out, end, OUTPUT), BETWEEN)
                size = _put_proto(proto, metrics[cell, budget, repeat], parameters[cell])
                end = _put(out, _put_base64(out, end, proto, size), CLOSE)
                _put_little(out, at, np.uint64(end - start), 8)
                _put_little(out, at + 8, np.uint64(_masked_crc(out, at, at + 8)), 4)
                at = _put_little(out, end, np.uint64(_masked_crc(out, start, end)), 4)
    return at


def write_table(path: Path, *, cells: int | None = None, budgets: tuple[int, ...] = BUDGETS, seed: int = 0) -> int:
    """Write a file of ``cells`` cells (all by default), sorted by hash as the published one is; the number of records
    is returned."""
    space = NB101()
    rng = np.random.default_rng(seed)
    codes = space.unique_codes()
    if cells is not None:
        codes = codes[np.sort(rng.choice(len(codes), cells, replace=False))]
    hashes = space.hashes(codes)
    order = np.argsort(hashes)
    codes, texts = codes[order], hashes[order].astype("S32").view(np.uint8).reshape(-1, 32)
    vertices = _vertices(codes)
    parameters = space.parameters(codes)
    out = np.empty(CELLS_A_TIME * len(budgets) * REPEATS * LONGEST, dtype=np.uint8)
    epochs = np.array(budgets, dtype=np.int64)
    with path.open("wb") as file:
        for start in range(0, len(codes), CELLS_A_TIME):
            part = slice(start, start + CELLS_A_TIME)
            metrics = _made_up(parameters[part], epochs, rng).view(np.uint64)
            size = _put_records(out, codes[part], vertices[part], texts[part], parameters[part], epochs, metrics)
            file.write(out[:size].data)
    return len(codes) * len(budgets) * REPEATS


def _vertices(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The vertices of canonical cells: those with an edge out of them, and the output."""
    count = np.ones(len(codes), dtype=np.int64)
    for source in range(6):
        bits = sum(1 << (target * (target - 1) // 2 + source) for target in range(source + 1, 7))
        count += (codes[:, 0] & bits) != 0
    return count


def _made_up(parameters: NDArray[np.int64], epochs: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Single-precision values, as published: [cell, budget, repeat, (start, half, end), (epoch, seconds, accuracies)]."""
    shape = (len(parameters), len(epochs), REPEATS, 3)
    epochs_trained = epochs[:, None] * np.array([0, 0.5, 1])
    values = np.empty((*shape, 5))
    values[..., 0] = epochs_trained[:, None, :]
    values[..., 1] = (
        (parameters / 5e5)[:, None, None, None] * epochs_trained[:, None, :] * rng.uniform(0.98, 1.02, shape)
    )
    fitted = 0.1 + 0.85 * (1 - np.exp(-epochs_trained / 12))[:, None, :]
    for field, gain in ((2, 1.05), (3, 1.0), (4, 0.99)):
        values[..., field] = np.clip(fitted * gain + rng.normal(0, 0.01, shape), 0, 1)
    return values.astype(np.float32).astype(np.float64)
