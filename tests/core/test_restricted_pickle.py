"""Pickles are read as data: what is plain arrives unchanged, everything else is refused and nothing runs."""

from __future__ import annotations

import copyreg
import os
import pickle
import struct
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nasbed.core.errors import BadFile
from nasbed.core.restricted_pickle import PickledObject, loads
from support.examples import examples

PLAIN = {bool, int, float, complex, str, bytes, type(None)}

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text()
    | st.binary()
)
keys = st.text() | st.integers(-(2**59), 2**59) | st.binary() | st.tuples(st.text(), st.integers(0, 999))
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(keys, inner)
        | st.dictionaries(keys, inner).map(OrderedDict)
        | st.sets(keys)
        | st.frozensets(keys)
    ),
    max_leaves=12,
)
dtypes = st.sampled_from(["?", "<f8", ">f4", "f2", "i8", "<i4", ">i2", "u1", "c16", "S3", "<U4", ">U2"])


def refusal(data: bytes, **options: Any) -> str:
    """The one-line message with which a pickle is refused."""
    with pytest.raises(BadFile) as caught:
        loads(data, "the file", **options)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 300
    return message


# --- plain values ----------------------------------------------------------------------------------------------------


@given(values, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_loads_gives_what_pickle_gives_for_plain_values(value: object, protocol: int) -> None:
    read = loads(pickle.dumps(value, protocol=protocol), "the file")
    assert read == value
    assert type(read) is type(value)


@given(
    dtypes.flatmap(lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))),
    st.integers(0, pickle.HIGHEST_PROTOCOL),
    st.booleans(),
)
def test_loads_rebuilds_numpy_arrays(array: np.ndarray[Any, Any], protocol: int, fortran: bool) -> None:
    array = np.asfortranarray(array) if fortran and array.ndim else array
    data = pickle.dumps([array, array], protocol=protocol)
    read, expected = loads(data, "the file"), pickle.loads(data)[0]
    assert read[0].dtype == expected.dtype and read[0].shape == array.shape and read[0] is read[1]
    assert read[0].tobytes() == expected.tobytes()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "scalar", [np.float64(91.5), np.float32(0.25), np.int64(-7), np.bool_(True), np.str_("ab"), np.complex64(1j)]
)
def test_loads_rebuilds_numpy_scalars(scalar: np.generic, protocol: int) -> None:
    read = loads(pickle.dumps({"x": scalar}, protocol=protocol), "the file")["x"]
    assert type(read) is type(scalar) and read == scalar


def test_loads_takes_long_lists_of_floats() -> None:
    numbers = np.random.default_rng(0).normal(size=5_001).tolist()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        value = {"a": numbers, "b": [*numbers, None, 3], "c": [1.0], "d": []}
        assert loads(pickle.dumps(value, protocol=protocol), "the file") == value


def test_loads_keeps_what_is_shared_shared() -> None:
    shared = [1.0, 2.0]
    read = loads(pickle.dumps({"a": shared, "b": (shared,)}), "the file")
    assert read["a"] is read["b"][0]


# --- records ---------------------------------------------------------------------------------------------------------


class Point:
    """A class whose loading would be noticed."""

    touched = False

    def __init__(self) -> None:
        self.x = [1, 2]

    def __setstate__(self, state: object) -> None:
        Point.touched = True


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_loads_makes_records_of_the_classes_named_and_of_no_other(protocol: int) -> None:
    data = pickle.dumps([Point()], protocol=protocol)
    name = f"{Point.__module__}.Point"
    assert loads(data, "the file", records=[name]) == [PickledObject(name, (), {"x": [1, 2]})]
    assert name in refusal(data)
    assert not Point.touched


# --- hostile pickles -------------------------------------------------------------------------------------------------


def text(value: str) -> bytes:
    encoded = value.encode()
    return b"X" + struct.pack("<I", len(encoded)) + encoded


class Evil:
    def __init__(self, *call: object) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call


