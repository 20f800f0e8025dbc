"""Files in the published layouts of image datasets, written from their descriptions and apart from the readers."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def random_images(seed: int, count: int, *shape: int) -> Bytes:
    return np.random.default_rng(seed).integers(0, 256, (count, *shape), dtype=np.uint8)


def random_labels(seed: int, count: int, classes: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(0, classes, count)


def idx(array: Bytes) -> bytes:
    head = bytes((0, 0, 8, array.ndim)) + b"".join(struct.pack(">I", side) for side in array.shape)
    return head + array.tobytes()


def python2_batch(images: Bytes, labels: NDArray[np.int64], key: str) -> bytes:
    """A batch as Python 2 wrote those that are published: protocol 2, byte strings everywhere, an array as numpy's
    ``_reconstruct``, dtype ``u1`` and the state of each."""

    def text(value: bytes) -> bytes:
        return b"U" + bytes((len(value),)) + value

    rows = images.reshape(len(images), -1)
    raw = rows.tobytes()
    dtype = b"cnumpy\ndtype\nq\x05" + text(b"u1") + b"K\x00K\x01\x87Rq\x06(K\x03" + text(b"|") + b"NNN"
    dtype += b"J\xff\xff\xff\xff" * 2 + b"K\x00tb"
    array = b"cnumpy.core.multiarray\n_reconstruct\nq\x02cnumpy\nndarray\nq\x03K\x00\x85" + text(b"b") + b"\x87Rq\x04"
    shape = b"".join(b"J" + struct.pack("<i", side) for side in rows.shape) + b"\x86"
    array += b"(K\x01" + shape + dtype + b"\x89T" + struct.pack("<i", len(raw)) + raw + b"tb"
    numbers = b"](" + b"".join(b"K" + bytes((int(label),)) for label in labels) + b"e"
    entries = text(b"batch_label") + text(b"batch 1 of 5") + text(b"data") + array + text(key.encode()) + numbers
    return b"\x80\x02}q\x01(" + entries + b"u."


def binary_batch(images: Bytes, *labels: NDArray[np.int64]) -> bytes:
    columns = [column.astype(np.uint8)[:, None] for column in labels]
    return np.concatenate([*columns, images.reshape(len(images), -1)], axis=1).tobytes()


def png(pixels: Bytes, filters: Sequence[int]) -> bytes:
    """A picture ``[height, width, channels]``, each row filtered as the specification says, pixel after pixel."""
    height, width, channels = pixels.shape
    lines = []
    for row in range(height):
        line = bytearray([filters[row % len(filters)]])
        for column in range(width):
            for channel in range(channels):
                left = int(pixels[row, column - 1, channel]) if column else 0
                up = int(pixels[row - 1, column, channel]) if row else 0
                corner = int(pixels[row - 1, column - 1, channel]) if row and column else 0
                guess = left + up - corner
                nearest = min((left, up, corner), key=lambda neighbour: abs(guess - neighbour))
                predicted = (0, left, up, (left + up) // 2, nearest)[line[0]]
                line.append((int(pixels[row, column, channel]) - predicted) % 256)
        lines.append(bytes(line))
    packed = zlib.compress(b"".join(lines))
    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    half = len(packed) // 2
    chunks = ((b"IHDR", head), (b"tEXt", b"a\0b"), (b"IDAT", packed[:half]), (b"IDAT", packed[half:]), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in chunks
    )


def competition(folder: Path, images: dict[str, NDArray[np.float32]], labels: dict[str, NDArray[np.int64]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for part in images:
        np.save(folder / f"{part}_x.npy", images[part])
        np.save(folder / f"{part}_y.npy", labels[part])
    shape = list(images["train"].shape)
    (folder / "metadata").write_text(json.dumps({"num_classes": 20, "input_shape": shape, "codename": "x"}))
