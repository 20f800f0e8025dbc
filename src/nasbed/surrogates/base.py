"""The base class of surrogate models: fitted on evaluations, a model predicts one metric of any architecture."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption, NotFitted, nearest
from nasbed.spaces.base import SearchSpace
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.tuning_ranges import TuningRange, published_ranges, tuning_space_of

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace

S = TypeVar("S")

Floats = NDArray[np.float64]
Progress = Callable[[float], None]
"""Called with the share of a fit that is done, from 0 to 1."""
Files = Mapping[str, bytes]
"""The files of a fitted model, by name: JSON, arrays, or a library's own text format; never code."""


class Surrogate(ABC, Generic[S]):
    """A regression model over one space. ``Settings`` is a frozen dataclass of JSON values; its defaults are the tuned
    values of Table 6 (Surrogate NAS Benchmarks) where they carry over.

    Each fit needs a new model. The same seed, settings and examples give the same model.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    family: ClassVar[str] = ""
    """The family of the model: ``trees``, ``graph networks``, ``perceptrons``, ``kernels``. A method whose own model is
    of the same family has an advantage on such a surrogate."""
    answer_extra: ClassVar[str] = ""
    """The extra of the package without which a fitted model cannot be restored; empty for those of the core."""
    Settings: ClassVar[type]
    ranges: ClassVar[tuple[TuningRange, ...]] = ()
    """What tuning may choose from; without any, the ranges of Table 6 for a model of this name."""

    def __init__(self, space: SearchSpace, *, seed: int = 0, settings: S | Mapping[str, Any] | None = None) -> None:
        self.space = space
        self.seed = seed
        self.settings: S = self._validate_settings(settings)
        self._prepare()

    def _prepare(self) -> None:
        """Called once, with the settings checked: a model sets up here what it needs before it is fitted."""

    @classmethod
    def _validate_settings(cls, settings: S | Mapping[str, Any] | None) -> S:
        if settings is not None and not isinstance(settings, Mapping):
            return settings
        names = [field.name for field in dataclasses.fields(cls.Settings)]
        for name in settings or {}:
            if name not in names:
                raise InvalidOption(f"{cls.name} has no setting {name!r}; {nearest(name, names)}")
        validated: S = cls.Settings(**(settings or {}))
        return validated

    @classmethod
    def tuning_space(cls) -> ConfigurationSpace:
        """The ranges over names of ``Settings``, whose defaults are the model's."""
        return tuning_space_of(cls.ranges or published_ranges(cls.name), cls.Settings())

    @classmethod
    def tuned(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """A point of the tuning space as settings."""
        return dict(values)

    @classmethod
    def budgets(cls) -> tuple[str, tuple[int, ...]] | None:
        """The setting that is a training budget and its steps for tuning with several fidelities (appendix E.3);
        ``None`` where tuning has one fidelity."""
        return None

    @abstractmethod
    def fit(self, train: Examples, valid: Examples | None = None, progress: Progress | None = None) -> None:
        """Learn. ``valid`` is for early stopping, where a model does that."""

    @abstractmethod
    def predict(self, codes: NDArray[np.int64]) -> Floats:
        """The expected metric of each architecture."""

    @property
    def joint_key(self) -> Hashable | None:
        """Fitted models with equal keys answer together, by :meth:`predict_jointly`; ``None`` for one that does not."""
        return None

    @classmethod
    def predict_jointly(cls, models: Sequence[Surrogate[Any]]) -> Callable[[NDArray[np.int64]], Floats]:
        """What each of some models with the same key predicts, ``[n, models]``."""
        return lambda codes: np.stack([model.predict(codes) for model in models], axis=1)

    def joint_settings(self, kind: type[Surrogate[Any]]) -> dict[str, Any]:
        """The settings with which a model of another kind can answer together with this one; none by default."""
        return {}

    def compact(self) -> Surrogate[S]:
        """The fitted model in fewer bytes, with the same predictions in single precision; by default itself."""
        return self

    @abstractmethod
    def dump(self) -> dict[str, bytes]:
        """The fitted model as files."""

    @classmethod
    @abstractmethod
    def restore(cls, files: Files, space: SearchSpace, settings: Mapping[str, Any], seed: int) -> Surrogate[S]:
        """The model that :meth:`dump` gave; its predictions are the same."""

    def _not_fitted(self) -> NotFitted:
        return NotFitted(f"the surrogate {self.name} has not been fitted; call fit first")
