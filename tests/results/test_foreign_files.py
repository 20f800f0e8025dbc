"""Files of foreign formats: read up to a limit, wherever they claim to end; torch's without torch."""

from __future__ import annotations

import bz2
import io
import os
import pickle
import struct
import tracemalloc
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nasbed.core.errors import BadFile
from nasbed.core.unpack import read_limited
from nasbed.results.importers.bounded_files import open_archive, read_bz2
from nasbed.results.importers.torch_file import load_torch_file

MEGABYTE = 1 << 20


def refusal(call: Any) -> str:
    with pytest.raises(BadFile) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_read_limited_stops_at_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert read_limited(path, 100) == b"x" * 100
    assert "more than" in refusal(lambda: read_limited(path, 99))
    assert "check the path" in refusal(lambda: read_limited(tmp_path / "none", 99))
    refusal(lambda: read_limited(tmp_path, 99))


# --- bzip2 -----------------------------------------------------------------------------------------------------------


def test_read_bz2_reads_what_bz2_wrote(tmp_path: Path) -> None:
    path = tmp_path / "file.bz2"
    data = np.random.default_rng(0).bytes(MEGABYTE)
    path.write_bytes(bz2.compress(data))
    assert read_bz2(path, len(data)) == data
    refusal(lambda: read_bz2(path, len(data) - 1))


def test_read_bz2_does_not_unpack_a_bomb(tmp_path: Path) -> None:
    path = tmp_path / "bomb.bz2"
    path.write_bytes(bz2.compress(bytes(64 * MEGABYTE)))
    assert path.stat().st_size < 1000
    tracemalloc.start()
    assert "unpacks to more" in refusal(lambda: read_bz2(path, 2 * MEGABYTE))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * MEGABYTE


