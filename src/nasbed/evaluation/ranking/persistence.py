"""The p of a rank-biased overlap for a given weight of the top (equation 4)."""

from __future__ import annotations

from math import exp, expm1, log, log1p
from typing import Literal, get_args

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, logit

from nasbed.core.errors import InvalidOption, shorten
from nasbed.evaluation.ranking.top import top_count

InnerSum = Literal["paper", "webber"]
"""Where the inner sum of equation 4 ends: at d, as the paper prints it, or at d − 1, as Webber et al. (2010) derive."""

LEAST, MOST = -690.0, float(logit(1 - 2**-53))
"""How far the log-odds of p can go: 1e-300 and the last number below 1."""

LONGEST = 200_000
"""Terms of an infinite sum, above which it is taken as its closed form less a finite one."""


def top_weight(p: float, depth: int, *, inner: InnerSum = "paper") -> float:
    """What the first ``depth`` ranks contribute to the textbook's rank-biased overlap of endless rankings:
    1 − p^(d−1) + (1 − p)/p · d · (ln 1/(1 − p) − Σ p^i/i), the sum over i up to d or d − 1.

    With ``webber`` it is the weight. With ``paper`` it is less by (1 − p) p^(d−1).

    >>> round(top_weight(0.9, 10, inner="webber"), 4)  # "86 % of the weight", say Webber et al.
    0.8556
    """
    if not 0 < p < 1 or depth < 1:
        raise InvalidOption(f"a weight takes p in (0, 1) and a depth of 1 or more, got {shorten(p)}, {shorten(depth)}")
    if inner not in get_args(InnerSum):
        raise InvalidOption(f"the inner sum of equation 4 is that of paper or webber, got {shorten(inner)}")
    terms = depth if inner == "paper" else depth - 1
    return -expm1((depth - 1) * log(p)) + (1 - p) * depth * _tail(p, terms)


def persistence_for(items: int, *, top_percent: float, weight: float, inner: InnerSum = "paper") -> float:
    """The p at which the top ``top_percent`` of the items have a weight by :func:`top_weight`.

    For a top of one item, the paper's sum has two answers or none: the weight rises with p before it falls. The larger
    is given, where it falls, as everywhere else.

    >>> p = persistence_for(15_625, top_percent=1, weight=0.5)
    >>> round(p, 6), round(top_weight(p, 156), 12)
    (0.998276, 0.5)
    """
    depth = top_count(items, top_percent)
    if not 0 < weight < 1:
        raise InvalidOption(f"the weight of the top is above 0 and below 1, got {shorten(weight)}")

    def excess(log_odds: float) -> float:
        return top_weight(float(expit(log_odds)), depth, inner=inner) - weight

    start = LEAST
    if depth == 1 and inner == "paper":
        start = float(minimize_scalar(lambda value: -excess(value), bounds=(-5.0, 5.0), method="bounded").x)
    if excess(start) < 0 or excess(MOST) > 0:
        low, high = excess(MOST) + weight, excess(start) + weight
        raise InvalidOption(
            f"no p gives the first {depth} of {items} items the weight {weight}, only from {low:.3g} to {high:.3g}; "
            "ask for another weight or a larger top"
        )
    return float(expit(brentq(excess, start, MOST, xtol=1e-12, rtol=1e-14)))


def _tail(p: float, terms: int) -> float:
    """(ln 1/(1 − p) − Σ_{i ≤ terms} p^i / i) / p, as the sum of what is left over where that is short."""
    remaining = 40 / (1 - p)
    if remaining < LONGEST:
        i = np.arange(terms + 1, terms + int(remaining) + 2)
        return float((np.exp((i - 1) * log(p)) / i).sum())
    i = np.arange(1, terms + 1)
    return (-log1p(-p) - float((np.exp(i * log(p)) / i).sum())) * exp(-log(p))
