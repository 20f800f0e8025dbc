"""The module hash for many cells at once, compiled.

The standard library hashes one message a call, at a microsecond of overhead each, and a cell takes 57 messages. Here
messages of equal length go through MD5 sixty-four side by side, which the compiler turns into vector instructions. All
of it stands in one file because the compiler's cache looks only at the file of the function called.
"""

from __future__ import annotations

import numpy as np

from nasbed.core.arrays import numba_compiled

LANES = 64
BLOCK_WORDS = 16

SHIFTS = np.array([[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]], dtype=np.uint32)
SINES = np.array([int(abs(np.sin(i + 1)) * 2**32) for i in range(64)], dtype=np.uint32)
START = np.array([0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476], dtype=np.uint32)


@numba_compiled(inline="always")
def _turn(a, x, mixed, sine, word, shift):  # type: ignore[no-untyped-def]
    """What every step of MD5 does with its mixed registers. Spelt out in uint32: the compiler would widen each sum to
    64 bits."""
    total = np.uint32(np.uint32(a + mixed) + np.uint32(sine + word))
    return np.uint32(x + np.uint32(np.uint32(total << shift) | np.uint32(total >> np.uint32(np.uint32(32) - shift))))


@numba_compiled()
def md5_block(state, words):  # type: ignore[no-untyped-def]
    """Digest one 64-byte block of each lane: ``words [16, LANES]`` into ``state [4, LANES]``."""
    previous_state = state.copy()
    for step in range(16):
        a, b, c, d = state[-step & 3], state[(1 - step) & 3], state[(2 - step) & 3], state[(3 - step) & 3]
        word, sine, shift = words[step], SINES[step], SHIFTS[0, step & 3]
        for i in range(LANES):
            a[i] = _turn(a[i], b[i], np.uint32(d[i] ^ (b[i] & (c[i] ^ d[i]))), sine, word[i], shift)
    for step in range(16):
        a, b, c, d = state[-step & 3], state[(1 - step) & 3], state[(2 - step) & 3], state[(3 - step) & 3]
        word, sine, shift = words[(5 * step + 1) & 15], SINES[16 + step], SHIFTS[1, step & 3]
        for i in range(LANES):
            a[i] = _turn(a[i], b[i], np.uint32(c[i] ^ (d[i] & (b[i] ^ c[i]))), sine, word[i], shift)
    for step in range(16):
        a, b, c, d = state[-step & 3], state[(1 - step) & 3], state[(2 - step) & 3], state[(3 - step) & 3]
        word, sine, shift = words[(3 * step + 5) & 15], SINES[32 + step], SHIFTS[2, step & 3]
        for i in range(LANES):
            a[i] = _turn(a[i], b[i], np.uint32(b[i] ^ c[i] ^ d[i]), sine, word[i], shift)
    for step in range(16):
        a, b, c, d = state[-step & 3], state[(1 - step) & 3], state[(2 - step) & 3], state[(3 - step) & 3]
        word, sine, shift = words[(7 * step) & 15], SINES[48 + step], SHIFTS[3, step & 3]
        for i in range(LANES):
            a[i] = _turn(a[i], b[i], np.uint32(c[i] ^ (b[i] | np.uint32(~d[i]))), sine, word[i], shift)
    state += previous_state


GROUP = 256
MAX_BLOCKS = 5
MAX_BYTES = MAX_BLOCKS * 64
HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)


