"""A smoothed table: the mean of a function's evaluations, shrunk towards the prediction of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import InvalidOption
from nasbed.spaces.base import SearchSpace
from nasbed.spaces.lookup import code_keys
from nasbed.surrogates.base import Files, Floats, Progress, Surrogate
from nasbed.surrogates.examples import Examples
from nasbed.surrogates.shrinkage import noise_variance, shrink

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace


@dataclass(frozen=True, slots=True)
class SmoothedSettings:
    """``base`` is the model and ``base_settings`` its settings; ``folds`` of it are fitted, each without some of the
    functions. ``noise`` is the standard deviation of one evaluation; where it is not given it is learnt from repeated
    ones. The default settings of the base are for some thousand functions: quick steps and little regularisation."""

    base: str = "lgb"
    base_settings: Mapping[str, Any] = field(
        default_factory=lambda: {
            "features": "onehot+costs+structure",
            "learning_rate": 0.05,
            "num_leaves": 24,
            "feature_fraction": 0.4,
            "lambda_l2": 0.5,
            "rounds": 600,
        }
    )
    folds: int = 10
    noise: float | None = None


class Smoothed(Surrogate[SmoothedSettings]):
    """Estimates one value per function: the evaluations of all architectures that compute it
    (``space.function_codes``), with all seeds, are averaged. A base model that was not fitted on the function predicts
    it. The difference between prediction and average is shrunk as far as noise explains it
    (:mod:`nasbed.surrogates.shrinkage`). A function that was never evaluated gets the prediction of the base models.
    """

    name = "smooth"
    family = "trees"  # of its usual base model
    summary = "one estimate a function: its evaluations, shrunk towards what a model expects"
    Settings: ClassVar[type] = SmoothedSettings

    @classmethod
    def tuning_space(cls) -> ConfigurationSpace:
        """That of the default base model."""
        from nasbed.surrogates import SURROGATES

        return SURROGATES.get(cls.Settings().base).tuning_space()

    @classmethod
    def tuned(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return {"base_settings": dict(values)}

    def fit(self, train: Examples, valid: Examples | None = None, progress: Progress | None = None) -> None:
        codes, y = train.codes, train.y
        if valid is not None:
            codes, y = np.concatenate([codes, valid.codes]), np.concatenate([y, valid.y])
        forms, owner = np.unique(self.space.function_codes(codes), axis=0, return_inverse=True)
        owner = owner.reshape(-1)
        count = np.bincount(owner)
        mean = np.bincount(owner, y) / count
        expected = self._fit_base(forms, mean, progress)
        if self.settings.noise is None:
            variance = noise_variance(y, owner, label=f"the surrogate {self.name}")
        else:
            variance = np.full(len(forms), self.settings.noise**2)
        self._remember(forms, expected + shrink(mean - expected, variance / count))

    def _fit_base(self, forms: NDArray[np.int64], mean: Floats, progress: Progress | None) -> Floats:
        """Fit the base models, and predict each function by the one that did not see it."""
        folds = min(self.settings.folds, len(forms))
        if folds < 2:
            raise InvalidOption(f"{self.name} needs at least 2 functions and folds, got {len(forms)} and {folds}")
        fold = np.random.default_rng(self.seed).permutation(np.arange(len(forms)) % folds)
        expected = np.empty(len(forms))
        self._models = []
        for number in range(folds):
            model = self._base_class()(self.space, seed=self.seed + number, settings=self.settings.base_settings)
            held_out = fold == number
            stop = (fold == (number + 1) % folds) if folds > 2 else np.zeros(len(forms), dtype=bool)
            learned = Examples.plain(forms[~held_out & ~stop], mean[~held_out & ~stop])
            model.fit(learned, Examples.plain(forms[stop], mean[stop]) if stop.any() else None)
            expected[held_out] = model.predict(forms[held_out])
            self._models.append(model)
            if progress is not None:
                progress((number + 1) / folds)
        return expected

    def _base_class(self) -> type[Surrogate[Any]]:
        from nasbed.surrogates import SURROGATES

        return SURROGATES.get(self.settings.base)

    def _remember(self, forms: NDArray[np.int64], estimates: Floats) -> None:
        keys = code_keys(forms)
        order = np.argsort(keys, kind="stable")
        self._forms, self._estimates, self._keys = forms[order], estimates[order], keys[order]

    def predict(self, codes: NDArray[np.int64]) -> Floats:
        if not hasattr(self, "_keys"):
            raise self._not_fitted()
        forms = self.space.function_codes(codes)
        position = np.searchsorted(self._keys, code_keys(forms)).clip(max=len(self._keys) - 1)
        is_evaluated = (self._forms[position] == forms).all(axis=1)
        estimates: Floats = self._estimates[position]
        if not is_evaluated.all():
            estimates[~is_evaluated] = np.mean([model.predict(forms[~is_evaluated]) for model in self._models], axis=0)
        return estimates

    def dump(self) -> dict[str, bytes]:
        if not hasattr(self, "_keys"):
            raise self._not_fitted()
        buffer = BytesIO()
        np.savez(buffer, forms=self._forms, estimates=self._estimates)
        files = {"functions.npz": buffer.getvalue(), "base.json": json.dumps({"models": len(self._models)}).encode()}
        for number, model in enumerate(self._models):
            files |= {f"base{number:02d}-{name}": content for name, content in model.dump().items()}
        return files

    @classmethod
    def restore(cls, files: Files, space: SearchSpace, settings: Mapping[str, Any], seed: int) -> Smoothed:
        model = cls(space, seed=seed, settings=settings)
        with np.load(BytesIO(files["functions.npz"]), allow_pickle=False) as arrays:
            model._remember(arrays["forms"], arrays["estimates"])
        model._models = []
        for number in range(json.loads(files["base.json"])["models"]):
            prefix = f"base{number:02d}-"
            base = {name.removeprefix(prefix): content for name, content in files.items() if name.startswith(prefix)}
            model._models.append(model._base_class().restore(base, space, model.settings.base_settings, seed + number))
        return model