def test_read_bz2_refuses_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "file.bz2"
    complete = bz2.compress(b"some text " * 100)
    flipped = bytearray(complete)
    flipped[len(complete) // 2] ^= 4
    for data in (
        b"",
        complete[:-1],
        complete[:10],
        bytes(flipped),
        complete + b"more",
        complete + complete,
        b"plain text",
    ):
        path.write_bytes(data)
        refusal(lambda: read_bz2(path, MEGABYTE))


# --- zip -------------------------------------------------------------------------------------------------------------


def write_zip(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)


def test_archive_does_not_unpack_a_bomb(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    write_zip(path, {"a": bytes(64 * MEGABYTE)}, zipfile.ZIP_DEFLATED)
    with open_archive(path) as archive:
        tracemalloc.start()
        assert "unpacks to more" in refusal(lambda: archive.read("a", 2 * MEGABYTE))
        assert "unpacks to more" in refusal(lambda: archive.read("a", 1 << 40))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 40 * MEGABYTE


@pytest.mark.parametrize("name", ["../up", "/root", "a/../../up", "a\\b", "c:drive"])
def test_archive_refuses_names_that_lead_outside(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file.zip"
    write_zip(path, {"fine": b"", name: b""})

    def read() -> None:
        with open_archive(path) as archive:
            archive.read("fine", 10)

    assert "stay inside" in refusal(read)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archive_refuses_two_members_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "file.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a", b"one")
        file.writestr("a", b"two")
    refusal(lambda: open_archive(path).__enter__())


def test_archive_refuses_damage_encryption_and_what_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "file.zip"
    write_zip(path, {"a": b"some text"})
    complete = path.read_bytes()
    with open_archive(path) as archive:
        assert archive.read("a", 100) == b"some text"
        refusal(lambda: archive.read("b", 100))
        refusal(lambda: archive.read("a", 3))
    flipped = complete.replace(b"some text", b"sane text", 1)
    encrypted = complete.replace(b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00")
    assert encrypted != complete
    for data in (flipped, encrypted, complete[:-5], complete[20:], b"", b"PK\x03\x04"):
        path.write_bytes(data)

        def read() -> None:
            with open_archive(path) as archive:
                archive.read("a", 100)

        refusal(read)


# --- torch -----------------------------------------------------------------------------------------------------------


def torch_zip(path: Path, data: bytes, storages: dict[str, bytes] | None = None) -> None:
    """A file as torch.save has written it since version 1.6."""
    raw = {f"archive/data/{name}": raw for name, raw in (storages or {}).items()}
    write_zip(path, {"archive/data.pkl": data, "archive/byteorder": b"little", **raw, "archive/version": b"3\n"})


def legacy(path: Path, value: object) -> None:
    """A file as torch.save wrote it before version 1.6, without tensors."""
    facts = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    parts: tuple[object, ...] = (0x1950A86A20F9469CFC6C, 1001, facts, value, [])
    path.write_bytes(b"".join(pickle.dumps(part, protocol=2) for part in parts))


PLAIN = {"task": ["a", "b"], "data": {"x": {"metrics": [1.5, 2.5], "epochs": 2}}, "o": OrderedDict(a=1)}


def test_torch_file_reads_plain_values_in_both_forms(tmp_path: Path) -> None:
    path = tmp_path / "file.pth"
    torch_zip(path, pickle.dumps(PLAIN, protocol=2))
    assert load_torch_file(path, MEGABYTE) == PLAIN
    legacy(path, PLAIN)
    assert load_torch_file(path, MEGABYTE) == PLAIN


def test_torch_file_agrees_with_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="compares with torch.save")
    path = tmp_path / "file.pth"
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    kinds = [torch.float64, torch.float16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]
    value = {
        "plain": PLAIN,
        "base": base,
        "view": base.t()[1:4, ::2],
        "row": base[2],
        "scalar": torch.tensor(3.5),
        "empty": torch.zeros(0, 3),
        "parameter": torch.nn.Parameter(base * 2),
        "kinds": [torch.arange(5).to(kind) for kind in kinds],
    }
    for zipped in (True, False):
        torch.save(value, path, _use_new_zipfile_serialization=zipped)
        read = load_torch_file(path, MEGABYTE)
        assert read["plain"] == PLAIN
        for name in ("base", "view", "row", "scalar", "empty", "parameter"):
            expected = value[name].detach().numpy()
            assert read[name].dtype == expected.dtype and read[name].shape == expected.shape
            np.testing.assert_array_equal(read[name], expected)
        for array, tensor in zip(read["kinds"], value["kinds"], strict=True):
            assert array.dtype == tensor.numpy().dtype
            np.testing.assert_array_equal(array, tensor.numpy())

    weights = torch.nn.BatchNorm1d(3).state_dict()
    torch.save(weights, path, _use_new_zipfile_serialization=False)
    assert {name: array.tolist() for name, array in load_torch_file(path, MEGABYTE).items()} == {
        name: tensor.tolist() for name, tensor in weights.items()
    }
    path.write_bytes(path.read_bytes()[:-1])
    assert "cut off" in refusal(lambda: load_torch_file(path, MEGABYTE))
    torch.save(PLAIN, path, _use_new_zipfile_serialization=False)
    assert load_torch_file(path, MEGABYTE) == PLAIN
    torch.save({"bf16": base.to(torch.bfloat16)}, path)
    assert "BFloat16Storage" in refusal(lambda: load_torch_file(path, MEGABYTE))
    torch.save(torch.nn.Linear(2, 3), path)
    assert "torch.nn" in refusal(lambda: load_torch_file(path, MEGABYTE))


class Evil:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> Any:
        return os.system, (self.command,)


def test_torch_file_runs_nothing(tmp_path: Path) -> None:
    path, marker = tmp_path / "file.pth", tmp_path / "it-ran"
    evil = Evil(f"touch {marker}")
    torch_zip(path, pickle.dumps({"a": evil}, protocol=2))
    assert "system" in refusal(lambda: load_torch_file(path, MEGABYTE))
    legacy(path, evil)
    assert "system" in refusal(lambda: load_torch_file(path, MEGABYTE))
    assert not marker.exists()


def tensor(numel: int, offset: int, size: tuple[int, ...], stride: tuple[int, ...], key: str = "0") -> bytes:
    """The pickle of a tensor over the float storage ``key``, opcode by opcode."""

    def number(value: int) -> bytes:
        return b"J" + struct.pack("<i", value)

    def text(value: str) -> bytes:
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(key) + text("cpu") + number(numel) + b"tQ"
    numbers = [b"(" + b"".join(map(number, sides)) + b"t" for sides in (size, stride)]
    arguments = b"(" + storage + number(offset) + b"".join(numbers) + b"\x89ccollections\nOrderedDict\n)Rt"
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"R."


def test_torch_file_keeps_tensors_inside_their_storage(tmp_path: Path) -> None:
    path = tmp_path / "file.pth"
    raw = np.arange(6, dtype="<f4").tobytes()
    torch_zip(path, tensor(6, 1, (2, 2), (3, 1)), {"0": raw})
    np.testing.assert_array_equal(load_torch_file(path, MEGABYTE), [[1, 2], [4, 5]])
    for bad in (
        tensor(6, 1, (2, 3), (3, 1)),
        tensor(6, 7, (1,), (1,)),
        tensor(6, -1, (1,), (1,)),
        tensor(6, 0, (2,), (-1,)),
        tensor(6, 0, (1_000_000_000,), (0,)),
        tensor(6, 0, (-2, -3), (1, 1)),
        tensor(6, 0, (2,), (1, 1)),
        tensor(7, 0, (2,), (1,)),
        tensor(6, 0, (2,), (1,), key="1"),
        tensor(6, 0, (2,), (1,), key="../version"),
    ):
        torch_zip(path, bad, {"0": raw})
        refusal(lambda: load_torch_file(path, MEGABYTE))


def test_torch_file_refuses_what_is_not_one(tmp_path: Path) -> None:
    path = tmp_path / "file.pth"
    refusal(lambda: load_torch_file(path, MEGABYTE))
    refusal(lambda: load_torch_file(tmp_path, MEGABYTE))
    for data in (b"", b"PK", b"plain text", pickle.dumps(PLAIN), pickle.dumps(np.arange(3))):
        path.write_bytes(data)
        refusal(lambda: load_torch_file(path, MEGABYTE))
    write_zip(path, {"a/other": b""})
    assert "torch.save" in refusal(lambda: load_torch_file(path, MEGABYTE))
    write_zip(path, {"a/data.pkl": b"N.", "b/data.pkl": b"N."})
    refusal(lambda: load_torch_file(path, MEGABYTE))


def test_torch_file_gives_a_value_or_bad_file_for_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "file.pth"
    torch_zip(path, tensor(6, 1, (2, 2), (3, 1)), {"0": np.arange(6, dtype="<f4").tobytes()})
    zipped = path.read_bytes()
    legacy(path, PLAIN)
    old = path.read_bytes()
    rng = np.random.default_rng(0)
    for complete in (zipped, old):
        for _ in range(400):
            data = bytearray(complete)
            for _ in range(rng.integers(1, 4)):
                data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
            path.write_bytes(data[: int(rng.integers(len(data)))] if rng.random() < 0.3 else data)
            try:
                load_torch_file(path, MEGABYTE)
            except BadFile as error:
                assert "\n" not in str(error)


def test_zip_files_made_in_memory_are_what_the_tests_think(tmp_path: Path) -> None:
    """The hand-made archive opens in zipfile: refusals above are ours, not of a malformed fixture."""
    path = tmp_path / "file.pth"
    torch_zip(path, b"N.", {"0": b"1234"})
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as file:
        assert file.testzip() is None
        assert set(file.namelist()) == {"archive/data.pkl", "archive/byteorder", "archive/data/0", "archive/version"}
