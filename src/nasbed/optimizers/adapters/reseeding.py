"""Copies of an object with random generators, seeded anew."""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import deepcopy
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
SEED_NAMES = ("seed", "_seed")


def reseeded_copy(source: T, seed: int) -> T:
    """A copy in which every random generator of numpy and Python, and every attribute called ``seed`` or ``_seed``, has
    this seed. Objects inside the object are searched too.

    >>> numbers = reseeded_copy({"a": np.random.RandomState(5), "b": [random.Random(6)]}, 7)
    >>> numbers["a"].random() == np.random.RandomState(7).random()
    True
    >>> numbers["b"][0].random() == random.Random(7).random()
    True
    """
    copy = deepcopy(source)
    seen: set[int] = set()
    waiting: list[Any] = [copy]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, (type, ModuleType, FunctionType)):
            continue
        seen.add(id(item))
        if isinstance(item, (np.random.RandomState, random.Random)):
            item.seed(seed)
        elif isinstance(item, np.random.Generator):
            item.bit_generator.state = type(item.bit_generator)(seed).state
        else:
            for name in SEED_NAMES:
                if isinstance(getattr(item, "__dict__", {}).get(name), int):
                    setattr(item, name, seed)
            waiting.extend(_contents(item))
    return copy


def _contents(item: Any) -> Iterator[Any]:
    if isinstance(item, dict):
        yield from item.values()
    elif isinstance(item, (list, tuple, set, frozenset)):
        yield from item
    yield from getattr(item, "__dict__", {}).values()
