"""Parameters of a family of datasets: what each means, its default, and which values are allowed."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nasbed.core.errors import InvalidOption, UnknownName, nearest, shorten


@dataclass(frozen=True, slots=True)
class FamilyParameter(ABC):
    """One parameter. ``default`` is a plain value that :meth:`read` accepts."""

    key: str
    default: Any
    meaning: str

    @property
    @abstractmethod
    def allowed(self) -> str:
        """The allowed values, to end the sentence "KEY is …"."""

    @abstractmethod
    def _read(self, value: Any) -> Any:
        """The value as it is used; raises ValueError or TypeError where it is not allowed."""

    def read(self, value: Any) -> Any:
        """The value as it is used, from what a person wrote."""
        try:
            return self._read(value)
        except (ValueError, TypeError):
            raise InvalidOption(f"{self.key} is {self.allowed}, got {shorten(value)}; choose one of those") from None

    @property
    def default_text(self) -> str:
        """The default as a person writes it after ``--set KEY=``."""
        if isinstance(self.default, tuple):
            return ",".join(map(str, self.default))
        return str(self.default)


@dataclass(frozen=True, slots=True)
class Whole(FamilyParameter):
    """A whole number between two bounds, both allowed.

    >>> Whole("side", 28, "pixels of a side", 8, 28).read(16)
    16
    """

    low: int
    high: int

    @property
    def allowed(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def _read(self, value: Any) -> int:
        if type(value) is not int or not self.low <= value <= self.high:
            raise ValueError(value)
        return value


@dataclass(frozen=True, slots=True)
class NamedChoice(FamilyParameter):
    """One of some names, each with what it means.

    >>> NamedChoice("source", "mnist", "the images", {"mnist": "digits", "fashion-mnist": "clothes"}).allowed
    'mnist or fashion-mnist'
    """

    options: Mapping[str, str]

    @property
    def allowed(self) -> str:
        *names, last = self.options
        return f"{', '.join(names)} or {last}"

    def _read(self, value: Any) -> str:
        if value not in self.options:
            raise ValueError(value)
        return str(value)


@dataclass(frozen=True, slots=True)
class Several(FamilyParameter):
    """Distinct names, at least ``least``, written ``a,b,c``.

    >>> Several("languages", ("en",), "classes", 2, "codes of languages", "[a-z]{2}").read("en,fi")
    ('en', 'fi')
    """

    least: int
    names: str
    pattern: str

    @property
    def allowed(self) -> str:
        return f"a list of at least {self.least} different {self.names}, such as {self.default_text}"

    def _read(self, value: Any) -> tuple[str, ...]:
        names = tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else tuple(value)
        if len(set(names)) != len(names) or len(names) < self.least:
            raise ValueError(value)
        if not all(re.fullmatch(self.pattern, name) for name in names):
            raise ValueError(value)
        return names


@dataclass(frozen=True, slots=True)
class WholeNumbers(FamilyParameter):
    """A list of whole numbers between two bounds, written ``1,2,3``.

    >>> WholeNumbers("weights", (1, 2), "factors", 1, 9).read("3,1")
    (3, 1)
    """

    low: int
    high: int

    def _read(self, value: Any) -> tuple[int, ...]:
        if isinstance(value, str):
            value = [int(part) for part in value.split(",")]
        numbers = (value,) if type(value) is int else tuple(value)
        if not numbers or not all(type(number) is int and self.low <= number <= self.high for number in numbers):
            raise ValueError(value)
        return numbers

    @property
    def allowed(self) -> str:
        return f"a list of whole numbers from {self.low} to {self.high}, such as {self.default_text}"


def chosen_settings(owner: str, parameters: Sequence[FamilyParameter], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The value of every parameter: as set, or its default. An unknown key raises and names the known ones."""
    known = {parameter.key: parameter for parameter in parameters}
    for key in settings:
        if key not in known:
            raise UnknownName(f"{owner} has no parameter {key!r}; {nearest(key, known)}")
    return {key: parameter.read(settings.get(key, parameter.default)) for key, parameter in known.items()}


def image_counts(train: int, valid: int, test: int) -> tuple[Whole, ...]:
    """The three parameters that every family has."""
    most = 1_000_000
    return (
        Whole("train", train, "images to train on", 1, most),
        Whole("valid", valid, "images to validate with", 1, most),
        Whole("test", test, "images to test with", 1, most),
    )
