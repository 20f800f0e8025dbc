"""Benchmarks whose answers a surrogate predicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.benchmarks.base import Benchmark
from nasbed.benchmarks.observations import Observations
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, TooLarge
from nasbed.core.files import values_sha256
from nasbed.core.metric import Metric
from nasbed.core.observation import Observation
from nasbed.spaces.base import Batch, Codes
from nasbed.surrogates.artefact import Artefact
from nasbed.surrogates.counted_costs import ExactCosts
from nasbed.surrogates.ensemble import Ensemble, Prediction, joint
from nasbed.surrogates.random_streams import normal, normals, reflected, reflected_one

Floats = NDArray[np.float64]

LISTED_AT_ONCE = 1 << 14
LARGEST_SEARCHED = 1_000_000
"""The largest space of which every architecture is predicted to find the best."""


@dataclass(frozen=True, slots=True)
class _Level:
    """How a surrogate answers at one fidelity. ``draw_weights`` are those of the independent draws that its noise is
    the sum of: one draw at the highest fidelity, which the noise at lower ones has in common with it."""

    ensemble: Ensemble
    time_share: float
    draw_weights: tuple[float, ...]

    @classmethod
    def of(cls, artefact: Artefact, fidelity: int) -> _Level:
        weights = (1.0,) if artefact.curves is None else artefact.curves.draw_weights(fidelity)
        return cls(artefact.at(fidelity), artefact.time_share(fidelity), weights)

    def draw(self, code: tuple[int, ...], seed: int) -> float:
        """A draw from the standard normal distribution, of the training of an architecture with a seed."""
        total = self.draw_weights[0] * normal(code, seed)
        for stream, weight in enumerate(self.draw_weights[1:], 1):
            total += weight * normal(code, seed, stream)
        return total

    def draws(self, codes: Codes, seed: int) -> Floats:
        """:meth:`draw` of a batch, bit for bit."""
        total = self.draw_weights[0] * normals(codes, seed)
        for stream, weight in enumerate(self.draw_weights[1:], 1):
            total += weight * normals(codes, seed, stream)
        return total


class SurrogateBenchmark(Benchmark):
    """A fitted ensemble behind one query, for every architecture of its space.

    The answer is the ensemble's mean plus noise. The noise is that between trainings, as learned from repeats; without
    repeats it is that of the whole predictive distribution. Architecture and seed determine the draw, which is
    reflected at the metric's bounds. The cost is predicted; parameters and multiply-adds are counted. All are those of
    the canonical form: isomorphic architectures get the same answers. A batch gets the same answers as its
    architectures one by one: to the bit from tree models, up to the rounding of a matrix product from the others.

    A surrogate of several fidelities answers at each of them. The answers for one architecture and seed are points of
    one training: their noise is correlated as it was between real ones. A longer training never costs less.
    """

    def __init__(self, artefact: Artefact) -> None:
        manifest = artefact.manifest
        self.artefact = artefact
        self.name = manifest.name
        self.space = artefact.space
        self.objective = manifest.metric
        self.fidelities = manifest.fidelities
        self._levels = {fidelity: _Level.of(artefact, fidelity) for fidelity in self.fidelities}
        self._timed = artefact.runtime is not None
        self._predict_all = _joint_models(artefact)
        skeleton = manifest.provenance.get("skeleton")
        self._costs = ExactCosts(self.space, manifest.dataset, skeleton) if manifest.exact else None
        self._cost_metrics = self._costs.metrics if self._costs is not None else ()
        self.metrics = (self.objective, *self._cost_metrics)

    @property
    def is_one_training(self) -> bool:
        return bool(self.artefact.manifest.provenance.get("one_training"))

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the joint program of the models, which a copy compiles again."""
        return {name: value for name, value in vars(self).items() if name != "_predict_all"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._predict_all = _joint_models(self.artefact)

    @classmethod
    def open(cls, path: str | Path) -> SurrogateBenchmark:
        """The surrogate in a folder or a file."""
        return cls(Artefact.load(path))

    @property
    def fingerprint(self) -> str:
        if not self.artefact.manifest.files:  # fitted just now and in no file yet
            return ""
        facts = asdict(self.artefact.manifest)
        decides = ("space", "dataset", "metric", "fidelity", "members", "runtime", "exact", "space_definition", "files")
        return values_sha256(({name: facts[name] for name in decides}, facts["provenance"].get("skeleton")))

    # --- one ---------------------------------------------------------------------------------------------------------

    def _query(self, arch: Architecture, fidelity: int, seed: int) -> Observation:
        code, mean, noise, cost_s = self._predict_one(arch, fidelity)
        low, high = bounds = self.objective.bounds
        value = reflected_one(min(max(mean, low), high) + noise * self._levels[fidelity].draw(code, seed), bounds)
        return self._observation(arch, code, value, cost_s, seed=seed, fidelity=fidelity)

    def expected(self, arch: Architecture, *, fidelity: int | None = None) -> Observation:
        """The predicted mean, without noise."""
        budget = self._fidelity(fidelity)
        code, mean, _, cost_s = self._predict_one(arch, budget)
        low, high = self.objective.bounds
        return self._observation(arch, code, min(max(mean, low), high), cost_s, seed=None, fidelity=budget)

    @property
    def predicts(self) -> bool:
        return True

    @property
    def model_family(self) -> str:
        return type(self.artefact.ensemble.members[0]).family

    @property
    def dataset_name(self) -> str:
        return self.artefact.manifest.dataset

    @property
    def has_times(self) -> bool:
        return self._timed

    def _predict_one(self, arch: Architecture, fidelity: int) -> tuple[tuple[int, ...], float, float, float | None]:
        """The canonical code of an architecture, its mean and noise, and its cost in seconds."""
        self.space.validate(arch)
        code = self.space.canonical(arch).code
        predictions = self._predict_all(np.array([code], dtype=np.int64))[0].tolist()
        level = self._levels[fidelity]
        cost_s = float(np.exp(predictions.pop())) * level.time_share if self._timed else None
        return code, *level.ensemble.mean_and_noise(predictions), cost_s

    def _observation(
        self,
        arch: Architecture,
        code: tuple[int, ...],
        value: float,
        cost_s: float | None,
        *,
        seed: int | None,
        fidelity: int,
    ) -> Observation:
        """One answer.

        Args:
            arch: The architecture.
            code: That of its canonical form.
            value: The objective.
            cost_s: The cost in seconds.
            seed: That of the query; none for a mean.
            fidelity: That of the query; negative where none is recorded.
        """
        values = {self.objective: value}
        if self._costs is not None:
            costs = self._costs(np.array([code], dtype=np.int64))[0].tolist()
            values.update(zip(self._cost_metrics, costs, strict=True))
        return Observation(arch, values, _recorded(fidelity), seed, cost_s)

    # --- many --------------------------------------------------------------------------------------------------------

    def _query_many(self, archs: Batch, fidelity: int, seed: int) -> Observations:
        codes, canonical = self._codes_and_canonical(archs)
        prediction, cost_s = self._predict_with_cost(canonical, fidelity)
        values = self._reflect(prediction.mean, prediction.noise * self._levels[fidelity].draws(canonical, seed))
        return self._observations(codes, canonical, values, cost_s, seed=seed, fidelity=fidelity)

    def expected_many(self, archs: Batch, *, fidelity: int | None = None) -> Observations:
        """:meth:`expected` of a batch."""
        budget = self._fidelity(fidelity)
        codes, canonical = self._codes_and_canonical(archs)
        prediction, cost_s = self._predict_with_cost(canonical, budget)
        return self._observations(codes, canonical, self._mean(prediction), cost_s, seed=-1, fidelity=budget)

    def _codes_and_canonical(self, archs: Batch) -> tuple[Codes, Codes]:
        """The codes of a batch, and those of the canonical forms."""
        codes = self.space.codes(archs)
        if not isinstance(archs, np.ndarray):
            for arch in archs:
                self.space.validate(arch)
        return codes, self.space.canonical_codes(codes)

    def _observations(
        self, codes: Codes, canonical: Codes, values: Floats, cost_s: Floats | None, *, seed: int, fidelity: int
    ) -> Observations:
        """A batch of answers.

        Args:
            codes: Those of the architectures.
            canonical: Those of their canonical forms.
            values: The objective of each.
            cost_s: The cost of each in seconds.
            seed: That of the query; -1 for means.
            fidelity: That of the query; negative where none is recorded.
        """
        columns = {self.objective: values}
        if self._costs is not None:
            columns.update(zip(self._cost_metrics, self._costs(canonical).T, strict=True))
        return Observations(
            space=self.space.name,
            codes=codes,
            values=columns,
            fidelity=_recorded(fidelity),
            seeds=np.full(len(codes), seed),
            cost_s=np.full(len(codes), np.nan) if cost_s is None else cost_s,
            status=np.zeros(len(codes), dtype=np.int8),
        )

    def _predict_with_cost(self, canonical: Codes, fidelity: int) -> tuple[Prediction, Floats | None]:
        """The prediction of the ensemble at a fidelity, and the cost in seconds."""
        level = self._levels[fidelity]
        predictions = self._predict_all(canonical)
        if not self._timed:
            return level.ensemble.summary(predictions), None
        return level.ensemble.summary(predictions[:, :-1]), np.exp(predictions[:, -1]) * level.time_share

    def _mean(self, prediction: Prediction) -> Floats:
        return np.clip(prediction.mean, *self.objective.bounds)

    def _reflect(self, mean: Floats, noise: Floats) -> Floats:
        bounds = self.objective.bounds
        return reflected(np.clip(mean, *bounds) + noise, bounds)

    # --- for evaluation only -----------------------------------------------------------------------------------------

    @property
    def test_metric(self) -> Metric | None:
        """None: a finished search is judged by the noise-free mean of the objective."""
        return None

    def mean_test(self, archs: Batch) -> Floats:
        raise InvalidOption(f"{self.name} has no test metric; judge by expected_many")

    def optimum(self) -> tuple[Architecture, float]:
        """The architecture with the best mean, found by predicting all of them, once."""
        return self._optimum

    @cached_property
    def _optimum(self) -> tuple[Architecture, float]:
        if self.space.size > LARGEST_SEARCHED:
            raise TooLarge(
                f"the best of up to {LARGEST_SEARCHED:,} architectures can be found by predicting each, "
                f"{self.space.name} has more; compare with the best that was found"
            )
        sign = 1.0 if self.objective.direction == "maximize" else -1.0
        listing = self.space.enumerate()
        best: tuple[float, Architecture] | None = None
        while archs := list(islice(listing, LISTED_AT_ONCE)):
            means = sign * self._mean(self.artefact.ensemble.predict(self.space.canonical_codes(archs)))
            first = int(np.argmax(means))
            if best is None or means[first] > best[0]:
                best = float(means[first]), archs[first]
        assert best is not None, "a space has an architecture"
        return best[1], sign * best[0]


def _recorded(fidelity: int) -> int | None:
    """A fidelity, or none where the table of a surrogate did not record it."""
    return fidelity if fidelity >= 0 else None


def _joint_models(artefact: Artefact) -> Callable[[Codes], Floats]:
    """Predicts with all members at once, and with the runtime model, if there is one, as the last."""
    models = artefact.ensemble.members
    return joint(models if artefact.runtime is None else (*models, artefact.runtime))
