"""The NAS-Bench-101 importer against files written by hand: every number arrives, and nothing damaged does."""

from __future__ import annotations

import base64
import json
import math
import random
import struct
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from nasbed.core.errors import BadFile
from nasbed.core.status import DIVERGED, OK
from nasbed.results import write_results
from nasbed.results.importers import IMPORTERS
from nasbed.results.importers.nb101 import importer, kernel
from nasbed.results.importers.nb101 import tfrecord as framing
from nasbed.results.importers.nb101.record import read_record
from nasbed.results.importers.nb101.tfrecord import Records, crc32c
from nasbed.results.rows import Rows, concatenate
from support.nb101_files import (
    CONV1,
    CONV3,
    INCEPTION,
    POOL,
    SMALLEST,
    Training,
    bitwise_crc32c,
    bytewise_crc32c,
    double,
    evaluation,
    framed,
    integer,
    masked,
    schedule,
    text,
    tfrecord,
    varint,
)

BUDGETS = (4, 12, 36, 108)
Row = tuple[tuple[int, ...], int, float, float, float, float, float]


def read(path: Path, data: bytes) -> Rows:
    path.write_bytes(data)
    (draft,) = IMPORTERS.get("nb101")().read(path)
    return concatenate(list(draft.batches))


def plain(rows: Rows) -> list[Row]:
    """(code, fidelity, seconds, train, validation, test, parameters) of each row."""
    keys = ("train_accuracy", "validation_accuracy", "test_accuracy", "parameters")
    columns = [rows.fidelity, rows.train_time_s, *(rows.values[key] for key in keys)]
    return list(zip(map(tuple, rows.codes.tolist()), *(column.tolist() for column in columns), strict=True))


CODES = {INCEPTION.hash: (1771019, 1, 0, 0, 0, 2), SMALLEST.hash: (32768, 0, 0, 0, 0, 0)}
"""Written out by hand: edge x→y is bit x + y(y-1)/2 of seven vertices."""


