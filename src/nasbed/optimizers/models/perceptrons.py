"""An ensemble of small feed-forward networks, trained together as one stack of matrices."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

DECAY, SQUARE_DECAY, TINY = 0.9, 0.99, 1e-7
"""Adam's constants as in the code of White et al., whose second one is not Kingma & Ba's 0.999."""


@dataclass(eq=False, kw_only=True)
class Perceptrons:
    """``members`` networks of ``layers`` hidden layers of ``width`` rectified units, each with its own start and split.

    A tenth of the targets is held out for each member, which keeps the weights that did best there. Training ends after
    ``epochs``, or when no member has improved for ``patience`` epochs.
    """

    members: int
    layers: int
    width: int
    epochs: int
    patience: int
    batch: int
    learning_rate: float

    def __post_init__(self) -> None:
        self._scale = 1.0
        self._columns: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._weights: list[tuple[Floats, Floats]] = []

    def fit(self, features: Floats, targets: NDArray[np.float64], rng: np.random.Generator) -> Perceptrons:
        """Minimise mean |prediction / target - 1|, the loss of White et al. (2021); targets are positive."""
        self._columns = np.flatnonzero(np.ptp(features, axis=0) > 0)
        self._scale = float(np.median(targets))
        inputs = features[:, self._columns]
        scaled = (targets / self._scale).astype(np.float32)
        count = len(scaled)
        order = np.stack([rng.permutation(count) for _ in range(self.members)])
        held_out = order[:, : max(1, count // 10)]
        train = order[:, held_out.shape[1] :] if count > 1 else held_out
        store, views = self._start(rng)
        slope, slope_views = self._layout()
        mean, square = np.zeros_like(store), np.zeros_like(store)
        best, best_loss = store.copy(), np.full(self.members, np.inf)
        step, last_gain = 0, 0
        for epoch in range(self.epochs):
            train = rng.permuted(train, axis=1)
            for first in range(0, train.shape[1], self.batch):
                rows = train[:, first : first + self.batch]
                _backward(inputs[rows], scaled[rows], views, slope_views)
                step += 1
                mean += (1 - DECAY) * (slope - mean)
                square += (1 - SQUARE_DECAY) * (slope * slope - square)
                rate = self.learning_rate * np.sqrt(1 - SQUARE_DECAY**step) / (1 - DECAY**step)
                store -= np.float32(rate) * mean / (np.sqrt(square) + TINY)
            loss = np.abs(_forward(inputs[held_out], views)[-1][..., 0] / scaled[held_out] - 1).mean(axis=1)
            better = loss < best_loss
            if better.any():
                best[better], best_loss[better], last_gain = store[better], loss[better], epoch
            elif epoch - last_gain >= self.patience:
                break
        store[:] = best
        self._weights = views
        return self

    def predict(self, features: Floats) -> NDArray[np.float64]:
        """The prediction of each member for each row, ``[members, n]``."""
        inputs = np.broadcast_to(features[:, self._columns], (self.members, len(features), len(self._columns)))
        return _forward(inputs, self._weights)[-1][..., 0].astype(np.float64) * self._scale

    def _layout(self) -> tuple[Floats, list[tuple[Floats, Floats]]]:
        """All parameters as one row a member, and the same memory as matrices and offsets."""
        sizes = [len(self._columns), *[self.width] * self.layers, 1]
        store: Floats = np.zeros((self.members, sum((a + 1) * b for a, b in pairwise(sizes))), dtype=np.float32)
        views, start = [], 0
        for rows, columns in pairwise(sizes):
            middle, end = start + rows * columns, start + (rows + 1) * columns
            matrix = store[:, start:middle].reshape(self.members, rows, columns)
            views.append((matrix, store[:, middle:end].reshape(self.members, 1, columns)))
            start = end
        return store, views

    def _start(self, rng: np.random.Generator) -> tuple[Floats, list[tuple[Floats, Floats]]]:
        """Weights after Glorot & Bengio (2010); the output starts at the median of the targets."""
        store, views = self._layout()
        for matrix, _ in views:
            limit = np.sqrt(6 / (matrix.shape[1] + matrix.shape[2]))
            matrix[:] = rng.uniform(-limit, limit, matrix.shape)
        views[-1][1][:] = 1
        return store, views


def _forward(inputs: Floats, weights: list[tuple[Floats, Floats]]) -> list[Floats]:
    """The input of every layer, and the output."""
    signals = [inputs]
    for matrix, offset in weights[:-1]:
        signals.append(np.maximum(signals[-1] @ matrix + offset, 0))
    signals.append(signals[-1] @ weights[-1][0] + weights[-1][1])
    return signals


def _backward(
    inputs: Floats, targets: Floats, weights: list[tuple[Floats, Floats]], slopes: list[tuple[Floats, Floats]]
) -> None:
    """Write the loss's gradient into ``slopes``."""
    signals = _forward(inputs, weights)
    pull = (np.sign(signals[-1][..., 0] - targets) / targets)[..., None] / np.float32(targets.shape[1])
    for layer in reversed(range(len(weights))):
        np.matmul(signals[layer].transpose(0, 2, 1), pull, out=slopes[layer][0])
        slopes[layer][1][:] = pull.sum(axis=1, keepdims=True)
        if layer:
            pull = (pull @ weights[layer][0].transpose(0, 2, 1)) * (signals[layer] > 0)
