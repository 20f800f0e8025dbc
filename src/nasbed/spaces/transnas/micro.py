"""TransNAS-Bench-101, micro: what a cell computes."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.spaces.base import Batch, Codes
from nasbed.spaces.edge_cell import EDGES, EdgeCellSpace, edge_path_encoding
from nasbed.spaces.edge_functions import representatives
from nasbed.spaces.facts import Operations
from nasbed.spaces.native_text import NativeTextSpace
from nasbed.spaces.transnas.skeleton import TransNASSkeleton
from nasbed.spaces.transnas.text import CITATION, matched_digits

_OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3")
_MICRO_TEXT = re.compile("(?:64-41414-)?([0-3])_([0-3]{2})_([0-3]{3})|([0-3]{6})")


class TransNASMicro(NativeTextSpace, EdgeCellSpace):
    """Cells of four nodes, each the sum of an operation on every earlier one.

    ``code`` gives the operations on the edges 0→1, 0→2, 1→2, 0→3, 1→3, 2→3. The published text ``64-41414-1_02_333``
    has the fixed network around the cell (64 channels, five modules), then the digits of the edges into nodes 1, 2, 3.
    Isomorphic cells are kept apart, as in the published table.

    >>> space = TransNASMicro()
    >>> space.parse("102333").code, space.format(space.parse("1_02_333"))
    ((1, 0, 2, 3, 3, 3), '64-41414-1_02_333')
    """

    name = "transnas-micro"
    title = "TransNAS-Bench-101, micro: four nodes, four operations on six edges"
    citation = CITATION
    encodings = ("onehot", "path", "config")
    cell_title = "TransNAS-Bench-101 cell"
    choices = (_OPERATIONS,) * len(EDGES)
    skeleton = TransNASSkeleton
    operations = Operations(tuple(range(len(EDGES))), _OPERATIONS, ("skip_connect",))

    def format(self, arch: Architecture) -> str:
        return "64-41414-{}_{}{}_{}{}{}".format(*arch.code)

    def parse(self, text: str) -> Architecture:
        """Reads ``64-41414-1_02_333``, ``1_02_333`` or ``102333``."""
        forms = "64-41414-1_02_333, 1_02_333 or 102333"
        rule = f"a {self.name} text reads {forms}, with digits 0 to 3 ({', '.join(_OPERATIONS)})"
        return Architecture(self.name, matched_digits(_MICRO_TEXT, text, rule=rule))

    def _encode_path(self, codes: Codes) -> NDArray[np.float32]:
        return edge_path_encoding(codes, len(_OPERATIONS) - 1)

    def function_codes(self, archs: Batch) -> Codes:
        return representatives(self.codes(archs), _OPERATIONS)
