"""The base class of tree models: features, one forest of trees, and predictions without their libraries."""

from __future__ import annotations

import gzip
from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.spaces.base import SearchSpace
from nasbed.surrogates.base import Files, Floats, Progress, Surrogate
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.features import Features
from nasbed.surrogates.trees.forest import Forest
from nasbed.surrogates.trees.program import Program

FOREST = "forest.npz"
PACKED = ".gz"
"""How the names of files in a library's own format end."""
STOPPING_SHARE = 10
"""Without examples for early stopping, one in this many architectures is held out for it."""


class TreeSettings(Protocol):
    """The setting that all of them have."""

    @property
    def features(self) -> str: ...


S = TypeVar("S", bound=TreeSettings)


class TreeModel(Surrogate[S]):
    """Trees over :class:`~nasbed.surrogates.features.Features`. ``forest`` is the fitted program, of one member;
    several models' programs merge into one. ``threads`` speeds up the fit, where the library can use them.
    """

    family = "trees"

    def __init__(
        self,
        space: SearchSpace,
        *,
        seed: int = 0,
        settings: S | Mapping[str, Any] | None = None,
        threads: int = 1,
    ) -> None:
        super().__init__(space, seed=seed, settings=settings)
        self.threads = threads
        self.features = Features(space, self.settings.features)
        self._forest: Forest | None = None
        self._native: dict[str, bytes] = {}

    @property
    def forest(self) -> Forest:
        if self._forest is None:
            raise self._not_fitted()
        return self._forest

    def fit(self, train: Examples, valid: Examples | None = None, progress: Progress | None = None) -> None:
        rounds = getattr(self.settings, "early_stopping_rounds", 0)
        train, valid = with_stopping(train, valid, seed=self.seed, rounds=rounds)
        self._forest, self._native = self._grow(train, valid, progress or (lambda _: None))
        if progress is not None:
            progress(1.0)

    @abstractmethod
    def _grow(self, train: Examples, valid: Examples | None, progress: Progress) -> tuple[Forest, dict[str, bytes]]:
        """The fitted trees, and the files to keep beside them. Without ``valid`` all rounds are run."""

    def predict(self, codes: NDArray[np.int64]) -> Floats:
        return self.forest.predict(self.features(codes))[:, 0]

    @property
    def joint_key(self) -> Hashable:
        """Trees over the same features walk as one program."""
        return self.features.blocks

    @classmethod
    def predict_jointly(cls, models: Sequence[Surrogate[Any]]) -> Callable[[NDArray[np.int64]], Floats]:
        trees = [model for model in models if isinstance(model, TreeModel)]
        features, program = trees[0].features, Program(Forest.merge([model.forest for model in trees]))
        return lambda codes: program.predict(features(codes))

    def joint_settings(self, kind: type[Surrogate[Any]]) -> dict[str, Any]:
        """The same features, for another model of trees."""
        return {"features": self.settings.features} if issubclass(kind, TreeModel) else {}

    def compact(self) -> TreeModel[S]:
        """Without its library's own file, and with leaves in single precision."""
        model = copy(self)
        model._forest = self.forest.in_single_precision()
        model._native = {name: data for name, data in self._native.items() if not name.endswith(PACKED)}
        return model

    def dump(self) -> dict[str, bytes]:
        return {FOREST: self.forest.dump(), **self._native}

    @classmethod
    def restore(cls, files: Files, space: SearchSpace, settings: Mapping[str, Any], seed: int) -> TreeModel[S]:
        if FOREST not in files:
            raise BadFile(f"a fitted {cls.name} model has the file {FOREST}, got {', '.join(sorted(files)) or 'none'}")
        model = cls(space, seed=seed, settings=settings)
        model._forest = Forest.restore(files[FOREST])
        model._native = {name: data for name, data in files.items() if name != FOREST}
        return model


def with_stopping(
    train: Examples, valid: Examples | None, *, seed: int, rounds: int
) -> tuple[Examples, Examples | None]:
    """The examples to fit on, and those for early stopping: ``None`` where ``rounds`` of patience is 0. Without
    ``valid``, a tenth of the architectures is held out, with all of their evaluations."""
    if rounds == 0:
        return train, None
    if valid is not None and len(valid):
        return train, valid
    numbers = np.unique(train.architecture)
    if len(numbers) < STOPPING_SHARE:
        return train, None
    validation_numbers = np.random.default_rng(seed).permutation(numbers)[: len(numbers) // STOPPING_SHARE]
    held_out = np.isin(train.architecture, validation_numbers)
    return train.take(~held_out), train.take(held_out)


def packed(text: bytes) -> bytes:
    """A model in its library's own format, compressed; the same text gives the same bytes."""
    return gzip.compress(text, 6, mtime=0)


def unit(y: Floats) -> float:
    """What penalties on absolute values are multiples of, so that fractions, percents and seconds are treated alike."""
    return float(y.std()) or 1.0
