"""Read what a submission sent back, without trusting it."""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LINES_BYTES = 65_536
"""The bytes reserved for everything except predictions."""
MOST_REASON = 300
WIDEST = 16
"""Bytes of the widest number."""
LARGEST = 2.0**53


@dataclass(frozen=True, slots=True)
class Reply:
    """The submission's last stage, its own error, and its unchecked predictions."""

    started: bool = False
    stage: str = ""
    error: str = ""
    predictions: bytes | None = None
    parameters: int | None = None


def most_bytes(count: int) -> int:
    """How much a submission may send."""
    return LINES_BYTES + WIDEST * count


def read_reply(sent: bytes) -> Reply:
    """Read lines of JSON, up to the first that is not JSON."""
    started, stage, error = False, "", ""
    file = io.BytesIO(sent)
    while line := file.readline():
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            break
        if not isinstance(message, dict):
            break
        started = started or message.get("started") is True
        stage = one_line(message["stage"]) if "stage" in message else stage
        if "error" in message:
            return Reply(started, stage, one_line(message["error"]) or "an error without a name")
        size = message.get("predictions")
        if type(size) is int and size >= 0:
            content = file.read(size)
            parameters = message.get("parameters")
            parameter_count = parameters if type(parameters) is int and 0 <= parameters < 10**15 else None
            return Reply(started, stage, "", content if len(content) == size else None, parameter_count)
    return Reply(started, stage, error)


def one_line(text: object) -> str:
    """Any value as one short printable line."""
    line = " ".join(str(text)[: 10 * MOST_REASON].split())
    return "".join(letter if letter.isprintable() else "?" for letter in line)[:MOST_REASON]


def checked_predictions(content: bytes, count: int) -> NDArray[np.int64]:
    """Class numbers in the order of the images; raises ``ValueError`` that says what they are instead.

    A number with a point counts where it is whole, a column counts as a row, as in the competition's own scoring.
    """
    shape, kind, numbers = _read_array(content)
    if shape == (count, 1):
        shape = (count,)
    if shape != (count,):
        raise ValueError(f"predictions are one class number for each of {count} images, got the shape {shape}")
    if kind.kind == "f":
        values = numbers.astype(np.float64)
        if not np.isfinite(values).all():
            raise ValueError("predictions are class numbers, some are not finite")
        if not np.array_equal(values, np.round(values)) or np.abs(values).max() > LARGEST:
            raise ValueError("predictions are class numbers, some are not whole")
        return values.astype(np.int64).reshape(count)
    if numbers.size and max(-int(numbers.min()), int(numbers.max())) > LARGEST:
        raise ValueError("predictions are class numbers, some are larger than any")
    return numbers.astype(np.int64).reshape(count)


def _read_array(content: bytes) -> tuple[tuple[int, ...], np.dtype[Any], NDArray[Any]]:
    """An array of numbers from the bytes of a ``.npy`` file. No memory is allocated beyond the size of the bytes."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError("another version")
        shape, fortran, kind = np.lib.format.read_array_header_1_0(file)
    except (ValueError, TypeError, SyntaxError, EOFError, RecursionError, MemoryError, OverflowError):
        raise ValueError("predictions are an array of numbers, what was sent is not an array") from None
    if kind.kind not in "iufb" or kind.itemsize > WIDEST:
        raise ValueError(f"predictions are class numbers, got an array of {one_line(kind)}")
    data = content[file.tell() :]
    if any(side < 0 for side in shape) or math.prod(shape) * kind.itemsize != len(data):
        raise ValueError("predictions are an array of numbers, this one's size differs from its header")
    numbers = np.frombuffer(data, dtype=kind)
    return shape, kind, numbers.reshape(shape, order="F" if fortran else "C").ravel()
