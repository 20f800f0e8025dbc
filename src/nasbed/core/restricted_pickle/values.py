"""What a restricted pickle can be made of: how its values are built, and the last look at what has been built."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from nasbed.core.errors import BadFile, shorten
from nasbed.core.restricted_pickle.arrays import ARRAY_CALLS, PendingDtype, fill_array, in_modules

MOST_NESTING = 64
MOST_KEY_PARTS = 64
LARGEST_KEY = 1 << 60
STATE_DICT_ATTRIBUTE = "_metadata"
"""What torch adds to the ordered dictionary of a network's weights."""
SCALARS = frozenset({type(None), bool, int, float, complex, str, bytes})
_TEXTS = frozenset({str, bytes})

Call = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Global:
    """A name that a pickle refers to, with what stands for it here, if it may be called at all."""

    name: str
    call: Call | None


@dataclass(slots=True)
class PickledObject:
    """What a pickle says of an object whose class the caller lets stand in the file: nothing of the class is loaded."""

    name: str
    args: tuple[object, ...]
    state: object = None


def extend(target: object, items: list[Any]) -> None:
    if type(target) is not list:
        raise TypeError(f"items are appended to a list, not to {type(target).__name__}")
    target.extend(items)


def set_items(target: object, items: list[Any]) -> None:
    if type(target) is not dict and type(target) is not OrderedDict:
        raise TypeError(f"items are set in a dictionary, not in {type(target).__name__}")
    keys = items[::2]
    _check_keys(keys)
    target.update(zip(keys, items[1::2], strict=True))


def add_items(target: object, items: list[Any]) -> None:
    if type(target) is not set:
        raise TypeError(f"items are added to a set, not to {type(target).__name__}")
    _check_keys(items)
    target.update(items)


def _check_keys(keys: list[Any]) -> None:
    """Raise unless hashing these is cheap: a tuple's hash visits every part, shared or not, without any limit."""
    if _TEXTS.issuperset(map(type, keys)):
        return
    for key in keys:
        parts = [key]
        for part in parts:
            if type(part) is tuple:
                parts.extend(part)
            elif type(part) is int:
                if abs(part) >= LARGEST_KEY:
                    raise TypeError("an integer key is too large")
            elif type(part) not in SCALARS and not isinstance(part, np.number | np.bool_):
                raise TypeError(f"a key is a number, text or a tuple of those, not {type(part).__name__}")
            if len(parts) > MOST_KEY_PARTS:
                raise TypeError("a key has too many parts")


def call_function(function: object, args: object) -> object:
    if type(function) is not Global or function.call is None or type(args) is not tuple:
        name = function.name if type(function) is Global else type(function).__name__
        raise BadFile(f"a pickle of plain values does not call {shorten(name)}")
    return function.call(*args)


def built(target: object, state: object) -> object:
    """What BUILD leaves: a record, a dtype or an array that has been given its state; weights by name as they are."""
    if type(target) is PickledObject and target.state is None:
        target.state = state
    elif type(target) is PendingDtype:
        target.set_state(state)
    elif type(target) is np.ndarray:
        fill_array(target, state)
    elif type(target) is OrderedDict and type(state) is dict and list(state) == [STATE_DICT_ATTRIBUTE]:
        pass  # the versions of torch's modules, which are no part of the weights
    else:
        raise BadFile(f"a pickle of plain values does not set the state of {type(target).__name__}")
    return target


def appended(target: object, item: object) -> object:
    extend(target, [item])
    return target


def item_set(target: object, key: object, value: object) -> object:
    set_items(target, [key, value])
    return target


def as_dict(items: list[Any]) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    set_items(result, items)
    return result


def as_set(items: object = ()) -> set[Any]:
    if type(items) not in (list, tuple):
        raise TypeError("a set is made from a list")
    result: set[Any] = set()
    add_items(result, list(items))  # type: ignore[call-overload]
    return result


def _as_ordered(items: object = ()) -> OrderedDict[Any, Any]:
    result: OrderedDict[Any, Any] = OrderedDict()
    if type(items) not in (list, tuple):
        raise TypeError("an ordered dictionary is made from a list of pairs")
    for pair in items:  # type: ignore[attr-defined]
        key, value = pair
        set_items(result, [key, value])
    return result


def _as_complex(real: object, imaginary: object) -> complex:
    if type(real) is not float or type(imaginary) is not float:
        raise TypeError("a complex number has two floats")
    return complex(real, imaginary)


def _as_bytes(text: object = "", encoding: object = "latin1") -> bytes:
    """How protocols 0 to 2 write bytes: as text of the code points 0 to 255."""
    if type(text) is not str or type(encoding) is not str or encoding not in ("latin1", "latin-1"):
        raise TypeError("bytes are written as latin-1")
    return text.encode("latin-1")


def figure(value: object) -> float:
    """A measured number as it stands in such a value; NaN, that is missing, for anything but a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def recorder(name: str) -> Call:
    return lambda *args: PickledObject(name, args)


def check_plain(value: object, most: int) -> None:
    """Raise unless a value is made of plain parts only, and is neither too deep nor too large.

    It is checked level by level, and shared parts count each time: a value that holds itself is too deep, one that
    multiplies is too large.
    """
    level = [value]
    parts = 1
    for _ in range(MOST_NESTING):
        inside = [_parts(item) for item in level if type(item) not in SCALARS]
        parts += sum(map(len, inside))
        if parts > most:
            raise BadFile(f"a plain value has at most {most} parts")
        level = list(chain.from_iterable(inside))
        if not level:
            return
    raise BadFile(f"a plain value has at most {MOST_NESTING} levels and does not hold itself")


def _parts(item: object) -> Collection[Any]:
    """What a container holds; keys and members of sets have been checked before they got there."""
    if isinstance(item, list | tuple):
        return item
    if isinstance(item, dict):
        return item.values()
    if isinstance(item, set | frozenset | np.ndarray | np.number | np.bool_ | np.character):
        return ()
    if type(item) is PickledObject:
        return (item.args, item.state)
    name = item.name if type(item) is Global else type(item).__name__
    raise BadFile(f"a plain value does not hold {shorten(name)}")


CALLS: dict[str, Call | None] = {
    **ARRAY_CALLS,
    "collections.OrderedDict": _as_ordered,
    "_codecs.encode": _as_bytes,
    **in_modules(
        ("builtins", "__builtin__"),
        {
            "set": as_set,
            "frozenset": lambda items=(): frozenset(as_set(items)),
            "complex": _as_complex,
            "bytes": _as_bytes,
        },
    ),
}