def expected(trainings: Iterable[Training]) -> list[Row]:
    return [
        (CODES[training.hash], fidelity, *measured, float(training.parameters))
        for training in trainings
        for fidelity, measured in ((training.epochs // 2, training.half), (training.epochs, training.final))
    ]


@pytest.mark.parametrize(
    ("data", "crc"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
    ],
)
def test_crc32c_gives_the_vectors_of_rfc_3720(data: bytes, crc: int) -> None:
    assert crc32c(data) == bitwise_crc32c(data) == bytewise_crc32c(data) == crc


def test_crc32c_equals_its_definition_at_every_length() -> None:
    rng = random.Random(0)
    for length in range(100):
        data = rng.randbytes(length)
        assert crc32c(data) == bitwise_crc32c(data)


@pytest.mark.parametrize("budgets", [BUDGETS, (108,)], ids=["full", "only108"])
def test_every_number_arrives(tmp_path: Path, budgets: tuple[int, ...]) -> None:
    trainings = [*schedule(INCEPTION, budgets, 3), *schedule(SMALLEST, budgets, 3)]
    random.Random(1).shuffle(trainings)
    rows = read(tmp_path / "a.tfrecord", tfrecord(trainings))
    assert plain(rows) == expected(trainings)
    assert set(rows.status.tolist()) == {OK}
    assert set(rows.seed.tolist()) == {-1}


def test_table_keeps_repeats_in_file_order_and_says_what_it_is(tmp_path: Path) -> None:
    trainings = schedule(INCEPTION, BUDGETS, 3)
    path = tmp_path / "nasbench_full.tfrecord"
    path.write_bytes(tfrecord(trainings))
    (draft,) = IMPORTERS.get("nb101")().read(path)
    results = write_results(tmp_path / "out", draft.about, draft.batches)
    assert (results.about.name, results.about.dataset, results.about.licence) == ("nb101", "cifar10", "Apache-2.0")
    assert results.about.source == "nasbench_full.tfrecord"
    assert "fidelity 54 is half-way through the 108-epoch schedule" in results.about.notes
    cache = results.cache()
    assert cache.fidelities == (2, 4, 6, 12, 18, 36, 54, 108)
    assert cache.values["validation_accuracy"][0, -1].tolist() == [training.final[2] for training in trainings[-3:]]
    assert cache.values["validation_accuracy"][0, -2].tolist() == [training.half[2] for training in trainings[-3:]]
    assert cache.values["parameters"][0, 0].tolist() == [2694282.0] * 3


def test_records_are_found_across_windows_and_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainings = [*schedule(INCEPTION, BUDGETS, 9), *schedule(SMALLEST, BUDGETS, 9)]
    for window, at_once in ((4096, 1000), (8192, 5), (1 << 26, 1), (1 << 26, 72)):
        monkeypatch.setattr(framing, "WINDOW", window)
        monkeypatch.setattr(importer, "RECORDS_AT_ONCE", at_once)
        assert plain(read(tmp_path / "a", tfrecord(trainings))) == expected(trainings)


def odd_protos() -> dict[str, bytes]:
    """Messages that say what INCEPTION says in another way that the wire format allows."""
    fields = INCEPTION.metrics()
    unknown = [integer(9, 5), double(1000, 1.5), text(17, b"\xff\x00"), varint(8 << 3 | 5) + b"abcd"]
    group = varint(40 << 3 | 3) + integer(2, 1) + varint(41 << 3 | 3) + varint(41 << 3 | 4) + varint(40 << 3 | 4)
    shuffled = [double(number, value) for number, value in enumerate((108.0, *INCEPTION.final), start=1)]
    last = text(1, b"".join([shuffled[4], unknown[0], shuffled[2], text(6, b"/path"), shuffled[1], shuffled[3]]))
    return {
        "fields in another order": b"".join([*fields[4:2:-1], *fields[:3]]),
        "unknown fields": b"".join([unknown[0], fields[0], *unknown, *fields[1:], *unknown[::-1]]),
        "unknown group": group + b"".join(fields),
        "evaluation in another order": b"".join([*fields[:2], last, *fields[3:]]),
        "a field given twice, the last counts": integer(2, 7) + b"".join(fields),
        "a long form of a number": b"".join(fields).replace(integer(2, 2694282), b"\x90\x00\x8a\xb9\xa4\x81\x00"),
        "nothing measured at the start": b"".join([text(1, b""), *fields[1:]]),
    }


@pytest.mark.parametrize("name", odd_protos())
def test_metrics_are_read_by_the_wire_format(tmp_path: Path, name: str) -> None:
    training = replace(INCEPTION, proto=odd_protos()[name])
    assert plain(read(tmp_path / "a", tfrecord([training]))) == expected([INCEPTION])


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: json.dumps(fields, indent=2).encode() + b" \n",
        lambda fields: json.dumps(fields, separators=(",", ":")).encode(),
        lambda fields: json.dumps(fields).replace("/", "\\/").encode(),
        lambda fields: json.dumps(fields).replace("A", "\\u0041").encode(),
        lambda fields: json.dumps([*fields[:4], base64.encodebytes(base64.b64decode(fields[4])).decode()]).encode(),
    ],
    ids=["indented", "compact", "escaped slash", "escaped letter", "wrapped base64"],
)
def test_json_is_read_in_every_form(tmp_path: Path, change: Callable[[list[object]], bytes]) -> None:
    data = framed(change(INCEPTION.fields())) + framed(INCEPTION.payload())
    assert plain(read(tmp_path / "a", data)) == expected([INCEPTION, INCEPTION])


def test_nan_is_a_diverged_row_not_a_number(tmp_path: Path) -> None:
    rows = read(tmp_path / "a", tfrecord([replace(INCEPTION, final=(1.0, math.nan, math.nan, math.nan))]))
    assert rows.status.tolist() == [OK, DIVERGED]
    assert math.isnan(rows.values["test_accuracy"][1])


def test_published_cells_have_their_hashes_and_counts(tmp_path: Path, published_data: Callable[[str], Path]) -> None:
    names = {-1: "input", -2: "output", 0: CONV3, 1: CONV1, 2: POOL}
    trainings = []
    with np.load(published_data("nb101_20k.npz")) as data:
        chosen = range(0, len(data["key"]), 40)
        columns = {name: data[name][:: chosen.step] for name in data}
    for i, key in enumerate(columns["key"].tolist()):
        size = int(columns["nv"][i])
        matrix = "".join(map(str, columns["adj"][i, :size, :size].ravel().tolist()))
        operations = tuple(names[op] for op in columns["ops"][i, :size].tolist())
        final = (float(columns["time108"][i]), 1.0, float(columns["val108"][i]), 0.5)
        trainings.append(Training(key, matrix, operations, int(columns["params"][i]), final=final))
    rows = read(tmp_path / "a", tfrecord(trainings))
    assert rows.values["validation_accuracy"][1::2].tolist() == columns["val108"].tolist()
    assert rows.train_time_s[1::2].tolist() == columns["time108"].tolist()


