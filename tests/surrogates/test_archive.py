"""One file of files: read by any zip program, and by us only if every byte is ours."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed.core.errors import BadFile
from nasbed.surrogates.archive import pack, unpack

FILES = {"manifest.json": b"{}", "members/00/forest.npz": bytes(range(256)), "empty.txt": b""}
NAMES = st.from_regex(r"[a-z0-9_][a-z0-9_.-]{0,8}(/[a-z0-9_][a-z0-9_.-]{0,8}){0,2}", fullmatch=True)


@given(st.dictionaries(NAMES, st.binary(max_size=100), max_size=5))
def test_archive_gives_back_what_was_packed(files: dict[str, bytes]) -> None:
    assert unpack(pack(files), "it") == files


@given(st.dictionaries(NAMES, st.binary(max_size=100), max_size=5))
def test_archive_is_a_zip_file(files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(io.BytesIO(pack(files))) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == files


def test_archive_refuses_each_flipped_bit() -> None:
    content = pack(FILES)
    for place in range(len(content)):
        for bit in (1, 128):
            damaged = bytearray(content)
            damaged[place] ^= bit
            with pytest.raises(BadFile, match=r"it is damaged|do not use it"):
                unpack(bytes(damaged), "it")


def test_archive_names_the_file_that_is_damaged() -> None:
    content = bytearray(pack(FILES))
    content[content.index(bytes(range(256))) + 100] ^= 1
    with pytest.raises(BadFile, match=r"it is damaged in members/00/forest\.npz"):
        unpack(bytes(content), "it")


@given(st.binary(max_size=200))
def test_archive_refuses_anything_else(content: bytes) -> None:
    with pytest.raises(BadFile):
        unpack(content, "it")


@pytest.mark.parametrize("cut", [1, 22, 100])
def test_archive_refuses_what_is_cut_or_longer(cut: int) -> None:
    content = pack(FILES)
    for changed in (content[:-cut], content[cut:], content + b"\0" * cut, b"\0" * cut + content):
        with pytest.raises(BadFile):
            unpack(changed, "it")


def test_archive_refuses_compression() -> None:
    """So that no small file becomes a large one."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", b"\0" * 10_000_000)
    with pytest.raises(BadFile):
        unpack(file.getvalue(), "it")


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a/../../b", "C:evil", "a\\b", "a//b", ".hidden", "", "a/"])
def test_archive_refuses_names_that_lead_elsewhere(name: str) -> None:
    with pytest.raises(BadFile, match="do not use it"):
        pack({name: b""})
    content = pack({"x" * max(len(name), 1): b""})
    if name:
        with pytest.raises(BadFile):
            unpack(content.replace(b"x" * len(name), name.encode()), "it")
