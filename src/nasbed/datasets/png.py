"""PNG pictures of 8 bits a channel, read with numpy alone: enough for datasets that come as pictures."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_BYTES = 1 << 28
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
_NONE, _SUB, _UP, _AVERAGE, _PAETH = range(5)


def read_png(path: Path) -> NDArray[np.uint8]:
    """``[height, width, channels]`` of a picture that is not interlaced: grey, RGB, each with alpha or without."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES} bytes")
        return _decoded(data)
    except (OSError, ValueError, struct.error, zlib.error) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadFile(f"{path} cannot be read as a PNG: {reason}; get it again") from None


def _decoded(data: bytes) -> NDArray[np.uint8]:
    if not data.startswith(SIGNATURE):
        raise ValueError("it does not have the signature of a PNG")
    chunks = _chunks(data)
    kind, head = next(chunks, (b"", b""))
    if kind != b"IHDR":
        raise ValueError("it does not begin with its header")
    width, height, bits, colour, *methods = struct.unpack(">IIBBBBB", head)
    if bits != 8 or colour not in _CHANNELS or methods != [0, 0, 0]:
        raise ValueError("it is not of 8 bits a channel, grey or RGB, without interlacing")
    channels = _CHANNELS[colour]
    size = height * (1 + width * channels)
    if not 0 < size <= MOST_BYTES or not width:
        raise ValueError(f"{width}×{height} is not a supported size")
    unpacker = zlib.decompressobj()
    packed = b"".join(content for kind, content in chunks if kind == b"IDAT")
    raw = unpacker.decompress(packed, size + 1)
    if len(raw) != size or not unpacker.eof:
        raise ValueError(f"its pixels should take {size} bytes, but it has a different number")
    rows = np.frombuffer(raw, np.uint8).reshape(height, 1 + width * channels)
    return unfiltered(rows[:, 0], rows[:, 1:].reshape(height, width, channels))


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of each chunk up to the end, which must be there."""
    position = len(SIGNATURE)
    while position < len(data):
        size, kind = struct.unpack_from(">I4s", data, position)
        content = data[position + 8 : position + 8 + size]
        (check,) = struct.unpack_from(">I", data, position + 8 + size)
        if zlib.crc32(content, zlib.crc32(kind)) != check:
            raise ValueError(f"the checksum of its chunk at {position} is wrong")
        if kind == b"IEND":
            return
        yield kind, content
        position += 12 + size
    raise ValueError("it is cut off")


def unfiltered(filters: NDArray[np.uint8], coded: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Pixels from what the filter of each row has left of them.

    A pixel needs the ones to its left, above, and above to the left, so that all pixels of one anti-diagonal can be
    taken at once. In a picture with a border of one pixel they lie a row's width apart: a slice with a step.
    """
    height, width, channels = coded.shape
    if filters.max() > _PAETH:
        raise ValueError(f"it has a filter of the unknown type {filters.max()}")
    if not filters.any():
        return coded.copy()
    line = width + 1
    bordered = np.zeros((height + 1, line, channels), np.int16)
    bordered[1:, 1:] = coded
    flat = bordered.reshape(-1, channels)
    for diagonal in range(height + width - 1):
        first, last = max(0, diagonal - width + 1), min(height - 1, diagonal)
        start = first * width + line + diagonal + 1
        stop = start + (last - first) * width + 1
        pixels = flat[start:stop:width]
        left = flat[start - 1 : stop - 1 : width]
        above = flat[start - line : stop - line : width]
        corner = flat[start - line - 1 : stop - line - 1 : width]
        kind = filters[first : last + 1, None]
        pixels += np.select(
            [kind == _PAETH, kind == _UP, kind == _SUB, kind == _AVERAGE],
            [_paeth(left, above, corner), above, left, (left + above) >> 1],
            np.int16(0),
        )
        pixels &= 255
    return bordered[1:, 1:].astype(np.uint8)


def _paeth(left: NDArray[np.int16], above: NDArray[np.int16], corner: NDArray[np.int16]) -> NDArray[np.int16]:
    """Whichever of the three is nearest to left + above - corner; ties go in this order."""
    to_left, to_above = np.abs(above - corner), np.abs(left - corner)
    to_corner = np.abs(left + above - 2 * corner)
    nearest = np.where(to_above <= to_corner, above, corner)
    return np.where((to_left <= to_above) & (to_left <= to_corner), left, nearest)


def write_png(path: Path, picture: NDArray[np.uint8]) -> None:
    """Write ``[height, width, 3]`` as a PNG; the same pixels give the same bytes with the same zlib."""
    height, width, _ = picture.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), picture.reshape(height, width * 3)], axis=1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    with path.open("wb") as file:
        file.write(SIGNATURE)
        for kind, content in parts:
            check = zlib.crc32(content, zlib.crc32(kind))
            file.write(struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check))