# --- damage ----------------------------------------------------------------------------------------------------------

SMALL = [INCEPTION, SMALLEST]


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    data = tfrecord(SMALL)
    boundary = len(framed(INCEPTION.payload()))
    for end in range(len(data)):
        if end == boundary:
            assert plain(read(tmp_path / "a", data[:end])) == expected(SMALL[:1])
            continue
        with pytest.raises(BadFile, match="empty" if end == 0 else f"ends at byte {end}, inside record"):
            read(tmp_path / "a", data[:end])


def test_a_file_with_any_bit_flipped_is_refused(tmp_path: Path, thorough: bool) -> None:
    """By the framing alone; the importer, which adds threads, is asked about every sixth byte. By default, one bit of
    every byte."""
    data = tfrecord(SMALL)
    path = tmp_path / "a"
    flips = product(range(len(data)), range(8)) if thorough else ((byte, byte % 8) for byte in range(len(data)))
    for byte, bit in flips:
        changed = bytearray(data)
        changed[byte] ^= 1 << bit
        path.write_bytes(changed)
        with pytest.raises(BadFile, match=r"byte (0|\d{3})"):
            for records in framing.read_records(path):
                records.verify()
        if byte % 6 == 0 or byte == len(data) - 1:
            with pytest.raises(BadFile, match=r"byte (0|\d{3})"):
                read(path, bytes(changed))


def header(length: int) -> bytes:
    return struct.pack("<Q", length) + masked(struct.pack("<Q", length))


def with_fields(**changes: object) -> bytes:
    names = ("hash", "epochs", "matrix", "operations", "metrics")
    return json.dumps(
        [changes.get(name, value) for name, value in zip(names, INCEPTION.fields(), strict=True)]
    ).encode()


def with_proto(proto: bytes) -> bytes:
    return replace(INCEPTION, proto=proto).payload()