def opcode_tricks(command: str) -> dict[str, tuple[bytes, str]]:
    """Pickles that run the command when Python reads them, one for each way to call, with the name that gives them
    away."""
    argument = text(command)
    popen = text("sh") + text("-c") + argument
    return {
        "REDUCE": (b"cos\nsystem\n" + argument + b"\x85R.", "os.system"),
        "REDUCE posix": (b"cposix\nsystem\n(" + argument + b"tR.", "posix.system"),
        "INST": (b"(" + argument + b"ios\nsystem\n.", "os.system"),
        "OBJ": (b"(cos\nsystem\n" + argument + b"o.", "os.system"),
        "STACK_GLOBAL": (b"\x80\x04\x8c\x02os\x8c\x06system\x93" + argument + b"\x85R.", "os.system"),
        "STACK_GLOBAL from memo": (
            b"\x80\x04\x8c\x02os\x94\x8c\x06system\x9400h\x00h\x01\x93" + argument + b"\x85R.",
            "os.system",
        ),
        "NEWOBJ": (b"\x80\x02csubprocess\nPopen\n](" + popen + b"e\x85\x81.", "subprocess.Popen"),
        "NEWOBJ_EX": (b"\x80\x04csubprocess\nPopen\n](" + popen + b"e\x85}\x92.", "subprocess.Popen"),
        "eval": (b"cbuiltins\neval\n" + text(f"__import__('os').system({command!r})") + b"\x85R.", "builtins.eval"),
        "python 2 name": (b"c__builtin__\neval\n" + text(f"__import__('os').system({command!r})") + b"\x85R.", "eval"),
        "getattr chain": (
            b"cbuiltins\ngetattr\ncbuiltins\n__import__\n"
            + text("os")
            + b"\x85R"
            + text("system")
            + b"\x86R"
            + argument
            + b"\x85R.",
            "builtins.getattr",
        ),
        "dotted name": (
            b"\x80\x04\x8c\x09importlib\x8c\x0eos.system.path\x93" + argument + b"\x85R.",
            "importlib.os.system",
        ),
        "popped after the call": (b"cos\nsystem\n" + argument + b"\x85R0N.", "os.system"),
        "hidden in a key": (b"}cos\nsystem\n" + argument + b"\x85RNs.", "os.system"),
        "map": (b"cbuiltins\nlist\ncbuiltins\nmap\ncos\nsystem\n](" + argument + b"e\x86R\x85R.", "builtins.list"),
        "partial": (b"cfunctools\npartial\ncos\nsystem\n" + argument + b"\x86R)R.", "functools.partial"),
    }


@pytest.fixture
def marker(tmp_path: Path) -> Iterator[Path]:
    """A file that any of the commands would make; it must not be there at the end."""
    path = tmp_path / "it-ran"
    yield path
    assert not path.exists(), "the pickle ran its command"


@pytest.mark.parametrize("trick", sorted(opcode_tricks("")))
def test_loads_refuses_calls_by_name_and_runs_nothing(trick: str, marker: Path) -> None:
    data, name = opcode_tricks(f"touch {marker}")[trick]
    assert name in refusal(data)


@pytest.mark.parametrize("trick", ["REDUCE", "INST", "OBJ", "STACK_GLOBAL", "eval", "getattr chain"])
def test_the_tricks_are_live(trick: str, tmp_path: Path) -> None:
    """Python's own reader falls for them, so that refusing them means something."""
    path = tmp_path / "it-ran"
    pickle.loads(opcode_tricks(f"touch {path}")[trick][0])
    assert path.exists()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("function", [os.system, eval, exec, subprocess.Popen, getattr, __import__, open])
def test_loads_refuses_every_function_in_every_protocol(function: Any, protocol: int, marker: Path) -> None:
    evil = Evil(function, (f"touch {marker}",))
    for value in (evil, [evil], {"a": evil}, (1, evil), OrderedDict(a=evil)):
        assert function.__name__ in refusal(pickle.dumps(value, protocol=protocol))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_loads_refuses_arrays_of_objects(protocol: int, marker: Path) -> None:
    array = np.array([Evil(os.system, (f"touch {marker}",)), 1], dtype=object)
    refusal(pickle.dumps(array, protocol=protocol))
    assert "O8" in refusal(pickle.dumps(np.array([None, 1], dtype=object), protocol=protocol))


def test_loads_refuses_an_object_scalar_with_a_pickle_inside(marker: Path) -> None:
    inner = pickle.dumps(Evil(os.system, (f"touch {marker}",)))
    data = b"cnumpy._core.multiarray\nscalar\ncnumpy\ndtype\n" + text("O8") + b"\x85R" + b"C" + bytes([len(inner)])
    assert "O8" in refusal(data + inner + b"\x86R.")


def test_loads_refuses_extension_codes(marker: Path) -> None:
    copyreg.add_extension("os", "system", 240)
    try:
        for code in (b"\x82\xf0", b"\x83\xf0\x00", b"\x84\xf0\x00\x00\x00"):
            assert "extension code 240" in refusal(b"\x80\x02" + code + text(f"touch {marker}") + b"\x85R.")
    finally:
        copyreg.remove_extension("os", "system", 240)


