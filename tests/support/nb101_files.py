"""NAS-Bench-101 files written by hand for the tests: framing, checksum and protocol buffer bit by bit, nothing shared
with the reader."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

CONV3, CONV1, POOL = "conv3x3-bn-relu", "conv1x1-bn-relu", "maxpool3x3"


def _eight_bits(crc: int) -> int:
    """The definition (RFC 3720, B.4): reflected polynomial 0x1EDC6F41, one bit at a time."""
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc


def bitwise_crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _eight_bits(crc ^ byte)
    return crc ^ 0xFFFFFFFF


BYTES = [_eight_bits(byte) for byte in range(256)]


def bytewise_crc32c(data: bytes) -> int:
    """The same, with the eight bits of every byte looked up."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ BYTES[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    crc = bytewise_crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def framed(payload: bytes) -> bytes:
    length = struct.pack("<Q", len(payload))
    return length + masked(length) + payload + masked(payload)


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def text(number: int, value: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(value)) + value


def integer(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value & (1 << 64) - 1)


def evaluation(epoch: float, measured: Sequence[float]) -> bytes:
    return b"".join(double(number, value) for number, value in enumerate((epoch, *measured), start=1))


@dataclass(frozen=True)
class Training:
    """One record; ``half`` and ``final`` are seconds, train, validation and test accuracy."""

    hash: str
    matrix: str
    operations: tuple[str, ...]
    parameters: int
    epochs: int = 108
    half: tuple[float, float, float, float] = (577.5, 0.9, 0.85, 0.84)
    final: tuple[float, float, float, float] = (1155.85302734375, 1.0, 0.9376001358032227, 0.9311898350715637)
    proto: bytes | None = field(default=None)

    def metrics(self) -> list[bytes]:
        """The fields of the message, each as its bytes."""
        start = evaluation(0, (0.0, 0.1, 0.1, 0.1))
        return [
            text(1, start),
            text(1, evaluation(self.epochs / 2, self.half)),
            text(1, evaluation(self.epochs, self.final)),
            integer(2, self.parameters),
            double(3, self.final[0] + 1),
        ]

    def fields(self) -> list[object]:
        proto = b"".join(self.metrics()) if self.proto is None else self.proto
        encoded = base64.b64encode(proto).decode()
        return [self.hash, self.epochs, self.matrix, ",".join(self.operations), encoded]

    def payload(self) -> bytes:
        return json.dumps(self.fields()).encode()


INCEPTION = Training(
    hash="28cfc7874f6d200472e1a9dcd8650aa0",
    matrix="0111010000000100000010000100000000100000010000000",
    operations=("input", CONV1, CONV3, CONV3, CONV3, POOL, "output"),
    parameters=2694282,
)
"""The README's example, hash and parameter count as published."""

SMALLEST = Training(
    hash="043721b9c7fe8c5fad811d47d83132ec",
    matrix="0100",
    operations=("input", "output"),
    parameters=3_712 + 3 * 16_640 + 33_280 + 2 * 66_048 + 132_096 + 2 * 263_168 + 5_130,
    half=(40.0, 0.3, 0.31, 0.32),
    final=(81.0, 0.4, 0.41, 0.42),
)
"""Input to output, nothing else: nine 1x1 projections of C·C' + 2·C' parameters between the stem and the classifier."""


def schedule(base: Training, budgets: Iterable[int], repeats: int) -> list[Training]:
    """Trainings of one cell with a different number for everything."""
    out = []
    for budget in budgets:
        for repeat in range(repeats):
            step = budget / 1024 + repeat / 65536
            half = (budget + repeat + 0.25, 0.25 + step, 0.125 + step, 0.0625 + step)
            final = (2 * budget + repeat + 0.5, 0.75 + step, 0.625 + step, 0.5625 + step)
            out.append(replace(base, epochs=budget, half=half, final=final))
    return out


def tfrecord(trainings: Iterable[Training]) -> bytes:
    return b"".join(framed(training.payload()) for training in trainings)
