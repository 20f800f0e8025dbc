"""The interpreter: one pickle, read operation by operation."""

from __future__ import annotations

import pickle
import pickletools
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NoReturn

from nasbed.core.errors import BadFile, shorten
from nasbed.core.restricted_pickle.values import (
    CALLS,
    Call,
    Global,
    add_items,
    appended,
    as_dict,
    as_set,
    built,
    call_function,
    check_plain,
    extend,
    item_set,
    recorder,
    set_items,
)

MOST_EXPANDED = 1_000_000
EXPANDED_PER_BYTE = 8
"""How many parts a value may have, besides MOST_EXPANDED, for each byte of the pickle: parts that are shared count each
time."""

Persistent = Callable[[object], object]
_HANDLED = (IndexError, KeyError, ValueError, TypeError, AttributeError, OverflowError, MemoryError, struct.error)


class Pickle:
    """One pickle inside ``data``, from ``start``; ``end`` is where it stopped.

    ``calls`` adds names that may stand in the pickle: what is called for them, or None for a name that is only
    mentioned. ``records`` names classes whose objects become :class:`PickledObject`. ``persistent`` answers persistent
    ids.

    Args:
        data: The bytes that hold the pickle.
        source: The name of the file, for errors.
        start: Where the pickle begins in ``data``.
        calls: What is called for each additional name, None for a name that is only mentioned.
        records: The full names of classes whose objects are recorded.
        persistent: Gives the value of a persistent id; None refuses such ids.
    """

    def __init__(
        self,
        data: bytes,
        source: str,
        *,
        start: int = 0,
        calls: Mapping[str, Call | None] | None = None,
        records: Iterable[str] = (),
        persistent: Persistent | None = None,
    ) -> None:
        self.source = source
        self.end = start
        self._data = data
        self._persistent = persistent
        self._names: dict[str, Call | None] = {**CALLS, **(calls or {})}
        for name in records:
            self._names[name] = recorder(name)
        self._marks: list[list[Any]] = []
        self._memo: dict[int, Any] = {}

    def load(self) -> Any:
        """The value; raises :class:`~nasbed.core.errors.BadFile` for anything but a whole pickle of plain values."""
        try:
            value = self._run()
            check_plain(value, MOST_EXPANDED + EXPANDED_PER_BYTE * len(self._data))
        except BadFile as error:
            raise BadFile(f"{self.source}: {error}; it is not read") from None
        except _HANDLED as error:
            reason = " ".join(str(error).split())[:80] or type(error).__name__
            raise BadFile(f"{self.source} is not a whole pickle of plain values: {reason}; get it again") from None
        return value

    def _run(self) -> Any:
        """Interpret opcodes up to STOP. The few that make up nearly all of a table of results stand here, the others
        in :meth:`_rare`."""
        data, memo, marks = self._data, self._memo, self._marks
        position, size = self.end, len(data)
        stack: list[Any] = []
        while True:
            opcode = data[position]
            position += 1
            if opcode == _BINFLOAT:
                stack.append(_unpack_double(data, position)[0])
                position += 8
            elif opcode == _MEMOIZE:
                memo[len(memo)] = stack[-1]
            elif opcode == _BINGET:
                stack.append(memo[data[position]])
                position += 1
            elif opcode == _MARK:
                floats = _FLOATS.match(data, position) if data[position] == _BINFLOAT else None
                if floats and type(stack[-1]) is list:
                    stack[-1].extend(_doubles((floats.end() - position) // 9).unpack_from(data, position))
                    position = floats.end()
                else:
                    marks.append(stack)
                    stack = []
            elif opcode == _SHORT_BINUNICODE:
                start, position = position + 1, position + 1 + data[position]
                if position > size:
                    raise ValueError("it is cut off")
                stack.append(data[start:position].decode("utf-8", "surrogatepass"))
            elif opcode == _EMPTY_LIST:
                stack.append([])
            elif opcode == _EMPTY_DICT:
                stack.append({})
            elif opcode == _APPENDS:
                items, stack = stack, marks.pop()
                extend(stack[-1], items)
            elif opcode == _SETITEMS:
                items, stack = stack, marks.pop()
                set_items(stack[-1], items)
            elif opcode == _LONG_BINGET:
                stack.append(memo[int.from_bytes(self._slice(position, position + 4), "little")])
                position += 4
            elif opcode == _BINPUT:
                memo[data[position]] = stack[-1]
                position += 1
            elif opcode == _LONG_BINPUT:
                memo[int.from_bytes(self._slice(position, position + 4), "little")] = stack[-1]
                position += 4
            elif opcode == _STOP:
                self.end = position
                if marks or len(stack) != 1:
                    raise BadFile(f"a pickle ends with one value, this one with {len(stack)} and {len(marks)} marks")
                return stack[0]
            else:
                self.end = position
                stack = self._rare(opcode, stack)
                position = self.end

    # --- reading -----------------------------------------------------------------------------------------------------

    def _slice(self, start: int, end: int) -> bytes:
        if end > len(self._data):
            raise ValueError("it is cut off")
        return self._data[start:end]

    def _take(self, count: int) -> bytes:
        data = self._slice(self.end, self.end + count)
        self.end += count
        return data

    def _take_sized(self, width: int, signed: bool = False) -> bytes:
        """The bytes after a length of ``width`` bytes."""
        count = int.from_bytes(self._take(width), "little", signed=signed)
        if count < 0:
            raise ValueError(f"a length of {count}")
        return self._take(count)

    def _raw_line(self) -> bytes:
        stop = self._data.index(b"\n", self.end)
        line = self._data[self.end : stop]
        self.end = stop + 1
        return line

    def _line(self) -> str:
        return self._raw_line().decode("utf-8")

    # --- everything else ---------------------------------------------------------------------------------------------

    def _rare(self, opcode: int, stack: list[Any]) -> list[Any]:
        """One of the less frequent opcodes; the stack that holds now is returned."""
        name = _NAMES.get(opcode)
        if name is None:
            raise ValueError(f"the opcode {opcode:#04x} is unknown")
        if name in _PUSHED:
            stack.append(_PUSHED[name](self))
        elif name in _REPLACED:
            count, build = _REPLACED[name]
            if len(stack) < count:
                raise IndexError("the stack is empty")
            stack[len(stack) - count :] = [build(*stack[len(stack) - count :])]
        elif name in ("TUPLE", "LIST", "DICT", "FROZENSET"):
            items, stack = stack, self._marks.pop()
            stack.append(_COLLECTED[name](items))
        elif name == "ADDITEMS":
            items, stack = stack, self._marks.pop()
            add_items(stack[-1], items)
        elif name in ("POP", "POP_MARK"):
            if name == "POP" and stack:
                stack.pop()
            else:
                stack = self._marks.pop()
        elif name == "DUP":
            stack.append(stack[-1])
        elif name == "PUT":
            self._memo[int(self._line())] = stack[-1]
        elif name == "PROTO":
            if self._take(1)[0] > pickle.HIGHEST_PROTOCOL:
                raise ValueError("its protocol is unknown")
        elif name == "FRAME":
            self._take(8)
        elif name == "STACK_GLOBAL":
            attribute, module = stack.pop(), stack.pop()
            stack.append(self._global(module, attribute))
        elif name == "BINPERSID":
            stack.append(self._persistent_value(stack.pop()))
        else:
            self._refuse(name, stack)
        return stack

    def _global(self, module: object, attribute: object) -> Global:
        if type(module) is not str or type(attribute) is not str:
            raise TypeError("a name is text")
        name = f"{module}.{attribute}"
        if name not in self._names:
            raise BadFile(f"a pickle of plain values does not refer to {shorten(name)}")
        return Global(name, self._names[name])

    def _persistent_value(self, key: object) -> object:
        if self._persistent is None:
            raise BadFile("a pickle of plain values has no persistent ids")
        return self._persistent(key)

    def _refuse(self, name: str, stack: list[Any]) -> NoReturn:
        culprit = name
        if name == "INST":
            culprit = f"{self._line()}.{self._line()} (INST)"
        elif name == "OBJ" and stack and type(stack[0]) is Global:
            culprit = f"{stack[0].name} (OBJ)"
        elif name in ("EXT1", "EXT2", "EXT4"):
            culprit = f"extension code {int.from_bytes(self._take(int(name[-1])), 'little')}"
        raise BadFile(f"a pickle of plain values does not use {shorten(culprit)}")


def loads(
    data: bytes,
    source: str,
    *,
    calls: Mapping[str, Call | None] | None = None,
    records: Iterable[str] = (),
    persistent: Persistent | None = None,
) -> Any:
    """The value of a pickle that fills ``data``.

    Args:
        data: the bytes.
        source: what error messages call them.
        calls: further functions that the pickle may call, by name; None refuses one.
        records: the names of classes whose objects are read as records.
        persistent: reads a persistent id.
    """
    reader = Pickle(data, source, calls=calls, records=records, persistent=persistent)
    value = reader.load()
    if reader.end != len(data):
        raise BadFile(f"{source} has {len(data) - reader.end} trailing bytes after its pickle; it is not read")
    return value


# --- tables ----------------------------------------------------------------------------------------------------------

_NAMES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}
_OPCODES = {name: code for code, name in _NAMES.items()}
_BINFLOAT, _MEMOIZE, _BINGET, _MARK = (_OPCODES[name] for name in ("BINFLOAT", "MEMOIZE", "BINGET", "MARK"))
_SHORT_BINUNICODE, _EMPTY_LIST, _EMPTY_DICT = (
    _OPCODES[name] for name in ("SHORT_BINUNICODE", "EMPTY_LIST", "EMPTY_DICT")
)
_APPENDS, _SETITEMS, _LONG_BINGET = (_OPCODES[name] for name in ("APPENDS", "SETITEMS", "LONG_BINGET"))
_BINPUT, _LONG_BINPUT, _STOP = (_OPCODES[name] for name in ("BINPUT", "LONG_BINPUT", "STOP"))

_FLOATS = re.compile(rb"(?:G.{8}){1,1000}e", re.DOTALL)
"""Nothing but floats, then APPENDS: taken at one go, for lists of floats are most of what is read."""
_unpack_double = struct.Struct(">d").unpack_from


@cache
def _doubles(count: int) -> struct.Struct:
    return struct.Struct(">" + "xd" * count)


def _integer_or_bool(text: str) -> int | bool:
    if text in ("00", "01"):
        return text == "01"
    return int(text)


_PUSHED: dict[str, Callable[[Pickle], object]] = {
    "NONE": lambda _: None,
    "NEWTRUE": lambda _: True,
    "NEWFALSE": lambda _: False,
    "EMPTY_TUPLE": lambda _: (),
    "EMPTY_SET": lambda _: set(),
    "INT": lambda p: _integer_or_bool(p._line()),
    "LONG": lambda p: int(p._line().rstrip("L")),
    "FLOAT": lambda p: float(p._line()),
    "BININT": lambda p: int.from_bytes(p._take(4), "little", signed=True),
    "BININT1": lambda p: p._take(1)[0],
    "BININT2": lambda p: int.from_bytes(p._take(2), "little"),
    "LONG1": lambda p: int.from_bytes(p._take_sized(1), "little", signed=True),
    "LONG4": lambda p: int.from_bytes(p._take_sized(4, signed=True), "little", signed=True),
    "UNICODE": lambda p: p._raw_line().decode("raw-unicode-escape"),
    "BINUNICODE": lambda p: p._take_sized(4).decode("utf-8", "surrogatepass"),
    "BINUNICODE8": lambda p: p._take_sized(8).decode("utf-8", "surrogatepass"),
    "BINSTRING": lambda p: p._take_sized(4, signed=True).decode("latin-1"),  # Python 2's, bytes and text alike
    "SHORT_BINSTRING": lambda p: p._take_sized(1).decode("latin-1"),
    "SHORT_BINBYTES": lambda p: p._take_sized(1),
    "BINBYTES": lambda p: p._take_sized(4),
    "BINBYTES8": lambda p: p._take_sized(8),
    "BYTEARRAY8": lambda p: p._take_sized(8),
    "GET": lambda p: p._memo[int(p._line())],
    "GLOBAL": lambda p: p._global(p._line(), p._line()),
    "PERSID": lambda p: p._persistent_value(p._line()),
}
_REPLACED: dict[str, tuple[int, Callable[..., object]]] = {
    "TUPLE1": (1, lambda *items: items),
    "TUPLE2": (2, lambda *items: items),
    "TUPLE3": (3, lambda *items: items),
    "APPEND": (2, appended),
    "SETITEM": (3, item_set),
    "REDUCE": (2, call_function),
    "NEWOBJ": (2, call_function),
    "BUILD": (2, built),
}
_COLLECTED: dict[str, Callable[[list[Any]], object]] = {
    "TUPLE": tuple,
    "LIST": list,
    "DICT": as_dict,
    "FROZENSET": lambda items: frozenset(as_set(items)),
}
