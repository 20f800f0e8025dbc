"""One hyperparameter of a configuration space, its values numbered: their prior, moves and place in [0, 1]."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidArchitecture, InvalidOption, nearest, shorten
from nasbed.spaces.from_configspace.scales import Scale, double_at, doubles_at, prior_quantile, rank_of

if TYPE_CHECKING:
    from ConfigSpace.hyperparameters import FloatHyperparameter, IntegerHyperparameter
    from ConfigSpace.hyperparameters import Hyperparameter as Foreign

DECIMALS = 13
"""ConfigSpace keeps this many decimal places of a float; values drawn or stepped to are rounded to them."""

MOVE = 1 / 16
"""How far a float moves to its neighbour, as a share of its (log-)range."""

WIDEST = 2**63 - 1
"""A code fits a signed 64-bit integer."""


class Hyperparameter(ABC):
    """Values numbered 0 to ``last``, in their order where they have one. A code is such a number; so is ``default``."""

    last: int
    default: int
    countable = True

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def size(self) -> int:
        return self.last + 1

    @abstractmethod
    def value(self, code: int) -> object:
        """The value as plain Python."""

    @abstractmethod
    def code(self, value: object) -> int:
        """The inverse of :meth:`value`, numpy scalars accepted; raises on what is not a value."""

    def mark(self, value: object) -> float:
        """Where a rule's constant stands among the codes; between two of them if it is not a value itself."""
        return self.code(value)

    @abstractmethod
    def draw(self, uniform: float) -> int:
        """The code at this quantile of the prior, for ``uniform`` in [0, 1)."""

    @abstractmethod
    def moves(self, code: int) -> tuple[int, ...]:
        """The codes one edit away, in rising order; the relation is mutual (for floats, up to rounding)."""

    @abstractmethod
    def redraw(self, code: int, rng: np.random.Generator) -> int:
        """A random other code, or the same one where there is no other."""

    @abstractmethod
    def units(self, codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The place of each value in [0, 1], on the hyperparameter's own scale."""

    @abstractmethod
    def describe(self) -> str:
        """The legal values, for an error message."""


class Choice(Hyperparameter):
    """Values without an order: a categorical, or a constant as the choice among one."""

    def __init__(self, name: str, values: Sequence[object], *, default: object, weights: Sequence[float] = ()) -> None:
        super().__init__(name)
        self.values = tuple(map(plain, values))
        self.last = len(self.values) - 1
        for value in self.values:
            if not _is_plain(value):
                raise InvalidOption(
                    "architectures are written as JSON: a choice is None, a bool, a finite number, a text or a tuple "
                    f"of them, {name} has {shorten(value)}; name it by a text"
                )
        self._index = {_key(value): index for index, value in enumerate(self.values)}
        if len(self._index) < len(self.values):
            raise InvalidOption(f"a tuple and a list of the same items read alike in JSON, {name} has both; drop one")
        self.default = self.code(default)
        running = list(accumulate(weights))
        self._cumulative = [part / running[-1] for part in running]

    def value(self, code: int) -> object:
        return self.values[code]

    def _find(self, value: object) -> int | None:
        try:
            return self._index.get(_key(plain(value)))
        except TypeError:
            return None

    def code(self, value: object) -> int:
        index = self._find(value)
        if index is None or (isinstance(value, bool | np.bool_) and not isinstance(self.values[index], bool)):
            texts = [option for option in self.values if isinstance(option, str)]
            hint = nearest(value, texts) if isinstance(value, str) and texts else self.describe()
            raise InvalidArchitecture(f"the hyperparameter {self.name} has no value {shorten(value)}; {hint}")
        return index

    def mark(self, value: object) -> float:
        index = self._find(value)
        return self.code(value) if index is None else index

    def draw(self, uniform: float) -> int:
        if self._cumulative:
            return bisect_right(self._cumulative, uniform)
        return int(uniform * (self.last + 1))

    def moves(self, code: int) -> tuple[int, ...]:
        return (*range(code), *range(code + 1, self.last + 1))

    def redraw(self, code: int, rng: np.random.Generator) -> int:
        choice = int(rng.random() * self.last)
        return choice + (choice >= code) if self.last else code

    def units(self, codes: NDArray[np.int64]) -> NDArray[np.float64]:
        return codes / max(self.last, 1)

    def describe(self) -> str:
        return f"known: {shorten(list(self.values), limit=200)}"


class Ordinal(Choice):
    """Values in an order: like a categorical, except that one edit goes to the next or the one before."""

    def moves(self, code: int) -> tuple[int, ...]:
        return _adjacent(code, self.last)

    def redraw(self, code: int, rng: np.random.Generator) -> int:
        if not self.last:
            return code
        return _apart(code, Scale(0, self.last, log=False).nudged(code, rng), self.last)


class Integer(Hyperparameter):
    """Whole numbers: the code counts from the lower bound."""

    def __init__(self, foreign: IntegerHyperparameter) -> None:
        super().__init__(foreign.name)
        self.lower = foreign.lower
        self.last = foreign.upper - foreign.lower
        if self.last > WIDEST:
            raise InvalidOption(f"an integer has at most 2**63 values, {self.name} is {self.describe()}; narrow it")
        self.default = int(foreign.default_value) - foreign.lower
        self._scale, self._prior = Scale(foreign.lower, foreign.upper, log=foreign.log), prior_quantile(foreign)

    def value(self, code: int) -> int:
        return self.lower + code

    def code(self, value: object) -> int:
        number = _number(value)
        if number is None or number != math.floor(number) or not 0 <= number - self.lower <= self.last:
            raise InvalidArchitecture(f"the hyperparameter {self.name} is {self.describe()}, got {shorten(value)}")
        return int(number) - self.lower

    def mark(self, value: object) -> float:
        number = _number(value)
        return self.code(value) if number is None else number - self.lower

    def draw(self, uniform: float) -> int:
        """ConfigSpace cuts the range into ``size`` equal bins; the unit interval instead, if the prior has a shape."""
        if self._prior is None and not self._scale.log:
            code = int(uniform * (self.last + 1))
        elif self._prior is None:
            code = int((self._scale.value(uniform) - self.lower) / self.last * (self.last + 1))
        else:
            code = min(int(self._prior(uniform) * (self.last + 1)), self.last)
            if self._scale.log:
                code = round(self._scale.value(code / self.last)) - self.lower
        return min(max(code, 0), self.last)

    def moves(self, code: int) -> tuple[int, ...]:
        return _adjacent(code, self.last)

    def redraw(self, code: int, rng: np.random.Generator) -> int:
        return _apart(code, self._scale.nudged(self.lower + code, rng) - self.lower, self.last)

    def units(self, codes: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._scale.units(codes.astype(np.float64) + self.lower)

    def describe(self) -> str:
        return f"a whole number from {self.lower} to {self.lower + self.last}"


class Float(Hyperparameter):
    """Real numbers: the code counts the doubles from the lower bound on, so every one in the range is kept exactly."""

    countable = False

    def __init__(self, foreign: FloatHyperparameter) -> None:
        super().__init__(foreign.name)
        self.lower, self.upper = foreign.lower, foreign.upper
        self._zero = rank_of(self.lower)
        self.last = rank_of(self.upper) - self._zero
        if self.last > WIDEST:
            raise InvalidOption(f"a float has at most 2**63 values, {self.name} is {self.describe()}; narrow it")
        self._scale, self._prior = Scale(foreign.lower, foreign.upper, log=foreign.log), prior_quantile(foreign)
        self.default = self.code(foreign.default_value)

    def value(self, code: int) -> float:
        return double_at(self._zero + code)

    def code(self, value: object) -> int:
        number = _number(value)
        if number is None or not self.lower <= number <= self.upper:
            raise InvalidArchitecture(f"the hyperparameter {self.name} is {self.describe()}, got {shorten(value)}")
        return rank_of(number) - self._zero

    def _nearest(self, value: float) -> int:
        return rank_of(min(max(round(value, DECIMALS), self.lower), self.upper)) - self._zero

    def draw(self, uniform: float) -> int:
        return self._nearest(self._scale.value(uniform if self._prior is None else self._prior(uniform)))

    def moves(self, code: int) -> tuple[int, ...]:
        unit = self._scale.unit(self.value(code))
        reached = (self._nearest(self._scale.value(to)) for to in (unit - MOVE, unit + MOVE) if -1e-9 <= to <= 1 + 1e-9)
        return tuple(neighbor for neighbor in reached if neighbor != code)

    def redraw(self, code: int, rng: np.random.Generator) -> int:
        return self._nearest(self._scale.nudged(self.value(code), rng))

    def units(self, codes: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._scale.units(doubles_at(codes + self._zero))

    def describe(self) -> str:
        return f"a number from {self.lower} to {self.upper}"


def hyperparameter(foreign: Foreign[Any, Any]) -> Hyperparameter:
    """The integer form of a ConfigSpace hyperparameter, with the same prior."""
    from ConfigSpace import hyperparameters as kinds

    if isinstance(foreign, kinds.CategoricalHyperparameter):
        weights = () if foreign.weights is None else foreign.probabilities.tolist()
        return Choice(foreign.name, foreign.choices, default=foreign.default_value, weights=weights)
    if isinstance(foreign, kinds.OrdinalHyperparameter):
        return Ordinal(foreign.name, foreign.sequence, default=foreign.default_value)
    if isinstance(foreign, kinds.Constant):
        return Choice(foreign.name, [foreign.value], default=foreign.value)
    if isinstance(foreign, kinds.IntegerHyperparameter):
        return Integer(foreign)
    if isinstance(foreign, kinds.FloatHyperparameter):
        return Float(foreign)
    raise InvalidOption(
        f"a hyperparameter is categorical, ordinal, constant, integer or float, {foreign.name} is "
        f"{type(foreign).__name__}"
    )


def plain(value: object) -> object:
    """A numpy scalar, alone or within a tuple or list, as the Python value that it holds; anything else as it is."""
    if isinstance(value, tuple | list):
        return tuple(map(plain, value)) if isinstance(value, tuple) else list(map(plain, value))
    return value.item() if isinstance(value, np.generic) else value


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return math.isfinite(value) if isinstance(value, float) else value is None or isinstance(value, str | int)


def _key(value: object) -> object:
    return tuple(map(_key, value)) if isinstance(value, tuple | list) else value


def _number(value: object) -> int | float | None:
    value = plain(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _adjacent(code: int, last: int) -> tuple[int, ...]:
    return tuple(neighbor for neighbor in (code - 1, code + 1) if 0 <= neighbor <= last)


def _apart(code: int, target: float, last: int) -> int:
    """The code nearest to ``target``, or the adjacent one on that side when this is ``code`` itself."""
    nearest = min(max(round(target), 0), last)
    if nearest != code:
        return nearest
    return code + 1 if code == 0 or (target > code and code < last) else code - 1