@pytest.mark.parametrize("data", [b"Pos.system\n.", text("os") + b"Q.", b"NQ."])
def test_loads_refuses_persistent_ids(data: bytes) -> None:
    assert "persistent" in refusal(data)


@pytest.mark.parametrize(
    "data",
    [
        b"ccollections\nOrderedDict\n.",
        b"(ccollections\nOrderedDict\nl.",
        b"}" + text("a") + b"ccollections\nOrderedDict\ns.",
        b"cnumpy\ndtype\n" + text("f8") + b"\x85R.",
        b"cnumpy\nndarray\n)R.",
        b"ccollections\nOrderedDict\nNR.",
        b"N)R.",
        text("os.system") + b")R.",
        b"ccollections\nOrderedDict\n)R}" + text("__class__") + text("x") + b"sb.",
        b"]}b.",
        b"}}" + text("__setstate__") + text("x") + b"sb.",
        b"ccollections\nOrderedDict\n}" + text("update") + b"Nsb.",
        b"cbuiltins\nset\n]]a\x85R.",
        b"ccollections\nOrderedDict.fromkeys\n]\x85R.",
        b"cnumpy\ndtype.type\n)R.",
        b"\x97.",
        b"N\x98.",
        b"S'text'\n.",
    ],
)
def test_loads_refuses_names_and_calls_out_of_place(data: bytes) -> None:
    refusal(data)


# --- bombs -----------------------------------------------------------------------------------------------------------


def test_loads_refuses_what_multiplies() -> None:
    """Each level refers to the one below twice: 50 short lines that would be 2**50 parts."""
    levels = [b"](h" + bytes([i, ord("h"), i]) + b"eq" + bytes([i + 1]) + b"0" for i in range(50)]
    assert "parts" in refusal(b"](K\x01K\x02eq\x000" + b"".join(levels) + b"h\x32.")


def test_loads_refuses_deep_nesting_in_every_container(thorough: bool) -> None:
    depth = 200_000 if thorough else 50_000
    assert "levels" in refusal(b"]" * depth + b"a" * (depth - 1) + b".")
    assert "levels" in refusal(b")" + b"\x85" * depth + b".")
    assert "levels" in refusal(
        b"}" + (b"}" + text("a") + b"K\x01s") + b"0" + b"]" * depth + b"a" * (depth - 1) + b"\x86."
    )


def test_loads_refuses_a_value_that_holds_itself() -> None:
    ring: list[Any] = []
    ring.append(ring)
    assert "itself" in refusal(pickle.dumps(ring))
    loop: dict[str, Any] = {}
    loop["a"] = (loop,)
    assert "itself" in refusal(pickle.dumps(loop))


def test_loads_refuses_keys_that_cannot_be_hashed_cheaply(thorough: bool) -> None:
    """A tuple is hashed part by part without a limit on depth or on how often a shared part is visited."""
    deep = b"}K\x01" + b"\x85" * (200_000 if thorough else 50_000) + b"Ns."
    doubling = b"}K\x01" + b"2\x86" * 80 + b"Ns."
    for data in (deep, doubling):
        assert "key" in refusal(data)
        assert "key" in refusal(b"\x80\x04(" + data[1:-2] + b"\x91.")
    assert "key" in refusal(pickle.dumps({2**61 - 1: 0}))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b".",
        b"N",
        b"NN.",
        b"(N.",
        b"a.",
        b"0.",
        b"h\x05.",
        b"\x80\x63N.",
        b"\xffN.",
        b"\x8e" + struct.pack("<Q", 1 << 62) + b"x.",
        b"\x8d" + struct.pack("<Q", 1 << 40) + b"x.",
        b"\x96" + struct.pack("<Q", 1 << 40) + b"x.",
        b"\x8b" + struct.pack("<i", -1) + b".",
        b"X\xff\xff\xff\xffab.",
        b"\x8c\x02\xff\xfe.",
        b"G\x00\x00.",
        b"I12",
        b"Iabc\n.",
        b"I" + b"9" * 10_000 + b"\n.",
        b"](K\x01K\x02u.",
        b"}(K\x01u.",
        b"N(K\x01e.",
        b"NN.trailing",
        b"N.trailing",
        b"\x8f(]\x90.",
    ],
)
def test_loads_refuses_damaged_pickles(data: bytes) -> None:
    refusal(data)


