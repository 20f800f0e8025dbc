"""A kernel density over mixed parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from nasbed.optimizers.parameters import Counts, Floats


@dataclass(frozen=True, slots=True)
class Density:
    """A product of kernels around each row of ``data``: Gaussian in a numeric column, that of Aitchison & Aitken
    (1976) in one with options. ``options`` counts the options of a column, 0 where it is a number in [0, 1]."""

    data: Floats  # [n, d]
    options: Counts  # [d]
    bandwidth: Floats  # [d]

    @classmethod
    def fit(cls, data: Floats, options: Counts, *, min_bandwidth: float) -> Density:
        """Bandwidths by the normal reference rule, 1.06 σ n^(-1/(4+d)), as in BOHB's reference implementation,
        HpBandSter, which leaves it to KDEMultivariate of statsmodels.

        There σ of a column with options is the standard deviation of their numbers, so that it depends on their order.
        Also, the bandwidth can exceed 1, where a kernel becomes negative. Here it is sqrt(Σ p (1 - p) / 2) over their
        shares: for two options the same, for more independent of the order. A bandwidth ends at (k - 1)/k, where the
        kernel of k options is flat. Their kernel spreads over the options that occur in the data, ours over all that
        there are.
        """
        count, width = data.shape
        spread = data.std(axis=0)
        ceiling = np.full(width, np.inf)
        for column in np.flatnonzero(options):
            shares = np.bincount(data[:, column].astype(np.int64), minlength=options[column]) / count
            spread[column] = np.sqrt((shares * (1 - shares)).sum() / 2)
            ceiling[column] = max((options[column] - 1) / options[column], min_bandwidth)
        return cls(data, options, np.clip(1.06 * spread * count ** (-1 / (4 + width)), min_bandwidth, ceiling))

    def log_density(self, points: Floats) -> Floats:
        """The logarithm of the density at each row of ``points``."""
        total = np.zeros((len(points), len(self.data)))
        for column, (options, width) in enumerate(zip(self.options, self.bandwidth, strict=True)):
            values, centres = points[:, column, None], self.data[None, :, column]
            if options == 0:
                total -= 0.5 * ((values - centres) / width) ** 2 + np.log(width * np.sqrt(2 * np.pi))
            elif options > 1:
                total += np.where(values == centres, np.log(1 - width), np.log(width / (options - 1)))
        highest = total.max(axis=1, keepdims=True)
        result: Floats = highest[:, 0] + np.log(np.exp(total - highest).mean(axis=1))
        return result

    def sample(self, count: int, rng: np.random.Generator, *, factor: float) -> Floats:
        """Rows near the data. Numbers come from a Gaussian ``factor`` times as wide, cut to [0, 1]. Options are kept,
        or redrawn with the bandwidth as probability."""
        rows = self.data[rng.integers(len(self.data), size=count)]
        uniform = rng.random(rows.shape)
        redrawn = rng.random(rows.shape) < self.bandwidth
        options = np.floor(uniform * np.maximum(self.options, 1))
        scale = factor * self.bandwidth
        low, high = ndtr(-rows / scale), ndtr((1 - rows) / scale)
        numbers = np.clip(rows + scale * ndtri(np.clip(low + uniform * (high - low), 1e-300, 1 - 1e-16)), 0, 1)
        result: Floats = np.where(self.options == 0, numbers, np.where(redrawn, options, rows))
        return result


def fill_gaps(rows: Floats, options: Counts, rng: np.random.Generator) -> Floats:
    """Fill the gaps of rows as HpBandSter does.

    A random row that has the first missing parameter donates all values that it has, and so on. A parameter that no row
    has gets a random value.
    """
    present = ~np.isnan(rows)
    result = rows.copy()
    for row in np.flatnonzero(~present.all(axis=1)):
        while (gaps := np.flatnonzero(np.isnan(result[row]))).size:
            first = gaps[0]
            donors = np.flatnonzero(present[:, first])
            if donors.size:
                result[row, gaps] = rows[rng.choice(donors), gaps]
            else:
                result[row, first] = rng.integers(options[first]) if options[first] else rng.random()
    return result
