"""Universal Binary JSON and the buffers of boosters: examples written out by hand, and junk."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from nasbed.core.errors import BadFile
from nasbed.surrogates.trees.booster_buffer import forest_from_buffer
from nasbed.surrogates.trees.ubjson import parse_ubjson


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"{i\x04nameSi\x05abcde}", {"name": "abcde"}),
        (b"[i\x7fU\xffI\x80\x00l\x00\x01\x00\x00]", [127, 255, -32768, 65536]),
        (b"[#i\x03ZTF", [None, True, False]),
        (b"{#i\x01i\x01x[]", {"x": []}),
        (b"D" + struct.pack(">d", 0.1), 0.1),
        (b"Cx", "x"),
        (b"[" * 60 + b"]" * 60, "nested"),
    ],
)
def test_ubjson_reads_what_its_specification_defines(data: bytes, value: Any) -> None:
    read = parse_ubjson(data)
    if value == "nested":
        assert str(read) == "[" * 60 + "]" * 60
    else:
        assert read == value


def test_ubjson_reads_numbers_in_a_row_at_once() -> None:
    numbers = np.array([1.5, -2.0, 3e38], dtype=">f4")
    read = parse_ubjson(b"{i\x01x[$d#L" + struct.pack(">q", 3) + numbers.tobytes() + b"}")
    assert read["x"].tolist() == numbers.tolist()


@pytest.mark.parametrize(
    "junk",
    [
        *(b"", b"{", b"[i", b"Si\x05abc", b"Si\xffabc", b"?", b"ZZ", b"{i\x01xN", b"[$d", b"[$d#i\x02\x00"),
        *(b"[" * 100 + b"]" * 100, b"[$Z#L" + b"\x7f" * 8, b"[#L" + b"\x7f" * 8, b"{SSS}"),
    ],
)
def test_ubjson_refuses_junk_in_one_line(junk: bytes) -> None:
    with pytest.raises(BadFile) as caught:
        parse_ubjson(junk)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "junk",
    [
        *(b"", b"CONFIG-offset:", b'{"Model": 1}', b'{"Model"', b"{i\x05ModelZ}", b"binf" + bytes(400)),
        bytes(136) + struct.pack("<Q", 16) + b"reg:squarederror" + struct.pack("<Q", 6) + b"gbtree" + bytes(160),
    ],
)
def test_booster_buffer_that_holds_no_trees_is_refused_in_one_line(junk: bytes) -> None:
    with pytest.raises(BadFile) as caught:
        forest_from_buffer(junk)
    assert len(str(caught.value).splitlines()) == 1