@numba_compiled()
def used_vertices(edges):  # type: ignore[no-untyped-def]
    """The bit set of the vertices on a path from the input to the output."""
    reached = 1
    for vertex in range(1, 7):
        if (edges >> (vertex * (vertex - 1) // 2)) & ((1 << vertex) - 1) & reached:
            reached |= 1 << vertex
    leading = 1 << 6
    for vertex in range(6, 0, -1):
        if leading >> vertex & 1:
            leading |= (edges >> (vertex * (vertex - 1) // 2)) & ((1 << vertex) - 1)
    return reached & leading


@numba_compiled()
def _compact(code, sources, labels):  # type: ignore[no-untyped-def]
    """Prune one code: fill each kept vertex's predecessor bit set and label, and return how many vertices are kept."""
    edges = code[0]
    used = used_vertices(edges)
    count = 0
    for vertex in range(7):
        if not used >> vertex & 1:
            continue
        incoming = (edges >> (vertex * (vertex - 1) // 2)) & ((1 << vertex) - 1) if vertex else 0
        packed, place = 0, 0
        for source in range(vertex):
            if used >> source & 1:
                packed |= (incoming >> source & 1) << place
                place += 1
        sources[count] = packed
        labels[count] = -1 if vertex == 0 else (-2 if vertex == 6 else code[vertex])
        count += 1
    return count


@numba_compiled()
def _rank(digests, order, count):  # type: ignore[no-untyped-def]
    """Fill ``order`` with the vertices sorted by digest."""
    for vertex in range(count):
        place = vertex
        while place > 0:
            previous = order[place - 1]
            smaller = False
            for i in range(32):
                if digests[vertex, i] != digests[previous, i]:
                    smaller = digests[vertex, i] < digests[previous, i]
                    break
            if not smaller:
                break
            order[place] = previous
            place -= 1
        order[place] = vertex


@numba_compiled()
def _append(text, length, digests, vertex):  # type: ignore[no-untyped-def]
    """Append the digest of a vertex to a message, and return its new length."""
    for i in range(32):
        text[length + i] = digests[vertex, i]
    return length + 32


@numba_compiled()
def _finish(text, length):  # type: ignore[no-untyped-def]
    """Append MD5's padding to a message and return how many blocks it fills."""
    blocks = (length + 9 + 63) // 64
    end = blocks * 64
    text[length] = 0x80
    for i in range(length + 1, end):
        text[i] = 0
    bits = length * 8
    text[end - 8] = bits & 255
    text[end - 7] = bits >> 8
    return blocks


@numba_compiled()
def _digest_all(words, blocks, count, digests):  # type: ignore[no-untyped-def]
    """Digest ``count`` finished messages into hexadecimal ``digests``, those of equal length together."""
    state = np.empty((4, LANES), dtype=np.uint32)
    lanes = np.empty((BLOCK_WORDS, LANES), dtype=np.uint32)
    members = np.empty(LANES, dtype=np.int64)
    for length in range(1, MAX_BLOCKS + 1):
        message = 0
        while True:
            filled = 0
            while message < count and filled < LANES:
                if blocks[message] == length:
                    members[filled] = message
                    filled += 1
                message += 1
            if filled == 0:
                break
            for lane in range(filled, LANES):
                members[lane] = members[0]
            for register in range(4):
                state[register, :] = START[register]
            for block in range(length):
                for lane in range(LANES):
                    row = members[lane]
                    for word in range(BLOCK_WORDS):
                        lanes[word, lane] = words[row, block * BLOCK_WORDS + word]
                md5_block(state, lanes)
            for lane in range(filled):
                row = members[lane]
                for register in range(4):
                    value = state[register, lane]
                    for byte in range(4):
                        digit = 8 * register + 2 * byte
                        digests[row, digit] = HEX[value >> np.uint32(4) & np.uint32(15)]
                        digests[row, digit + 1] = HEX[value & np.uint32(15)]
                        value >>= np.uint32(8)


@numba_compiled()
def _start(codes, first, group, start_digests, sources, labels, counts, digests):  # type: ignore[no-untyped-def]
    """Prune the codes of a group, write the first digest of each vertex, and return the most vertices of a cell.

    Args:
        codes, first, group: All codes, and which of them are the group.
        start_digests: The first digest of a vertex by its degrees and label.
        sources, labels, counts: Get the predecessors, labels and number of vertices of each cell.
        digests: Gets the digests.
    """
    most = 0
    for cell in range(group):
        count = _compact(codes[first + cell], sources[cell], labels[cell])
        counts[cell] = count
        most = max(most, count)
        for vertex in range(count):
            incoming, outgoing = 0, 0
            for neighbor in range(7):
                incoming += sources[cell, vertex] >> neighbor & 1
                if neighbor < count:
                    outgoing += sources[cell, neighbor] >> vertex & 1
            label = labels[cell, vertex] + 2
            for i in range(32):
                digests[7 * cell + vertex, i] = start_digests[outgoing, incoming, label, i]
    return most


@numba_compiled()
def _write_vertices(texts, blocks, digests, sources, count, order):  # type: ignore[no-untyped-def]
    """Write the next message of every vertex of a cell: the digests before it, those after it, its own."""
    _rank(digests, order, count)
    for vertex in range(count):
        text = texts[vertex]
        length = np.int64(0)
        for place in range(count):
            if sources[vertex] >> order[place] & 1:
                length = _append(text, length, digests, order[place])
        text[length] = 124
        length += 1
        for place in range(count):
            if sources[order[place]] >> vertex & 1:
                length = _append(text, length, digests, order[place])
        text[length] = 124
        length = _append(text, length + 1, digests, vertex)
        blocks[vertex] = _finish(text, length)


@numba_compiled()
def _write_cell(text, digests, count, order):  # type: ignore[no-untyped-def]
    """Write the message of a cell, the list of its sorted digests, and return how many blocks it fills."""
    _rank(digests, order, count)
    text[0] = 91
    length = 1
    for place in range(count):
        if place:
            text[length] = 44
            text[length + 1] = 32
            length += 2
        text[length] = 39
        length = _append(text, length + 1, digests, order[place])
        text[length] = 39
        length += 1
    text[length] = 93
    return _finish(text, length + 1)


@numba_compiled()
def hash_cells(codes, start_digests, out):  # type: ignore[no-untyped-def]
    """Write the hash of every code, as 32 hexadecimal bytes, into ``out [n, 32]``."""
    slots = GROUP * 7
    words = np.empty((slots, MAX_BYTES // 4), dtype=np.uint32)
    texts = words.view(np.uint8)
    blocks = np.empty(slots, dtype=np.int64)
    digests = np.empty((slots, 32), dtype=np.uint8)
    sources = np.empty((GROUP, 7), dtype=np.int64)
    labels = np.empty((GROUP, 7), dtype=np.int64)
    counts = np.empty(GROUP, dtype=np.int64)
    order = np.empty(7, dtype=np.int64)
    for first in range(0, len(codes), GROUP):
        group = min(GROUP, len(codes) - first)
        most = _start(codes, first, group, start_digests, sources, labels, counts, digests)
        for turn in range(most + 1):
            messages = 7 * group if turn < most else group
            for message in range(messages):
                blocks[message] = 0
            for cell in range(group):
                slot = 7 * cell
                own = digests[slot : slot + 7]
                if turn == most:
                    blocks[cell] = _write_cell(texts[cell], own, counts[cell], order)
                elif turn < counts[cell]:
                    _write_vertices(
                        texts[slot : slot + 7], blocks[slot : slot + 7], own, sources[cell], counts[cell], order
                    )
            _digest_all(words, blocks, messages, digests)
        for cell in range(group):
            for i in range(32):
                out[first + cell, i] = digests[cell, i]
