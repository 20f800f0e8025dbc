"""Do scores of zero-cost proxies help a surrogate that has seen only a few trained architectures?

Two models are fitted on 25 to 800 architectures: on the encoding, on the scores, and on both. They are judged by
Kendall's tau on held-out architectures. Variants differ only in the columns. The control is the encoding with shuffled
scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from nasbed.core.errors import InvalidOption, UnknownName
from nasbed.evaluation.proxies.rank_average import ranks_of_scores, score_columns
from nasbed.evaluation.proxies.tasks import RankedTask
from nasbed.evaluation.ranking import kendall
from nasbed.evaluation.significance import Interval, bootstrap_interval, holm, wilcoxon
from nasbed.spaces import SearchSpace, space
from nasbed.surrogates.features import Features
from nasbed.surrogates.models.support_vectors import EpsilonSettings
from nasbed.surrogates.scaling import ColumnScale, TargetScale

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

SIZES = (25, 50, 100, 200, 400, 800)
HELD_OUT = 1000
ENCODING = "onehot+costs+structure"
"""The encoding of the package's surrogates, which includes parameters and multiply-adds."""
ALONE, BOTH, SCORES, SHUFFLED = "encoding", "encoding + proxies", "proxies", "encoding + shuffled proxies"
VARIANTS = (ALONE, BOTH, SCORES, SHUFFLED)
"""The last is a control: each architecture has the scores of another. Uninformative columns can still change a model,
as they regularise trees that use a random part of the columns."""

BOOSTING = {
    "objective": "regression",
    "learning_rate": 0.05,
    "num_leaves": 8,
    "min_data_in_leaf": 3,
    "min_sum_hessian_in_leaf": 0.0,
    "feature_fraction": 0.5,
    "lambda_l2": 1.0,
    "deterministic": True,
    "force_col_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}
ROUNDS = 200
"""LightGBM's usual 20 examples a leaf cannot split 25 of them. Trees are small instead, and all rounds are run: there
are too few examples for early stopping."""

Model = Callable[[Floats, Floats, Floats, int], Floats]
"""From training rows, their targets, the rows to predict and a seed to predictions."""


class ScoreFeatures:
    """The scores of known architectures as feature columns, looked up by code. Each proxy has one column: the rank
    among all scored architectures as a standard normal quantile, so that no column has a tail. Architectures without a
    score rank lowest. True values are not used. It is called like the blocks of
    :data:`nasbed.surrogates.features.BLOCKS`.
    """

    def __init__(self, codes: Codes, scores: Mapping[str, Floats]) -> None:
        self.columns: NDArray[np.float32] = ndtri(ranks_of_scores(score_columns(scores))).astype(np.float32)
        self._rows = {code.tobytes(): row for row, code in enumerate(np.asarray(codes, dtype=np.int64))}

    def __call__(self, searched: SearchSpace, codes: Codes) -> NDArray[np.float32]:
        try:
            return self.columns[[self._rows[code.tobytes()] for code in np.asarray(codes, dtype=np.int64)]]
        except KeyError:
            raise UnknownName(
                f"every architecture needs scores, one of {searched.name} lacks them; score it first"
            ) from None


def boosted_trees(x: Floats, y: Floats, queries: Floats, seed: int) -> Floats:
    """LightGBM with small trees that few examples can split."""
    import lightgbm

    data = lightgbm.Dataset(x, label=(y - y.mean()) / (y.std() or 1.0), params={"verbosity": -1})
    booster = lightgbm.train({**BOOSTING, "seed": seed}, data, ROUNDS)
    return np.asarray(booster.predict(queries), dtype=np.float64)


def support_vectors(x: Floats, y: Floats, queries: Floats, seed: int) -> Floats:
    """The package's ε-support vector regression with its usual settings; it draws nothing."""
    from sklearn.svm import SVR

    usual = EpsilonSettings()
    columns, target = ColumnScale.of(x), TargetScale.of(y, logarithm=usual.log_transform)
    machine = SVR(kernel=usual.kernel, gamma=usual.gamma, C=usual.c, epsilon=usual.epsilon, tol=usual.tolerance)
    model = machine.fit(columns.apply(x), target.apply(y))
    return np.asarray(model.predict(columns.apply(queries)), dtype=np.float64)


MODELS: dict[str, Model] = {"lgb": boosted_trees, "svr": support_vectors}


@dataclass(frozen=True, slots=True)
class Gain:
    """Kendall's tau of one variant less that of another over repeats: the mean with its 95 % bootstrap interval, and
    Wilcoxon's test. Holm's method corrects for the number of sizes and models."""

    mean: Interval
    p: float


@dataclass(frozen=True, slots=True)
class FewPoints:
    """Kendall's tau on held-out architectures, ``[sizes, repeats]`` by model and variant."""

    sizes: tuple[int, ...]
    held_out: int
    encoding: str
    proxies: tuple[str, ...]
    taus: Mapping[tuple[str, str], Floats]
    gains: Mapping[tuple[str, str], tuple[Gain, ...]]
    """By model and variant, over the encoding alone, for each size."""

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(model for model, _ in self.taus))

    @property
    def repeats(self) -> int:
        return int(next(iter(self.taus.values())).shape[1])

    def best(self, variant: str) -> Floats:
        """The mean Kendall of the better model with a variant, for each size."""
        means: Floats = np.max([self.taus[model, variant].mean(axis=1) for model in self.models], axis=0)
        return means