FIELDS = INCEPTION.metrics()
NO_PATH = "0" * 49
ELEVEN_EDGES = "0111111000000100000010000001000000100000010000000"
BAD_FILES = {
    "empty": (b"", "is empty"),
    "text": (b"hash,epochs,accuracy\n" * 20, "no TFRecord at byte 0"),
    "huge length": (header(1 << 62), "claims more than"),
    "length beyond the end": (header(1 << 20) + b"x" * 100, "ends at byte 112"),
    "record above the limit": (header((1 << 24) + 1) + b"x" * 100, "claims more than"),
    "gap between records": (tfrecord([INCEPTION]) + b"\0" * 16 + tfrecord([INCEPTION]), "no TFRecord at byte"),
}
BAD_RECORDS = {
    "no bytes": (b"", "is JSON"),
    "not UTF-8": (with_fields().replace(b"input", b"inp\xfft"), "is JSON"),
    "not JSON": (with_fields()[:-1], "is JSON"),
    "deep JSON": (b"[" * 100_000, "is JSON"),
    "endless number": (b"[" + b"9" * 10_000 + b"]", "is JSON"),
    "an object": (b'{"hash": 1}', r"is \[hash, epochs, matrix, operations, metrics\]"),
    "four fields": (json.dumps(INCEPTION.fields()[:4]).encode(), r"is \[hash"),
    "six fields": (json.dumps([*INCEPTION.fields(), 1]).encode(), r"is \[hash"),
    "a number for a text": (with_fields(matrix=11), r"is \[hash"),
    "true for a number": (with_fields(epochs=True), r"is \[hash"),
    "another budget": (with_fields(epochs=54), "takes 4, 12, 36, 108 epochs, got 54"),
    "a fraction": (with_fields(epochs=108.0), r"is \[hash"),
    "a short hash": (with_fields(hash="28cf"), "32 hexadecimal digits"),
    "a hash of 32 letters é": (with_fields(hash="é" * 32), "32 hexadecimal digits"),
    "another cell's hash": (with_fields(hash=SMALLEST.hash), f"module hash {INCEPTION.hash}, the record says 0437"),
    "upper-case hash": (with_fields(hash=INCEPTION.hash.upper()), "the record says 28CFC"),
    "matrix not square": (with_fields(matrix="0" * 48), "square of 0 and 1"),
    "matrix with a 2": (with_fields(matrix=INCEPTION.matrix.replace("1", "2", 1)), "square of 0 and 1"),
    "matrix with digits of another script": (with_fields(matrix="٠" * 49), "square of 0 and 1"),
    "matrix too large": (with_fields(matrix="0" * 64), "at most 7 vertices"),
    "matrix huge": (with_fields(matrix="0" * 250_000), "a matrix of 500 rows"),
    "backward edge": (with_fields(matrix="0" * 7 + "1" + "0" * 41), "upper triangular"),
    "no path": (with_fields(matrix=NO_PATH), "has no path from input to output"),
    "eleven edges": (with_fields(matrix=ELEVEN_EDGES), "has 11 edges after pruning, at most 9 are allowed"),
    "unknown operation": (with_fields(operations="input,conv5x5,output"), "one operation a vertex"),
    "unknown operation of seven": (
        with_fields(operations=",".join(["input", "conv5x5-bn-relu", CONV3, CONV3, CONV3, POOL, "output"])),
        "not an nb101 operation",
    ),
    "no input": (with_fields(operations=",".join([CONV3, *INCEPTION.operations[1:]])), "start with input"),
    "operations cut": (with_fields(operations="input"), "one operation a vertex"),
    "not base64": (with_fields(metrics="@@@@"), "base64"),
    "base64 of a wrong length": (with_fields(metrics=str(INCEPTION.fields()[4])[:-1]), "base64|cut short"),
    "base64 after its end": (with_fields(metrics="QQ==QUJD"), "base64"),
    "no metrics": (with_fields(metrics=""), "three evaluations"),
    "two evaluations": (with_proto(b"".join(FIELDS[1:])), "three evaluations .* got 2"),
    "four evaluations": (with_proto(b"".join([FIELDS[0], *FIELDS])), "three evaluations .* got 4"),
    "no parameter count": (with_proto(b"".join([*FIELDS[:3], FIELDS[4]])), "trainable_parameters"),
    "an evaluation without test": (
        with_proto(b"".join([*FIELDS[:2], text(1, evaluation(108, INCEPTION.final[:3])), *FIELDS[3:]])),
        "lacks test_accuracy",
    ),
    "an accuracy as text": (
        with_proto(b"".join([*FIELDS[:2], text(1, evaluation(1, INCEPTION.final) + text(5, b"1")), *FIELDS[3:]])),
        "test_accuracy has wire type 1 .* got 2",
    ),
    "a count as a double": (with_proto(b"".join([*FIELDS[:3], double(2, 1.0)])), "has wire type 0 .* got 1"),
    "field number 0": (with_proto(b"".join(FIELDS) + integer(0, 1)), "numbered 0"),
    "wire type 7": (with_proto(b"".join(FIELDS) + varint(9 << 3 | 7)), "wire type 7"),
    "an open group": (with_proto(b"".join(FIELDS) + varint(9 << 3 | 3)), "group 9 .* cut short"),
    "a group never opened": (with_proto(b"".join(FIELDS) + varint(9 << 3 | 4)), "wire type 4"),
    "very deep groups": (with_proto(varint(9 << 3 | 3) * 100_000), "wire type 3"),
    "eleven bytes of number": (with_proto(b"".join(FIELDS) + varint(9 << 3) + b"\xff" * 10 + b"\0"), "64 bits"),
    "text longer than the message": (with_proto(b"".join(FIELDS) + text(9, b"abc")[:-1]), "cut short"),
    "wrong parameter count": (
        with_proto(b"".join(FIELDS).replace(integer(2, 2694282), integer(2, 2694283))),
        "number of parameters 2694282, the record says 2694283",
    ),
    "negative parameter count": (with_proto(b"".join([*FIELDS[:3], integer(2, -1)])), "the record says -1"),
    "accuracy in percent": (replace(INCEPTION, final=(1.0, 99.0, 93.0, 93.0)).payload(), "lie in 0 … 1"),
    "infinite accuracy": (replace(INCEPTION, half=(1.0, math.inf, 0.5, 0.5)).payload(), "lie in 0 … 1"),
    "negative seconds": (replace(INCEPTION, half=(-1.0, 0.5, 0.5, 0.5)).payload(), "not negative"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, name: str) -> None:
    data, message = BAD_FILES[name]
    with pytest.raises(BadFile, match=message):
        read(tmp_path / "a", data)


@pytest.mark.parametrize("name", BAD_RECORDS)
def test_a_bad_record_is_refused_by_name(tmp_path: Path, name: str) -> None:
    payload, message = BAD_RECORDS[name]
    before = tfrecord([INCEPTION])
    with pytest.raises(BadFile, match=message) as caught:
        read(tmp_path / "a", before + framed(payload) + before)
    assert f"a record 1 (byte {len(before)}): " in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_folder_or_a_missing_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        (draft,) = IMPORTERS.get("nb101")().read(path)
        with pytest.raises(BadFile, match="cannot be read"):
            next(draft.batches)


def test_a_bad_file_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(tfrecord(SMALL)[:-1])
    (draft,) = IMPORTERS.get("nb101")().read(path)
    with pytest.raises(BadFile):
        write_results(tmp_path / "out", draft.about, draft.batches)
    assert list(tmp_path.iterdir()) == [path]


# --- fuzzing ---------------------------------------------------------------------------------------------------------


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Some bytes changed, removed, doubled or put in."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(5):
            case 0:
                out[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del out[at : at + rng.randrange(1, 9)]
            case 2:
                out[at:at] = out[at : at + rng.randrange(1, 60)]
            case 3:
                out[at:at] = rng.choice(
                    (b"\\", b'"', b"=", b"\\n", b"\\/", b"A", b"0", b"1", b" ", b",", b"\x80", b"\x0a")
                )
            case _:
                if at < len(out):
                    out[at] ^= 1 << rng.randrange(8)
    return bytes(out)


def compiled(payloads: list[bytes]) -> list[tuple[object, ...] | None]:
    """What the kernel reads of each record, or ``None`` where it declines."""
    data = np.frombuffer(b"".join(payloads), dtype=np.uint8)
    lengths = np.array([len(payload) for payload in payloads], dtype=np.int64)
    count = len(payloads)
    hashes, codes = np.zeros((count, 32), np.uint8), np.zeros((2 * count, 6), np.int64)
    epochs, parameters = np.zeros((2, count), np.int64)
    bits, declined = np.zeros((4, 2 * count), np.uint64), np.zeros(count, np.bool_)
    starts = np.cumsum(lengths) - lengths
    kernel.read_records(data, starts, lengths, hashes, epochs, codes, parameters, bits, declined)
    return [
        None
        if declined[i]
        else (
            hashes[i].tobytes().decode(),
            int(epochs[i]),
            tuple(codes[2 * i].tolist()),
            int(parameters[i]),
            bits[:, 2 * i].tobytes(),
            bits[:, 2 * i + 1].tobytes(),
        )
        for i in range(count)
    ]


def plainly(payload: bytes) -> tuple[object, ...] | None:
    try:
        record = read_record(payload)
    except BadFile:
        return None
    half, final = struct.pack("<4d", *record.half), struct.pack("<4d", *record.final)
    return record.hash, record.epochs, record.code, record.parameters, half, final


def test_kernel_reads_what_plain_python_reads_of_mutated_records() -> None:
    """12 000 records: usual ones and odd ones, changed in the JSON or in the protocol buffer inside. The kernel may
    decline, but what it reads is what the plain reader reads."""
    rng = random.Random(7)
    protos = [*odd_protos().values(), b"".join(INCEPTION.metrics())]
    payloads = [INCEPTION.payload(), SMALLEST.payload()]
    for _ in range(6000):
        payloads.append(mutated(rng.choice(payloads[:2]), rng))
        payloads.append(with_proto(mutated(rng.choice(protos), rng)))
    read_by_both = 0
    for payload, parsed in zip(payloads, compiled(payloads), strict=True):
        if parsed is not None:
            assert parsed == plainly(payload), payload
            read_by_both += 1
    assert 1000 < read_by_both < 11_000


def test_kernel_declines_nothing_usual() -> None:
    payloads = [training.payload() for training in schedule(INCEPTION, BUDGETS, 5)]
    assert None not in compiled(payloads)


def test_importer_refuses_or_reads_mutated_files(tmp_path: Path, thorough: bool) -> None:
    """Files damaged outside the checksums' reach (a record changed and framed again) or inside it."""
    rng = random.Random(11)
    usual = expected([SMALLEST])[0]
    for turn in range(1000 if thorough else 300):
        payload = mutated(SMALLEST.payload(), rng)
        data = framed(payload) if turn % 2 else mutated(tfrecord([SMALLEST, SMALLEST]), rng)
        try:
            rows = read(tmp_path / "a", data)
        except BadFile as error:
            assert "\n" not in str(error)
            continue
        for row in plain(rows):
            assert row[0] == usual[0]
            assert row[-1] == usual[-1]
            if turn % 2 == 0:
                assert row in expected([SMALLEST])


def test_records_name_their_place_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(tfrecord(SMALL))
    (records,) = framing.read_records(path)
    assert isinstance(records, Records)
    assert records[1] == SMALLEST.payload()
    assert records.name(1) == f"{path} record 1 (byte {len(framed(INCEPTION.payload()))})"
