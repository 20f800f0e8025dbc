"""The arrays of a dataset on their way to a submission: through a pipe, which has no name, no date and no size.

The runner sends the images in the order of the disguise, a block at a time from the mapped files, so that neither a
second file nor a second copy in memory is made.
"""

from __future__ import annotations

import threading
from math import prod
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from nasbed.challenge.contest_data import ContestData
    from nasbed.challenge.disguise import Disguise

BLOCK_BYTES = 2**22


class ArrayFeed(threading.Thread):
    """Sends all inputs of a submission, then closes the pipe. ``error`` is what the organiser's files raised."""

    def __init__(self, file: IO[bytes], data: ContestData, disguise: Disguise) -> None:
        super().__init__(daemon=True)
        self._file, self._data, self._disguise = file, data, disguise
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            with self._file:
                for name, array in self._data.inputs():
                    self._send(name, array)
        except BrokenPipeError:
            pass  # the submission has ended
        except Exception as error:
            self.error = error

    def _send(self, name: str, array: NDArray[Any]) -> None:
        if name.endswith("_y"):
            array = self._disguise.shown_labels(array)
        order = self._disguise.order(name, len(array))
        header = {
            "descr": np.lib.format.dtype_to_descr(array.dtype),
            "fortran_order": False,
            "shape": array.shape,
        }
        np.lib.format.write_array_header_1_0(self._file, header)
        rows = max(1, BLOCK_BYTES // max(1, array.dtype.itemsize * prod(array.shape[1:])))
        for start in range(0, len(array), rows):
            self._file.write(np.ascontiguousarray(array[order[start : start + rows]]).data)


def receive_array(file: IO[bytes]) -> NDArray[Any]:
    """The next array of a stream that :class:`ArrayFeed` sends."""
    np.lib.format.read_magic(file)
    shape, _, kind = np.lib.format.read_array_header_1_0(file)
    array = np.empty(shape, kind)
    content = array.reshape(-1).view(np.uint8).data
    while content:
        count = file.readinto(content)  # type: ignore[attr-defined]
        if not count:
            raise EOFError("the arrays ended too early")
        content = content[count:]
    return array