def few_points(
    task: RankedTask,
    rng: np.random.Generator,
    *,
    sizes: Sequence[int] = SIZES,
    repeats: int = 10,
    held_out: int = HELD_OUT,
) -> FewPoints:
    """Fit every model on every variant and measure it on held-out architectures.

    The held-out architectures are drawn once. Each repeat draws a training set, the same for all variants; smaller sets
    are parts of larger ones. Isomorphic architectures count as one, so none is both trained on and predicted.

    Args:
        task: The architectures with their scores and true values.
        rng: Draws the held-out architectures, the training sets and the seeds of the models.
        sizes: The sizes of the training sets; sizes that leave too few architectures are skipped.
        repeats: How often training sets are drawn.
        held_out: How many architectures are held out, at most half of all.
    """
    searched = space(task.space)
    first = np.unique(searched.canonical_codes(task.codes), axis=0, return_index=True)[1]
    distinct = np.sort(first)
    test_count = min(held_out, len(distinct) // 2)
    allowed = tuple(size for size in sorted(set(sizes)) if size <= len(distinct) - test_count)
    if repeats < 2 or not allowed or test_count < 2:
        raise InvalidOption(
            f"a comparison with few points needs 2 repeats and a table with {min(sizes, default=0)} training "
            f"architectures besides the held-out ones, got {repeats} repeats and {len(distinct)} architectures; "
            "give more"
        )
    encoded = Features(searched, ENCODING)(task.codes[distinct])
    scored = ScoreFeatures(task.codes, task.scores)(searched, task.codes[distinct])
    blocks = {
        ALONE: encoded,
        BOTH: np.concatenate([encoded, scored], axis=1),
        SCORES: scored,
        SHUFFLED: np.concatenate([encoded, scored[rng.permutation(len(distinct))]], axis=1),
    }
    rows = {name: block.astype(np.float64) for name, block in blocks.items()}
    truth = task.truth[distinct]
    order = rng.permutation(len(distinct))
    test, pool = order[:test_count], order[test_count:]
    taus = {(model, variant): np.full((len(allowed), repeats), np.nan) for model in MODELS for variant in VARIANTS}
    for repeat in range(repeats):
        shuffled = rng.permutation(pool)
        seed = int(rng.integers(2**31))
        for place, size in enumerate(allowed):
            learnt = shuffled[:size]
            for (model, variant), values in taus.items():
                x = rows[variant]
                predicted = MODELS[model](x[learnt], truth[learnt], x[test], seed)
                values[place, repeat] = np.nan_to_num(kendall(truth[test], predicted))
    return FewPoints(allowed, test_count, ENCODING, task.proxies, taus, _gains(taus, rng))


def _gains(taus: Mapping[tuple[str, str], Floats], rng: np.random.Generator) -> dict[tuple[str, str], tuple[Gain, ...]]:
    gains = {}
    for variant in VARIANTS[1:]:
        keys = [key for key in taus if key[1] == variant]
        raw = [
            [wilcoxon(-values, -baseline) for values, baseline in zip(taus[key], taus[key[0], ALONE], strict=True)]
            for key in keys
        ]
        corrected = holm(np.ravel(raw)).reshape(np.shape(raw))
        for key, ps in zip(keys, corrected.tolist(), strict=True):
            means = [
                bootstrap_interval(values - baseline, rng)
                for values, baseline in zip(taus[key], taus[key[0], ALONE], strict=True)
            ]
            gains[key] = tuple(Gain(mean, p) for mean, p in zip(means, ps, strict=True))
    return gains