def test_loads_takes_a_far_memo_index_without_room_for_all_before_it() -> None:
    assert loads(b"K\x07r\xff\xff\xff\xff0j\xff\xff\xff\xff.", "the file") == 7


@pytest.mark.parametrize(
    ("shape", "kind", "raw"),
    [
        ((3,), "f8", b"\0" * 23),
        ((-1, -3), "f8", b"\0" * 24),
        ((1 << 62, 1 << 62), "f8", b""),
        ((1 << 39,), "f8", b""),
        ((True,), "u1", b"\0"),
        ((1,) * 40, "u1", b"\0"),
        ((2,), "O8", b"\0" * 16),
        ((2,), "M8", b"\0" * 16),
        ((2,), "V8", b"\0" * 16),
        ((2,), "U0", b""),
        ((2,), "S99999999", b""),
        ((2,), "i4,i4", b"\0" * 16),
    ],
)
def test_loads_refuses_arrays_that_do_not_fit(shape: tuple[int, ...], kind: str, raw: bytes) -> None:
    dtype = b"cnumpy\ndtype\n" + text(kind) + b"\x89\x88\x87R"
    sides = b"(" + b"".join(pickle.dumps(side, protocol=2)[2:-1] for side in shape) + b"t"
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R"
    state = b"(K\x01" + sides + dtype + b"\x89" + b"B" + struct.pack("<I", len(raw)) + raw + b"tb."
    refusal(array + state)


# --- anything at all -------------------------------------------------------------------------------------------------

WATCHED = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "pickle.find_class", "exec", "compile", "open")
_watching: list[str] | None = None


def _watch(event: str, _args: object) -> None:
    if _watching is not None and event in WATCHED:
        _watching.append(event)


sys.addaudithook(_watch)


def corpus() -> list[bytes]:
    plain = {"a": [1.0, 2.5, 3.0], "b": (1, -2, 2**70), "c": {1, "x"}, ("d", 7): b"bytes", "e": [None, True, {}, []]}
    arrays = [np.arange(6.0).reshape(2, 3), np.float32(1.5), OrderedDict(a=np.array(["x", "yz"]))]
    pickles = [pickle.dumps(value, protocol=p) for value in (plain, arrays) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
    return pickles + [data for data, _ in opcode_tricks("false").values()]


def only_plain(value: object) -> bool:
    if type(value) in (list, tuple, set, frozenset):
        return all(map(only_plain, value))  # type: ignore[call-overload]
    if type(value) in (dict, OrderedDict):
        return all(only_plain(key) and only_plain(item) for key, item in value.items())  # type: ignore[attr-defined]
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "?biufcSU"
    return type(value) in PLAIN


def mutated(rng: np.random.Generator, seeds: list[bytes]) -> bytes:
    """A pickle with bytes changed, cut out, doubled or spliced in from another, or bytes out of the air."""
    data = bytearray(seeds[rng.integers(len(seeds))])
    for _ in range(rng.integers(1, 6)):
        at = int(rng.integers(len(data) + 1))
        match rng.integers(6):
            case 0 if data:
                data[min(at, len(data) - 1)] = int(rng.integers(256))
            case 1 if data:
                data[min(at, len(data) - 1)] ^= 1 << int(rng.integers(8))
            case 2:
                del data[at : at + int(rng.integers(1, 9))]
            case 3:
                data[at:at] = data[at : at + int(rng.integers(1, 30))]
            case 4:
                donor = seeds[rng.integers(len(seeds))]
                start = int(rng.integers(len(donor)))
                data[at:at] = donor[start : start + int(rng.integers(1, 40))]
            case _:
                data[at:at] = rng.bytes(int(rng.integers(1, 12)))
    return bytes(data)


@examples(100)
@given(st.integers(0, 2**63), st.binary(max_size=60))
def test_loads_gives_plain_values_or_bad_file_for_any_bytes(seed: int, noise: bytes) -> None:
    """Forty strings an example: 4 000 in all, and 32 000 under --thorough."""
    global _watching  # noqa: PLW0603
    rng = np.random.default_rng(seed)
    seeds = corpus()
    outcome: Callable[[bytes], object] = lambda data: loads(data, "the file")  # noqa: E731
    outcome(b"V\\u00e9\n.")  # so that codecs are imported before anything is watched
    for data in [noise, *(mutated(rng, seeds) for _ in range(39))]:
        _watching = []
        try:
            assert only_plain(outcome(data))
        except BadFile as error:
            assert "\n" not in str(error)
        finally:
            events, _watching = _watching, None
        assert not events, f"{data!r} led to {events}"
