"""NAS-Bench-101 records parsed in bulk, compiled.

The usual form of a record is read here; whatever looks different is left to
:func:`~nasbed.results.importers.nb101.record.read_record`, which is slow, reads every form, and says what is wrong. So
nothing here explains itself: a record is read or declined. All of it stands in one file because the compiler's cache
looks only at the file of the function called.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nasbed.core.arrays import numba_compiled
from nasbed.spaces.nb101.hashing_kernel import used_vertices

QUOTE, BACKSLASH, ZERO, PAD = 34, 92, 48, 61
OPENING, COMMA, CLOSING = np.uint8(91), np.uint8(44), np.uint8(93)
"""Numbers of numpy, like the others below: numba compiles a function anew for every literal that it is called with."""
HASH_LENGTH = 32
WORDS = np.zeros((5, 16), dtype=np.uint8)
WORD_LENGTHS = np.zeros(5, dtype=np.int64)
for _number, _word in enumerate((b"conv3x3-bn-relu", b"conv1x1-bn-relu", b"maxpool3x3", b"input", b"output")):
    WORDS[_number, : len(_word)] = np.frombuffer(_word, dtype=np.uint8)
    WORD_LENGTHS[_number] = len(_word)
INPUT, OUTPUT = np.int64(3), np.int64(4)


def _edge_bits() -> NDArray[np.int64]:
    """By [vertices, place in the matrix], the edge bit of the padded cell; 63 below the diagonal and on it."""
    table = np.full((8, 49), 63)
    for vertices in range(2, 8):
        for source in range(vertices):
            for target in range(source + 1, vertices):
                padded = target if target < vertices - 1 else 6
                table[vertices, source * vertices + target] = padded * (padded - 1) // 2 + source
    return table


EDGE_BITS = _edge_bits()

DIGITS = np.full(256, 64, dtype=np.uint32)
for _digit, _symbol in enumerate(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"):
    DIGITS[_symbol] = _digit
SHIFTS = np.array([[18], [12], [6], [0]], dtype=np.uint32)
SHIFTED_DIGITS = np.where(DIGITS < 64, DIGITS << SHIFTS, 1 << 24).astype(np.uint32)
"""The four digits of a group where they belong in its 24 bits; a bit above those for what is not a digit."""

VARINT, FIXED64, TEXT, FIXED32 = 0, 1, 2, 5
MEASURED = 0b111100
"""The fields 2 to 5 of an evaluation: seconds, train, validation and test accuracy."""


@numba_compiled()
def _after(data, at, symbol):  # type: ignore[no-untyped-def]
    """The position after white space, ``symbol`` and white space, or past the end if something else is there."""
    while at < len(data) and (data[at] == 32 or 9 <= data[at] <= 10 or data[at] == 13):
        at += 1
    if at >= len(data) or data[at] != symbol:
        return len(data) + 1
    at += 1
    while at < len(data) and (data[at] == 32 or 9 <= data[at] <= 10 or data[at] == 13):
        at += 1
    return at


@numba_compiled()
def _word_at(data, at, word):  # type: ignore[no-untyped-def]
    """Whether a word of :data:`WORDS` stands here."""
    if at + WORD_LENGTHS[word] > len(data):
        return False
    return _same(data[at : at + WORD_LENGTHS[word]], WORDS[word])


@numba_compiled()
def _read_cell(data, at, code):  # type: ignore[no-untyped-def]
    """Read the matrix and the operations, two texts; returns the position after the second, or -1."""
    length = 0
    while at + length < len(data) and data[at + length] != QUOTE:
        length += 1
    vertices = 2
    while vertices * vertices < length:
        vertices += 1
    if vertices > 7 or vertices * vertices != length:
        return -1
    edges, odd = np.int64(0), 0
    matrix, bits = data[at : at + length], EDGE_BITS[vertices]
    for i in range(length):
        odd |= matrix[i] ^ ZERO
        edges |= (matrix[i] & 1) << bits[i]
    if odd > 1 or edges >> 21:
        return -1
    at = _after(data, at + length + 1, COMMA)
    if at >= len(data) or data[at] != QUOTE or not _word_at(data, at + 1, INPUT):
        return -1
    at += 1 + WORD_LENGTHS[INPUT]
    code[0] = edges
    for vertex in range(1, 6):
        code[vertex] = 0
        if vertex < vertices - 1:
            if at + 6 > len(data) or data[at] != COMMA:
                return -1
            operation = 2 if data[at + 1] == 109 else (0 if data[at + 5] == 51 else 1)
            if not _word_at(data, at + 1, operation):
                return -1
            code[vertex] = operation
            at += 1 + WORD_LENGTHS[operation]
    if at >= len(data) or data[at] != COMMA or not _word_at(data, at + 1, OUTPUT):
        return -1
    at += 1 + WORD_LENGTHS[OUTPUT]
    if at >= len(data) or data[at] != QUOTE or not _in_space(edges):
        return -1
    return at + 1


@numba_compiled()
def _copy_code(codes, source, target):  # type: ignore[no-untyped-def]
    """In a loop: an assignment of rows takes the compiler several seconds more."""
    for i in range(codes.shape[1]):
        codes[target, i] = codes[source, i]


@numba_compiled()
def _same(first, second):  # type: ignore[no-untyped-def]
    differ = np.uint8(0)
    for i in range(len(first)):
        differ |= first[i] ^ second[i]
    return differ == 0


@numba_compiled()
def _in_space(edges):  # type: ignore[no-untyped-def]
    """Whether the output is reached, by at most nine edges after pruning."""
    on_path = used_vertices(edges)
    count = 0
    for vertex in range(1, 7):
        if on_path >> vertex & 1:
            sources = (edges >> (vertex * (vertex - 1) // 2)) & ((1 << vertex) - 1) & on_path
            while sources:
                sources &= sources - 1
                count += 1
    return on_path >> 6 & 1 == 1 and on_path & 1 == 1 and count <= 9


@numba_compiled()
def _read_base64(data, at, out):  # type: ignore[no-untyped-def]
    """Decode a text up to its closing quote; returns the position after the quote (or -1) and the bytes decoded."""
    size = 0
    bits, digits, pads = np.uint32(0), 0, 0
    while True:
        if digits == 0:
            source, target = data[at:], out[size:]
            groups = len(source) // 4
            for i in range(len(source) // 4):
                word = (
                    SHIFTED_DIGITS[0, source[4 * i]]
                    | SHIFTED_DIGITS[1, source[4 * i + 1]]
                    | SHIFTED_DIGITS[2, source[4 * i + 2]]
                    | SHIFTED_DIGITS[3, source[4 * i + 3]]
                )
                if word >> np.uint32(24):
                    groups = i
                    break
                target[3 * i] = word >> np.uint32(16)
                target[3 * i + 1] = word >> np.uint32(8) & np.uint32(255)
                target[3 * i + 2] = word & np.uint32(255)
            at += 4 * groups
            size += 3 * groups
        if at >= len(data):
            return -1, 0
        symbol = data[at]
        at += 1
        if symbol == QUOTE:
            break
        if symbol == BACKSLASH:
            if at >= len(data):
                return -1, 0
            escaped = data[at]
            at += 1
            if escaped == 110 or escaped == 114:  # a line break, which base64 allows anywhere
                continue
            if escaped != 47:
                return -1, 0
            symbol = escaped
        if symbol == PAD and digits + pads < 4 and digits >= 2:
            pads += 1
        elif DIGITS[symbol] < 64 and pads == 0:
            bits = np.uint32(bits << np.uint32(6)) | np.uint32(DIGITS[symbol])
            digits += 1
            if digits == 4:
                out[size], out[size + 1], out[size + 2] = bits >> 16 & 255, bits >> 8 & 255, bits & 255
                size += 3
                bits, digits = np.uint32(0), 0
        else:
            return -1, 0
    if digits and digits + pads != 4:
        return -1, 0
    if digits == 2:
        out[size] = bits >> 4 & 255
        size += 1
    elif digits == 3:
        out[size], out[size + 1] = bits >> 10 & 255, bits >> 2 & 255
        size += 2
    return at, size


@numba_compiled()
def _read_varint(data, at, end):  # type: ignore[no-untyped-def]
    """A number and the position after it, or -1."""
    value = np.uint64(0)
    for i in range(10):
        if at >= end or (i == 9 and data[at] > 1):
            return value, -1
        value |= np.uint64(data[at] & 127) << np.uint64(7 * i)
        at += 1
        if data[at - 1] < 128:
            return value, at
    return value, -1


@numba_compiled()
def _read_key(data, at, end):  # type: ignore[no-untyped-def]
    """Field number, wire type, start and end of the value of the field here; the number is 0 if there is none."""
    if at < end and data[at] < 128:
        key, at = np.uint64(data[at]), at + 1
    else:
        key, at = _read_varint(data, at, end)
    if at < 0 or key > np.uint64(0xFFFFFFFF):
        return 0, 0, 0, 0
    field, wire = np.int64(key >> np.uint64(3)), np.int64(key & np.uint64(7))
    if wire == FIXED64:
        after = at + 8
    elif wire == FIXED32:
        after = at + 4
    elif wire == VARINT:
        _, after = _read_varint(data, at, end)
    elif wire == TEXT:
        size, at = _read_varint(data, at, end)
        if at < 0 or size > np.uint64(end - at):
            return 0, 0, 0, 0
        after = at + np.int64(size)
    else:
        return 0, 0, 0, 0
    if after < 0 or after > end:
        return 0, 0, 0, 0
    return field, wire, at, after


@numba_compiled()
def _double_bits(data):  # type: ignore[no-untyped-def]
    value = np.uint64(0)
    for i in range(8):
        value |= np.uint64(data[i]) << np.uint64(8 * i)
    return value


@numba_compiled()
def _read_evaluation(data, at, end, bits, row):  # type: ignore[no-untyped-def]
    """Fill ``bits[:, row]`` with the time and the accuracies; returns the set of fields seen, or -1."""
    if end - at == 45:  # as a rule: five doubles in the order of their numbers, and no path
        usual = data[at:end]
        if usual[0] == 9 and usual[9] == 17 and usual[18] == 25 and usual[27] == 33 and usual[36] == 41:
            for field in range(4):
                bits[field, row] = _double_bits(usual[9 * field + 10 : 9 * field + 18])
            return MEASURED
    fields = 0
    while at < end:
        field, wire, start, after = _read_key(data, at, end)
        if field == 0 or (field <= 5 and wire != FIXED64) or (field == 6 and wire != TEXT):
            return -1
        if 2 <= field <= 5:
            bits[field - 2, row] = _double_bits(data[start:after])
            fields |= 1 << field
        at = after
    return fields


@numba_compiled()
def _read_metrics(data, end, bits, record, parameters):  # type: ignore[no-untyped-def]
    """Read a ModelMetrics message: the second and third of its three evaluations, and the parameter count."""
    at, evaluations, counted = np.int64(0), 0, False
    while at < end:
        field, wire, start, after = _read_key(data, at, end)
        if field == 0:
            return False
        if field == 1:
            if wire != TEXT or evaluations == 3:
                return False
            row = 2 * record + max(evaluations - 1, 0)  # the first is overwritten by the second
            fields = _read_evaluation(data, start, after, bits, row)
            if fields != MEASURED and (evaluations or fields < 0):
                return False
            evaluations += 1
        elif field == 2:
            if wire != VARINT:
                return False
            value, _ = _read_varint(data, start, after)
            parameters[record] = np.int32(np.uint32(value & np.uint64(0xFFFFFFFF)))
            counted = True
        elif field == 3 and wire != FIXED64:
            return False
        at = after
    return counted and evaluations == 3


@numba_compiled()
def _read_record(data, before, record, hashes, epochs, codes, parameters, bits, scratch):  # type: ignore[no-untyped-def]
    """Read the record ``data``; ``before`` is the text of the cell in the record before it, ``codes`` its code. Returns
    the text of this one's cell, empty if the record is declined."""
    empty = data[:0]
    at = _after(data, np.int64(0), OPENING)
    if at + HASH_LENGTH + 2 > len(data) or data[at] != QUOTE:
        return empty
    for i in range(HASH_LENGTH):
        symbol = data[at + 1 + i]
        if not (48 <= symbol <= 57 or 97 <= symbol <= 102):
            return empty
        hashes[record, i] = symbol
    if data[at + HASH_LENGTH + 1] != QUOTE:
        return empty
    at = _after(data, at + HASH_LENGTH + 2, COMMA)
    number, first = 0, at
    while at < len(data) and at - first < 4 and 48 <= data[at] <= 57:
        number = 10 * number + data[at] - 48
        at += 1
    if data[min(first, len(data) - 1)] == 48 or not (number == 4 or number == 12 or number == 36 or number == 108):
        return empty
    epochs[record] = number
    at = _after(data, at, COMMA)
    if at >= len(data) or data[at] != QUOTE:
        return empty
    first = at + 1
    if len(before) and len(data) - first >= len(before) and _same(before, data[first : first + len(before)]):
        at = first + len(before)  # repeats often stand together
        _copy_code(codes, 2 * record - 1, 2 * record)
    else:
        at = _read_cell(data, first, codes[2 * record])
    if at < 0:
        return empty
    cell = data[first:at]
    _copy_code(codes, 2 * record, 2 * record + 1)
    at = _after(data, at, COMMA)
    if at >= len(data) or data[at] != QUOTE:
        return empty
    at, size = _read_base64(data, at + 1, scratch)
    if at < 0 or _after(data, at, CLOSING) != len(data):
        return empty
    if not _read_metrics(scratch, size, bits, record, parameters):
        return empty
    return cell


@numba_compiled()
def read_records(data, starts, lengths, hashes, epochs, codes, parameters, bits, declined):  # type: ignore[no-untyped-def]
    """Read every record that has the usual form, and mark the others.

    Args:
        data: The bytes of the file.
        starts, lengths: Where each record is in ``data``, ``[n]``.
        hashes, epochs, parameters: Filled in, one entry a record.
        codes: Filled in, two rows a record, half-way and final, ``[2n, 6]``.
        bits: Filled in, ``[4, 2n]``: the seconds and the train, validation and test accuracies as float64 bit patterns.
        declined: Filled in, whether a record has another form.
    """
    longest = 1
    for length in lengths:
        longest = max(longest, length)
    scratch = np.empty(longest, dtype=np.uint8)
    cell = data[:0]
    for record in range(len(starts)):
        text = data[starts[record] : starts[record] + lengths[record]]
        cell = _read_record(text, cell, record, hashes, epochs, codes, parameters, bits, scratch)
        declined[record] = len(cell) == 0
