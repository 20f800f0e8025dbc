"""TFRecord files, without TensorFlow: records found and their checksums checked, a window of the file at a time.

A record is its length (8 bytes, little end first), the masked CRC-32C of those 8 bytes, the data, and the masked
CRC-32C of the data.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nasbed.core.arrays import numba_compiled
from nasbed.core.errors import BadFile

HEADER, FOOTER = 12, 4
LARGEST_RECORD = 1 << 24
"""A longer record is refused: no format read here has one, and a damaged length could ask for any amount of memory."""

WINDOW = 1 << 26
"""Bytes of the file mapped at a time: more than the largest record, so that each window holds one."""

POLYNOMIAL = 0x82F63B78
WHOLE, BAD_LENGTH_CRC, TOO_LONG = range(3)


def _crc_tables() -> NDArray[np.uint32]:
    """Entry ``[k, b]`` is the CRC register after byte ``b`` and ``k`` zero bytes, starting from zero."""
    tables = np.empty((16, 256), dtype=np.uint32)
    tables[0] = np.arange(256)
    for _ in range(8):
        tables[0] = tables[0] >> 1 ^ (tables[0] & 1) * np.uint32(POLYNOMIAL)
    for k in range(1, 16):
        tables[k] = tables[k - 1] >> 8 ^ tables[0][tables[k - 1] & 255]
    return tables


TABLES = _crc_tables()


@numba_compiled()
def _crc(data):  # type: ignore[no-untyped-def]
    """CRC-32C of an array of bytes, sixteen at a step."""
    crc = np.uint32(0xFFFFFFFF)
    steps = len(data) // 16
    for step in range(steps):
        block = data[16 * step : 16 * step + 16]
        mixed = (
            TABLES[15, np.uint8(crc) ^ block[0]]
            ^ TABLES[14, np.uint8(crc >> np.uint32(8)) ^ block[1]]
            ^ TABLES[13, np.uint8(crc >> np.uint32(16)) ^ block[2]]
            ^ TABLES[12, np.uint8(crc >> np.uint32(24)) ^ block[3]]
        )
        for k in range(4, 16):
            mixed ^= TABLES[15 - k, block[k]]
        crc = np.uint32(mixed)
    for i in range(16 * steps, len(data)):
        crc = np.uint32(TABLES[0, np.uint8(crc) ^ data[i]] ^ (crc >> np.uint32(8)))
    return np.uint32(~crc)


@numba_compiled()
def _masked(crc):  # type: ignore[no-untyped-def]
    """As stored: rotated right by 15 bits, plus a constant."""
    rotated = np.uint32(np.uint32(crc >> np.uint32(15)) | np.uint32(crc << np.uint32(17)))
    return np.uint32(rotated + np.uint32(0xA282EAD8))


@numba_compiled()
def _little(data, at, count):  # type: ignore[no-untyped-def]
    value = np.uint64(0)
    for i in range(count):
        value |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return value


@numba_compiled()
def _find_records(data, starts, lengths):  # type: ignore[no-untyped-def]
    """Fill in where the data of each whole record begins and how long it is. Returns how many, the position after the
    last, and what is wrong there."""
    at = np.int64(0)
    for count in range(len(starts)):
        if len(data) - at < HEADER:
            return count, at, WHOLE
        if _little(data, at + 8, 4) != _masked(_crc(data[at : at + 8])):
            return count, at, BAD_LENGTH_CRC
        length = _little(data, at, 8)
        if length > np.uint64(LARGEST_RECORD):
            return count, at, TOO_LONG
        if len(data) - at < HEADER + np.int64(length) + FOOTER:
            return count, at, WHOLE
        starts[count] = at + HEADER
        lengths[count] = np.int64(length)
        at += HEADER + np.int64(length) + FOOTER
    return len(starts), at, WHOLE


@numba_compiled()
def _first_damaged(data, starts, lengths):  # type: ignore[no-untyped-def]
    """The first record whose data have another CRC than the one stored, or -1."""
    for record in range(len(starts)):
        end = starts[record] + lengths[record]
        if _little(data, end, 4) != _masked(_crc(data[starts[record] : end])):
            return record
    return -1


def crc32c(data: bytes) -> int:
    """The CRC-32C (Castagnoli) of some bytes.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    return int(_crc(np.frombuffer(data, dtype=np.uint8)))


@dataclass(frozen=True, slots=True)
class Records:
    """Some records of a file in a row. Their lengths are checked, their data only by :meth:`verify`."""

    path: Path
    first: int  # number of the first record, counted from 0
    offset: int  # of ``data[0]`` in the file
    data: NDArray[np.uint8]
    starts: NDArray[np.int64]  # of each record's data, in ``data``
    lengths: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, record: int) -> bytes:
        start = int(self.starts[record])
        return self.data[start : start + int(self.lengths[record])].tobytes()

    def name(self, record: int) -> str:
        """How an error message calls a record."""
        return f"{self.path} record {self.first + record} (byte {self.offset + int(self.starts[record]) - HEADER})"

    def verify(self) -> None:
        """Raise unless the data of every record have the checksum stored behind them. Other threads run meanwhile."""
        damaged = int(_first_damaged(self.data, self.starts, self.lengths))
        if damaged >= 0:
            raise BadFile(f"{self.name(damaged)} does not have its checksum; the file is damaged, download it again")


def read_records(path: Path, *, at_once: int = 1 << 17) -> Iterator[Records]:
    """The records of a file, up to ``at_once`` at a time. Raises at the first record that is cut short, too long, or
    damaged in its length. A file without any record is refused."""
    try:
        yield from _read_records(path, at_once)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}; give a TFRecord file") from None


def _read_records(path: Path, at_once: int) -> Iterator[Records]:
    number, offset = 0, 0
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        while offset < size:
            start = offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
            length = min(offset - start + WINDOW, size - start)
            window = mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ, offset=start)
            data = np.frombuffer(window, dtype=np.uint8)[offset - start :]
            starts, lengths = np.empty((2, min(at_once, len(data) // (HEADER + FOOTER) + 1)), dtype=np.int64)
            count, end, problem = _find_records(data, starts, lengths)
            if count:
                yield Records(path, number, offset, data, starts[:count].copy(), lengths[:count].copy())
            number += count
            offset += int(end)
            if problem == BAD_LENGTH_CRC:
                raise BadFile(
                    f"{path} has no TFRecord at byte {offset} (record {number}): the length there does not have its "
                    "checksum; the file is damaged or of another format"
                )
            if problem == TOO_LONG:
                raise BadFile(
                    f"{path} record {number} (byte {offset}) claims more than {LARGEST_RECORD} bytes; the file is "
                    "damaged or of another format"
                )
            if count < len(starts) and start + length == size and offset < size:
                raise BadFile(
                    f"{path} ends at byte {size}, inside record {number} (byte {offset}); it is cut short, download it "
                    "again"
                )
    if not number:
        raise BadFile(f"{path} is empty; a TFRecord file holds at least one record")
